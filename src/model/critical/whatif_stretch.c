/* What of a trace is replayed: all, or of a large one successive repetitions that stand for the others. */
#include "model/critical/whatif_edit.h"

enum { LEAST_REPETITIONS = 3 };

/* Recorded times from .. to, both included. */
struct stretch {
  int64_t from, to;
};

static bool is_in(const struct stretch *s, int64_t t) { return t >= s->from && t <= s->to; }

/* How many repetitions of the scope hold so many calls and operations, if those of all GPUs and threads are spread
 * over the trace like the operations of its GPU. */
static uint32_t repetitions_of(const struct nai_whatif *w, const struct nai_path_scope *scope, uint32_t most) {
  const struct nai_dependencies *d = w->model->dependencies;
  double events = (double)d->call_count + d->op_count;
  double ops = nai_node_op(d, scope->nodes[scope->count]) - nai_node_op(d, scope->nodes[0]);
  double held = events * ops / w->model->gpus[scope->gpu].op_count;
  double count = held > 0 ? floor(scope->count * (most / held)) : 0;
  return count < scope->count ? (uint32_t)count : scope->count;
}

/* So many successive repetitions, the first ones of those whose time is closest to that of as many average ones. */
static struct stretch find_typical(const struct nai_whatif *w, const struct nai_path_scope *scope, uint32_t count) {
  const int64_t *time = w->model->dependencies->time;
  double least = INFINITY;
  uint32_t best = 0, judged = 0;
  for (uint32_t i = 0; i < scope->count; i++) {
    judged += !scope->counts || scope->counts[i];
    if (i + 1 < count)
      continue;
    uint32_t first = i + 1 - count;
    double off = fabs((double)(time[scope->nodes[i + 1]] - time[scope->nodes[first]]) - count * w->now_ns);
    if (judged && off < least) {
      least = off;
      best = first;
    }
    judged -= !scope->counts || scope->counts[first];
  }
  return (struct stretch){time[scope->nodes[best]], time[scope->nodes[best + count]]};
}

/* Leaves the repetitions inside; false where none of them is to be judged. */
static bool cut(struct nai_path_scope *scope, const struct nai_dependencies *d, const struct stretch *s) {
  uint32_t first = 0, end = scope->count;
  while (first < end && d->time[scope->nodes[first]] < s->from)
    first++;
  while (end > first && d->time[scope->nodes[end]] > s->to)
    end--;
  scope->nodes += first;
  scope->count = scope->judged = end - first;
  if (!scope->counts)
    return scope->judged > 0;
  scope->counts += first;
  scope->judged = 0;
  for (uint32_t i = 0; i < scope->count; i++)
    scope->judged += scope->counts[i];
  return scope->judged > 0;
}

static void cut_scopes(struct nai_whatif *w, const struct stretch *s) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < w->count; i++)
    if (cut(&w->scopes[i], w->model->dependencies, s))
      w->scopes[left++] = w->scopes[i];
  w->count = left;
}

