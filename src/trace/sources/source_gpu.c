/* Sources of work on GPUs: kernels, copies and sets, graphs, synchronisations, CUDA events, sampled metrics. */
#include "trace/sources/source_cells.h"
#include "tables/cuda_event_events.h"
#include "tables/gpu_metric_samples.h"
#include "tables/graph_events.h"
#include "tables/kernel_configs.h"
#include "tables/kernel_events.h"
#include "tables/memop_events.h"
#include "tables/nic_metric_samples.h"
#include "tables/sync_events.h"

/* What every activity on a GPU has; the process falls back from globalPid to globalTid. */
#define ACTIVITY                                                                           \
  TIMES, FIELD("deviceId"), FIELD("contextId"), FIELD("streamId"), FIELD("correlationId"), \
      FIELD2("globalPid", "globalTid"), FIELD("graphId"), FIELD("graphNodeId"), EXTRA("graphExecId")
enum { A_DEVICE = 2, A_CONTEXT, A_STREAM, A_CORRELATION, A_PROCESS, A_GRAPH, A_GRAPH_NODE, A_GRAPH_EXEC, A_NEXT };

struct activity_columns {
  int device, context, stream, correlation, graph, graph_node, graph_exec; /* graph_node -1: none */
};

static int put_activity(struct nai_part *p, int64_t at, const struct nai_cell *cells,
                        const struct activity_columns *to) {
  int verdict = put_times(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_device(p, to->device, at, int_or(p, cells, A_PROCESS, 0), int_or(p, cells, A_DEVICE, -1));
  put_field_i32(p, to->context, at, cells, A_CONTEXT);
  put_field_i32(p, to->stream, at, cells, A_STREAM);
  put_field_i64(p, to->correlation, at, cells, A_CORRELATION);
  /* A node's graph id is in its upper half where the export has no column for it; 0 means no graph. */
  int64_t node = int_or(p, cells, A_GRAPH_NODE, 0);
  int64_t graph = int_or(p, cells, A_GRAPH, (int64_t)((uint64_t)node >> 32));
  put_i32(p, to->graph, at, graph ? graph : INT64_MAX);
  put_field_i32(p, to->graph_exec, at, cells, A_GRAPH_EXEC);
  if (to->graph_node >= 0)
    *nai_part_cell(p, to->graph_node, at) = node ? node : NAI_NULL_I64;
  return NAI_KEEP;
}

/* --- kernels ---------------------------------------------------------------------------------- */

enum { K_DEMANGLED = A_NEXT, K_SHORT, K_MANGLED, K_TEXT, K_CONFIG };
static const struct nai_field kernel_fields[] = {
    ACTIVITY, FIELD("demangledName"), FIELD("shortName"), FIELD("mangledName"), FIELD("name"),
    /* in the order of kernel_configs */
    FIELD("gridX"), FIELD("gridY"), FIELD("gridZ"), FIELD("blockX"), FIELD("blockY"), FIELD("blockZ"),
    FIELD("registersPerThread"), FIELD("staticSharedMemory"), FIELD("dynamicSharedMemory"),
    EXTRA("sharedMemoryExecuted"), EXTRA("localMemoryPerThread"), EXTRA("clusterX"), EXTRA("clusterY"),
    EXTRA("clusterZ"), EXTRA("maxActiveClusters"), EXTRA("launchType"), EXTRA("cacheConfig")};
_Static_assert(sizeof kernel_fields / sizeof *kernel_fields == K_CONFIG + KERNEL_CONFIGS_COLUMN_COUNT,
               "kernel_configs as it is read");

static uint32_t kernel_name(struct nai_part *p, const struct nai_cell *cells, int *rc, struct nai_err *err) {
  int64_t first_id = -1;
  for (int f = K_DEMANGLED; f <= K_MANGLED; f++) {
    int64_t id = int_or(p, cells, f, 0); /* early exports write 0 for "no name" */
    if (!id)
      continue;
    uint32_t name = nai_name_by_id(p, id, NAI_NAME_PLAIN, rc, err);
    if (name != NAI_NO_STRING || *rc)
      return name;
    if (first_id < 0)
      first_id = id;
  }
  const struct nai_cell *text = field(p, cells, K_TEXT);
  if (text->type == NAI_CELL_TEXT)
    return nai_name_by_text(p, text->data, text->len, NAI_NAME_PLAIN);
  if (text->type == NAI_CELL_INT)
    return name_field(p, cells, K_TEXT, NAI_NAME_PLAIN, rc, err);
  return nai_name_missing(p, first_id < 0 ? 0 : first_id);
}

static int kernel_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                      struct nai_err *err) {
  (void)rowid;
  static const struct activity_columns to = {KERNEL_EVENTS_device_id,    KERNEL_EVENTS_context_id,
                                             KERNEL_EVENTS_stream_id,    KERNEL_EVENTS_correlation_id,
                                             KERNEL_EVENTS_graph_id,     KERNEL_EVENTS_graph_node_id,
                                             KERNEL_EVENTS_graph_exec_id};
  int verdict = put_activity(p, at, cells, &to);
  if (verdict != NAI_KEEP)
    return verdict;
  put_name(p, KERNEL_EVENTS_name, at, kernel_name(p, cells, rc, err));
  struct nai_launch_config config;
  for (int i = 0; i < KERNEL_CONFIGS_COLUMN_COUNT; i++) {
    int64_t v = int_or(p, cells, K_CONFIG + i, INT64_MAX);
    config.values[i] = v < -INT32_MAX || v > INT32_MAX ? NAI_NULL_I32 : (int32_t)v;
  }
  uint32_t id = nai_strings_add(&p->records, (const char *)&config, sizeof config);
  p->oom |= id == NAI_NO_STRING;
  put_i32(p, KERNEL_EVENTS_config, at, id);
  return NAI_KEEP;
}

