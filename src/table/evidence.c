#include "table/evidence.h"

#include <stddef.h>

static const struct nai_column_def nvtx_domains_columns[] = {
    [ND_PROCESS] = {"process", NAI_I32, NAI_ID, "row of table processes, -1 when it is none of those",
                    .role = NAI_ROLE_PROCESS, .key = true, .refers = "processes", .filled = true},
    [ND_ID] = {"domain_id", NAI_I64, NAI_ID, "number in the export; 0 is the default domain", .key = true},
    [ND_NAME] = {"name", NAI_STR, NAI_TEXT, "name it was created with, NULL when that was not captured"},
};
const struct nai_schema nai_nvtx_domains =
    NAI_SCHEMA("nvtx_domains", "NVTX domains", "One NVTX domain of one process", nvtx_domains_columns);

static const struct nai_column_def nvtx_sizes_columns[] = {
    [NS_TEXT] = {"sizes", NAI_STR, NAI_TEXT, "as in the range name", .key = true},
};
const struct nai_schema nai_nvtx_sizes =
    NAI_SCHEMA("nvtx_sizes", "NVTX sizes", "One text of tensor sizes that PyTorch puts behind a range name",
               nvtx_sizes_columns);

static const struct nai_column_def gpu_metrics_columns[] = {
    [GM_TYPE] = {"type_id", NAI_I64, NAI_ID, "source and GPU; with metric_id the key of the export", .key = true},
    [GM_METRIC] = {"metric_id", NAI_I64, NAI_ID, "number of the metric: differs between captures", .key = true},
    [GM_GPU] = {"gpu_id", NAI_I32, NAI_ID, "gpus.gpu_id: the lowest byte of type_id", .refers = "gpus.gpu_id"},
    [GM_SOURCE] = {"source_id", NAI_I64, NAI_ID, "where samples come from"},
    [GM_TYPE_NAME] = {"type_name", NAI_STR, NAI_TEXT, "name of the source"},
    [GM_NAME] = {"metric_name", NAI_STR, NAI_TEXT,
                 "name of the metric with its unit in brackets, NULL when the export lacks it"},
};
const struct nai_schema nai_gpu_metrics =
    NAI_SCHEMA("gpu_metric_names", "Names of GPU metrics", "One sampled metric of one GPU", gpu_metrics_columns);

static const struct nai_column_def nvtx_payload_schemas_columns[] = {
    [PS_DOMAIN_ID] = {"domain_id", NAI_I64, NAI_ID, "NVTX domain number; which process it belongs to is not told"},
    [PS_SCHEMA_ID] = {"schema_id", NAI_I64, NAI_ID, "number that blobs name"},
    [PS_NAME] = {"name", NAI_STR, NAI_TEXT, "name"},
    [PS_TYPE] = {"type", NAI_I64, NAI_ID, "1 static, 2 dynamic, 3 and 4 unions"},
    [PS_FLAGS] = {"flags", NAI_I64, NAI_ID, "NVTX flags"},
    [PS_ENTRIES] = {"entry_count", NAI_I64, NAI_COUNT, "entries"},
    [PS_BYTES] = {"payload_bytes", NAI_I64, NAI_BYTES, "size of a payload, 0 or NULL when it varies"},
    [PS_ALIGN] = {"align", NAI_I64, NAI_BYTES, "alignment"},
};
const struct nai_schema nai_nvtx_payload_schemas =
    NAI_SCHEMA("nvtx_payload_schemas", "NVTX payload schemas", "One layout of NVTX payloads",
               nvtx_payload_schemas_columns);

static const struct nai_column_def nvtx_payload_entries_columns[] = {
    [PE_DOMAIN_ID] = {"domain_id", NAI_I64, NAI_ID, "NVTX domain number"},
    [PE_SCHEMA_ID] = {"schema_id", NAI_I64, NAI_ID, "layout it belongs to"},
    [PE_INDEX] = {"idx", NAI_I64, NAI_ID, "place in the layout"},
    [PE_FLAGS] = {"flags", NAI_I64, NAI_ID, "NVTX flags"},
    [PE_TYPE] = {"type", NAI_I64, NAI_ID, "NVTX entry type; from 2^24 on another layout or an enumeration"},
    [PE_NAME] = {"name", NAI_STR, NAI_TEXT, "name"},
    [PE_DETAIL] = {"detail", NAI_I64, NAI_ID, "array or union detail"},
    [PE_OFFSET] = {"offset_bytes", NAI_I64, NAI_BYTES, "offset in the payload; 0 where the export has none"},
};
const struct nai_schema nai_nvtx_payload_entries =
    NAI_SCHEMA("nvtx_payload_entries", "NVTX payload entries", "One field of a payload layout",
               nvtx_payload_entries_columns);

