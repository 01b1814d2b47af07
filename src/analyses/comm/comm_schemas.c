/* Schemas of the tables comm_*. */
#include "analyses/comm/comm_columns.h"

#include "table/columns.h"

#define NS_COLUMN(name, what, ...) \
  { name, NAI_I64, NAI_NS, what, .prints = NAI_AS_NS | NAI_AS_MS, .role = NAI_ROLE_METRIC, .sum = true, __VA_ARGS__ }
#define RATE_COLUMN(name, what, ...) \
  { name, NAI_F64, NAI_GB_PER_S, what, .role = NAI_ROLE_METRIC, __VA_ARGS__ }
#define FLAG_COLUMN(name, what) \
  { name, NAI_I32, NAI_ID, what, .role = NAI_ROLE_LABEL }
#define OP_COLUMN(...) \
  NAI_NAME_COLUMN("op", "the collective: AllReduce, AllGather, ReduceScatter, SendRecv ...; unknown", __VA_ARGS__)
#define DTYPE_COLUMN(...)                                                                           \
  NAI_LABEL_COLUMN("dtype",                                                                         \
                   "type of the elements as the kernel's name has it (int32: signed or not); NULL " \
                   "where it does not say",                                                         \
                   __VA_ARGS__)
#define FAMILY_COLUMN(...) NAI_LABEL_COLUMN("family", "library the kernel is from", __VA_ARGS__)

