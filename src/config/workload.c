#include "config/workload.h"

#include "base/arena.h"
#include "base/hash.h"
#include "config/patterns.h"

static const char *const aspects[NAI_ASPECT_COUNT + 1] = {"engine",     "stack",   "framework", "role",
                                                          "language",   "harness", "launcher",  "precision",
                                                          "collective", "runtime", NULL};
static const char *const signs[NAI_SIGN_COUNT + 1] = {"kernels", "ranges", "domains", "threads", "processes",
                                                      "modules", "calls",  "marks",   NULL};
/* What a value may have: its name, the phase map for its ranges, signs, and signs that other values have, too. */
static const char *const keys[NAI_SIGN_COUNT + 4] = {"kernels", "ranges", "domains", "threads", "processes", "modules",
                                                     "calls",   "marks",  "name",    "shared",  "phase-map", NULL};

struct shown {
  const char *name, *phase_map; /* NULL where no file says */
};

/* A set per aspect and sign, whose classes are values; NULL where there are no patterns. */
struct nai_workload_patterns {
  uint64_t hash;
  struct nai_strings values[NAI_ASPECT_COUNT];
  struct shown *shown[NAI_ASPECT_COUNT]; /* per value, as far as there is room */
  uint32_t room[NAI_ASPECT_COUNT];
  struct nai_arena arena;                                         /* of these */
  struct nai_patterns *sets[NAI_ASPECT_COUNT][NAI_SIGN_COUNT][2]; /* own, shared */
};

const char *nai_workload_aspect_name(enum nai_workload_aspect aspect) { return aspects[aspect]; }
const char *nai_workload_sign_name(enum nai_workload_sign sign) { return signs[sign]; }

/* A text of a value, NULL without one. */
static int get_text(const char **out, struct nai_workload_patterns *p, const struct nai_yaml *doc,
                    const struct nai_yaml_node *value, const char *key, struct nai_err *err) {
  const struct nai_yaml_node *node = nai_yaml_get(doc, value, key);
  const char *text = NULL;
  if (node)
    NAI_TRY(nai_yaml_text(&text, doc, node, err));
  *out = text ? nai_arena_printf(&p->arena, "%s", text) : NULL;
  return nai_arena_check(&p->arena, err);
}

/* The first file that says one decides. */
static int add_shown(struct nai_workload_patterns *p, int aspect, const struct nai_yaml *doc,
                     const struct nai_yaml_node *value, struct nai_err *err) {
  uint32_t id = nai_strings_find(&p->values[aspect], value->key, strlen(value->key));
  struct shown mine;
  NAI_TRY(get_text(&mine.name, p, doc, value, "name", err));
  NAI_TRY(get_text(&mine.phase_map, p, doc, value, "phase-map", err));
  NAI_TRY(NAI_ROOM(p->shown[aspect], p->room[aspect], id, &p->arena, err));
  struct shown *shown = &p->shown[aspect][id];
  shown->name = shown->name ? shown->name : mine.name;
  shown->phase_map = shown->phase_map ? shown->phase_map : mine.phase_map;
  return NAI_OK;
}

static int add_signs(struct nai_workload_patterns *p, int aspect, bool shared, const struct nai_yaml *doc,
                     const struct nai_yaml_node *map, const char *value, struct nai_err *err) {
  for (int s = 0; s < NAI_SIGN_COUNT; s++) {
    const struct nai_yaml_node *node = nai_yaml_get(doc, map, signs[s]);
    struct nai_patterns **set = &p->sets[aspect][s][shared];
    if (!node)
      continue;
    if (!*set)
      NAI_TRY(nai_patterns_new(set, err));
    NAI_TRY(nai_patterns_add_class(*set, value, doc, node, err));
  }
  return NAI_OK;
}

/* The patterns of one value: a map from kinds of signs to patterns. */
static int add_value(struct nai_workload_patterns *p, int aspect, const struct nai_yaml *doc,
                     const struct nai_yaml_node *value, struct nai_err *err) {
  NAI_TRY(nai_yaml_expect_keys(doc, value, keys, err));
  if (!value->count)
    return nai_yaml_error(doc, value, err, "no patterns");
  NAI_TRY(nai_strings_put(NULL, &p->values[aspect], value->key, err));
  NAI_TRY(add_shown(p, aspect, doc, value, err));
  const struct nai_yaml_node *shared = nai_yaml_get(doc, value, "shared");
  if (shared) {
    NAI_TRY(nai_yaml_expect_keys(doc, shared, signs, err));
    NAI_TRY(add_signs(p, aspect, true, doc, shared, value->key, err));
  }
  return add_signs(p, aspect, false, doc, value, value->key, err);
}

