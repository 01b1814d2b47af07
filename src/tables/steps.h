#pragma once
#include "tables/declare.h"

#define STEPS_COLUMNS(C, T)                                                                                            \
  C(T, pid, PID, "process", .key = true)                                                                               \
  C(T, device_id, DEVICE, "GPU", .key = true)                                                                          \
  C(T, step, ID, "number of the step in its process, from 0", .key = true)                                             \
  C(T, label, NAME, "name of the range that begins it")                                                                \
  C(T, state, LABEL, "steady, warm-up, paused, truncated by the capture, or of serving another kind than most")        \
  C(T, cpu_start_ns, CELL(I64, TIMESTAMP_NS), "its boundary on the host")                                              \
  C(T, cpu_end_ns, CELL(I64, TIMESTAMP_NS), "the next boundary; of the last step its own end")                         \
  C(T, gpu_start_ns, START, "start of the first operation that it launched on this GPU")                               \
  C(T, gpu_end_ns, END, "the same of the next step; of the last step the end of its work")                             \
  C(T, duration_ns, TIME, "from gpu_start to gpu_end", .better = NAI_BETTER_LOWER, .sum = true)                        \
  C(T, compute_ns, TIME, "time in it with compute running on the GPU", .sum = true)                                    \
  C(T, exposed_comm_ns, TIME, "time in it with communication and no compute", .better = NAI_BETTER_LOWER, .sum = true) \
  C(T, exposed_copy_ns, TIME, "time in it with copies or sets only", .better = NAI_BETTER_LOWER, .sum = true)          \
  C(T, idle_ns, TIME, "time in it with nothing running", .better = NAI_BETTER_LOWER, .sum = true)                      \
  C(T, end_idle_ns, TIME, "the part of it right before the next step's first operation", .better = NAI_BETTER_LOWER,   \
    .sum = true)                                                                                                       \
  C(T, input_wait_ns, TIME, "end_idle while the host's own code was getting the next step's input, else 0",            \
    .better = NAI_BETTER_LOWER, .sum = true)                                                                           \
  C(T, between_ns, TIME, "on the host: from the end of its range to the next boundary", .better = NAI_BETTER_LOWER,    \
    .sum = true)                                                                                                       \
  C(T, kernel_count, COUNT, "kernels that it launched", .sum = true)                                                   \
  C(T, kernel_ns, TIME, "summed durations of these", .sum = true)                                                      \
  C(T, launch_calls, COUNT, "API calls that launched its work on this GPU", .sum = true)                               \
  C(T, launch_api_ns, TIME, "time inside these", .better = NAI_BETTER_LOWER, .sum = true)                              \
  C(T, blocking_sync_ns, TIME, "on the host: time in blocking calls, summed over the threads of the process",          \
    .better = NAI_BETTER_LOWER)                                                                                        \
  C(T, htod_bytes, BYTES, "copied from host to device", .sum = true)                                                   \
  C(T, dtoh_bytes, BYTES, "copied from device to host", .sum = true)                                                   \
  C(T, other_copy_bytes, BYTES, "copied in other directions", .sum = true)                                             \
  C(T, alloc_calls, COUNT, "on the host: calls that allocate or free memory", .better = NAI_BETTER_LOWER)              \
  C(T, alloc_ns, TIME, "time inside these", .better = NAI_BETTER_LOWER)                                                \
  C(T, graph_launches, COUNT, "CUDA graphs traced as one envelope", .sum = true)                                       \
  C(T, first_use_kernels, COUNT, "kernel names that the process had not run before", .better = NAI_BETTER_LOWER)       \
  C(T, loading_ns, TIME, "on the host: loading and compiling code for the GPU", .better = NAI_BETTER_LOWER)            \
  C(T, is_outlier, ID32, "1: much longer than the median of the steady steps, else 0")                                 \
  C(T, excess_ns, TIME, "duration minus the median; outliers only", .better = NAI_BETTER_LOWER, .sum = true)           \
  C(T, cause, LABEL, "which part of the excess is the largest: compute, exposed_comm, exposed_copy, idle; spread",     \
    .labels = nai_time_labels)                                                                                         \
  C(T, cause_ns, TIME, "this part minus its median", .better = NAI_BETTER_LOWER, .sum = true)                          \
  C(T, cause_detail, LABEL, "what it is due to")                                                                       \
  C(T, range_time_ns, TIME, "duration of the range that begins it, on the host", .better = NAI_BETTER_LOWER)           \
  C(T, range_span_ns, TIME,                                                                                            \
    "on this GPU: from the first start to the last end of what calls of that range launched; NULL for none",           \
    .better = NAI_BETTER_LOWER)                                                                                        \
  C(T, range_busy_ns, TIME, "in that span: time with anything running on the GPU")                                     \
  C(T, range_idle_ns, TIME, "in that span: time with nothing running", .better = NAI_BETTER_LOWER)
NAI_TABLE(STEPS, steps, "Steps", "One step of one process on one GPU; its parts add up to its duration",
          "whether what repeats is what the program's author calls a step, unless a range or --step says so",
          .csv = true)
