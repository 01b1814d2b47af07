#pragma once
#include "tables/declare.h"

#define PEER_COPIES_COLUMNS(C, T)                                                                                   \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                                \
  C(T, src_cuda_device, ID32, "CUDA ordinal copied from, in the process", .key = true, .order = 3)                  \
  C(T, dst_cuda_device, ID32, "CUDA ordinal copied to", .key = true, .order = 4)                                    \
  C(T, count, COUNT, "copies", .sum = true)                                                                         \
  C(T, total_bytes, BYTES, "their size", .sum = true)                                                               \
  C(T, total_time_ns, LESS(TIME), "summed durations", .sum = true, .order = -1)                                     \
  C(T, large_count, COUNT, "of 1 MiB or more that had this direction of the pair for themselves: rates are theirs", \
    .sum = true)                                                                                                    \
  C(T, p50_gb_per_s, MORE(GB_PER_S), "median rate")                                                                 \
  C(T, p90_gb_per_s, MORE(GB_PER_S), "rate that a tenth exceeds")                                                   \
  C(T, link_gb_per_s, GB_PER_S,                                                                                     \
    "peak of the GPU's links to others in one direction, all together, where its name tells; NULL "                 \
    "unknown. Data sheets add both directions")                                                                     \
  C(T, p50_pct_of_link, MORE(PCT), "median rate, of that")                                                          \
  C(T, excess_ns, LESS(TIME), "time of these copies beyond what they would take at that peak", .sum = true)         \
  C(T, opposite_ns, TIME,                                                                                           \
    "of the summed durations: while a copy ran the other way, on the other direction of the links", .sum = true)    \
  C(T, longest_start_ns, START, "start of the longest copy")                                                        \
  C(T, longest_end_ns, END, "its end")
NAI_TABLE(PEER_COPIES, peer_copies, "Copies between GPUs", "Copies from one GPU to another by one process",
          "whether a pair has its own link or goes over PCIe")
