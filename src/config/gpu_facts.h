/* What GPUs can do, as far as an export does not say it: limits by compute capability, peaks and links by product
 * (rules/gpus.yaml). */
#pragma once

#include "base/err.h"
#include "base/scope.h"

/* Limits of one multiprocessor and what it computes per clock. */
struct nai_gpu_limits {
  int major, minor; /* compute capability */
  int64_t warps_per_sm, blocks_per_sm, registers_per_sm, registers_per_block;
  int64_t shared_per_sm, shared_per_block;            /* bytes; per block with opting in */
  int64_t fp32_flop_per_clock, tensor_flop_per_clock; /* tensor: half-precision inputs; 0 without tensor cores */
};

/* How a GPU is linked to its host. */
struct nai_link {
  const char *name; /* "PCIe 4.0 x16" */
  double gb_per_s;  /* that copies of pinned memory reach in one direction, 10^9 bytes per second */
};

/* Data types that matrix products are told apart by. */
enum nai_dtype { NAI_DTYPE_FP16, NAI_DTYPE_BF16, NAI_DTYPE_TF32, NAI_DTYPE_FP32, NAI_DTYPE_FP8, NAI_DTYPE_COUNT };
const char *nai_dtype_name(enum nai_dtype dtype); /* "bf16" */

struct nai_gpu_product {
  const char *name;                 /* exactly as exports have it */
  int64_t sm_count;                 /* of the whole GPU, 0 unknown */
  const struct nai_link *host_link; /* the fastest that it can have; NULL unknown */
  double tflops[NAI_DTYPE_COUNT];   /* dense peak, 10^12 operations per second; 0 unknown */
  bool verified;                    /* the peaks follow from multiprocessors, clock and rate per clock */
  const char *source;               /* "" for none */
};

struct nai_gpu_facts;

/* The built-in facts; entries of the file `user_path` (may be NULL) come before them. */
NAI_MUST_CHECK int nai_gpu_facts_load(struct nai_gpu_facts **out, const char *user_path, struct nai_err *err);
void nai_gpu_facts_free(struct nai_gpu_facts *facts);
NAI_OWNER(nai_gpu_facts)
uint64_t nai_gpu_facts_hash(const struct nai_gpu_facts *facts); /* of the texts they were read from */

/* Limits of a compute capability, NULL when it is not known. Borrowed. */
const struct nai_gpu_limits *nai_gpu_facts_limits(const struct nai_gpu_facts *facts, int64_t major, int64_t minor);
/* A product by its exact name, NULL when it is not known. Borrowed. */
const struct nai_gpu_product *nai_gpu_facts_product(const struct nai_gpu_facts *facts, const char *name);