static const struct nai_column_def ops[] = {
    [CO_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [CO_OP] = OP_COLUMN(.key = true),
    [CO_DTYPE] = DTYPE_COLUMN(.key = true),
    [CO_FAMILY] = FAMILY_COLUMN(.key = true),
    [CO_COUNT] = NAI_COUNT_COLUMN("kernel_count", "kernel executions", .sum = true),
    [CO_TOTAL] = NS_COLUMN("total_time_ns", "summed durations", .better = NAI_BETTER_LOWER),
    [CO_P50] = NAI_AVERAGE_COLUMN("p50_duration_ns", "median duration"),
    [CO_P90] = NAI_AVERAGE_COLUMN("p90_duration_ns", "90th percentile of durations"),
    [CO_MAX] = NAI_LENGTH_COLUMN("max_duration_ns", "longest duration"),
    [CO_OVERLAPPED] = NS_COLUMN("overlapped_ns", "part of the total beside compute", .better = NAI_BETTER_HIGHER),
    [CO_EXPOSED] = NS_COLUMN("exposed_ns",
                             "share of the GPU's exposed communication; rows of a GPU add up to exposed_comm_ns of "
                             "gpu_utilization",
                             .better = NAI_BETTER_LOWER),
    [CO_EXPOSED_PCT] = NAI_PCT_COLUMN("exposed_pct", "exposed, of the GPU's window", .better = NAI_BETTER_LOWER),
    [CO_ACTIVE] = NS_COLUMN("active_exposed_ns", "the same within active spans; adds up to that of gpu_active",
                            .better = NAI_BETTER_LOWER),
    [CO_MATCHED] = NAI_COUNT_COLUMN("matched_count", "kernels matched with those of other GPUs", .sum = true),
    [CO_WAIT] = NS_COLUMN("wait_ns", "of matched kernels: waiting for the last GPU", .better = NAI_BETTER_LOWER),
    [CO_TRANSFER] = NS_COLUMN("transfer_ns", "of matched kernels: from when all GPUs were there to the first end"),
    [CO_TAIL] = NS_COLUMN("tail_ns", "of matched kernels: after the first GPU ended"),
    [CO_EXCESS] = NS_COLUMN("excess_ns",
                            "of kernels not matched, of which 20 have the same size: time beyond the 5th percentile of "
                            "durations of that size. At most this is waiting; congestion looks the same",
                            .better = NAI_BETTER_LOWER),
    [CO_SIZED] = NAI_COUNT_COLUMN("sized_count", "kernels whose message size is known", .sum = true),
    [CO_BYTES] = NAI_BYTES_COLUMN("total_bytes", "their message sizes as NCCL counts them; NULL: none known"),
    [CO_SMALL] = NAI_COUNT_COLUMN("small_count",
                                  "kernels with messages below 256 KiB; where sizes are not known, of two blocks or "
                                  "fewer",
                                  .sum = true),
    [CO_SMALL_NS] = NS_COLUMN("small_ns", "their summed durations", .better = NAI_BETTER_LOWER),
    [CO_SMALL_ACTIVE] = NS_COLUMN("small_exposed_ns", "their share of active_exposed_ns", .better = NAI_BETTER_LOWER),
    [CO_LARGE] = NAI_COUNT_COLUMN("large_count", "kernels with messages of 32 MiB and more whose bus rate is known",
                                  .sum = true),
    [CO_LARGE_ACTIVE] = NS_COLUMN("large_exposed_ns", "their share of active_exposed_ns", .better = NAI_BETTER_LOWER),
    [CO_LARGE_MATCHED] =
        NAI_COUNT_COLUMN("large_matched_count", "those of them whose transfer is told from waiting", .sum = true),
    [CO_BUS] =
        RATE_COLUMN("large_busbw_p50", "their median bus rate as nccl-tests defines it", .better = NAI_BETTER_HIGHER),
    [CO_LINK] = RATE_COLUMN("link_gb_per_s",
                            "peak rate of the GPU's links in one direction, where the GPU's name tells; NULL unknown"),
    [CO_LINK_PCT] = NAI_PCT_COLUMN("link_pct", "large_busbw_p50, of link_gb_per_s", .better = NAI_BETTER_HIGHER),
    [CO_ENTRY] = FLAG_COLUMN(
        "entry_kernel", "1 when the kernel is an entry point: algorithm, protocol and reduction in its name are not "
                        "what runs"),
    [CO_FUSED] = FLAG_COLUMN("fused", "1 when the kernel does other work, too: part of its time is no communication"),
    [CO_KERNEL] = NAI_KERNEL_NAME_COLUMN("kernel_name", "name of the longest execution's kernel"),
    [CO_START] = NAI_START_COLUMN("longest_start_ns", "start of the longest execution"),
    [CO_END] = NAI_END_COLUMN("longest_end_ns", "end of the longest execution"),
    [CO_RANGE] = NAI_RANGE_NAME_COLUMN(
        "issued_in",
        "the program's NVTX range that issued most of active_exposed_ns: the innermost around the launch that "
        "no library of communication or tensors makes"),
    [CO_RANGE_NS] = NAI_TIME_COLUMN("issued_in_ns", "its part of active_exposed_ns", .better = NAI_BETTER_LOWER),
};
const struct nai_schema nai_comm_ops =
    NAI_SCHEMA("comm_ops", "Collectives", "Communication of one kind on one GPU", ops);

static const struct nai_column_def streams[] = {
    [CS_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [CS_PID] = NAI_PID_COLUMN("process", .key = true),
    [CS_CONTEXT] = {"context_id", NAI_I32, NAI_ID, "CUDA context", .key = true},
    [CS_STREAM] = {"stream_id", NAI_I32, NAI_ID, "CUDA stream", .role = NAI_ROLE_STREAM, .key = true},
    [CS_OPS] = NAI_NAME_COLUMN("ops", "what runs on it, with counts, the most frequent first"),
    [CS_COUNT] = NAI_COUNT_COLUMN("kernel_count", "communication kernels", .sum = true),
    [CS_TOTAL] = NS_COLUMN("total_time_ns", "their summed durations", .better = NAI_BETTER_LOWER),
    [CS_OVERLAPPED] = NS_COLUMN("overlapped_ns", "part of it beside compute", .better = NAI_BETTER_HIGHER),
    [CS_EXPOSED] = NS_COLUMN("exposed_ns", "share of the GPU's exposed communication", .better = NAI_BETTER_LOWER),
    [CS_ACTIVE] = NS_COLUMN("active_exposed_ns", "the same within active spans", .better = NAI_BETTER_LOWER),
    [CS_COMPUTE] = NAI_COUNT_COLUMN("compute_count", "compute kernels on the same stream, which cannot overlap with it",
                                    .sum = true),
    [CS_COMMS] = NAI_COUNT_COLUMN("communicator_count", "communicators that use it; NULL where ids are not captured"),
    [CS_SERIAL] = NS_COLUMN("serial_wait_ns",
                            "kernels of a communicator that were launched and waited for one of another communicator",
                            .better = NAI_BETTER_LOWER),
    [CS_SERIAL_PCT] = NAI_PCT_COLUMN("serial_wait_pct", "that, of the total", .better = NAI_BETTER_LOWER),
    [CS_MATCHED] = NAI_COUNT_COLUMN("matched_count", "kernels matched with those of other GPUs", .sum = true),
    [CS_REFUSED] = NAI_LABEL_COLUMN("refused", "why none were matched; NULL where they were"),
};
const struct nai_schema nai_comm_streams =
    NAI_SCHEMA("comm_streams", "Streams of communication",
               "One stream with communication. It often stands for a communicator; which one is not known from it",
               streams);

static const struct nai_column_def instances[] = {
    [CI_DEVICE] = NAI_DEVICE_COLUMN("GPU"),
    [CI_PID] = NAI_PID_COLUMN("process"),
    [CI_STREAM] = {"stream_id", NAI_I32, NAI_ID, "CUDA stream", .role = NAI_ROLE_STREAM},
    [CI_OP] = OP_COLUMN(),
    [CI_DTYPE] = DTYPE_COLUMN(),
    [CI_CALLS] = NAI_LABEL_COLUMN("calls", "NCCL's calls behind it, of a group all; NULL unknown"),
    [CI_START] = NAI_START_COLUMN("start_ns", "start"),
    [CI_END] = NAI_END_COLUMN("end_ns", "end, exclusive"),
    [CI_DURATION] = NAI_LENGTH_COLUMN("duration_ns", "length", .sum = true),
    [CI_OVERLAPPED] = NAI_LENGTH_COLUMN("overlapped_ns", "part of it beside compute", .sum = true),
    [CI_EXPOSED] = NAI_LENGTH_COLUMN("exposed_ns", "share of the GPU's exposed communication", .sum = true),
    [CI_SET] = {"set_id", NAI_I64, NAI_ID, "number of the collective, the same on all GPUs; NULL: not matched",
                .role = NAI_ROLE_LABEL},
    [CI_MEMBERS] = NAI_COUNT_COLUMN("set_members", "GPUs of the set"),
    [CI_WAIT] = NAI_LENGTH_COLUMN("wait_ns", "waiting for the last GPU of the set", .sum = true),
    [CI_TRANSFER] = NAI_LENGTH_COLUMN("transfer_ns", "from when all were there to the first end", .sum = true),
    [CI_TAIL] = NAI_LENGTH_COLUMN("tail_ns", "after the first end; wait + transfer + tail = duration", .sum = true),
    [CI_SKEW] = NAI_LENGTH_COLUMN("skew_ns", "between the first and the last start of the set"),
    [CI_LATE] = {"late_device_id", NAI_I32, NAI_ID,
                 "GPU that came last; NULL where that is within the doubt about the clocks", .role = NAI_ROLE_LABEL,
                 .refers = "gpus.device_id"},
    [CI_BYTES] = NAI_BYTES_COLUMN("message_bytes", "bytes, as NCCL counts them, of the direction that has more; NULL "
                                                   "unknown"),
    [CI_SENT] = NAI_BYTES_COLUMN("sent_bytes", "bytes of all calls but receives"),
    [CI_RECEIVED] = NAI_BYTES_COLUMN("received_bytes", "bytes of all calls but sends"),
    [CI_RANKS] = NAI_COUNT_COLUMN("rank_count", "ranks of the communicator; NULL unknown"),
    [CI_COMM] = NAI_LABEL_COLUMN("communicator", "its id, hexadecimal; NULL unknown"),
    [CI_REDOP] = NAI_LABEL_COLUMN("redop", "reduction, where it is known"),
    [CI_ALG] = RATE_COLUMN("algbw", "rate by the transfer (not matched: the duration), as nccl-tests defines it"),
    [CI_BUS] = RATE_COLUMN("busbw", "rate on the bus, as nccl-tests defines it"),
    [CI_KERNEL] = NAI_KERNEL_NAME_COLUMN("kernel_name", "kernel"),
};
const struct nai_schema nai_comm_instances =
    NAI_SCHEMA("comm_instances", "Collectives one by one",
               "One communication kernel; of more than 10,000 those with the most exposed time", instances);

static const struct nai_column_def ranks[] = {
    [CR_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [CR_PID] = NAI_PID_COLUMN("process", .key = true),
    [CR_RANK] = NAI_COUNT_COLUMN("rank", "its rank in its largest communicator; NULL where that is not captured"),
    [CR_COUNT] = NAI_COUNT_COLUMN("kernel_count", "communication kernels", .sum = true),
    [CR_TOTAL] = NS_COLUMN("total_time_ns", "their summed durations", .better = NAI_BETTER_LOWER),
    [CR_MATCHED] = NAI_COUNT_COLUMN("matched_count", "kernels matched with those of other GPUs", .sum = true),
    [CR_MATCHED_NS] = NS_COLUMN("matched_ns", "their summed durations; wait + transfer + tail"),
    [CR_WAIT] = NS_COLUMN("wait_ns", "waiting for the last GPU", .better = NAI_BETTER_LOWER),
    [CR_TRANSFER] = NS_COLUMN("transfer_ns", "from when all were there to the first end"),
    [CR_TAIL] = NS_COLUMN("tail_ns", "after the first end"),
    [CR_WAIT_PCT] = NAI_PCT_COLUMN("wait_pct", "waiting, of matched_ns", .better = NAI_BETTER_LOWER),
    [CR_WAIT_EXPOSED] = NS_COLUMN("wait_exposed_ns", "the part of waiting that no compute hides, within active spans",
                                  .better = NAI_BETTER_LOWER),
    [CR_LATE] = NAI_COUNT_COLUMN("late_count", "sets in which it came last, beyond the doubt about the clocks",
                                 .better = NAI_BETTER_LOWER, .sum = true),
    [CR_CAUSED] = NS_COLUMN("caused_wait_ns", "waiting of the other GPUs in these sets", .better = NAI_BETTER_LOWER),
    [CR_SCORE] = NS_COLUMN("late_by_ns", "in these sets, from when the last but one came to when it came",
                           .better = NAI_BETTER_LOWER),
    [CR_WAITS_FOR] = {"waits_for_device_id", NAI_I32, NAI_ID, "GPU that it waited for longest", .role = NAI_ROLE_LABEL,
                      .refers = "gpus.device_id"},
    [CR_WAITS_FOR_NS] = NS_COLUMN("waits_for_ns", "waiting for that GPU"),
    [CR_BEHIND] =
        NS_COLUMN("behind_ns", "in the sets in which it came last, from when the first GPU came to when it came",
                  .better = NAI_BETTER_LOWER),
    [CR_BEHIND_IDLE] = NS_COLUMN("behind_idle_ns", "the part of that in which it did nothing"),
    [CR_BEHIND_WITH] = NAI_KERNEL_NAME_COLUMN(
        "behind_with", "the kernel that took the largest part of that time; copies; CUDA graphs"),
    [CR_BEHIND_WITH_NS] = NS_COLUMN("behind_with_ns", "that kernel's time in it"),
    [CR_BEHIND_RANGE] = NAI_RANGE_NAME_COLUMN("behind_range", "innermost NVTX range around the launch of the longest"),
    [CR_CORRECTION] =
        {"clock_correction_ns", NAI_I64, NAI_NS,
         "by how much its clock was set back against the first GPU's, so that collectives end together; NULL: "
         "too few to tell",
         .prints = NAI_AS_US, .role = NAI_ROLE_LABEL},
    [CR_MAD] = {"clock_mad_ns", NAI_I64, NAI_NS, "median absolute deviation of that", .prints = NAI_AS_US,
                .role = NAI_ROLE_LABEL},
    [CR_REFUSED] = NAI_LABEL_COLUMN("refused", "why its kernels were not matched; NULL where most were"),
    [CR_INITS] =
        NAI_COUNT_COLUMN("init_count", "communicators set up after its first communication kernel", .sum = true),
    [CR_INIT] = NS_COLUMN("init_ns", "time in that, within active spans", .better = NAI_BETTER_LOWER),
    [CR_INIT_IDLE] =
        NS_COLUMN("init_idle_ns", "the part in which the GPU had nothing to do", .better = NAI_BETTER_LOWER),
    [CR_START] = NAI_START_COLUMN("longest_wait_start_ns", "start of the longest wait"),
    [CR_END] = NAI_END_COLUMN("longest_wait_end_ns", "end of the longest wait"),
};
const struct nai_schema nai_comm_ranks =
    NAI_SCHEMA("comm_ranks", "Waiting by GPU", "One process on one GPU: what its communication was spent on", ranks);

static const struct nai_column_def capture[] = {
    [CC_COUNT] = NAI_COUNT_COLUMN("kernel_count", "communication kernels"),
    [CC_ATTRIBUTED] =
        NAI_COUNT_COLUMN("attributed_count", "of them: launched inside a range of NCCL's, so that the call is "
                                             "known"),
    [CC_GROUPED] = NAI_COUNT_COLUMN("group_count", "of them: launched at the end of a group of calls"),
    [CC_CAPTURED] = NAI_COUNT_COLUMN("graph_count", "of them: in CUDA graphs, by the call that was captured"),
    [CC_SIZED] = NAI_COUNT_COLUMN("sized_count", "kernels whose message size is known"),
    [CC_MATCHED] = NAI_COUNT_COLUMN("matched_count", "kernels matched with those of other GPUs"),
    [CC_SETS] = NAI_COUNT_COLUMN("set_count", "collectives that were matched"),
    [CC_UNLISTED] = NAI_COUNT_COLUMN("unlisted_count", "kernels that comm_instances leaves out: those with the least "
                                                       "exposed time beyond 10,000; NULL: none"),
    [CC_PAYLOADS] = NAI_COUNT_COLUMN("payload_count", "payloads of NCCL's ranges"),
    [CC_REFUSED] = NAI_COUNT_COLUMN("refused_count", "of them: not readable"),
    [CC_REASON] = NAI_LABEL_COLUMN("refused_reason", "why most of these were not"),
    [CC_MISSING] = NAI_LABEL_COLUMN("missing", "what the trace does not tell about communication; NULL: nothing"),
    [CC_COMMAND] = NAI_LABEL_COLUMN("command", "what records that"),
};
const struct nai_schema nai_comm_capture = NAI_SCHEMA("comm_capture", "What is known of communication",
                                                      "The trace; no row without communication kernels", capture);
