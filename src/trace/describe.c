/* The small tables: what event tables refer to, and how payloads and metrics are to be read. */
#include "trace/extraction.h"
#include "trace/file_paths.h"
#include "trace/small.h"
#include "base/hash.h"
#include "tables/cuda_streams.h"
#include "tables/file_names.h"
#include "tables/gpu_metric_names.h"
#include "tables/kernel_configs.h"
#include "tables/mpi_ranks.h"
#include "tables/nvtx_domains.h"
#include "tables/nvtx_payload_entries.h"
#include "tables/nvtx_sizes.h"

/* More rows than any capture has; what is beyond is not read. */
enum { MAX_ROWS = 200000, TEXT_BYTES = 400 };

/* --- records ---------------------------------------------------------------------------------- */

static struct nai_record_key record_key(const struct nai_strings *records, uint32_t record) {
  struct nai_record_key key;
  memcpy(&key, nai_strings_get(records, record), sizeof key);
  return key;
}

static int put_configs(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  (void)err;
  const struct nai_strings *configs = &x->records[NAI_IN_KERNEL_CONFIGS];
  for (uint32_t i = 0; i < configs->count; i++) {
    struct nai_launch_config config;
    memcpy(&config, nai_strings_get(configs, i), sizeof config);
    int64_t row = nai_table_add_row(table);
    for (int c = 0; c < KERNEL_CONFIGS_COLUMN_COUNT; c++)
      nai_set_i64(table, row, c, config.values[c] == NAI_NULL_I32 ? NAI_NULL_I64 : config.values[c]);
  }
  return NAI_OK;
}

static int put_domains(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  (void)err;
  const struct nai_strings *domains = &x->records[NAI_IN_NVTX_DOMAINS], *names = &x->record_names[NAI_IN_NVTX_DOMAINS];
  const uint32_t *name = x->record_name[NAI_IN_NVTX_DOMAINS];
  for (uint32_t i = 0; i < domains->count; i++) {
    struct nai_record_key key = record_key(domains, i);
    bool named = i < x->record_capacity[NAI_IN_NVTX_DOMAINS] && name[i] != NAI_NO_STRING;
    const char *text = named ? nai_strings_get(names, name[i]) : NULL;
    int64_t process = nai_process_key(key.scope), category = key.scope - process;
    NAI_ADD(NVTX_DOMAINS, table, .process = nai_identity_process(x->out->tables[NAI_IN_PROCESSES], process),
            .domain_id = key.id, .category = category ? category : NAI_NULL_I64, .name = category ? NULL : text,
            .category_name = category ? text : NULL);
  }
  return NAI_OK;
}

static int put_sizes(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  (void)err;
  for (uint32_t i = 0; i < x->sizes.count && !x->too_many_sizes; i++)
    NAI_ADD(NVTX_SIZES, table, .sizes = nai_strings_get(&x->sizes, i));
  return NAI_OK;
}

struct metrics {
  struct nai_table *table;
  const struct nai_strings *records;
};

static int on_metric(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  struct metrics *m = ctx;
  struct nai_record_key key = {nai_small_int(&cells[0], -1), nai_small_int(&cells[1], -1)};
  uint32_t row = nai_strings_find(m->records, (const char *)&key, sizeof key);
  if (row == NAI_NO_STRING)
    return NAI_OK;
  nai_set_i64(m->table, row, GPU_METRIC_NAMES_source_id, nai_small_int(&cells[2], NAI_NULL_I64));
  nai_small_put_text(m->table, row, GPU_METRIC_NAMES_type_name, &cells[3], TEXT_BYTES);
  nai_small_put_text(m->table, row, GPU_METRIC_NAMES_metric_name, &cells[4], TEXT_BYTES);
  return NAI_OK;
}

static int put_metrics(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  struct metrics m = {table, &x->records[NAI_IN_GPU_METRICS]};
  for (uint32_t i = 0; i < m.records->count; i++) {
    struct nai_record_key key = record_key(m.records, i);
    NAI_ADD(GPU_METRIC_NAMES, table, .type_id = key.scope, .metric_id = key.id, .gpu_id = key.scope & 0xff);
  }
  NAI_TRY(nai_table_check(table, err));
  static const char *const names[] = {"typeId", "metricId", "sourceId", "typeName", "metricName", NULL};
  return nai_small_scan(x->trace, "TARGET_INFO_GPU_METRICS", names, MAX_ROWS, on_metric, &m, err);
}

/* --- tables of the export ---------------------------------------------------------------------- */

/* Rows copied as they are, but for those that are there already: exports repeat them per process. */
struct copied {
  struct nai_table *table;
  int null_is_zero;        /* column whose NULL means 0, -1 for none */
  int without_sign;        /* column whose numbers below 0 exports hold as 32 bits without a sign, 0 for none */
  struct nai_strings seen; /* rows as bytes */
  struct nai_buf row;
};

