#pragma once
#include "tables/declare.h"

#define NIC_METRICS_COLUMNS(C, T)                                                                          \
  C(T, nic, LABEL, "network card: its name, else its number in the export", .key = true, .order = 1)       \
  C(T, port, ID32, "port of the card", .key = true, .order = 2)                                            \
  C(T, metric, NAME, "name of the metric in the export", .key = true, .order = 3)                          \
  C(T, metric_unit, LABEL, "GB/s for what the export has in bytes per ms, else the export's unit")         \
  C(T, during, LABEL,                                                                                      \
    "capture: all samples; exposed_comm: while some GPU communicates and does not compute; steady_steps: " \
    "of any GPU",                                                                                          \
    .key = true, .order = 4, .labels = nai_time_labels)                                                    \
  C(T, time_ns, TIME, "length of that time")                                                               \
  C(T, coverage_pct, PCT, "of that time: samples tell of")                                                 \
  C(T, sample_count, COUNT, "samples that lie in it for the greater part")                                 \
  C(T, mean, MEAN, "mean, weighted by time; empty for fewer than 20 samples")                              \
  C(T, p50, MEAN, "median of samples")                                                                     \
  C(T, max, MEAN, "largest sample")                                                                        \
  C(T, total_bytes, BYTES, "of metrics in bytes: value times time", .sum = true)
NAI_TABLE(NIC_METRICS, nic_metrics, "NIC metrics",
          "One sampled metric of one port of a network card in one kind of time; all its users",
          "which process or collective traffic belongs to; drops shorter than a sample; counters of switches",
          .csv = true)
