/* Sources of work on GPUs: kernels, copies and memsets, graphs, synchronisations, CUDA events, sampled metrics. */
#include "trace/sources/source_cells.h"
#include "tables/cuda_event_events.h"
#include "tables/gpu_metric_samples.h"
#include "tables/gpu_switch_events.h"
#include "tables/graph_events.h"
#include "tables/host_function_events.h"
#include "tables/kernel_configs.h"
#include "tables/kernel_events.h"
#include "tables/memop_events.h"
#include "tables/nic_metric_samples.h"
#include "tables/sync_events.h"

/* What every activity on a GPU has; the process falls back from globalPid to globalTid. */
#define WORK(F, L, T)                                     \
  TIMES(F, L, T)                                          \
  F(L, T, device_id, DEVICE, OPTIONAL, "deviceId")        \
  F(L, T, context_id, I32, OPTIONAL, "contextId")         \
  F(L, T, stream_id, I32, OPTIONAL, "streamId")           \
  F(L, T, correlation_id, I64, OPTIONAL, "correlationId") \
  F(L, T, process, OWN, OPTIONAL, "globalPid", "globalTid")
/* What those have that graphs launch. */
#define ACTIVITY(F, L, T)                              \
  WORK(F, L, T)                                        \
  F(L, T, graph_id, OWN, OPTIONAL, "graphId")          \
  F(L, T, graph_node_id, OWN, OPTIONAL, "graphNodeId") \
  F(L, T, graph_exec_id, I32, EXTRA, "graphExecId")

/* A node's graph id is in its upper half where the export has no column for it; 0 means no graph. */
static int64_t graph_of(const struct nai_part *p, int graph_field, int64_t node) {
  int64_t graph = int_or(p, graph_field, (int64_t)((uint64_t)node >> 32));
  return graph ? graph : INT64_MAX;
}

/* --- kernels ---------------------------------------------------------------------------------- */

#define KERNEL_FIELDS(F, L, T)                                  \
  ACTIVITY(F, L, T)                                             \
  F(L, T, demangled_name, OWN, OPTIONAL, "demangledName")       \
  F(L, T, short_name, OWN, OPTIONAL, "shortName")               \
  F(L, T, mangled_name, OWN, OPTIONAL, "mangledName")           \
  F(L, T, text, OWN, OPTIONAL, "name")                          \
  /* in the order of kernel_configs */                          \
  F(L, T, config, OWN, OPTIONAL, "gridX")                       \
  F(L, T, grid_y, OWN, OPTIONAL, "gridY")                       \
  F(L, T, grid_z, OWN, OPTIONAL, "gridZ")                       \
  F(L, T, block_x, OWN, OPTIONAL, "blockX")                     \
  F(L, T, block_y, OWN, OPTIONAL, "blockY")                     \
  F(L, T, block_z, OWN, OPTIONAL, "blockZ")                     \
  F(L, T, registers, OWN, OPTIONAL, "registersPerThread")       \
  F(L, T, static_shared, OWN, OPTIONAL, "staticSharedMemory")   \
  F(L, T, dynamic_shared, OWN, OPTIONAL, "dynamicSharedMemory") \
  F(L, T, executed_shared, OWN, EXTRA, "sharedMemoryExecuted")  \
  F(L, T, local_memory, OWN, EXTRA, "localMemoryPerThread")     \
  F(L, T, cluster_x, OWN, EXTRA, "clusterX")                    \
  F(L, T, cluster_y, OWN, EXTRA, "clusterY")                    \
  F(L, T, cluster_z, OWN, EXTRA, "clusterZ")                    \
  F(L, T, max_active_clusters, OWN, EXTRA, "maxActiveClusters") \
  F(L, T, launch_type, OWN, EXTRA, "launchType")                \
  F(L, T, cache_config, OWN, EXTRA, "cacheConfig")              \
  F(L, T, green_context, OWN, EXTRA, "greenContextId")
NAI_FIELDS(kernel, KERNEL_FIELDS, KERNEL_EVENTS, put_times)
_Static_assert((int)kernel_green_context == (int)kernel_config + (int)KERNEL_CONFIGS_COLUMN_COUNT,
               "kernel_configs as it is read");

