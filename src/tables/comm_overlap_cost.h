#pragma once
#include "tables/declare.h"

#define COMM_OVERLAP_COST_COLUMNS(C, T)                                                                     \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                   \
  C(T, kernel_name, KERNEL_NAME, "compute kernel", .key = true, .order = 4)                                 \
  C(T, grid, LABEL, "its grid, in blocks", .key = true, .order = 5)                                         \
  C(T, block, LABEL, "its blocks, in threads", .key = true, .order = 6)                                     \
  C(T, free_count, COUNT, "executions without any communication beside them", .sum = true)                  \
  C(T, free_p50_ns, AVERAGE, "their median duration")                                                       \
  C(T, free_cv_pct, PCT, "their standard deviation, of their mean")                                         \
  C(T, overlapped_count, COUNT, "executions with communication beside at least 90 % of them", .sum = true)  \
  C(T, overlapped_p50_ns, AVERAGE, "their median duration")                                                 \
  C(T, overlapped_ns, NS_MS, "their summed durations", .sum = true, .order = -3)                            \
  C(T, slowdown_ns, LESS(NS_MS),                                                                            \
    "time by which they are longer than free_p50_ns, less what executions without communication are; NULL " \
    "where those vary by 10 % or more: the difference would mean nothing",                                  \
    .sum = true, .order = -2)                                                                               \
  C(T, slowdown_pct, LESS(PCT), "that, of the GPU's window")                                                \
  C(T, slowest_start_ns, START, "start of the longest overlapped execution")                                \
  C(T, slowest_end_ns, END, "its end")
NAI_TABLE(COMM_OVERLAP_COST, comm_overlap_cost, "Price of overlap",
          "One compute kernel (name, grid, block) on one GPU that ran both beside communication and without",
          "whether a kernel's work differs from call to call; power and clocks that fall because of the overlap")
