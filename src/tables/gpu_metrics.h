#pragma once
#include "tables/declare.h"

#define GPU_METRICS_COLUMNS(C, T)                                                                          \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                  \
  C(T, metric, NAME, "name of the metric in the export", .key = true, .order = 2)                          \
  C(T, metric_unit, LABEL, "% or MHz: unit of mean, p50 and max")                                          \
  C(T, during, LABEL,                                                                                      \
    "window, busy (something runs), compute, exposed_comm, exposed_copy, idle: parts of gpu_utilization; " \
    "gemm_only: nothing but kernels of category gemm; steady_steps",                                       \
    .key = true, .order = 4, .labels = nai_time_labels)                                                    \
  C(T, time_ns, TIME, "length of that time", .order = -3)                                                  \
  C(T, coverage_pct, PCT, "of that time: within one period after a sample")                                \
  C(T, sample_count, COUNT, "samples whose period lies in it for the greater part")                        \
  C(T, mean, MEAN, "mean, weighted by time; empty for fewer than 20 samples")                              \
  C(T, p50, MEAN, "median of samples")                                                                     \
  C(T, max, MEAN, "largest sample")                                                                        \
  C(T, period_ns, AVERAGE, "median distance of samples, for which a sample stands")                        \
  C(T, max_gap_ns, TIME, "longest distance between samples in the window: samples that were lost")
NAI_TABLE(GPU_METRICS, gpu_metrics, "GPU metrics",
          "One sampled metric of one GPU in one kind of its time; of the whole GPU, all its users",
          "values of single kernels: samples are 100 \u00b5s apart by default; whose work a sample is of", .csv = true)
