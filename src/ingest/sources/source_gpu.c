/* Sources of work on GPUs: kernels, copies and sets, graphs, synchronisations, CUDA events, sampled metrics. */
#include "ingest/sources/source_cells.h"

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
_Static_assert(sizeof kernel_fields / sizeof *kernel_fields == K_CONFIG + KC_COLUMNS, "kernel_configs as it is read");

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
  static const struct activity_columns to = {KE_DEVICE, KE_CONTEXT,    KE_STREAM,    KE_CORRELATION,
                                             KE_GRAPH,  KE_GRAPH_NODE, KE_GRAPH_EXEC};
  int verdict = put_activity(p, at, cells, &to);
  if (verdict != NAI_KEEP)
    return verdict;
  put_name(p, KE_NAME, at, kernel_name(p, cells, rc, err));
  struct nai_launch_config config;
  for (int i = 0; i < KC_COLUMNS; i++) {
    int64_t v = int_or(p, cells, K_CONFIG + i, INT64_MAX);
    config.values[i] = v < -INT32_MAX || v > INT32_MAX ? NAI_NULL_I32 : (int32_t)v;
  }
  uint32_t id = nai_strings_add(&p->records, (const char *)&config, sizeof config);
  p->oom |= id == NAI_NO_STRING;
  put_i32(p, KE_CONFIG, at, id);
  return NAI_KEEP;
}

const struct nai_source nai_source_kernels = {
    .table = NAI_IN_KERNELS,
    .vital = true,
    .capability = "kernels",
    .disables = "kernel statistics, GPU utilisation, launch behaviour",
    .dictionary =
        {[KE_NAME] = NAI_NAMES, [KE_DEVICE] = NAI_DEVICES, [KE_PROCESS] = NAI_PROCESSES, [KE_CONFIG] = NAI_RECORDS},
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
  static const struct activity_columns to = {MO_DEVICE, MO_CONTEXT,    MO_STREAM,    MO_CORRELATION,
                                             MO_GRAPH,  MO_GRAPH_NODE, MO_GRAPH_EXEC};
  int verdict = put_activity(p, at, cells, &to);
  if (verdict != NAI_KEEP)
    return verdict;
  put_i32(p, MO_KIND, at, kind);
  int64_t bytes = int_or(p, cells, M_BYTES, field(p, cells, M_BYTES)->type == NAI_CELL_NULL ? 0 : -1);
  if (bytes < 0 || bytes > NAI_MAX_BYTES) {
    bytes = 0;
    p->bad_sizes++;
  }
  *nai_part_cell(p, MO_BYTES, at) = bytes;
  nai_sum_add(&p->total_bytes, bytes);
  put_field_i32(p, MO_COPY_KIND, at, cells, M_COPY_KIND);
  put_field_i32(p, MO_SRC_KIND, at, cells, M_SRC_KIND);
  put_field_i32(p, MO_DST_KIND, at, cells, M_DST_KIND);
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
  put_i32(p, MO_MIGRATION, at, migration);
  /* Pages move without a call and on no stream; exports write 0. */
  if (migration && *nai_part_cell(p, MO_STREAM, at) == 0)
    put_null(p, MO_STREAM, at);
  if (migration && *nai_part_cell(p, MO_CORRELATION, at) == 0)
    put_null(p, MO_CORRELATION, at);
  *nai_part_cell(p, MO_ADDRESS, at) = address ? address : NAI_NULL_I64;
  int64_t cause = int_or(p, cells, M_CAUSE, 0);
  put_i32(p, MO_CAUSE, at, cause ? cause : INT64_MAX);
  put_field_i32(p, MO_SRC_DEVICE, at, cells, M_SRC_DEVICE);
  put_field_i32(p, MO_DST_DEVICE, at, cells, M_DST_DEVICE);
  put_field_i32(p, MO_COPIES, at, cells, M_COPIES);
  return NAI_KEEP;
}

static int set_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                   struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  int verdict = memop_row(p, at, cells, NAI_MEMOP_SET);
  if (verdict != NAI_KEEP)
    return verdict;
  put_i32(p, MO_MIGRATION, at, 0);
  static const int only_of_copies[] = {MO_ADDRESS, MO_CAUSE, MO_SRC_DEVICE, MO_DST_DEVICE, MO_COPIES};
  for (size_t i = 0; i < sizeof only_of_copies / sizeof *only_of_copies; i++)
    put_null(p, only_of_copies[i], at);
  return NAI_KEEP;
}