static const struct nai_column_def nvtx_payload_enums_columns[] = {
    [PN_DOMAIN_ID] = {"domain_id", NAI_I64, NAI_ID, "NVTX domain number"},
    [PN_SCHEMA_ID] = {"schema_id", NAI_I64, NAI_ID, "number that entry types name"},
    [PN_INDEX] = {"idx", NAI_I64, NAI_ID, "place in the enumeration"},
    [PN_NAME] = {"name", NAI_STR, NAI_TEXT, "name"},
    [PN_VALUE] = {"value", NAI_I64, NAI_ID, "value"},
};
const struct nai_schema nai_nvtx_payload_enums =
    NAI_SCHEMA("nvtx_payload_enums", "NVTX payload enumerations", "One value of an enumeration that payloads use",
               nvtx_payload_enums_columns);

static const struct nai_column_def nvtx_dynamic_payloads_columns[] = {
    [DP_ROW] = {"export_row", NAI_I64, NAI_ID, "rowid in the export's NVTX_EVENTS", .filled = true},
    [DP_DOMAIN_ID] = {"domain_id", NAI_I64, NAI_ID, "NVTX domain number", .filled = true},
    [DP_SCHEMA_ID] = {"schema_id", NAI_I64, NAI_ID, "its layout", .filled = true},
    [DP_JSON] = {"json", NAI_STR, NAI_TEXT,
                 "its whole numbers as an object of JSON, by the program's names of the fields"},
};
const struct nai_schema nai_nvtx_dynamic_payloads =
    NAI_SCHEMA("nvtx_dynamic_payloads", "NVTX payloads in tables of their own",
               "One payload that the exporter read (--dynamic-tables=all)", nvtx_dynamic_payloads_columns);

static const struct nai_column_def mpi_ranks_columns[] = {
    [MR_THREAD] = {"thread", NAI_I32, NAI_ID, "row of table threads, -1 when it is none of those",
                   .role = NAI_ROLE_THREAD, .refers = "threads", .filled = true},
    [MR_GLOBAL_TID] = {"global_tid", NAI_I64, NAI_ID, "serialized thread id of the export"},
    [MR_RANK] = {"rank", NAI_I32, NAI_ID, "MPI rank"},
};
const struct nai_schema nai_mpi_ranks =
    NAI_SCHEMA("mpi_ranks", "MPI ranks", "One thread that called MPI", mpi_ranks_columns);

static const struct nai_column_def program_outputs_columns[] = {
    [PO_PROCESS] = {"process", NAI_I32, NAI_ID, "row of table processes, -1 when it is none of those",
                    .role = NAI_ROLE_PROCESS, .refers = "processes", .filled = true},
    [PO_STREAM] = {"stream", NAI_I32, NAI_ID, "1 standard output, 2 standard error, 0 another file"},
    [PO_BYTES] = {"size_bytes", NAI_I64, NAI_BYTES, "size; at most 1 MiB is looked at"},
    [PO_TRACEBACK] = {"has_traceback", NAI_I32, NAI_ID, "1 when there is a Python traceback"},
    [PO_ERROR] = {"has_error", NAI_I32, NAI_ID, "1 when the word error is there"},
    [PO_FAILED] = {"has_failed", NAI_I32, NAI_ID, "1 when the word failed is there"},
    [PO_CUDA_ERROR] = {"has_cuda_error", NAI_I32, NAI_ID, "1 for CUDA error, cudaError or NCCL WARN"},
    [PO_KILLED] = {"has_killed", NAI_I32, NAI_ID, "1 for Killed, Segmentation fault, core dumped or out of memory"},
};
const struct nai_schema nai_program_outputs =
    NAI_SCHEMA("program_outputs", "Program output", "One stream of output that the capture holds",
               program_outputs_columns);

