#pragma once
#include "tables/declare.h"

#define GPU_METRIC_SAMPLES_COLUMNS(C, T)                                                            \
  C(T, time_ns, EVENT_START, "when")                                                                \
  C(T, metric, ID32, "row of table gpu_metric_names", .refers = "gpu_metric_names", .filled = true) \
  C(T, value, CELL(I64, COUNT), "value; the unit is in the name of the metric")
NAI_TABLE(GPU_METRIC_SAMPLES, gpu_metric_samples, "GPU metric samples", "One sample of one GPU metric")
NAI_EVENT_COLUMNS(GPU_METRIC_SAMPLES)
