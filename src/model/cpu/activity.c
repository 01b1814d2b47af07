/* Collects what a thread did, layer by layer. */
#include "model/cpu/activity.h"

#include "base/array.h"
#include "base/sort.h"
#include "model/idle/idle.h"
#include "tables/threads.h"

void nai_activity_free(struct nai_activity *a) {
  nai_keyset_free(&a->keys);
  free(a->shares);
}

static struct nai_activity_share *share_of(struct nai_activity *a, const struct nai_activity_share *like) {
  bool added;
  int64_t key = (int64_t)like->layer << 40 | (int64_t)like->is_module << 36 | (int64_t)like->id;
  uint32_t i = nai_keyset_add(&a->keys, key, &added);
  if (a->keys.oom || (i == a->capacity && !nai_array_room(&a->shares, &a->capacity, i, sizeof *a->shares))) {
    a->oom = true;
    return NULL;
  }
  if (added)
    a->shares[i] = *like;
  return &a->shares[i];
}

static void add(struct nai_activity *a, const struct nai_activity_share *like, int64_t ns, int64_t count,
                const struct nai_chain *caller) {
  struct nai_activity_share *s = a->oom ? NULL : share_of(a, like);
  if (!s)
    return;
  a->layer_ns[s->layer] += ns;
  s->ns += ns;
  s->count += count;
  if (ns > s->longest) {
    s->longest = ns;
    s->caller = caller ? caller : s->caller;
  }
}

/* --- CUDA calls and overhead ------------------------------------------------------------------ */

/* Of the calls that are running the one that began first: it holds the others. */
static int outermost_call(const struct nai_moment *at, const struct nai_model *m, int64_t t, int64_t *next) {
  int found = -1;
  int64_t began = INT64_MAX;
  for (int layer = NAI_LAYER_WAIT; layer < NAI_LAYERS; layer++) {
    if (at->until[layer] <= t)
      continue;
    int64_t start = nai_val(&m->apis.start_ns, at->row[layer]);
    *next = at->until[layer] < *next ? at->until[layer] : *next;
    if (start < began) {
      began = start;
      found = layer;
    }
  }
  return found;
}

static int overhead_at(const struct nai_moment *at, int64_t t, int64_t *next) {
  int found = -1;
  for (int layer = NAI_LAYER_WAIT; layer-- > 0;)
    if (at->until[layer] > t) {
      *next = at->until[layer] < *next ? at->until[layer] : *next;
      found = layer;
    }
  return found;
}

static void add_calls(struct nai_activity *a, struct nai_moment *at, const struct nai_model *m, uint32_t thread,
                      int64_t start, int64_t end) {
  uint32_t last_call = NAI_NO_ROW, last_overhead = NAI_NO_ROW;
  nai_moment_find(at, m, thread, start);
  for (int64_t t = start, next; t < end; t = next) {
    nai_moment_move(at, t);
    next = nai_moment_next(at);
    int call = outermost_call(at, m, t, &next), overhead = overhead_at(at, t, &next);
    next = next < end ? next : end;
    if (call >= 0) {
      uint32_t row = at->row[call];
      add(a, &(struct nai_activity_share){.layer = NAI_ACTIVITY_API, .id = nai_val_text(&m->apis.name, row)}, next - t,
          row != last_call, NULL);
      last_call = row;
    }
    if (overhead >= 0) {
      uint32_t row = at->row[overhead], name = nai_at_text(&m->evidence->overheads.name, row);
      add(a, &(struct nai_activity_share){.layer = NAI_ACTIVITY_OVERHEAD, .id = name}, next - t, row != last_overhead,
          NULL);
      last_overhead = row;
    }
  }
}

/* --- OS runtime ------------------------------------------------------------------------------- */

static void add_osrt_call(struct nai_activity *a, const struct nai_model *m, uint32_t row, int64_t ns) {
  const struct OSRT_EVENTS_columns *c = &m->evidence->osrt;
  uint32_t id = nai_at_text(&c->name, row);
  const struct nai_chain *chain = nai_cpu_chain(m, NAI_CALLCHAIN_OSRT, nai_at(&c->callchain_id, row));
  struct nai_activity_share like = {.layer = NAI_ACTIVITY_OSRT,
                                    .id = id,
                                    .class = nai_osrt_class(nai_strings_get(&m->tables[NAI_IN_OSRT]->strings, id))};
  a->gil_ns += chain && chain->flags & NAI_CHAIN_GIL ? ns : 0;
  add(a, &like, ns, 1, chain && chain->is_own ? chain : NULL);
}

/* The outermost calls of a thread do not overlap; should they, time is the earlier one's. */
static void add_osrt(struct nai_activity *a, const struct nai_model *m, uint32_t thread, int64_t start, int64_t end) {
  const struct OSRT_EVENTS_columns *c = &m->evidence->osrt;
  const struct nai_groups *g = nai_model_osrt_calls(m);
  if (!g)
    return;
  uint32_t first = g->first[thread], last = g->first[thread + 1];
  uint32_t i = nai_rows_from(g->order, first, last, &c->start_ns, start);
  for (i -= i > first; i < last && nai_val(&c->start_ns, g->order[i]) < end; i++) {
    int64_t from = nai_val(&c->start_ns, g->order[i]), to = nai_val(&c->end_ns, g->order[i]);
    from = from > start ? from : start;
    to = to < end ? to : end;
    if (to <= from)
      continue;
    add_osrt_call(a, m, g->order[i], to - from);
    start = to;
  }
}

/* --- samples and launches --------------------------------------------------------------------- */

