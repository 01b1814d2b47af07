/* What is copied where, how fast, and does the GPU wait for it? Table memory_transfers. */
#include "analyses/analysis.h"

#include "base/sort.h"
#include "tables/memory_transfers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_PAGEABLE = 0, SMALL_BYTES = 64 * 1024 };

static bool same_group(const struct MEMOP_EVENTS_columns *v, uint32_t a, uint32_t b) {
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
  const struct MEMOP_EVENTS_columns *v = &m->memops;
  struct nai_intervals all = {0}, exposed = {0};
  int64_t bytes = 0, pageable = 0, small = 0;
  uint32_t longest = 0;
  int32_t src = nai_at_i32(&v->src_kind, rows[0]), dst = nai_at_i32(&v->dst_kind, rows[0]);
  bool is_copy = nai_at_i32(&v->kind, rows[0]) == NAI_MEMOP_COPY, possible = true;
  for (uint32_t i = 0; i < n; i++) {
    int64_t start = nai_at(&v->start_ns, rows[i]), end = nai_at(&v->end_ns, rows[i]);
    values[i] = end - start;
    bytes += nai_at(&v->bytes, rows[i]);
    pageable += is_copy && (src == KIND_PAGEABLE || dst == KIND_PAGEABLE);
    small += nai_at(&v->bytes, rows[i]) <= SMALL_BYTES;
    longest = values[i] > values[longest] ? i : longest;
    possible = possible && nai_memop_rate_is_possible(m, rows[i]);
    nai_intervals_add(&all, start, end);
  }
  nai_intervals_intersect(&exposed, &all, &gpu->exposed_copy);
  int64_t exposed_ns = nai_intervals_total_ns(&exposed);
  int rc = exposed.oom ? nai_err_nomem(err) : NAI_OK;
  int64_t longest_start = nai_at(&v->start_ns, rows[longest]), longest_end = nai_at(&v->end_ns, rows[longest]);
  struct nai_stats stats = nai_stats_of(values, n);
  int64_t row = nai_table_add_row(table);
  static const struct nai_stats_columns to = {
      MEMORY_TRANSFERS_count, MEMORY_TRANSFERS_total_time_ns, -1, -1, -1, -1, MEMORY_TRANSFERS_p90_ns, -1, -1};
  nai_put_stats(table, row, &to, &stats);
  char room[NAI_KIND_NAME_MAX];
  int32_t copy_kind = nai_at_i32(&v->copy_kind, rows[0]);
  nai_set_str(table, row, MEMORY_TRANSFERS_direction, nai_model_direction(room, m, rows[0]));
  nai_set_i64(table, row, MEMORY_TRANSFERS_copy_kind, is_copy && copy_kind != NAI_NULL_I32 ? copy_kind : NAI_NULL_I64);
  put_kind(table, row, MEMORY_TRANSFERS_src_kind, MEMORY_TRANSFERS_src_kind_id, m, src);
  put_kind(table, row, MEMORY_TRANSFERS_dst_kind, MEMORY_TRANSFERS_dst_kind_id, m, dst);
  nai_set_i64(table, row, MEMORY_TRANSFERS_device_id, gpu->device_id);
  nai_set_i64(table, row, MEMORY_TRANSFERS_total_bytes, bytes);
  if (stats.total && possible)
    nai_set_f64(table, row, MEMORY_TRANSFERS_gb_per_s,
                (double)bytes / (double)stats.total); /* bytes per ns = 10^9 bytes per s */
  for (uint32_t i = 0; i < n; i++)
    values[i] = nai_at(&v->bytes, rows[i]);
  nai_set_f64(table, row, MEMORY_TRANSFERS_p50_bytes, nai_quantile_i64(values, n, 0.5));
  nai_set_i64(table, row, MEMORY_TRANSFERS_pageable_count, pageable);
  nai_set_i64(table, row, MEMORY_TRANSFERS_exposed_ns, exposed_ns);
  nai_set_i64(table, row, MEMORY_TRANSFERS_small_count, small);
  nai_set_i64(table, row, MEMORY_TRANSFERS_longest_start_ns, longest_start);
  nai_set_i64(table, row, MEMORY_TRANSFERS_longest_end_ns, longest_end);
  nai_set_f64(table, row, MEMORY_TRANSFERS_exposed_pct_of_window,
              nai_percent((double)exposed_ns, (double)(gpu->window_end - gpu->window_start)));
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
  return rc;
}

NAI_ANALYSIS(memory, .outputs = NAI_SCHEMAS(&nai_memory_transfers_schema), .parts = NAI_PART(GPUS),
             .tables = NAI_IN(MEMOPS) | NAI_IN(GPUS) | NAI_IN(LABELS), .run = run)
