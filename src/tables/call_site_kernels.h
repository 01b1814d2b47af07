#pragma once
#include "tables/declare.h"

#define CALL_SITE_KERNELS_COLUMNS(C, T)                                                       \
  C(T, label, LABEL, "as in call_sites", .key = true, .order = 1)                             \
  C(T, scope, LABEL, "as in call_sites", .key = true, .order = 2, .labels = nai_scope_labels) \
  C(T, pid, PID, "process", .key = true, .order = 3)                                          \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 4)                                     \
  C(T, kernel_name, KERNEL_NAME, "kernel", .key = true, .order = 6)                           \
  C(T, count, COUNT, "executions", .sum = true)                                               \
  C(T, time_ns, TIME, "their summed durations", .sum = true, .order = -5)
NAI_TABLE(
    CALL_SITE_KERNELS, call_site_kernels, "Kernels by call site",
    "One kernel that a call site launched, of the 50 that took longest",
    "kernels of calls without a recorded stack by their origin. Python frames: verified on generated exports only")
