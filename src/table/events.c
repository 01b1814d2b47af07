#include "table/events.h"

#include "table/columns.h"

#include <stddef.h>

#define START NAI_START_COLUMN("start_ns", "start")
#define END NAI_END_COLUMN("end_ns", "end, exclusive")
#define DEVICE NAI_DEVICE_COLUMN("GPU, as in table gpus")
#define ID(name, what, ...) \
  { name, NAI_I32, NAI_ID, what, __VA_ARGS__ }
#define PROCESS \
  ID("process", "row of table processes, -1 when unknown", .role = NAI_ROLE_PROCESS, .refers = "processes")
#define THREAD ID("thread", "row of table threads", .role = NAI_ROLE_THREAD, .refers = "threads")
#define CONTEXT ID("context_id", "CUDA context")
#define STREAM ID("stream_id", "CUDA stream", .role = NAI_ROLE_STREAM)
#define CORRELATION \
  { "correlation_id", NAI_I64, NAI_ID, "joins with api_events within one process; NULL or 0 for none" }
#define NAME(what) NAI_NAME_COLUMN("name", what)
#define GRAPH ID("graph_id", "CUDA graph the operation belongs to, NULL for none")
#define DIMENSION(name, what) \
  { name, NAI_I32, NAI_COUNT, what, .key = true }

static const struct nai_column_def kernel_columns[] = {
    [KE_START] = START,
    [KE_END] = END,
    [KE_NAME] = NAI_KERNEL_NAME_COLUMN("name", "demangled kernel name"),
    [KE_DEVICE] = DEVICE,
    [KE_PROCESS] = PROCESS,
    [KE_CONTEXT] = CONTEXT,
    [KE_STREAM] = STREAM,
    [KE_CORRELATION] = CORRELATION,
    [KE_CONFIG] = ID("config", "row of table kernel_configs", .refers = "kernel_configs"),
    [KE_GRAPH] = GRAPH};
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
    [KC_DYNAMIC_SMEM] = {"dynamic_shared_bytes", NAI_I32, NAI_BYTES, "dynamic shared memory per block", .key = true}};
const struct nai_schema nai_kernel_configs =
    NAI_SCHEMA("kernel_configs", "Launch configurations", "One distinct kernel launch configuration", config_columns);

static const struct nai_column_def memop_columns[] = {
    [MO_START] = START,
    [MO_END] = END,
    [MO_KIND] = {"kind", NAI_I32, NAI_ID, "0 memcpy, 1 memset"},
    [MO_DEVICE] = DEVICE,
    [MO_PROCESS] = PROCESS,
    [MO_CONTEXT] = CONTEXT,
    [MO_STREAM] = STREAM,
    [MO_CORRELATION] = CORRELATION,
    [MO_BYTES] = NAI_BYTES_COLUMN("bytes", "bytes moved or set", .sum = true),
    [MO_COPY_KIND] = {"copy_kind", NAI_I32, NAI_ID, "CUPTI memcpy kind, NULL for memset"},
    [MO_SRC_KIND] = {"src_kind", NAI_I32, NAI_ID, "CUPTI memory kind of the source"},
    [MO_DST_KIND] = {"dst_kind", NAI_I32, NAI_ID, "CUPTI memory kind of the destination"},
    [MO_GRAPH] = GRAPH};
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

static const struct nai_column_def api_columns[] = {[AE_START] = START,
                                                    [AE_END] = END,
                                                    [AE_THREAD] = THREAD,
                                                    [AE_NAME] =
                                                        NAME("API function without its _vNNNN and _ptsz/_ptds suffix"),
                                                    [AE_CORRELATION] = CORRELATION};
const struct nai_schema nai_api_events =
    NAI_SCHEMA("api_events", "CUDA API calls", "One CUDA runtime or driver API call", api_columns);

static const struct nai_column_def sync_columns[] = {
    [SE_START] = START,
    [SE_END] = END,
    [SE_PROCESS] = PROCESS,
    [SE_CONTEXT] = CONTEXT,
    [SE_STREAM] = STREAM,
    [SE_CORRELATION] = CORRELATION,
    [SE_TYPE] = {"sync_type", NAI_I32, NAI_ID, "CUPTI synchronisation type; wrong by one in some nsys releases"}};
const struct nai_schema nai_sync_events =
    NAI_SCHEMA("sync_events", "Synchronisation records", "One CUPTI synchronisation record", sync_columns);

static const struct nai_column_def nvtx_columns[] = {
    [NE_START] = START,
    [NE_END] = END,
    [NE_THREAD] = THREAD,
    [NE_NAME] = NAI_RANGE_NAME_COLUMN("name", "canonical range name"),
    [NE_KIND] = {"kind", NAI_I32, NAI_ID, "0 push/pop, 1 start/end, 2 mark"},
    [NE_ROW_OFFSET] = {
        "export_row_offset", NAI_I64, NAI_ID,
        "rowid in the export's NVTX_EVENTS, where the raw name is, minus the number of the row here, from 0"}};
const struct nai_schema nai_nvtx_events =
    NAI_SCHEMA("nvtx_events", "NVTX ranges and marks", "One NVTX range or mark", nvtx_columns);

static const struct nai_column_def overhead_columns[] = {[OE_START] = START,
                                                         [OE_END] = END,
                                                         [OE_THREAD] = THREAD,
                                                         [OE_NAME] = NAME("what took the time"),
                                                         [OE_SOURCE] = {"source", NAI_I32, NAI_ID,
                                                                        "0 profiler, 1 CUDA driver"}};
const struct nai_schema nai_overhead_events =
    NAI_SCHEMA("overhead_events", "Overhead", "One stretch of profiler or CUDA driver overhead", overhead_columns);

static const struct nai_column_def osrt_columns[] = {
    [OS_START] = START, [OS_END] = END, [OS_THREAD] = THREAD, [OS_NAME] = NAME("function")};
const struct nai_schema nai_osrt_events =
    NAI_SCHEMA("osrt_events", "OS runtime calls", "One outermost operating-system runtime call", osrt_columns);

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
    [GP_BUS] = {"pci_bus", NAI_STR, NAI_TEXT, "PCI bus location"}};
const struct nai_schema nai_gpus = NAI_SCHEMA("gpus", "GPUs", "One GPU that ran something", gpu_columns);

static const struct nai_column_def capture_columns[] = {
    [CA_FILE] = NAI_NAME_COLUMN("file", "file name of the export"),
    [CA_SIZE] = {"size_bytes", NAI_I64, NAI_BYTES, "size of the export"},
    [CA_PRODUCT_VERSION] = {"product_version", NAI_STR, NAI_TEXT, "Nsight Systems version that exported"},
    [CA_SCHEMA_VERSION] = {"schema_version", NAI_STR, NAI_TEXT, "export schema version"},
    [CA_UTC_EPOCH_NS] = {"utc_epoch_ns", NAI_I64, NAI_ID, "UTC time of session start, ns since 1970"},
    [CA_DURATION_NS] = {"duration_ns", NAI_I64, NAI_NS, "length of the session", .role = NAI_ROLE_METRIC},
    [CA_TIME_OFFSET_NS] = {"time_offset_ns", NAI_I64, NAI_NS, "subtracted from every time of the export"}};
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
const struct nai_schema nai_notes = NAI_SCHEMA("notes", "Notes", "One thing probe or extract noticed", note_columns);

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
