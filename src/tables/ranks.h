#pragma once
#include "tables/declare.h"

#define RANKS_COLUMNS(C, T)                                                                              \
  C(T, rank, NAME, "how the rank is called here", .key = true)                                           \
  C(T, rank_number, ID, "its number in the job; NULL when nothing tells")                                \
  C(T, trace, LABEL, "the operand that it is in")                                                        \
  C(T, device_id, ID, "GPU, in its trace; NULL without one, or with several")                            \
  C(T, pid, ID, "process")                                                                               \
  C(T, gpu_name, LABEL, "product name of the GPU")                                                       \
  C(T, collective_count, COUNT, "communication kernels in its trace")                                    \
  C(T, matched_count, COUNT, "of them, matched with those of other ranks")                               \
  C(T, split_count, COUNT, "of these, collectives that all ranks wait in: the following are of them")    \
  C(T, duration_ns, NS, "summed durations; wait_ns and transfer_ns add up to it")                        \
  C(T, wait_ns, NS, "waiting for the last rank")                                                         \
  C(T, transfer_ns, NS, "with all ranks there")                                                          \
  C(T, wait_pct, PCT, "waiting, of the durations")                                                       \
  C(T, decided_count, COUNT, "collectives in which some rank certainly arrived last")                    \
  C(T, late_count, COUNT, "those in which this rank did")                                                \
  C(T, late_pct, PCT, "late_count of decided_count")                                                     \
  C(T, late_by_ns, NS, "summed time from the last but one to this rank, where it arrived last")          \
  C(T, caused_wait_ns, NS, "summed waiting of the other ranks there")                                    \
  C(T, is_persistent, ID32, "1: a persistent straggler, else 0")                                         \
  C(T, behind_ns, NS, "time in which another rank waited already, in collectives this one was late in")  \
  C(T, behind_idle_ns, NS, "the part of it in which this rank's GPU did nothing")                        \
  C(T, idle_cause, LABEL, "largest cause of that, as in table idle_causes", .labels = nai_cause_labels)  \
  C(T, idle_cause_ns, NS, "time of gaps whose largest part is of this cause")                            \
  C(T, behind_with, KERNEL_NAME, "what the GPU did most of the rest: a kernel, copies, CUDA graphs")     \
  C(T, behind_with_ns, NS, "time of that")                                                               \
  C(T, behind_range, RANGE_NAME, "NVTX range that launched it")                                          \
  C(T, window_ns, NS, "from the first to the last operation of its GPU")                                 \
  C(T, compute_ns, NS, "time in it with compute running, of all processes on the GPU")                   \
  C(T, kernel_ratio, MEAN,                                                                               \
    "time of its compute kernels over what the median rank takes for the same calls; NULL unknown")      \
  C(T, clock_reference, LABEL, "the rank whose clock its own is compared with")                          \
  C(T, clock_offset_ns, NS, "its clock is ahead of that by so much")                                     \
  C(T, clock_doubt_ns, NS, "1.4826 MAD of what ends of collectives differ beyond offset and drift")      \
  C(T, clock_low_ns, NS, "the least that clock_offset_ns can be: nobody leaves before all are in")       \
  C(T, clock_high_ns, NS, "the most; both NULL where collectives contradict each other")                 \
  C(T, clock_drift_ppm, MEAN, "parts per million that its clock is faster")                              \
  C(T, mpi_ns, NS, "time in MPI calls other than setup; NULL without MPI")                               \
  C(T, mpi_pct, PCT, "that, from the end of MPI_Init to MPI_Finalize")                                   \
  C(T, mpi_exposed_ns, NS, "part of it in which its GPUs are active and do nothing; NULL without a GPU") \
  C(T, refused, LABEL, "why nothing of it was matched")
NAI_TABLE(RANKS, ranks, "Ranks", "One rank: a process on a GPU, or one that calls MPI")