const struct nai_source nai_source_memops = {.table = NAI_IN_MEMOPS,
                                             .vital = true,
                                             .capability = "memory operations",
                                             .disables = "copies and fills of memory; their time counts as idle",
                                             .dictionary = {[MO_DEVICE] = NAI_DEVICES, [MO_PROCESS] = NAI_PROCESSES},
                                             .feeds = {FEED(copy_fields, copy_row, "CUPTI_ACTIVITY_KIND_MEMCPY"),
                                                       FEED(set_fields, set_row, "CUPTI_ACTIVITY_KIND_MEMSET")},
                                             .feed_count = 2};

/* --- graphs ----------------------------------------------------------------------------------- */

static const struct nai_field graph_fields[] = {ACTIVITY};

static int graph_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                     struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  static const struct activity_columns to = {GE_DEVICE, GE_CONTEXT, GE_STREAM, GE_CORRELATION, GE_GRAPH, -1, GE_EXEC};
  return put_activity(p, at, cells, &to);
}

const struct nai_source nai_source_graphs = {
    .table = NAI_IN_GRAPHS,
    .vital = true,
    .capability = "graph launches",
    .disables = "CUDA graphs traced as one envelope",
    .dictionary = {[GE_DEVICE] = NAI_DEVICES, [GE_PROCESS] = NAI_PROCESSES},
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
  put_process(p, SE_PROCESS, at, int_or(p, cells, S_PROCESS, 0));
  put_field_i32(p, SE_CONTEXT, at, cells, S_CONTEXT);
  put_field_i32(p, SE_STREAM, at, cells, S_STREAM);
  put_field_i64(p, SE_CORRELATION, at, cells, S_CORRELATION);
  put_field_i32(p, SE_TYPE, at, cells, S_TYPE);
  put_field_i32(p, SE_EVENT, at, cells, S_EVENT);
  put_field_i64(p, SE_EVENT_SYNC, at, cells, S_EVENT_SYNC);
  return NAI_KEEP;
}

const struct nai_source nai_source_syncs = {
    .table = NAI_IN_SYNCS,
    .capability = "synchronisation records",
    .disables = "nothing while API calls are present",
    .dictionary = {[SE_PROCESS] = NAI_PROCESSES},
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
    put_null(p, CE_TIME, at);
  put_device(p, CE_DEVICE, at, int_or(p, cells, E_PROCESS, 0), int_or(p, cells, E_DEVICE, -1));
  put_field_i32(p, CE_CONTEXT, at, cells, E_CONTEXT);
  put_field_i32(p, CE_STREAM, at, cells, E_STREAM);
  put_field_i64(p, CE_CORRELATION, at, cells, E_CORRELATION);
  put_field_i32(p, CE_EVENT, at, cells, E_EVENT);
  put_field_i64(p, CE_SYNC, at, cells, E_EVENT_SYNC);
  return NAI_KEEP;
}

const struct nai_source nai_source_cuda_events = {
    .table = NAI_IN_CUDA_EVENTS,
    .capability = "CUDA event records",
    .disables = "which work a stream waited for",
    .dictionary = {[CE_DEVICE] = NAI_DEVICES, [CE_PROCESS] = NAI_PROCESSES},
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
  *nai_part_cell(p, GS_METRIC, at) = record_of(p, int_or(p, cells, X_TYPE, 0), int_or(p, cells, X_METRIC, 0));
  put_field_i64(p, GS_VALUE, at, cells, X_VALUE);
  return NAI_KEEP;
}

const struct nai_source nai_source_gpu_metric_samples = {.table = NAI_IN_GPU_METRIC_SAMPLES,
                                                         .capability = "GPU metric samples",
                                                         .disables =
                                                             "how busy SMs, tensor cores, memory and links were",
                                                         .dictionary = {[GS_METRIC] = NAI_RECORDS},
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
  put_field_i64(p, NX_NIC, at, cells, N_NIC);
  put_field_i32(p, NX_PORT, at, cells, N_PORT);
  put_field_i64(p, NX_LIST, at, cells, N_LIST);
  put_field_i64(p, NX_INDEX, at, cells, N_INDEX);
  put_field_i64(p, NX_VALUE, at, cells, N_VALUE);
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
