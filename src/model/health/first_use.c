#include "model/health/first_use.h"

#include "model/calls/call_class.h"
#include "table/stats.h"
#include "tables/overhead_events.h"

enum { MIN_CONTEXT_NS = 20 * 1000 * 1000, MIN_EXCESS_NS = 1000 * 1000, LAUNCH_FLOOR_NS = 20 * 1000 };

struct search {
  const struct nai_model *m;
  struct nai_arena *arena;
  uint8_t *kinds;         /* per API function: enum nai_call_kind */
  struct nai_interval *v; /* where all of it is */
  uint32_t count, capacity;
};

static int add_place(struct search *s, int64_t start, int64_t end, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(s->v, s->capacity, s->count, s->arena, err));
  s->v[s->count++] = (struct nai_interval){start, end};
  return NAI_OK;
}

static int add_call(struct search *s, uint32_t api, struct nai_err *err) {
  return add_place(s, nai_val(&s->m->apis.start_ns, api), nai_val(&s->m->apis.end_ns, api), err);
}

/* Time under the places from number `from` on, which are reordered. */
static int time_from(int64_t *ns, struct search *s, uint32_t from, struct nai_err *err) {
  *ns = 0;
  return s->count > from ? nai_intervals_union_ns(ns, s->v + from, s->count - from, err) : NAI_OK;
}

/* --- context ---------------------------------------------------------------------------------- */

/* Start of the process's first call that launches work; a thread's calls come by start. */
static void look_for_first_work(int64_t *first_work, const struct search *s, uint32_t thread) {
  const struct nai_model *m = s->m;
  const struct nai_groups *g = &m->api_by_thread;
  int32_t p = m->thread_process[thread];
  for (uint32_t k = g->first[thread]; p >= 0 && k < g->first[thread + 1]; k++) {
    uint32_t api = g->order[k];
    int64_t start = nai_val(&m->apis.start_ns, api);
    if (start >= first_work[p])
      return;
    if (s->kinds[nai_val_text(&m->apis.name, api)] != NAI_CALL_LAUNCH && !m->api_owns[api])
      continue;
    first_work[p] = start;
    return;
  }
}

/* The runtime makes a context in whatever call comes first, the driver only in calls that are about contexts. */
static bool may_make_context(const char *call) {
  return strncmp(call, "cuda", 4) == 0 || strstr(call, "Ctx") || strcmp(call, "cuInit") == 0;
}

/* The longest call before that which may have made a context. */
static void look_before_work(uint32_t *longest, const int64_t *first_work, const struct nai_model *m, uint32_t thread) {
  const struct nai_groups *g = &m->api_by_thread;
  int32_t p = m->thread_process[thread];
  for (uint32_t k = g->first[thread]; p >= 0 && k < g->first[thread + 1]; k++) {
    uint32_t api = g->order[k];
    if (nai_val(&m->apis.start_ns, api) >= first_work[p])
      return;
    if (nai_call_ns(m, api) >= MIN_CONTEXT_NS && may_make_context(nai_model_api_name(m, api)) &&
        (longest[p] == NAI_NO_ROW || nai_call_ns(m, api) > nai_call_ns(m, longest[p])))
      longest[p] = api;
  }
}

/* That and its like before the first work: libraries and GPUs are each set up in a call of their own. */
static int add_before_work(struct search *s, const uint32_t *longest, const int64_t *first_work, uint32_t thread,
                           struct nai_err *err) {
  const struct nai_model *m = s->m;
  const struct nai_groups *g = &m->api_by_thread;
  int32_t p = m->thread_process[thread];
  for (uint32_t k = g->first[thread]; p >= 0 && longest[p] != NAI_NO_ROW && k < g->first[thread + 1]; k++) {
    uint32_t api = g->order[k];
    bool alike = nai_val_text(&m->apis.name, api) == nai_val_text(&m->apis.name, longest[p]);
    if (nai_val(&m->apis.start_ns, api) >= first_work[p])
      break;
    if (alike && nai_call_ns(m, api) >= MIN_CONTEXT_NS)
      NAI_TRY(add_call(s, api, err));
  }
  return NAI_OK;
}

/* The stretch without a call around a time of a thread: from the end of the call before it to the start of the next
 * one; empty where there are not both. */
static struct nai_interval between_calls(const struct nai_model *m, uint32_t thread, int64_t at) {
  const struct nai_groups *g = &m->api_by_thread;
  struct nai_interval stretch = {INT64_MAX, 0};
  for (uint32_t k = g->first[thread]; k < g->first[thread + 1]; k++) {
    uint32_t api = g->order[k];
    if (nai_val(&m->apis.start_ns, api) > at) {
      stretch.end = nai_val(&m->apis.start_ns, api);
      break;
    }
    stretch.start = nai_val(&m->apis.end_ns, api);
  }
  return stretch.start > at ? (struct nai_interval){0} : stretch;
}

static bool is_attaching(const struct nai_model *m, int64_t overhead) {
  return strstr(nai_get_str(m->tables[NAI_IN_OVERHEAD], overhead, OVERHEAD_EVENTS_name), "Resource Management") != NULL;
}

