#pragma once
#include "tables/declare.h"

#define LOSSES_COLUMNS(C, T)                                                                                           \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                              \
  C(T, what, NAME,                                                                                                     \
    "unfused, casts, allocation, tiny_copies, copies_on_compute_stream, communication_on_compute_stream, "             \
    "repeated_copies, streamed_copies, round_trips, underfilled, small_blocks, bimodal, long_calls or page_migration", \
    .key = true, .order = 3)                                                                                           \
  C(T, time_ns, LESS(TIME), "time concerned, within active spans", .order = -2)                                        \
  C(T, count, LESS(COUNT), "kernels, copies or calls")                                                                 \
  C(T, pct_of_active, LESS(PCT), "time, of the GPU's active time")                                                     \
  C(T, pct_of_kind, LESS(PCT), "time, of the summed time of all kernels (or copies) there")                            \
  C(T, example, KERNEL_NAME, "the kernel, kind of copy or function with the largest share", .key = true, .order = 4)   \
  C(T, example_ns, TIME, "its share of the time")                                                                      \
  C(T, detail, LABEL, "what was counted, with numbers")                                                                \
  C(T, low_median_ns, AVERAGE, "bimodal: median of the shorter mode; long_calls: of all calls")                        \
  C(T, high_median_ns, AVERAGE, "bimodal: median of the longer mode; long_calls: of the long calls")                   \
  C(T, longest_start_ns, START, "start of the longest of them")                                                        \
  C(T, longest_end_ns, END, "end of the longest of them")                                                              \
  C(T, gain_ns, LESS(TIME),                                                                                            \
    "of time_ns: upper bound of the saving; without what runs beside other work, or has to stay; of "                  \
    "underfilled as much as lanes idle; of small_blocks what full warps save, or blocks of 256 "                       \
    "threads where starts of blocks limit: more warps per block may save beyond the former")
NAI_TABLE(LOSSES, losses, "Losses",
          "One kind of work on one GPU that may be avoidable; rows overlap and must not be added",
          "whether copies of the same size hold the same data; whether few blocks are right for the problem")
