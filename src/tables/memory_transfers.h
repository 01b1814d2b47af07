#pragma once
#include "tables/declare.h"

#define MEMORY_TRANSFERS_COLUMNS(C, T)                                                                        \
  C(T, direction, NAME, "label of the copy kind in the export (Host-to-Device, ...), or memset", .key = true, \
    .order = 2)                                                                                               \
  C(T, src_kind, LABEL, "memory copied from", .order = 3)                                                     \
  C(T, dst_kind, LABEL, "memory copied to or set", .order = 4)                                                \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 5)                                                     \
  C(T, count, COUNT, "operations", .sum = true)                                                               \
  C(T, total_bytes, LESS(BYTES), "bytes moved or set", .sum = true)                                           \
  C(T, total_time_ns, LESS(TIME), "summed durations", .sum = true, .order = -1)                               \
  C(T, gb_per_s, MORE(GB_PER_S), "bytes over summed durations; NULL where a row has an impossible rate")      \
  C(T, p50_bytes, CELL(F64, BYTES), "median size", .role = NAI_ROLE_METRIC)                                   \
  C(T, p90_ns, AVERAGE, "90th percentile of durations")                                                       \
  C(T, pageable_count, LESS(COUNT), "operations with a pageable end; copies only", .sum = true)               \
  C(T, exposed_ns, LESS(TIME), "time not hidden by kernels (union of these operations minus kernels)")        \
  C(T, small_count, LESS(COUNT), "operations of 64 KiB or less; of copies and memsets alike", .sum = true)    \
  C(T, longest_start_ns, START, "start of the longest operation")                                             \
  C(T, longest_end_ns, END, "end of the longest operation")                                                   \
  C(T, exposed_pct_of_window, LESS(PCT), "exposed, of the GPU's window")                                      \
  C(T, copy_kind, ID32, "number behind direction: CUPTI copy kind, NULL for memset", .key = true, .order = 6) \
  C(T, src_kind_id, ID32, "number behind src_kind: CUPTI memory kind", .key = true, .order = 7)               \
  C(T, dst_kind_id, ID32, "number behind dst_kind: CUPTI memory kind", .key = true, .order = 8)
NAI_TABLE(MEMORY_TRANSFERS, memory_transfers, "Memory transfers",
          "One direction between two kinds of memory on one GPU",
          "which copies share a link; sizes or times of rows with an impossible rate", .csv = true)
