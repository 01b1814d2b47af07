#include "table/events.h"

#include <stddef.h>

#define START \
  { "start_ns", NAI_I64, NAI_TIMESTAMP_NS, "start", NULL }
#define END \
  { "end_ns", NAI_I64, NAI_TIMESTAMP_NS, "end, exclusive", NULL }
#define DEVICE \
  { "device_id", NAI_I32, NAI_ID, "GPU, as in table gpus", NULL }
#define PROCESS \
  { "process", NAI_I32, NAI_ID, "row of table processes, -1 when unknown", NULL }
#define THREAD \
  { "thread", NAI_I32, NAI_ID, "row of table threads", NULL }
#define CONTEXT \
  { "context_id", NAI_I32, NAI_ID, "CUDA context", NULL }
#define STREAM \
  { "stream_id", NAI_I32, NAI_ID, "CUDA stream", NULL }
#define CORRELATION \
  { "correlation_id", NAI_I64, NAI_ID, "joins with api_events within one process; NULL or 0 for none", NULL }
#define NAME(what) \
  { "name", NAI_STR, NAI_TEXT, what, NULL }
#define GRAPH \
  { "graph_id", NAI_I32, NAI_ID, "CUDA graph the operation belongs to, NULL for none", NULL }
#define GRAPH_EXEC \
  { "graph_exec_id", NAI_I32, NAI_ID, "executable graph it ran in, where the export says so" }
#define GRAPH_NODE \
  { "graph_node_id", NAI_I64, NAI_ID, "node of the graph, NULL for none; joins with graph_node_events" }
#define COUNT(name, what) \
  { name, NAI_I32, NAI_COUNT, what, NULL }

static const struct nai_column_def kernel_columns[] = {[KE_START] = START,
                                                       [KE_END] = END,
                                                       [KE_NAME] = NAME("demangled kernel name"),
                                                       [KE_DEVICE] = DEVICE,
                                                       [KE_PROCESS] = PROCESS,
                                                       [KE_CONTEXT] = CONTEXT,
                                                       [KE_STREAM] = STREAM,
                                                       [KE_CORRELATION] = CORRELATION,
                                                       [KE_CONFIG] = {"config", NAI_I32, NAI_ID,
                                                                      "row of table kernel_configs", NULL},
                                                       [KE_GRAPH] = GRAPH,
                                                       [KE_GRAPH_EXEC] = GRAPH_EXEC,
                                                       [KE_GRAPH_NODE] = GRAPH_NODE};
const struct nai_schema nai_kernel_events =
    NAI_SCHEMA("kernel_events", "Kernel executions", "One kernel execution on a GPU", kernel_columns);

static const struct nai_column_def config_columns[] = {
    [KC_GRID_X] = COUNT("grid_x", "thread blocks in x"),
    [KC_GRID_Y] = COUNT("grid_y", "thread blocks in y"),
    [KC_GRID_Z] = COUNT("grid_z", "thread blocks in z"),
    [KC_BLOCK_X] = COUNT("block_x", "threads per block in x"),
    [KC_BLOCK_Y] = COUNT("block_y", "threads per block in y"),
    [KC_BLOCK_Z] = COUNT("block_z", "threads per block in z"),
    [KC_REGISTERS] = COUNT("registers_per_thread", "registers per thread"),
    [KC_STATIC_SMEM] = {"static_shared_bytes", NAI_I32, NAI_BYTES, "static shared memory per block", NULL},
    [KC_DYNAMIC_SMEM] = {"dynamic_shared_bytes", NAI_I32, NAI_BYTES, "dynamic shared memory per block", NULL},
    [KC_EXECUTED_SMEM] = {"executed_shared_bytes", NAI_I32, NAI_BYTES, "shared memory the driver set aside on each SM"},
    [KC_LOCAL_PER_THREAD] = {"local_bytes_per_thread", NAI_I32, NAI_BYTES,
                             "local memory per thread: spilled registers and arrays"},
    [KC_CLUSTER_X] = {"cluster_x", NAI_I32, NAI_COUNT, "blocks per cluster in x; 0 or NULL without clusters"},
    [KC_CLUSTER_Y] = {"cluster_y", NAI_I32, NAI_COUNT, "blocks per cluster in y"},
    [KC_CLUSTER_Z] = {"cluster_z", NAI_I32, NAI_COUNT, "blocks per cluster in z"},
    [KC_MAX_CLUSTERS] = {"max_active_clusters", NAI_I32, NAI_COUNT, "clusters that can run at a time"},
    [KC_LAUNCH_TYPE] = {"launch_type", NAI_I32, NAI_ID,
                        "0 unknown, 1 regular, 2 cooperative, 3 cooperative on several GPUs"},
    [KC_CACHE_CONFIG] = {"cache_config", NAI_I32, NAI_ID, "CUPTI function cache preference"}};
