/* What the user says a step computes and reads: --flops-per-step, --model, --dtype, --peak-tflops, --model-weights. */
#pragma once

#include "config/gpu_facts.h"

/* As given; NULL, 0 or NAN for what was not. Texts are borrowed. */
struct nai_flops_options {
  const char *per_step; /* floating-point operations of one step, all GPUs together: "1.2e18" */
  const char *model;    /* "params=7e9,tokens=4194304,layers=32,hidden=4096,seq=4096,causal=1" */
  const char *dtype;    /* a data type: "bf16" */
  double peak_tflops;   /* of one GPU; negative when not given */
  const char *weights;  /* bytes that a decode step reads on one GPU: "14e9,active=3e9-14e9,kv=131072" */
};

/* What follows from it. */
struct nai_flops {
  double per_step;                  /* 0 when nothing was said */
  bool from_model;                  /* by --model */
  int dtype;                        /* enum nai_dtype, -1 for the fastest of bf16 and fp16 */
  double peak_tflops;               /* negative: by product */
  double weights_low, weights_high; /* bytes of weights that a decode step reads on one GPU; 0 when nothing was said */
  double kv_bytes;                  /* of the cache, per token of a sequence; 0 when nothing was said */
};
/* NAI_EUSAGE names the option and what is wrong with it. */
NAI_MUST_CHECK int nai_flops_read(struct nai_flops *out, const struct nai_flops_options *options, struct nai_err *err);
uint64_t nai_flops_hash(const struct nai_flops *flops);
