/* What is copied where, how fast, and does the GPU wait for it? Table memory_transfers. */
#include "analyses/analysis.h"
#include "table/columns.h"

#include "base/sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  DIRECTION,
  SRC,
  DST,
  DEVICE,
  COUNT,
  BYTES,
  TOTAL,
  RATE,
  P50_BYTES,
  P90,
  PAGEABLE,
  EXPOSED,
  SMALL,
  LONGEST_START,
  LONGEST_END,
  PCT_WINDOW,
  COPY_KIND,
  SRC_ID,
  DST_ID
};
static const struct nai_column_def columns[] = {
    [DIRECTION] = NAI_NAME_COLUMN("direction", "label of the copy kind in the export (Host-to-Device, ...), or memset",
                                  .key = true),
    [SRC] = NAI_LABEL_COLUMN("src_kind", "memory copied from"),
    [DST] = NAI_LABEL_COLUMN("dst_kind", "memory copied to or set"),
    [DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [COUNT] = NAI_COUNT_COLUMN("count", "operations", .sum = true),
    [BYTES] = NAI_BYTES_COLUMN("total_bytes", "bytes moved or set", .better = NAI_BETTER_LOWER, .sum = true),
    [TOTAL] = NAI_TIME_COLUMN("total_time_ns", "summed durations", .better = NAI_BETTER_LOWER, .sum = true),
    [RATE] = {"gb_per_s", NAI_F64, NAI_GB_PER_S, "bytes over summed durations; NULL where a row has an impossible rate",
              .role = NAI_ROLE_METRIC, .better = NAI_BETTER_HIGHER},
    [P50_BYTES] = {"p50_bytes", NAI_F64, NAI_BYTES, "median size", .role = NAI_ROLE_METRIC},
    [P90] = NAI_AVERAGE_COLUMN("p90_ns", "90th percentile of durations"),
    [PAGEABLE] =
        NAI_COUNT_COLUMN("pageable_count", "operations with a pageable end", .better = NAI_BETTER_LOWER, .sum = true),
    [EXPOSED] = NAI_TIME_COLUMN("exposed_ns", "time not hidden by kernels (union of these operations minus kernels)",
                                .better = NAI_BETTER_LOWER),
    [SMALL] = NAI_COUNT_COLUMN("small_count", "operations of 64 KiB or less", .better = NAI_BETTER_LOWER, .sum = true),
    [LONGEST_START] = NAI_START_COLUMN("longest_start_ns", "start of the longest operation"),
    [LONGEST_END] = NAI_END_COLUMN("longest_end_ns", "end of the longest operation"),
    [PCT_WINDOW] = NAI_PCT_COLUMN("exposed_pct_of_window", "exposed, of the GPU's window", .better = NAI_BETTER_LOWER),
    [COPY_KIND] = {"copy_kind", NAI_I32, NAI_ID, "number behind direction: CUPTI copy kind, NULL for memset",
                   .key = true},
    [SRC_ID] = {"src_kind_id", NAI_I32, NAI_ID, "number behind src_kind: CUPTI memory kind", .key = true},
    [DST_ID] = {"dst_kind_id", NAI_I32, NAI_ID, "number behind dst_kind: CUPTI memory kind", .key = true},
};
static const struct nai_schema schema =
    NAI_SCHEMA("memory_transfers", "Memory transfers", "One direction between two kinds of memory on one GPU", columns);

enum { KIND_PAGEABLE = 0, SMALL_BYTES = 64 * 1024 };

static bool same_group(const struct nai_memop_columns *v, uint32_t a, uint32_t b) {
  return nai_at(&v->kind, a) == nai_at(&v->kind, b) && nai_at(&v->copy_kind, a) == nai_at(&v->copy_kind, b) &&
         nai_at(&v->src_kind, a) == nai_at(&v->src_kind, b) && nai_at(&v->dst_kind, a) == nai_at(&v->dst_kind, b);
}

static void put_kind(struct nai_table *table, int64_t row, int label_column, int id_column, const struct nai_model *m,
                     int32_t kind) {
  char room[NAI_KIND_NAME_MAX];
  if (kind == NAI_NULL_I32)
    return;
  nai_set_str(table, row, label_column, nai_model_kind_name(room, m, NAI_LABEL_MEMORY, kind));
  nai_set_i64(table, row, id_column, kind);
}

static int put_group(struct nai_table *table, const struct nai_model *m, const struct nai_gpu *gpu,
                     const uint32_t *rows, uint32_t n, int64_t *values, struct nai_err *err) {
  const struct nai_memop_columns *v = &m->memops;
  struct nai_intervals all = {0}, exposed = {0};
  int64_t bytes = 0, pageable = 0, small = 0;
  uint32_t longest = 0;
  int32_t src = nai_at_i32(&v->src_kind, rows[0]), dst = nai_at_i32(&v->dst_kind, rows[0]);
  bool is_copy = nai_at_i32(&v->kind, rows[0]) == NAI_MEMOP_COPY, possible = true;
  for (uint32_t i = 0; i < n; i++) {
    int64_t start = nai_at(&v->start, rows[i]), end = nai_at(&v->end, rows[i]);
    values[i] = end - start;
    bytes += nai_at(&v->bytes, rows[i]);
    pageable += is_copy && (src == KIND_PAGEABLE || dst == KIND_PAGEABLE);
    small += nai_at(&v->bytes, rows[i]) <= SMALL_BYTES;
    longest = values[i] > values[longest] ? i : longest;
    possible = possible && nai_memop_rate_is_possible(m, rows[i]);
    nai_intervals_add(&all, start, end);
  }
  nai_intervals_intersect(&exposed, &all, &gpu->exposed_copy);
  int64_t exposed_ns = nai_intervals_total(&exposed);
  int rc = exposed.oom ? nai_err_nomem(err) : NAI_OK;
  int64_t longest_start = nai_at(&v->start, rows[longest]), longest_end = nai_at(&v->end, rows[longest]);
  struct nai_stats stats = nai_stats_of(values, n);
  int64_t row = nai_table_add_row(table);
  static const struct nai_stats_columns to = {COUNT, TOTAL, -1, -1, -1, -1, P90, -1, -1};
  nai_put_stats(table, row, &to, &stats);
  char room[NAI_KIND_NAME_MAX];
  int32_t copy_kind = nai_at_i32(&v->copy_kind, rows[0]);
  nai_set_str(table, row, DIRECTION, nai_model_direction(room, m, rows[0]));
  nai_set_i64(table, row, COPY_KIND, is_copy && copy_kind != NAI_NULL_I32 ? copy_kind : NAI_NULL_I64);
  put_kind(table, row, SRC, SRC_ID, m, src);
  put_kind(table, row, DST, DST_ID, m, dst);
  nai_set_i64(table, row, DEVICE, gpu->device_id);
  nai_set_i64(table, row, BYTES, bytes);
  if (stats.total && possible)
    nai_set_f64(table, row, RATE, (double)bytes / (double)stats.total); /* bytes per ns = 10^9 bytes per s */
  for (uint32_t i = 0; i < n; i++)
    values[i] = nai_at(&v->bytes, rows[i]);
  nai_set_f64(table, row, P50_BYTES, nai_quantile_i64(values, n, 0.5));
  nai_set_i64(table, row, PAGEABLE, pageable);
  nai_set_i64(table, row, EXPOSED, exposed_ns);
  nai_set_i64(table, row, SMALL, small);
  nai_set_i64(table, row, LONGEST_START, longest_start);
  nai_set_i64(table, row, LONGEST_END, longest_end);
  nai_set_f64(table, row, PCT_WINDOW, nai_percent((double)exposed_ns, (double)(gpu->window_end - gpu->window_start)));
  nai_intervals_free(&all);
  nai_intervals_free(&exposed);
  return rc;
}

/* One group after the other; in each, operations are in the order in which they started. */
static int put_gpu(struct nai_table *table, const struct nai_model *m, const struct nai_gpu *gpu, struct nai_err *err) {
  const struct nai_column *const keys[] = {&m->memops.kind, &m->memops.copy_kind, &m->memops.src_kind,
                                           &m->memops.dst_kind};
  uint32_t *rows = malloc(((size_t)gpu->op_count + 1) * sizeof *rows);
  int64_t *values = malloc(((size_t)gpu->op_count + 1) * sizeof *values);
  int rc = rows && values ? NAI_OK : nai_err_nomem(err);
  uint32_t n = 0;
  for (uint32_t i = 0; !rc && i < gpu->op_count; i++)
    if (gpu->ops[i].type == NAI_OP_COPY || gpu->ops[i].type == NAI_OP_SET)
      rows[n++] = gpu->ops[i].row;
  if (!rc)
    rc = nai_rows_arrange(rows, n, keys, 4, err);
  for (uint32_t i = 0, j; !rc && i < n; i = j) {
    for (j = i + 1; j < n && same_group(&m->memops, rows[i], rows[j]); j++)
      ;
    rc = put_group(table, m, gpu, rows + i, j - i, values, err);
  }
  free(rows);
  free(values);
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_table *const *tables = io->out;
  const struct nai_model *m = io->model;
  int rc = NAI_OK;
  for (uint32_t g = 0; !rc && g < m->gpu_count; g++)
    rc = put_gpu(tables[0], m, &m->gpus[g], err);
  static const struct nai_sort_by order[] = {{TOTAL, true},   {DIRECTION, false}, {SRC, false},    {DST, false},
                                             {DEVICE, false}, {COPY_KIND, false}, {SRC_ID, false}, {DST_ID, false}};
  return rc ? rc : nai_table_sort(tables[0], order, 8, err);
}

static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_memory = {.name = "memory",
                                             .outputs = schemas,
                                             .parts = NAI_PART(GPUS),
                                             .tables = NAI_IN(MEMOPS) | NAI_IN(GPUS) | NAI_IN(LABELS),
                                             .run = run};
