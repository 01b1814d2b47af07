/* How fast are copies for the link they take, and which could run while the GPU computes anyway? Table copy_rates. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/idle/active.h"
#include "model/memory/first_touch.h"
#include "tables/copy_rates.h"
#include "tables/gpus.h"

#include <stdlib.h>
#include <string.h>

enum { TO_GPU = 1, FROM_GPU = 2, ON_GPU = 8, DIRECTIONS = 16, PAGEABLE = 0, LARGE_BYTES = 1 << 20 };

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
    int64_t start = nai_model_op_start(w->m, op), end = nai_model_op_end(w->m, op);
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
      bound(&w->copies[op->row], computed(w, nai_model_op_end(w->m, op), w->edge[op->stream]));
    w->edge[op->stream] = nai_model_op_start(w->m, op);
  }
}

/* --- rows ------------------------------------------------------------------------------------------- */

static bool same_group(const struct MEMOP_EVENTS_columns *v, uint32_t a, uint32_t b) {
  return nai_at(&v->copy_kind, a) == nai_at(&v->copy_kind, b) && nai_at(&v->src_kind, a) == nai_at(&v->src_kind, b) &&
         nai_at(&v->dst_kind, a) == nai_at(&v->dst_kind, b);
}

/* What limits copies of a kind: bytes per ns (10^9 per second), 0 unknown. */
static double limit_of(const char **link, const struct work *w, int32_t kind) {
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

static void put_kind(struct nai_table *out, int64_t row, int label, int id, const struct nai_model *m, int32_t kind) {
  char room[NAI_KIND_NAME_MAX];
  if (kind == NAI_NULL_I32)
    return;
  nai_set_str(out, row, label, nai_model_kind_name(room, m, NAI_LABEL_MEMORY, kind));
  nai_set_i64(out, row, id, kind);
}

/* Rates of the large ones, and what they lose. `values` has room for n. */
static void put_rates(struct nai_table *out, int64_t row, const struct work *w, const uint32_t *rows, uint32_t n,
                      int64_t *values) {
  static const double q[] = {0.5, 0.9};
  const struct MEMOP_EVENTS_columns *m = &w->m->memops;
  const char *link;
  double limit = limit_of(&link, w, nai_at_i32(&m->copy_kind, rows[0])), rates[2], excess = 0;
  int64_t shared = 0;
  size_t large = 0;
  for (uint32_t i = 0; i < n; i++) {
    bool beside = w->copies[rows[i]].shared;
    int64_t bytes = nai_at(&m->bytes, rows[i]), ns = nai_memop_ns(w->m, rows[i]);
    shared += bytes >= LARGE_BYTES && beside;
    if (bytes < LARGE_BYTES || beside || ns <= 0 || !nai_memop_rate_is_possible(w->m, rows[i]))
      continue;
    values[large++] = (int64_t)((double)bytes / (double)ns * 1e6); /* bytes per ms */
    excess += limit > 0 && (double)ns > (double)bytes / limit ? (double)ns - (double)bytes / limit : 0;
  }
  nai_set_i64(out, row, COPY_RATES_large_count, (int64_t)large);
  nai_set_i64(out, row, COPY_RATES_shared_count, shared);
  nai_set_str(out, row, COPY_RATES_link, link);
  if (limit > 0)
    nai_set_f64(out, row, COPY_RATES_limit_gb_per_s, limit);
  if (!large)
    return;
  nai_quantiles_i64(rates, values, large, q, 2);
  nai_set_f64(out, row, COPY_RATES_p50_gb_per_s, rates[0] / 1e6);
  nai_set_f64(out, row, COPY_RATES_p90_gb_per_s, rates[1] / 1e6);
  if (limit > 0) {
    nai_set_f64(out, row, COPY_RATES_p50_pct_of_limit, nai_percent(rates[0] / 1e6, limit));
    nai_set_i64(out, row, COPY_RATES_excess_ns, (int64_t)excess);
  }
}

/* What copies could win of the time that no kernel hides, moments counted once. */
struct gain {
  int64_t at_limit_ns, first_touch_ns, first_touch_count;
};

/* Of copies of a group, in order, at most: of each no more than what nothing else hides, an earlier copy of the group
 * included. What host memory costs that is used for the first time is not won at the limit. */
static struct gain gain_of(struct work *w, const uint32_t *rows, uint32_t n) {
  const struct MEMOP_EVENTS_columns *m = &w->m->memops;
  const char *link;
  double limit = limit_of(&link, w, nai_at_i32(&m->copy_kind, rows[0]));
  int64_t until = INT64_MIN;
  uint32_t at = 0;
  struct gain gain = {0};
  for (uint32_t i = 0; i < n; i++) {
    int64_t start = nai_at(&m->start_ns, rows[i]), end = nai_at(&m->end_ns, rows[i]),
            from = start > until ? start : until;
    int64_t exposed = from < end ? nai_coverage_overlap_ns(&w->exposed, from, end) : 0,
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
  int64_t row = nai_table_add_row(out), exposed = 0, overlappable = 0, count = 0;
  uint32_t longest = rows[0];
  char room[NAI_KIND_NAME_MAX];
  for (uint32_t i = 0; i < n; i++) {
    const struct copy *copy = &w->copies[rows[i]];
    exposed += copy->exposed_ns;
    overlappable += copy->overlappable_ns;
    count += copy->overlappable_ns > 0;
    longest = nai_memop_ns(w->m, rows[i]) > nai_memop_ns(w->m, longest) ? rows[i] : longest;
  }
  int32_t kind = nai_at_i32(&m->copy_kind, rows[0]);
  struct gain gain = gain_of(w, rows, n);
  nai_set_i64(out, row, COPY_RATES_device_id, w->gpu->device_id);
  nai_set_str(out, row, COPY_RATES_direction, nai_model_direction(room, w->m, rows[0]));
  put_kind(out, row, COPY_RATES_src_kind, COPY_RATES_src_kind_id, w->m, nai_at_i32(&m->src_kind, rows[0]));
  put_kind(out, row, COPY_RATES_dst_kind, COPY_RATES_dst_kind_id, w->m, nai_at_i32(&m->dst_kind, rows[0]));
  nai_set_i64(out, row, COPY_RATES_copy_kind, kind == NAI_NULL_I32 ? NAI_NULL_I64 : kind);
  nai_set_i64(out, row, COPY_RATES_count, n);
  nai_set_i64(out, row, COPY_RATES_exposed_ns, exposed);
  nai_set_i64(out, row, COPY_RATES_at_limit_gain_ns, gain.at_limit_ns);
  nai_set_i64(out, row, COPY_RATES_first_touch_ns, gain.first_touch_ns);
  nai_set_i64(out, row, COPY_RATES_first_touch_count, gain.first_touch_count);
  nai_set_i64(out, row, COPY_RATES_overlappable_ns, overlappable);
  nai_set_i64(out, row, COPY_RATES_overlappable_count, count);
  nai_set_i64(out, row, COPY_RATES_longest_start_ns, nai_at(&m->start_ns, longest));
  nai_set_i64(out, row, COPY_RATES_longest_end_ns, nai_at(&m->end_ns, longest));
  put_rates(out, row, w, rows, n, values);
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
    if (pageable && !w->copies[row].shared && nai_at(&m->bytes, row) >= LARGE_BYTES &&
        nai_memop_rate_is_possible(w->m, row))
      rows[n++] = row;
  }
  return n;
}

static int put_groups(struct nai_table *out, struct work *w, struct nai_err *err) {
  const struct MEMOP_EVENTS_columns *m = &w->m->memops;
  const struct nai_column *const keys[] = {&m->copy_kind, &m->src_kind, &m->dst_kind};
  uint32_t n = 0, *rows = malloc(((size_t)w->gpu->op_count + 1) * sizeof *rows);
  int64_t *values = malloc(((size_t)w->gpu->op_count + 1) * sizeof *values);
  int rc = rows && values ? NAI_OK : nai_err_nomem(err);
  if (!rc)
    rc = nai_first_touch(w->first_touch_ns, w->m, rows, pageable_rows(rows, w), values, err);
  for (uint32_t i = 0; !rc && i < w->gpu->op_count; i++)
    if (is_copy(w, i))
      rows[n++] = w->gpu->ops[i].row;
  if (!rc)
    rc = nai_rows_arrange(rows, n, keys, 3, err);
  for (uint32_t i = 0, j; !rc && i < n; i = j) {
    for (j = i + 1; j < n && same_group(m, rows[i], rows[j]); j++)
      ;
    put_group(out, w, rows + i, j - i, values);
  }
  free(rows);
  free(values);
  return rc;
}

static int add_gpu(const struct nai_node_io *io, const struct nai_gpu *gpu, struct copy *copies,
                   int64_t *first_touch_ns, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct work w = {.m = m, .gpu = gpu, .copies = copies, .first_touch_ns = first_touch_ns};
  w.edge = malloc(((size_t)gpu->stream_count + 1) * sizeof *w.edge);
  int rc = w.edge ? nai_coverage_new(&w.all, &gpu->all, err) : nai_err_nomem(err);
  if (!rc)
    rc = nai_coverage_new(&w.exposed, &gpu->exposed_copy, err);
  if (!rc) {
    look_back(&w);
    look_ahead(&w);
    rc = put_groups(io->out[0], &w, err);
  }
  nai_coverage_free(&w.all);
  nai_coverage_free(&w.exposed);
  free(w.edge);
  return rc;
}

static bool has_copies(const struct nai_gpu *gpu) {
  for (uint32_t i = 0; i < gpu->op_count; i++)
    if (gpu->ops[i].type == NAI_OP_COPY)
      return true;
  return false;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct copy *copies = calloc((size_t)io->model->memops.n + 1, sizeof *copies);
  int64_t *first_touch_ns = calloc((size_t)io->model->memops.n + 1, sizeof *first_touch_ns);
  int rc = copies && first_touch_ns ? NAI_OK : nai_err_nomem(err);
  for (uint32_t g = 0; !rc && g < io->model->gpu_count; g++)
    if (has_copies(&io->model->gpus[g]))
      rc = add_gpu(io, &io->model->gpus[g], copies, first_touch_ns, err);
  free(copies);
  free(first_touch_ns);
  return rc;
}

NAI_ANALYSIS(copy_rates, .outputs = NAI_SCHEMAS(&nai_copy_rates_schema), .parts = NAI_PART(GPUS) | NAI_PART(ACTIVE),
             .tables = NAI_IN(MEMOPS) | NAI_IN(GPUS) | NAI_IN(LABELS) | NAI_IN(KERNELS) | NAI_IN(GRAPHS),
             .config = NAI_CONFIG(GPU_FACTS), .run = run)