static uint32_t kernel_name(struct nai_part *p) {
  int64_t first_id = -1;
  for (int f = kernel_demangled_name; f <= kernel_mangled_name; f++) {
    int64_t id = int_or(p, f, 0); /* early exports write 0 for "no name" */
    if (!id)
      continue;
    uint32_t name = nai_name_by_id(p, id, NAI_NAME_PLAIN);
    p->doubtful_names += name != NAI_NO_STRING && f != kernel_demangled_name;
    if (name != NAI_NO_STRING || p->failed)
      return name;
    if (first_id < 0)
      first_id = id;
  }
  const struct nai_cell *text = field(p, kernel_text);
  p->doubtful_names++;
  if (text->type == NAI_CELL_TEXT)
    return nai_name_by_text(p, text->data, text->len, NAI_NAME_PLAIN);
  if (text->type == NAI_CELL_INT)
    return name_of(p, text, NAI_NAME_PLAIN);
  return nai_name_missing(p, first_id < 0 ? 0 : first_id);
}

static int kernel_row(struct nai_part *p) {
  int verdict = put_kernel(p);
  if (verdict != NAI_KEEP)
    return verdict;
  int64_t node = int_or(p, kernel_graph_node_id, 0);
  put_i32(p, KERNEL_EVENTS_graph_id, graph_of(p, kernel_graph_id, node));
  put_i64(p, KERNEL_EVENTS_graph_node_id, node ? node : NAI_NULL_I64);
  put_name(p, KERNEL_EVENTS_name, kernel_name(p));
  int64_t green = int_or(p, kernel_green_context, 0); /* 0 for none */
  put_i32(p, KERNEL_EVENTS_green_context, green > 0 ? green : INT64_MAX);
  struct nai_launch_config config;
  for (int i = 0; i < KERNEL_CONFIGS_COLUMN_COUNT; i++) {
    int64_t v = int_or(p, kernel_config + i, INT64_MAX);
    config.values[i] = v < -INT32_MAX || v > INT32_MAX ? NAI_NULL_I32 : (int32_t)v;
  }
  uint32_t id = nai_strings_add(&p->records, (const char *)&config, sizeof config);
  p->oom |= id == NAI_NO_STRING;
  put_i32(p, KERNEL_EVENTS_config, id);
  return NAI_KEEP;
}

const struct nai_source nai_source_kernels = {
    .table = NAI_IN_KERNELS,
    .vital = true,
    .capability = "kernels",
    .disables = "kernel statistics, GPU utilization, launch behavior",
    .records = NAI_IN_KERNEL_CONFIGS,
    .brings = NAI_IN(KERNEL_CONFIGS),
    .feeds = {NAI_FEED(kernel, kernel_row, 0, "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL")}};

/* --- copies and memsets -------------------------------------------------------------------------- */

#define COPY_FIELDS(F, L, T)                             \
  ACTIVITY(F, L, T)                                      \
  F(L, T, bytes, OWN, OPTIONAL, "bytes")                 \
  F(L, T, kind, KIND, EXTRA, NULL)                       \
  F(L, T, copy_kind, I32, OPTIONAL, "copyKind")          \
  F(L, T, src_kind, I32, OPTIONAL, "srcKind")            \
  F(L, T, dst_kind, I32, OPTIONAL, "dstKind")            \
  F(L, T, virtual_address, OWN, EXTRA, "virtualAddress") \
  F(L, T, migration_cause, OWN, EXTRA, "migrationCause") \
  F(L, T, src_cuda_device, I32, EXTRA, "srcDeviceId")    \
  F(L, T, dst_cuda_device, I32, EXTRA, "dstDeviceId")    \
  F(L, T, copy_count, I32, EXTRA, "copyCount")
NAI_FIELDS(copy, COPY_FIELDS, MEMOP_EVENTS, put_times)

#define SET_FIELDS(F, L, T)                     \
  ACTIVITY(F, L, T)                             \
  F(L, T, bytes, OWN, OPTIONAL, "bytes")        \
  F(L, T, kind, KIND, EXTRA, NULL)              \
  F(L, T, copy_kind, I32, OPTIONAL, "copyKind") \
  F(L, T, src_kind, I32, OPTIONAL, "srcKind")   \
  F(L, T, dst_kind, I32, OPTIONAL, "memKind")
NAI_FIELDS(set, SET_FIELDS, MEMOP_EVENTS, put_times)
_Static_assert((int)copy_bytes == (int)set_bytes, "put_memop reads both");

/* What both kinds have beside their fields. */
static void put_memop(struct nai_part *p, bool migration) {
  int64_t node = int_or(p, copy_graph_node_id, 0);
  put_i32(p, MEMOP_EVENTS_migration, migration);
  put_i32(p, MEMOP_EVENTS_graph_id, graph_of(p, copy_graph_id, node));
  put_i64(p, MEMOP_EVENTS_graph_node_id, node ? node : NAI_NULL_I64);
  int64_t bytes = int_or(p, copy_bytes, field(p, copy_bytes)->type == NAI_CELL_NULL ? 0 : -1);
  if (bytes < 0 || bytes > NAI_MAX_BYTES) {
    bytes = 0;
    p->bad_sizes++;
  }
  put_i64(p, MEMOP_EVENTS_bytes, bytes);
  nai_sum_add(&p->total_bytes, bytes);
}

