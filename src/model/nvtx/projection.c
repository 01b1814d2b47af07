/* Ranges of a thread in order of start: what each launched is a stretch of the thread's launching calls. */
#include "model/nvtx/projection_sweep.h"

#include "base/sort.h"

/* What the range at hand has on a GPU. */
struct side {
  struct nai_projection sum;
  struct nai_interval *v; /* of its operations, in order of their calls */
  uint32_t count, capacity, last_launch;
  bool ascends;   /* v, by start */
  uint32_t *seen; /* per stream: the last range that used it */
  struct nai_coverage all;
};

enum { MAX_SEVERAL = 16, MANY_CALLS = 64, MAX_VISITS = 16 /* per call and range of a thread */ };
struct work {
  const struct nai_model *m;
  struct nai_arena *arena;
  const bool *wanted;
  nai_projection_fn *put;
  void *ctx;

  uint32_t *first_op; /* per call: its first in `ops`; one more entry than calls */
  struct nai_launched_op *ops;

  uint32_t thread;
  struct nai_launches launches; /* of the thread, and one more that begins never */
  uint32_t next;
  struct last_end {
    uint32_t thread; /* + 1 */
    int64_t end;
  } * ends; /* per name and kind: where its outermost instances end that have begun */

  /* the range at hand, or the one before it */
  uint32_t name;
  bool start_end;
  uint32_t turn, first, behind; /* its number, and its stretch of launches */
  uint32_t call;                /* the first one in it that lies in the range */
  bool complete;                /* all calls of the stretch lie in the range */
  int64_t latest_end;           /* of those that do */
  struct side *sides;           /* per GPU */
  uint32_t *used, used_count;   /* GPUs with something */
  struct nai_interval *merged;
  uint32_t merged_capacity;
  struct nai_projection *parts, several_sum; /* parts: by `used`; what several of them add up to */
  struct nai_projection *whole;
  struct several {
    uint32_t *gpus, gpu_count;
    struct nai_intervals all;
    struct nai_coverage busy;
  } several[MAX_SEVERAL]; /* GPUs that ranges used together */
  uint32_t several_count;

  /* where ranges of the thread hold too many calls to go through all of them again and again */
  uint64_t visits; /* of calls by ranges */
  bool swept;
  struct asked {
    uint32_t range, first;
  } * asked;                   /* those ranges, and their first calls */
  struct nai_projection *made; /* their projections, the last one first */
  uint32_t asked_count, asked_capacity, made_count, made_capacity;
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
  w->launches.first_op = w->first_op;
  w->launches.ops = w->ops;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++) {
      uint32_t api = nai_model_op_api(m, &m->gpus[g].ops[i]);
      if (api != NAI_NO_ROW)
        w->ops[w->first_op[api + 1]++] = (struct nai_launched_op){g, i};
    }
  return NAI_OK;
}

static int collect_launches(struct work *w, uint32_t thread, struct nai_err *err) {
  const struct nai_model *m = w->m;
  const struct nai_groups *calls = &m->api_by_thread;
  w->thread = thread;
  w->launches.count = w->next = 0;
  w->first = w->behind = NAI_NO_ROW;
  w->visits = 0;
  w->swept = false;
  for (uint32_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
    uint32_t api = calls->order[i];
    if (w->first_op[api] == w->first_op[api + 1])
      continue;
    NAI_TRY(NAI_ROOM(w->launches.at, w->launches.capacity, w->launches.count, w->arena, err));
    w->launches.at[w->launches.count++] =
        (struct nai_launch){nai_val(&m->apis.start_ns, api), nai_val(&m->apis.end_ns, api), api};
  }
  NAI_TRY(NAI_ROOM(w->launches.at, w->launches.capacity, w->launches.count, w->arena, err));
  w->launches.at[w->launches.count] = (struct nai_launch){INT64_MAX, INT64_MAX, NAI_NO_ROW};
  return NAI_OK;
}

/* --- a range ---------------------------------------------------------------------------------------- */