static bool is_repeated(struct copied *c, const struct nai_cell *cells) {
  nai_buf_clear(&c->row);
  for (uint32_t i = 0; i < c->table->schema->column_count; i++) {
    int64_t value = nai_small_int(&cells[i], NAI_NULL_I64);
    uint32_t len = cells[i].type == NAI_CELL_TEXT ? cells[i].len : 0;
    nai_buf_put(&c->row, &value, sizeof value);
    nai_buf_put(&c->row, &len, sizeof len);
    nai_buf_put(&c->row, cells[i].data ? cells[i].data : "", len);
  }
  uint32_t before = c->seen.count;
  uint32_t at = c->row.oom ? NAI_NO_STRING : nai_strings_add(&c->seen, nai_buf_str(&c->row), c->row.len);
  c->table->oom |= at == NAI_NO_STRING;
  return at < before;
}

static int64_t number_of(const struct copied *c, int column, int64_t value) {
  if (value == NAI_NULL_I64)
    return column == c->null_is_zero ? 0 : value;
  return column && column == c->without_sign ? (int32_t)(uint32_t)value : value;
}

static int on_copied(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  struct copied *c = ctx;
  if (is_repeated(c, cells) || c->table->oom)
    return NAI_OK;
  int64_t row = nai_table_add_row(c->table);
  for (int i = 0; i < (int)c->table->schema->column_count; i++) {
    if (c->table->schema->columns[i].type == NAI_STR)
      nai_small_put_text(c->table, row, i, &cells[i], TEXT_BYTES);
    else
      nai_set_i64(c->table, row, i, number_of(c, i, nai_small_int(&cells[i], NAI_NULL_I64)));
  }
  return NAI_OK;
}

static void copied_free(struct copied *c) {
  nai_strings_free(&c->seen);
  nai_buf_free(&c->row);
}

/* A table of the export, whose columns are in the order of ours. */
static const struct source_table {
  enum nai_input_table table;
  const char *from;
  int null_is_zero;
  const char *names[10];
  int without_sign;
} source_tables[] = {
    {NAI_IN_PAYLOAD_SCHEMAS,
     "NVTX_PAYLOAD_SCHEMAS",
     -1,
     {"domainId", "schemaId", "name", "type", "flags", "numEntries", "payloadSize", "alignTo", NULL}},
    {NAI_IN_PAYLOAD_ENTRIES,
     "NVTX_PAYLOAD_SCHEMA_ENTRIES",
     NVTX_PAYLOAD_ENTRIES_offset_bytes,
     {"domainId", "schemaId", "idx", "flags", "type", "name", "arrayOrUnionDetail", "offset", NULL}},
    {NAI_IN_PAYLOAD_ENUMS, "NVTX_PAYLOAD_ENUM_ENTRIES", -1, {"domainId", "schemaId", "idx", "name", "value", NULL}},
    {NAI_IN_CONTEXTS,
     "TARGET_INFO_CUDA_CONTEXT_INFO",
     -1,
     {"processId", "deviceId", "contextId", "parentContextId", "isGreenContext", "numMultiprocessors", "tpcMask",
      NULL}},
    {NAI_IN_CUDA_DEVICES, "TARGET_INFO_CUDA_DEVICE", -1, {"gpuId", "cudaId", "pid", "numMultiprocessors", NULL}},
    {NAI_IN_STREAMS,
     "TARGET_INFO_CUDA_STREAM",
     -1,
     {"processId", "contextId", "streamId", "priority", "flag", NULL},
     CUDA_STREAMS_priority},
    {NAI_IN_STREAM_NAMES, "TARGET_INFO_NVTX_CUDA_STREAM", -1, {"name", "processId", "contextId", "streamId", NULL}},
    {NAI_IN_MPI_COMMUNICATORS, "MPI_COMMUNICATORS", -1, {"rank", "commHandle", "commUid", "localRank", "size", NULL}},
    {NAI_IN_UCX_WORKERS, "UCP_WORKERS", -1, {"globalTid", "workerUid", NULL}},
    {NAI_IN_NIC_METRICS, "TARGET_INFO_NETWORK_METRICS", -1, {"metricsListId", "metricsIdx", "name", "unit", NULL}},
    {NAI_IN_NIC_IDS, "NIC_ID_MAP", -1, {"nicId", "globalId", NULL}},
    {NAI_IN_NICS, "TARGET_INFO_NIC_INFO", -1, {"nicId", "name", NULL}},
};

static int copy_table(struct extraction *x, const struct source_table *from, struct nai_err *err) {
  NAI_SCOPED(copied)
  c = {.table = x->out->tables[from->table], .null_is_zero = from->null_is_zero, .without_sign = from->without_sign};
  return nai_small_scan(x->trace, from->from, from->names, MAX_ROWS, on_copied, &c, err);
}