const struct nai_schema nai_kernel_configs =
    NAI_SCHEMA("kernel_configs", "Launch configurations", "One distinct kernel launch configuration", config_columns);

static const struct nai_column_def memop_columns[] = {
    [MO_START] = START,
    [MO_END] = END,
    [MO_KIND] = {"kind", NAI_I32, NAI_ID, "0 memcpy, 1 memset", NULL},
    [MO_DEVICE] = DEVICE,
    [MO_PROCESS] = PROCESS,
    [MO_CONTEXT] = CONTEXT,
    [MO_STREAM] = STREAM,
    [MO_CORRELATION] = CORRELATION,
    [MO_BYTES] = {"bytes", NAI_I64, NAI_BYTES, "bytes moved or set", NULL},
    [MO_COPY_KIND] = {"copy_kind", NAI_I32, NAI_ID, "CUPTI memcpy kind, NULL for memset", NULL},
    [MO_SRC_KIND] = {"src_kind", NAI_I32, NAI_ID, "CUPTI memory kind of the source", NULL},
    [MO_DST_KIND] = {"dst_kind", NAI_I32, NAI_ID, "CUPTI memory kind of the destination", NULL},
    [MO_GRAPH] = GRAPH,
    [MO_GRAPH_EXEC] = GRAPH_EXEC,
    [MO_GRAPH_NODE] = GRAPH_NODE,
    [MO_ADDRESS] = {"virtual_address", NAI_I64, NAI_ID, "address of migrated pages, NULL for none"},
    [MO_MIGRATION] = {"migration", NAI_I32, NAI_ID,
                      "1 for pages of unified memory that moved: no API call's work, on no stream"},
    [MO_CAUSE] = {"migration_cause", NAI_I32, NAI_ID,
                  "1 prefetch, 2 page fault, 3 speculative, 4 eviction, 5 access counters"},
    [MO_SRC_DEVICE] = {"src_cuda_device", NAI_I32, NAI_ID, "CUDA ordinal copied from, where the export says so"},
    [MO_DST_DEVICE] = {"dst_cuda_device", NAI_I32, NAI_ID, "CUDA ordinal copied to, where the export says so"},
    [MO_COPIES] = {"copy_count", NAI_I32, NAI_COUNT, "copies of a batch, NULL where the export lacks it"}};
const struct nai_schema nai_memop_events =
    NAI_SCHEMA("memop_events", "Memory operations", "One memcpy or memset on a GPU", memop_columns);

static const struct nai_column_def graph_columns[] = {[GE_START] = START,
                                                      [GE_END] = END,
                                                      [GE_DEVICE] = DEVICE,
                                                      [GE_PROCESS] = PROCESS,
                                                      [GE_CONTEXT] = CONTEXT,
                                                      [GE_STREAM] = STREAM,
                                                      [GE_CORRELATION] = CORRELATION,
                                                      [GE_GRAPH] = GRAPH,
                                                      [GE_EXEC] = {"graph_exec_id", NAI_I32, NAI_ID, "executable graph",
                                                                   NULL}};
const struct nai_schema nai_graph_events =
    NAI_SCHEMA("graph_events", "Graph launches", "One CUDA graph launch traced as one envelope", graph_columns);

