/* When sleeps of a thread end, and which thread runs then. */
#include "model/cpu/wakers.h"

enum { SHORTEST_SLEEP_NS = 500 * 1000, NEAR_NS = 100 * 1000, FEWEST = 10, TIMES_BY_CHANCE = 2 };

int nai_wakes_add(struct nai_wakes *wakes, const struct nai_model *m, int64_t global_tid, int64_t start, int64_t end,
                  struct nai_arena *arena, struct nai_err *err) {
  const struct nai_cpu_rows *rows = &m->cpu->sched;
  const struct SCHED_EVENTS_columns *c = &m->cpu->sched_events;
  const struct nai_cpu_thread *thread = nai_cpu_find(rows, global_tid);
  if (!thread)
    return NAI_OK;
  const uint32_t last = thread->first + thread->count;
  uint32_t i = nai_rows_from(rows->order, thread->first, last, &c->time_ns, start);
  for (i += i == thread->first; i < last && nai_at(&c->time_ns, rows->order[i]) < end; i++) {
    const uint32_t row = rows->order[i], before = rows->order[i - 1];
    const int64_t at = nai_at(&c->time_ns, row), slept = at - nai_at(&c->time_ns, before);
    if (nai_at(&c->is_in, row) != 1 || nai_at(&c->is_in, before) == 1 || slept < SHORTEST_SLEEP_NS ||
        nai_at(&c->thread_state, before) == NAI_SCHED_RUNNABLE)
      continue;
    NAI_TRY(NAI_ROOM(wakes->at, wakes->capacity, wakes->count, arena, err));
    wakes->at[wakes->count++] = (struct nai_wake){at, slept};
  }
  return NAI_OK;
}

/* The sleeps at whose end a thread runs or just ran, and the time of all its runs and what is near behind them. */
static struct nai_waker count_near(int64_t *near_ns, const struct nai_wakes *wakes, const struct nai_model *m,
                                   const struct nai_cpu_thread *thread) {
  const struct SCHED_EVENTS_columns *c = &m->cpu->sched_events;
  const uint32_t *order = m->cpu->sched.order;
  const int64_t first = wakes->at[0].at, last = wakes->at[wakes->count - 1].at;
  struct nai_waker waker = {.thread = (int32_t)nai_at(&c->thread, order[thread->first])};
  uint32_t at = 0;
  *near_ns = 0;
  for (uint32_t i = thread->first; i + 1 < thread->first + thread->count; i++) {
    if (nai_at(&c->is_in, order[i]) != 1)
      continue;
    int64_t from = nai_at(&c->time_ns, order[i]), until = nai_at(&c->time_ns, order[i + 1]) + NEAR_NS;
    for (; at < wakes->count && wakes->at[at].at <= until; at++)
      if (wakes->at[at].at >= from) {
        waker.count++;
        waker.slept_ns += wakes->at[at].slept_ns;
      }
    from = from > first ? from : first;
    until = until < last ? until : last;
    *near_ns += until > from ? until - from : 0;
  }
  return waker;
}

struct nai_waker nai_waker_of(const struct nai_wakes *wakes, const struct nai_model *m, int64_t global_tid) {
  const struct nai_cpu_rows *rows = &m->cpu->sched;
  struct nai_waker found = {.thread = -1};
  int64_t slept = 0;
  for (uint32_t i = 0; i < wakes->count; i++)
    slept += wakes->at[i].slept_ns;
  for (uint32_t t = 0; wakes->count >= FEWEST && t < rows->thread_count; t++) {
    int64_t near_ns;
    if (rows->threads[t].global_tid == global_tid)
      continue;
    const struct nai_waker waker = count_near(&near_ns, wakes, m, &rows->threads[t]);
    const double span = (double)(wakes->at[wakes->count - 1].at - wakes->at[0].at);
    if (waker.thread >= 0 && waker.slept_ns > found.slept_ns && waker.slept_ns >= slept / 3 * 2 &&
        2 * waker.count >= wakes->count && TIMES_BY_CHANCE * (double)near_ns * wakes->count <= waker.count * span)
      found = waker;
  }
  return found;
}
