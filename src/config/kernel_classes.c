#include "config/kernel_classes.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/strings.h"
#include "base/text.h"
#include "config/gpu_facts.h"
#include "config/kernel_rules.h"
#include "config/patterns.h"

/* The two categories the program itself knows; everything else is only a name. */
static const char fallback[] = "other", communication[] = "communication";
static const char builtin_rules[] = "rules/kernel-classes.rules";

enum { TRAITS, ARITHMETIC, UNEVEN, DTYPES, ELEMENTWISE, SETS };

struct nai_kernel_classes {
  uint64_t hash;
  struct nai_strings categories;
  char *user_file;                    /* NULL: none */
  struct nai_patterns *user_patterns; /* NULL, or the first; their classes are the first categories */
  struct nai_kernel_rules *user_rules, *rules;
  struct nai_patterns *sets[SETS];
  struct nai_comm_names *comm;
  int fallback, communication;
  struct nai_strings told; /* names whose category is known, by number: */
  int *told_category;
  uint32_t told_capacity;
};

/* Number of a category, made where there is none; -1 out of memory. */
static int category_number(struct nai_kernel_classes *classes, const char *name) {
  return (int)nai_strings_add(&classes->categories, name, strlen(name));
}

/* The user's file: rules, or patterns by category. */
static int load_user(struct nai_kernel_classes *classes, const char *path, struct nai_err *err) {
  classes->user_file = strdup(path);
  NAI_TRY(nai_memory_check(classes->user_file, err));
  if (nai_text_ends(path, ".rules"))
    return nai_kernel_rules_load(&classes->user_rules, &classes->hash, path, false, &classes->categories, err);
  NAI_TRY(nai_patterns_load(&classes->user_patterns, &classes->hash, path, false, err));
  for (int i = 0; i < nai_patterns_class_count(classes->user_patterns); i++)
    if (category_number(classes, nai_patterns_class(classes->user_patterns, i)) < 0)
      return nai_err_nomem(err);
  return NAI_OK;
}

static int load_builtin(struct nai_kernel_classes *classes, struct nai_err *err) {
  NAI_TRY(nai_kernel_rules_load(&classes->rules, &classes->hash, builtin_rules, true, &classes->categories, err));
  classes->fallback = category_number(classes, fallback);
  classes->communication = category_number(classes, communication);
  return classes->fallback < 0 || classes->communication < 0 ? nai_err_nomem(err) : NAI_OK;
}

int nai_kernel_classes_load(struct nai_kernel_classes **out, const char *user_path, struct nai_err *err) {
  static const char *const files[SETS] = {"rules/kernel-traits.yaml", "rules/kernel-arithmetic.yaml",
                                          "rules/uneven-kernels.yaml", "rules/kernel-dtypes.yaml",
                                          "rules/elementwise-dtypes.yaml"};
  NAI_OWNED(nai_kernel_classes) *classes = calloc(1, sizeof *classes);
  *out = NULL;
  NAI_TRY(nai_memory_check(classes, err));
  if (user_path)
    NAI_TRY(load_user(classes, user_path, err));
  NAI_TRY(load_builtin(classes, err));
  for (int i = 0; i < SETS; i++)
    NAI_TRY(nai_patterns_load(&classes->sets[i], &classes->hash, files[i], true, err));
  NAI_TRY(nai_comm_names_load(&classes->comm, err));
  classes->hash = nai_hash_int(classes->hash, (int64_t)nai_comm_names_hash(classes->comm));
  return NAI_GIVE(out, classes);
}

void nai_kernel_classes_free(struct nai_kernel_classes *classes) {
  if (!classes)
    return;
  for (int i = 0; i < SETS; i++)
    nai_patterns_free(classes->sets[i]);
  nai_patterns_free(classes->user_patterns);
  nai_kernel_rules_free(classes->user_rules);
  nai_kernel_rules_free(classes->rules);
  nai_comm_names_free(classes->comm);
  nai_strings_free(&classes->categories);
  nai_strings_free(&classes->told);
  free(classes->told_category);
  free(classes->user_file);
  free(classes);
}

int nai_kernel_classes_tell(struct nai_kernel_classes *classes, const char *kernel_name, const char *category,
                            struct nai_err *err) {
  int number = category_number(classes, category);
  uint32_t id = nai_strings_add(&classes->told, kernel_name, strlen(kernel_name));
  if (number < 0 || id == NAI_NO_STRING ||
      !nai_array_room(&classes->told_category, &classes->told_capacity, id, sizeof *classes->told_category))
    return nai_err_nomem(err);
  classes->told_category[id] = number;
  return NAI_OK;
}