static int copy_row(struct nai_part *p) {
  enum { FIRST_MIGRATION = 11, LAST_MIGRATION = 13 };
  int verdict = put_copy(p);
  if (verdict != NAI_KEEP)
    return verdict;
  int64_t kind = int_or(p, copy_copy_kind, 0), address = int_or(p, copy_virtual_address, NAI_NULL_I64);
  int64_t cause = int_or(p, copy_migration_cause, 0);
  bool migration = kind >= FIRST_MIGRATION && kind <= LAST_MIGRATION;
  put_memop(p, migration);
  /* Pages move without a call and on no stream; exports write 0. */
  if (migration && *nai_part_cell(p, MEMOP_EVENTS_stream_id) == 0)
    put_null(p, MEMOP_EVENTS_stream_id);
  if (migration && *nai_part_cell(p, MEMOP_EVENTS_correlation_id) == 0)
    put_null(p, MEMOP_EVENTS_correlation_id);
  put_i64(p, MEMOP_EVENTS_virtual_address, address || migration ? address : NAI_NULL_I64);
  put_i32(p, MEMOP_EVENTS_migration_cause, cause ? cause : INT64_MAX);
  return NAI_KEEP;
}

static int set_row(struct nai_part *p) {
  static const int only_of_copies[] = {MEMOP_EVENTS_virtual_address, MEMOP_EVENTS_migration_cause,
                                       MEMOP_EVENTS_src_cuda_device, MEMOP_EVENTS_dst_cuda_device,
                                       MEMOP_EVENTS_copy_count};
  int verdict = put_set(p);
  if (verdict != NAI_KEEP)
    return verdict;
  put_memop(p, false);
  for (size_t i = 0; i < sizeof only_of_copies / sizeof *only_of_copies; i++)
    put_null(p, only_of_copies[i]);
  return NAI_KEEP;
}

/* The decompression engine of newer GPUs: work that is no kernel's. */
#define DECOMPRESSION_FIELDS(F, L, T) \
  WORK(F, L, T)                       \
  F(L, T, bytes, OWN, OPTIONAL, "sourceBytes")
NAI_FIELDS(decompression, DECOMPRESSION_FIELDS, MEMOP_EVENTS, put_times)

static int decompression_row(struct nai_part *p) {
  static const int unknown[] = {MEMOP_EVENTS_src_kind,        MEMOP_EVENTS_dst_kind,
                                MEMOP_EVENTS_graph_id,        MEMOP_EVENTS_graph_exec_id,
                                MEMOP_EVENTS_graph_node_id,   MEMOP_EVENTS_virtual_address,
                                MEMOP_EVENTS_migration_cause, MEMOP_EVENTS_src_cuda_device,
                                MEMOP_EVENTS_dst_cuda_device, MEMOP_EVENTS_copy_count};
  int verdict = put_decompression(p);
  if (verdict != NAI_KEEP)
    return verdict;
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    put_null(p, unknown[i]);
  int64_t bytes = int_or(p, decompression_bytes, 0);
  bool bad = bytes < 0 || bytes > NAI_MAX_BYTES;
  p->bad_sizes += bad;
  put_i64(p, MEMOP_EVENTS_bytes, bad ? 0 : bytes);
  put_i32(p, MEMOP_EVENTS_kind, NAI_MEMOP_COPY);
  put_i32(p, MEMOP_EVENTS_copy_kind, NAI_COPY_DECOMPRESSION);
  put_i32(p, MEMOP_EVENTS_migration, 0);
  nai_sum_add(&p->total_bytes, bad ? 0 : bytes);
  return NAI_KEEP;
}

const struct nai_source nai_source_memops = {
    .table = NAI_IN_MEMOPS,
    .vital = true,
    .capability = "memory operations",
    .disables = "copies and fills of memory; their time counts as idle",
    .feeds = {NAI_FEED(copy, copy_row, NAI_MEMOP_COPY, "CUPTI_ACTIVITY_KIND_MEMCPY"),
              NAI_FEED(set, set_row, NAI_MEMOP_SET, "CUPTI_ACTIVITY_KIND_MEMSET"),
              NAI_QUIET_FEED(decompression, decompression_row, NAI_MEMOP_COPY, "CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS")}};

