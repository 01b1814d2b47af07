/* Operations of PyTorch's that multiply matrices, or are elementwise, and were recorded with the sizes of their inputs,
 * and the kernels behind them. */
#pragma once

#include "model/gemm/matrix_shape.h"
#include "model/model.h"

/* Operations of one name with the same sizes. */
struct nai_gemm_kind {
  uint32_t name, sizes; /* string of nvtx_events, row of nvtx_sizes */
  bool known;           /* whether the sizes tell `shape` */
  struct nai_matrix_shape shape;
};

/* An operation that ran: once per call, of calls captured into a graph once per launch of it. */
struct nai_gemm_run {
  uint32_t kind, gpu;
  int64_t kernels, ns; /* all that it launched */
  uint32_t longest;    /* kernel_events row */
};

/* Adds a run of the same sizes; of kernels that take equally long the earlier one is the longest. */
void nai_gemm_run_add(struct nai_gemm_run *sum, const struct nai_model *model, const struct nai_gemm_run *run);

/* What the kernels of a process on one GPU add up to, and of them those in its steady steps. */
struct nai_gemm_sums {
  int64_t matrix_ns, covered_ns; /* of products, convolutions and attention; those behind runs */
  int64_t runs;                  /* but for elementwise ones */
  double flop, attention_flop;
};
struct nai_gemm_place {
  uint32_t process, gpu;
  struct nai_gemm_sums all, steady;
  uint32_t steady_steps;
};

struct nai_gemms {
  const struct nai_model *m;
  struct nai_gemm_kind *kinds;
  uint32_t kind_count, kind_capacity;
  struct nai_gemm_run *runs;
  uint32_t run_count, run_capacity;
  struct nai_gemm_place *places; /* by process, then GPU */
  uint32_t place_count;
};
/* Finds them, the arena's; where the trace has no such operation, nothing but names is looked at, and everything is
 * empty. */
NAI_MUST_CHECK int nai_gemms_find(struct nai_gemms *out, const struct nai_model *model, struct nai_arena *arena,
                                  struct nai_err *err);
