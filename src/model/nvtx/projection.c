/* Ranges of a thread in order of start: what each launched is a stretch of the thread's launching calls. */
#include "model/nvtx/projection.h"

#include "base/sort.h"

/* A call that launched operations. */
struct launch {
  int64_t start, end;
  uint32_t api;
};
struct launched {
  uint32_t gpu, op;
};

/* What the range at hand has on a GPU. */
struct side {
  struct nai_projection sum;
  struct nai_interval *v; /* of its operations, in order of their calls */
  uint32_t count, capacity, last_launch;
  bool ascends;   /* v, by start */
  uint32_t *seen; /* per stream: the last range that used it */
  struct nai_coverage all;
};

struct work {
  const struct nai_model *m;
  struct nai_arena *arena;
  const bool *wanted;
  nai_projection_fn *put;
  void *ctx;

  uint32_t *first_op; /* per call: its first in `ops`; one more entry than calls */
  struct launched *ops;

  struct launch *launches; /* of the thread, by start */
  uint32_t launch_count, launch_capacity, next;
  struct last_end {
    uint32_t thread; /* + 1 */
    int64_t end;
  } * ends; /* per name and kind: where its outermost instances end that have begun */

  /* the range at hand, or the one before it */
  uint32_t turn, first, behind; /* its number, and its stretch of launches */
  uint32_t call;                /* the first one in it that lies in the range */
  int64_t latest_end;           /* of the calls in that stretch */
  bool complete;                /* all of them lie in the range */
  struct side *sides;           /* per GPU */
  uint32_t *used, used_count;   /* GPUs with something */
  struct nai_interval *merged;
  uint32_t merged_capacity;
  struct nai_projection whole;
};

/* --- what calls launched ---------------------------------------------------------------------------- */

