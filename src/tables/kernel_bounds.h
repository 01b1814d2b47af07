#pragma once
#include "tables/declare.h"

#define KERNEL_BOUNDS_COLUMNS(C, T)                                                                               \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                         \
  C(T, kernel_name, KERNEL_NAME, "kernel: of those with 0.5 % of the GPU's kernel time", .key = true, .order = 3) \
  C(T, state, LABEL, "measured, few, unsampled, shared, as in kernel_metrics: of the metric with most samples")   \
  C(T, why, LABEL, "why it is not measured, as in kernel_metrics")                                                \
  C(T, bound_by, LABEL,                                                                                           \
    "the unit used most, from 60 % on: tensor cores, memory, issue, NVLink, PCIe; else few SMs (active below "    \
    "50 %), latency (all below 40 %), mixed; empty: not measured")                                                \
  C(T, tensor, PCT, "tensor cores active")                                                                        \
  C(T, dram, PCT, "memory bandwidth, reads and writes")                                                           \
  C(T, issue, PCT, "instructions issued")                                                                         \
  C(T, nvlink, PCT, "NVLink, the busiest of its metrics")                                                         \
  C(T, pcie, PCT, "PCIe, the busiest of its metrics")                                                             \
  C(T, sms_active, PCT, "SMs with a warp: residency, not use")                                                    \
  C(T, gpc_mhz, MEAN, "clock while it ran")                                                                       \
  C(T, not_measured, LABEL, "units without values, which bound_by knows nothing of")                              \
  C(T, call_count, COUNT, "executions", .sum = true)                                                              \
  C(T, time_ns, TIME, "summed durations", .sum = true, .order = -2)                                               \
  C(T, pct_of_device_kernel_time, PCT, "of all kernel durations on this GPU", .sum = true)                        \
  C(T, category, LABEL, "kind of work (rules/kernel-classes.rules)")                                              \
  C(T, sample_count, COUNT, "samples of the metric with most of them")
NAI_TABLE(KERNEL_BOUNDS, kernel_bounds, "What binds kernels",
          "One kernel on one GPU, as sampled metrics show it: which unit is used most while it runs alone",
          "caches, and stalls within the SM: ncu measures these. Verified on generated exports only", .csv = true)