/* --- MPI ranks -------------------------------------------------------------------------------- */

static int on_rank(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  struct extraction *x = ctx;
  int64_t tid = nai_small_int(&cells[0], 0), rank = nai_small_int(&cells[1], -1);
  if (rank < 0 || rank > INT32_MAX)
    return NAI_OK;
  uint32_t at = nai_keyset_find(&x->identity.threads, tid);
  NAI_ADD(MPI_RANKS, x->out->tables[NAI_IN_MPI_RANKS], .thread = at == UINT32_MAX ? -1 : x->identity.thread_row[at],
          .global_tid = tid, .rank = rank);
  return NAI_OK;
}

static int put_ranks(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  (void)table;
  return nai_small_scan(x->trace, "MPI_RANKS", (const char *const[]){"globalTid", "rank", NULL}, MAX_ROWS, on_rank, x,
                        err);
}

/* --- files ------------------------------------------------------------------------------------ */

/* While names are read. */
struct files {
  struct nai_table *table;
  uint64_t key; /* of masks: another one for each capture */
  bool any_known;
};

static int on_start(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct files *files = ctx;
  (void)err;
  files->key = nai_hash_int(files->key, nai_small_int(&cells[0], 0));
  return NAI_OK;
}

static int on_file(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  static const char unknown[] = "Unknown file #";
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(nai_buf) masked = {0};
  struct files *files = ctx;
  const char *path = nai_small_text(&arena, &cells[2], PATH_MAX);
  NAI_TRY(nai_arena_check(&arena, err));
  bool known = path && strncmp(path, unknown, strlen(unknown)) != 0;
  if (known)
    nai_path_mask(&masked, path, files->key);
  files->any_known |= known;
  NAI_ADD(FILE_NAMES, files->table, .file = nai_small_int(&cells[0], NAI_NULL_I64),
          .pid = nai_small_int(&cells[1], NAI_NULL_I64), .path = known ? nai_buf_str(&masked) : NULL,
          .path_key = known ? (int64_t)nai_hash_bytes(files->key, path, strlen(path)) : NAI_NULL_I64,
          .group = known ? nai_path_group(path) : "data");
  return nai_buf_check(&masked, err);
}

static int put_files(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  enum { MAX_FILES = 10000000 };
  struct files files = {.table = table};
  NAI_TRY(nai_small_scan(x->trace, "TARGET_INFO_SESSION_START_TIME", (const char *const[]){"utcEpochNs", NULL}, 1,
                         on_start, &files, err));
  NAI_TRY(nai_small_scan(x->trace, "OSRT_FILE_ACCESS_DESCRIPTORS",
                         (const char *const[]){"fileAccessId", "processId", "filePath", NULL}, MAX_FILES, on_file,
                         &files, err));
  if (table->rows && !files.any_known)
    nai_ingest_note(x->out->tables[NAI_IN_EXTRACT_NOTES], "files-without-paths", "info", "OSRT_FILE_ACCESS_DESCRIPTORS",
                    table->rows, "files have no paths: --osrt-file-access=true records them, and reads and writes");
  return NAI_OK;
}

int nai_describe(struct extraction *x, struct nai_err *err) {
  static const struct {
    enum nai_input_table table;
    int (*put)(struct extraction *x, struct nai_table *table, struct nai_err *err);
  } made[] = {{NAI_IN_KERNEL_CONFIGS, put_configs},
              {NAI_IN_NVTX_DOMAINS, put_domains},
              {NAI_IN_NVTX_SIZES, put_sizes},
              {NAI_IN_GPU_METRICS, put_metrics},
              {NAI_IN_DYNAMIC_PAYLOADS, nai_put_dynamic_payloads},
              {NAI_IN_MPI_RANKS, put_ranks},
              {NAI_IN_FILE_NAMES, put_files},
              {NAI_IN_PROGRAM_OUTPUTS, nai_put_outputs},
              {NAI_IN_PROGRAM_MARKS, nai_put_marks}};
  for (size_t i = 0; i < sizeof made / sizeof *made; i++)
    if (nai_wanted(x, made[i].table))
      NAI_TRY(made[i].put(x, x->out->tables[made[i].table], err));
  for (size_t i = 0; i < sizeof source_tables / sizeof *source_tables; i++)
    if (nai_wanted(x, source_tables[i].table))
      NAI_TRY(copy_table(x, &source_tables[i], err));
  if (x->too_many_sizes)
    nai_ingest_note(x->out->tables[NAI_IN_EXTRACT_NOTES], "sizes-left-out", "info", "NVTX_EVENTS", NAI_MAX_SIZES,
                    "more different tensor sizes behind range names than are kept; none are");
  return NAI_OK;
}