static const struct nai_column_def api_columns[] = {
    [AE_START] = START,
    [AE_END] = END,
    [AE_THREAD] = THREAD,
    [AE_NAME] = NAME("API function without its _vNNNN and _ptsz/_ptds suffix"),
    [AE_CORRELATION] = CORRELATION,
    [AE_CLASS] = {"event_class", NAI_I32, NAI_ID, "0 runtime API, 1 driver API; others as in ENUM_NSYS_EVENT_CLASS"},
    [AE_RETURN] = {"return_value", NAI_I32, NAI_ID, "what the call returned, 0 for success"},
    [AE_CALLCHAIN] = {"callchain_id", NAI_I32, NAI_ID, "callchain_frames of kind 1",
                      .refers = "callchain_frames.callchain_id"}};
const struct nai_schema nai_api_events =
    NAI_SCHEMA("api_events", "CUDA API calls", "One CUDA runtime or driver API call", api_columns);

static const struct nai_column_def sync_columns[] = {
    [SE_START] = START,
    [SE_END] = END,
    [SE_PROCESS] = PROCESS,
    [SE_CONTEXT] = CONTEXT,
    [SE_STREAM] = STREAM,
    [SE_CORRELATION] = CORRELATION,
    [SE_TYPE] = {"sync_type", NAI_I32, NAI_ID, "CUPTI synchronisation type; wrong by one in some nsys releases", NULL},
    [SE_EVENT] = {"event_id", NAI_I32, NAI_ID, "CUDA event waited for, NULL for none"},
    [SE_EVENT_SYNC] = {"event_sync_id", NAI_I64, NAI_ID, "which record of that event, NULL where the export lacks it"}};
const struct nai_schema nai_sync_events =
    NAI_SCHEMA("sync_events", "Synchronisation records", "One CUPTI synchronisation record", sync_columns);

static const struct nai_column_def nvtx_columns[] = {
    [NE_START] = START,
    [NE_END] = END,
    [NE_THREAD] = THREAD,
    [NE_NAME] = NAME("canonical range name"),
    [NE_KIND] = {"kind", NAI_I32, NAI_ID, "0 push/pop, 1 start/end, 2 mark", NULL},
    [NE_ROW_OFFSET] =
        {"export_row_offset", NAI_I64, NAI_ID,
         "rowid in the export's NVTX_EVENTS, where the raw name is, minus the number of the row here, from 0", NULL},
    [NE_DOMAIN] = {"domain", NAI_I32, NAI_ID, "row of table nvtx_domains", .refers = "nvtx_domains"},
    [NE_CATEGORY] = {"category", NAI_I64, NAI_ID, "category number in its domain, NULL or 0 for none"},
    [NE_COLOR] = {"color", NAI_I64, NAI_ID, "ARGB, NULL for none"},
    [NE_END_THREAD] = {"end_thread", NAI_I32, NAI_ID,
                       "row of table threads: where a start/end range ended, NULL for the thread it began on",
                       .role = NAI_ROLE_THREAD, .refers = "threads"},
    [NE_SEQ] = {"seq", NAI_I64, NAI_ID, "PyTorch's sequence number behind the name, NULL for none"},
    [NE_SIZES] = {"sizes", NAI_I32, NAI_ID, "row of table nvtx_sizes, NULL for none", .refers = "nvtx_sizes"}};
const struct nai_schema nai_nvtx_events =
    NAI_SCHEMA("nvtx_events", "NVTX ranges and marks", "One NVTX range or mark", nvtx_columns);

static const struct nai_column_def overhead_columns[] = {
    [OE_START] = START,
    [OE_END] = END,
    [OE_THREAD] = THREAD,
    [OE_NAME] = NAME("what took the time"),
    [OE_SOURCE] = {"source", NAI_I32, NAI_ID, "0 profiler, 1 CUDA driver", NULL},
    [OE_TYPE] =
        {"overhead_type", NAI_I32, NAI_ID,
         "of the profiler: 2 JIT, 3 buffer flush, 4 instrumentation, 5 resource; of CUDA: 6 module load, 7 lazy load, 8 command buffer full; NULL in older exports, where the name tells"},
    [OE_CORRELATION] = {"correlation_id", NAI_I64, NAI_ID, "API call it lies in, NULL or 0 for none"}};
