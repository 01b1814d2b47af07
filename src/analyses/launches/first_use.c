/* What a process pays once: its context, loading of modules and functions, compilation. */
#include "model/health/first_use.h"
#include "base/array.h"
#include "model/calls/call_kind.h"
#include "model/health/capture.h"
#include "table/intervals.h"
#include "table/stats.h"
#include "tables/overhead_events.h"

#include <stdlib.h>

enum { MIN_CONTEXT_NS = 20 * 1000 * 1000, MIN_EXCESS_NS = 1000 * 1000, LAUNCH_FLOOR_NS = 20 * 1000 };

/* Where all of it is. */
struct places {
  struct nai_interval *v;
  uint32_t count, capacity;
  bool oom;
};

static void add_place(struct places *p, int64_t start, int64_t end) {
  if (!nai_array_room(&p->v, &p->capacity, p->count, sizeof *p->v))
    p->oom = true;
  else
    p->v[p->count++] = (struct nai_interval){start, end};
}

static void add_call(struct places *p, const struct nai_model *m, uint32_t api) {
  add_place(p, nai_at(&m->apis.start_ns, api), nai_at(&m->apis.end_ns, api));
}

/* Time under the places from number `from` on, which are reordered. */
static int64_t time_from(struct places *p, uint32_t from) {
  return p->count > from ? nai_intervals_union_ns(p->v + from, p->count - from, &p->oom) : 0;
}

/* --- context ---------------------------------------------------------------------------------- */

/* Start of the process's first call that launches work; a thread's calls come by start. */
static void look_for_first_work(int64_t *first_work, const struct nai_model *m, uint32_t thread, const uint8_t *kinds) {
  const struct nai_groups *g = &m->api_by_thread;
  int32_t p = m->thread_process[thread];
  for (uint32_t k = g->first[thread]; p >= 0 && k < g->first[thread + 1]; k++) {
    uint32_t api = g->order[k];
    int64_t start = nai_at(&m->apis.start_ns, api);
    if (start >= first_work[p])
      return;
    if (kinds[nai_at_text(&m->apis.name, api)] != NAI_CALL_LAUNCH && !m->api_owns[api])
      continue;
    first_work[p] = start;
    return;
  }
}

/* The longest call before that. */
static void look_before_work(uint32_t *longest, const int64_t *first_work, const struct nai_model *m, uint32_t thread) {
  const struct nai_groups *g = &m->api_by_thread;
  int32_t p = m->thread_process[thread];
  for (uint32_t k = g->first[thread]; p >= 0 && k < g->first[thread + 1]; k++) {
    uint32_t api = g->order[k];
    if (nai_at(&m->apis.start_ns, api) >= first_work[p])
      return;
    if (nai_call_ns(m, api) >= MIN_CONTEXT_NS &&
        (longest[p] == NAI_NO_ROW || nai_call_ns(m, api) > nai_call_ns(m, longest[p])))
      longest[p] = api;
  }
}

/* Creation of the context is billed to some call before the first work. */
static int look_for_contexts(struct nai_first_use *out, struct places *places, const struct nai_model *m,
                             const uint8_t *kinds, struct nai_err *err) {
  int64_t *first_work = malloc(((size_t)m->process_count + 1) * sizeof *first_work);
  uint32_t *longest = malloc(((size_t)m->process_count + 1) * sizeof *longest);
  if (!first_work || !longest) {
    free(first_work);
    free(longest);
    return nai_err_nomem(err);
  }
  for (uint32_t p = 0; p < m->process_count; p++) {
    first_work[p] = INT64_MAX;
    longest[p] = NAI_NO_ROW;
  }
  for (uint32_t t = 0; t < m->thread_count; t++)
    look_for_first_work(first_work, m, t, kinds);
  for (uint32_t t = 0; t < m->thread_count; t++)
    look_before_work(longest, first_work, m, t);
  for (uint32_t p = 0; p < m->process_count; p++) {
    if (longest[p] == NAI_NO_ROW)
      continue;
    int64_t ns = nai_call_ns(m, longest[p]);
    bool most = ns > out->context_ns;
    out->contexts++;
    out->context_call = most ? nai_model_api_name(m, longest[p]) : out->context_call;
    out->context_ns = most ? ns : out->context_ns;
    add_call(places, m, longest[p]);
  }
  free(first_work);
  free(longest);
  return NAI_OK;
}

/* --- loading ---------------------------------------------------------------------------------- */

