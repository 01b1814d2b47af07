/* How fast are copies for the link they take, and which could run while the GPU computes anyway? Table copy_rates. */
#include "analyses/analysis.h"
#include "model/idle/active.h"
#include "model/memory/copy_rates.h"
#include "model/memory/first_touch.h"
#include "tables/copy_rates.h"
#include "tables/gpus.h"

enum { TO_GPU = 1, FROM_GPU = 2, ON_GPU = 8, DIRECTIONS = 16, PAGEABLE = 0 };

/* One copy. */
struct copy {
  bool shared;
  int64_t exposed_ns, overlappable_ns;
};

/* One GPU. */
struct work {
  const struct nai_model *m;
  const struct nai_gpu *gpu;
  struct nai_coverage all, exposed; /* anything runs; copies and no kernel */
  int64_t *edge;                    /* per stream: where its operation before (or behind) ends (begins) */
  struct copy *copies;              /* per row of memop_events */
  int64_t *first_touch_ns;          /* the same */
};

static bool is_copy(const struct work *w, uint32_t i) {
  const struct nai_op *op = &w->gpu->ops[i];
  return op->type == NAI_OP_COPY && nai_at(&w->m->memops.migration, op->row) != 1;
}

static int kind_of(const struct work *w, uint32_t i) {
  int32_t kind = nai_at_i32(&w->m->memops.copy_kind, w->gpu->ops[i].row);
  return kind < 0 || kind >= DIRECTIONS ? 0 : kind;
}

/* Time in [from, to) in which a kernel ran. */
static int64_t computed(struct work *w, int64_t from, int64_t to) {
  return to <= from ? 0 : nai_coverage_overlap_ns(&w->all, from, to) - nai_coverage_overlap_ns(&w->exposed, from, to);
}

static void bound(struct copy *copy, int64_t ns) {
  copy->overlappable_ns = ns < copy->exposed_ns ? ns : copy->exposed_ns;
}

/* Forwards: copies beside others, and how long results lay on the GPU before they were copied to the host. */
static void look_back(struct work *w) {
  int64_t latest[DIRECTIONS];
  uint32_t last[DIRECTIONS];
  for (int k = 0; k < DIRECTIONS; k++)
    latest[k] = INT64_MIN, last[k] = UINT32_MAX;
  for (uint32_t s = 0; s < w->gpu->stream_count; s++)
    w->edge[s] = INT64_MAX; /* nothing before: no data from there */
  for (uint32_t i = 0; i < w->gpu->op_count; i++) {
    const struct nai_op *op = &w->gpu->ops[i];
    int64_t start = op->start, end = op->end;
    if (is_copy(w, i)) {
      int k = kind_of(w, i);
      struct copy *copy = &w->copies[op->row];
      copy->exposed_ns = nai_coverage_overlap_ns(&w->exposed, start, end);
      if (start < latest[k])
        copy->shared = w->copies[last[k]].shared = true;
      if (end > latest[k])
        latest[k] = end, last[k] = op->row;
      if (k == FROM_GPU)
        bound(copy, computed(w, w->edge[op->stream], start));
    }
    int64_t *edge = &w->edge[op->stream];
    *edge = *edge == INT64_MAX || end > *edge ? end : *edge;
  }
}

/* Backwards: how long data lay on the GPU before its stream went on. */
static void look_ahead(struct work *w) {
  for (uint32_t s = 0; s < w->gpu->stream_count; s++)
    w->edge[s] = INT64_MIN; /* nothing behind: nobody used it */
  for (uint32_t i = w->gpu->op_count; i-- > 0;) {
    const struct nai_op *op = &w->gpu->ops[i];
    if (is_copy(w, i) && kind_of(w, i) == TO_GPU)
      bound(&w->copies[op->row], computed(w, op->end, w->edge[op->stream]));
    w->edge[op->stream] = op->start;
  }
}

/* --- rows ------------------------------------------------------------------------------------------- */

