#include "model/critical/whatif_edit.h"

#include "model/idle/active.h"
#include "model/idle/evidence.h"
#include "model/idle/gap_names.h"
#include "table/stats.h"
#include "tables/critical_path_summary.h"
#include "tables/threads.h"

/* Above that, a window is as good as its active time. */
#define MOSTLY_ACTIVE 0.9

/* --- what a change is about ------------------------------------------------------------------- */

/* Per text of a dictionary, whether it matches. */
static int match_texts(bool **out, const struct nai_change *change, const struct nai_strings *texts,
                       struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, arena, texts->count, err));
  for (uint32_t i = 0; i < texts->count; i++)
    (*out)[i] = nai_change_matches(change, nai_strings_get(texts, i));
  return NAI_OK;
}

/* Whether a range has that name, in which '#' stands for any run of digits. */
static bool is_range(const char *name, const char *wanted) {
  for (; *name && *wanted; wanted++) {
    size_t digits = strspn(name, "0123456789");
    if (*wanted == '#' && digits > 0)
      name += digits;
    else if (*name++ != *wanted)
      return false;
  }
  return !*name && !*wanted;
}

/* What a change is about: found once for the names of the trace. */
struct about {
  const struct nai_change *change;
  const struct nai_model *m;
  bool *names;  /* per text of the kernels' or the calls' dictionary */
  bool *ranges; /* per node of the NVTX tree: whether it or one around it matches; NULL for kernels and places */
};

static int find_about(struct about *out, const struct nai_change *change, const struct edit *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  bool *names;
  *out = (struct about){.change = change, .m = m};
  if (change->kind == NAI_CHANGE_KERNEL)
    return match_texts(&out->names, change, &m->tables[NAI_IN_KERNELS]->strings, e->arena, err);
  if (change->function || change->kind == NAI_CHANGE_COPY)
    return NAI_OK;
  NAI_TRY(match_texts(&out->names, change, &m->tables[NAI_IN_APIS]->strings, e->arena, err));
  NAI_TRY(match_texts(&names, change, &m->tables[NAI_IN_NVTX]->strings, e->arena, err));
  NAI_TRY(NAI_NEW(out->ranges, e->arena, m->node_count, err));
  for (uint32_t i = 0; i < m->node_count; i++)
    out->ranges[i] = names[m->nodes[i].name] || (m->nodes[i].parent != NAI_NO_ROW && out->ranges[m->nodes[i].parent]);
  return NAI_OK;
}

static bool is_about_call(const struct about *a, uint32_t call) {
  const struct nai_change *change = a->change;
  uint32_t api = a->m->dependencies->call_api[call];
  const struct nai_nvtx_node *node = nai_model_call_node(a->m, api);
  if (change->function) {
    const char *range = nai_launch_range(a->m, api);
    return strcmp(nai_model_api_name(a->m, api), change->function) == 0 &&
           (!change->range || (range && is_range(range, change->range)));
  }
  return a->names[nai_val_text(&a->m->apis.name, api)] || (node && a->ranges[node - a->m->nodes]);
}

/* "HtoD" and "H2D" are the words of many other tools. */
static bool direction_matches(const struct nai_change *change, const struct nai_model *m, uint32_t row) {
  static const char *const words[][2] = {[1] = {"HtoD", "H2D"},
                                         [2] = {"DtoH", "D2H"},
                                         [8] = {"DtoD", "D2D"},
                                         [9] = {"HtoH", "H2H"},
                                         [10] = {"PtoP", "P2P"}};
  char room[NAI_KIND_NAME_MAX];
  int32_t kind = nai_at_i32(&m->memops.copy_kind, row);
  if (nai_change_matches(change, nai_model_direction(room, m, row)))
    return true;
  return kind > 0 && kind < (int32_t)(sizeof words / sizeof *words) && words[kind][0] &&
         (nai_change_matches(change, words[kind][0]) || nai_change_matches(change, words[kind][1]));
}

