#pragma once
#include "tables/declare.h"

#define COMM_SIZES_COLUMNS(C, T)                                                                                 \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 2)                                                        \
  C(T, communicator, LABEL, "its id, hexadecimal; NULL unknown", .key = true, .order = 3)                        \
  C(T, op, NAME, "the collective", .key = true, .order = 4)                                                      \
  C(T, from_bytes, BYTES, "messages of this size or more: a power of two, or 0", .key = true, .order = 5)        \
  C(T, below_bytes, BYTES, "and below that")                                                                     \
  C(T, kernel_count, COUNT, "kernels", .sum = true)                                                              \
  C(T, matched_count, COUNT, "of them matched with other GPUs; times and rates of others hold waiting, too",     \
    .sum = true)                                                                                                 \
  C(T, total_bytes, BYTES, "message sizes as NCCL counts them", .sum = true)                                     \
  C(T, total_time_ns, LESS(TIME), "summed durations", .sum = true)                                               \
  C(T, p50_transfer_ns, LESS(AVERAGE), "median transfer, of kernels not matched duration")                       \
  C(T, latency_bound, ID32,                                                                                      \
    "1: below 256 KiB, or less than three times as long as such messages of the same communicator: a rate says " \
    "nothing")                                                                                                   \
  C(T, p50_busbw, MORE(GB_PER_S), "median bus rate as nccl-tests defines it; NULL where bound by latency")       \
  C(T, p90_busbw, MORE(GB_PER_S), "90th percentile of it")                                                       \
  C(T, p10_busbw, MORE(GB_PER_S), "10th percentile of it")                                                       \
  C(T, uneven_ns, LESS(TIME),                                                                                    \
    "of exposed_ns: what transfers take longer than at p90_busbw; NULL: not all are matched", .sum = true)       \
  C(T, wait_ns, LESS(TIME), "of matched kernels: waiting for the last GPU", .sum = true)                         \
  C(T, exposed_ns, LESS(TIME), "share of the GPU's exposed communication", .sum = true, .order = -1)
NAI_TABLE(COMM_SIZES, comm_sizes, "Collectives by message size",
          "Communication of one kind with messages of similar size, in one communicator on one GPU",
          "kernels whose message size is not known; algorithm and protocol")