static void begin_side(struct work *w, struct side *side, uint32_t gpu) {
  w->used[w->used_count++] = gpu;
  side->sum = NAI_NO_PROJECTION;
  side->sum.gpu = gpu;
  side->sum.gpu_count = 1;
  side->count = 0;
  side->ascends = true;
  side->last_launch = NAI_NO_ROW;
}

static int add_op(struct work *w, uint32_t launch, const struct nai_launched_op *launched, struct nai_err *err) {
  const struct nai_model *m = w->m;
  const struct nai_op *op = &m->gpus[launched->gpu].ops[launched->op];
  struct side *side = &w->sides[launched->gpu];
  struct nai_projection *sum = &side->sum;
  int64_t start = op->start, end = op->end;
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
  nai_projection_add_time(sum, op, end - start);
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

static int finish_side(struct side *side, struct nai_err *err) {
  struct nai_projection *sum = &side->sum;
  if (side->ascends)
    sum->own_ns = union_ns(side->v, side->count);
  else
    NAI_TRY(nai_intervals_union_ns(&sum->own_ns, side->v, side->count, err));
  bool whole = sum->own_ns == sum->end - sum->start; /* nobody else's work can add to that */
  sum->busy_ns = whole ? sum->own_ns : nai_coverage_overlap_ns(&side->all, sum->start, sum->end);
  return NAI_OK;
}

static int merge(struct work *w, uint32_t *count, struct nai_interval interval, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(w->merged, w->merged_capacity, *count, w->arena, err));
  w->merged[(*count)++] = interval;
  return NAI_OK;
}

/* Calls with operations on several of the GPUs count once. */
static uint32_t count_launches(const struct work *w, int64_t end) {
  uint32_t count = 0;
  for (uint32_t i = w->first; i < w->behind; i++)
    count += w->launches.at[i].end <= end;
  return count;
}

/* What operations on all the GPUs in `used` cover; NULL when too many such sets were met. */
static int find_busy(struct nai_coverage **out, struct work *w, struct nai_err *err) {
  const size_t bytes = w->used_count * sizeof *w->used;
  struct several *s = w->several, *end = s + w->several_count;
  while (s < end && (s->gpu_count != w->used_count || memcmp(s->gpus, w->used, bytes) != 0))
    s++;
  *out = s < w->several + MAX_SEVERAL ? &s->busy : NULL;
  if (s < end || !*out)
    return NAI_OK;
  w->several_count++;
  s->gpu_count = w->used_count;
  NAI_TRY(NAI_NEW(s->gpus, w->arena, w->used_count, err));
  memcpy(s->gpus, w->used, bytes);
  for (uint32_t i = 0; i < w->used_count; i++) {
    const struct nai_intervals before = s->all;
    s->all = (struct nai_intervals){.arena = w->arena};
    nai_intervals_union(&s->all, &before, &w->m->gpus[w->used[i]].all);
    NAI_TRY(nai_memory_check(!s->all.oom, err));
  }
  return nai_coverage_in(&s->busy, &s->all, w->arena, err);
}

static int find_busy_ns(struct work *w, struct nai_err *err) {
  struct nai_projection *whole = w->whole;
  struct nai_coverage *known;
  uint32_t busy = 0;
  NAI_TRY(find_busy(&known, w, err));
  whole->busy_ns = known ? nai_coverage_overlap_ns(known, whole->start, whole->end) : 0;
  for (uint32_t i = 0; i < w->used_count && !known; i++) {
    const struct nai_intervals *all = &w->m->gpus[w->used[i]].all;
    for (size_t k = nai_intervals_after(all, whole->start); k < all->count && all->v[k].start < whole->end; k++) {
      int64_t from = all->v[k].start > whole->start ? all->v[k].start : whole->start;
      NAI_TRY(
          merge(w, &busy, (struct nai_interval){from, all->v[k].end < whole->end ? all->v[k].end : whole->end}, err));
    }
  }
  return known ? NAI_OK : nai_intervals_union_ns(&whole->busy_ns, w->merged, busy, err);
}

