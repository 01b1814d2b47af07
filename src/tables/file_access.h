#pragma once
#include "tables/declare.h"

#define FILE_ACCESS_COLUMNS(C, T)                                                                               \
  C(T, pid, ID, "process", .key = true, .order = 2)                                                             \
  C(T, file, NAME, "masked path, digits as #; NULL: unknown, or all files behind the first 1,000", .key = true, \
    .order = 3)                                                                                                 \
  C(T, device_id, DEVICE, "GPU of the process; NULL for none, or several")                                      \
  C(T, group, LABEL, "code, pseudo (/proc, /sys, /dev) or data")                                                \
  C(T, file_count, COUNT, "openings of such a file", .sum = true)                                               \
  C(T, busy_ns, LESS(TIME), "time in a call on it, on any thread", .order = -1)                                 \
  C(T, open_count, COUNT, "calls that open it", .sum = true)                                                    \
  C(T, open_ns, LESS(TIME), "time in them, on any thread")                                                      \
  C(T, median_open_ns, MEAN_TIME, "median of them")                                                             \
  C(T, read_count, COUNT, "reads", .sum = true)                                                                 \
  C(T, read_bytes, BYTES, "bytes read", .sum = true)                                                            \
  C(T, read_busy_ns, LESS(TIME), "time in a read, on any thread")                                               \
  C(T, read_gb_per_s, GB_PER_S, "bytes by that time; NULL: nothing read")                                       \
  C(T, median_read_bytes, BYTES, "median of reads that return data")                                            \
  C(T, p99_read_ns, AVERAGE, "99 % of the reads take less")                                                     \
  C(T, first_pass_bytes, BYTES, "read through the first of several openings", .sum = true)                      \
  C(T, first_pass_gb_per_s, GB_PER_S, "their rate")                                                             \
  C(T, later_passes_gb_per_s, GB_PER_S, "rate of reading again, once the first has ended")                      \
  C(T, write_count, COUNT, "writes", .sum = true)                                                               \
  C(T, write_bytes, BYTES, "bytes written", .sum = true)                                                        \
  C(T, write_busy_ns, LESS(TIME), "time in a write, on any thread")                                             \
  C(T, metadata_count, COUNT, "calls that ask about it", .sum = true)                                           \
  C(T, launcher_idle_ns, LESS(TIME),                                                                            \
    "active time in which a thread that launches GPU work is in such a call and no GPU of the process works")   \
  C(T, launcher_idle_pct, LESS(PCT), "that, of the active time of these GPUs")                                  \
  C(T, concurrent_idle_ns, LESS(TIME),                                                                          \
    "the same of any thread; of a process without a GPU, time in which no GPU of the capture works")            \
  C(T, longest_start_ns, START, "start of the longest call")                                                    \
  C(T, longest_end_ns, END, "end of the longest call")
NAI_TABLE(FILE_ACCESS, file_access, "Files", "One file, or several that differ in digits, of one process",
          "reads by mmap, io_uring and GPUDirect Storage; whether a GPU idles because of a call of another thread; on "
          "which file system a file lies. Built after NVIDIA's description: verified on generated exports only")
