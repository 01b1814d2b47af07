#pragma once
#include "tables/declare.h"

#define COMM_OPS_COLUMNS(C, T)                                                                                       \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                            \
  C(T, op, NAME, "the collective: AllReduce, AllGather, ReduceScatter, SendRecv ...; unknown", .key = true,          \
    .order = 4)                                                                                                      \
  C(T, dtype, LABEL,                                                                                                 \
    "type of the elements as the kernel's name has it (int32: signed or not); NULL where it does not say",           \
    .key = true, .order = 5)                                                                                         \
  C(T, family, LABEL, "library the kernel is from", .key = true, .order = 6)                                         \
  C(T, kernel_count, COUNT, "kernel executions", .sum = true)                                                        \
  C(T, total_time_ns, LESS(NS_MS), "summed durations", .sum = true, .order = -3)                                     \
  C(T, p50_duration_ns, AVERAGE, "median duration")                                                                  \
  C(T, p90_duration_ns, AVERAGE, "90th percentile of durations")                                                     \
  C(T, max_duration_ns, LENGTH, "longest duration")                                                                  \
  C(T, overlapped_ns, MORE(NS_MS), "part of the total beside compute", .sum = true)                                  \
  C(T, exposed_ns, LESS(NS_MS),                                                                                      \
    "share of the GPU's exposed communication; rows of a GPU add up to exposed_comm_ns of gpu_utilization",          \
    .sum = true, .order = -2)                                                                                        \
  C(T, exposed_pct, LESS(PCT), "exposed, of the GPU's window")                                                       \
  C(T, active_exposed_ns, LESS(NS_MS), "the same within active spans; adds up to that of gpu_active", .sum = true)   \
  C(T, matched_count, COUNT, "kernels matched with those of other GPUs", .sum = true)                                \
  C(T, wait_ns, LESS(NS_MS), "of matched kernels: waiting for the last GPU", .sum = true)                            \
  C(T, transfer_ns, NS_MS, "of matched kernels: from when all GPUs were there to the first end", .sum = true)        \
  C(T, tail_ns, NS_MS, "of matched kernels: after the first GPU ended", .sum = true)                                 \
  C(T, excess_ns, LESS(NS_MS),                                                                                       \
    "of kernels not matched, of which 20 have the same size: time beyond the 5th percentile of durations "           \
    "of that size. At most this is waiting; congestion looks the same",                                              \
    .sum = true)                                                                                                     \
  C(T, sized_count, COUNT, "kernels whose message size is known", .sum = true)                                       \
  C(T, total_bytes, BYTES, "their message sizes as NCCL counts them; NULL: none known")                              \
  C(T, small_count, COUNT, "kernels with messages below 256 KiB; where sizes are not known, of two blocks or fewer", \
    .sum = true)                                                                                                     \
  C(T, small_ns, LESS(NS_MS), "their summed durations", .sum = true)                                                 \
  C(T, small_exposed_ns, LESS(NS_MS), "their share of active_exposed_ns", .sum = true)                               \
  C(T, large_count, COUNT, "kernels with messages of 32 MiB and more whose bus rate is known", .sum = true)          \
  C(T, large_exposed_ns, LESS(NS_MS), "their share of active_exposed_ns", .sum = true)                               \
  C(T, large_matched_count, COUNT, "those of them whose transfer is told from waiting", .sum = true)                 \
  C(T, large_busbw_p50, MORE(GB_PER_S), "their median bus rate as nccl-tests defines it")                            \
  C(T, link_gb_per_s, GB_PER_S,                                                                                      \
    "peak rate of the GPU's links in one direction, where the GPU's name tells; NULL unknown")                       \
  C(T, link_pct, MORE(PCT), "large_busbw_p50, of link_gb_per_s")                                                     \
  C(T, entry_kernel, ID32,                                                                                           \
    "1 when the kernel is an entry point: algorithm, protocol and reduction in its name are not what runs")          \
  C(T, fused, ID32, "1 when the kernel does other work, too: part of its time is no communication")                  \
  C(T, kernel_name, KERNEL_NAME, "name of the longest execution's kernel")                                           \
  C(T, framework_op, LABEL, "that execution's operation as PyTorch calls it (nccl:all_to_all); NULL unknown")        \
  C(T, longest_start_ns, START, "start of the longest execution")                                                    \
  C(T, longest_end_ns, END, "end of the longest execution")                                                          \
  C(T, issued_in, RANGE_NAME,                                                                                        \
    "the program's NVTX range that issued most of active_exposed_ns, digits as #: of those around a launch the "     \
    "innermost that no library makes (nccl, c10d::, record_param_comms, aten::, ProcessGroup)")                      \
  C(T, issued_in_ns, LESS(TIME), "its part of active_exposed_ns")
NAI_TABLE(COMM_OPS, comm_ops, "Collectives", "Communication of one kind on one GPU",
          "which algorithm and protocol ran; whether long kernels that are not matched waited or were slow",
          .csv = true)