static void look_for_loading(struct nai_first_use *out, struct places *places, const struct nai_model *m,
                             const uint8_t *kinds) {
  const struct nai_table *t = m->tables[NAI_IN_OVERHEAD];
  uint32_t before = places->count;
  for (int64_t i = 0; i < t->rows; i++) {
    if (!nai_is_loading(m, i))
      continue;
    out->loading_rows++;
    add_place(places, nai_get_i64(t, i, OVERHEAD_EVENTS_start_ns), nai_get_i64(t, i, OVERHEAD_EVENTS_end_ns));
  }
  out->loading_rows_ns = time_from(places, before);
  before = places->count;
  bool any = false;
  for (uint32_t i = 0; i < m->tables[NAI_IN_APIS]->strings.count; i++)
    any = any || kinds[i] == NAI_CALL_LOADING;
  for (uint32_t i = 0; any && i < m->apis.n; i++) {
    if (kinds[nai_at_text(&m->apis.name, i)] != NAI_CALL_LOADING)
      continue;
    out->loading_calls++;
    add_call(places, m, i);
  }
  out->loading_calls_ns = time_from(places, before);
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
    uint32_t k = from + i, api = l->m->kernel_api[k], name = nai_at_text(&l->m->kernels.name, k);
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
    uint32_t api = m->kernel_api[k], *known = &first[nai_at_text(&m->kernels.name, k)];
    if (api == NAI_NO_ROW || nai_at_i32(&m->kernels.graph_id, k) != NAI_NULL_I32)
      continue;
    if (*known == NAI_NO_ROW || nai_at(&m->apis.start_ns, api) < nai_at(&m->apis.start_ns, m->kernel_api[*known]))
      *known = k;
  }
  for (uint32_t i = 0; i < names; i++) {
    if (first[i] != NAI_NO_ROW && nai_call_ns(m, m->kernel_api[first[i]]) < MIN_EXCESS_NS)
      first[i] = NAI_NO_ROW;
    any = any || first[i] != NAI_NO_ROW;
  }
  return any;
}

static int look_for_slow_launches(struct nai_first_use *out, struct places *places, const struct nai_model *m,
                                  struct nai_err *err) {
  uint32_t names = m->tables[NAI_IN_KERNELS]->strings.count;
  uint32_t *first = malloc(((size_t)names + 1) * sizeof *first);
  struct nai_stats *stats = calloc((size_t)names + 1, sizeof *stats);
  struct launches launches = {m, first};
  int rc = first && stats ? NAI_OK : nai_err_nomem(err);
  bool any = !rc && find_slow_launches(first, names, m);
  if (!rc && any)
    rc = nai_group_stats(stats, names, &(struct nai_values){m->kernels.n, later_calls, &launches, m->scratch_dir}, err);
  for (uint32_t i = 0; !rc && i < names; i++) {
    if (first[i] == NAI_NO_ROW)
      continue;
    uint32_t api = m->kernel_api[first[i]];
    int64_t usual = stats[i].count ? (int64_t)stats[i].p50 : LAUNCH_FLOOR_NS, excess = nai_call_ns(m, api) - usual;
    if (excess < MIN_EXCESS_NS)
      continue;
    out->slow_launches++;
    out->slow_launches_ns += excess;
    add_call(places, m, api);
  }
  free(first);
  free(stats);
  return rc;
}

void nai_first_use_free(struct nai_first_use *first_use) { nai_intervals_free(&first_use->once); }

int nai_first_use_collect(struct nai_first_use *out, const struct nai_model *m, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_APIS];
  struct places places = {0};
  uint8_t *kinds = malloc((size_t)t->strings.count + 1);
  int rc = kinds ? NAI_OK : nai_err_nomem(err);
  *out = (struct nai_first_use){0};
  for (uint32_t i = 0; !rc && i < t->strings.count; i++)
    kinds[i] = (uint8_t)nai_call_kind_of(nai_strings_get(&t->strings, i));
  if (!rc)
    rc = look_for_contexts(out, &places, m, kinds, err);
  if (!rc)
    look_for_loading(out, &places, m, kinds);
  if (!rc)
    rc = look_for_slow_launches(out, &places, m, err);
  nai_intervals_gather(&out->once, places.v, places.count);
  out->total_ns = nai_intervals_total_ns(&out->once);
  if (!rc && (places.oom || out->once.oom))
    rc = nai_err_nomem(err);
  free(places.v);
  free(kinds);
  return rc;
}