/* Operations by call, those of a call by GPU and start. */
static int collect_ops(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  uint32_t total = 0;
  NAI_TRY(NAI_NEW(w->first_op, w->arena, (size_t)m->apis.n + 2, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++) {
      uint32_t api = nai_model_op_api(m, &m->gpus[g].ops[i]);
      if (api != NAI_NO_ROW)
        w->first_op[api + 2]++;
    }
  for (uint32_t i = 0; i < m->apis.n; i++)
    total = w->first_op[i + 2] += w->first_op[i + 1];
  NAI_TRY(NAI_NEW(w->ops, w->arena, total, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++) {
      uint32_t api = nai_model_op_api(m, &m->gpus[g].ops[i]);
      if (api != NAI_NO_ROW)
        w->ops[w->first_op[api + 1]++] = (struct launched){g, i};
    }
  return NAI_OK;
}

static int collect_launches(struct work *w, uint32_t thread, struct nai_err *err) {
  const struct nai_model *m = w->m;
  const struct nai_groups *calls = &m->api_by_thread;
  w->launch_count = w->next = 0;
  w->first = w->behind = NAI_NO_ROW;
  for (uint32_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
    uint32_t api = calls->order[i];
    if (w->first_op[api] == w->first_op[api + 1])
      continue;
    NAI_TRY(NAI_ROOM(w->launches, w->launch_capacity, w->launch_count, w->arena, err));
    w->launches[w->launch_count++] = (struct launch){nai_at(&m->apis.start_ns, api), nai_at(&m->apis.end_ns, api), api};
  }
  return NAI_OK;
}

/* --- a range ---------------------------------------------------------------------------------------- */

static void add_time(struct nai_projection *sum, const struct nai_op *op, int64_t ns) {
  sum->kernel_ns += op->type == NAI_OP_KERNEL ? ns : 0;
  sum->comm_ns += op->type == NAI_OP_KERNEL && op->communication ? ns : 0;
  sum->graph_ns += op->type == NAI_OP_GRAPH ? ns : 0;
  sum->copy_ns += op->type == NAI_OP_COPY || op->type == NAI_OP_SET ? ns : 0;
}

static void begin_side(struct work *w, struct side *side, uint32_t gpu) {
  w->used[w->used_count++] = gpu;
  side->sum = (struct nai_projection){.gpu = gpu, .gpu_count = 1, .start = INT64_MAX, .end = INT64_MIN};
  side->count = 0;
  side->ascends = true;
  side->last_launch = NAI_NO_ROW;
}

static int add_op(struct work *w, uint32_t launch, const struct launched *launched, struct nai_err *err) {
  const struct nai_model *m = w->m;
  const struct nai_op *op = &m->gpus[launched->gpu].ops[launched->op];
  struct side *side = &w->sides[launched->gpu];
  struct nai_projection *sum = &side->sum;
  int64_t start = nai_model_op_start(m, op), end = nai_model_op_end(m, op);
  if (!side->count)
    begin_side(w, side, launched->gpu);
  NAI_TRY(NAI_ROOM(side->v, side->capacity, side->count, w->arena, err));
  side->ascends = side->ascends && (!side->count || side->v[side->count - 1].start <= start);
  side->v[side->count++] = (struct nai_interval){start, end};
  sum->start = start < sum->start ? start : sum->start;
  sum->end = end > sum->end ? end : sum->end;
  sum->ops++;
  sum->launches += side->last_launch != launch;
  side->last_launch = launch;
  sum->streams += side->seen[op->stream] != w->turn;
  side->seen[op->stream] = w->turn;
  add_time(sum, op, end - start);
  return NAI_OK;
}

static int64_t union_ns(const struct nai_interval *v, uint32_t count) {
  int64_t ns = 0, until = INT64_MIN;
  for (uint32_t i = 0; i < count; i++) {
    int64_t from = v[i].start > until ? v[i].start : until;
    ns += v[i].end > from ? v[i].end - from : 0;
    until = v[i].end > until ? v[i].end : until;
  }
  return ns;
}

/* Of intervals in any order, which are put in order. */
static int any_union_ns(int64_t *ns, struct nai_interval *v, uint32_t count, struct nai_err *err) {
  bool oom = false;
  *ns = nai_intervals_union_ns(v, count, &oom);
  return oom ? nai_err_nomem(err) : NAI_OK;
}

static int finish_side(struct side *side, struct nai_err *err) {
  struct nai_projection *sum = &side->sum;
  sum->busy_ns = nai_coverage_overlap_ns(&side->all, sum->start, sum->end);
  sum->own_ns = side->ascends ? union_ns(side->v, side->count) : 0;
  return side->ascends ? NAI_OK : any_union_ns(&sum->own_ns, side->v, side->count, err);
}

static int merge(struct work *w, uint32_t *count, struct nai_interval interval, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(w->merged, w->merged_capacity, *count, w->arena, err));
  w->merged[(*count)++] = interval;
  return NAI_OK;
}

static void add_side(struct nai_projection *whole, const struct nai_projection *side) {
  whole->start = side->start < whole->start ? side->start : whole->start;
  whole->end = side->end > whole->end ? side->end : whole->end;
  whole->kernel_ns += side->kernel_ns;
  whole->graph_ns += side->graph_ns;
  whole->copy_ns += side->copy_ns;
  whole->comm_ns += side->comm_ns;
  whole->ops += side->ops;
  whole->launches += side->launches;
  whole->streams += side->streams;
}

/* Calls with operations on several of the GPUs count once. */
static uint32_t count_launches(const struct work *w, int64_t end) {
  uint32_t count = 0;
  for (uint32_t i = w->first; i < w->behind; i++)
    count += w->launches[i].end <= end;
  return count;
}

static int finish_several(struct work *w, int64_t end, struct nai_err *err) {
  struct nai_projection *whole = &w->whole;
  uint32_t own = 0, busy = 0;
  *whole = (struct nai_projection){.gpu = NAI_NO_ROW, .gpu_count = w->used_count, .start = INT64_MAX, .end = INT64_MIN};
  for (uint32_t i = 0; i < w->used_count; i++) {
    const struct side *side = &w->sides[w->used[i]];
    add_side(whole, &side->sum);
    for (uint32_t k = 0; k < side->count; k++)
      NAI_TRY(merge(w, &own, side->v[k], err));
  }
  whole->launches = count_launches(w, end);
  NAI_TRY(any_union_ns(&whole->own_ns, w->merged, own, err));
  for (uint32_t i = 0; i < w->used_count; i++) {
    const struct nai_intervals *all = &w->m->gpus[w->used[i]].all;
    for (size_t k = nai_intervals_after(all, whole->start); k < all->count && all->v[k].start < whole->end; k++) {
      int64_t from = all->v[k].start > whole->start ? all->v[k].start : whole->start;
      NAI_TRY(
          merge(w, &busy, (struct nai_interval){from, all->v[k].end < whole->end ? all->v[k].end : whole->end}, err));
    }
  }
  return any_union_ns(&whole->busy_ns, w->merged, busy, err);
}

/* Sums up what calls first .. behind - 1 that have ended by `end` launched. */
static int sum_up(struct work *w, int64_t end, struct nai_err *err) {
  for (uint32_t i = 0; i < w->used_count; i++)
    w->sides[w->used[i]].count = 0;
  w->used_count = 0;
  w->turn++;
  w->latest_end = INT64_MIN;
  w->complete = true;
  w->call = NAI_NO_ROW;
  for (uint32_t i = w->first; i < w->behind; i++) {
    const struct launch *launch = &w->launches[i];
    w->latest_end = launch->end > w->latest_end ? launch->end : w->latest_end;
    w->complete &= launch->end <= end;
    w->call = w->call == NAI_NO_ROW && launch->end <= end ? launch->api : w->call;
    for (uint32_t k = w->first_op[launch->api]; k < w->first_op[launch->api + 1] && launch->end <= end; k++)
      NAI_TRY(add_op(w, i, &w->ops[k], err));
  }
  for (uint32_t i = 0; i < w->used_count; i++)
    NAI_TRY(finish_side(&w->sides[w->used[i]], err));
  if (w->used_count == 1)
    w->whole = w->sides[w->used[0]].sum;
  return w->used_count > 1 ? finish_several(w, end, err) : NAI_OK;
}

static bool is_inside(struct work *w, uint32_t thread, uint32_t range, int64_t end) {
  const struct NVTX_EVENTS_columns *ranges = &w->m->nvtx;
  bool start_end = nai_at_i32(&ranges->kind, range) != NAI_NVTX_PUSH_POP;
  struct last_end *last = &w->ends[2 * (size_t)nai_at_text(&ranges->name, range) + start_end];
  if (last->thread == thread + 1 && end <= last->end)
    return true;
  *last = (struct last_end){thread + 1, end};
  return false;
}

static int put_range(struct work *w, uint32_t range, bool inside, struct nai_err *err) {
  struct nai_projection projection;
  for (uint32_t i = 0; i < w->used_count && w->used_count > 1; i++) {
    projection = w->sides[w->used[i]].sum;
    projection.range = range;
    projection.call = w->call;
    projection.inside = inside;
    NAI_TRY(w->put(w->ctx, &projection, err));
  }
  projection = w->whole;
  projection.range = range;
  projection.call = w->call;
  projection.inside = inside;
  projection.whole = true;
  return w->used_count ? w->put(w->ctx, &projection, err) : NAI_OK;
}

/* The first launch behind `next` that begins after `end`. Most ranges hold few: steps that double come first. */
static uint32_t behind_end(const struct work *w, int64_t end) {
  uint32_t from = w->next, step = 1;
  while (step < w->launch_count - from && w->launches[from + step].start <= end) {
    from += step;
    step *= 2;
  }
  uint32_t rest = step < w->launch_count - from ? step : w->launch_count - from;
  return from +
         (uint32_t)nai_bisect(w->launches + from, rest, sizeof *w->launches, offsetof(struct launch, start), end + 1);
}

static int project(struct work *w, uint32_t thread, uint32_t range, struct nai_err *err) {
  const struct NVTX_EVENTS_columns *ranges = &w->m->nvtx;
  int64_t start = nai_at(&ranges->start_ns, range), end = nai_at(&ranges->end_ns, range);
  if (nai_at_i32(&ranges->end_thread, range) != NAI_NULL_I32 || (w->wanted && !w->wanted[range]))
    return NAI_OK;
  while (w->next < w->launch_count && w->launches[w->next].start < start)
    w->next++;
  uint32_t behind = behind_end(w, end);
  bool inside = is_inside(w, thread, range, end);
  if (behind == w->next)
    return NAI_OK;
  /* Ranges around the same calls follow each other. */
  if (w->next != w->first || behind != w->behind || !w->complete || end < w->latest_end) {
    w->first = w->next;
    w->behind = behind;
    NAI_TRY(sum_up(w, end, err));
  }
  return put_range(w, range, inside, err);
}

/* --- all of them ------------------------------------------------------------------------------------- */

static int prepare(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  NAI_TRY(collect_ops(w, err));
  NAI_TRY(NAI_NEW(w->sides, w->arena, m->gpu_count, err));
  NAI_TRY(NAI_NEW(w->used, w->arena, m->gpu_count, err));
  NAI_TRY(NAI_NEW(w->ends, w->arena, 2 * (size_t)m->tables[NAI_IN_NVTX]->strings.count, err));
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    NAI_TRY(NAI_NEW(w->sides[g].seen, w->arena, m->gpus[g].stream_count, err));
    NAI_TRY(nai_coverage_in(&w->sides[g].all, &m->gpus[g].all, w->arena, err));
  }
  return NAI_OK;
}