const struct nai_schema nai_overhead_events =
    NAI_SCHEMA("overhead_events", "Overhead", "One stretch of profiler or CUDA driver overhead", overhead_columns);

static const struct nai_column_def osrt_columns[] = {
    [OS_START] = START,
    [OS_END] = END,
    [OS_THREAD] = THREAD,
    [OS_NAME] = NAME("function"),
    [OS_LEVEL] = {"nesting_level", NAI_I32, NAI_COUNT, "calls around it; 0 for the outermost ones"},
    [OS_CALLCHAIN] = {"callchain_id", NAI_I32, NAI_ID, "callchain_frames of kind 2",
                      .refers = "callchain_frames.callchain_id"}};
const struct nai_schema nai_osrt_events =
    NAI_SCHEMA("osrt_events", "OS runtime calls", "One operating-system runtime call", osrt_columns);

static const struct nai_column_def process_columns[] = {
    [PR_KEY] = {"process_key", NAI_I64, NAI_ID, "globalTid with the thread bits cleared", NULL},
    [PR_PID] = {"pid", NAI_I64, NAI_ID, "process id", NULL},
    [PR_NAME] = {"process_name", NAI_STR, NAI_TEXT, "executable name", NULL}};
const struct nai_schema nai_processes =
    NAI_SCHEMA("processes", "Processes", "One process that made API calls, NVTX ranges or GPU work", process_columns);

static const struct nai_column_def thread_columns[] = {
    [TH_KEY] = {"global_tid", NAI_I64, NAI_ID, "serialized thread id of the export", NULL},
    [TH_PROCESS] = PROCESS,
    [TH_PID] = {"pid", NAI_I64, NAI_ID, "process id", NULL},
    [TH_TID] = {"tid", NAI_I64, NAI_ID, "thread id", NULL},
    [TH_NAME] = {"thread_name", NAI_STR, NAI_TEXT, "thread name", NULL}};
const struct nai_schema nai_threads =
    NAI_SCHEMA("threads", "Threads", "One thread with API calls, NVTX ranges or OS runtime calls", thread_columns);