/* --- graphs ----------------------------------------------------------------------------------- */

NAI_FIELDS(graph, ACTIVITY, GRAPH_EVENTS, put_times)

static int graph_row(struct nai_part *p) {
  int64_t node = int_or(p, graph_graph_node_id, 0);
  put_i32(p, GRAPH_EVENTS_graph_id, graph_of(p, graph_graph_id, node));
  return put_graph(p);
}

const struct nai_source nai_source_graphs = {.table = NAI_IN_GRAPHS,
                                             .vital = true,
                                             .capability = "graph launches",
                                             .disables = "CUDA graphs traced as one envelope",
                                             .feeds = {
                                                 NAI_FEED(graph, graph_row, 0, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE")}};

/* --- synchronisation -------------------------------------------------------------------------- */

/* Their deviceId is always 0, so the process is all that a record tells. */
#define SYNC_FIELDS(F, L, T)                                    \
  TIMES(F, L, T)                                                \
  F(L, T, context_id, I32, OPTIONAL, "contextId")               \
  F(L, T, stream_id, I32, OPTIONAL, "streamId")                 \
  F(L, T, correlation_id, I64, OPTIONAL, "correlationId")       \
  F(L, T, process, PROCESS, OPTIONAL, "globalPid", "globalTid") \
  F(L, T, sync_type, I32, OPTIONAL, "syncType")                 \
  F(L, T, event_id, I32, EXTRA, "eventId")                      \
  F(L, T, event_sync_id, I64, EXTRA, "eventSyncId")
NAI_FIELDS(sync, SYNC_FIELDS, SYNC_EVENTS, put_times)

const struct nai_source nai_source_syncs = {.table = NAI_IN_SYNCS,
                                            .capability = "synchronization records",
                                            .disables = "which stream a call waits for",
                                            .feeds = {
                                                NAI_FEED(sync, put_sync, 0, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION")}};

/* --- CUDA events ------------------------------------------------------------------------------ */

#define CUDA_EVENT_FIELDS(F, L, T)                          \
  F(L, T, time, OWN, OPTIONAL, "timestamp", "start")        \
  F(L, T, device_id, DEVICE, OPTIONAL, "deviceId")          \
  F(L, T, context_id, I32, OPTIONAL, "contextId")           \
  F(L, T, stream_id, I32, OPTIONAL, "streamId")             \
  F(L, T, correlation_id, I64, OPTIONAL, "correlationId")   \
  F(L, T, process, OWN, OPTIONAL, "globalPid", "globalTid") \
  F(L, T, event_id, I32, REQUIRED, "eventId")               \
  F(L, T, event_sync_id, I64, OPTIONAL, "eventSyncId")

/* Only newer exports have times, and write 0 for what CUPTI did not measure. */
static int put_time_if_any(struct nai_part *p) {
  if (int_or(p, START, 0))
    return put_time(p);
  put_null(p, CUDA_EVENT_EVENTS_time_ns);
  return NAI_KEEP;
}
NAI_FIELDS(cuda_event, CUDA_EVENT_FIELDS, CUDA_EVENT_EVENTS, put_time_if_any)

const struct nai_source nai_source_cuda_events = {
    .table = NAI_IN_CUDA_EVENTS,
    .capability = "CUDA event records",
    .disables = "which work a stream waited for",
    .witness = true,
    .feeds = {NAI_FEED(cuda_event, put_cuda_event, 0, "CUPTI_ACTIVITY_KIND_CUDA_EVENT")}};

/* --- sampled metrics -------------------------------------------------------------------------- */

#define GPU_METRIC_FIELDS(F, L, T)               \
  F(L, T, timestamp, OWN, REQUIRED, "timestamp") \
  F(L, T, type, OWN, ABOUT, "typeId")            \
  F(L, T, metric, OWN, ABOUT, "metricId")        \
  F(L, T, value, I64, ABOUT, "value")
NAI_FIELDS(gpu_metric, GPU_METRIC_FIELDS, GPU_METRIC_SAMPLES, put_time)

static int gpu_metric_row(struct nai_part *p) {
  int verdict = put_gpu_metric(p);
  if (verdict != NAI_KEEP)
    return verdict;
  uint32_t record = record_of(p, int_or(p, gpu_metric_type, 0), int_or(p, gpu_metric_metric, 0));
  put_i64(p, GPU_METRIC_SAMPLES_metric, record);
  return NAI_KEEP;
}

const struct nai_source nai_source_gpu_metric_samples = {
    .table = NAI_IN_GPU_METRIC_SAMPLES,
    .capability = "GPU metric samples",
    .disables = "how busy SMs, tensor cores, memory and links were",
    .records = NAI_IN_GPU_METRICS,
    .brings = NAI_IN(GPU_METRICS),
    .witness = true,
    .feeds = {NAI_FEED(gpu_metric, gpu_metric_row, 0, "GPU_METRICS")}};

/* --- sampled metrics of network cards ---------------------------------------------------------- */

#define NIC_FIELDS(F, L, T)                          \
  TIMES(F, L, T)                                     \
  F(L, T, global_id, I64, REQUIRED, "globalId")      \
  F(L, T, port, I32, OPTIONAL, "portId")             \
  F(L, T, list_id, I64, REQUIRED, "metricsListId")   \
  F(L, T, metric_index, I64, REQUIRED, "metricsIdx") \
  F(L, T, value, I64, ABOUT, "value")
NAI_FIELDS(nic, NIC_FIELDS, NIC_METRIC_SAMPLES, put_times)

const struct nai_source nai_source_nic_samples = {.table = NAI_IN_NIC_SAMPLES,
                                                  .capability = "NIC metric samples",
                                                  .disables = "how much network cards sent and received",
                                                  .brings = NAI_IN(NIC_METRICS) | NAI_IN(NIC_IDS) | NAI_IN(NICS),
                                                  .witness = true,
                                                  .feeds = {NAI_FEED(nic, put_nic, 0, "NET_NIC_METRIC")}};

/* --- context switches ------------------------------------------------------------------------- */

#define SWITCH_FIELDS(F, L, T)                 \
  F(L, T, start, OWN, REQUIRED, "timestamp")   \
  F(L, T, gpu_id, I32, ABOUT, "gpuId")         \
  F(L, T, tag, I32, ABOUT, "tag")              \
  F(L, T, seq, I64, OPTIONAL, "seqNo")         \
  F(L, T, context, I64, OPTIONAL, "contextId") \
  F(L, T, host_pid, OWN, OPTIONAL, "globalPid")
NAI_FIELDS(gpu_switch, SWITCH_FIELDS, GPU_SWITCH_EVENTS, put_time)

static int gpu_switch_row(struct nai_part *p) {
  enum { INVALID_TIME = 10 };
  if (int_or(p, gpu_switch_tag, 0) == INVALID_TIME)
    return NAI_DROP_NO_TIME;
  put_i64(p, GPU_SWITCH_EVENTS_host_pid, int_or(p, gpu_switch_host_pid, 0) >> 24 & 0xffffff);
  return put_gpu_switch(p);
}

const struct nai_source nai_source_gpu_switches = {
    .table = NAI_IN_GPU_SWITCHES,
    .capability = "GPU context switches",
    .disables = "kernel time in which another process had the GPU",
    .witness = true,
    .feeds = {NAI_QUIET_FEED(gpu_switch, gpu_switch_row, 0, "GPU_CONTEXT_SWITCH_EVENTS")}};

/* --- host functions in streams ----------------------------------------------------------------- */

/* As the stream holds them and as the host calls them: the one has no name, the other no stream. */
#define HOST_FUNCTION_FIELDS(F, L, T)                       \
  TIMES(F, L, T)                                            \
  F(L, T, name, TEXT, EXTRA, "nameId")                      \
  F(L, T, side, KIND, EXTRA, NULL)                          \
  F(L, T, device_id, DEVICE, EXTRA, "deviceId")             \
  F(L, T, context_id, I32, EXTRA, "contextId")              \
  F(L, T, stream_id, I32, EXTRA, "streamId")                \
  F(L, T, correlation_id, I64, OPTIONAL, "correlationId")   \
  F(L, T, process, OWN, OPTIONAL, "globalPid", "globalTid") \
  F(L, T, graph_id, I32, EXTRA, "graphId")
NAI_FIELDS(host_function, HOST_FUNCTION_FIELDS, HOST_FUNCTION_EVENTS, put_times)

const struct nai_source nai_source_host_functions = {
    .table = NAI_IN_HOST_FUNCTIONS,
    .capability = "host functions in streams",
    .disables = "idle time while a stream runs a host function",
    .witness = true,
    .feeds = {NAI_QUIET_FEED(host_function, put_host_function, NAI_HOST_IN_STREAM,
                             "CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE_AND_HOST_LAUNCH"),
              NAI_QUIET_FEED(host_function, put_host_function, NAI_HOST_CALLBACK, "CUDA_HOST_CALLBACK")}};
