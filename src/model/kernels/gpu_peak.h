/* What a GPU of the trace can compute at most (rules/gpus.yaml). */
#pragma once

#include "config/gpu_facts.h"
#include "model/model.h"

struct nai_gpu_peak {
  const char *name;                      /* as the export has it, "" unknown */
  const struct nai_gpu_product *product; /* NULL unknown */
  double share;   /* of the product's multiprocessors that there are; 1 where the export does not tell */
  bool partition; /* a MIG instance: the product is the GPU it is a part of */
};
struct nai_gpu_peak nai_gpu_peak_of(const struct nai_model *model, int64_t device);
/* Dense peak, 10^12 operations per second; 0 unknown. */
static inline double nai_gpu_peak_tflops(const struct nai_gpu_peak *peak, enum nai_dtype dtype) {
  return peak->product ? peak->product->tflops[dtype] * peak->share : 0;
}
