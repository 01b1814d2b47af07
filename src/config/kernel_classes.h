/* Kernel categories: what kind of work a kernel does, told from its name (rules/kernel-classes.rules). */
#pragma once

#include "base/scope.h"
#include "config/comm_names.h"

struct nai_kernel_classes;

/* The built-in classes; patterns of the file `user_path` (may be NULL) are tried before them and may add categories. */
NAI_MUST_CHECK int nai_kernel_classes_load(struct nai_kernel_classes **out, const char *user_path, struct nai_err *err);
void nai_kernel_classes_free(struct nai_kernel_classes *classes);
NAI_OWNER(nai_kernel_classes)

/* Says what a kernel of exactly that name is, before any pattern, and whether or not there is such a category yet. */
NAI_MUST_CHECK int nai_kernel_classes_tell(struct nai_kernel_classes *classes, const char *kernel_name,
                                           const char *category, struct nai_err *err);

/* Category of a kernel; "other" when no pattern matches. Safe from several threads. */
int nai_kernel_classes_match(const struct nai_kernel_classes *classes, const char *kernel_name);
/* Call once after the last match: NAI_EUSAGE when a regular expression gave up on some name. */
NAI_MUST_CHECK int nai_kernel_classes_check(const struct nai_kernel_classes *classes, struct nai_err *err);

/* Why a kernel has its category. Texts are borrowed, some from `classes`. */
struct nai_kernel_reason {
  int category;
  const char *part, *pattern; /* what matched; NULL: nothing did, or a pattern for the whole name */
  const char *file;           /* that decided; NULL: none did */
  uint32_t line;              /* of the rule; 0: it is a pattern of a file without rules */
  const char *source;         /* where the rule's names are from, NULL where it does not say */
};
struct nai_kernel_reason nai_kernel_classes_explain(const struct nai_kernel_classes *classes, const char *kernel_name);

int nai_kernel_classes_count(const struct nai_kernel_classes *classes);
const char *nai_kernel_classes_name(const struct nai_kernel_classes *classes, int category); /* borrowed */
uint64_t nai_kernel_classes_hash(const struct nai_kernel_classes *classes); /* of the texts they were read from */
/* The category that decides what is exposed communication. */
int nai_kernel_classes_communication(const struct nai_kernel_classes *classes);

/* What names of communication kernels say; borrowed. */
const struct nai_comm_names *nai_kernel_classes_comm_names(const struct nai_kernel_classes *classes);

/* What a kernel is beside its category, told from its name (rules/kernel-traits.yaml). */
enum nai_kernel_trait {
  NAI_TRAIT_NONE,
  NAI_TRAIT_RUNTIME, /* a kernel of the runtime's own, not the program's */
  NAI_TRAIT_FUSED,   /* generated from several operations */
  NAI_TRAIT_CAST,    /* changes type or layout, and computes nothing */
  NAI_TRAIT_COUNT
};
enum nai_kernel_trait nai_kernel_classes_trait(const struct nai_kernel_classes *classes, const char *kernel_name);
/* What a kernel computes with, told from its name (rules/kernel-arithmetic.yaml). */
enum nai_arithmetic {
  NAI_ARITHMETIC_UNKNOWN,
  NAI_ARITHMETIC_TENSOR, /* tensor cores */
  NAI_ARITHMETIC_FP32,   /* matrix products and convolutions on ordinary FP32 units */
  NAI_ARITHMETIC_SIMT,   /* other arithmetic outside of tensor cores */
  NAI_ARITHMETIC_COUNT
};
enum nai_arithmetic nai_kernel_classes_arithmetic(const struct nai_kernel_classes *classes, const char *kernel_name);
/* What a kernel multiplies, told from its name (rules/kernel-dtypes.yaml): enum nai_dtype, -1 unknown. */
int nai_kernel_classes_dtype(const struct nai_kernel_classes *classes, const char *kernel_name);
/* The type of every value that an elementwise kernel reads and writes (rules/elementwise-dtypes.yaml); -1 unknown, or
 * several. */
int nai_kernel_classes_value_dtype(const struct nai_kernel_classes *classes, const char *kernel_name);
/* Whether its category is matrix products, convolutions or attention: what peaks of arithmetic are meant for. */
bool nai_kernel_classes_matrix(const struct nai_kernel_classes *classes, int category);
/* Whether its blocks are no equal shares of the work (rules/uneven-kernels.yaml). */
bool nai_kernel_classes_uneven(const struct nai_kernel_classes *classes, const char *kernel_name);
/* Whether the category is one whose kernels move data and compute little, so that several in a row could be one. */
bool nai_kernel_classes_fusable(const struct nai_kernel_classes *classes, int category);