static struct nai_activity_share like_chain(enum nai_activity_layer layer, const struct nai_chain *chain) {
  return (struct nai_activity_share){
      .layer = layer, .id = chain ? chain->function : NAI_NO_STRING, .is_module = chain && chain->is_module};
}

static void add_samples(struct nai_activity *a, const struct nai_model *m, int64_t global_tid, int64_t start,
                        int64_t end) {
  const struct nai_cpu_rows *rows = &m->cpu->samples;
  const struct nai_cpu_thread *of = nai_cpu_find(rows, global_tid);
  if (!of)
    return;
  const struct SAMPLE_EVENTS_columns *c = &m->cpu->sample_events;
  uint32_t last = of->first + of->count, i = nai_rows_from(rows->order, of->first, last, &c->time_ns, start);
  for (; i < last && nai_at(&c->time_ns, rows->order[i]) < end; i++) {
    if (!nai_sample_is_timed(m, rows->order[i]))
      continue;
    const struct nai_chain *chain = nai_cpu_chain(m, NAI_CALLCHAIN_SAMPLE, nai_at(&c->callchain_id, rows->order[i]));
    struct nai_activity_share like = like_chain(NAI_ACTIVITY_SAMPLES, chain);
    if (!nai_sample_tells(m, chain))
      continue;
    add(a, &like, 0, 1, NULL);
    a->samples++;
    a->gil_ns += chain && chain->flags & NAI_CHAIN_GIL ? m->cpu->period_ns : 0;
    a->gc_ns += chain && chain->flags & NAI_CHAIN_GC ? m->cpu->period_ns : 0;
  }
}

void nai_activity_add_launch(struct nai_activity *a, const struct nai_model *m, uint32_t launch) {
  int64_t id = nai_at(&m->apis.callchain_id, launch);
  const struct nai_chain *chain = id > 0 ? nai_cpu_chain(m, NAI_CALLCHAIN_CUDA, id) : NULL;
  struct nai_activity_share like = like_chain(NAI_ACTIVITY_LAUNCH, chain);
  if (chain)
    add(a, &like, 0, 1, NULL);
}

/* --- signs of life ------------------------------------------------------------------------------ */

static int64_t seen(const struct nai_cpu_rows *rows, const struct nai_table *t, int column, int64_t global_tid,
                    bool last) {
  const struct nai_cpu_thread *thread = nai_cpu_find(rows, global_tid);
  if (!thread)
    return NAI_NULL_I64;
  return nai_get_i64(t, rows->order[thread->first + (last ? thread->count - 1 : 0)], column);
}

int64_t nai_thread_seen(const struct nai_model *m, int32_t thread, bool last) {
  const struct nai_groups *g = nai_model_osrt_calls(m);
  int64_t tid = nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_global_tid);
  int64_t times[] = {seen(&m->cpu->sched, m->tables[NAI_IN_SCHED], SCHED_EVENTS_time_ns, tid, last),
                     seen(&m->cpu->samples, m->tables[NAI_IN_SAMPLES], SAMPLE_EVENTS_time_ns, tid, last), NAI_NULL_I64};
  int64_t found = NAI_NULL_I64;
  if (g && g->first[thread] < g->first[thread + 1])
    times[2] = nai_get_i64(m->tables[NAI_IN_OSRT], g->order[last ? g->first[thread + 1] - 1 : g->first[thread]],
                           last ? OSRT_EVENTS_end_ns : OSRT_EVENTS_start_ns);
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    if (times[i] != NAI_NULL_I64 && (found == NAI_NULL_I64 || (last ? times[i] > found : times[i] < found)))
      found = times[i];
  return found;
}

/* --- all of it -------------------------------------------------------------------------------- */

void nai_activity_add(struct nai_activity *a, struct nai_moment *at, const struct nai_model *m, uint32_t thread,
                      int64_t start, int64_t end) {
  int64_t global_tid = nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_global_tid);
  if (start >= end)
    return;
  a->ns += end - start;
  add_calls(a, at, m, thread, start, end);
  add_osrt(a, m, thread, start, end);
  add_samples(a, m, global_tid, start, end);
  nai_cpu_time_add(&a->cpu, m, global_tid, start, end);
}

static int by_layer(const void *pa, const void *pb, void *model) {
  const struct nai_activity_share *a = pa, *b = pb;
  int order = NAI_COMPARE({a->layer, b->layer}, {b->ns, a->ns}, {b->count, a->count});
  return order ? order : strcmp(nai_activity_name(model, a), nai_activity_name(model, b));
}

void nai_activity_finish(struct nai_activity *a, const struct nai_model *m) {
  const bool scheduled = a->cpu.on_ns || a->cpu.off_ns;
  const int64_t whole = a->samples * m->cpu->period_ns, most = scheduled ? a->ns - a->cpu.off_ns : a->ns;
  const int64_t shown = whole < most ? whole : most; /* samples are of threads that run */
  for (uint32_t i = 0; i < a->keys.count; i++)
    if (a->shares[i].layer == NAI_ACTIVITY_SAMPLES) {
      a->shares[i].ns = shown / a->samples * a->shares[i].count + shown % a->samples * a->shares[i].count / a->samples;
      a->layer_ns[NAI_ACTIVITY_SAMPLES] += a->shares[i].ns;
    }
  a->gil_ns = a->gil_ns < a->ns ? a->gil_ns : a->ns;
  a->gc_ns = a->gc_ranges_ns ? a->gc_ranges_ns : a->gc_ns < a->ns ? a->gc_ns : a->ns;
  if (a->keys.count)
    qsort_r(a->shares, a->keys.count, sizeof *a->shares, by_layer, (void *)m);
}
