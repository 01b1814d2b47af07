/* How both sides launch their kernels: grids, blocks, registers, shared memory. Internal to src/features/compare. */
#pragma once

#include "features/compare/compare.h"

/* Sets c->shapes. */
NAI_MUST_CHECK int nai_shapes_read(struct nai_comparison *c, struct nai_err *err);
/* Those of one kernel, the one with most time first; none where runs of an earlier version do not tell. */
struct nai_kernel_shapes nai_shapes_of(const struct nai_comparison *c, int side, const char *kernel);
/* Thread blocks of all its calls; NaN: unknown. */
double nai_shapes_blocks(struct nai_kernel_shapes shapes);
/* Whether a kernel is launched otherwise: the shape with most time of each side is none of the other's. Among several
 * shapes, which one has most time is chance. */
bool nai_shapes_differ(struct nai_kernel_shapes base, struct nai_kernel_shapes candidate);
/* "block 512 -> 16 threads (grid 10)", of shapes that differ. */
void nai_shapes_put_change(struct nai_buf *out, struct nai_kernel_shapes base, struct nai_kernel_shapes candidate);

/* Of the kernel of a row; none where it is several kernels, or none. */
struct nai_kernel_shapes nai_shapes_of_row(const struct nai_comparison *c, const struct nai_match_row *row, int side);
/* Whether the kernel of a row is launched more or less often with as many blocks altogether: then the time of a call
 * tells nothing. */
bool nai_shapes_relaunched(const struct nai_comparison *c, const struct nai_match_row *row);
