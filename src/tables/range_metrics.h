#pragma once
#include "tables/declare.h"

#define RANGE_METRICS_COLUMNS(C, T)                                                              \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                        \
  C(T, range_path, RANGE_NAME,                                                                   \
    "NVTX ranges, outermost first, digits as #: those with 0.5 % of all kernel time, at "        \
    "most 200",                                                                                  \
    .key = true, .order = 3)                                                                     \
  C(T, metric, NAME, "name of the metric in the export", .key = true, .order = 4)                \
  C(T, metric_unit, LABEL, "% or MHz: unit of mean and max")                                     \
  C(T, state, LABEL, "measured; few (5 to 19 samples) or unsampled (fewer): nothing is known")   \
  C(T, instance_count, COUNT, "ranges of this path")                                             \
  C(T, sample_count, COUNT, "samples that lie for the greater part in what the ranges launched") \
  C(T, mean, MEAN, "mean, weighted by time; empty for fewer than 20 samples")                    \
  C(T, max, MEAN, "largest of these samples; empty for fewer than 20")                           \
  C(T, time_ns, TIME, "in which the GPU ran what the ranges launched", .order = -2)              \
  C(T, coverage_pct, PCT, "of that time: samples tell of")
NAI_TABLE(RANGE_METRICS, range_metrics, "Metrics by range",
          "One sampled metric while a GPU ran what ranges of one path launched",
          "what one of two ranges that overlap on the GPU contributed; single instances. Verified on generated exports "
          "only")