/* The user's file; NULL: the built-in one. */
static int add_file(struct nai_workload_patterns *p, const char *path, struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = NULL;
  NAI_TRY(path ? nai_yaml_load(&doc, path, err) : nai_yaml_load_builtin(&doc, "rules/workload.yaml", err));
  const struct nai_yaml_node *root = nai_yaml_root(doc);
  NAI_TRY(nai_yaml_expect_keys(doc, root, aspects, err));
  if (!root->count)
    return nai_yaml_error(doc, root, err, "no patterns");
  for (int a = 0; a < NAI_ASPECT_COUNT; a++) {
    const struct nai_yaml_node *aspect = nai_yaml_get(doc, root, aspects[a]);
    if (!aspect)
      continue;
    NAI_TRY(nai_yaml_expect(doc, aspect, NAI_YAML_MAP, err));
    for (const struct nai_yaml_node *v = nai_yaml_first(doc, aspect); v; v = nai_yaml_next(doc, v))
      NAI_TRY(add_value(p, a, doc, v, err));
  }
  p->hash = nai_hash_int(p->hash, (int64_t)doc->hash);
  return NAI_OK;
}

/* What matrix products and attention multiply is said in one place. */
static int add_dtypes(struct nai_workload_patterns *p, struct nai_err *err) {
  struct nai_patterns **set = &p->sets[NAI_ASPECT_PRECISION][NAI_SIGN_KERNELS][false];
  NAI_TRY(nai_patterns_load(set, &p->hash, "rules/kernel-dtypes.yaml", true, err));
  for (int i = 0; i < nai_patterns_class_count(*set); i++)
    NAI_TRY(nai_strings_put(NULL, &p->values[NAI_ASPECT_PRECISION], nai_patterns_class(*set, i), err));
  return NAI_OK;
}

int nai_workload_patterns_load(struct nai_workload_patterns **out, const char *user_path, struct nai_err *err) {
  NAI_OWNED(nai_workload_patterns) *p = calloc(1, sizeof *p);
  *out = NULL;
  NAI_TRY(nai_memory_check(p, err));
  if (user_path)
    NAI_TRY(add_file(p, user_path, err));
  NAI_TRY(add_dtypes(p, err));
  NAI_TRY(add_file(p, NULL, err));
  return NAI_GIVE(out, p);
}

void nai_workload_patterns_free(struct nai_workload_patterns *p) {
  if (!p)
    return;
  for (int a = 0; a < NAI_ASPECT_COUNT; a++) {
    for (int s = 0; s < NAI_SIGN_COUNT; s++) {
      nai_patterns_free(p->sets[a][s][false]);
      nai_patterns_free(p->sets[a][s][true]);
    }
    nai_strings_free(&p->values[a]);
  }
  nai_arena_free(&p->arena);
  free(p);
}

uint64_t nai_workload_patterns_hash(const struct nai_workload_patterns *p) { return p->hash; }

int nai_workload_value_count(const struct nai_workload_patterns *p, enum nai_workload_aspect aspect) {
  return (int)p->values[aspect].count;
}

const char *nai_workload_value(const struct nai_workload_patterns *p, enum nai_workload_aspect aspect, int value) {
  return nai_strings_get(&p->values[aspect], (uint32_t)value);
}

const char *nai_workload_display(const struct nai_workload_patterns *p, enum nai_workload_aspect aspect, int value) {
  const char *name = (uint32_t)value < p->room[aspect] ? p->shown[aspect][value].name : NULL;
  return name ? name : nai_workload_value(p, aspect, value);
}

/* The first value, in the order of the file, whose ranges are there. */
static int value_by_ranges(const struct nai_workload_patterns *p, enum nai_workload_aspect aspect,
                           const struct nai_strings *ranges) {
  enum { MAX_NAMES = 100000 };
  int first = INT_MAX;
  for (uint32_t i = 0; i < ranges->count && i < MAX_NAMES && first; i++) {
    int value = nai_workload_match(p, aspect, NAI_SIGN_RANGES, false, nai_strings_get(ranges, i));
    first = value >= 0 && value < first ? value : first;
  }
  return first == INT_MAX ? -1 : first;
}

const char *nai_workload_phase_map(const struct nai_workload_patterns *p, const struct nai_strings *ranges) {
  static const enum nai_workload_aspect order[] = {NAI_ASPECT_ENGINE, NAI_ASPECT_STACK, NAI_ASPECT_FRAMEWORK};
  for (size_t a = 0; a < sizeof order / sizeof *order; a++) {
    int value = value_by_ranges(p, order[a], ranges);
    const char *map = value >= 0 && (uint32_t)value < p->room[order[a]] ? p->shown[order[a]][value].phase_map : NULL;
    if (map)
      return map;
  }
  return NULL;
}

int nai_workload_match(const struct nai_workload_patterns *p, enum nai_workload_aspect aspect,
                       enum nai_workload_sign sign, bool shared, const char *name) {
  const struct nai_patterns *set = p->sets[aspect][sign][shared];
  int class = set ? nai_patterns_match(set, name) : -1;
  if (class < 0)
    return -1;
  const char *value = nai_patterns_class(set, class);
  return (int)nai_strings_find(&p->values[aspect], value, strlen(value));
}

int nai_workload_patterns_check(const struct nai_workload_patterns *p, struct nai_err *err) {
  for (int a = 0; a < NAI_ASPECT_COUNT; a++)
    for (int s = 0; s < NAI_SIGN_COUNT; s++)
      for (int shared = 0; shared < 2; shared++)
        if (p->sets[a][s][shared])
          NAI_TRY(nai_patterns_check(p->sets[a][s][shared], err));
  return NAI_OK;
}
