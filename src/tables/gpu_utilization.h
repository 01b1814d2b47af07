#pragma once
#include "tables/declare.h"

#define GPU_UTILIZATION_COLUMNS(C, T)                                                                           \
  C(T, device_id, DEVICE, "GPU", .key = true)                                                                   \
  C(T, window_ns, LESS(NS_MS), "first operation start to last operation end", .sum = true)                      \
  C(T, busy_ns, NS_MS, "time with any kernel, copy, set or graph running", .sum = true)                         \
  C(T, idle_ns, LESS(NS_MS), "window minus busy", .sum = true)                                                  \
  C(T, idle_pct_of_window, LESS(PCT), "idle, of the window")                                                    \
  C(T, compute_ns, NS_MS, "time with a compute kernel or a graph running", .sum = true)                         \
  C(T, exposed_comm_ns, LESS(NS_MS), "communication kernels and no compute running", .sum = true)               \
  C(T, exposed_copy_ns, LESS(NS_MS), "copies or sets and no kernel running", .sum = true)                       \
  C(T, overlap_comm_pct, MORE(PCT), "share of communication hidden behind compute; NULL without communication") \
  C(T, kernel_window_ns, LESS(NS_MS), "first kernel start to last kernel end; graph envelopes are not kernels", \
    .sum = true)                                                                                                \
  C(T, kernel_busy_ns, NS_MS, "time with any kernel running", .sum = true)                                      \
  C(T, kernel_idle_ns, LESS(NS_MS), "kernel window minus kernel busy", .sum = true)                             \
  C(T, kernel_idle_pct, LESS(PCT), "the kernel-only idle estimate other tools print")                           \
  C(T, gap_count, LESS(COUNT),                                                                                  \
    "idle gaps inside the window; gaps at the window's edges, which operations of zero length make, "           \
    "count too",                                                                                                \
    .sum = true)                                                                                                \
  C(T, comm_ns, LESS(NS), "time with a communication kernel running, hidden or not", .sum = true)               \
  C(T, copy_ns, LESS(NS), "time with a copy or set running, hidden or not", .sum = true)                        \
  C(T, graph_envelope_ns, NS, "time inside CUDA graphs traced as one envelope", .sum = true)                    \
  C(T, busy_pct, MORE(PCT), "busy, of the window")                                                              \
  C(T, compute_pct, MORE(PCT), "compute, of the window")                                                        \
  C(T, exposed_comm_pct, LESS(PCT), "exposed communication, of the window")                                     \
  C(T, exposed_copy_pct, LESS(PCT), "exposed copy, of the window")                                              \
  C(T, graph_envelope_pct, PCT, "graph envelopes, of the window")                                               \
  C(T, window_start_ns, START, "first operation start")                                                         \
  C(T, window_end_ns, END, "last operation end")                                                                \
  C(T, operation_count, COUNT, "kernels, copies, sets and graph launches", .sum = true)                         \
  C(T, gpu_name, NAME, "product name")                                                                          \
  C(T, gpu, LABEL, "how reports call this GPU")                                                                 \
  C(T, pid, PID, "the process, where GPUs are told apart by process only")
NAI_TABLE(GPU_UTILIZATION, gpu_utilization, "GPU utilization",
          "One GPU; compute + exposed communication + exposed copy + idle = window",
          "how much of the GPU a busy moment used; gaps, copies and communication inside a graph traced as an envelope",
          .csv = true)
