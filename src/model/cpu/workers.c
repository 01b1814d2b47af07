/* Threads of a pool wait in calls of the OS runtime: what they do outside of them is the program's work. */
#include "model/cpu/workers.h"

#include "model/build.h"
#include "model/idle/idle.h"
#include "tables/osrt_events.h"

/* The outermost calls of a thread, by start; they do not overlap. */
struct calls {
  struct OSRT_EVENTS_columns c;
  const uint32_t *rows;
  uint32_t count;
};

static int64_t start_of(const struct calls *k, uint32_t i) { return nai_val(&k->c.start_ns, k->rows[i]); }
static int64_t end_of(const struct calls *k, uint32_t i) { return nai_val(&k->c.end_ns, k->rows[i]); }

/* Whether the thread is in calls for half of its time. */
static bool waits_mostly(const struct calls *k) {
  double waited = 0;
  for (uint32_t i = 0; i < k->count; i++)
    waited += (double)(end_of(k, i) - start_of(k, i));
  return 2 * waited >= (double)(end_of(k, k->count - 1) - start_of(k, 0));
}

/* Time of the stretches that lies between the thread's first call and its last one, but in none. */
static int64_t outside(const struct calls *k, const struct nai_intervals *when) {
  const int64_t first = start_of(k, 0), last = end_of(k, k->count - 1);
  int64_t ns = 0;
  for (size_t i = 0; i < when->count; i++) {
    int64_t from = when->v[i].start > first ? when->v[i].start : first;
    const int64_t to = when->v[i].end < last ? when->v[i].end : last;
    uint32_t call = nai_rows_from(k->rows, 0, k->count, &k->c.start_ns, from);
    for (call -= call > 0; from < to; call++) {
      const int64_t until = call < k->count && start_of(k, call) < to ? start_of(k, call) : to;
      ns += until > from ? until - from : 0;
      if (until == to)
        break;
      from = end_of(k, call) > from ? end_of(k, call) : from;
    }
  }
  return ns;
}

/* The calls of a thread; there may be none. */
static struct calls calls_of(const struct nai_model *m, const struct nai_groups *g, uint32_t thread) {
  return (struct calls){.c = OSRT_EVENTS_columns_of(m->tables[NAI_IN_OSRT]),
                        .rows = g->order + g->first[thread],
                        .count = g->first[thread + 1] - g->first[thread]};
}

int nai_workers_find(struct nai_workers *out, const struct nai_model *m, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_groups *g = nai_model_osrt_calls(m);
  *out = (struct nai_workers){.m = m};
  if (!g)
    return NAI_OK;
  NAI_TRY(NAI_NEW(out->waits, arena, m->thread_count, err));
  for (uint32_t t = 0; t < m->thread_count; t++) {
    const struct calls calls = calls_of(m, g, t);
    out->waits[t] = calls.count && waits_mostly(&calls);
  }
  return NAI_OK;
}

double nai_workers_busy(const struct nai_workers *workers, int32_t thread, const struct nai_intervals *when) {
  const struct nai_model *m = workers->m;
  const int64_t whole = nai_intervals_total_ns(when);
  double ns = 0;
  if (!workers->waits || whole <= 0)
    return NAN;
  for (uint32_t t = 0; t < m->thread_count; t++) {
    if (!workers->waits[t] || (int32_t)t == thread || m->thread_process[t] != m->thread_process[thread])
      continue;
    const struct calls calls = calls_of(m, nai_model_osrt_calls(m), t);
    ns += (double)outside(&calls, when);
  }
  return ns / (double)whole;
}