static bool is_about_op(const struct about *a, uint32_t op, const struct nai_op *o) {
  uint32_t call = a->m->dependencies->op_call[op];
  if (a->change->kind == NAI_CHANGE_KERNEL)
    return o->type == NAI_OP_KERNEL && a->names[nai_val_text(&a->m->kernels.name, o->row)];
  return o->type == NAI_OP_COPY && (a->change->kind == NAI_CHANGE_COPY ? direction_matches(a->change, a->m, o->row)
                                                                       : call != NAI_NO_ROW && is_about_call(a, call));
}

/* --- edits ------------------------------------------------------------------------------------ */

static int edit_ops(struct edit *e, const struct nai_change *change, double factor, struct nai_err *err) {
  const struct nai_model *m = e->m;
  struct about about;
  NAI_TRY(find_about(&about, change, e, err));
  NAI_TRY(nai_edit_op_factors(e, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (uint32_t i = e->w->ops[g].first; i < e->w->ops[g].end; i++) {
      uint32_t op = m->dependencies->first_op[g] + i;
      if (!is_about_op(&about, op, &m->gpus[g].ops[i]))
        continue;
      e->of.op_factor[op] *= (float)factor;
      e->edited++;
    }
  return NAI_OK;
}

static int edit_waits(struct edit *e, const struct nai_change *change, struct nai_err *err) {
  const struct nai_dependencies *d = e->m->dependencies;
  struct about about;
  NAI_TRY(find_about(&about, change, e, err));
  NAI_TRY(nai_edit_waits(e, err));
  for (uint32_t t = 0; t < e->w->thread_count; t++)
    for (uint32_t call = e->w->calls[t].first; call < e->w->calls[t].end; call++)
      if (nai_dep_has(d, 2 * call + 1, 1 << NAI_DEP_WAIT | 1 << NAI_DEP_STAGING) && is_about_call(&about, call)) {
        e->of.no_wait[call] = 1;
        e->edited++;
      }
  return NAI_OK;
}

/* Of the host: all calls, and the code between them. */
static int edit_calls(struct edit *e, const struct nai_change *change, double factor, struct nai_err *err) {
  struct about about;
  NAI_TRY(find_about(&about, change, e, err));
  NAI_TRY(nai_edit_call_factors(e, err));
  for (uint32_t t = 0; t < e->w->thread_count; t++)
    for (uint32_t call = e->w->calls[t].first; call < e->w->calls[t].end; call++)
      if (is_about_call(&about, call)) {
        e->of.call_factor[call] *= (float)factor;
        e->edited++;
      }
  if (change->kind == NAI_CHANGE_HOST)
    e->s->host_change = (1 + e->s->host_change) * factor - 1;
  return NAI_OK;
}

static bool thread_matches(const struct nai_change *change, const struct nai_model *m, int32_t thread) {
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  char tid[24];
  (void)snprintf(tid, sizeof tid, "%" PRId64, nai_get_i64(threads, thread, THREADS_tid));
  return nai_change_matches(change, tid) ||
         nai_change_matches(change, nai_get_str(threads, thread, THREADS_thread_name));
}

/* Cautiously what the other thread made is needed. */
static int edit_handoffs(struct edit *e, const struct nai_change *change, enum nai_case which, struct nai_err *err) {
  const struct nai_dependencies *d = e->m->dependencies;
  if (which == NAI_CASE_LOW)
    return NAI_OK;
  NAI_TRY(nai_edit_handoffs(e, err));
  for (uint32_t t = 0; t < e->w->thread_count; t++) {
    struct nai_stretch calls = e->w->calls[t];
    if (calls.first == calls.end ||
        !thread_matches(change, e->m, nai_val_i32(&e->m->apis.thread, d->call_api[calls.first])))
      continue;
    for (uint32_t call = calls.first; call < calls.end; call++)
      if (nai_dep_has(d, 2 * call, 1 << NAI_DEP_HANDOFF)) {
        e->of.runs_ahead[call] = 1;
        e->edited++;
      }
  }
  return NAI_OK;
}

/* --- the profiler ----------------------------------------------------------------------------- */

/* Per process: when any of its threads flushed the profiler's buffers. */
static int find_flushes(struct nai_intervals **out, const struct edit *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  NAI_TRY(NAI_NEW(*out, e->arena, m->process_count, err));
  for (uint32_t p = 0; p < m->process_count; p++) {
    const struct nai_layer_list *list = &m->evidence->flush[p];
    (*out)[p].arena = e->arena;
    for (uint32_t i = 0; i < list->count; i++)
      nai_intervals_add(&(*out)[p], list->v[i].start, list->v[i].until);
    if ((*out)[p].oom)
      return nai_err_nomem(err);
  }
  return NAI_OK;
}

static int edit_profiler(struct edit *e, struct nai_err *err) {
  const struct nai_dependencies *d = e->m->dependencies;
  struct nai_intervals *flushes;
  NAI_TRY(find_flushes(&flushes, e, err));
  NAI_TRY(nai_edit_cuts(e, err));
  for (uint32_t t = 0; t < e->w->thread_count; t++)
    for (uint32_t call = e->w->calls[t].first; call < e->w->calls[t].end; call++) {
      int32_t thread = nai_val_i32(&e->m->apis.thread, d->call_api[call]), process = e->m->thread_process[thread];
      if (process < 0)
        continue;
      int64_t in_call = nai_intervals_overlap_ns(&flushes[process], d->time[2 * call], d->time[2 * call + 1]),
              before = 0;
      if (call && thread == nai_val_i32(&e->m->apis.thread, d->call_api[call - 1]))
        before = nai_intervals_overlap_ns(&flushes[process], d->time[2 * call - 1], d->time[2 * call]);
      e->of.call_cut[call] += in_call;
      e->of.host_cut[call] += before;
      e->edited += in_call || before;
    }
  return NAI_OK;
}

/* --- scenarios -------------------------------------------------------------------------------- */

static int apply(struct edit *e, const struct nai_change *change, enum nai_case which, struct nai_err *err) {
  double factor = change->factor[which];
  switch (change->kind) {
  case NAI_CHANGE_REMOVE_WAIT:
  case NAI_CHANGE_REMOVE_WAIT_AT:
    return edit_waits(e, change, err);
  case NAI_CHANGE_KERNEL:
  case NAI_CHANGE_COPY:
  case NAI_CHANGE_COPY_AT:
    return edit_ops(e, change, factor, err);
  case NAI_CHANGE_PINNED:
    return nai_edit_pinned(e, which, err);
  case NAI_CHANGE_OWN_STREAM:
    return nai_edit_own_stream(e, which, err);
  case NAI_CHANGE_OWN_STREAM_COMM:
    return nai_edit_own_stream_comm(e, which, err);
  case NAI_CHANGE_MORE_IN_FLIGHT:
    return edit_handoffs(e, change, which, err);
  case NAI_CHANGE_FUSE:
    return nai_edit_fuse(e, change, which, err);
  case NAI_CHANGE_GRAPHS:
    return nai_edit_graphs(e, which, err);
  case NAI_CHANGE_CALL:
  case NAI_CHANGE_HOST:
    return edit_calls(e, change, factor, err);
  case NAI_CHANGE_NO_PROFILER:
    return edit_profiler(e, err);
  default:
    return nai_edit_balance(e, which, err);
  }
}

static int make_scenario(struct nai_scenario *s, int64_t *edited, const struct nai_whatif *w, struct nai_arena *arena,
                         const struct nai_change *const *changes, uint32_t count, enum nai_case which,
                         struct nai_err *err) {
  struct edit e = {.w = w, .m = w->model, .arena = arena, .s = s};
  *s = (struct nai_scenario){0};
  for (uint32_t i = 0; i < count; i++)
    NAI_TRY(apply(&e, changes[i], which, err));
  s->op_factor = e.of.op_factor;
  s->call_factor = e.of.call_factor;
  s->no_wait = e.of.no_wait;
  s->off_stream = e.of.off_stream;
  for (int k = 0; k < NAI_ALSO_BEHIND; k++)
    s->also_behind[k] = e.of.also_behind[k];
  s->runs_ahead = e.of.runs_ahead;
  s->call_cut = e.of.call_cut;
  s->host_cut = e.of.host_cut;
  /* What made the thread wait may have been needed: the call still costs a little, and the code behind it more. */
  s->slow_return = e.of.no_wait && which == NAI_CASE_LOW;
  if (edited)
    *edited = e.edited;
  return NAI_OK;
}

static double repetition_ns(const struct nai_whatif *w, uint32_t scope, const struct nai_scenario *s) {
  const struct nai_model *m = w->model;
  if (!s || !s->off_stream)
    return nai_path_scope_ns(&w->scopes[scope], m, w->moved);
  const struct nai_path_scope *behind = &w->behind_copies[scope];
  double saved = nai_path_scope_ns(behind, m, NULL) - nai_path_scope_ns(behind, m, w->moved);
  return nai_path_scope_ns(&w->scopes[scope], m, NULL) - saved;
}

static double slowest(const struct nai_whatif *w, const struct nai_scenario *s, uint32_t *which) {
  double most = 0;
  for (uint32_t i = 0; i < w->count; i++) {
    double ns = repetition_ns(w, i, s);
    if (ns <= most)
      continue;
    most = ns;
    *which = i;
  }
  return most;
}

int nai_change_count(int64_t *out, const struct nai_whatif *w, const struct nai_change *change, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(w->model->scratch_dir);
  struct nai_scenario s;
  NAI_TRY(make_scenario(&s, out, w, &arena, &change, 1, NAI_CASE_LIKELY, err));
  nai_edit_undo(w, &s);
  return change->where ? nai_patterns_check(change->where, err) : NAI_OK;
}

/* Replays one case; *which: the slowest scope. */
static int simulate(double *ns, uint32_t *which, struct nai_scenario *s, const struct nai_whatif *w,
                    struct nai_arena *arena, const struct nai_change *const *changes, uint32_t count, enum nai_case of,
                    struct nai_err *err) {
  *which = 0;
  NAI_TRY(make_scenario(s, NULL, w, arena, changes, count, of, err));
  nai_dep_replay(w->moved, w->model, s, w->nodes, w->node_count);
  *ns = slowest(w, s, which);
  return NAI_OK;
}

int nai_whatif_likely(double *out, const struct nai_whatif *w, const struct nai_change *const *changes, uint32_t count,
                      struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(w->model->scratch_dir);
  struct nai_scenario s;
  uint32_t which;
  NAI_TRY(simulate(out, &which, &s, w, &arena, changes, count, NAI_CASE_LIKELY, err));
  nai_edit_undo(w, &s);
  return NAI_OK;
}

static int find_limit(struct nai_whatif_result *out, const struct nai_whatif *w, const struct nai_scenario *s,
                      uint32_t scope, struct nai_err *err) {
  struct nai_path_sum sum;
  nai_path_sum_begin(&sum, NULL);
  const struct nai_path_scope *all = s->off_stream ? w->behind_copies : w->scopes;
  NAI_TRY(nai_path_sum_scope(&sum, &all[scope], w->model, w->moved, s, err));
  for (int c = 0; c < NAI_PATH_CAUSES; c++)
    if (sum.by_cause[c] > sum.by_cause[out->limit])
      out->limit = (enum nai_path_cause)c;
  out->inferred = sum.inferred;
  out->limit_pct = nai_percent((double)sum.by_cause[out->limit], (double)sum.wall_ns);
  out->host_pct = nai_percent((double)sum.by_cause[NAI_PATH_HOST], (double)sum.wall_ns);
  out->queues = sum.by_cause[NAI_PATH_QUEUE_FULL] > 0;
  return NAI_OK;
}

/* Cautious is never better, favorable never worse than likely, and no interval narrower than the model's error. What
 * shortens a step does not lengthen it. */
static void widen(struct nai_whatif_result *r, double now_ns) {
  double likely = r->ns[NAI_CASE_LIKELY];
  memcpy(r->case_ns, r->ns, sizeof r->case_ns);
  r->ns[NAI_CASE_LOW] = fmax(r->ns[NAI_CASE_LOW], likely * (1 + NAI_MODEL_ERROR));
  r->ns[NAI_CASE_HIGH] = fmin(r->ns[NAI_CASE_HIGH], likely * (1 - NAI_MODEL_ERROR));
  if (likely <= now_ns)
    r->ns[NAI_CASE_LOW] = fmin(r->ns[NAI_CASE_LOW], now_ns);
}

/* Then the model's error is all of the interval. */
static bool saves_nothing(const struct nai_whatif_result *r, const struct nai_whatif *w) {
  return fabs(w->now_ns - r->ns[NAI_CASE_LIKELY]) < NAI_LEAST_GAIN * w->now_ns;
}

const char *nai_whatif_refuses(const struct nai_whatif *w, const struct nai_change *change) {
  const struct nai_dep_quality *q = &w->model->dependencies->quality;
  bool unknown = q->events_without_record * 10 > q->event_waits;
  return w->state >= NAI_PATH_NO_SAVINGS          ? w->reason
       : change && nai_change_is_of_waits(change) ? w->waits_unknown
       : change && nai_change_is_of_streams(change) && unknown
           ? "of over 10 % of the event waits no record tells what is waited for"
           : NULL;
}

const char *nai_whatif_bound(const struct nai_whatif *w, const struct nai_change *change) {
  static const char *const bounds[NAI_CHANGE_KINDS] = {
      [NAI_CHANGE_OWN_STREAM] = "what reads or overwrites the data of a copy is not recorded",
      [NAI_CHANGE_OWN_STREAM_COMM] = "what needs the result of a collective is not recorded",
      [NAI_CHANGE_MORE_IN_FLIGHT] = "what a thread needs of another is not recorded"};
  return w->state == NAI_PATH_BOUND_ONLY ? w->reason : bounds[change->kind];
}

/* What kinds assume in the cases in which they do something else than their factor says: waits are never more
 * favorable.
 */
static const char *const assumed[NAI_CHANGE_KINDS][NAI_CASES] = {
    [NAI_CHANGE_REMOVE_WAIT] = {"calls still take 20 \u00b5s, and the code behind them 1.25 times as long"},
    [NAI_CHANGE_REMOVE_WAIT_AT] = {"calls still take 20 \u00b5s, and the code behind them 1.25 times as long"},
    [NAI_CHANGE_BALANCE] = {"half of the change", NULL, "as fast as the fastest"},
    [NAI_CHANGE_PINNED] = {"copies keep their rate"},
    [NAI_CHANGE_OWN_STREAM] = {"the GPU still reads what a copy overwrites"},
    [NAI_CHANGE_OWN_STREAM_COMM] = {"the next kernel needs the result", NULL, "no kernel of the repetition needs it"},
    [NAI_CHANGE_MORE_IN_FLIGHT] = {"what the other thread makes is needed"},
    [NAI_CHANGE_GRAPHS] = {"the code between launches stays"},
    [NAI_CHANGE_FUSE] = {"half of the time stays, and all calls and code", NULL,
                         "only the longest kernel's time stays"}};

static const char *assumption_of(const struct nai_change *change, enum nai_case which) {
  const char *own = assumed[change->kind][which];
  return own || change->factor[which] == change->factor[NAI_CASE_LIKELY] ? own
       : which == NAI_CASE_LOW                                           ? "half of the change"
                                                                         : "the better factor";
}

const char *nai_whatif_choice(const struct nai_whatif *w, const struct nai_change *change,
                              const struct nai_whatif_result *after, const struct nai_whatif_result *before,
                              enum nai_case which) {
  double gap = fabs(after->case_ns[which] - after->case_ns[NAI_CASE_LIKELY]);
  double known = before ? fabs(before->case_ns[which] - before->case_ns[NAI_CASE_LIKELY]) : 0;
  bool matters = gap > NAI_MODEL_ERROR * after->case_ns[NAI_CASE_LIKELY] && gap - known >= NAI_LEAST_GAIN * w->now_ns;
  return matters ? assumption_of(change, which) : NULL;
}

/* Whether a case differs from the likely one. */
static bool differs(const struct nai_change *const *changes, uint32_t count, enum nai_case which) {
  for (uint32_t i = 0; i < count; i++)
    if (assumption_of(changes[i], which))
      return true;
  return false;
}

int nai_whatif_try(struct nai_whatif_result *out, const struct nai_whatif *w, const struct nai_change *const *changes,
                   uint32_t count, struct nai_err *err) {
  static const enum nai_case order[NAI_CASES] = {NAI_CASE_LIKELY, NAI_CASE_LOW, NAI_CASE_HIGH};
  *out = (struct nai_whatif_result){0};
  for (int i = 0; i < NAI_CASES; i++) {
    enum nai_case c = order[i];
    NAI_SCOPED(nai_arena) arena = NAI_ARENA(w->model->scratch_dir);
    struct nai_scenario s;
    uint32_t which;
    out->ns[c] = out->ns[NAI_CASE_LIKELY];
    if (i && (!differs(changes, count, c) || saves_nothing(out, w)))
      continue;
    NAI_TRY(simulate(&out->ns[c], &which, &s, w, &arena, changes, count, c, err));
    if (c == NAI_CASE_LIKELY)
      NAI_TRY(find_limit(out, w, &s, which, err));
    nai_edit_undo(w, &s);
  }
  widen(out, w->now_ns);
  if (w->state == NAI_PATH_BOUND_ONLY) /* cautiously, nothing is saved */
    out->ns[NAI_CASE_LOW] = fmax(out->ns[NAI_CASE_LOW], w->now_ns);
  return NAI_OK;
}

/* Takes from the table what its rows all say of the window; false where it does not say it. */
static bool read_state(struct nai_whatif *w, const struct nai_table *summary) {
  if (!summary || !summary->rows)
    return false;
  const struct CRITICAL_PATH_SUMMARY_row row = CRITICAL_PATH_SUMMARY_at(summary, 0);
  for (enum nai_path_state state = NAI_PATH_OK; state <= NAI_PATH_REFUSED; state++)
    if (strcmp(row.state, nai_path_state_name(state)) == 0) {
      w->state = state;
      w->reason = *row.reason ? row.reason : NULL;
      return true;
    }
  return false;
}

static int find_state(struct nai_whatif *w, const struct nai_path_scope *window, struct nai_err *err) {
  struct nai_path_sum sum;
  nai_path_sum_begin(&sum, NULL);
  NAI_TRY(nai_path_sum_scope(&sum, window, w->model, NULL, NULL, err));
  w->state = nai_path_state_of(&w->reason, w->model, &sum);
  return NAI_OK;
}

/* Active time of the scope's GPU; of the window, the most of any GPU. */
static int64_t active_ns(const struct nai_path_scope *scope, const struct nai_model *m) {
  int64_t most = 0;
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    int64_t ns = nai_intervals_total_ns(&m->active[g].active);
    most = (scope->gpu == g || scope->gpu == m->gpu_count) && ns > most ? ns : most;
  }
  return most;
}

static int64_t covered_ns(const struct nai_path_scope *scope, const struct nai_model *m) {
  return llround(nai_path_scope_ns(scope, m, NULL) * scope->judged);
}

/* A unit that takes less than half of the time says nothing of the rest. */
static bool is_unit(const struct nai_path_scope *scope, const struct nai_model *m, bool typical) {
  return scope->kind == NAI_SCOPE_UNIT && (!typical || 2 * covered_ns(scope, m) >= active_ns(scope, m));
}

/* The longest active span of the GPU that is active longest, where it has half of that and the window much more. */
static bool find_active_span(struct nai_path_asked *out, const struct nai_model *m,
                             const struct nai_path_scope *window) {
  const struct nai_gpu_active *gpu = NULL;
  int64_t active = active_ns(window, m), longest = 0;
  for (uint32_t g = 0; g < m->gpu_count && !gpu; g++)
    if (nai_intervals_total_ns(&m->active[g].active) == active)
      gpu = &m->active[g];
  for (uint32_t i = 0; gpu && i < gpu->count; i++) {
    const struct nai_span *span = &gpu->spans[i].at;
    if (gpu->spans[i].kind != NAI_SPAN_IS_ACTIVE || span->end - span->start <= longest)
      continue;
    longest = span->end - span->start;
    *out = (struct nai_path_asked){.from = span->start, .to = span->end};
  }
  return longest && 2 * longest >= active && (double)longest < MOSTLY_ACTIVE * nai_path_scope_ns(window, m, NULL);
}

int nai_whatif_begin(struct nai_whatif *w, const struct nai_model *m, const struct nai_path_asked *asked, uint32_t most,
                     const struct nai_table *summary, struct nai_arena *arena, struct nai_err *err) {
  struct nai_path_scope *all;
  uint32_t count;
  *w = (struct nai_whatif){.model = m, .arena = arena, .state = NAI_PATH_REFUSED, .reason = "no GPU work is recorded"};
  NAI_TRY(nai_path_scopes(&all, &count, m, asked, arena, err));
  NAI_TRY(NAI_NEW(w->moved, arena, m->dependencies->node_count, err));
  NAI_TRY(NAI_NEW(w->scopes, arena, count, err));
  NAI_TRY(nai_whatif_find_fusable(&w->fusable, m, arena, err));
  if (!count)
    return NAI_OK;
  if (!read_state(w, summary))
    NAI_TRY(find_state(w, &all[0], err));
  w->waits_unknown = nai_path_waits_unknown(m);
  const bool stands_for_all = !asked && most == NAI_WHATIF_ALL;
  for (uint32_t i = 0; i < count; i++) /* a unit is none where there are steps */
    if (all[i].kind == NAI_SCOPE_STEP || (w->kind != NAI_SCOPE_STEP && is_unit(&all[i], m, stands_for_all)))
      w->kind = all[i].kind;
  struct nai_path_asked span;
  bool mostly_pauses = stands_for_all && w->kind == NAI_SCOPE_WINDOW && find_active_span(&span, m, &all[0]);
  if (mostly_pauses)
    NAI_TRY(nai_path_scopes(&all, &count, m, &span, arena, err));
  for (uint32_t i = 0; i < count; i++)
    if (all[i].kind == w->kind && (w->kind != NAI_SCOPE_UNIT || is_unit(&all[i], m, stands_for_all)))
      w->scopes[w->count++] = all[i];
  w->kind = mostly_pauses ? NAI_SCOPE_ACTIVE : w->kind;
  w->now_ns = slowest(w, NULL, &w->slowest);
  w->covered_ns = covered_ns(&w->scopes[w->slowest], m);
  w->active_ns = active_ns(&w->scopes[w->slowest], m);
  NAI_TRY(nai_whatif_choose(w, w->slowest, asked != NULL, most, err));
  NAI_TRY(nai_whatif_pass_copies(w, err));
  w->slowest = 0;
  w->now_ns = slowest(w, NULL, &w->slowest);
  w->repetitions = w->scopes[w->slowest].judged;
  return NAI_OK;
}
