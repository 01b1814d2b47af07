#pragma once
#include "tables/declare.h"

/* The first columns of phase_metrics and step_metrics. */
#define METRIC_COLUMNS(C, T)                                                                                         \
  C(T, device_id, DEVICE, "GPU; empty for network cards", .key = true, .order = 1)                                   \
  C(T, nic, LABEL, "network card: its name, else its number in the export; empty for GPUs", .key = true, .order = 2) \
  C(T, port, ID32, "port of the card", .key = true, .order = 3)                                                      \
  C(T, metric, NAME, "name of the metric in the export", .key = true, .order = 4)                                    \
  C(T, metric_unit, LABEL, "unit of mean and max")                                                                   \
  C(T, time_ns, TIME, "length of that time", .order = -6)                                                            \
  C(T, coverage_pct, PCT, "of that time: samples tell of")                                                           \
  C(T, sample_count, COUNT, "samples that lie in it for the greater part")                                           \
  C(T, mean, MEAN, "mean, weighted by time; empty for fewer than 20 samples")                                        \
  C(T, max, MEAN, "largest of these samples; empty for fewer than 20")

#define PHASE_METRICS_COLUMNS(C, T) \
  METRIC_COLUMNS(C, T)              \
  C(T, phase, LABEL, "phase of the phase map", .key = true, .order = 5)
NAI_TABLE(PHASE_METRICS, phase_metrics, "Metrics by phase",
          "One sampled metric while a GPU ran what a phase of the phase map launched",
          "what one of two phases that overlap on the GPU contributed; phases shorter than 20 samples")
