/* What ranges have on GPUs, kept by name: what several readers ask of all projections. */
#include "model/nvtx/range_spans.h"

#include "base/sort.h"
#include "model/build.h"
#include "model/nvtx/projection.h"

struct work {
  const struct nai_model *m;
  struct nai_range_spans *out;
  struct nai_arena *arena, *lasting;
  struct nai_keyset known; /* (name and kind, GPU): its group */
  uint32_t *all_of;        /* per name and kind: 1 + number of its group of all, 0 for none yet */
};

static int add_group(uint32_t *number, struct work *w, uint32_t name_kind, uint32_t gpu, struct nai_err *err) {
  struct nai_range_spans *out = w->out;
  bool added;
  *number = nai_keyset_add(&w->known, nai_key_pair(name_kind, gpu), &added);
  NAI_TRY(nai_memory_check(!w->known.oom, err));
  if (!added)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(out->groups, out->group_capacity, *number, w->lasting, err));
  out->group_count++;
  if (gpu == NAI_NO_ROW)
    w->all_of[name_kind] = *number + 1;
  uint32_t all = w->all_of[name_kind] - 1;
  out->groups[*number] = (struct nai_span_group){
      .name = name_kind / 2, .gpu = gpu, .start_end = name_kind % 2, .all = all, .next = NAI_NO_ROW};
  if (gpu != NAI_NO_ROW) {
    out->groups[out->groups[all].last].next = *number;
    out->groups[all].gpu_count++;
  }
  out->groups[all].last = *number;
  return NAI_OK;
}

/* The group of a name on a GPU, which mostly is that of the instance before, or on all of them. */
static int find_group(uint32_t *number, struct work *w, uint32_t name_kind, uint32_t gpu, struct nai_err *err) {
  if (!w->all_of[name_kind])
    NAI_TRY(add_group(number, w, name_kind, NAI_NO_ROW, err));
  uint32_t all = w->all_of[name_kind] - 1, met = w->out->groups[all].met;
  *number = gpu == NAI_NO_ROW ? all : met - 1;
  if (gpu == NAI_NO_ROW || (met && w->out->groups[met - 1].gpu == gpu))
    return NAI_OK;
  NAI_TRY(add_group(number, w, name_kind, gpu, err));
  w->out->groups[all].met = *number + 1;
  return NAI_OK;
}

/* Of equally long ones that start together, the one that came first. */
static bool is_longer(const struct nai_range_span *spans, uint32_t a, uint32_t b) {
  if (!a || !b)
    return a;
  const struct nai_range_span *x = &spans[a - 1], *y = &spans[b - 1];
  const int64_t more = (x->end - x->start) - (y->end - y->start);
  return more > 0 || (more == 0 && NAI_COMPARE({y->start, x->start}, {b, a}) > 0);
}

static inline void add_sums(struct nai_span_sums *to, const struct nai_span_sums *from,
                            const struct nai_range_span *spans) {
  to->with_work += from->with_work;
  to->own_ns += from->own_ns;
  to->busy_ns += from->busy_ns;
  to->range_ns += from->range_ns;
  to->ops += from->ops;
  to->launches += from->launches;
  to->streams = from->streams > to->streams ? from->streams : to->streams;
  to->kernel_ns += from->kernel_ns;
  to->comm_ns += from->comm_ns;
  to->graph_ns += from->graph_ns;
  to->copy_ns += from->copy_ns;
  to->longest = is_longer(spans, from->longest, to->longest) ? from->longest : to->longest;
}

static int add(void *ctx, const struct nai_projection *p, struct nai_err *err) {
  struct work *w = ctx;
  struct nai_range_spans *out = w->out;
  uint32_t number;
  int64_t node = p->gpu == NAI_NO_ROW ? NAI_NULL_I64 : nai_projection_node(w->m, p);
  if (node != NAI_NULL_I64)
    out->node_ns[node] += p->end - p->start;
  NAI_TRY(find_group(&number, w, 2 * p->name + p->start_end, p->gpu, err));
  struct nai_span_group *group = &out->groups[number];
  struct nai_span_sums *sums = p->whole ? &group->sums : &group->parts;
  if (p->inside) {
    sums->with_work++;
    return NAI_OK;
  }
  NAI_TRY(NAI_ROOM(out->v, out->capacity, out->count, w->lasting, err));
  out->v[out->count++] = (struct nai_range_span){p->start,           p->end,    p->range,
                                                 number & INT32_MAX, !p->whole, w->m->thread_process[p->thread]};
  const struct nai_span_sums own = {1,          p->own_ns,   p->busy_ns, nai_range_ns(w->m, p->range),
                                    p->ops,     p->launches, p->streams, p->kernel_ns,
                                    p->comm_ns, p->graph_ns, p->copy_ns, out->count};
  add_sums(sums, &own, out->v);
  group->count++;
  return NAI_OK;
}

static int make_spans(struct nai_model *m, struct nai_err *err) {
  struct nai_arena *arena = &m->work->arenas[NAI_PART_RANGE_SPANS];
  struct work w = {.m = m, .arena = arena, .lasting = &m->arena, .known.arena = arena};
  NAI_TRY(NAI_NEW(w.out, &m->arena, 1, err));
  NAI_TRY(NAI_NEW(w.out->node_ns, &m->arena, m->node_count, err));
  NAI_TRY(NAI_NEW(w.all_of, arena, 2 * (size_t)m->tables[NAI_IN_NVTX]->strings.count, err));
  if (m->map_nvtx && nai_model_gpu_work(m)) { /* room for a span of each range: what is not written costs nothing */
    w.out->capacity = m->nvtx.n;
    NAI_TRY(NAI_NEW_UNSET(w.out->v, &m->arena, m->nvtx.n, err));
    NAI_TRY(nai_project_ranges(m, NULL, add, &w, err));
  }
  for (uint32_t i = 0; i < w.out->group_count; i++) {
    struct nai_span_group *group = &w.out->groups[i];
    if (group->gpu == NAI_NO_ROW)
      continue;
    add_sums(&w.out->groups[group->all].sums, &group->sums, w.out->v);
    add_sums(&group->sums, &group->parts, w.out->v);
  }
  m->range_spans = w.out;
  return NAI_OK;
}

const struct nai_part_def nai_part_range_spans = {.name = "range spans",
                                                  .needs = NAI_PROJECTION_PARTS | NAI_PART(NVTX_TREE),
                                                  .tables = NAI_IN(NVTX) | NAI_IN(THREADS),
                                                  .config = NAI_CONFIG(MAP_NVTX),
                                                  .begin = make_spans};