static const struct nai_column_def cuda_event_events_columns[] = {
    [CE_TIME] = {"time_ns", NAI_I64, NAI_TIMESTAMP_NS, "when the event completed, NULL in older exports",
                 .role = NAI_ROLE_START},
    [CE_DEVICE] = {"device_id", NAI_I32, NAI_ID, "GPU, as in table gpus; -1 when it ran nothing",
                   .role = NAI_ROLE_DEVICE, .refers = "gpus.device_id", .filled = true},
    [CE_PROCESS] = {"process", NAI_I32, NAI_ID, "row of table processes, -1 when it is none of those",
                    .role = NAI_ROLE_PROCESS, .refers = "processes", .filled = true},
    [CE_CONTEXT] = {"context_id", NAI_I32, NAI_ID, "CUDA context"},
    [CE_STREAM] = {"stream_id", NAI_I32, NAI_ID, "CUDA stream, NULL for none", .role = NAI_ROLE_STREAM},
    [CE_CORRELATION] = {"correlation_id", NAI_I64, NAI_ID,
                        "joins with api_events within one process; NULL or 0 for none"},
    [CE_EVENT] = {"event_id", NAI_I32, NAI_ID, "CUDA event"},
    [CE_SYNC] = {"event_sync_id", NAI_I64, NAI_ID, "which record of it; sync_events.event_sync_id"},
};
const struct nai_schema nai_cuda_event_events =
    NAI_SCHEMA("cuda_event_events", "CUDA events", "One CUDA event record", cuda_event_events_columns);

static const struct nai_column_def graph_node_events_columns[] = {
    [GN_START] = {"start_ns", NAI_I64, NAI_TIMESTAMP_NS, "start", .role = NAI_ROLE_START, .filled = true},
    [GN_END] = {"end_ns", NAI_I64, NAI_TIMESTAMP_NS, "end, exclusive", .role = NAI_ROLE_END, .filled = true},
    [GN_THREAD] = {"thread", NAI_I32, NAI_ID, "row of table threads, -1 when it is none of those",
                   .role = NAI_ROLE_THREAD, .refers = "threads", .filled = true},
    [GN_NAME] = {"name", NAI_STR, NAI_TEXT, "API function"},
    [GN_CLASS] = {"event_class", NAI_I32, NAI_ID, "as in ENUM_NSYS_EVENT_CLASS"},
    [GN_NODE] = {"graph_node_id", NAI_I64, NAI_ID, "node: kernel_events.graph_node_id"},
    [GN_ORIGINAL] = {"original_graph_node_id", NAI_I64, NAI_ID, "node it was cloned from, NULL for none"},
};
const struct nai_schema nai_graph_node_events =
    NAI_SCHEMA("graph_node_events", "Graph nodes", "One creation of a CUDA graph node", graph_node_events_columns);

static const struct nai_column_def graph_creation_events_columns[] = {
    [GC_START] = {"start_ns", NAI_I64, NAI_TIMESTAMP_NS, "start", .role = NAI_ROLE_START, .filled = true},
    [GC_END] = {"end_ns", NAI_I64, NAI_TIMESTAMP_NS, "end, exclusive", .role = NAI_ROLE_END, .filled = true},
    [GC_THREAD] = {"thread", NAI_I32, NAI_ID, "row of table threads, -1 when it is none of those",
                   .role = NAI_ROLE_THREAD, .refers = "threads", .filled = true},
    [GC_NAME] = {"name", NAI_STR, NAI_TEXT, "API function"},
    [GC_CLASS] = {"event_class", NAI_I32, NAI_ID, "as in ENUM_NSYS_EVENT_CLASS"},
    [GC_GRAPH] = {"graph_id", NAI_I64, NAI_ID, "graph"},
    [GC_ORIGINAL] = {"original_graph_id", NAI_I64, NAI_ID, "graph it was cloned from, NULL for none"},
    [GC_EXEC] = {"graph_exec_id", NAI_I64, NAI_ID, "executable graph, NULL for none"},
};
const struct nai_schema nai_graph_creation_events =
    NAI_SCHEMA("graph_creation_events", "Graph creations", "One creation, cloning or instantiation of a CUDA graph",
               graph_creation_events_columns);

