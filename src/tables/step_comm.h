#pragma once
#include "tables/declare.h"

#define STEP_COMM_COLUMNS(C, T)                                                                              \
  C(T, pid, PID, "process", .key = true)                                                                     \
  C(T, device_id, DEVICE, "GPU", .key = true)                                                                \
  C(T, step, ID, "number of the step in its process, from 0; NULL: launched outside of steps", .key = true)  \
  C(T, state, LABEL, "steady, warm-up, paused, or truncated by the capture; NULL outside of steps")          \
  C(T, kernel_count, COUNT, "communication kernels that it launched", .sum = true)                           \
  C(T, total_time_ns, LESS(TIME), "their summed durations", .sum = true)                                     \
  C(T, overlapped_ns, TIME, "part of it beside compute", .sum = true)                                        \
  C(T, exposed_ns, LESS(TIME), "share of the GPU's exposed communication; whenever it ran", .sum = true)     \
  C(T, matched_count, COUNT, "kernels matched with those of other GPUs", .sum = true)                        \
  C(T, matched_ns, TIME, "their summed durations: wait + transfer + tail", .sum = true)                      \
  C(T, wait_ns, LESS(TIME), "of matched kernels: waiting for the last GPU", .sum = true)                     \
  C(T, transfer_ns, TIME, "of matched kernels: from when all GPUs were there to the first end", .sum = true) \
  C(T, tail_ns, TIME, "of matched kernels: after the first GPU ended", .sum = true)                          \
  C(T, late_count, COUNT, "matched kernels in which this GPU arrived last", .sum = true)                     \
  C(T, sized_count, COUNT, "kernels whose message size is known", .sum = true)                               \
  C(T, total_bytes, BYTES, "their message sizes as NCCL counts them", .sum = true)                           \
  C(T, first_start_ns, START, "start of the first of these kernels")                                         \
  C(T, last_end_ns, END, "end of the last one")
NAI_TABLE(STEP_COMM, step_comm, "Communication of steps", "One step of one process on one GPU, where it communicates",
          "collectives that one step begins and the next one waits for: they are the first one's")
