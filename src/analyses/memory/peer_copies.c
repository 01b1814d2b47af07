/* How fast are copies between GPUs for the link between them? Table peer_copies. */
#include "analyses/analysis.h"
#include "config/comm_names.h"
#include "model/memory/copy_rates.h"
#include "tables/gpus.h"
#include "tables/memop_events.h"
#include "tables/peer_copies.h"

enum { PEER = 10, DEVICE_TO_DEVICE = 8 };

/* Copies by process, source, target, start. */
struct work {
  const struct nai_node_io *io;
  const struct MEMOP_EVENTS_columns *c;
  uint32_t *rows, count;
  bool *shared;   /* per place: another copy of the pair ran meanwhile */
  int64_t *rates; /* room for as many */
};

/* Those of one pair: GPUs of one process. */
struct pair {
  uint32_t first, end; /* places */
};

static int find_copies(struct work *w, struct nai_err *err) {
  const struct MEMOP_EVENTS_columns *c = w->c;
  const struct nai_column *const keys[] = {&c->process, &c->src_cuda_device, &c->dst_cuda_device, &c->start_ns,
                                           &c->end_ns};
  uint32_t capacity = 0;
  for (uint32_t i = 0; i < c->n; i++) {
    int32_t kind = nai_at_i32(&c->copy_kind, i), from = nai_at_i32(&c->src_cuda_device, i),
            to = nai_at_i32(&c->dst_cuda_device, i);
    if ((kind != PEER && kind != DEVICE_TO_DEVICE) || from < 0 || to < 0 || from == to)
      continue;
    NAI_TRY(NAI_ROOM(w->rows, capacity, w->count, w->io->arena, err));
    w->rows[w->count++] = i;
  }
  NAI_TRY(NAI_NEW(w->shared, w->io->arena, w->count, err));
  NAI_TRY(NAI_NEW(w->rates, w->io->arena, w->count, err));
  return nai_rows_arrange(w->rows, w->count, keys, sizeof keys / sizeof *keys, err);
}

static int64_t start_of(const struct work *w, uint32_t place) { return nai_val(&w->c->start_ns, w->rows[place]); }
static int64_t end_of(const struct work *w, uint32_t place) { return nai_val(&w->c->end_ns, w->rows[place]); }

/* Copies in one direction share it. */
static void mark_shared(struct work *w, struct pair pair) {
  uint32_t last = pair.first; /* the one that ends last so far */
  for (uint32_t i = pair.first + 1; i < pair.end; i++) {
    if (start_of(w, i) < end_of(w, last))
      w->shared[i] = w->shared[last] = true;
    last = end_of(w, i) > end_of(w, last) ? i : last;
  }
}

/* Time of copies of the pair beside copies the other way. */
static int opposite_ns(int64_t *ns, const struct work *w, struct pair pair, struct nai_err *err) {
  const struct MEMOP_EVENTS_columns *c = w->c;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(w->io->model->scratch_dir);
  struct nai_intervals back = {.arena = &arena};
  struct nai_coverage coverage;
  uint32_t row = w->rows[pair.first];
  for (uint32_t i = 0; i < w->count; i++)
    if (nai_at(&c->process, w->rows[i]) == nai_at(&c->process, row) &&
        nai_at(&c->src_cuda_device, w->rows[i]) == nai_at(&c->dst_cuda_device, row) &&
        nai_at(&c->dst_cuda_device, w->rows[i]) == nai_at(&c->src_cuda_device, row))
      nai_intervals_add(&back, start_of(w, i), end_of(w, i));
  NAI_TRY(nai_memory_check(!back.oom, err));
  NAI_TRY(nai_coverage_in(&coverage, &back, &arena, err));
  *ns = 0;
  for (uint32_t i = pair.first; i < pair.end; i++)
    *ns += nai_coverage_overlap_ns(&coverage, start_of(w, i), end_of(w, i));
  return NAI_OK;
}

/* One direction, 10^9 bytes per second, 0 unknown. */
static double link_of(const struct nai_model *m, uint32_t row) {
  uint32_t gpu = nai_model_gpu_index(m, nai_val_i32(&m->memops.device_id, row));
  const char *name = gpu < m->gpu_count ? nai_get_str(m->tables[NAI_IN_GPUS], gpu, GPUS_gpu_name) : "";
  return *name ? nai_comm_names_link(nai_kernel_classes_comm_names(m->classes), name) : 0;
}

static int put_pair(struct work *w, struct pair pair, struct nai_err *err) {
  const struct nai_model *m = w->io->model;
  uint32_t row = w->rows[pair.first], longest = row;
  struct nai_copy_rates rates = {.rates = w->rates, .limit = link_of(m, row)};
  int64_t total = 0, bytes = 0, opposite = 0;
  mark_shared(w, pair);
  for (uint32_t i = pair.first; i < pair.end; i++) {
    int64_t size = nai_at(&w->c->bytes, w->rows[i]);
    total += nai_memop_ns(m, w->rows[i]);
    bytes += size > 0 ? size : 0;
    longest = nai_memop_ns(m, w->rows[i]) > nai_memop_ns(m, longest) ? w->rows[i] : longest;
    if (!w->shared[i])
      nai_copy_rates_add(&rates, m, w->rows[i]);
  }
  nai_copy_rates_finish(&rates);
  NAI_TRY(opposite_ns(&opposite, w, pair, err));
  NAI_ADD(PEER_COPIES, w->io->out[0], .pid = nai_model_pid(m, nai_at_i32(&w->c->process, row)),
          .src_cuda_device = nai_at(&w->c->src_cuda_device, row),
          .dst_cuda_device = nai_at(&w->c->dst_cuda_device, row), .count = pair.end - pair.first, .total_bytes = bytes,
          .total_time_ns = total, .large_count = rates.count, .p50_gb_per_s = rates.p50_gb_per_s,
          .p90_gb_per_s = rates.p90_gb_per_s, .link_gb_per_s = rates.limit_gb_per_s,
          .p50_pct_of_link = rates.p50_pct_of_limit, .excess_ns = rates.excess_ns, .opposite_ns = opposite,
          .longest_start_ns = nai_val(&w->c->start_ns, longest), .longest_end_ns = nai_val(&w->c->end_ns, longest));
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct MEMOP_EVENTS_columns *c = &io->model->memops;
  const struct nai_column *const keys[] = {&c->process, &c->src_cuda_device, &c->dst_cuda_device};
  struct work w = {.io = io, .c = c};
  NAI_TRY(find_copies(&w, err));
  for (struct pair pair = {0}; pair.first < w.count; pair.first = pair.end) {
    pair.end = nai_rows_run(w.rows, pair.first, w.count, keys, 3);
    NAI_TRY(put_pair(&w, pair, err));
  }
  return NAI_OK;
}

NAI_ANALYSIS(peer_copies, .outputs = NAI_SCHEMAS(&nai_peer_copies_schema), .parts = NAI_PART(GPUS),
             .tables = NAI_IN(PROCESSES), .config = NAI_CONFIG(KERNEL_CLASSES), .run = run)
