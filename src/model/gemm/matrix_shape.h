/* What an operation of PyTorch's multiplies, or moves, from its name and the sizes of its inputs. */
#pragma once

#include "base/std.h"

/* A bracketed list of sizes: "[[8, 1024], [], [1024, 4096]]". */
enum { NAI_SIZES_MOST = 16, NAI_DIMENSIONS_MOST = 8 };
struct nai_sizes {
  int count; /* of inputs; those beyond NAI_SIZES_MOST are left out */
  struct {
    int dimensions; /* -1: no tensor, or too many of them; 0 for scalars and what is none */
    int64_t v[NAI_DIMENSIONS_MOST];
  } input[NAI_SIZES_MOST];
};
/* False when the text is no such list to its end. */
bool nai_sizes_read(struct nai_sizes *out, const char *text);

/* batch products of m x k and k x n; of attention m and n are the lengths of queries and keys, k the size of a head,
 * and batch counts query heads; of an elementwise operation m counts the values of the result. */
struct nai_matrix_shape {
  int64_t batch, m, n, k;
  bool attention, elementwise;
  /* floating-point operations: 2 per multiplication and addition; attention without a mask; 0 elementwise */
  double flop;
  double values; /* that must be read or written at least once; of elementwise operations below 2^63 */
};
/* Whether a range of that name is an operation whose sizes tell what it multiplies or moves. What such an operation has
 * inside is part of it. */
bool nai_matrix_op_known(const char *name);
/* False when the sizes do not fit the operation. */
bool nai_matrix_shape_of(struct nai_matrix_shape *out, const char *name, const struct nai_sizes *sizes);