/* The whole of several parts; what is counted apart is that of all together. */
static int add_up(struct work *w, uint32_t launches, int64_t own_ns, struct nai_err *err) {
  w->whole = &w->several_sum;
  *w->whole = NAI_NO_PROJECTION;
  for (uint32_t i = 0; i < w->used_count; i++)
    nai_projection_add(w->whole, &w->parts[i]);
  w->whole->gpu_count = w->used_count;
  w->whole->launches = launches;
  w->whole->own_ns = own_ns;
  return find_busy_ns(w, err);
}

static int finish_several(struct work *w, int64_t end, struct nai_err *err) {
  uint32_t own = 0;
  int64_t own_ns;
  for (uint32_t i = 0; i < w->used_count; i++) {
    const struct side *side = &w->sides[w->used[i]];
    w->parts[i] = side->sum;
    for (uint32_t k = 0; k < side->count; k++)
      NAI_TRY(merge(w, &own, side->v[k], err));
  }
  NAI_TRY(nai_intervals_union_ns(&own_ns, w->merged, own, err));
  return add_up(w, count_launches(w, end), own_ns, err);
}

static void forget(struct work *w) {
  for (uint32_t i = 0; i < w->used_count; i++)
    w->sides[w->used[i]].count = 0;
  w->used_count = 0;
}

/* sum_up where that is one operation. */
static void sum_up_one(struct work *w, const struct nai_launched_op *launched) {
  const struct nai_op *op = &w->m->gpus[launched->gpu].ops[launched->op];
  struct side *side = &w->sides[launched->gpu];
  begin_side(w, side, launched->gpu);
  side->sum.start = op->start;
  side->sum.end = op->end;
  side->sum.own_ns = side->sum.busy_ns = op->end - op->start;
  side->sum.ops = side->sum.launches = side->sum.streams = 1;
  nai_projection_add_time(&side->sum, op, op->end - op->start);
  w->whole = &side->sum;
}

/* Sums up what calls first .. behind - 1 that have ended by `end` launched. */
static int sum_up(struct work *w, int64_t end, struct nai_err *err) {
  const struct nai_launch *only = w->behind - w->first == 1 ? &w->launches.at[w->first] : NULL;
  forget(w);
  w->turn++;
  w->latest_end = INT64_MIN;
  w->complete = true;
  w->call = NAI_NO_ROW;
  if (only && only->end <= end && w->first_op[only->api + 1] - w->first_op[only->api] == 1) {
    w->latest_end = only->end;
    w->call = only->api;
    sum_up_one(w, &w->ops[w->first_op[only->api]]);
    return NAI_OK;
  }
  for (uint32_t i = w->first; i < w->behind; i++) {
    const struct nai_launch *launch = &w->launches.at[i];
    if (launch->end > end) {
      w->complete = false;
      continue;
    }
    w->latest_end = launch->end > w->latest_end ? launch->end : w->latest_end;
    w->call = w->call == NAI_NO_ROW ? launch->api : w->call;
    const struct nai_launched_op *ops_end = w->ops + w->first_op[launch->api + 1];
    for (const struct nai_launched_op *op = w->ops + w->first_op[launch->api]; op < ops_end; op++)
      NAI_TRY(add_op(w, i, op, err));
  }
  for (uint32_t i = 0; i < w->used_count; i++)
    NAI_TRY(finish_side(&w->sides[w->used[i]], err));
  if (w->used_count == 1)
    w->whole = &w->sides[w->used[0]].sum;
  return w->used_count > 1 ? finish_several(w, end, err) : NAI_OK;
}

static bool is_inside(struct work *w, int64_t end) {
  struct last_end *last = &w->ends[2 * (size_t)w->name + w->start_end];
  if (last->thread == w->thread + 1 && end <= last->end)
    return true;
  *last = (struct last_end){w->thread + 1, end};
  return false;
}

static int put_part(struct work *w, struct nai_projection *part, uint32_t range, bool inside, struct nai_err *err) {
  part->range = range;
  part->name = w->name;
  part->thread = (int32_t)w->thread;
  part->start_end = w->start_end;
  part->call = w->call;
  part->inside = inside;
  return w->put(w->ctx, part, err);
}