static const struct nai_column_def memory_usage_events_columns[] = {
    [MU_TIME] = {"time_ns", NAI_I64, NAI_TIMESTAMP_NS, "when", .role = NAI_ROLE_START, .filled = true},
    [MU_DEVICE] = {"device_id", NAI_I32, NAI_ID, "GPU, as in table gpus; -1 when it ran nothing",
                   .role = NAI_ROLE_DEVICE, .refers = "gpus.device_id", .filled = true},
    [MU_PROCESS] = {"process", NAI_I32, NAI_ID, "row of table processes, -1 when it is none of those",
                    .role = NAI_ROLE_PROCESS, .refers = "processes", .filled = true},
    [MU_CONTEXT] = {"context_id", NAI_I32, NAI_ID, "CUDA context"},
    [MU_STREAM] = {"stream_id", NAI_I32, NAI_ID, "CUDA stream, NULL for none", .role = NAI_ROLE_STREAM},
    [MU_CORRELATION] = {"correlation_id", NAI_I64, NAI_ID,
                        "joins with api_events within one process; NULL or 0 for none"},
    [MU_OPERATION] = {"operation", NAI_I32, NAI_ID, "0 allocation, 1 release"},
    [MU_KIND] = {"memory_kind", NAI_I32, NAI_ID, "CUPTI memory kind"},
    [MU_ADDRESS] = {"address", NAI_I64, NAI_ID, "virtual address"},
    [MU_BYTES] = {"bytes", NAI_I64, NAI_BYTES, "size"},
    [MU_PC] = {"pc", NAI_I64, NAI_ID, "program counter of the call"},
    [MU_NAME] = {"name", NAI_STR, NAI_TEXT, "variable, NULL for none"},
    [MU_POOL] = {"pool_address", NAI_I64, NAI_ID, "memory pool, NULL for none"},
    [MU_POOL_THRESHOLD] = {"pool_release_threshold", NAI_I64, NAI_BYTES, "bytes the pool keeps"},
    [MU_POOL_SIZE] = {"pool_bytes", NAI_I64, NAI_BYTES, "size of the pool"},
    [MU_POOL_USED] = {"pool_used_bytes", NAI_I64, NAI_BYTES, "bytes of the pool in use"},
    [MU_IMPORTED] = {"imported_pool_address", NAI_I64, NAI_ID, "pool of another process, NULL for none"},
};
const struct nai_schema nai_memory_usage_events =
    NAI_SCHEMA("memory_usage_events", "Memory allocations", "One allocation or release of memory",
               memory_usage_events_columns);

static const struct nai_column_def memory_pool_events_columns[] = {
    [MP_TIME] = {"time_ns", NAI_I64, NAI_TIMESTAMP_NS, "when", .role = NAI_ROLE_START, .filled = true},
    [MP_DEVICE] = {"device_id", NAI_I32, NAI_ID, "GPU, as in table gpus; -1 when it ran nothing",
                   .role = NAI_ROLE_DEVICE, .refers = "gpus.device_id", .filled = true},
    [MP_PROCESS] = {"process", NAI_I32, NAI_ID, "row of table processes, -1 when it is none of those",
                    .role = NAI_ROLE_PROCESS, .refers = "processes", .filled = true},
    [MP_CORRELATION] = {"correlation_id", NAI_I64, NAI_ID,
                        "joins with api_events within one process; NULL or 0 for none"},
    [MP_OPERATION] = {"operation", NAI_I32, NAI_ID, "CUPTI memory pool operation: 1 created, 2 destroyed, 3 trimmed"},
    [MP_TYPE] = {"pool_type", NAI_I32, NAI_ID, "1 local, 2 imported"},
    [MP_ADDRESS] = {"pool_address", NAI_I64, NAI_ID, "memory pool"},
    [MP_KEEP] = {"min_bytes_to_keep", NAI_I64, NAI_BYTES, "what trimming leaves"},
    [MP_THRESHOLD] = {"pool_release_threshold", NAI_I64, NAI_BYTES, "bytes the pool keeps"},
    [MP_SIZE] = {"pool_bytes", NAI_I64, NAI_BYTES, "size of the pool"},
    [MP_USED] = {"pool_used_bytes", NAI_I64, NAI_BYTES, "bytes of the pool in use"},
};
const struct nai_schema nai_memory_pool_events =
    NAI_SCHEMA("memory_pool_events", "Memory pools", "One operation on a memory pool", memory_pool_events_columns);

