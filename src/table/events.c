#include "table/events.h"

#include "table/columns.h"

#include <stddef.h>

#define START NAI_START_COLUMN("start_ns", "start", .filled = true)
#define END NAI_END_COLUMN("end_ns", "end, exclusive", .filled = true)
#define DEVICE NAI_DEVICE_COLUMN("GPU, as in table gpus", .filled = true)
#define ID(name, what, ...) \
  { name, NAI_I32, NAI_ID, what, __VA_ARGS__ }
#define PROCESS                                                                                             \
  ID("process", "row of table processes, -1 when unknown", .role = NAI_ROLE_PROCESS, .refers = "processes", \
     .filled = true)
#define THREAD ID("thread", "row of table threads", .role = NAI_ROLE_THREAD, .refers = "threads", .filled = true)
#define CONTEXT ID("context_id", "CUDA context")
#define STREAM ID("stream_id", "CUDA stream", .role = NAI_ROLE_STREAM)
#define CORRELATION \
  { "correlation_id", NAI_I64, NAI_ID, "joins with api_events within one process; NULL or 0 for none" }
#define NAME(what) NAI_NAME_COLUMN("name", what, .filled = true)
#define GRAPH ID("graph_id", "CUDA graph the operation belongs to, NULL for none")
#define DIMENSION(name, what) \
  { name, NAI_I32, NAI_COUNT, what, .key = true }
#define GRAPH_EXEC ID("graph_exec_id", "executable graph it ran in, where the export says so")
#define GRAPH_NODE \
  { "graph_node_id", NAI_I64, NAI_ID, "node of the graph, NULL for none; joins with graph_node_events" }
#define COUNT(name, what) \
  { name, NAI_I32, NAI_COUNT, what }

static const struct nai_column_def kernel_columns[] = {
    [KE_START] = START,
    [KE_END] = END,
    [KE_NAME] = NAI_KERNEL_NAME_COLUMN("name", "demangled kernel name", .filled = true),
    [KE_DEVICE] = DEVICE,
    [KE_PROCESS] = PROCESS,
    [KE_CONTEXT] = CONTEXT,
    [KE_STREAM] = STREAM,
    [KE_CORRELATION] = CORRELATION,
    [KE_CONFIG] = ID("config", "row of table kernel_configs", .refers = "kernel_configs", .filled = true),
    [KE_GRAPH] = GRAPH,
    [KE_GRAPH_EXEC] = GRAPH_EXEC,
    [KE_GRAPH_NODE] = GRAPH_NODE};
const struct nai_schema nai_kernel_events =
    NAI_SCHEMA("kernel_events", "Kernel executions", "One kernel execution on a GPU", kernel_columns);

static const struct nai_column_def config_columns[] = {
    [KC_GRID_X] = DIMENSION("grid_x", "thread blocks in x"),
    [KC_GRID_Y] = DIMENSION("grid_y", "thread blocks in y"),
    [KC_GRID_Z] = DIMENSION("grid_z", "thread blocks in z"),
    [KC_BLOCK_X] = DIMENSION("block_x", "threads per block in x"),
    [KC_BLOCK_Y] = DIMENSION("block_y", "threads per block in y"),
    [KC_BLOCK_Z] = DIMENSION("block_z", "threads per block in z"),
    [KC_REGISTERS] = DIMENSION("registers_per_thread", "registers per thread"),
    [KC_STATIC_SMEM] = {"static_shared_bytes", NAI_I32, NAI_BYTES, "static shared memory per block", .key = true},
    [KC_DYNAMIC_SMEM] = {"dynamic_shared_bytes", NAI_I32, NAI_BYTES, "dynamic shared memory per block", .key = true},
    [KC_EXECUTED_SMEM] = {"executed_shared_bytes", NAI_I32, NAI_BYTES, "shared memory the driver set aside on each SM",
                          .key = true},
    [KC_LOCAL_PER_THREAD] = {"local_bytes_per_thread", NAI_I32, NAI_BYTES,
                             "local memory per thread: spilled registers and arrays", .key = true},
    [KC_CLUSTER_X] = {"cluster_x", NAI_I32, NAI_COUNT, "blocks per cluster in x; 0 or NULL without clusters",
                      .key = true},
    [KC_CLUSTER_Y] = {"cluster_y", NAI_I32, NAI_COUNT, "blocks per cluster in y", .key = true},
    [KC_CLUSTER_Z] = {"cluster_z", NAI_I32, NAI_COUNT, "blocks per cluster in z", .key = true},
    [KC_MAX_CLUSTERS] = {"max_active_clusters", NAI_I32, NAI_COUNT, "clusters that can run at a time", .key = true},
    [KC_LAUNCH_TYPE] = {"launch_type", NAI_I32, NAI_ID,
                        "0 unknown, 1 regular, 2 cooperative, 3 cooperative on several GPUs", .key = true},
    [KC_CACHE_CONFIG] = {"cache_config", NAI_I32, NAI_ID, "CUPTI function cache preference", .key = true}};
