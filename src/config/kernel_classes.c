#include "config/kernel_classes.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/strings.h"
#include "config/gpu_facts.h"
#include "config/patterns.h"

#include <stdlib.h>
#include <string.h>

/* The two categories the program itself knows; everything else is only a name. */
static const char fallback[] = "other", communication[] = "communication";

struct nai_kernel_classes {
  uint64_t hash;
  struct nai_patterns *patterns;
  struct nai_patterns *traits, *arithmetic, *uneven, *dtypes;
  struct nai_comm_names *comm;
  int fallback, communication;
  struct nai_strings told; /* names whose category is known, by number: */
  int *told_category;
  uint32_t told_capacity;
};

static int add_file(struct nai_kernel_classes *classes, const char *path, struct nai_err *err) {
  struct nai_yaml *doc = NULL;
  int rc = nai_yaml_load(&doc, path, err);
  if (!rc)
    rc = nai_patterns_add(classes->patterns, doc, err);
  if (!rc)
    classes->hash = nai_hash_int(classes->hash, (int64_t)doc->hash);
  nai_yaml_free(doc);
  return rc;
}

static int add_builtin(struct nai_kernel_classes *classes, struct nai_patterns **to, const char *path,
                       struct nai_err *err) {
  struct nai_yaml *doc = NULL;
  int rc = *to ? NAI_OK : nai_patterns_new(to, err);
  if (!rc)
    rc = nai_yaml_load_builtin(&doc, path, err);
  if (!rc)
    rc = nai_patterns_add(*to, doc, err);
  if (!rc)
    classes->hash = nai_hash_int(classes->hash, (int64_t)doc->hash);
  nai_yaml_free(doc);
  return rc;
}

int nai_kernel_classes_load(struct nai_kernel_classes **out, const char *user_path, struct nai_err *err) {
  struct nai_kernel_classes *classes = calloc(1, sizeof *classes);
  *out = NULL;
  int rc = classes ? nai_patterns_new(&classes->patterns, err) : nai_err_nomem(err);
  if (!rc && user_path)
    rc = add_file(classes, user_path, err);
  if (!rc)
    rc = add_builtin(classes, &classes->patterns, "rules/kernel-classes.yaml", err);
  if (!rc)
    rc = add_builtin(classes, &classes->traits, "rules/kernel-traits.yaml", err);
  if (!rc)
    rc = nai_comm_names_load(&classes->comm, err);
  if (!rc)
    rc = add_builtin(classes, &classes->arithmetic, "rules/kernel-arithmetic.yaml", err);
  if (!rc)
    rc = add_builtin(classes, &classes->uneven, "rules/uneven-kernels.yaml", err);
  if (!rc)
    rc = add_builtin(classes, &classes->dtypes, "rules/kernel-dtypes.yaml", err);
  if (rc) {
    nai_kernel_classes_free(classes);
    return rc;
  }
  classes->hash = nai_hash_int(classes->hash, (int64_t)nai_comm_names_hash(classes->comm));
  classes->fallback = nai_patterns_find_class(classes->patterns, fallback);
  classes->communication = nai_patterns_find_class(classes->patterns, communication);
  *out = classes;
  return 0;
}

void nai_kernel_classes_free(struct nai_kernel_classes *classes) {
  if (!classes)
    return;
  nai_patterns_free(classes->patterns);
  nai_patterns_free(classes->traits);
  nai_comm_names_free(classes->comm);
  nai_patterns_free(classes->arithmetic);
  nai_patterns_free(classes->uneven);
  nai_patterns_free(classes->dtypes);
  nai_strings_free(&classes->told);
  free(classes->told_category);
  free(classes);
}

int nai_kernel_classes_tell(struct nai_kernel_classes *classes, const char *kernel_name, const char *category,
                            struct nai_err *err) {
  static const char matches_nothing[] = "(?!)";
  int class = nai_patterns_find_class(classes->patterns, category);
  if (class < 0) {
    int rc = nai_patterns_add_regex(classes->patterns, category, "run", matches_nothing, err);
    if (rc)
      return rc;
    class = nai_patterns_find_class(classes->patterns, category);
  }
  uint32_t id = nai_strings_add(&classes->told, kernel_name, strlen(kernel_name));
  if (id == NAI_NO_STRING ||
      !nai_array_room(&classes->told_category, &classes->told_capacity, id, sizeof *classes->told_category))
    return nai_err_nomem(err);
  classes->told_category[id] = class;
  return NAI_OK;
}

