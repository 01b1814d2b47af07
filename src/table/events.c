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
                                                       [KE_GRAPH] = GRAPH};
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
    [KC_DYNAMIC_SMEM] = {"dynamic_shared_bytes", NAI_I32, NAI_BYTES, "dynamic shared memory per block", NULL}};
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
                                                      [GE_EXEC] = {"graph_exec_id", NAI_I32, NAI_ID, "executable graph",
                                                                   NULL}};
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
    [SE_TYPE] = {"sync_type", NAI_I32, NAI_ID, "CUPTI synchronisation type; wrong by one in some nsys releases", NULL}};
const struct nai_schema nai_sync_events =
    NAI_SCHEMA("sync_events", "Synchronisation records", "One CUPTI synchronisation record", sync_columns);

static const struct nai_column_def nvtx_columns[] = {
    [NE_START] = START,
    [NE_END] = END,
    [NE_THREAD] = THREAD,
    [NE_NAME] = NAME("canonical range name"),
    [NE_KIND] = {"kind", NAI_I32, NAI_ID, "0 push/pop, 1 start/end, 2 mark", NULL},
    [NE_ROW_OFFSET] = {
        "export_row_offset", NAI_I64, NAI_ID,
        "rowid in the export's NVTX_EVENTS, where the raw name is, minus the number of the row here, from 0", NULL}};
const struct nai_schema nai_nvtx_events =
    NAI_SCHEMA("nvtx_events", "NVTX ranges and marks", "One NVTX range or mark", nvtx_columns);

static const struct nai_column_def overhead_columns[] = {[OE_START] = START,
                                                         [OE_END] = END,
                                                         [OE_THREAD] = THREAD,
                                                         [OE_NAME] = NAME("what took the time"),
                                                         [OE_SOURCE] = {"source", NAI_I32, NAI_ID,
                                                                        "0 profiler, 1 CUDA driver", NULL}};
const struct nai_schema nai_overhead_events =
    NAI_SCHEMA("overhead_events", "Overhead", "One stretch of profiler or CUDA driver overhead", overhead_columns);

static const struct nai_column_def osrt_columns[] = {
    [OS_START] = START, [OS_END] = END, [OS_THREAD] = THREAD, [OS_NAME] = NAME("function")};
const struct nai_schema nai_osrt_events =
    NAI_SCHEMA("osrt_events", "OS runtime calls", "One outermost operating-system runtime call", osrt_columns);

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
    [GP_BUS] = {"pci_bus", NAI_STR, NAI_TEXT, "PCI bus location", NULL}};
const struct nai_schema nai_gpus = NAI_SCHEMA("gpus", "GPUs", "One GPU that ran something", gpu_columns);

static const struct nai_column_def capture_columns[] = {
    [CA_FILE] = {"file", NAI_STR, NAI_TEXT, "file name of the export", NULL},
    [CA_SIZE] = {"size_bytes", NAI_I64, NAI_BYTES, "size of the export", NULL},
    [CA_PRODUCT_VERSION] = {"product_version", NAI_STR, NAI_TEXT, "Nsight Systems version that exported", NULL},
    [CA_SCHEMA_VERSION] = {"schema_version", NAI_STR, NAI_TEXT, "export schema version", NULL},
    [CA_UTC_EPOCH_NS] = {"utc_epoch_ns", NAI_I64, NAI_ID, "UTC time of session start, ns since 1970", NULL},
    [CA_DURATION_NS] = {"duration_ns", NAI_I64, NAI_NS, "length of the session", NULL},
    [CA_TIME_OFFSET_NS] = {"time_offset_ns", NAI_I64, NAI_NS, "subtracted from every time of the export", NULL}};
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
const struct nai_schema nai_notes = NAI_SCHEMA("notes", "Notes", "One thing probe or extract noticed", note_columns);

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