static const struct nai_column_def um_fault_events_columns[] = {
    [UF_START] = {"start_ns", NAI_I64, NAI_TIMESTAMP_NS, "start", .role = NAI_ROLE_START, .filled = true},
    [UF_END] = {"end_ns", NAI_I64, NAI_TIMESTAMP_NS, "end, exclusive", .role = NAI_ROLE_END, .filled = true},
    [UF_KIND] = {"kind", NAI_I32, NAI_ID, "0 CPU, 1 GPU", .filled = true, .values = 2},
    [UF_DEVICE] = {"device_id", NAI_I32, NAI_ID, "GPU, as in table gpus; -1 when it ran nothing",
                   .role = NAI_ROLE_DEVICE, .refers = "gpus.device_id", .filled = true},
    [UF_PROCESS] = {"process", NAI_I32, NAI_ID, "row of table processes, -1 when it is none of those",
                    .role = NAI_ROLE_PROCESS, .refers = "processes", .filled = true},
    [UF_ADDRESS] = {"address", NAI_I64, NAI_ID, "virtual address of the page"},
    [UF_FAULTS] = {"faults", NAI_I64, NAI_COUNT, "faults for the same page; NULL for CPUs"},
    [UF_ACCESS] = {"access_type", NAI_I32, NAI_ID, "CUPTI access type; NULL for CPUs"},
    [UF_NAME] = {"name", NAI_STR, NAI_TEXT, "CPU function that touched the page, NULL for GPUs"},
    [UF_MODULE] = {"module", NAI_STR, NAI_TEXT, "its module, NULL for GPUs"},
};
const struct nai_schema nai_um_fault_events = NAI_SCHEMA("um_fault_events", "Page faults of unified memory",
                                                         "One page fault of unified memory", um_fault_events_columns);

static const struct nai_column_def gpu_metric_samples_columns[] = {
    [GS_TIME] = {"time_ns", NAI_I64, NAI_TIMESTAMP_NS, "when", .role = NAI_ROLE_START, .filled = true},
    [GS_METRIC] = {"metric", NAI_I32, NAI_ID, "row of table gpu_metric_names", .refers = "gpu_metric_names",
                   .filled = true},
    [GS_VALUE] = {"value", NAI_I64, NAI_COUNT, "value; the unit is in the name of the metric"},
};
const struct nai_schema nai_gpu_metric_samples =
    NAI_SCHEMA("gpu_metric_samples", "GPU metric samples", "One sample of one GPU metric", gpu_metric_samples_columns);

static const struct nai_column_def nic_metric_names_columns[] = {
    [NM_LIST] = {"list_id", NAI_I64, NAI_ID, "list of metrics; with the index the key"},
    [NM_INDEX] = {"metric_index", NAI_I64, NAI_ID, "number in the list"},
    [NM_NAME] = {"metric_name", NAI_STR, NAI_TEXT, "name of the metric"},
    [NM_UNIT] = {"metric_unit", NAI_STR, NAI_TEXT, "its unit in the export"},
};
const struct nai_schema nai_nic_metric_names =
    NAI_SCHEMA("nic_metric_names", "Names of NIC metrics", "One metric of network cards", nic_metric_names_columns);

static const struct nai_column_def nic_ids_columns[] = {
    [NC_NIC] = {"nic_id", NAI_I64, NAI_ID, "network card, as in table nics"},
    [NC_GLOBAL] = {"global_id", NAI_I64, NAI_ID, "number of the card in nic_metric_samples"},
};
const struct nai_schema nai_nic_ids =
    NAI_SCHEMA("nic_ids", "Numbers of NICs", "One network card as samples name it", nic_ids_columns);

