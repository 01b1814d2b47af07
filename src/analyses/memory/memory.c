/* What is copied where, how fast, and does the GPU wait for it? Table memory_transfers. */
#include "analyses/analysis.h"
#include "model/memory/copy_rates.h"
#include "tables/memory_transfers.h"

enum { KIND_PAGEABLE = 0, SMALL_BYTES = 64 * 1024 };

/* What operations of one kind on one GPU add up to. */
struct sums {
  int64_t bytes, small, exposed_ns;
  uint32_t longest;
  bool possible; /* as fast as their rows say */
};

/* values[i] = duration of operation i. */
static int sum_up(struct sums *s, int64_t *values, const struct nai_model *m, const struct nai_gpu *gpu,
                  const uint32_t *rows, uint32_t n, struct nai_err *err) {
  NAI_SCOPED(nai_intervals) all = {0};
  NAI_SCOPED(nai_intervals) exposed = {0};
  *s = (struct sums){.longest = rows[0], .possible = true};
  for (uint32_t i = 0; i < n; i++) {
    values[i] = nai_memop_ns(m, rows[i]);
    s->bytes += nai_at(&m->memops.bytes, rows[i]);
    s->small += nai_at(&m->memops.bytes, rows[i]) <= SMALL_BYTES;
    s->longest = values[i] > nai_memop_ns(m, s->longest) ? rows[i] : s->longest;
    s->possible = s->possible && nai_memop_rate_is_possible(m, rows[i]);
    nai_intervals_add(&all, nai_val(&m->memops.start_ns, rows[i]), nai_val(&m->memops.end_ns, rows[i]));
  }
  nai_intervals_intersect(&exposed, &all, &gpu->exposed_copy);
  s->exposed_ns = nai_intervals_total_ns(&exposed);
  return exposed.oom ? nai_err_nomem(err) : NAI_OK;
}

static int put_group(struct nai_table *table, const struct nai_model *m, const struct nai_gpu *gpu,
                     const uint32_t *rows, uint32_t n, int64_t *values, struct nai_stats_room *room,
                     struct nai_err *err) {
  const struct MEMOP_EVENTS_columns *v = &m->memops;
  char rooms[3][NAI_KIND_NAME_MAX];
  struct sums sums;
  struct MEMOP_EVENTS_row first = MEMOP_EVENTS_at(m->tables[NAI_IN_MEMOPS], rows[0]);
  bool is_copy = first.kind == NAI_MEMOP_COPY,
       pageable = is_copy && (first.src_kind == KIND_PAGEABLE || first.dst_kind == KIND_PAGEABLE);
  NAI_TRY(sum_up(&sums, values, m, gpu, rows, n, err));
  struct nai_stats stats = nai_stats_in(room, values, n, NAI_P90);
  struct MEMORY_TRANSFERS_row row = NAI_ROW(
      MEMORY_TRANSFERS, .direction = nai_model_direction(rooms[0], m, rows[0]),
      .src_kind = nai_memory_kind_label(rooms[1], m, nai_at_i32(&v->src_kind, rows[0])),
      .dst_kind = nai_memory_kind_label(rooms[2], m, nai_at_i32(&v->dst_kind, rows[0])), .device_id = gpu->device_id,
      .count = n, .total_bytes = sums.bytes, .total_time_ns = stats.total, .p90_ns = stats.p90,
      .pageable_count = pageable ? n : 0, .exposed_ns = sums.exposed_ns, .small_count = sums.small,
      .longest_start_ns = nai_val(&v->start_ns, sums.longest), .longest_end_ns = nai_val(&v->end_ns, sums.longest),
      .exposed_pct_of_window = nai_percent((double)sums.exposed_ns, (double)(gpu->window_end - gpu->window_start)),
      .copy_kind = is_copy ? first.copy_kind : NAI_NULL_I64, .src_kind_id = first.src_kind,
      .dst_kind_id = first.dst_kind);
  if (stats.total && sums.possible)
    row.gb_per_s = (double)sums.bytes / (double)stats.total; /* bytes per ns = 10^9 bytes per s */
  for (uint32_t i = 0; i < n; i++)
    values[i] = nai_at(&v->bytes, rows[i]);
  row.p50_bytes = nai_stats_in(room, values, n, NAI_P50).p50;
  MEMORY_TRANSFERS_add(table, &row);
  return NAI_OK;
}

/* One group after the other; in each, operations are in the order in which they started. */
static int put_gpu(const struct nai_node_io *io, const struct nai_gpu *gpu, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_column *const keys[] = {&m->memops.kind, &m->memops.copy_kind, &m->memops.src_kind,
                                           &m->memops.dst_kind};
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  uint32_t *rows, n = 0;
  int64_t *values;
  struct nai_stats_room *room;
  NAI_TRY(NAI_NEW(rows, &arena, gpu->op_count, err));
  NAI_TRY(NAI_NEW(values, &arena, gpu->op_count, err));
  for (uint32_t i = 0; i < gpu->op_count; i++)
    if (gpu->ops[i].type == NAI_OP_COPY || gpu->ops[i].type == NAI_OP_SET)
      rows[n++] = gpu->ops[i].row;
  NAI_TRY(nai_stats_room_in(&room, n, &arena, err));
  NAI_TRY(nai_rows_arrange(rows, n, keys, 4, err));
  for (uint32_t i = 0, j; i < n; i = j) {
    j = nai_rows_run(rows, i, n, keys, 4);
    NAI_TRY(put_group(io->out[0], m, gpu, rows + i, j - i, values, room, err));
  }
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  for (uint32_t g = 0; g < io->model->gpu_count; g++)
    NAI_TRY(put_gpu(io, &io->model->gpus[g], err));
  return NAI_OK;
}

NAI_ANALYSIS(memory, .outputs = NAI_SCHEMAS(&nai_memory_transfers_schema), .parts = NAI_PART(GPUS),
             .tables = NAI_IN(LABELS), .run = run)