/* What limits copies of a kind: bytes per ns (10^9 per second), 0 unknown. */
static double limit_of(const char **link, const struct work *w, int64_t kind) {
  const struct nai_table *gpus = w->m->tables[NAI_IN_GPUS];
  uint32_t index = nai_model_gpu_index(w->m, w->gpu->device_id);
  int64_t bandwidth = nai_get_i64(gpus, index, GPUS_memory_bytes_per_s);
  const struct nai_gpu_product *product =
      nai_gpu_facts_product(w->m->gpu_facts, nai_get_str(gpus, index, GPUS_gpu_name));
  *link = NULL;
  if (kind == ON_GPU && bandwidth != NAI_NULL_I64) { /* each byte is read and written */
    *link = "GPU memory";
    return (double)bandwidth / 2e9;
  }
  if ((kind != TO_GPU && kind != FROM_GPU) || !product || !product->host_link)
    return 0;
  *link = product->host_link->name;
  return product->host_link->gb_per_s;
}

/* What copies could win of the time that no kernel hides, moments counted once. */
struct gain {
  int64_t at_limit_ns, first_touch_ns, first_touch_count;
};

/* Of copies of a group, in order, at most: of each no more than what nothing else hides, an earlier copy of the group
 * included. What host memory costs that is used for the first time is not won at the limit. */
static struct gain gain_of(struct work *w, const uint32_t *rows, uint32_t n, double limit) {
  const struct MEMOP_EVENTS_columns *m = &w->m->memops;
  int64_t until = INT64_MIN;
  uint32_t at = 0;
  struct gain gain = {0};
  for (uint32_t i = 0; i < n; i++) {
    int64_t start = nai_val(&m->start_ns, rows[i]), end = nai_val(&m->end_ns, rows[i]),
            from = start > until ? start : until;
    int64_t exposed = from > start ? nai_coverage_overlap_ns(&w->exposed, from, end) : w->copies[rows[i]].exposed_ns,
            first = w->first_touch_ns[rows[i]];
    double excess = (double)(end - start - first) - (limit > 0 ? (double)nai_at(&m->bytes, rows[i]) / limit : 0);
    until = end > until ? end : until;
    if (!nai_gpu_is_active(&w->m->active[w->gpu - w->m->gpus], &at, start))
      continue;
    first = first < exposed ? first : exposed;
    gain.first_touch_ns += first;
    gain.first_touch_count += first > 0;
    exposed -= first;
    gain.at_limit_ns += excess < (double)exposed ? (excess > 0 ? (int64_t)excess : 0) : exposed;
  }
  return gain;
}

static void put_group(struct nai_table *out, struct work *w, const uint32_t *rows, uint32_t n, int64_t *values) {
  const struct MEMOP_EVENTS_columns *m = &w->m->memops;
  const struct MEMOP_EVENTS_row first = MEMOP_EVENTS_at(w->m->tables[NAI_IN_MEMOPS], rows[0]);
  char rooms[3][NAI_KIND_NAME_MAX];
  const char *link;
  struct nai_copy_rates rates = {.rates = values, .limit = limit_of(&link, w, first.copy_kind)};
  struct gain gain = gain_of(w, rows, n, rates.limit);
  int64_t exposed_ns = 0, overlappable_ns = 0, overlappable = 0, shared = 0;
  uint32_t longest = rows[0];
  for (uint32_t i = 0; i < n; i++) {
    const struct copy *copy = &w->copies[rows[i]];
    exposed_ns += copy->exposed_ns;
    overlappable_ns += copy->overlappable_ns;
    overlappable += copy->overlappable_ns > 0;
    longest = nai_memop_ns(w->m, rows[i]) > nai_memop_ns(w->m, longest) ? rows[i] : longest;
    if (!copy->shared)
      nai_copy_rates_add(&rates, w->m, rows[i]);
    else
      shared += nai_at(&m->bytes, rows[i]) >= NAI_LARGE_COPY_BYTES;
  }
  nai_copy_rates_finish(&rates);
  NAI_ADD(COPY_RATES, out, .device_id = w->gpu->device_id, .direction = nai_model_direction(rooms[0], w->m, rows[0]),
          .src_kind = nai_memory_kind_label(rooms[1], w->m, nai_at_i32(&m->src_kind, rows[0])),
          .dst_kind = nai_memory_kind_label(rooms[2], w->m, nai_at_i32(&m->dst_kind, rows[0])), .count = n,
          .large_count = rates.count, .shared_count = shared, .p50_gb_per_s = rates.p50_gb_per_s,
          .p90_gb_per_s = rates.p90_gb_per_s, .link = link, .limit_gb_per_s = rates.limit_gb_per_s,
          .p50_pct_of_limit = rates.p50_pct_of_limit, .excess_ns = rates.excess_ns, .exposed_ns = exposed_ns,
          .at_limit_gain_ns = gain.at_limit_ns, .first_touch_ns = gain.first_touch_ns,
          .first_touch_count = gain.first_touch_count, .overlappable_ns = overlappable_ns,
          .overlappable_count = overlappable, .copy_kind = first.copy_kind, .src_kind_id = first.src_kind,
          .dst_kind_id = first.dst_kind, .longest_start_ns = nai_val(&m->start_ns, longest),
          .longest_end_ns = nai_val(&m->end_ns, longest));
}

