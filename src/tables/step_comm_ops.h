#pragma once
#include "tables/declare.h"

#define STEP_COMM_OPS_COLUMNS(C, T)                                                                            \
  C(T, pid, PID, "process", .key = true, .order = 1)                                                           \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 2)                                                      \
  C(T, op, NAME, "the collective: AllReduce, AllGather, ReduceScatter, SendRecv ...; unknown", .key = true,    \
    .order = 4)                                                                                                \
  C(T, steady_steps, COUNT, "steady steps")                                                                    \
  C(T, with_steps, COUNT, "of them: that launch it")                                                           \
  C(T, median_kernel_count, COUNT, "median of the steady steps: kernels")                                      \
  C(T, median_total_ns, LESS(TIME), "median of the steady steps: summed durations", .order = -3)               \
  C(T, median_exposed_ns, LESS(TIME), "median of the steady steps: share of exposed communication")            \
  C(T, median_wait_ns, LESS(TIME),                                                                             \
    "median of the steady steps: waiting for the last GPU; NULL where none of its kernels is matched")         \
  C(T, median_transfer_ns, TIME, "median of the steady steps: from when all GPUs were there to the first end") \
  C(T, exposed_pct_of_steps, LESS(PCT), "its exposed time in all steady steps, of their durations")            \
  C(T, wait_pct, LESS(PCT), "its waiting in all steady steps, of the durations of matched kernels")
NAI_TABLE(STEP_COMM_OPS, step_comm_ops, "Collectives of a step",
          "One collective in the steady steps of one process on one GPU",
          "collectives that one step begins and the next one waits for: they are the first one's", .csv = true)