/* Of a process's longest call before its first work, the part until the profiler had attached to the new context, which
 * it does once that is there; NAI_NULL_I64 where the export does not tell. */
static int64_t ready_after(const struct nai_model *m, int32_t process, uint32_t call, int64_t first_work) {
  const struct nai_table *t = m->tables[NAI_IN_OVERHEAD];
  const int64_t start = nai_val(&m->apis.start_ns, call);
  int64_t ready = NAI_NULL_I64;
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t thread = nai_get_i64(t, i, OVERHEAD_EVENTS_thread), end = nai_get_i64(t, i, OVERHEAD_EVENTS_end_ns);
    if (thread >= 0 && m->thread_process[thread] == process && end < first_work && is_attaching(m, i) &&
        (ready == NAI_NULL_I64 || end > ready))
      ready = end;
  }
  if (ready == NAI_NULL_I64 || ready > nai_val(&m->apis.end_ns, call))
    return NAI_NULL_I64;
  return ready > start ? ready - start : 0;
}

/* A stretch of a thread without a call, in which the profiler attached to a new context until then. */
struct attached {
  int64_t thread;
  struct nai_interval stretch;
  int64_t until;
};

/* The context is there when the profiler is done with it: what follows for long is code of the program's. */
static int add_attached(struct nai_first_use *out, struct search *s, const struct attached *a, struct nai_err *err) {
  const int64_t end = a->stretch.end - a->until > MIN_CONTEXT_NS ? a->until : a->stretch.end;
  if (a->thread < 0 || end - a->stretch.start < MIN_CONTEXT_NS)
    return NAI_OK;
  out->unrecorded_ns = end - a->stretch.start;
  return add_place(s, a->stretch.start, end, err);
}

/* Some versions of nsys record no call that creates the context, but what the profiler does there. */
static int look_for_unrecorded(struct nai_first_use *out, struct search *s, const uint32_t *longest,
                               const int64_t *first_work, struct nai_err *err) {
  const struct nai_table *t = s->m->tables[NAI_IN_OVERHEAD];
  struct attached last = {.thread = -1};
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t thread = nai_get_i64(t, i, OVERHEAD_EVENTS_thread), start = nai_get_i64(t, i, OVERHEAD_EVENTS_start_ns),
            end = nai_get_i64(t, i, OVERHEAD_EVENTS_end_ns);
    int32_t p = s->m->thread_process[thread];
    if (thread == last.thread && start >= last.stretch.start && start < last.stretch.end) {
      last.until = end > last.until ? end : last.until;
      continue;
    }
    if (p < 0 || longest[p] != NAI_NO_ROW || start >= first_work[p] || !is_attaching(s->m, i))
      continue;
    NAI_TRY(add_attached(out, s, &last, err));
    last = (struct attached){thread, between_calls(s->m, (uint32_t)thread, start), end};
  }
  return add_attached(out, s, &last, err);
}

/* Creation of the context is billed to some call before the first work. */
static int look_for_contexts(struct nai_first_use *out, struct search *s, struct nai_err *err) {
  const struct nai_model *m = s->m;
  int64_t *first_work;
  uint32_t *longest;
  NAI_TRY(NAI_NEW(first_work, s->arena, m->process_count, err));
  NAI_TRY(NAI_NEW(longest, s->arena, m->process_count, err));
  for (uint32_t p = 0; p < m->process_count; p++) {
    first_work[p] = INT64_MAX;
    longest[p] = NAI_NO_ROW;
  }
  for (uint32_t t = 0; t < m->thread_count; t++)
    look_for_first_work(first_work, s, t);
  for (uint32_t t = 0; t < m->thread_count; t++)
    look_before_work(longest, first_work, m, t);
  for (uint32_t p = 0; p < m->process_count; p++) {
    if (longest[p] == NAI_NO_ROW)
      continue;
    out->contexts++;
    if (nai_call_ns(m, longest[p]) > out->context_ns) {
      out->context_call = nai_model_api_name(m, longest[p]);
      out->context_ns = nai_call_ns(m, longest[p]);
      out->ready_ns = ready_after(m, (int32_t)p, longest[p], first_work[p]);
    }
  }
  for (uint32_t t = 0; t < m->thread_count; t++)
    NAI_TRY(add_before_work(s, longest, first_work, t, err));
  return look_for_unrecorded(out, s, longest, first_work, err);
}

/* --- loading ---------------------------------------------------------------------------------- */

static int look_for_records(struct nai_first_use *out, struct search *s, struct nai_err *err) {
  const struct nai_table *t = s->m->tables[NAI_IN_OVERHEAD];
  uint32_t before = s->count;
  for (int64_t i = 0; i < t->rows; i++) {
    if (s->m->overhead_kind[i] != NAI_OVERHEAD_LOADING)
      continue;
    int64_t start = nai_get_i64(t, i, OVERHEAD_EVENTS_start_ns), end = nai_get_i64(t, i, OVERHEAD_EVENTS_end_ns);
    out->loading_rows++;
    NAI_TRY(add_place(s, start, end, err));
  }
  return time_from(&out->loading_rows_ns, s, before, err);
}

