/* What did each process on each GPU wait for, and what did the others wait for? Table comm_ranks. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/comm/comm.h"
#include "model/idle/active.h"
#include "model/idle/idle.h"

#include "tables/comm_ranks.h"

/* One process on one GPU. */
struct rank {
  const struct nai_model *m;
  uint32_t number;
  struct COMM_RANKS_row row;
  int64_t first_end; /* of its first communication kernel */
  const struct nai_comm_item *longest;
  int64_t *waits_for;               /* ns by GPU */
  const struct nai_comm_line *line; /* of most kernels that were matched; else of the most kernels */
};

/* Idle time of a GPU that is the profiler's, up to the end of a gap. */
struct held {
  int64_t until, ns;
};

/* When its communication is exposed within active time, when it is active, when it does anything; how long the profiler
 * held its hosts. */
struct gpu {
  struct nai_intervals shown; /* what `exposed` looks at */
  struct nai_coverage exposed, active, busy;
  struct held *held;
  uint32_t held_count;
};

static void begin_rank(struct rank *r, const struct nai_model *m, uint32_t number) {
  const struct nai_comm_rank *of = &m->comm->ranks[number];
  r->m = m;
  r->number = number;
  r->row = (struct COMM_RANKS_row)NAI_ROW(
      COMM_RANKS, .device_id = nai_model_device(m, of->gpu), .pid = nai_model_pid(m, of->process),
      .rank = nai_comm_own_rank(m->comm, number), .kernel_count = 0, .total_time_ns = 0, .matched_count = 0,
      .matched_ns = 0, .wait_ns = 0, .transfer_ns = 0, .tail_ns = 0, .wait_exposed_ns = 0, .wait_profiler_ns = 0,
      .late_count = 0, .caused_wait_ns = 0, .late_by_ns = 0, .init_count = 0, .init_ns = 0, .init_idle_ns = 0);
}

/* --- sums ------------------------------------------------------------------------------------- */

static const struct nai_comm_line *better(const struct nai_comm_line *a, const struct nai_comm_line *b) {
  if (!a || a->sets != b->sets)
    return !a || b->sets > a->sets ? b : a;
  return b->count > a->count ? b : a;
}

/* --- the profiler ------------------------------------------------------------------------------ */

/* Of a gap that is a mere distance nothing is the profiler's, and there are no pieces. */
static int find_held(struct gpu *gpu, const struct nai_model *m, uint32_t number, struct nai_arena *arena,
                     struct nai_err *err) {
  const struct nai_gpu_idle *idle = &m->idle[number];
  uint32_t gap = 0;
  int64_t all = 0;
  NAI_TRY(NAI_NEW(gpu->held, arena, (size_t)idle->parts[NAI_IDLE_PROFILER], err));
  for (uint32_t i = 0; i < idle->piece_count; i++) {
    if (idle->pieces[i].cause != NAI_IDLE_PROFILER)
      continue;
    while (idle->first_piece[gap + 1] <= i)
      gap++;
    all += idle->pieces[i].ns;
    gpu->held[gpu->held_count++] = (struct held){nai_idle_span(&m->gpus[number], gap).end, all};
  }
  return NAI_OK;
}

static int64_t held_until(const struct gpu *gpu, int64_t t) {
  size_t after = nai_bisect(gpu->held, gpu->held_count, sizeof *gpu->held, offsetof(struct held, until), t + 1);
  return after ? gpu->held[after - 1].ns : 0;
}

/* How long the profiler held the GPU that came late since its collective before. */
static int64_t held_ns(const struct gpu *gpus, const struct nai_comm *c, uint32_t late) {
  const struct nai_comm_item *item = &c->items[late];
  const struct gpu *gpu = &gpus[item->gpu];
  int64_t from = late > c->first_of_gpu[item->gpu] ? c->items[late - 1].end : INT64_MIN;
  return from < item->start ? held_until(gpu, item->start) - held_until(gpu, from) : 0;
}

/* --- items -------------------------------------------------------------------------------------- */