static const struct nai_column_def nics_columns[] = {
    [NQ_NIC] = {"nic_id", NAI_I64, NAI_ID, "network card"},
    [NQ_NAME] = {"nic_name", NAI_STR, NAI_TEXT, "its name"},
};
const struct nai_schema nai_nics = NAI_SCHEMA("nics", "NICs", "One network card", nics_columns);

static const struct nai_column_def nic_metric_samples_columns[] = {
    [NX_START] = {"start_ns", NAI_I64, NAI_TIMESTAMP_NS, "start", .role = NAI_ROLE_START, .filled = true},
    [NX_END] = {"end_ns", NAI_I64, NAI_TIMESTAMP_NS, "end, exclusive", .role = NAI_ROLE_END, .filled = true},
    [NX_NIC] = {"global_id", NAI_I64, NAI_ID, "network card, as in nic_ids"},
    [NX_PORT] = {"port", NAI_I32, NAI_ID, "port of the card"},
    [NX_LIST] = {"list_id", NAI_I64, NAI_ID, "with metric_index a row of nic_metric_names"},
    [NX_INDEX] = {"metric_index", NAI_I64, NAI_ID, "number in the list"},
    [NX_VALUE] = {"value", NAI_I64, NAI_COUNT, "value in the metric's unit"},
};
const struct nai_schema nai_nic_metric_samples =
    NAI_SCHEMA("nic_metric_samples", "NIC metric samples", "One sample of one metric of one port",
               nic_metric_samples_columns);

static const struct nai_column_def sched_events_columns[] = {
    [SC_TIME] = {"time_ns", NAI_I64, NAI_TIMESTAMP_NS, "when", .role = NAI_ROLE_START, .filled = true},
    [SC_THREAD] = {"thread", NAI_I32, NAI_ID, "row of table threads, -1 when it is none of those",
                   .role = NAI_ROLE_THREAD, .refers = "threads", .filled = true},
    [SC_GLOBAL_TID] = {"global_tid", NAI_I64, NAI_ID, "serialized thread id of the export"},
    [SC_CPU] = {"cpu", NAI_I32, NAI_ID, "CPU"},
    [SC_IN] = {"is_in", NAI_I32, NAI_ID, "1 begins to run, 0 stops"},
    [SC_STATE] = {"thread_state", NAI_I32, NAI_ID,
                  "1 running, 2 interruptible, 3 uninterruptible, 6 unscheduled, 7 waiting; NULL in older exports"},
    [SC_BLOCK] = {"thread_block", NAI_I32, NAI_ID, "why it stopped; only where is_in is 0"},
};
const struct nai_schema nai_sched_events =
    NAI_SCHEMA("sched_events", "Scheduling", "One thread that begins or stops running on a CPU", sched_events_columns);

static const struct nai_column_def sample_events_columns[] = {
    [SA_TIME] = {"time_ns", NAI_I64, NAI_TIMESTAMP_NS, "when", .role = NAI_ROLE_START, .filled = true},
    [SA_THREAD] = {"thread", NAI_I32, NAI_ID, "row of table threads, -1 when it is none of those",
                   .role = NAI_ROLE_THREAD, .refers = "threads", .filled = true},
    [SA_GLOBAL_TID] = {"global_tid", NAI_I64, NAI_ID, "serialized thread id of the export"},
    [SA_CPU] = {"cpu", NAI_I32, NAI_ID, "CPU"},
    [SA_STATE] = {"thread_state", NAI_I32, NAI_ID, "as in sched_events"},
    [SA_CYCLES] = {"cpu_cycles", NAI_I64, NAI_COUNT, "0 for stacks taken on a context switch"},
    [SA_CALLCHAIN] = {"callchain_id", NAI_I64, NAI_ID, "callchain_frames of kind 0",
                      .refers = "callchain_frames.callchain_id"},
};
const struct nai_schema nai_sample_events =
    NAI_SCHEMA("sample_events", "CPU samples", "One sample of a thread", sample_events_columns);