static int find_ops(struct nai_whatif *w, const struct stretch *s, struct nai_err *err) {
  const struct nai_model *m = w->model;
  NAI_TRY(NAI_NEW(w->ops, w->arena, m->gpu_count, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    w->ops[g] = (struct nai_stretch){nai_gpu_op_from(&m->gpus[g], s->from),
                                     s->to < INT64_MAX ? nai_gpu_op_from(&m->gpus[g], s->to + 1) : m->gpus[g].op_count};
  return NAI_OK;
}

/* Calls of a thread that start inside. */
static struct nai_stretch calls_in(const struct nai_dependencies *d, uint32_t thread, const struct stretch *s) {
  return (struct nai_stretch){nai_dep_call_from(d, thread, s->from),
                              s->to < INT64_MAX ? nai_dep_call_from(d, thread, s->to + 1) : d->first_call[thread + 1]};
}

static int find_calls(struct nai_whatif *w, const struct stretch *s, struct nai_err *err) {
  const uint32_t threads = w->model->api_by_thread.groups;
  NAI_TRY(NAI_NEW(w->calls, w->arena, threads, err));
  for (uint32_t thread = 0; thread < threads; thread++) {
    struct nai_stretch calls = calls_in(w->model->dependencies, thread, s);
    if (calls.first < calls.end)
      w->calls[w->thread_count++] = calls;
  }
  return NAI_OK;
}

/* The nodes of calls and operations that start or end inside: a wait that began before may return earlier, too. */
static int find_nodes(struct nai_whatif *w, struct stretch s, struct nai_err *err) {
  const struct nai_dependencies *d = w->model->dependencies;
  NAI_SCOPED(nai_arena) scratch = NAI_ARENA(w->model->scratch_dir);
  uint8_t *left_out;
  NAI_TRY(NAI_NEW_UNSET(left_out, &scratch, d->node_count, err));
  memset(left_out, 1, d->node_count);
  for (uint32_t thread = 0; thread < w->model->api_by_thread.groups; thread++) {
    struct nai_stretch calls = calls_in(d, thread, &s);
    memset(left_out + 2 * (size_t)calls.first, 0, 2 * (size_t)(calls.end - calls.first));
    if (calls.first > d->first_call[thread] && is_in(&s, d->time[2 * calls.first - 1]))
      left_out[2 * calls.first - 1] = 0;
  }
  for (uint32_t i = 2 * d->call_count; i < d->node_count; i += 2) {
    bool starts = is_in(&s, d->time[i]);
    left_out[i] = !starts;
    left_out[i + 1] = !starts && !is_in(&s, d->time[i + 1]);
  }
  return nai_dep_order(&w->nodes, &w->node_count, d, left_out, w->arena, err);
}

static int refuse(struct nai_whatif *w, const char *reason) {
  w->state = NAI_PATH_REFUSED;
  w->reason = reason;
  return NAI_OK;
}

/* From the first beginning to the last end of all scopes: nothing is changed before or behind them. What processes do
 * before their first operation would only move them against each other. */
static struct stretch span(const struct nai_whatif *w) {
  const int64_t *times = w->model->dependencies->time;
  struct stretch s = {INT64_MAX, INT64_MIN};
  for (uint32_t i = 0; i < w->count; i++) {
    int64_t from = nai_path_scope_start(&w->scopes[i], w->model, NULL), to = times[w->scopes[i].nodes[1]];
    s = (struct stretch){from < s.from ? from : s.from, to > s.to ? to : s.to};
  }
  return s;
}

int nai_whatif_choose(struct nai_whatif *w, uint32_t slowest, bool asked, uint32_t most, struct nai_err *err) {
  const struct nai_dependencies *d = w->model->dependencies;
  struct stretch s = {INT64_MIN, INT64_MAX};
  bool large = !asked && (uint64_t)d->call_count + d->op_count > most;
  bool repeats = w->kind == NAI_SCOPE_STEP || w->kind == NAI_SCOPE_UNIT;
  if (large && !repeats)
    return refuse(w, "nothing repeats, and of so many calls and operations only nsys-ai whatif simulates all");
  if (large) {
    uint32_t count = repetitions_of(w, &w->scopes[slowest], most);
    if (count < LEAST_REPETITIONS)
      return refuse(w, "three repetitions hold more calls and operations than a report simulates; nsys-ai whatif does");
    s = find_typical(w, &w->scopes[slowest], count);
    cut_scopes(w, &s);
    s.to += (int64_t)w->now_ns; /* one more: what the last boundary is read from may lie behind it */
  } else if (asked || !repeats) {
    s = span(w);
  }
  NAI_TRY(find_nodes(w, s, err));
  NAI_TRY(find_ops(w, &s, err));
  NAI_TRY(find_calls(w, &s, err));
  return nai_edit_begin(w, err);
}
