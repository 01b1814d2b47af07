#pragma once
#include "tables/declare.h"

#define STEPS_COLUMNS(C, T)                                                                                         \
  C(T, pid, PID, "process", .key = true)                                                                            \
  C(T, device_id, DEVICE, "GPU", .key = true)                                                                       \
  C(T, step, ID, "number of the step in its process, from 0", .key = true)                                          \
  C(T, label, NAME, "name of the range that begins it")                                                             \
  C(T, state, LABEL, "steady, warm-up, paused, truncated by the capture, or of serving another kind than most")     \
  C(T, cpu_start_ns, CELL(I64, TIMESTAMP_NS), "its boundary on the host")                                           \
  C(T, cpu_end_ns, CELL(I64, TIMESTAMP_NS), "the next boundary; of the last step its own end")                      \
  C(T, gpu_start_ns, START, "start of the first operation that it launched on this GPU")                            \
  C(T, gpu_end_ns, END, "the same of the next step; of the last step the end of its work")                          \
  C(T, duration_ns, LESS(TIME), "from gpu_start to gpu_end", .sum = true)                                           \
  C(T, compute_ns, TIME, "time in it with compute running on the GPU", .sum = true)                                 \
  C(T, exposed_comm_ns, LESS(TIME), "time in it with communication and no compute", .sum = true)                    \
  C(T, exposed_copy_ns, LESS(TIME), "time in it with copies or sets only", .sum = true)                             \
  C(T, idle_ns, LESS(TIME), "time in it with nothing running", .sum = true)                                         \
  C(T, end_idle_ns, LESS(TIME), "the part of it right before the next step's first operation", .sum = true)         \
  C(T, input_wait_ns, LESS(TIME), "end_idle while the host's own code was getting the next step's input, else 0",   \
    .sum = true)                                                                                                    \
  C(T, between_ns, LESS(TIME), "on the host: from the end of its range to the next boundary", .sum = true)          \
  C(T, kernel_count, COUNT, "kernels that it launched", .sum = true)                                                \
  C(T, kernel_ns, TIME, "summed durations of these", .sum = true)                                                   \
  C(T, launch_calls, COUNT, "API calls that launched its work on this GPU", .sum = true)                            \
  C(T, launch_api_ns, LESS(TIME), "time inside these", .sum = true)                                                 \
  C(T, blocking_sync_ns, LESS(TIME), "on the host: time in blocking calls, summed over the threads of the process") \
  C(T, htod_bytes, BYTES, "copied from host to device", .sum = true)                                                \
  C(T, dtoh_bytes, BYTES, "copied from device to host", .sum = true)                                                \
  C(T, other_copy_bytes, BYTES, "copied in other directions", .sum = true)                                          \
  C(T, alloc_calls, LESS(COUNT), "on the host: calls that allocate or free memory")                                 \
  C(T, alloc_ns, LESS(TIME), "time inside these")                                                                   \
  C(T, graph_launches, COUNT, "CUDA graphs traced as one envelope", .sum = true)                                    \
  C(T, first_use_kernels, LESS(COUNT), "kernel names that the process had not run before")                          \
  C(T, loading_ns, LESS(TIME), "on the host: loading and compiling code for the GPU")                               \
  C(T, is_outlier, ID32, "1: much longer than the median of the steady steps, else 0")                              \
  C(T, excess_ns, LESS(TIME), "duration minus the median; outliers only", .sum = true)                              \
  C(T, cause, LABEL, "which part of the excess is the largest: compute, exposed_comm, exposed_copy, idle; spread",  \
    .labels = nai_time_labels)                                                                                      \
  C(T, cause_ns, LESS(TIME), "this part minus its median", .sum = true)                                             \
  C(T, cause_detail, LABEL, "what it is due to")                                                                    \
  C(T, range_time_ns, LESS(TIME), "duration of the range that begins it, on the host")                              \
  C(T, range_span_ns, LESS(TIME),                                                                                   \
    "on this GPU: from the first start to the last end of what calls of that range launched; NULL for none")        \
  C(T, range_busy_ns, TIME, "in that span: time with anything running on the GPU")                                  \
  C(T, range_idle_ns, LESS(TIME), "in that span: time with nothing running")
NAI_TABLE(STEPS, steps, "Steps", "One step of one process on one GPU; its parts add up to its duration",
          "whether what repeats is what the program's author calls a step, unless a range or --step says so",
          .csv = true)