static int put_range(struct work *w, uint32_t range, bool inside, struct nai_err *err) {
  for (uint32_t i = 0; i < w->used_count && w->used_count > 1; i++)
    NAI_TRY(put_part(w, &w->parts[i], range, inside, err));
  if (!w->used_count)
    return NAI_OK;
  w->whole->whole = true;
  return put_part(w, w->whole, range, inside, err);
}

/* The first launch that begins after `end`, where `next` does not. Most ranges hold few: steps that double come first.
 */
static uint32_t behind_end(const struct work *w, int64_t end) {
  uint32_t from = w->next, step = 1;
  while (step < w->launches.count - from && w->launches.at[from + step].start <= end) {
    from += step;
    step *= 2;
  }
  uint32_t rest = step < w->launches.count - from ? step : w->launches.count - from;
  return from + (uint32_t)nai_bisect(w->launches.at + from, rest, sizeof *w->launches.at,
                                     offsetof(struct nai_launch, start), end + 1);
}

/* Goes through a thread's ranges: most of them hold no calls. */
struct ranges {
  const struct NVTX_EVENTS_columns *v;
  const struct nai_launch *next, *last;
  int64_t end;     /* of the range at hand; */
  uint32_t behind; /* it holds the calls from w->next on to the one in front of this */
};
static struct ranges ranges_from(const struct work *w) {
  const struct nai_launches *launches = &w->launches;
  return (struct ranges){.v = &w->m->nvtx, .next = launches->at + w->next, .last = launches->at + launches->count};
}

/* Whether a range holds calls. Not where nothing is asked of it. */
static inline bool enter(struct ranges *r, struct work *w, uint32_t range) {
  const int64_t start = nai_val(&r->v->start_ns, range), end = nai_val(&r->v->end_ns, range);
  while (r->next->start < start)
    r->next++;
  if (r->next->start > end || r->next == r->last || (w->wanted && !w->wanted[range]) ||
      nai_at_i32(&r->v->end_thread, range) != NAI_NULL_I32)
    return false;
  w->next = (uint32_t)(r->next - w->launches.at);
  r->end = end;
  r->behind = r->next[1].start > end ? w->next + 1 : behind_end(w, end);
  return true;
}

/* --- ranges of many calls, which overlap ------------------------------------------------------------- */

static int make_part(struct work *w, struct nai_projection part, uint32_t range, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(w->made, w->made_capacity, w->made_count, w->arena, err));
  part.range = range;
  w->made[w->made_count++] = part;
  return NAI_OK;
}

static int make(struct work *w, struct nai_projection_sweep *sweep, const struct asked *asked, struct nai_err *err) {
  w->used_count = nai_projection_sweep_ask(sweep, asked->first, nai_val(&w->m->nvtx.end_ns, asked->range), w->parts);
  if (!w->used_count)
    return NAI_OK;
  for (uint32_t i = 0; i < w->used_count; i++) {
    struct nai_projection *part = &w->parts[i];
    w->used[i] = part->gpu;
    part->busy_ns = nai_coverage_overlap_ns(&w->sides[part->gpu].all, part->start, part->end);
  }
  w->whole = &w->parts[0];
  if (w->used_count > 1)
    NAI_TRY(add_up(w, w->parts[w->used_count].launches, w->parts[w->used_count].own_ns, err));
  w->whole->whole = true;
  NAI_TRY(make_part(w, *w->whole, asked->range, err));
  for (uint32_t i = w->used_count; i-- > 0 && w->used_count > 1;)
    NAI_TRY(make_part(w, w->parts[i], asked->range, err));
  return NAI_OK;
}

