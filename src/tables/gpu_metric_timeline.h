#pragma once
#include "tables/declare.h"

#define GPU_METRIC_TIMELINE_COLUMNS(C, T)                                                                            \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                            \
  C(T, metric, NAME, "name of the metric in the export", .key = true, .order = 2)                                    \
  C(T, metric_unit, LABEL, "% or MHz: unit of mean and max")                                                         \
  C(T, start_ns, START, "start of a stretch; all are of equal length, those without a sample left out", .key = true, \
    .order = 3)                                                                                                      \
  C(T, end_ns, END, "end of the stretch, exclusive")                                                                 \
  C(T, sample_count, COUNT, "samples in it")                                                                         \
  C(T, mean, MEAN, "mean of the samples")                                                                            \
  C(T, max, MEAN, "largest of them")
NAI_TABLE(GPU_METRIC_TIMELINE, gpu_metric_timeline, "GPU metrics over time",
          "One sampled metric of one GPU in one stretch of the GPUs' window",
          "how values lie within a stretch; whose work they are of")
