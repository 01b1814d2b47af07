#pragma once
#include "tables/declare.h"

#define MFU_COLUMNS(C, T)                                                                                \
  C(T, source, NAME, "where the operations come from: flops-per-step, model or nvtx-sizes", .key = true) \
  C(T, flop_per_step, MEAN, "floating-point operations of a step, all GPUs together")                    \
  C(T, gpu_count, COUNT, "GPUs whose steps are known")                                                   \
  C(T, step_time_ns, LESS(TIME), "median steady step, of the slowest GPU")                               \
  C(T, steady_steps, COUNT, "steady steps, of the GPU with the fewest")                                  \
  C(T, dtype, LABEL, "data type whose peak is meant, NULL for a peak given by --peak-tflops")            \
  C(T, peak_tflops, MEAN, "dense peak of all these GPUs together, 10^12 operations per second")          \
  C(T, achieved_tflops, MORE(MEAN), "operations of a step over its time, 10^12 per second")              \
  C(T, mfu_pct, MORE(PCT), "achieved, of the peak (model FLOPs utilization); NULL where it is refused")  \
  C(T, note, LABEL,                                                                                      \
    "why there is no number: no steps, fewer than three steady steps, no peak, more than the peak, too " \
    "little covered by sizes; or what it rests on")                                                      \
  C(T, peak_source, LABEL, "where the peak comes from")
NAI_TABLE(MFU, mfu, "Model FLOPs utilization",
          "What a step computes, as the user or sizes in range names say, against the GPUs' peak",
          "GPUs of the job that are not in the trace; experts, shared heads and recomputation; clocks below boost")