static void add_item(struct rank *r, const struct nai_comm_item *item, struct gpu *gpus) {
  const struct nai_comm *c = r->m->comm;
  struct gpu *gpu = &gpus[item->gpu];
  int64_t ns = item->end - item->start;
  r->first_end = !r->row.kernel_count || item->end < r->first_end ? item->end : r->first_end;
  r->row.kernel_count++;
  r->row.total_time_ns += ns;
  r->line = better(r->line, &c->lines[item->line]);
  if (item->set == NAI_NO_ROW)
    return;
  int64_t shown = nai_coverage_overlap_ns(&gpu->exposed, item->start, item->start + item->wait);
  r->row.matched_count++;
  r->row.matched_ns += ns;
  r->row.wait_ns += item->wait;
  r->row.transfer_ns += item->transfer;
  r->row.tail_ns += item->tail;
  shown = shown < item->active_charged ? shown : item->active_charged;
  r->row.wait_exposed_ns += shown;
  r->longest = !r->longest || item->wait > r->longest->wait ? item : r->longest;
  if (item->late == NAI_NO_ROW)
    return;
  const struct nai_comm_item *late = &c->items[item->late];
  if (late == item)
    return;
  int64_t held = held_ns(gpus, c, item->late);
  r->waits_for[late->gpu] += item->wait;
  r->row.wait_profiler_ns += held < shown ? held : shown;
}

/* What others waited for it: known from their items. */
static void add_caused(struct rank *ranks, const struct nai_comm *c) {
  for (uint32_t i = 0; i < c->count; i++) {
    const struct nai_comm_item *item = &c->items[i];
    if (item->late == NAI_NO_ROW)
      continue;
    struct COMM_RANKS_row *late = &ranks[c->items[item->late].rank].row;
    if (item->late == i) {
      late->late_count++;
      late->late_by_ns += item->late_by;
    } else {
      late->caused_wait_ns += item->wait;
    }
  }
}

/* Set-up of communicators that the process made after its first collective: within active time, and with the GPU idle.
 */
static void add_inits(struct rank *r, struct gpu *gpu) {
  const struct nai_comm *c = r->m->comm;
  for (uint32_t i = 0; i < c->init_count; i++) {
    const struct nai_comm_init *init = &c->inits[i];
    if (init->process != c->ranks[r->number].process || init->start < r->first_end)
      continue;
    int64_t ns = nai_coverage_overlap_ns(&gpu->active, init->start, init->end);
    int64_t idle = ns - nai_coverage_overlap_ns(&gpu->busy, init->start, init->end);
    r->row.init_count++;
    r->row.init_ns += ns;
    r->row.init_idle_ns += idle > 0 ? idle : 0;
  }
}

static int look_at(struct gpu *gpu, const struct nai_node_io *io, uint32_t g, struct nai_err *err) {
  const struct nai_model *m = io->model;
  gpu->shown.arena = io->arena;
  nai_intervals_intersect(&gpu->shown, &m->gpus[g].exposed_communication, &m->active[g].active);
  NAI_TRY(nai_coverage_in(&gpu->exposed, &gpu->shown, io->arena, err));
  NAI_TRY(nai_coverage_in(&gpu->active, &m->active[g].active, io->arena, err));
  NAI_TRY(nai_coverage_in(&gpu->busy, &m->gpus[g].all, io->arena, err));
  return find_held(gpu, m, g, io->arena, err);
}

static void add_gpu(struct rank *ranks, const struct nai_model *m, struct gpu *gpus, uint32_t g) {
  const struct nai_comm *c = m->comm;
  for (uint32_t i = c->first_of_gpu[g]; i < c->first_of_gpu[g + 1]; i++)
    add_item(&ranks[c->items[i].rank], &c->items[i], gpus);
  for (uint32_t r = 0; r < c->rank_count; r++)
    if (c->ranks[r].gpu == g)
      add_inits(&ranks[r], &gpus[g]);
}

/* --- who waited for whom ---------------------------------------------------------------------- */

static void put_waits_for(struct rank *r) {
  uint32_t most = 0;
  for (uint32_t g = 1; g < r->m->gpu_count; g++)
    most = r->waits_for[g] > r->waits_for[most] ? g : most;
  if (!r->waits_for[most])
    return;
  r->row.waits_for_device_id = nai_model_device(r->m, most);
  r->row.waits_for_ns = r->waits_for[most];
}