static const struct nai_column_def gpu_columns[] = {
    [GP_DEVICE] = {"device_id", NAI_I32, NAI_ID, "GPU number used in every table", NULL},
    [GP_LABEL] = {"label", NAI_STR, NAI_TEXT, "how reports call this GPU", NULL},
    [GP_NAME] = {"gpu_name", NAI_STR, NAI_TEXT, "product name", NULL},
    [GP_CUDA_DEVICE] = {"cuda_device", NAI_I32, NAI_ID, "CUDA ordinal in the (first) process that used it", NULL},
    [GP_PID] = {"pid", NAI_I64, NAI_ID, "the process, where the GPU is told apart by process only", NULL},
    [GP_MAPPED] = {"mapped", NAI_I32, NAI_ID, "1 when the export maps CUDA ordinals to physical GPUs", NULL},
    [GP_SM_COUNT] = {"sm_count", NAI_I32, NAI_COUNT, "streaming multiprocessors", NULL},
    [GP_MEMORY] = {"memory_bytes", NAI_I64, NAI_BYTES, "device memory", NULL},
    [GP_BUS] = {"pci_bus", NAI_STR, NAI_TEXT, "PCI bus location", NULL},
    [GP_IDENTIFIED_BY] =
        {"identified_by", NAI_STR, NAI_TEXT,
         "what says which of the machine's GPUs this is: map (the export), only GPU, ordinal or id (both assumed: CUDA_VISIBLE_DEVICES may say otherwise); NULL when nothing does"},
    [GP_GPU_ID] = {"gpu_id", NAI_I32, NAI_ID, "TARGET_INFO_GPU.id, which GPU metrics name"},
    [GP_UUID] = {"uuid", NAI_STR, NAI_TEXT, "without the leading GPU-"},
    [GP_CHIP] = {"chip", NAI_STR, NAI_TEXT, "chip name"},
    [GP_COMPUTE_MAJOR] = {"compute_major", NAI_I32, NAI_ID, "compute capability, before the point"},
    [GP_COMPUTE_MINOR] = {"compute_minor", NAI_I32, NAI_ID, "compute capability, behind the point"},
    [GP_CLOCK] = {"clock_hz", NAI_I64, NAI_COUNT, "highest clock rate, Hz"},
    [GP_BANDWIDTH] = {"memory_bytes_per_s", NAI_I64, NAI_BYTES, "memory bandwidth, bytes per second"},
    [GP_L2] = {"l2_bytes", NAI_I64, NAI_BYTES, "L2 cache"},
    [GP_THREADS_PER_WARP] = {"threads_per_warp", NAI_I32, NAI_COUNT, "threads of a warp"},
    [GP_WARPS_PER_SM] = {"max_warps_per_sm", NAI_I32, NAI_COUNT, "warps an SM can hold"},
    [GP_BLOCKS_PER_SM] = {"max_blocks_per_sm", NAI_I32, NAI_COUNT, "thread blocks an SM can hold"},
    [GP_REGISTERS_PER_SM] = {"max_registers_per_sm", NAI_I32, NAI_COUNT, "registers of an SM"},
    [GP_REGISTERS_PER_BLOCK] = {"max_registers_per_block", NAI_I32, NAI_COUNT, "registers a block can have"},
    [GP_SMEM_PER_SM] = {"max_shared_bytes_per_sm", NAI_I32, NAI_BYTES, "shared memory of an SM"},
    [GP_SMEM_PER_BLOCK] = {"max_shared_bytes_per_block", NAI_I32, NAI_BYTES, "shared memory a block can have"},
    [GP_SMEM_PER_BLOCK_OPTIN] = {"max_shared_bytes_per_block_optin", NAI_I32, NAI_BYTES,
                                 "shared memory a block can have when it asks for more"},
    [GP_THREADS_PER_BLOCK] = {"max_threads_per_block", NAI_I32, NAI_COUNT, "threads a block can have"},
    [GP_COPY_ENGINES] = {"copy_engines", NAI_I32, NAI_COUNT, "asynchronous copy engines"},
    [GP_DISCRETE] = {"discrete", NAI_I32, NAI_ID, "0 for a GPU that shares the CPU's memory"}};
const struct nai_schema nai_gpus = NAI_SCHEMA("gpus", "GPUs", "One GPU that ran something", gpu_columns);

static const struct nai_column_def capture_columns[] = {
    [CA_FILE] = {"file", NAI_STR, NAI_TEXT, "file name of the export", NULL},
    [CA_SIZE] = {"size_bytes", NAI_I64, NAI_BYTES, "size of the export", NULL},
    [CA_PRODUCT_VERSION] = {"product_version", NAI_STR, NAI_TEXT, "Nsight Systems version that exported", NULL},
    [CA_SCHEMA_VERSION] = {"schema_version", NAI_STR, NAI_TEXT, "export schema version", NULL},
    [CA_UTC_EPOCH_NS] = {"utc_epoch_ns", NAI_I64, NAI_ID, "UTC time of session start, ns since 1970", NULL},
    [CA_DURATION_NS] = {"duration_ns", NAI_I64, NAI_NS, "length of the session", NULL},
    [CA_TIME_OFFSET_NS] = {"time_offset_ns", NAI_I64, NAI_NS, "subtracted from every time of the export", NULL},
    [CA_START] = {"capture_start_ns", NAI_I64, NAI_NS,
                  "when capturing began, from session start; NULL where the export does not say"},
    [CA_STOP] = {"capture_stop_ns", NAI_I64, NAI_NS, "when capturing ended, from session start"},
    [CA_START_TRIGGER] = {"start_trigger", NAI_STR, NAI_TEXT, "what began the capture (Immediate: the whole program)"},
    [CA_STOP_TRIGGER] = {"stop_trigger", NAI_STR, NAI_TEXT, "what ended it"},
    [CA_EVENT_TYPES] = {"event_types", NAI_STR, NAI_TEXT, "kinds of events asked for when capturing"},
    [CA_PARTIAL] = {"partial_export", NAI_I32, NAI_ID, "1 when only selected tables or times were exported"}};
