#pragma once
#include "tables/declare.h"

#define KERNEL_METRICS_COLUMNS(C, T)                                                                               \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                          \
  C(T, kernel_name, KERNEL_NAME, "kernel: of those with 0.5 % of the GPU's kernel time", .key = true, .order = 3)  \
  C(T, metric, NAME, "name of the metric in the export", .key = true, .order = 4)                                  \
  C(T, metric_unit, LABEL, "% or MHz: unit of mean and quantiles")                                                 \
  C(T, state, LABEL,                                                                                               \
    "measured; few (5 to 19 samples, a mean only); unsampled (fewer: nothing is known); shared (another process "  \
    "had the GPU, too: nothing is known)")                                                                         \
  C(T, why, LABEL,                                                                                                 \
    "of kernels not measured: too_short (median execution below the period), overlapped (alone for less than "     \
    "half of its time), short_total (alone for less than 20 periods), lost (samples are missing), edges (samples " \
    "lie on its edges); empty of others")                                                                          \
  C(T, sample_count, COUNT, "samples of which 95 % or more lie in executions with nothing beside them")            \
  C(T, mean, MEAN, "mean of these samples")                                                                        \
  C(T, p10, MEAN, "10th percentile")                                                                               \
  C(T, p50, MEAN, "median")                                                                                        \
  C(T, p90, MEAN, "90th percentile")                                                                               \
  C(T, alone_ns, TIME, "time in which nothing but this kernel runs")                                               \
  C(T, time_ns, TIME, "summed durations", .order = -2)                                                             \
  C(T, period_ns, LENGTH, "median distance of samples")
NAI_TABLE(KERNEL_METRICS, kernel_metrics, "Metrics by kernel", "One sampled metric while one kernel ran alone",
          "values of single executions; what kernels do that are shorter than a period and do not follow on one "
          "another. Verified on generated exports only")
