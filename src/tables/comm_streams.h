#pragma once
#include "tables/declare.h"

#define COMM_STREAMS_COLUMNS(C, T)                                                                            \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                     \
  C(T, pid, PID, "process", .key = true, .order = 3)                                                          \
  C(T, context_id, ID32, "CUDA context", .key = true, .order = 4)                                             \
  C(T, stream_id, STREAM, "CUDA stream", .key = true, .order = 5)                                             \
  C(T, stream_name, LABEL, "its name, given through NVTX; NULL for none")                                     \
  C(T, priority, CELL(I64, COUNT), "its priority: lower is more urgent; NULL where the export lacks it")      \
  C(T, ops, NAME, "what runs on it, with counts, the most frequent first")                                    \
  C(T, kernel_count, COUNT, "communication kernels", .sum = true)                                             \
  C(T, total_time_ns, LESS(NS_MS), "their summed durations", .sum = true, .order = -2)                        \
  C(T, overlapped_ns, MORE(NS_MS), "part of it beside compute", .sum = true)                                  \
  C(T, exposed_ns, LESS(NS_MS), "share of the GPU's exposed communication", .sum = true)                      \
  C(T, active_exposed_ns, LESS(NS_MS), "the same within active spans", .sum = true)                           \
  C(T, compute_count, COUNT, "compute kernels on the same stream, which cannot overlap with it", .sum = true) \
  C(T, communicator_count, COUNT, "communicators that use it; NULL where ids are not captured")               \
  C(T, serial_wait_ns, LESS(NS_MS),                                                                           \
    "kernels of a communicator that were launched and waited for one of another communicator", .sum = true)   \
  C(T, serial_wait_pct, LESS(PCT), "that, of the total")                                                      \
  C(T, matched_count, COUNT, "kernels matched with those of other GPUs", .sum = true)                         \
  C(T, refused, LABEL, "why none were matched; NULL where they were")
NAI_TABLE(COMM_STREAMS, comm_streams, "Streams of communication",
          "One stream with communication. It often stands for a communicator; which one is not known from it",
          "which communicator a stream stands for where ids were not captured")