static int look_for_loading(struct nai_first_use *out, struct search *s, struct nai_err *err) {
  const struct nai_model *m = s->m;
  uint32_t before = s->count;
  bool any = false;
  for (uint32_t i = 0; i < m->tables[NAI_IN_APIS]->strings.count; i++)
    any = any || s->kinds[i] == NAI_CALL_LOADING;
  for (uint32_t i = 0; any && i < m->apis.n; i++) {
    if (s->kinds[nai_val_text(&m->apis.name, i)] != NAI_CALL_LOADING)
      continue;
    out->loading_calls++;
    NAI_TRY(add_call(s, i, err));
  }
  return time_from(&out->loading_calls_ns, s, before, err);
}

/* --- first launches --------------------------------------------------------------------------- */

struct launches {
  const struct nai_model *m;
  const uint32_t *first; /* per kernel name: the kernel whose launch came first, NAI_NO_ROW for none */
};

/* Durations of the calls that launched a kernel each, but for the first of each name; of names whose first was slow. */
static void later_calls(const void *ctx, uint32_t from, uint32_t count, uint32_t *group, int64_t *value) {
  const struct launches *l = ctx;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t k = from + i, api = l->m->kernel_api[k], name = nai_val_text(&l->m->kernels.name, k);
    bool counts = l->first[name] != NAI_NO_ROW && l->first[name] != k && api != NAI_NO_ROW &&
                  nai_at_i32(&l->m->kernels.graph_id, k) == NAI_NULL_I32;
    group[i] = counts ? name : NAI_NO_GROUP;
    value[i] = counts ? nai_call_ns(l->m, api) : 0;
  }
}

/* Kernels whose first launch took long; false when there are none. */
static bool find_slow_launches(uint32_t *first, uint32_t names, const struct nai_model *m) {
  bool any = false;
  for (uint32_t i = 0; i < names; i++)
    first[i] = NAI_NO_ROW;
  for (uint32_t k = 0; k < m->kernels.n; k++) {
    uint32_t api = m->kernel_api[k], *known = &first[nai_val_text(&m->kernels.name, k)];
    if (api == NAI_NO_ROW || nai_at_i32(&m->kernels.graph_id, k) != NAI_NULL_I32)
      continue;
    if (*known == NAI_NO_ROW || nai_val(&m->apis.start_ns, api) < nai_val(&m->apis.start_ns, m->kernel_api[*known]))
      *known = k;
  }
  for (uint32_t i = 0; i < names; i++) {
    if (first[i] != NAI_NO_ROW && nai_call_ns(m, m->kernel_api[first[i]]) < MIN_EXCESS_NS)
      first[i] = NAI_NO_ROW;
    any = any || first[i] != NAI_NO_ROW;
  }
  return any;
}

static int look_for_slow_launches(struct nai_first_use *out, struct search *s, struct nai_err *err) {
  const struct nai_model *m = s->m;
  uint32_t names = m->tables[NAI_IN_KERNELS]->strings.count, *first;
  struct nai_stats *stats;
  NAI_TRY(NAI_NEW(first, s->arena, names, err));
  NAI_TRY(NAI_NEW(stats, s->arena, names, err));
  if (!find_slow_launches(first, names, m))
    return NAI_OK;
  struct launches launches = {m, first};
  struct nai_values values = {m->kernels.n, later_calls, &launches, m->scratch_dir};
  NAI_TRY(nai_group_stats(stats, names, &values, err));
  for (uint32_t i = 0; i < names; i++) {
    if (first[i] == NAI_NO_ROW)
      continue;
    uint32_t api = m->kernel_api[first[i]];
    int64_t usual = stats[i].count ? (int64_t)stats[i].p50 : LAUNCH_FLOOR_NS, excess = nai_call_ns(m, api) - usual;
    if (excess < MIN_EXCESS_NS)
      continue;
    out->slow_launches++;
    out->slow_launches_ns += excess;
    NAI_TRY(add_call(s, api, err));
  }
  return NAI_OK;
}

void nai_first_use_free(struct nai_first_use *first_use) { nai_intervals_free(&first_use->once); }

int nai_first_use_collect(struct nai_first_use *out, const struct nai_model *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  struct search s = {.m = m, .arena = &arena};
  *out = (struct nai_first_use){.ready_ns = NAI_NULL_I64};
  NAI_TRY(NAI_NEW(s.kinds, &arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++)
    s.kinds[i] = (uint8_t)nai_call_kind_of(nai_strings_get(names, i));
  NAI_TRY(look_for_contexts(out, &s, err));
  NAI_TRY(look_for_records(out, &s, err));
  NAI_TRY(look_for_loading(out, &s, err));
  NAI_TRY(look_for_slow_launches(out, &s, err));
  nai_intervals_gather(&out->once, s.v, s.count);
  out->total_ns = nai_intervals_total_ns(&out->once);
  return out->once.oom ? nai_err_nomem(err) : NAI_OK;
}