/* What it did in the sets that it came last to. */
static int put_behind(struct rank *r, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_comm *c = r->m->comm;
  uint32_t gpu = c->ranks[r->number].gpu, count = 0;
  struct nai_comm_behind behind;
  struct nai_interval *waits;
  if (!r->row.late_count)
    return NAI_OK;
  NAI_TRY(NAI_NEW(waits, arena, (size_t)r->row.late_count, err));
  for (uint32_t i = c->first_of_gpu[gpu]; i < c->first_of_gpu[gpu + 1]; i++)
    if (c->items[i].late == i && c->items[i].rank == r->number)
      waits[count++] = (struct nai_interval){c->items[i].start - c->items[i].skew, c->items[i].start};
  NAI_TRY(nai_comm_behind(&behind, r->m, gpu, waits, count, err));
  r->row.behind_ns = behind.ns;
  r->row.behind_idle_ns = behind.idle_ns;
  r->row.behind_with = behind.with;
  r->row.behind_with_ns = behind.with ? behind.with_ns : NAI_NULL_I64;
  r->row.behind_range = behind.range;
  return NAI_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static void clear_unmatched(struct COMM_RANKS_row *row) {
  row->matched_ns = row->wait_ns = row->transfer_ns = row->tail_ns = row->wait_exposed_ns = row->wait_profiler_ns =
      NAI_NULL_I64;
  row->late_count = row->caused_wait_ns = row->late_by_ns = NAI_NULL_I64;
}

static int put_matched(struct rank *r, struct nai_arena *arena, struct nai_err *err) {
  struct COMM_RANKS_row *row = &r->row;
  row->wait_pct = nai_percent((double)row->wait_ns, (double)row->matched_ns);
  row->clock_correction_ns = r->line->sets >= 3 ? r->line->correction : NAI_NULL_I64;
  row->clock_mad_ns = r->line->mad;
  if (r->longest && r->longest->wait) {
    row->longest_wait_start_ns = r->longest->start;
    row->longest_wait_end_ns = r->longest->start + r->longest->wait;
  }
  put_waits_for(r);
  return put_behind(r, arena, err);
}

static int put_rank(const struct nai_node_io *io, struct rank *r, struct nai_err *err) {
  if (2 * r->row.matched_count < r->row.kernel_count)
    r->row.refused = r->line->refused;
  if (r->row.matched_count)
    NAI_TRY(put_matched(r, io->arena, err));
  else
    clear_unmatched(&r->row);
  COMM_RANKS_add(io->out[0], &r->row);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_comm *c = io->model->comm;
  struct rank *ranks;
  struct gpu *gpus;
  NAI_TRY(NAI_NEW(ranks, io->arena, c->rank_count, err));
  NAI_TRY(NAI_NEW(gpus, io->arena, io->model->gpu_count, err));
  for (uint32_t r = 0; r < c->rank_count; r++) {
    begin_rank(&ranks[r], io->model, r);
    NAI_TRY(NAI_NEW(ranks[r].waits_for, io->arena, io->model->gpu_count, err));
  }
  for (uint32_t g = 0; g < io->model->gpu_count; g++)
    if (c->first_of_gpu[g + 1] > c->first_of_gpu[g])
      NAI_TRY(look_at(&gpus[g], io, g, err));
  for (uint32_t g = 0; g < io->model->gpu_count; g++)
    add_gpu(ranks, io->model, gpus, g);
  add_caused(ranks, c);
  for (uint32_t r = 0; r < c->rank_count; r++)
    NAI_TRY(put_rank(io, &ranks[r], err));
  return NAI_OK;
}

NAI_ANALYSIS(comm_ranks, .outputs = NAI_SCHEMAS(&nai_comm_ranks_schema),
             .parts = NAI_PART(COMM) | NAI_PART(ACTIVE) | NAI_PART(IDLE) | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(NVTX) | NAI_IN(THREADS) |
                       NAI_IN(GPUS) | NAI_IN(PROCESSES),
             .run = run)