int nai_kernel_classes_match(const struct nai_kernel_classes *classes, const char *kernel_name) {
  uint32_t told =
      classes->told.count ? nai_strings_find(&classes->told, kernel_name, strlen(kernel_name)) : NAI_NO_STRING;
  if (told != NAI_NO_STRING)
    return classes->told_category[told];
  int category = nai_patterns_match(classes->patterns, kernel_name);
  return category < 0 ? classes->fallback : category;
}

int nai_kernel_classes_check(const struct nai_kernel_classes *classes, struct nai_err *err) {
  return nai_patterns_check(classes->patterns, err);
}

int nai_kernel_classes_count(const struct nai_kernel_classes *classes) {
  return nai_patterns_class_count(classes->patterns);
}

const char *nai_kernel_classes_name(const struct nai_kernel_classes *classes, int category) {
  return nai_patterns_class(classes->patterns, category);
}

int nai_kernel_classes_communication(const struct nai_kernel_classes *classes) { return classes->communication; }

const struct nai_comm_names *nai_kernel_classes_comm_names(const struct nai_kernel_classes *classes) {
  return classes->comm;
}

uint64_t nai_kernel_classes_hash(const struct nai_kernel_classes *classes) { return classes->hash; }

/* Number of the class of a name among `words`, 0 when it has none of them. */
static int class_among(const struct nai_patterns *set, const char *kernel_name, const char *const *words, int count) {
  int found = nai_patterns_match(set, kernel_name);
  for (int i = 1; found >= 0 && i < count; i++)
    if (strcmp(nai_patterns_class(set, found), words[i]) == 0)
      return i;
  return 0;
}

enum nai_kernel_trait nai_kernel_classes_trait(const struct nai_kernel_classes *classes, const char *kernel_name) {
  static const char *const words[NAI_TRAIT_COUNT] = {"", "runtime", "fused", "cast"};
  return (enum nai_kernel_trait)class_among(classes->traits, kernel_name, words, NAI_TRAIT_COUNT);
}

enum nai_arithmetic nai_kernel_classes_arithmetic(const struct nai_kernel_classes *classes, const char *kernel_name) {
  static const char *const words[NAI_ARITHMETIC_COUNT] = {"", "tensor", "fp32", "simt"};
  return (enum nai_arithmetic)class_among(classes->arithmetic, kernel_name, words, NAI_ARITHMETIC_COUNT);
}

int nai_kernel_classes_dtype(const struct nai_kernel_classes *classes, const char *kernel_name) {
  int found = nai_patterns_match(classes->dtypes, kernel_name);
  for (int i = 0; found >= 0 && i < NAI_DTYPE_COUNT; i++)
    if (strcmp(nai_patterns_class(classes->dtypes, found), nai_dtype_name((enum nai_dtype)i)) == 0)
      return i;
  return -1;
}

static bool among(const struct nai_kernel_classes *classes, int category, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(nai_kernel_classes_name(classes, category), names[i]) == 0)
      return true;
  return false;
}

bool nai_kernel_classes_matrix(const struct nai_kernel_classes *classes, int category) {
  static const char *const names[] = {"gemm", "convolution", "attention"};
  return among(classes, category, names, sizeof names / sizeof *names);
}

bool nai_kernel_classes_uneven(const struct nai_kernel_classes *classes, const char *kernel_name) {
  return nai_patterns_match(classes->uneven, kernel_name) >= 0;
}

bool nai_kernel_classes_fusable(const struct nai_kernel_classes *classes, int category) {
  static const char *const names[] = {"elementwise", "copy", "normalization", "softmax", "reduction"};
  return among(classes, category, names, sizeof names / sizeof *names);
}
