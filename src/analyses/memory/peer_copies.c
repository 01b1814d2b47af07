/* How fast are copies between GPUs for the link between them? Table peer_copies. */
#include "analyses/analysis.h"
#include "config/comm_names.h"
#include "model/memory/copy_rates.h"
#include "tables/gpus.h"
#include "tables/memop_events.h"
#include "tables/peer_copies.h"

#include <stdlib.h>

enum { PEER = 10, DEVICE_TO_DEVICE = 8 };

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

static int take(struct work *w, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_model *m = w->m;
  const struct nai_table *t = m->tables[NAI_IN_MEMOPS];
  const struct nai_column src = nai_table_column(t, MEMOP_EVENTS_src_cuda_device),
                          dst = nai_table_column(t, MEMOP_EVENTS_dst_cuda_device);
  uint32_t capacity = 0;
  for (uint32_t i = 0; i < m->memops.n; i++) {
    int32_t kind = nai_at_i32(&m->memops.copy_kind, i), from = nai_at_i32(&src, i), to = nai_at_i32(&dst, i);
    if ((kind != PEER && kind != DEVICE_TO_DEVICE) || from < 0 || to < 0 || from == to)
      continue;
    NAI_TRY(NAI_ROOM(w->v, capacity, w->count, arena, err));
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
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(w->m->scratch_dir);
  struct nai_intervals back = {.arena = &arena};
  struct nai_coverage coverage;
  for (uint32_t i = 0; i < w->count; i++)
    if (w->v[i].process == v->process && w->v[i].src == v->dst && w->v[i].dst == v->src)
      nai_intervals_add(&back, w->v[i].start, w->v[i].end);
  if (back.oom)
    return nai_err_nomem(err);
  NAI_TRY(nai_coverage_in(&coverage, &back, &arena, err));
  *ns = 0;
  for (uint32_t i = 0; i < n; i++)
    *ns += nai_coverage_overlap_ns(&coverage, v[i].start, v[i].end);
  return NAI_OK;
}

/* One direction, 10^9 bytes per second, 0 unknown. */
static double link_of(const struct nai_model *m, uint32_t row) {
  uint32_t gpu = nai_model_gpu_index(m, nai_at_i32(&m->memops.device_id, row));
  const char *name = gpu < m->gpu_count ? nai_get_str(m->tables[NAI_IN_GPUS], gpu, GPUS_gpu_name) : "";
  return *name ? nai_comm_names_link(nai_kernel_classes_comm_names(m->classes), name) : 0;
}

static int put_pair(struct nai_table *out, const struct work *w, struct copy *v, uint32_t n, int64_t *room,
                    struct nai_err *err) {
  int64_t total = 0, bytes = 0, opposite = 0;
  struct nai_copy_rates rates = {.rates = room, .limit = link_of(w->m, v->row)};
  const struct copy *longest = v;
  mark_shared(v, n);
  for (uint32_t i = 0; i < n; i++) {
    int64_t size = nai_at(&w->m->memops.bytes, v[i].row);
    total += v[i].end - v[i].start;
    bytes += size > 0 ? size : 0;
    longest = v[i].end - v[i].start > longest->end - longest->start ? &v[i] : longest;
    if (!v[i].shared)
      nai_copy_rates_add(&rates, w->m, v[i].row);
  }
  nai_copy_rates_finish(&rates);
  NAI_TRY(opposite_ns(&opposite, w, v, n, err));
  NAI_ADD(PEER_COPIES, out, .pid = nai_model_pid(w->m, v->process), .src_cuda_device = v->src,
          .dst_cuda_device = v->dst, .count = n, .total_bytes = bytes, .total_time_ns = total,
          .large_count = rates.count, .p50_gb_per_s = rates.p50_gb_per_s, .p90_gb_per_s = rates.p90_gb_per_s,
          .link_gb_per_s = rates.limit_gb_per_s, .p50_pct_of_link = rates.p50_pct_of_limit,
          .excess_ns = rates.excess_ns, .opposite_ns = opposite, .longest_start_ns = longest->start,
          .longest_end_ns = longest->end);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct work w = {.m = io->model};
  int64_t *room;
  NAI_TRY(take(&w, io->arena, err));
  NAI_TRY(NAI_NEW(room, io->arena, w.count, err));
  for (uint32_t i = 0, j; i < w.count; i = j) {
    j = end_of_pair(&w, i);
    NAI_TRY(put_pair(io->out[0], &w, w.v + i, j - i, room, err));
  }
  return NAI_OK;
}

NAI_ANALYSIS(peer_copies, .outputs = NAI_SCHEMAS(&nai_peer_copies_schema), .parts = NAI_PART(GPUS),
             .tables = NAI_IN(MEMOPS) | NAI_IN(GPUS) | NAI_IN(PROCESSES), .config = NAI_CONFIG(KERNEL_CLASSES),
             .run = run)