/* The set whose rule decides, NULL none; *rule is its number. */
static const struct nai_kernel_rules *decides(int *rule, const struct nai_kernel_classes *classes,
                                              const char *kernel_name) {
  *rule = classes->user_rules ? nai_kernel_rules_match(classes->user_rules, kernel_name) : -1;
  if (*rule >= 0)
    return classes->user_rules;
  *rule = nai_kernel_rules_match(classes->rules, kernel_name);
  return *rule >= 0 ? classes->rules : NULL;
}

/* The category by a pattern of the user's for whole names, -1 none. */
static int by_pattern(const struct nai_kernel_classes *classes, const char *kernel_name) {
  return classes->user_patterns ? nai_patterns_match(classes->user_patterns, kernel_name) : -1;
}

int nai_kernel_classes_match(const struct nai_kernel_classes *classes, const char *kernel_name) {
  uint32_t told =
      classes->told.count ? nai_strings_find(&classes->told, kernel_name, strlen(kernel_name)) : NAI_NO_STRING;
  int rule, category = told == NAI_NO_STRING ? by_pattern(classes, kernel_name) : classes->told_category[told];
  if (category >= 0)
    return category;
  const struct nai_kernel_rules *rules = decides(&rule, classes, kernel_name);
  return rules ? nai_kernel_rules_get(rules, rule).category : classes->fallback;
}

struct nai_kernel_reason nai_kernel_classes_explain(const struct nai_kernel_classes *classes, const char *kernel_name) {
  struct nai_kernel_reason reason = {.category = by_pattern(classes, kernel_name), .file = classes->user_file};
  if (reason.category >= 0)
    return reason;
  int number;
  const struct nai_kernel_rules *rules = decides(&number, classes, kernel_name);
  if (!rules)
    return (struct nai_kernel_reason){.category = classes->fallback};
  struct nai_kernel_rule rule = nai_kernel_rules_get(rules, number);
  nai_kernel_rules_reason(rules, number, kernel_name, &reason.part, &reason.pattern);
  reason.category = rule.category;
  reason.file = rules == classes->rules ? builtin_rules : classes->user_file;
  reason.line = rule.line;
  reason.source = *rule.source ? rule.source : NULL;
  return reason;
}

int nai_kernel_classes_check(const struct nai_kernel_classes *classes, struct nai_err *err) {
  return classes->user_patterns ? nai_patterns_check(classes->user_patterns, err) : NAI_OK;
}

int nai_kernel_classes_count(const struct nai_kernel_classes *classes) { return (int)classes->categories.count; }

const char *nai_kernel_classes_name(const struct nai_kernel_classes *classes, int category) {
  return nai_strings_get(&classes->categories, (uint32_t)category);
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

static int dtype_among(const struct nai_patterns *set, const char *kernel_name) {
  int found = nai_patterns_match(set, kernel_name);
  for (int i = 0; found >= 0 && i < NAI_DTYPE_COUNT; i++)
    if (strcmp(nai_patterns_class(set, found), nai_dtype_name((enum nai_dtype)i)) == 0)
      return i;
  return -1;
}

int nai_kernel_classes_dtype(const struct nai_kernel_classes *classes, const char *kernel_name) {
  return dtype_among(classes->sets[DTYPES], kernel_name);
}

int nai_kernel_classes_value_dtype(const struct nai_kernel_classes *classes, const char *kernel_name) {
  return dtype_among(classes->sets[ELEMENTWISE], kernel_name);
}

static bool is_one_of(const struct nai_kernel_classes *classes, int category, const char *const *names) {
  const char *name = nai_kernel_classes_name(classes, category);
  return nai_text_is_one(name, strlen(name), names);
}

bool nai_kernel_classes_matrix(const struct nai_kernel_classes *classes, int category) {
  return is_one_of(classes, category, NAI_WORDS("gemm", "convolution", "attention"));
}

bool nai_kernel_classes_uneven(const struct nai_kernel_classes *classes, const char *kernel_name) {
  return nai_patterns_match(classes->sets[UNEVEN], kernel_name) >= 0;
}

bool nai_kernel_classes_fusable(const struct nai_kernel_classes *classes, int category) {
  return is_one_of(classes, category,
                   NAI_WORDS("elementwise", "copy", "normalization", "softmax", "reduction", "quantization"));
}
