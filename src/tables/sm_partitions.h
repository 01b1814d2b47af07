#pragma once
#include "tables/declare.h"

#define SM_PARTITIONS_COLUMNS(C, T)                                                                                 \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                           \
  C(T, pid, PID, "process", .key = true, .order = 3)                                                                \
  C(T, green_context, ID32, "its CUDA context; NULL: the part of the GPU that the process sees (MIG)", .key = true, \
    .order = 4)                                                                                                     \
  C(T, parent_context, ID32, "the context it was made in")                                                          \
  C(T, sm_count, COUNT, "SMs that kernels in it can use; NULL unknown")                                             \
  C(T, sm_pct_of_gpu, PCT, "of the GPU's SMs")                                                                      \
  C(T, overlaps, LABEL,                                                                                             \
    "green contexts on this GPU that may share SMs with it; unknown masks count as shared; NULL: none")             \
  C(T, kernel_count, COUNT, "kernels", .sum = true)                                                                 \
  C(T, kernel_time_ns, TIME, "summed durations", .sum = true, .order = -2)                                          \
  C(T, busy_ns, TIME, "time in which any of them ran")
NAI_TABLE(
    SM_PARTITIONS, sm_partitions, "SM partitions", "One part of a GPU's SMs that kernels were confined to",
    "memory bandwidth and L2 cache, which partitions of a process share; partitions in which no kernel ran. Built "
    "after NVIDIA's description: verified on generated exports only")
