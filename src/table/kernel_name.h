/* Kernel names for people. A demangled C++ name can be kilobytes of template arguments; the short form drops the
 * return type, parameters, namespaces and casts, collapses lambdas into the function that holds them, leaves out
 * arguments that are plumbing, and shows as many template arguments as fit, functions and functors first:
 *   void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>, std::array<char *, 1>>(int)
 *   vectorized_elementwise_kernel<4, FillFunctor<float>>
 * Names without C++ structure (mangled, Triton, nvjet) stay as they are, cut in the middle when too long. */
#pragma once

#include "base/buf.h"
#include "base/strings.h"

enum { NAI_SHORT_NAME = 72 }; /* code points of a name where outputs have it short */

/* Appends the short form of `name`, at most `max_chars` (>= 16) code points. Time and memory are linear in the name.
 * Different names can have the same short form. */
void nai_kernel_name_short(struct nai_buf *out, const char *name, size_t max_chars);
/* The name that ncu has for the function, without return type, namespaces, template arguments and parameters:
 * "Kernel" of `void cutlass::Kernel<cutlass::gemm::kernel::Gemm<...>>(T1::Params)`. All of a name without these. */
void nai_kernel_base_name(struct nai_buf *out, const char *name);
/* The short form of a C++ function, which may begin with its return type: `int* load<int>(std::string, int)` is
 * load<int>. */
void nai_function_name_short(struct nai_buf *out, const char *signature, size_t max_chars);

/* Short forms of a set of names, different for different names: those that would be the same get what tells them apart
 * in brackets (`reduce_kernel<512, ...> [MaxOps]`), else a number (`reduce_kernel<512, ...> #2`). Depends on the set
 * only, not on its order. (*out)[i] belongs to names[i]; a name that occurs twice has the same short form. The caller
 * frees *out with one free(). At least 32 code points are used. */
NAI_MUST_CHECK int nai_kernel_names_short(char ***out, const char *const *names, size_t count, size_t max_chars,
                                          struct nai_err *err);
/* Of all strings of a table of kernels, as table kernels has them. */
NAI_MUST_CHECK int nai_kernel_names_of(char ***out, const struct nai_strings *names, struct nai_err *err);
