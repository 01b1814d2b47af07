#include "config/workload.h"

#include "base/hash.h"
#include "config/patterns.h"

#include <stdlib.h>
#include <string.h>

static const char *const aspects[NAI_ASPECT_COUNT + 1] = {"framework",  "role",    "language", "precision",
                                                          "collective", "runtime", NULL};
static const char *const signs[NAI_SIGN_COUNT + 1] = {"kernels",   "ranges",  "domains", "threads",
                                                      "processes", "modules", "calls",   NULL};

/* A set per aspect and sign, whose classes are values; NULL where there are no patterns. */
struct nai_workload_patterns {
  uint64_t hash;
  struct nai_strings values[NAI_ASPECT_COUNT];
  struct nai_patterns *sets[NAI_ASPECT_COUNT][NAI_SIGN_COUNT];
};

const char *nai_workload_aspect_name(enum nai_workload_aspect aspect) { return aspects[aspect]; }
const char *nai_workload_sign_name(enum nai_workload_sign sign) { return signs[sign]; }

static int add_name(struct nai_workload_patterns *p, int aspect, const char *value, struct nai_err *err) {
  bool added = nai_strings_add(&p->values[aspect], value, strlen(value)) != NAI_NO_STRING;
  return added ? NAI_OK : nai_err_nomem(err);
}

/* The patterns of one value: a map from kinds of signs to patterns. */
static int add_value(struct nai_workload_patterns *p, int aspect, const struct nai_yaml *doc,
                     const struct nai_yaml_node *value, struct nai_err *err) {
  NAI_TRY(nai_yaml_expect_keys(doc, value, signs, err));
  if (!value->count)
    return nai_yaml_error(doc, value, err, "no patterns");
  NAI_TRY(add_name(p, aspect, value->key, err));
  for (int s = 0; s < NAI_SIGN_COUNT; s++) {
    const struct nai_yaml_node *node = nai_yaml_get(doc, value, signs[s]);
    struct nai_patterns **set = &p->sets[aspect][s];
    if (!node)
      continue;
    if (!*set)
      NAI_TRY(nai_patterns_new(set, err));
    NAI_TRY(nai_patterns_add_class(*set, value->key, doc, node, err));
  }
  return NAI_OK;
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
  struct nai_patterns **set = &p->sets[NAI_ASPECT_PRECISION][NAI_SIGN_KERNELS];
  NAI_TRY(nai_patterns_load(set, &p->hash, "rules/kernel-dtypes.yaml", true, err));
  for (int i = 0; i < nai_patterns_class_count(*set); i++)
    NAI_TRY(add_name(p, NAI_ASPECT_PRECISION, nai_patterns_class(*set, i), err));
  return NAI_OK;
}

int nai_workload_patterns_load(struct nai_workload_patterns **out, const char *user_path, struct nai_err *err) {
  NAI_OWNED(nai_workload_patterns) *p = calloc(1, sizeof *p);
  *out = NULL;
  if (!p)
    return nai_err_nomem(err);
  if (user_path)
    NAI_TRY(add_file(p, user_path, err));
  NAI_TRY(add_dtypes(p, err));
  NAI_TRY(add_file(p, NULL, err));
  *out = p;
  p = NULL;
  return NAI_OK;
}

void nai_workload_patterns_free(struct nai_workload_patterns *p) {
  if (!p)
    return;
  for (int a = 0; a < NAI_ASPECT_COUNT; a++) {
    for (int s = 0; s < NAI_SIGN_COUNT; s++)
      nai_patterns_free(p->sets[a][s]);
    nai_strings_free(&p->values[a]);
  }
  free(p);
}

uint64_t nai_workload_patterns_hash(const struct nai_workload_patterns *p) { return p->hash; }

int nai_workload_value_count(const struct nai_workload_patterns *p, enum nai_workload_aspect aspect) {
  return (int)p->values[aspect].count;
}

const char *nai_workload_value(const struct nai_workload_patterns *p, enum nai_workload_aspect aspect, int value) {
  return nai_strings_get(&p->values[aspect], (uint32_t)value);
}

int nai_workload_match(const struct nai_workload_patterns *p, enum nai_workload_aspect aspect,
                       enum nai_workload_sign sign, const char *name) {
  const struct nai_patterns *set = p->sets[aspect][sign];
  int class = set ? nai_patterns_match(set, name) : -1;
  if (class < 0)
    return -1;
  const char *value = nai_patterns_class(set, class);
  return (int)nai_strings_find(&p->values[aspect], value, strlen(value));
}

int nai_workload_patterns_check(const struct nai_workload_patterns *p, struct nai_err *err) {
  for (int a = 0; a < NAI_ASPECT_COUNT; a++)
    for (int s = 0; s < NAI_SIGN_COUNT; s++)
      if (p->sets[a][s])
        NAI_TRY(nai_patterns_check(p->sets[a][s], err));
  return NAI_OK;
}