const struct nai_source nai_source_kernels = {
    .table = NAI_IN_KERNELS,
    .vital = true,
    .capability = "kernels",
    .disables = "kernel statistics, GPU utilisation, launch behaviour",
    .dictionary = {[KERNEL_EVENTS_name] = NAI_NAMES,
                   [KERNEL_EVENTS_device_id] = NAI_DEVICES,
                   [KERNEL_EVENTS_process] = NAI_PROCESSES,
                   [KERNEL_EVENTS_config] = NAI_RECORDS},
    .records = NAI_IN_KERNEL_CONFIGS,
    .brings = NAI_IN_BIT(NAI_IN_KERNEL_CONFIGS),
    .feeds = {FEED(kernel_fields, kernel_row, "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL")},
    .feed_count = 1};

/* --- copies and sets -------------------------------------------------------------------------- */

enum {
  M_BYTES = A_NEXT,
  M_COPY_KIND,
  M_SRC_KIND,
  M_DST_KIND,
  M_ADDRESS,
  M_CAUSE,
  M_SRC_DEVICE,
  M_DST_DEVICE,
  M_COPIES
};
static const struct nai_field copy_fields[] = {ACTIVITY,
                                               FIELD("bytes"),
                                               FIELD("copyKind"),
                                               FIELD("srcKind"),
                                               FIELD("dstKind"),
                                               EXTRA("virtualAddress"),
                                               EXTRA("migrationCause"),
                                               EXTRA("srcDeviceId"),
                                               EXTRA("dstDeviceId"),
                                               EXTRA("copyCount")};
static const struct nai_field set_fields[] = {ACTIVITY, FIELD("bytes"), FIELD("copyKind"), FIELD("srcKind"),
                                              FIELD("memKind")};

