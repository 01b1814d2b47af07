/* The part CPU: rows of scheduling and samples by thread, and what time on and off a CPU follows from them. */
#include "model/cpu/cpu.h"

#include "base/sort.h"
#include "model/build.h"

/* --- rows by thread --------------------------------------------------------------------------- */

/* By the columns, the first of which is the thread. */
static int group_rows(struct nai_cpu_rows *rows, struct nai_model *m, uint32_t n,
                      const struct nai_column *const columns[4], struct nai_err *err) {
  uint32_t capacity = 0;
  NAI_TRY(NAI_NEW(rows->order, &m->arena, n, err));
  for (uint32_t i = 0; i < n; i++)
    rows->order[i] = i;
  NAI_TRY(nai_rows_arrange(rows->order, n, columns, 4, err));
  for (uint32_t i = 0; i < n; i++) {
    int64_t thread = nai_at(columns[0], rows->order[i]);
    if (i == 0 || thread != rows->threads[rows->thread_count - 1].global_tid) {
      NAI_TRY(NAI_ROOM(rows->threads, capacity, rows->thread_count, &m->arena, err));
      rows->threads[rows->thread_count++] = (struct nai_cpu_thread){thread, i, 0};
    }
    rows->threads[rows->thread_count - 1].count++;
  }
  return NAI_OK;
}

const struct nai_cpu_thread *nai_cpu_find(const struct nai_cpu_rows *rows, int64_t global_tid) {
  size_t at = nai_bisect(rows->threads, rows->thread_count, sizeof *rows->threads,
                         offsetof(struct nai_cpu_thread, global_tid), global_tid);
  return at < rows->thread_count && rows->threads[at].global_tid == global_tid ? &rows->threads[at] : NULL;
}

/* --- time on and off a CPU -------------------------------------------------------------------- */

/* What the stretch from one row of a thread to its next is. */
static void add_stretch(struct nai_cpu_time *time, const struct SCHED_EVENTS_columns *c, uint32_t row, uint32_t next,
                        int64_t ns) {
  bool in = nai_at(&c->is_in, row) == 1, next_in = nai_at(&c->is_in, next) == 1;
  if (in == next_in) {
    time->breaks++;
    time->unknown_ns += ns;
  } else if (in) {
    time->on_ns += ns;
  } else {
    time->off_ns += ns;
    time->preempted_ns += nai_at(&c->thread_state, row) == NAI_SCHED_RUNNABLE ? ns : 0;
  }
}

void nai_cpu_time_add(struct nai_cpu_time *time, const struct nai_model *m, int64_t global_tid, int64_t start,
                      int64_t end) {
  const struct nai_cpu_rows *rows = &m->cpu->sched;
  const struct nai_cpu_thread *thread = nai_cpu_find(rows, global_tid);
  if (!thread || start >= end) {
    time->unknown_ns += start < end ? end - start : 0;
    return;
  }
  const struct SCHED_EVENTS_columns *c = &m->cpu->sched_events;
  uint32_t first = thread->first, last = first + thread->count;
  uint32_t i = nai_rows_from(rows->order, first, last, &c->time_ns, start);
  i -= i > first; /* the row that the beginning follows */
  int64_t known_from = nai_at(&c->time_ns, rows->order[i]), from = start;
  if (known_from > start) {
    from = known_from < end ? known_from : end;
    time->unknown_ns += from - start;
  }
  for (; from < end && i + 1 < last; i++) {
    int64_t until = nai_at(&c->time_ns, rows->order[i + 1]);
    until = until < end ? until : end;
    if (until > from || nai_at(&c->time_ns, rows->order[i]) >= start)
      add_stretch(time, c, rows->order[i], rows->order[i + 1], until > from ? until - from : 0);
    from = until > from ? until : from;
  }
  time->unknown_ns += from < end ? end - from : 0;
}

/* --- samples ---------------------------------------------------------------------------------- */

bool nai_sample_is_timed(const struct nai_model *m, uint32_t sample) {
  return nai_at(&m->cpu->sample_events.cpu_cycles, sample) != 0;
}