static const struct nai_column_def callchain_frames_columns[] = {
    [CF_KIND] = {"kind", NAI_I32, NAI_ID, "0 of sample_events, 1 of api_events, 2 of osrt_events", .filled = true,
                 .values = 3},
    [CF_ID] = {"callchain_id", NAI_I64, NAI_ID, "callchain"},
    [CF_DEPTH] = {"depth", NAI_I32, NAI_COUNT, "0 for the innermost function"},
    [CF_SYMBOL] = {"symbol", NAI_STR, NAI_TEXT, "function"},
    [CF_MODULE] = {"module", NAI_STR, NAI_TEXT, "library or program"},
    [CF_KERNEL] = {"kernel_mode", NAI_I32, NAI_ID, "1 in the operating system, NULL where not told"},
    [CF_UNRESOLVED] = {"unresolved", NAI_I32, NAI_ID, "1 when the symbol is an address only"},
};
const struct nai_schema nai_callchain_frames =
    NAI_SCHEMA("callchain_frames", "Callchain frames", "One frame of a callchain", callchain_frames_columns);

static const struct nai_column_def jit_events_columns[] = {
    [JE_START] = {"start_ns", NAI_I64, NAI_TIMESTAMP_NS, "start", .role = NAI_ROLE_START, .filled = true},
    [JE_END] = {"end_ns", NAI_I64, NAI_TIMESTAMP_NS, "end, exclusive", .role = NAI_ROLE_END, .filled = true},
    [JE_THREAD] = {"thread", NAI_I32, NAI_ID, "row of table threads, -1 when it is none of those",
                   .role = NAI_ROLE_THREAD, .refers = "threads", .filled = true},
    [JE_NAME] = {"name", NAI_STR, NAI_TEXT, "operation"},
    [JE_CORRELATION] = {"correlation_id", NAI_I64, NAI_ID,
                        "joins with api_events within one process; NULL or 0 for none"},
    [JE_ENTRY] = {"entry_type", NAI_I32, NAI_ID, "1 PTX to binary, 2 NVVM IR to PTX"},
    [JE_OPERATION] = {"operation_type", NAI_I32, NAI_ID, "1 cache load, 2 cache store, 3 compile"},
    [JE_CUDA_DEVICE] = {"cuda_device", NAI_I32, NAI_ID, "CUDA ordinal"},
    [JE_JIT_CORRELATION] = {"jit_correlation_id", NAI_I64, NAI_ID, "joins compilation, load and store of one unit"},
    [JE_CACHE_BYTES] = {"cache_bytes", NAI_I64, NAI_BYTES, "size of what is cached"},
};
const struct nai_schema nai_jit_events =
    NAI_SCHEMA("jit_events", "JIT compilation", "One compilation, load or store of device code", jit_events_columns);

static const struct nai_column_def library_events_columns[] = {
    [LE_START] = {"start_ns", NAI_I64, NAI_TIMESTAMP_NS, "start", .role = NAI_ROLE_START, .filled = true},
    [LE_END] = {"end_ns", NAI_I64, NAI_TIMESTAMP_NS, "end, exclusive", .role = NAI_ROLE_END, .filled = true},
    [LE_THREAD] = {"thread", NAI_I32, NAI_ID, "row of table threads, -1 when it is none of those",
                   .role = NAI_ROLE_THREAD, .refers = "threads", .filled = true},
    [LE_NAME] = {"name", NAI_STR, NAI_TEXT, "function"},
    [LE_LIBRARY] = {"library", NAI_I32, NAI_ID, "0 cuBLAS, 1 cuDNN", .filled = true, .values = 2},
    [LE_CLASS] = {"event_class", NAI_I32, NAI_ID, "as in ENUM_NSYS_EVENT_CLASS"},
};
const struct nai_schema nai_library_events =
    NAI_SCHEMA("library_events", "Library calls", "One call of cuBLAS or cuDNN", library_events_columns);

