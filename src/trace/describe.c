/* The small tables: what event tables refer to, and how payloads and metrics are to be read. */
#include "trace/extraction.h"
#include "trace/small.h"
#include "tables/gpu_metric_names.h"
#include "tables/kernel_configs.h"
#include "tables/mpi_ranks.h"
#include "tables/nvtx_domains.h"
#include "tables/nvtx_payload_entries.h"
#include "tables/nvtx_sizes.h"

#include <stdlib.h>
#include <string.h>

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
      nai_set_i64(table, row, c, config.values[c] == NAI_NULL_I32 ? INT64_MIN : config.values[c]);
  }
  return NAI_OK;
}

static int put_domains(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  (void)err;
  const struct nai_strings *domains = &x->records[NAI_IN_NVTX_DOMAINS];
  const uint32_t *names = x->record_name[NAI_IN_NVTX_DOMAINS];
  for (uint32_t i = 0; i < domains->count; i++) {
    struct nai_record_key key = record_key(domains, i);
    bool named = i < x->record_capacity[NAI_IN_NVTX_DOMAINS] && names[i] != NAI_NO_STRING;
    int64_t row = nai_table_add_row(table);
    nai_set_i64(table, row, NVTX_DOMAINS_process, nai_identity_process(x->out->tables[NAI_IN_PROCESSES], key.scope));
    nai_set_i64(table, row, NVTX_DOMAINS_domain_id, key.id);
    nai_set_str(table, row, NVTX_DOMAINS_name,
                named ? nai_strings_get(&x->record_names[NAI_IN_NVTX_DOMAINS], names[i]) : NULL);
  }
  return NAI_OK;
}

static int put_sizes(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  (void)err;
  for (uint32_t i = 0; i < x->sizes.count && !x->too_many_sizes; i++)
    nai_set_str(table, nai_table_add_row(table), NVTX_SIZES_sizes, nai_strings_get(&x->sizes, i));
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
    int64_t row = nai_table_add_row(table);
    nai_set_i64(table, row, GPU_METRIC_NAMES_type_id, key.scope);
    nai_set_i64(table, row, GPU_METRIC_NAMES_metric_id, key.id);
    nai_set_i64(table, row, GPU_METRIC_NAMES_gpu_id, key.scope & 0xff);
  }
  if (table->oom)
    return NAI_OK; /* told by the check of all tables */
  static const char *const names[] = {"typeId", "metricId", "sourceId", "typeName", "metricName", NULL};
  return nai_small_scan(x->trace, "TARGET_INFO_GPU_METRICS", names, MAX_ROWS, on_metric, &m, err);
}

/* --- tables of the export ---------------------------------------------------------------------- */

/* Rows copied as they are, but for those that are there already: exports repeat them per process. */
struct copied {
  struct nai_table *table;
  int null_is_zero;        /* column whose NULL means 0, -1 for none */
  struct nai_strings seen; /* rows as bytes */
  struct nai_buf row;
};

static void append(struct nai_buf *out, const void *bytes, size_t len) {
  char *to = nai_buf_reserve(out, len);
  if (to) {
    memcpy(to, bytes, len);
    out->len += len;
  }
}

static bool is_repeated(struct copied *c, const struct nai_cell *cells) {
  nai_buf_clear(&c->row);
  for (uint32_t i = 0; i < c->table->schema->column_count; i++) {
    int64_t value = nai_small_int(&cells[i], NAI_NULL_I64);
    uint32_t len = cells[i].type == NAI_CELL_TEXT ? cells[i].len : 0;
    append(&c->row, &value, sizeof value);
    append(&c->row, &len, sizeof len);
    append(&c->row, cells[i].data ? cells[i].data : "", len);
  }
  uint32_t before = c->seen.count;
  uint32_t at = c->row.oom ? NAI_NO_STRING : nai_strings_add(&c->seen, nai_buf_str(&c->row), c->row.len);
  c->table->oom |= at == NAI_NO_STRING;
  return at < before;
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
      nai_set_i64(c->table, row, i, nai_small_int(&cells[i], i == c->null_is_zero ? 0 : NAI_NULL_I64));
  }
  return NAI_OK;
}

