#pragma once
#include "tables/declare.h"

#define GRAPH_SAVINGS_COLUMNS(C, T)                                                                                   \
  C(T, device_id, DEVICE, "GPU", .order = 3)                                                                          \
  C(T, pid, PID, "process", .order = 4)                                                                               \
  C(T, tid, TID, "thread that launches", .order = 5)                                                                  \
  C(T, first_kernel, KERNEL_NAME, "first kernel of the sequence", .order = 6)                                         \
  C(T, nvtx_range, RANGE_NAME, "innermost NVTX range around its first launch")                                        \
  C(T, kernels_per_pass, COUNT, "kernels launched one by one, always the same ones", .order = 7)                      \
  C(T, pass_count, COUNT, "times that the sequence was launched", .sum = true)                                        \
  C(T, idle_ns, LESS(TIME), "the GPU waited within passes, for the host or for launches", .sum = true, .order = -2)   \
  C(T, cost_ns, TIME, "what launching a graph in place of each pass costs", .sum = true)                              \
  C(T, saving_low_ns, LESS(TIME), "won at least: waiting for launch calls and launches, minus the cost", .sum = true) \
  C(T, saving_high_ns, LESS(TIME), "won at most: the same with what the host did between the calls", .sum = true,     \
    .order = -1)                                                                                                      \
  C(T, saving_low_pct, PCT, "of the GPU's active time")                                                               \
  C(T, saving_high_pct, PCT, "of the GPU's active time")                                                              \
  C(T, best_start_ns, START, "first launch call of the pass with the largest saving", .order = 8)                     \
  C(T, best_end_ns, END, "end of its last launch call")
NAI_TABLE(GRAPH_SAVINGS, graph_savings, "CUDA graph candidates",
          "One sequence of launches that repeats, on one GPU, with the saving of a CUDA graph in its place",
          "kernel arguments: a graph needs the same addresses in every pass, or an update", .csv = true)
