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

enum { CATEGORIES, TRAITS, ARITHMETIC, UNEVEN, DTYPES, SETS };

struct nai_kernel_classes {
  uint64_t hash;
  struct nai_patterns *sets[SETS];
  struct nai_comm_names *comm;
  int fallback, communication;
  struct nai_strings told; /* names whose category is known, by number: */
  int *told_category;
  uint32_t told_capacity;
};

int nai_kernel_classes_load(struct nai_kernel_classes **out, const char *user_path, struct nai_err *err) {
  static const char *const files[SETS] = {"rules/kernel-classes.yaml", "rules/kernel-traits.yaml",
                                          "rules/kernel-arithmetic.yaml", "rules/uneven-kernels.yaml",
                                          "rules/kernel-dtypes.yaml"};
  NAI_OWNED(nai_kernel_classes) *classes = calloc(1, sizeof *classes);
  *out = NULL;
  if (!classes)
    return nai_err_nomem(err);
  if (user_path)
    NAI_TRY(nai_patterns_load(&classes->sets[CATEGORIES], &classes->hash, user_path, false, err));
  for (int i = 0; i < SETS; i++)
    NAI_TRY(nai_patterns_load(&classes->sets[i], &classes->hash, files[i], true, err));
  NAI_TRY(nai_comm_names_load(&classes->comm, err));
  classes->hash = nai_hash_int(classes->hash, (int64_t)nai_comm_names_hash(classes->comm));
  classes->fallback = nai_patterns_find_class(classes->sets[CATEGORIES], fallback);
  classes->communication = nai_patterns_find_class(classes->sets[CATEGORIES], communication);
  *out = classes;
  classes = NULL;
  return NAI_OK;
}

void nai_kernel_classes_free(struct nai_kernel_classes *classes) {
  if (!classes)
    return;
  for (int i = 0; i < SETS; i++)
    nai_patterns_free(classes->sets[i]);
  nai_comm_names_free(classes->comm);
  nai_strings_free(&classes->told);
  free(classes->told_category);
  free(classes);
}

int nai_kernel_classes_tell(struct nai_kernel_classes *classes, const char *kernel_name, const char *category,
                            struct nai_err *err) {
  static const char matches_nothing[] = "(?!)";
  int class = nai_patterns_find_class(classes->sets[CATEGORIES], category);
  if (class < 0) {
    NAI_TRY(nai_patterns_add_regex(classes->sets[CATEGORIES], category, "run", matches_nothing, err));
    class = nai_patterns_find_class(classes->sets[CATEGORIES], category);
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
  int category = nai_patterns_match(classes->sets[CATEGORIES], kernel_name);
  return category < 0 ? classes->fallback : category;
}

int nai_kernel_classes_check(const struct nai_kernel_classes *classes, struct nai_err *err) {
  return nai_patterns_check(classes->sets[CATEGORIES], err);
}

int nai_kernel_classes_count(const struct nai_kernel_classes *classes) {
  return nai_patterns_class_count(classes->sets[CATEGORIES]);
}

const char *nai_kernel_classes_name(const struct nai_kernel_classes *classes, int category) {
  return nai_patterns_class(classes->sets[CATEGORIES], category);
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
  return (enum nai_kernel_trait)class_among(classes->sets[TRAITS], kernel_name, words, NAI_TRAIT_COUNT);
}

enum nai_arithmetic nai_kernel_classes_arithmetic(const struct nai_kernel_classes *classes, const char *kernel_name) {
  static const char *const words[NAI_ARITHMETIC_COUNT] = {"", "tensor", "fp32", "simt"};
  return (enum nai_arithmetic)class_among(classes->sets[ARITHMETIC], kernel_name, words, NAI_ARITHMETIC_COUNT);
}

int nai_kernel_classes_dtype(const struct nai_kernel_classes *classes, const char *kernel_name) {
  int found = nai_patterns_match(classes->sets[DTYPES], kernel_name);
  for (int i = 0; found >= 0 && i < NAI_DTYPE_COUNT; i++)
    if (strcmp(nai_patterns_class(classes->sets[DTYPES], found), nai_dtype_name((enum nai_dtype)i)) == 0)
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
  return nai_patterns_match(classes->sets[UNEVEN], kernel_name) >= 0;
}

bool nai_kernel_classes_fusable(const struct nai_kernel_classes *classes, int category) {
  static const char *const names[] = {"elementwise", "copy", "normalization", "softmax", "reduction"};
  return among(classes, category, names, sizeof names / sizeof *names);
}
