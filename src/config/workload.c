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

/* The patterns of one value: a map from kinds of signs to patterns. */
static int add_value(struct nai_workload_patterns *p, int aspect, const struct nai_yaml *doc,
                     const struct nai_yaml_node *value, struct nai_err *err) {
  int rc = nai_yaml_expect_keys(doc, value, signs, err);
  if (!rc && !value->count)
    rc = nai_yaml_error(doc, value, err, "no patterns");
  if (!rc && nai_strings_add(&p->values[aspect], value->key, strlen(value->key)) == NAI_NO_STRING)
    rc = nai_err_nomem(err);
  for (int s = 0; !rc && s < NAI_SIGN_COUNT; s++) {
    const struct nai_yaml_node *node = nai_yaml_get(doc, value, signs[s]);
    if (node && !p->sets[aspect][s])
      rc = nai_patterns_new(&p->sets[aspect][s], err);
    if (node && !rc)
      rc = nai_patterns_add_class(p->sets[aspect][s], value->key, doc, node, err);
  }
  return rc;
}

static int add_document(struct nai_workload_patterns *p, const struct nai_yaml *doc, struct nai_err *err) {
  const struct nai_yaml_node *root = nai_yaml_root(doc);
  int rc = nai_yaml_expect_keys(doc, root, aspects, err);
  if (!rc && !root->count)
    rc = nai_yaml_error(doc, root, err, "no patterns");
  for (int a = 0; !rc && a < NAI_ASPECT_COUNT; a++) {
    const struct nai_yaml_node *aspect = nai_yaml_get(doc, root, aspects[a]);
    if (aspect)
      rc = nai_yaml_expect(doc, aspect, NAI_YAML_MAP, err);
    for (const struct nai_yaml_node *v = aspect && !rc ? nai_yaml_first(doc, aspect) : NULL; !rc && v;
         v = nai_yaml_next(doc, v))
      rc = add_value(p, a, doc, v, err);
  }
  if (!rc)
    p->hash = nai_hash_int(p->hash, (int64_t)doc->hash);
  return rc;
}

/* The user's file; NULL: the built-in one. */
static int add_file(struct nai_workload_patterns *p, const char *path, struct nai_err *err) {
  struct nai_yaml *doc = NULL;
  int rc = path ? nai_yaml_load(&doc, path, err) : nai_yaml_load_builtin(&doc, "rules/workload.yaml", err);
  if (!rc)
    rc = add_document(p, doc, err);
  nai_yaml_free(doc);
  return rc;
}

/* What matrix products and attention multiply is said in one place. */
static int add_dtypes(struct nai_workload_patterns *p, struct nai_err *err) {
  struct nai_yaml *doc = NULL;
  struct nai_patterns **set = &p->sets[NAI_ASPECT_PRECISION][NAI_SIGN_KERNELS];
  int rc = nai_yaml_load_builtin(&doc, "rules/kernel-dtypes.yaml", err);
  if (!rc && !*set)
    rc = nai_patterns_new(set, err);
  if (!rc)
    rc = nai_patterns_add(*set, doc, err);
  for (int i = 0; !rc && i < nai_patterns_class_count(*set); i++) {
    const char *value = nai_patterns_class(*set, i);
    if (nai_strings_add(&p->values[NAI_ASPECT_PRECISION], value, strlen(value)) == NAI_NO_STRING)
      rc = nai_err_nomem(err);
  }
  if (!rc)
    p->hash = nai_hash_int(p->hash, (int64_t)doc->hash);
  nai_yaml_free(doc);
  return rc;
}

int nai_workload_patterns_load(struct nai_workload_patterns **out, const char *user_path, struct nai_err *err) {
  struct nai_workload_patterns *p = calloc(1, sizeof *p);
  *out = NULL;
  int rc = p ? NAI_OK : nai_err_nomem(err);
  if (!rc && user_path)
    rc = add_file(p, user_path, err);
  if (!rc)
    rc = add_dtypes(p, err);
  if (!rc)
    rc = add_file(p, NULL, err);
  if (rc) {
    nai_workload_patterns_free(p);
    return rc;
  }
  *out = p;
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
  int rc = NAI_OK;
  for (int a = 0; !rc && a < NAI_ASPECT_COUNT; a++)
    for (int s = 0; !rc && s < NAI_SIGN_COUNT; s++)
      rc = p->sets[a][s] ? nai_patterns_check(p->sets[a][s], err) : NAI_OK;
  return rc;
}
