#pragma once
#include "tables/declare.h"

#define COMM_INSTANCES_COLUMNS(C, T)                                                                       \
  C(T, device_id, DEVICE, "GPU")                                                                           \
  C(T, pid, PID, "process")                                                                                \
  C(T, stream_id, STREAM, "CUDA stream")                                                                   \
  C(T, op, NAME, "the collective: AllReduce, AllGather, ReduceScatter, SendRecv ...; unknown")             \
  C(T, dtype, LABEL,                                                                                       \
    "type of the elements as the kernel's name has it (int32: signed or not); NULL where it does not say") \
  C(T, calls, LABEL, "NCCL's calls behind it, of a group all; NULL unknown")                               \
  C(T, framework_op, LABEL, "PyTorch's name of it (nccl:all_to_all); NULL unknown")                        \
  C(T, start_ns, START, "start")                                                                           \
  C(T, end_ns, END, "end, exclusive")                                                                      \
  C(T, duration_ns, LENGTH, "length", .sum = true)                                                         \
  C(T, overlapped_ns, LENGTH, "part of it beside compute", .sum = true)                                    \
  C(T, exposed_ns, LENGTH, "share of the GPU's exposed communication", .sum = true)                        \
  C(T, set_id, ID, "number of the collective, the same on all GPUs; NULL: not matched")                    \
  C(T, set_members, COUNT, "GPUs of the set")                                                              \
  C(T, wait_ns, LENGTH, "waiting for the last GPU of the set", .sum = true)                                \
  C(T, transfer_ns, LENGTH, "from when all were there to the first end", .sum = true)                      \
  C(T, tail_ns, LENGTH, "after the first end; wait + transfer + tail = duration", .sum = true)             \
  C(T, skew_ns, LENGTH, "between the first and the last start of the set")                                 \
  C(T, late_device_id, ID32, "GPU that arrived last; NULL within the uncertainty of the ends",             \
    .refers = "gpus.device_id")                                                                            \
  C(T, message_bytes, BYTES, "bytes, as NCCL counts them, of the direction that has more; NULL unknown")   \
  C(T, sent_bytes, BYTES, "bytes of all calls but receives")                                               \
  C(T, received_bytes, BYTES, "bytes of all calls but sends")                                              \
  C(T, self_bytes, BYTES, "bytes sent to the own rank, in none of the three; NULL: own rank unknown")      \
  C(T, rank_count, COUNT, "ranks of the communicator; NULL unknown")                                       \
  C(T, communicator, LABEL, "its id, hexadecimal; NULL unknown")                                           \
  C(T, seq, ID, "number of the operation among those of its function, as -t nccl records; NULL unknown")   \
  C(T, redop, LABEL, "reduction, where it is known")                                                       \
  C(T, root, ID, "root rank of a broadcast or reduction; NULL none, or unknown")                           \
  C(T, gpu_start_ns, START, "start of the operation on the GPU, which -t nccl records; NULL unknown")      \
  C(T, gpu_end_ns, END, "its end: of operations that share a kernel each has its own")                     \
  C(T, channel_count, COUNT, "channels that it used; NULL unknown")                                        \
  C(T, algbw, GB_PER_S, "rate by the transfer (not matched: the duration), as nccl-tests defines it")      \
  C(T, busbw, GB_PER_S, "rate on the bus, as nccl-tests defines it")                                       \
  C(T, kernel_name, KERNEL_NAME, "kernel")
NAI_TABLE(COMM_INSTANCES, comm_instances, "Collectives one by one",
          "One communication kernel; of more than 10,000 those with the most exposed time",
          "sizes and communicators where payloads were not exported; peers on other nodes", .csv = true)
