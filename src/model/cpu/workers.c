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
  int64_t ns = 0;
  uint32_t next = 0; /* the first call that ends behind the stretch's begin */
  for (size_t i = 0; i < when->count; i++) {
    int64_t from = when->v[i].start, to = when->v[i].end;
    from = from > start_of(k, 0) ? from : start_of(k, 0);
    to = to < end_of(k, k->count - 1) ? to : end_of(k, k->count - 1);
    while (next < k->count && end_of(k, next) <= from)
      next++;
    for (uint32_t call = next; from < to; call++) {
      int64_t until = call < k->count && start_of(k, call) < to ? start_of(k, call) : to;
      ns += until > from ? until - from : 0;
      if (until == to)
        break;
      from = end_of(k, call) > from ? end_of(k, call) : from;
    }
  }
  return ns;
}

double nai_busy_workers(const struct nai_model *m, int32_t thread, const struct nai_intervals *when) {
  const struct nai_groups *g = nai_model_osrt_calls(m);
  const int64_t whole = nai_intervals_total_ns(when);
  if (!g || whole <= 0)
    return NAN;
  double ns = 0;
  struct calls calls = {.c = OSRT_EVENTS_columns_of(m->tables[NAI_IN_OSRT])};
  for (uint32_t t = 0; t < m->thread_count; t++) {
    calls.rows = g->order + g->first[t];
    calls.count = g->first[t + 1] - g->first[t];
    if ((int32_t)t != thread && m->thread_process[t] == m->thread_process[thread] && calls.count &&
        waits_mostly(&calls))
      ns += (double)outside(&calls, when);
  }
  return ns / (double)whole;
}