/* Large copies from and to the host's pageable memory that had their direction for themselves. */
static uint32_t pageable_rows(uint32_t *rows, const struct work *w) {
  const struct MEMOP_EVENTS_columns *m = &w->m->memops;
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->gpu->op_count; i++) {
    uint32_t row = w->gpu->ops[i].row;
    int kind = is_copy(w, i) ? kind_of(w, i) : 0;
    bool pageable = (kind == TO_GPU && nai_at_i32(&m->src_kind, row) == PAGEABLE) ||
                    (kind == FROM_GPU && nai_at_i32(&m->dst_kind, row) == PAGEABLE);
    if (pageable && !w->copies[row].shared && nai_at(&m->bytes, row) >= NAI_LARGE_COPY_BYTES &&
        nai_memop_rate_is_possible(w->m, row))
      rows[n++] = row;
  }
  return n;
}

static int put_groups(struct nai_table *out, struct work *w, struct nai_arena *arena, struct nai_err *err) {
  const struct MEMOP_EVENTS_columns *m = &w->m->memops;
  const struct nai_column *const keys[] = {&m->copy_kind, &m->src_kind, &m->dst_kind};
  uint32_t n = 0, *rows;
  int64_t *values;
  NAI_TRY(NAI_NEW(rows, arena, w->gpu->op_count, err));
  NAI_TRY(NAI_NEW(values, arena, w->gpu->op_count, err));
  NAI_TRY(nai_first_touch(w->first_touch_ns, w->m, rows, pageable_rows(rows, w), values, err));
  for (uint32_t i = 0; i < w->gpu->op_count; i++)
    if (is_copy(w, i))
      rows[n++] = w->gpu->ops[i].row;
  NAI_TRY(nai_rows_arrange(rows, n, keys, 3, err));
  for (uint32_t i = 0, j; i < n; i = j) {
    j = nai_rows_run(rows, i, n, keys, 3);
    put_group(out, w, rows + i, j - i, values);
  }
  return NAI_OK;
}

static int add_gpu(const struct nai_node_io *io, const struct nai_gpu *gpu, struct copy *copies,
                   int64_t *first_touch_ns, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(io->model->scratch_dir);
  struct work w = {.m = io->model, .gpu = gpu, .copies = copies, .first_touch_ns = first_touch_ns};
  NAI_TRY(NAI_NEW(w.edge, &arena, gpu->stream_count, err));
  NAI_TRY(nai_coverage_in(&w.all, &gpu->all, &arena, err));
  NAI_TRY(nai_coverage_in(&w.exposed, &gpu->exposed_copy, &arena, err));
  look_back(&w);
  look_ahead(&w);
  return put_groups(io->out[0], &w, &arena, err);
}

static bool has_copies(const struct nai_gpu *gpu) {
  for (uint32_t i = 0; i < gpu->op_count; i++)
    if (gpu->ops[i].type == NAI_OP_COPY)
      return true;
  return false;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct copy *copies;
  int64_t *first_touch_ns;
  NAI_TRY(NAI_NEW(copies, io->arena, m->memops.n, err));
  NAI_TRY(NAI_NEW(first_touch_ns, io->arena, m->memops.n, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    if (has_copies(&m->gpus[g]))
      NAI_TRY(add_gpu(io, &m->gpus[g], copies, first_touch_ns, err));
  return NAI_OK;
}

NAI_ANALYSIS(copy_rates, .outputs = NAI_SCHEMAS(&nai_copy_rates_schema), .parts = NAI_PART(GPUS) | NAI_PART(ACTIVE),
             .tables = NAI_IN(LABELS), .config = NAI_CONFIG(GPU_FACTS), .run = run)