/* What both kinds have. */
static int memop_row(struct nai_part *p, int64_t at, const struct nai_cell *cells, int kind) {
  static const struct activity_columns to = {MEMOP_EVENTS_device_id,    MEMOP_EVENTS_context_id,
                                             MEMOP_EVENTS_stream_id,    MEMOP_EVENTS_correlation_id,
                                             MEMOP_EVENTS_graph_id,     MEMOP_EVENTS_graph_node_id,
                                             MEMOP_EVENTS_graph_exec_id};
  int verdict = put_activity(p, at, cells, &to);
  if (verdict != NAI_KEEP)
    return verdict;
  put_i32(p, MEMOP_EVENTS_kind, at, kind);
  int64_t bytes = int_or(p, cells, M_BYTES, field(p, cells, M_BYTES)->type == NAI_CELL_NULL ? 0 : -1);
  if (bytes < 0 || bytes > NAI_MAX_BYTES) {
    bytes = 0;
    p->bad_sizes++;
  }
  *nai_part_cell(p, MEMOP_EVENTS_bytes, at) = bytes;
  nai_sum_add(&p->total_bytes, bytes);
  put_field_i32(p, MEMOP_EVENTS_copy_kind, at, cells, M_COPY_KIND);
  put_field_i32(p, MEMOP_EVENTS_src_kind, at, cells, M_SRC_KIND);
  put_field_i32(p, MEMOP_EVENTS_dst_kind, at, cells, M_DST_KIND);
  return NAI_KEEP;
}

static int copy_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                    struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  enum { FIRST_MIGRATION = 11, LAST_MIGRATION = 13 };
  int verdict = memop_row(p, at, cells, NAI_MEMOP_COPY);
  if (verdict != NAI_KEEP)
    return verdict;
  int64_t kind = int_or(p, cells, M_COPY_KIND, 0), address = int_or(p, cells, M_ADDRESS, 0);
  bool migration = kind >= FIRST_MIGRATION && kind <= LAST_MIGRATION;
  put_i32(p, MEMOP_EVENTS_migration, at, migration);
  /* Pages move without a call and on no stream; exports write 0. */
  if (migration && *nai_part_cell(p, MEMOP_EVENTS_stream_id, at) == 0)
    put_null(p, MEMOP_EVENTS_stream_id, at);
  if (migration && *nai_part_cell(p, MEMOP_EVENTS_correlation_id, at) == 0)
    put_null(p, MEMOP_EVENTS_correlation_id, at);
  *nai_part_cell(p, MEMOP_EVENTS_virtual_address, at) = address ? address : NAI_NULL_I64;
  int64_t cause = int_or(p, cells, M_CAUSE, 0);
  put_i32(p, MEMOP_EVENTS_migration_cause, at, cause ? cause : INT64_MAX);
  put_field_i32(p, MEMOP_EVENTS_src_cuda_device, at, cells, M_SRC_DEVICE);
  put_field_i32(p, MEMOP_EVENTS_dst_cuda_device, at, cells, M_DST_DEVICE);
  put_field_i32(p, MEMOP_EVENTS_copy_count, at, cells, M_COPIES);
  return NAI_KEEP;
}

static int set_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                   struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  int verdict = memop_row(p, at, cells, NAI_MEMOP_SET);
  if (verdict != NAI_KEEP)
    return verdict;
  put_i32(p, MEMOP_EVENTS_migration, at, 0);
  static const int only_of_copies[] = {MEMOP_EVENTS_virtual_address, MEMOP_EVENTS_migration_cause,
                                       MEMOP_EVENTS_src_cuda_device, MEMOP_EVENTS_dst_cuda_device,
                                       MEMOP_EVENTS_copy_count};
  for (size_t i = 0; i < sizeof only_of_copies / sizeof *only_of_copies; i++)
    put_null(p, only_of_copies[i], at);
  return NAI_KEEP;
}

const struct nai_source nai_source_memops = {
    .table = NAI_IN_MEMOPS,
    .vital = true,
    .capability = "memory operations",
    .disables = "copies and fills of memory; their time counts as idle",
    .dictionary = {[MEMOP_EVENTS_device_id] = NAI_DEVICES, [MEMOP_EVENTS_process] = NAI_PROCESSES},
    .feeds = {FEED(copy_fields, copy_row, "CUPTI_ACTIVITY_KIND_MEMCPY"),
              FEED(set_fields, set_row, "CUPTI_ACTIVITY_KIND_MEMSET")},
    .feed_count = 2};

/* --- graphs ----------------------------------------------------------------------------------- */

static const struct nai_field graph_fields[] = {ACTIVITY};