static const struct nai_column_def mpi_events_columns[] = {
    [ME_START] = {"start_ns", NAI_I64, NAI_TIMESTAMP_NS, "start", .role = NAI_ROLE_START, .filled = true},
    [ME_END] = {"end_ns", NAI_I64, NAI_TIMESTAMP_NS, "end, exclusive", .role = NAI_ROLE_END, .filled = true},
    [ME_THREAD] = {"thread", NAI_I32, NAI_ID, "row of table threads, -1 when it is none of those",
                   .role = NAI_ROLE_THREAD, .refers = "threads", .filled = true},
    [ME_NAME] = {"name", NAI_STR, NAI_TEXT, "function"},
    [ME_KIND] = {"kind", NAI_I32, NAI_ID, "0 point to point, 1 collective, 2 start and wait, 3 other", .filled = true,
                 .values = 4},
    [ME_COMM] = {"communicator", NAI_I64, NAI_ID, "handle within its process"},
    [ME_COMM_UID] = {"communicator_uid", NAI_I64, NAI_ID,
                     "number that is the same in all processes, NULL where the export lacks it"},
    [ME_BYTES] = {"bytes", NAI_I64, NAI_BYTES, "message size; of collectives what is sent"},
    [ME_RECEIVED] = {"received_bytes", NAI_I64, NAI_BYTES, "of collectives"},
    [ME_TAG] = {"tag", NAI_I64, NAI_ID, "message tag"},
    [ME_RANK] = {"remote_rank", NAI_I32, NAI_ID, "the other rank, or the root of a collective; NULL for none"},
    [ME_REQUEST] = {"request", NAI_I64, NAI_ID, "request handle, NULL for none"},
    [ME_OPEN] = {"open", NAI_I32, NAI_ID, "1 when the export has no end"},
};
const struct nai_schema nai_mpi_events = NAI_SCHEMA("mpi_events", "MPI calls", "One MPI call", mpi_events_columns);

static const struct nai_column_def nvtx_payloads_columns[] = {
    [NP_TIME] = {"time_ns", NAI_I64, NAI_TIMESTAMP_NS, "when", .role = NAI_ROLE_START, .filled = true},
    [NP_THREAD] = {"thread", NAI_I32, NAI_ID, "row of table threads, -1 when it is none of those",
                   .role = NAI_ROLE_THREAD, .refers = "threads", .filled = true},
    [NP_DOMAIN] = {"domain", NAI_I32, NAI_ID, "row of table nvtx_domains", .refers = "nvtx_domains"},
    [NP_ROW] = {"export_row", NAI_I64, NAI_ID, "rowid in the export's NVTX_EVENTS"},
    [NP_KIND] = {"kind", NAI_I32, NAI_ID, "0 blob, 1 JSON, 2 integer, 3 real number (not kept)", .filled = true,
                 .values = 4},
    [NP_BLOB] = {"blob", NAI_STR, NAI_TEXT, "hexadecimal digits of the blob; NULL for other kinds and above 4 KiB"},
    [NP_BLOB_BYTES] = {"blob_bytes", NAI_I64, NAI_BYTES, "size of the blob"},
    [NP_JSON] = {"json", NAI_STR, NAI_TEXT, "JSON text"},
    [NP_INTEGER] = {"integer", NAI_I64, NAI_ID, "integer"},
};
const struct nai_schema nai_nvtx_payloads =
    NAI_SCHEMA("nvtx_payloads", "NVTX payloads", "One NVTX event with a payload", nvtx_payloads_columns);

static const struct nai_column_def diagnostic_events_columns[] = {
    [DE_TIME] = {"time_ns", NAI_I64, NAI_TIMESTAMP_NS, "when", .role = NAI_ROLE_START, .filled = true},
    [DE_PROCESS] = {"process", NAI_I32, NAI_ID, "row of table processes, -1 when it is none of those",
                    .role = NAI_ROLE_PROCESS, .refers = "processes", .filled = true},
    [DE_SEVERITY] = {"severity", NAI_I32, NAI_ID, "1 information, 2 warning, 3 error, 4 detail"},
    [DE_SOURCE] = {"source", NAI_I32, NAI_ID, "as in ENUM_DIAGNOSTIC_SOURCE_TYPE"},
    [DE_CLOCK] = {"clock", NAI_I32, NAI_ID, "which clock the time is of, as in ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE"},
    [DE_TEXT] = {"text", NAI_STR, NAI_TEXT, "what nsys said"},
};
const struct nai_schema nai_diagnostic_events =
    NAI_SCHEMA("diagnostic_events", "Diagnostics", "One message of nsys while capturing", diagnostic_events_columns);
