#pragma once
#include "tables/declare.h"

#define UNIFIED_MEMORY_COLUMNS(C, T)                                                                             \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                        \
  C(T, migration_count, COUNT, "pieces of managed memory that moved", .sum = true)                               \
  C(T, migrated_bytes, LESS(BYTES), "their size", .sum = true)                                                   \
  C(T, to_gpu_bytes, BYTES, "of migrated_bytes: from the host to the GPU", .sum = true)                          \
  C(T, to_host_bytes, BYTES, "of migrated_bytes: from the GPU to the host", .sum = true)                         \
  C(T, between_gpus_bytes, BYTES, "of migrated_bytes: between GPUs", .sum = true)                                \
  C(T, prefetch_bytes, BYTES, "of migrated_bytes: the program asked for it", .sum = true)                        \
  C(T, fault_bytes, BYTES, "of migrated_bytes: somebody touched the page and waited", .sum = true)               \
  C(T, speculative_bytes, BYTES, "of migrated_bytes: by the driver beside a page that was touched", .sum = true) \
  C(T, eviction_bytes, BYTES, "of migrated_bytes: GPU memory was full", .sum = true)                             \
  C(T, access_counter_bytes, BYTES, "of migrated_bytes: used from afar often enough", .sum = true)               \
  C(T, other_cause_bytes, BYTES, "of migrated_bytes: cause not told", .sum = true)                               \
  C(T, migrating_ns, LESS(TIME), "time in which memory moved or the GPU handled faults (union)")                 \
  C(T, gb_per_s, GB_PER_S, "migrated_bytes over summed durations; NULL where a row has an impossible rate")      \
  C(T, gpu_fault_groups, COUNT, "groups of faults of the GPU; empty without page-fault rows", .sum = true)       \
  C(T, gpu_faults, LESS(COUNT), "faults in them", .sum = true)                                                   \
  C(T, cpu_faults, LESS(COUNT), "faults of CPUs, of all processes that used this GPU")                           \
  C(T, kernel_time_ns, TIME, "summed durations of kernels")                                                      \
  C(T, covered_ns, LESS(TIME), "of kernel_time_ns: while memory moved or faults were handled")                   \
  C(T, covered_pct, LESS(PCT), "the same as a share")                                                            \
  C(T, evicting_ns, LESS(TIME), "of covered_ns: while memory left the GPU because it was full")                  \
  C(T, to_gpu_distinct_bytes, BYTES, "memory that moved to the GPU once at least")                               \
  C(T, to_host_distinct_bytes, BYTES, "memory that moved to the host once at least")                             \
  C(T, moves_to_gpu, LESS(MEAN), "to_gpu_bytes over to_gpu_distinct_bytes: how often memory arrives")            \
  C(T, again_ns, LESS(TIME), "about: part of covered_ns for memory that had been on the GPU before")             \
  C(T, ping_pong_bytes, LESS(BYTES), "memory that moved to the GPU twice at least and back twice at least")
NAI_TABLE(UNIFIED_MEMORY, unified_memory, "Unified memory", "One GPU that managed memory moves to or from",
          "how long kernels stood still; which would be faster with prefetching; memory used remotely without moving")