static int graph_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                     struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  static const struct activity_columns to = {GRAPH_EVENTS_device_id,    GRAPH_EVENTS_context_id,
                                             GRAPH_EVENTS_stream_id,    GRAPH_EVENTS_correlation_id,
                                             GRAPH_EVENTS_graph_id,     -1,
                                             GRAPH_EVENTS_graph_exec_id};
  return put_activity(p, at, cells, &to);
}

const struct nai_source nai_source_graphs = {
    .table = NAI_IN_GRAPHS,
    .vital = true,
    .capability = "graph launches",
    .disables = "CUDA graphs traced as one envelope",
    .dictionary = {[GRAPH_EVENTS_device_id] = NAI_DEVICES, [GRAPH_EVENTS_process] = NAI_PROCESSES},
    .feeds = {FEED(graph_fields, graph_row, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE")},
    .feed_count = 1};

/* --- synchronisation -------------------------------------------------------------------------- */

enum { S_CONTEXT = 2, S_STREAM, S_CORRELATION, S_PROCESS, S_TYPE, S_EVENT, S_EVENT_SYNC };
static const struct nai_field sync_fields[] = {TIMES,
                                               FIELD("contextId"),
                                               FIELD("streamId"),
                                               FIELD("correlationId"),
                                               FIELD2("globalPid", "globalTid"),
                                               FIELD("syncType"),
                                               EXTRA("eventId"),
                                               EXTRA("eventSyncId")};

static int sync_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                    struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  int verdict = put_times(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  /* Its deviceId is always 0, so the process is all a record tells. */
  put_process(p, SYNC_EVENTS_process, at, int_or(p, cells, S_PROCESS, 0));
  put_field_i32(p, SYNC_EVENTS_context_id, at, cells, S_CONTEXT);
  put_field_i32(p, SYNC_EVENTS_stream_id, at, cells, S_STREAM);
  put_field_i64(p, SYNC_EVENTS_correlation_id, at, cells, S_CORRELATION);
  put_field_i32(p, SYNC_EVENTS_sync_type, at, cells, S_TYPE);
  put_field_i32(p, SYNC_EVENTS_event_id, at, cells, S_EVENT);
  put_field_i64(p, SYNC_EVENTS_event_sync_id, at, cells, S_EVENT_SYNC);
  return NAI_KEEP;
}

const struct nai_source nai_source_syncs = {
    .table = NAI_IN_SYNCS,
    .capability = "synchronisation records",
    .disables = "nothing while API calls are present",
    .dictionary = {[SYNC_EVENTS_process] = NAI_PROCESSES},
    .feeds = {FEED(sync_fields, sync_row, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION")},
    .feed_count = 1};

/* --- CUDA events ------------------------------------------------------------------------------ */

enum { E_DEVICE = 1, E_CONTEXT, E_STREAM, E_CORRELATION, E_PROCESS, E_EVENT, E_EVENT_SYNC };
static const struct nai_field cuda_event_fields[] = {
    FIELD2("timestamp", "start"),     FIELD("deviceId"), FIELD("contextId"),  FIELD("streamId"), FIELD("correlationId"),
    FIELD2("globalPid", "globalTid"), NEEDED("eventId"), FIELD("eventSyncId")};

static int cuda_event_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                          struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  /* Only newer exports have times, and write 0 for what CUPTI did not measure. */
  int verdict = int_or(p, cells, START, 0) ? put_time(p, at, cells) : NAI_KEEP;
  if (verdict != NAI_KEEP)
    return verdict;
  if (!int_or(p, cells, START, 0))
    put_null(p, CUDA_EVENT_EVENTS_time_ns, at);
  put_device(p, CUDA_EVENT_EVENTS_device_id, at, int_or(p, cells, E_PROCESS, 0), int_or(p, cells, E_DEVICE, -1));
  put_field_i32(p, CUDA_EVENT_EVENTS_context_id, at, cells, E_CONTEXT);
  put_field_i32(p, CUDA_EVENT_EVENTS_stream_id, at, cells, E_STREAM);
  put_field_i64(p, CUDA_EVENT_EVENTS_correlation_id, at, cells, E_CORRELATION);
  put_field_i32(p, CUDA_EVENT_EVENTS_event_id, at, cells, E_EVENT);
  put_field_i64(p, CUDA_EVENT_EVENTS_event_sync_id, at, cells, E_EVENT_SYNC);
  return NAI_KEEP;
}

const struct nai_source nai_source_cuda_events = {
    .table = NAI_IN_CUDA_EVENTS,
    .capability = "CUDA event records",
    .disables = "which work a stream waited for",
    .dictionary = {[CUDA_EVENT_EVENTS_device_id] = NAI_DEVICES, [CUDA_EVENT_EVENTS_process] = NAI_PROCESSES},
    .witness = true,
    .feeds = {FEED(cuda_event_fields, cuda_event_row, "CUPTI_ACTIVITY_KIND_CUDA_EVENT")},
    .feed_count = 1};

/* --- sampled metrics -------------------------------------------------------------------------- */

enum { X_TYPE = 1, X_METRIC, X_VALUE };
static const struct nai_field sample_fields[] = {NEEDED("timestamp"), NEEDED("typeId"), NEEDED("metricId"),
                                                 NEEDED("value")};

static int sample_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                      struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  for (int f = X_TYPE; f <= X_VALUE; f++)
    if (field(p, cells, f)->type != NAI_CELL_INT)
      return NAI_DROP_VALUE;
  int verdict = put_time(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  *nai_part_cell(p, GPU_METRIC_SAMPLES_metric, at) =
      record_of(p, int_or(p, cells, X_TYPE, 0), int_or(p, cells, X_METRIC, 0));
  put_field_i64(p, GPU_METRIC_SAMPLES_value, at, cells, X_VALUE);
  return NAI_KEEP;
}

const struct nai_source nai_source_gpu_metric_samples = {.table = NAI_IN_GPU_METRIC_SAMPLES,
                                                         .capability = "GPU metric samples",
                                                         .disables =
                                                             "how busy SMs, tensor cores, memory and links were",
                                                         .dictionary = {[GPU_METRIC_SAMPLES_metric] = NAI_RECORDS},
                                                         .records = NAI_IN_GPU_METRICS,
                                                         .brings = NAI_IN_BIT(NAI_IN_GPU_METRICS),
                                                         .witness = true,
                                                         .feeds = {FEED(sample_fields, sample_row, "GPU_METRICS")},
                                                         .feed_count = 1};

/* --- sampled metrics of network cards ---------------------------------------------------------- */

enum { N_NIC = 2, N_PORT, N_LIST, N_INDEX, N_VALUE };
static const struct nai_field nic_fields[] = {
    TIMES, NEEDED("globalId"), FIELD("portId"), NEEDED("metricsListId"), NEEDED("metricsIdx"), NEEDED("value")};

static int nic_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                   struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  if (field(p, cells, N_VALUE)->type != NAI_CELL_INT)
    return NAI_DROP_VALUE;
  int verdict = put_times(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_field_i64(p, NIC_METRIC_SAMPLES_global_id, at, cells, N_NIC);
  put_field_i32(p, NIC_METRIC_SAMPLES_port, at, cells, N_PORT);
  put_field_i64(p, NIC_METRIC_SAMPLES_list_id, at, cells, N_LIST);
  put_field_i64(p, NIC_METRIC_SAMPLES_metric_index, at, cells, N_INDEX);
  put_field_i64(p, NIC_METRIC_SAMPLES_value, at, cells, N_VALUE);
  return NAI_KEEP;
}

const struct nai_source nai_source_nic_samples = {.table = NAI_IN_NIC_SAMPLES,
                                                  .capability = "NIC metric samples",
                                                  .disables = "how much network cards sent and received",
                                                  .brings = NAI_IN_BIT(NAI_IN_NIC_METRICS) |
                                                            NAI_IN_BIT(NAI_IN_NIC_IDS) | NAI_IN_BIT(NAI_IN_NICS),
                                                  .witness = true,
                                                  .feeds = {FEED(nic_fields, nic_row, "NET_NIC_METRIC")},
                                                  .feed_count = 1};