/* Makes the projections of ranges order[i] .. order[end - 1] that hold many calls. */
static int sweep_rest(struct work *w, uint32_t i, uint32_t end, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(w->m->scratch_dir);
  struct nai_projection_sweep *sweep;
  const uint32_t *order = w->m->nvtx_by_thread.order, next = w->next;
  w->swept = true;
  forget(w);
  w->asked_count = w->made_count = 0;
  struct ranges ranges = ranges_from(w);
  for (; i < end; i++) {
    if (!enter(&ranges, w, order[i]) || ranges.behind - w->next < MANY_CALLS)
      continue;
    NAI_TRY(NAI_ROOM(w->asked, w->asked_capacity, w->asked_count, w->arena, err));
    w->asked[w->asked_count++] = (struct asked){order[i], w->next};
  }
  w->next = next;
  NAI_TRY(nai_projection_sweep_open(&sweep, &w->launches, &arena, err));
  for (uint32_t a = w->asked_count; a-- > 0;)
    NAI_TRY(make(w, sweep, &w->asked[a], err));
  w->used_count = 0;
  return NAI_OK;
}

static int put_made(struct work *w, uint32_t range, bool inside, struct nai_err *err) {
  const uint32_t behind = w->made_count;
  uint32_t first = UINT32_MAX; /* call, of all parts */
  while (w->made_count && w->made[w->made_count - 1].range == range) {
    const struct nai_projection *part = &w->made[--w->made_count];
    first = part->call < first ? part->call : first;
  }
  w->call = first < w->launches.count ? w->launches.at[first].api : NAI_NO_ROW;
  for (uint32_t i = behind; i-- > w->made_count;)
    NAI_TRY(put_part(w, &w->made[i], range, inside, err));
  w->first = NAI_NO_ROW;
  return NAI_OK;
}

/* Range number i of the thread's, whose last one is in front of `last`; it was entered. */
static int project(struct work *w, uint32_t i, uint32_t last, const struct ranges *r, struct nai_err *err) {
  const struct nai_groups *ranges = &w->m->nvtx_by_thread;
  const uint32_t range = ranges->order[i];
  w->name = nai_val_text(&w->m->nvtx.name, range);
  w->start_end = nai_val_i32(&w->m->nvtx.kind, range) != NAI_NVTX_PUSH_POP;
  const uint32_t behind = r->behind;
  const int64_t end = r->end;
  bool inside = is_inside(w, end);
  /* Ranges around the same calls follow each other. */
  bool same = w->next == w->first && behind == w->behind && w->complete && end >= w->latest_end;
  if (!same && !w->swept && w->visits / MAX_VISITS > w->launches.count + (uint64_t)(last - ranges->first[w->thread]))
    NAI_TRY(sweep_rest(w, i, last, err));
  if (w->swept && behind - w->next >= MANY_CALLS)
    return put_made(w, range, inside, err);
  if (!same) {
    w->first = w->next;
    w->behind = behind;
    w->visits += behind - w->next;
    NAI_TRY(sum_up(w, end, err));
  }
  return put_range(w, range, inside, err);
}

static int project_thread(struct work *w, uint32_t thread, struct nai_err *err) {
  const struct nai_groups *order = &w->m->nvtx_by_thread;
  struct ranges ranges = ranges_from(w);
  for (uint32_t i = order->first[thread], last = order->first[thread + 1]; i < last; i++)
    if (enter(&ranges, w, order->order[i]))
      NAI_TRY(project(w, i, last, &ranges, err));
  return NAI_OK;
}

/* --- all of them ------------------------------------------------------------------------------------- */

static int prepare(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  NAI_TRY(collect_ops(w, err));
  NAI_TRY(NAI_NEW(w->sides, w->arena, m->gpu_count, err));
  NAI_TRY(NAI_NEW(w->used, w->arena, m->gpu_count, err));
  NAI_TRY(NAI_NEW(w->parts, w->arena, (size_t)m->gpu_count + 1, err));
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
  struct work w = {.m = m, .arena = &arena, .launches.m = m, .wanted = wanted, .put = put, .ctx = ctx};
  if (!m->nvtx.n || !nai_model_gpu_work(m))
    return NAI_OK;
  NAI_TRY(prepare(&w, err));
  for (uint32_t thread = 0; thread < m->thread_count; thread++) {
    if (!is_needed(&w, thread))
      continue;
    NAI_TRY(collect_launches(&w, thread, err));
    NAI_TRY(project_thread(&w, thread, err));
  }
  return NAI_OK;
}
