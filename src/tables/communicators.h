#pragma once
#include "tables/declare.h"

#define COMMUNICATORS_COLUMNS(C, T)                                                                                                 \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 2)                                                                           \
  C(T, pid, PID, "process", .key = true, .order = 3)                                                                                \
  C(T, communicator, LABEL, "its id, hexadecimal: equal on its ranks, another in each run", .key = true, .order = 4)                \
  C(T, name, LABEL, "that the program gave it (commName), as nsys --trace=nccl tells; NULL unknown")                                \
  C(T, rank, ID, "number of this process in it; NULL unknown")                                                                      \
  C(T, rank_count, COUNT, "its ranks; NULL unknown")                                                                                \
  C(T, members, LABEL, "its GPUs in this trace, behind their ranks where known")                                                    \
  C(T, parent, LABEL, "the communicator it was split from; NULL none, or unknown")                                                  \
  C(T, ops, NAME, "what it does, by count, the most frequent first")                                                                \
  C(T, stream_count, COUNT, "CUDA streams that it uses")                                                                            \
  C(T, kernel_count, COUNT, "kernels", .sum = true)                                                                                 \
  C(T, total_bytes, BYTES, "message sizes as NCCL counts them; NULL: none known")                                                   \
  C(T, total_time_ns, LESS(TIME), "summed durations", .sum = true)                                                                  \
  C(T, wait_ns, LESS(TIME), "of matched kernels: waiting for the last GPU; NULL: none matched", .sum = true)                        \
  C(T, exposed_ns, LESS(TIME), "share of the GPU's exposed communication", .sum = true, .order = -1)                                \
  C(T, purpose, LABEL, "the parallelism it serves, by evidence alone; NULL unknown, or in conflict")                                \
  C(T, confidence, LABEL,                                                                                                           \
    "told (--comm-names), named (by itself or its stream), called (nine of ten kernels in ranges that tell), likely (six of ten), " \
    "members (world: all ranks there are, whatever for), conflict, unknown")                                                        \
  C(T, evidence, LABEL, "what tells that")
NAI_TABLE(
    COMMUNICATORS, communicators, "Communicators", "One communicator on one GPU, where ids were captured",
    "what a communicator is for where neither names nor ranges tell: its size does not. Names of frameworks: verified on "
    "generated exports only")