/* Whether any range of the thread is wanted. */
static bool is_needed(const struct work *w, uint32_t thread) {
  const struct nai_groups *ranges = &w->m->nvtx_by_thread;
  uint32_t i = ranges->first[thread], end = ranges->first[thread + 1];
  while (w->wanted && i < end && !w->wanted[ranges->order[i]])
    i++;
  return i < end;
}

int nai_project_ranges(const struct nai_model *m, const bool *wanted, nai_projection_fn *put, void *ctx,
                       struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct work w = {.m = m, .arena = &arena, .wanted = wanted, .put = put, .ctx = ctx};
  const struct nai_groups *ranges = &m->nvtx_by_thread;
  if (!m->nvtx.n || !nai_model_gpu_work(m))
    return NAI_OK;
  NAI_TRY(prepare(&w, err));
  for (uint32_t thread = 0; thread < m->thread_count; thread++) {
    if (!is_needed(&w, thread))
      continue;
    NAI_TRY(collect_launches(&w, thread, err));
    for (uint32_t i = ranges->first[thread]; i < ranges->first[thread + 1]; i++)
      NAI_TRY(project(&w, thread, ranges->order[i], err));
  }
  return NAI_OK;
}

int64_t nai_projection_node(const struct nai_model *m, const struct nai_projection *p) {
  enum { TOO_DEEP = 255 };
  const struct nai_nvtx_node *node = nai_model_call_node(m, p->call);
  uint32_t depth = 0, wanted = m->nvtx_depth[p->range];
  if (!node || wanted == TOO_DEEP || nai_at_i32(&m->nvtx.kind, p->range) != NAI_NVTX_PUSH_POP)
    return NAI_NULL_I64;
  for (const struct nai_nvtx_node *n = node; n->parent != NAI_NO_ROW; n = &m->nodes[n->parent])
    depth++;
  for (; depth > wanted; depth--)
    node = &m->nodes[node->parent];
  bool is_it = depth == wanted && node->name == nai_at_text(&m->nvtx.name, p->range);
  return is_it ? node - m->nodes : NAI_NULL_I64; /* ranges that cross have other nodes around them */
}