/* `names` are the export's columns in the order of the table's. */
static int copy_table(struct extraction *x, struct nai_table *table, const char *from, const char *const *names,
                      int null_is_zero, struct nai_err *err) {
  struct copied c = {.table = table, .null_is_zero = null_is_zero};
  int rc = nai_small_scan(x->trace, from, names, MAX_ROWS, on_copied, &c, err);
  nai_strings_free(&c.seen);
  nai_buf_free(&c.row);
  return rc;
}

static int put_payload_schemas(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  static const char *const names[] = {"domainId",   "schemaId",    "name",    "type", "flags",
                                      "numEntries", "payloadSize", "alignTo", NULL};
  return copy_table(x, table, "NVTX_PAYLOAD_SCHEMAS", names, -1, err);
}

static int put_payload_entries(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  static const char *const names[] = {"domainId", "schemaId",           "idx",    "flags", "type",
                                      "name",     "arrayOrUnionDetail", "offset", NULL};
  return copy_table(x, table, "NVTX_PAYLOAD_SCHEMA_ENTRIES", names, NVTX_PAYLOAD_ENTRIES_offset_bytes, err);
}

static int put_payload_enums(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  static const char *const names[] = {"domainId", "schemaId", "idx", "name", "value", NULL};
  return copy_table(x, table, "NVTX_PAYLOAD_ENUM_ENTRIES", names, -1, err);
}

static int put_nic_metrics(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  static const char *const names[] = {"metricsListId", "metricsIdx", "name", "unit", NULL};
  return copy_table(x, table, "TARGET_INFO_NETWORK_METRICS", names, -1, err);
}

static int put_nic_ids(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  static const char *const names[] = {"nicId", "globalId", NULL};
  return copy_table(x, table, "NIC_ID_MAP", names, -1, err);
}

static int put_nics(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  static const char *const names[] = {"nicId", "name", NULL};
  return copy_table(x, table, "TARGET_INFO_NIC_INFO", names, -1, err);
}

static int on_rank(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  struct extraction *x = ctx;
  struct nai_table *table = x->out->tables[NAI_IN_MPI_RANKS];
  int64_t tid = nai_small_int(&cells[0], 0), rank = nai_small_int(&cells[1], -1);
  if (rank < 0 || rank > INT32_MAX)
    return NAI_OK;
  uint32_t at = nai_keyset_find(&x->identity.threads, tid);
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, MPI_RANKS_thread, at == UINT32_MAX ? -1 : x->identity.thread_row[at]);
  nai_set_i64(table, row, MPI_RANKS_global_tid, tid);
  nai_set_i64(table, row, MPI_RANKS_rank, rank);
  return NAI_OK;
}

static int put_ranks(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  (void)table;
  return nai_small_scan(x->trace, "MPI_RANKS", (const char *const[]){"globalTid", "rank", NULL}, MAX_ROWS, on_rank, x,
                        err);
}

int nai_describe(struct extraction *x, struct nai_err *err) {
  static const struct {
    enum nai_input_table table;
    int (*put)(struct extraction *x, struct nai_table *table, struct nai_err *err);
  } small[] = {{NAI_IN_KERNEL_CONFIGS, put_configs},
               {NAI_IN_NVTX_DOMAINS, put_domains},
               {NAI_IN_NVTX_SIZES, put_sizes},
               {NAI_IN_GPU_METRICS, put_metrics},
               {NAI_IN_PAYLOAD_SCHEMAS, put_payload_schemas},
               {NAI_IN_PAYLOAD_ENTRIES, put_payload_entries},
               {NAI_IN_PAYLOAD_ENUMS, put_payload_enums},
               {NAI_IN_DYNAMIC_PAYLOADS, nai_put_dynamic_payloads},
               {NAI_IN_MPI_RANKS, put_ranks},
               {NAI_IN_NIC_METRICS, put_nic_metrics},
               {NAI_IN_NIC_IDS, put_nic_ids},
               {NAI_IN_NICS, put_nics},
               {NAI_IN_PROGRAM_OUTPUTS, nai_put_outputs}};
  int rc = NAI_OK;
  for (size_t i = 0; !rc && i < sizeof small / sizeof *small; i++)
    if (nai_wanted(x, small[i].table))
      rc = small[i].put(x, x->out->tables[small[i].table], err);
  if (!rc && x->too_many_sizes)
    nai_ingest_note(x->out->tables[NAI_IN_EXTRACT_NOTES], "sizes-left-out", "info", "NVTX_EVENTS", NAI_MAX_SIZES,
                    "more different tensor sizes behind range names than are kept; none are");
  return rc;
}