const struct nai_schema nai_kernel_configs =
    NAI_SCHEMA("kernel_configs", "Launch configurations", "One distinct kernel launch configuration", config_columns);

static const struct nai_column_def memop_columns[] = {
    [MO_START] = START,
    [MO_END] = END,
    [MO_KIND] = {"kind", NAI_I32, NAI_ID, "0 memcpy, 1 memset", .filled = true, .values = 2},
    [MO_DEVICE] = DEVICE,
    [MO_PROCESS] = PROCESS,
    [MO_CONTEXT] = CONTEXT,
    [MO_STREAM] = STREAM,
    [MO_CORRELATION] = CORRELATION,
    [MO_BYTES] = NAI_BYTES_COLUMN("bytes", "bytes moved or set", .sum = true),
    [MO_COPY_KIND] = {"copy_kind", NAI_I32, NAI_ID, "CUPTI memcpy kind, NULL for memset"},
    [MO_SRC_KIND] = {"src_kind", NAI_I32, NAI_ID, "CUPTI memory kind of the source"},
    [MO_DST_KIND] = {"dst_kind", NAI_I32, NAI_ID, "CUPTI memory kind of the destination"},
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
                                                      [GE_EXEC] = {"graph_exec_id", NAI_I32, NAI_ID,
                                                                   "executable graph"}};
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
    [SE_TYPE] = {"sync_type", NAI_I32, NAI_ID, "CUPTI synchronisation type; wrong by one in some nsys releases"},
    [SE_EVENT] = {"event_id", NAI_I32, NAI_ID, "CUDA event waited for, NULL for none"},
    [SE_EVENT_SYNC] = {"event_sync_id", NAI_I64, NAI_ID, "which record of that event, NULL where the export lacks it"}};
const struct nai_schema nai_sync_events =
    NAI_SCHEMA("sync_events", "Synchronisation records",
               "One CUPTI synchronisation record; read on request only, and no analysis of this version asks",
               sync_columns);

static const struct nai_column_def nvtx_columns[] = {
    [NE_START] = START,
    [NE_END] = END,
    [NE_THREAD] = THREAD,
    [NE_NAME] = NAI_RANGE_NAME_COLUMN("name", "canonical range name", .filled = true),
    [NE_KIND] = {"kind", NAI_I32, NAI_ID, "0 push/pop, 1 start/end, 2 mark", .filled = true, .values = 3},
    [NE_ROW_OFFSET] =
        {"export_row_offset", NAI_I64, NAI_ID,
         "rowid in the export's NVTX_EVENTS, where the raw name is, minus the number of the row here, from 0"},
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
    [OE_SOURCE] = {"source", NAI_I32, NAI_ID, "0 profiler, 1 CUDA driver, 2 compilation of GPU code", .filled = true,
                   .values = 3},
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
    [PR_KEY] = {"process_key", NAI_I64, NAI_ID, "globalTid with the thread bits cleared", .key = true},
    [PR_PID] = {"pid", NAI_I64, NAI_ID, "process id", .role = NAI_ROLE_PROCESS},
    [PR_NAME] = NAI_NAME_COLUMN("process_name", "executable name")};
const struct nai_schema nai_processes =
    NAI_SCHEMA("processes", "Processes", "One process that made API calls, NVTX ranges or GPU work", process_columns);

static const struct nai_column_def thread_columns[] = {
    [TH_KEY] = {"global_tid", NAI_I64, NAI_ID, "serialized thread id of the export", .key = true},
    [TH_PROCESS] = PROCESS,
    [TH_PID] = NAI_PID_COLUMN("process id"),
    [TH_TID] = {"tid", NAI_I64, NAI_ID, "thread id", .role = NAI_ROLE_THREAD},
    [TH_NAME] = NAI_NAME_COLUMN("thread_name", "thread name")};
const struct nai_schema nai_threads =
    NAI_SCHEMA("threads", "Threads", "One thread with API calls, NVTX ranges or OS runtime calls", thread_columns);

