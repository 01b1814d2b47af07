/* How fast are copies between GPUs for the link between them? Table peer_copies. */
#include "analyses/analysis.h"
#include "base/array.h"
#include "base/sort.h"
#include "config/comm_names.h"
#include "tables/gpus.h"
#include "tables/memop_events.h"
#include "tables/peer_copies.h"

#include <stdlib.h>

enum { PEER = 10, DEVICE_TO_DEVICE = 8, LARGE_BYTES = 1 << 20 };

struct copy {
  uint32_t row;
  int32_t process, src, dst;
  int64_t start, end;
  bool shared;
};

/* The pairs of a trace are few: GPUs of one process. */
struct work {
  const struct nai_model *m;
  struct copy *v; /* by process, source, target, start */
  uint32_t count;
};

static int compare(const void *pa, const void *pb) {
  const struct copy *a = pa, *b = pb;
  const int64_t keys[][2] = {{a->process, b->process}, {a->src, b->src}, {a->dst, b->dst},
                             {a->start, b->start},     {a->end, b->end}, {a->row, b->row}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (keys[i][0] != keys[i][1])
      return keys[i][0] < keys[i][1] ? -1 : 1;
  return 0;
}

static int take(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  const struct nai_table *t = m->tables[NAI_IN_MEMOPS];
  const struct nai_column src = nai_table_column(t, MEMOP_EVENTS_src_cuda_device),
                          dst = nai_table_column(t, MEMOP_EVENTS_dst_cuda_device);
  uint32_t capacity = 0;
  for (uint32_t i = 0; i < m->memops.n; i++) {
    int32_t kind = nai_at_i32(&m->memops.copy_kind, i), from = nai_at_i32(&src, i), to = nai_at_i32(&dst, i);
    if ((kind != PEER && kind != DEVICE_TO_DEVICE) || from < 0 || to < 0 || from == to)
      continue;
    if (!nai_array_room(&w->v, &capacity, w->count, sizeof *w->v))
      return nai_err_nomem(err);
    w->v[w->count++] = (struct copy){.row = i,
                                     .process = nai_at_i32(&m->memops.process, i),
                                     .src = from,
                                     .dst = to,
                                     .start = nai_at(&m->memops.start_ns, i),
                                     .end = nai_at(&m->memops.end_ns, i)};
  }
  if (w->count)
    qsort(w->v, w->count, sizeof *w->v, compare);
  return NAI_OK;
}

/* Copies in one direction share it. */
static void mark_shared(struct copy *v, uint32_t n) {
  uint32_t last = 0; /* the one that ends last so far */
  for (uint32_t i = 1; i < n; i++) {
    if (v[i].start < v[last].end)
      v[i].shared = v[last].shared = true;
    last = v[i].end > v[last].end ? i : last;
  }
}

static uint32_t end_of_pair(const struct work *w, uint32_t from) {
  const struct copy *a = &w->v[from];
  uint32_t i = from + 1;
  while (i < w->count && w->v[i].process == a->process && w->v[i].src == a->src && w->v[i].dst == a->dst)
    i++;
  return i;
}

/* Time of copies v beside copies the other way. */
static int opposite_ns(int64_t *ns, const struct work *w, const struct copy *v, uint32_t n, struct nai_err *err) {
  struct nai_intervals back = {0};
  struct nai_coverage coverage = {0};
  for (uint32_t i = 0, j; i < w->count; i = j) {
    j = end_of_pair(w, i);
    for (uint32_t k = i; w->v[i].process == v->process && w->v[i].src == v->dst && w->v[i].dst == v->src && k < j; k++)
      nai_intervals_add(&back, w->v[k].start, w->v[k].end);
  }
  int rc = back.oom ? nai_err_nomem(err) : nai_coverage_new(&coverage, &back, err);
  *ns = 0;
  for (uint32_t i = 0; !rc && i < n; i++)
    *ns += nai_coverage_overlap_ns(&coverage, v[i].start, v[i].end);
  nai_coverage_free(&coverage);
  nai_intervals_free(&back);
  return rc;
}

/* One direction, 10^9 bytes per second, 0 unknown. */
static double link_of(const struct nai_model *m, uint32_t row) {
  uint32_t gpu = nai_model_gpu_index(m, nai_at_i32(&m->memops.device_id, row));
  const char *name = gpu < m->gpu_count ? nai_get_str(m->tables[NAI_IN_GPUS], gpu, GPUS_gpu_name) : "";
  return *name ? nai_comm_names_link(nai_kernel_classes_comm_names(m->classes), name) : 0;
}

static void put_rates(struct nai_table *out, int64_t row, const struct work *w, const struct copy *v, uint32_t n,
                      int64_t *room) {
  static const double q[] = {0.5, 0.9};
  double link = link_of(w->m, v->row), rates[2], excess = 0;
  size_t large = 0;
  for (uint32_t i = 0; i < n; i++) {
    int64_t bytes = nai_at(&w->m->memops.bytes, v[i].row), ns = v[i].end - v[i].start;
    if (bytes < LARGE_BYTES || v[i].shared || ns <= 0 || !nai_memop_rate_is_possible(w->m, v[i].row))
      continue;
    room[large++] = (int64_t)((double)bytes / (double)ns * 1e6); /* bytes per ms */
    excess += link > 0 && (double)ns > (double)bytes / link ? (double)ns - (double)bytes / link : 0;
  }
  nai_set_i64(out, row, PEER_COPIES_large_count, (int64_t)large);
  if (link > 0)
    nai_set_f64(out, row, PEER_COPIES_link_gb_per_s, link);
  if (!large)
    return;
  nai_quantiles_i64(rates, room, large, q, 2);
  nai_set_f64(out, row, PEER_COPIES_p50_gb_per_s, rates[0] / 1e6);
  nai_set_f64(out, row, PEER_COPIES_p90_gb_per_s, rates[1] / 1e6);
  if (link <= 0)
    return;
  nai_set_f64(out, row, PEER_COPIES_p50_pct_of_link, nai_percent(rates[0] / 1e6, link));
  nai_set_i64(out, row, PEER_COPIES_excess_ns, (int64_t)excess);
}

static int put_pair(struct nai_table *out, const struct work *w, struct copy *v, uint32_t n, int64_t *room,
                    struct nai_err *err) {
  int64_t row = nai_table_add_row(out), total = 0, bytes = 0, opposite = 0;
  const struct copy *longest = v;
  for (uint32_t i = 0; i < n; i++) {
    int64_t size = nai_at(&w->m->memops.bytes, v[i].row);
    total += v[i].end - v[i].start;
    bytes += size > 0 ? size : 0;
    longest = v[i].end - v[i].start > longest->end - longest->start ? &v[i] : longest;
  }
  mark_shared(v, n);
  int rc = opposite_ns(&opposite, w, v, n, err);
  const int64_t cells[][2] = {{PEER_COPIES_pid, nai_model_pid(w->m, v->process)},
                              {PEER_COPIES_src_cuda_device, v->src},
                              {PEER_COPIES_dst_cuda_device, v->dst},
                              {PEER_COPIES_count, n},
                              {PEER_COPIES_total_bytes, bytes},
                              {PEER_COPIES_total_time_ns, total},
                              {PEER_COPIES_opposite_ns, opposite},
                              {PEER_COPIES_longest_start_ns, longest->start},
                              {PEER_COPIES_longest_end_ns, longest->end}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
    nai_set_i64(out, row, (int)cells[i][0], cells[i][1]);
  put_rates(out, row, w, v, n, room);
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct work w = {.m = io->model};
  int rc = take(&w, err);
  int64_t *room = malloc(((size_t)w.count + 1) * sizeof *room);
  if (!rc && !room)
    rc = nai_err_nomem(err);
  for (uint32_t i = 0, j; !rc && i < w.count; i = j) {
    j = end_of_pair(&w, i);
    rc = put_pair(io->out[0], &w, w.v + i, j - i, room, err);
  }
  free(w.v);
  free(room);
  return rc;
}

NAI_ANALYSIS(peer_copies, .outputs = NAI_SCHEMAS(&nai_peer_copies_schema), .parts = NAI_PART(GPUS),
             .tables = NAI_IN(MEMOPS) | NAI_IN(GPUS) | NAI_IN(PROCESSES), .config = NAI_CONFIG(KERNEL_CLASSES),
             .run = run)