const struct nai_schema nai_capture = NAI_SCHEMA("capture", "Capture", "The capture and its export", capture_columns);

static const struct nai_column_def capability_columns[] = {
    [CP_CAPABILITY] = {"capability", NAI_STR, NAI_TEXT, "what can be analysed", NULL},
    [CP_AVAILABLE] = {"available", NAI_I32, NAI_ID, "1 when the export has it", NULL},
    [CP_SOURCE] = {"source", NAI_STR, NAI_TEXT, "table of the export it comes from", NULL},
    [CP_DETAIL] = {"detail", NAI_STR, NAI_TEXT, "what is used, or what is missing and what that disables", NULL}};
const struct nai_schema nai_capabilities =
    NAI_SCHEMA("capabilities", "Capabilities", "One kind of data an export may hold", capability_columns);

static const struct nai_column_def label_columns[] = {
    [LB_KIND] = {"enumeration", NAI_I32, NAI_ID, "0 copy kinds, 1 memory kinds", NULL},
    [LB_ID] = {"id", NAI_I64, NAI_ID, "number in memop_events", NULL},
    [LB_LABEL] = {"label", NAI_STR, NAI_TEXT, "what the export calls it", NULL}};
const struct nai_schema nai_labels =
    NAI_SCHEMA("labels", "Labels", "One label of an enumeration of the export", label_columns);

static const struct nai_column_def note_columns[] = {
    [NO_CHECK] = {"check", NAI_STR, NAI_TEXT, "what was checked", NULL},
    [NO_SEVERITY] = {"severity", NAI_STR, NAI_TEXT, "info, warning or error", NULL},
    [NO_SOURCE] = {"source_table", NAI_STR, NAI_TEXT, "table of the export", NULL},
    [NO_COUNT] = {"count", NAI_I64, NAI_COUNT, "rows or events concerned", NULL},
    [NO_DETAIL] = {"detail", NAI_STR, NAI_TEXT, "what it means", NULL}};
const struct nai_schema nai_probe_notes =
    NAI_SCHEMA("probe_notes", "Notes on the export", "One thing the export says or lacks", note_columns);
const struct nai_schema nai_extract_notes =
    NAI_SCHEMA("extract_notes", "Notes on the rows", "One thing noticed while reading rows", note_columns);

static const struct nai_column_def reader_columns[] = {
    [RD_TABLE] = {"source_table", NAI_STR, NAI_TEXT, "table of the export", NULL},
    [RD_READER] = {"reader", NAI_STR, NAI_TEXT, "direct or sqlite", NULL},
    [RD_ROWS] = {"rows", NAI_I64, NAI_COUNT, "rows read", NULL},
    [RD_REASON] = {"reason", NAI_STR, NAI_TEXT, "why the direct reader was not used", NULL}};
const struct nai_schema nai_readers = NAI_SCHEMA("readers", "Readers", "How one source table was read", reader_columns);

static const char *label_of(const char *const *labels, size_t count, int64_t kind) {
  return kind >= 0 && kind < (int64_t)count ? labels[kind] : NULL;
}

const char *nai_copy_kind_label(int64_t kind) {
  static const char *const labels[] = {
      "Unknown",        "Host-to-Device",         "Device-to-Host",         "Host-to-Array",           "Array-to-Host",
      "Array-to-Array", "Array-to-Device",        "Device-to-Array",        "Device-to-Device",        "Host-to-Host",
      "Peer-to-Peer",   "Unified Host-to-Device", "Unified Device-to-Host", "Unified Device-to-Device"};
  return label_of(labels, sizeof labels / sizeof *labels, kind);
}

const char *nai_mem_kind_label(int64_t kind) {
  static const char *const labels[] = {"Pageable", "Pinned",        "Device",         "Array",
                                       "Managed",  "Device Static", "Managed Static", "Unknown"};
  return label_of(labels, sizeof labels / sizeof *labels, kind);
}
