/* Elementwise kernels against the bandwidth of the GPU's memory, where range names tell sizes. */
#pragma once

#include "analyses/analysis.h"
#include "model/gemm/gemms.h"

/* Adds the rows of elementwise_shapes. */
NAI_MUST_CHECK int nai_elementwise_put(const struct nai_node_io *io, const struct nai_gemms *gemms,
                                       struct nai_table *out, struct nai_err *err);

/* Of an enum nai_dtype. */
int nai_gemm_value_bytes(int dtype);
/* Bytes per second of a GPU's memory, 0 unknown. */
double nai_gemm_bandwidth(const struct nai_model *m, uint32_t gpu);
