#pragma once
#include "tables/declare.h"

#define GPU_ACTIVE_COLUMNS(C, T)                                                                          \
  C(T, device_id, DEVICE, "GPU", .key = true)                                                             \
  C(T, window_ns, LESS(NS_MS), "first operation start to last operation end", .sum = true)                \
  C(T, active_ns, LESS(NS_MS), "length of its active spans", .sum = true)                                 \
  C(T, pause_ns, LESS(NS_MS), "length of its pauses", .sum = true)                                        \
  C(T, set_up_ns, LESS(NS_MS), "length of its spans of setup and checks", .sum = true)                    \
  C(T, compute_ns, NS_MS, "compute, within active spans", .sum = true)                                    \
  C(T, exposed_comm_ns, LESS(NS_MS), "exposed communication, within active spans", .sum = true)           \
  C(T, exposed_copy_ns, LESS(NS_MS), "exposed copies and memsets, within active spans", .sum = true)      \
  C(T, idle_ns, LESS(NS_MS), "nothing running, within active spans", .sum = true)                         \
  C(T, compute_pct, MORE(PCT), "compute, of active_ns")                                                   \
  C(T, exposed_comm_pct, LESS(PCT), "exposed communication, of active_ns")                                \
  C(T, exposed_copy_pct, LESS(PCT), "exposed copies, of active_ns")                                       \
  C(T, idle_pct, LESS(PCT), "idle, of active_ns")                                                         \
  C(T, pause_count, COUNT, "pauses", .sum = true)                                                         \
  C(T, kernel_count, COUNT, "kernels and graph launches within active spans", .sum = true)                \
  C(T, kernel_time_ns, TIME, "their summed durations", .sum = true)                                       \
  C(T, steady, ID32,                                                                                      \
    "1 when what runs repeats: at least 20 kernels in active spans, and at least half of their time in "  \
    "what occurs 5 times or more")                                                                        \
  C(T, repeated_pct, PCT,                                                                                 \
    "of the kernel time within active spans: in kernels of a name, grid and block that occur 5 times or " \
    "more there")                                                                                         \
  C(T, active_start_ns, START, "start of the first active span")                                          \
  C(T, active_end_ns, END, "end of the last active span")                                                 \
  C(T, gpu, LABEL, "how reports call this GPU")
NAI_TABLE(GPU_ACTIVE, gpu_active, "Active time of GPUs",
          "One GPU; compute + exposed communication + exposed copy + idle = active, all within active spans",
          "whether repeated work is the program's own or its setup", .csv = true)
