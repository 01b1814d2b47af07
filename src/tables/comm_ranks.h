#pragma once
#include "tables/declare.h"

#define COMM_RANKS_COLUMNS(C, T)                                                                                       \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                              \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                                   \
  C(T, rank, COUNT, "its rank in its largest communicator; NULL where that is not captured")                           \
  C(T, kernel_count, COUNT, "communication kernels", .sum = true)                                                      \
  C(T, total_time_ns, LESS(NS_MS), "their summed durations", .sum = true)                                              \
  C(T, matched_count, COUNT, "kernels matched with those of other GPUs", .sum = true)                                  \
  C(T, matched_ns, NS_MS, "their summed durations; wait + transfer + tail", .sum = true)                               \
  C(T, wait_ns, LESS(NS_MS), "waiting for the last GPU", .sum = true)                                                  \
  C(T, transfer_ns, NS_MS, "from when all were there to the first end", .sum = true)                                   \
  C(T, tail_ns, NS_MS, "after the first end", .sum = true)                                                             \
  C(T, wait_pct, LESS(PCT), "waiting, of matched_ns")                                                                  \
  C(T, wait_exposed_ns, LESS(NS_MS), "the part of waiting that no compute hides, within active spans", .sum = true)    \
  C(T, wait_profiler_ns, LESS(NS_MS),                                                                                  \
    "of wait_exposed_ms, at most what the profiler made the late GPU idle since its collective before", .sum = true)   \
  C(T, late_count, LESS(COUNT), "sets in which it arrived last, beyond the uncertainty of the ends", .sum = true)      \
  C(T, caused_wait_ns, LESS(NS_MS), "waiting of the other GPUs in these sets", .sum = true)                            \
  C(T, late_by_ns, LESS(NS_MS), "in these sets, by which its kernel is shorter than the second shortest", .sum = true) \
  C(T, waits_for_device_id, ID32, "GPU that it waited for longest", .refers = "gpus.device_id")                        \
  C(T, waits_for_ns, NS_MS, "waiting for that GPU", .sum = true)                                                       \
  C(T, behind_ns, LESS(NS_MS), "in the sets in which it arrived last, from the first GPU's arrival to its own",        \
    .sum = true)                                                                                                       \
  C(T, behind_idle_ns, NS_MS, "the part of that in which it did nothing", .sum = true)                                 \
  C(T, behind_with, KERNEL_NAME, "the kernel that took the largest part of that time; copies; CUDA graphs")            \
  C(T, behind_with_ns, NS_MS, "that kernel's time in it", .sum = true)                                                 \
  C(T, behind_range, RANGE_NAME, "innermost NVTX range around the launch of the longest")                              \
  C(T, clock_correction_ns, CELL(I64, NS),                                                                             \
    "by how much its clock was set back against the first GPU's, so that collectives end together; NULL: "             \
    "too few to tell",                                                                                                 \
    .display_units = NAI_AS_US)                                                                                        \
  C(T, clock_mad_ns, CELL(I64, NS), "median absolute deviation of that", .display_units = NAI_AS_US)                   \
  C(T, refused, LABEL, "why its kernels were not matched; NULL where most were")                                       \
  C(T, init_count, COUNT, "communicators set up after its first communication kernel", .sum = true)                    \
  C(T, init_ns, LESS(NS_MS), "time in that, within active spans", .sum = true)                                         \
  C(T, init_idle_ns, LESS(NS_MS), "the part in which the GPU had nothing to do", .sum = true)                          \
  C(T, longest_wait_start_ns, START, "start of the longest wait")                                                      \
  C(T, longest_wait_end_ns, END, "end of the longest wait")
NAI_TABLE(COMM_RANKS, comm_ranks, "NCCL wait per GPU", "One process on one GPU: what its communication was spent on",
          "why a rank is late; ranks in other traces (nsys-ai ranks)", .csv = true)