static const struct nai_column_def gpu_columns[] = {
    [GP_DEVICE] = {"device_id", NAI_I32, NAI_ID, "GPU number used in every table", .role = NAI_ROLE_DEVICE,
                   .key = true},
    [GP_LABEL] = NAI_NAME_COLUMN("label", "how reports call this GPU"),
    [GP_NAME] = {"gpu_name", NAI_STR, NAI_TEXT, "product name"},
    [GP_CUDA_DEVICE] = {"cuda_device", NAI_I32, NAI_ID, "CUDA ordinal in the (first) process that used it"},
    [GP_PID] = NAI_PID_COLUMN("the process, where the GPU is told apart by process only"),
    [GP_MAPPED] = {"mapped", NAI_I32, NAI_ID, "1 when the export maps CUDA ordinals to physical GPUs"},
    [GP_SM_COUNT] = {"sm_count", NAI_I32, NAI_COUNT, "streaming multiprocessors"},
    [GP_MEMORY] = {"memory_bytes", NAI_I64, NAI_BYTES, "device memory"},
    [GP_BUS] = {"pci_bus", NAI_STR, NAI_TEXT, "PCI bus location"},
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
    [CA_FILE] = NAI_NAME_COLUMN("file", "file name of the export"),
    [CA_SIZE] = {"size_bytes", NAI_I64, NAI_BYTES, "size of the export"},
    [CA_PRODUCT_VERSION] = {"product_version", NAI_STR, NAI_TEXT, "Nsight Systems version that exported"},
    [CA_SCHEMA_VERSION] = {"schema_version", NAI_STR, NAI_TEXT, "export schema version"},
    [CA_UTC_EPOCH_NS] = {"utc_epoch_ns", NAI_I64, NAI_ID, "UTC time of session start, ns since 1970"},
    [CA_DURATION_NS] = {"duration_ns", NAI_I64, NAI_NS, "length of the session", .role = NAI_ROLE_METRIC},
    [CA_TIME_OFFSET_NS] = {"time_offset_ns", NAI_I64, NAI_NS, "subtracted from every time of the export"},
    [CA_START] = {"capture_start_ns", NAI_I64, NAI_NS,
                  "when capturing began, from session start; NULL where the export does not say"},
    [CA_STOP] = {"capture_stop_ns", NAI_I64, NAI_NS, "when capturing ended, from session start"},
    [CA_START_TRIGGER] = {"start_trigger", NAI_STR, NAI_TEXT, "what began the capture (Immediate: the whole program)"},
    [CA_STOP_TRIGGER] = {"stop_trigger", NAI_STR, NAI_TEXT, "what ended it"},
    [CA_EVENT_TYPES] = {"event_types", NAI_STR, NAI_TEXT, "kinds of events asked for when capturing"},
    [CA_PARTIAL] = {"partial_export", NAI_I32, NAI_ID, "1 when only selected tables or times were exported"},
    [CA_DRIVER] = {"driver_version", NAI_STR, NAI_TEXT, "NVIDIA driver"},
    [CA_CUDA] = {"cuda_driver_version", NAI_STR, NAI_TEXT, "newest CUDA that the driver supports"},
    [CA_OPTIONS] = {"profiler_options", NAI_STR, NAI_TEXT,
                    "options of the profiler that are on or not 0 and decide what was recorded"},
    [CA_PLATFORM] = {"platform", NAI_STR, NAI_TEXT,
                     "system that it was captured on: Linux, WSL2, Windows, L4T (Jetson) ..."}};
const struct nai_schema nai_capture = NAI_SCHEMA("capture", "Capture", "The capture and its export", capture_columns);

static const struct nai_column_def capability_columns[] = {
    [CP_CAPABILITY] = NAI_NAME_COLUMN("capability", "what can be analysed", .key = true),
    [CP_AVAILABLE] = {"available", NAI_I32, NAI_ID, "1 when the export has it"},
    [CP_SOURCE] = NAI_LABEL_COLUMN("source", "table of the export it comes from", .key = true),
    [CP_DETAIL] = {"detail", NAI_STR, NAI_TEXT, "what is used, or what is missing and what that disables"}};
const struct nai_schema nai_capabilities =
    NAI_SCHEMA("capabilities", "Capabilities", "One kind of data an export may hold", capability_columns);

static const struct nai_column_def label_columns[] = {
    [LB_KIND] = {"enumeration", NAI_I32, NAI_ID, "0 copy kinds, 1 memory kinds", .key = true},
    [LB_ID] = {"id", NAI_I64, NAI_ID, "number in memop_events", .key = true},
    [LB_LABEL] = NAI_NAME_COLUMN("label", "what the export calls it")};
const struct nai_schema nai_labels =
    NAI_SCHEMA("labels", "Labels", "One label of an enumeration of the export", label_columns);

static const struct nai_column_def note_columns[] = {
    [NO_CHECK] = NAI_NAME_COLUMN("check", "what was checked", .key = true),
    [NO_SEVERITY] = {"severity", NAI_STR, NAI_TEXT, "info, warning or error"},
    [NO_SOURCE] = NAI_LABEL_COLUMN("source_table", "table of the export", .key = true),
    [NO_COUNT] = NAI_COUNT_COLUMN("count", "rows or events concerned"),
    [NO_DETAIL] = NAI_LABEL_COLUMN("detail", "what it means", .key = true)};
const struct nai_schema nai_probe_notes =
    NAI_SCHEMA("probe_notes", "Notes on the export", "One thing the export says or lacks", note_columns);
const struct nai_schema nai_extract_notes =
    NAI_SCHEMA("extract_notes", "Notes on the rows", "One thing noticed while reading rows", note_columns);

static const struct nai_column_def reader_columns[] = {
    [RD_TABLE] = NAI_NAME_COLUMN("source_table", "table of the export", .key = true),
    [RD_READER] = {"reader", NAI_STR, NAI_TEXT, "direct or sqlite"},
    [RD_ROWS] = NAI_COUNT_COLUMN("rows", "rows read", .sum = true),
    [RD_REASON] = {"reason", NAI_STR, NAI_TEXT, "why the direct reader was not used"}};
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