bool nai_sample_tells(const struct nai_model *m, const struct nai_chain *chain) {
  return !m->cpu->stacks_are_rare || (chain && !(chain->flags & NAI_CHAIN_ALONE));
}

static bool is_counted(const struct nai_model *m, uint32_t sample) {
  int64_t id = nai_at(&m->cpu->sample_events.callchain_id, sample);
  return nai_sample_is_timed(m, sample) &&
         (!m->cpu->stacks_are_rare || nai_sample_tells(m, nai_cpu_chain(m, NAI_CALLCHAIN_SAMPLE, id)));
}

/* Median distance of neighbours among the samples of each CPU that tell a function. */
static int find_period(struct nai_model *m, struct nai_err *err) {
  const struct SAMPLE_EVENTS_columns *c = &m->cpu->sample_events;
  const struct nai_column *const order[] = {&c->cpu, &c->time_ns};
  struct nai_arena *arena = &m->work->arenas[NAI_PART_CPU];
  uint32_t *rows, timed = 0, count = 0;
  int64_t *distances;
  NAI_TRY(NAI_NEW(rows, arena, c->n, err));
  for (uint32_t i = 0; i < c->n; i++)
    if (is_counted(m, i))
      rows[timed++] = i;
  NAI_TRY(nai_rows_arrange(rows, timed, order, 2, err));
  NAI_TRY(NAI_NEW(distances, arena, timed, err));
  for (uint32_t i = 1; i < timed; i++)
    if (nai_at(&c->cpu, rows[i]) == nai_at(&c->cpu, rows[i - 1]))
      distances[count++] = nai_at(&c->time_ns, rows[i]) - nai_at(&c->time_ns, rows[i - 1]);
  if (count) {
    nai_select_i64(distances, count, count / 2);
    m->cpu->period_ns = distances[count / 2];
  }
  return NAI_OK;
}

/* --- the part --------------------------------------------------------------------------------- */

static int begin_cpu(struct nai_model *m, struct nai_err *err) {
  NAI_TRY(NAI_NEW(m->cpu, &m->arena, 1, err));
  struct nai_cpu *cpu = m->cpu;
  struct SCHED_EVENTS_columns *sched = &cpu->sched_events;
  struct SAMPLE_EVENTS_columns *samples = &cpu->sample_events;
  *sched = SCHED_EVENTS_columns_of(m->tables[NAI_IN_SCHED]);
  *samples = SAMPLE_EVENTS_columns_of(m->tables[NAI_IN_SAMPLES]);
  for (uint32_t i = 0; i < sched->n && !cpu->tells_runnable; i++)
    cpu->tells_runnable = nai_at(&sched->is_in, i) == 0 && nai_at(&sched->thread_state, i) == NAI_SCHED_RUNNABLE;
  const struct nai_column *const sched_order[] = {&sched->global_tid, &sched->time_ns, &sched->is_in, &sched->cpu},
                                 *const sample_order[] = {&samples->global_tid, &samples->time_ns, &samples->cpu,
                                                          &samples->callchain_id};
  NAI_TRY(group_rows(&cpu->sched, m, sched->n, sched_order, err));
  NAI_TRY(group_rows(&cpu->samples, m, samples->n, sample_order, err));
  NAI_TRY(nai_cpu_chains_build(m, err));
  NAI_TRY(find_period(m, err));
  nai_part_forget(m, NAI_PART_CPU);
  return NAI_OK;
}

static int64_t cpu_bytes(const struct nai_model *m) {
  const struct nai_table *sched = m->tables[NAI_IN_SCHED], *samples = m->tables[NAI_IN_SAMPLES],
                         *frames = m->tables[NAI_IN_CALLCHAINS];
  return ((sched ? sched->rows : 0) + (samples ? samples->rows : 0)) * 48 + (frames ? frames->rows : 0) * 64;
}

const struct nai_part_def nai_part_cpu = {.name = "threads on CPUs",
                                          .tables = NAI_IN(SCHED) | NAI_IN(SAMPLES) | NAI_IN(CALLCHAINS),
                                          .begin = begin_cpu,
                                          .bytes = cpu_bytes};
