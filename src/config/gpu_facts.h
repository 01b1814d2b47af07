/* What GPUs can do, as far as an export does not say it: limits by compute capability (rules/gpus.yaml). */
#ifndef NAI_CONFIG_GPU_FACTS_H
#define NAI_CONFIG_GPU_FACTS_H

#include "base/err.h"

#include <stdint.h>

/* Limits of one multiprocessor and what it computes per clock. */
struct nai_gpu_limits {
  int major, minor; /* compute capability */
  int64_t warps_per_sm, blocks_per_sm, registers_per_sm, registers_per_block;
  int64_t shared_per_sm, shared_per_block;            /* bytes; per block with opting in */
  int64_t fp32_flop_per_clock, tensor_flop_per_clock; /* tensor: half-precision inputs; 0 without tensor cores */
};

struct nai_gpu_facts;

/* The built-in facts; entries of the file `user_path` (may be NULL) come before them. */
NAI_MUST_CHECK int nai_gpu_facts_load(struct nai_gpu_facts **out, const char *user_path, struct nai_err *err);
void nai_gpu_facts_free(struct nai_gpu_facts *facts);
uint64_t nai_gpu_facts_hash(const struct nai_gpu_facts *facts); /* of the texts they were read from */

/* Limits of a compute capability, NULL when it is not known. Borrowed. */
const struct nai_gpu_limits *nai_gpu_facts_limits(const struct nai_gpu_facts *facts, int64_t major, int64_t minor);

#endif
