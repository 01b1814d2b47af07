/* What the user says a step computes: --flops-per-step, --model, --dtype, --peak-tflops. */
#pragma once

#include "config/gpu_facts.h"

/* As given; NULL, 0 or NAN for what was not. Texts are borrowed. */
struct nai_flops_options {
  const char *per_step; /* floating-point operations of one step, all GPUs together: "1.2e18" */
  const char *model;    /* "params=7e9,tokens=4194304,layers=32,hidden=4096,seq=4096,causal=1" */
  const char *dtype;    /* a data type: "bf16" */
  double peak_tflops;   /* of one GPU; negative when not given */
};

/* What follows from it. */
struct nai_flops {
  double per_step;    /* 0 when nothing was said */
  bool from_model;    /* by --model */
  int dtype;          /* enum nai_dtype, -1 for the fastest of bf16 and fp16 */
  double peak_tflops; /* negative: by product */
};
/* NAI_EUSAGE names the option and what is wrong with it. */
NAI_MUST_CHECK int nai_flops_read(struct nai_flops *out, const struct nai_flops_options *options, struct nai_err *err);
uint64_t nai_flops_hash(const struct nai_flops *flops);
