/* Elementwise kernels against the bandwidth of the GPU's memory, where range names tell sizes. */
#pragma once

#include "analyses/analysis.h"
#include "model/gemm/gemms.h"

/* Adds the rows of elementwise_shapes. */
NAI_MUST_CHECK int nai_elementwise_put(const struct nai_node_io *io, const struct nai_gemms *gemms,
                                       struct nai_table *out, struct nai_err *err);

/* Data types that names of kernels tell, each name asked once. */
struct nai_gemm_dtypes {
  const struct nai_model *m;
  int (*ask)(const struct nai_kernel_classes *classes, const char *kernel_name);
  int8_t *known; /* per string of kernel_events; of the arena */
};
NAI_MUST_CHECK int nai_gemm_dtypes_new(struct nai_gemm_dtypes *out, const struct nai_model *m,
                                       int (*ask)(const struct nai_kernel_classes *, const char *),
                                       struct nai_arena *arena, struct nai_err *err);
/* Of a row of kernel_events: enum nai_dtype, -1 unknown. */
int nai_gemm_dtype(const struct nai_gemm_dtypes *dtypes, uint32_t kernel);
/* Of an enum nai_dtype. */
int nai_gemm_value_bytes(int dtype);
/* Bytes per second of a GPU's memory, 0 unknown. */
double nai_gemm_bandwidth(const struct nai_model *m, uint32_t gpu);
