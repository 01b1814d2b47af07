/* The part CPU: rows of scheduling and samples by thread, and what time on and off a CPU follows from them. */
#include "model/cpu/cpu.h"

#include "base/sort.h"
#include "model/build.h"
#include "tables/sample_events.h"
#include "tables/sched_events.h"

#include <stdlib.h>

static uint32_t rows_of(const struct nai_table *t) { return t ? (uint32_t)t->rows : 0; }

/* --- rows by thread --------------------------------------------------------------------------- */

/* One pass of a stable sort: by the cells of a column. */
static int sort_by(struct nai_key *keys, uint32_t n, const struct nai_table *t, int column, struct nai_err *err) {
  const struct nai_column cells = nai_table_column(t, column);
  for (uint32_t i = 0; i < n; i++)
    keys[i].key = nai_key_from_i64(nai_at(&cells, keys[i].value));
  return nai_sort_keys(keys, n, err);
}

static uint32_t count_threads(const struct nai_key *keys, uint32_t n) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++)
    count += i == 0 || keys[i].key != keys[i - 1].key;
  return count;
}

/* keys: sorted by thread last. */
static int take_order(struct nai_cpu_rows *rows, const struct nai_key *keys, uint32_t n, const struct nai_column *tid,
                      struct nai_err *err) {
  rows->order = malloc(((size_t)n + 1) * sizeof *rows->order);
  rows->threads = malloc(((size_t)count_threads(keys, n) + 1) * sizeof *rows->threads);
  if (!rows->order || !rows->threads)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < n; i++) {
    rows->order[i] = keys[i].value;
    if (i == 0 || keys[i].key != keys[i - 1].key)
      rows->threads[rows->thread_count++] = (struct nai_cpu_thread){nai_at(tid, keys[i].value), i, 0};
    rows->threads[rows->thread_count - 1].count++;
  }
  return NAI_OK;
}

/* By thread, then the columns `by` (ends with -1), the last of which counts least. */
static int group_rows(struct nai_cpu_rows *rows, const struct nai_table *t, int tid_column, const int *by,
                      struct nai_err *err) {
  uint32_t n = rows_of(t);
  if (!n)
    return NAI_OK;
  struct nai_key *keys = malloc((size_t)n * sizeof *keys);
  int rc = keys ? NAI_OK : nai_err_nomem(err), last = 0;
  for (uint32_t i = 0; keys && i < n; i++)
    keys[i].value = i;
  while (by[last] >= 0)
    last++;
  while (!rc && last-- > 0)
    rc = sort_by(keys, n, t, by[last], err);
  if (!rc)
    rc = sort_by(keys, n, t, tid_column, err);
  const struct nai_column tid = nai_table_column(t, tid_column);
  if (!rc)
    rc = take_order(rows, keys, n, &tid, err);
  free(keys);
  return rc;
}

const struct nai_cpu_thread *nai_cpu_find(const struct nai_cpu_rows *rows, int64_t global_tid) {
  size_t at = nai_bisect(rows->threads, rows->thread_count, sizeof *rows->threads,
                         offsetof(struct nai_cpu_thread, global_tid), global_tid);
  return at < rows->thread_count && rows->threads[at].global_tid == global_tid ? &rows->threads[at] : NULL;
}

/* --- time on and off a CPU -------------------------------------------------------------------- */

enum { STATE_RUNNING = 1 }; /* of a row that stops: the thread could have gone on */

/* What the stretch from one row of a thread to its next is. */
static void add_stretch(struct nai_cpu_time *time, const struct nai_table *t, uint32_t row, uint32_t next, int64_t ns) {
  bool in = nai_get_i64(t, row, SCHED_EVENTS_is_in) == 1, next_in = nai_get_i64(t, next, SCHED_EVENTS_is_in) == 1;
  if (in == next_in) {
    time->breaks++;
    time->unknown_ns += ns;
  } else if (in) {
    time->on_ns += ns;
  } else {
    time->off_ns += ns;
    time->preempted_ns += nai_get_i64(t, row, SCHED_EVENTS_thread_state) == STATE_RUNNING ? ns : 0;
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
  const struct nai_table *t = m->tables[NAI_IN_SCHED];
  const struct nai_column at = nai_table_column(t, SCHED_EVENTS_time_ns);
  uint32_t first = thread->first, last = first + thread->count;
  uint32_t i = nai_rows_from(rows->order, first, last, &at, start);
  i -= i > first; /* the row that the beginning follows */
  int64_t known_from = nai_at(&at, rows->order[i]), from = start;
  if (known_from > start) {
    from = known_from < end ? known_from : end;
    time->unknown_ns += from - start;
  }
  for (; from < end && i + 1 < last; i++) {
    int64_t until = nai_at(&at, rows->order[i + 1]);
    until = until < end ? until : end;
    if (until > from || nai_at(&at, rows->order[i]) >= start)
      add_stretch(time, t, rows->order[i], rows->order[i + 1], until > from ? until - from : 0);
    from = until > from ? until : from;
  }
  time->unknown_ns += from < end ? end - from : 0;
}

/* --- samples ---------------------------------------------------------------------------------- */

bool nai_sample_is_timed(const struct nai_model *m, uint32_t sample) {
  return nai_get_i64(m->tables[NAI_IN_SAMPLES], sample, SAMPLE_EVENTS_cpu_cycles) != 0;
}

/* Median distance of neighbours among the timed samples of each CPU. */
static int find_period(struct nai_cpu *cpu, const struct nai_model *m, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_SAMPLES];
  uint32_t n = rows_of(t), count = 0;
  if (n < 2)
    return NAI_OK;
  struct nai_key *keys = malloc((size_t)n * sizeof *keys);
  int64_t *distances = malloc((size_t)n * sizeof *distances);
  int rc = keys && distances ? NAI_OK : nai_err_nomem(err);
  uint32_t timed = 0;
  for (uint32_t i = 0; !rc && i < n; i++)
    if (nai_sample_is_timed(m, i))
      keys[timed++].value = i;
  if (!rc)
    rc = sort_by(keys, timed, t, SAMPLE_EVENTS_time_ns, err);
  if (!rc)
    rc = sort_by(keys, timed, t, SAMPLE_EVENTS_cpu, err);
  for (uint32_t i = 1; !rc && i < timed; i++)
    if (keys[i].key == keys[i - 1].key)
      distances[count++] = nai_get_i64(t, keys[i].value, SAMPLE_EVENTS_time_ns) -
                           nai_get_i64(t, keys[i - 1].value, SAMPLE_EVENTS_time_ns);
  if (!rc && count) {
    nai_select_i64(distances, count, count / 2);
    cpu->period_ns = distances[count / 2];
  }
  free(keys);
  free(distances);
  return rc;
}

/* --- the part --------------------------------------------------------------------------------- */

static int begin_cpu(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  const struct nai_table *sched = m->tables[NAI_IN_SCHED];
  static const int sched_order[] = {SCHED_EVENTS_time_ns, SCHED_EVENTS_is_in, SCHED_EVENTS_cpu, -1},
                   sample_order[] = {SAMPLE_EVENTS_time_ns, SAMPLE_EVENTS_cpu, SAMPLE_EVENTS_callchain_id, -1};
  struct nai_cpu *cpu = m->cpu = calloc(1, sizeof *m->cpu);
  if (!cpu)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < rows_of(sched) && !cpu->tells_runnable; i++)
    cpu->tells_runnable = nai_get_i64(sched, i, SCHED_EVENTS_is_in) == 0 &&
                          nai_get_i64(sched, i, SCHED_EVENTS_thread_state) == STATE_RUNNING;
  int rc = group_rows(&cpu->sched, sched, SCHED_EVENTS_global_tid, sched_order, err);
  if (!rc)
    rc = group_rows(&cpu->samples, m->tables[NAI_IN_SAMPLES], SAMPLE_EVENTS_global_tid, sample_order, err);
  if (!rc)
    rc = find_period(cpu, m, err);
  return rc ? rc : nai_cpu_chains_build(cpu, m, err);
}

static void free_rows(struct nai_cpu_rows *rows) {
  free(rows->order);
  free(rows->threads);
}

static void free_cpu(struct nai_model *m) {
  if (!m->cpu)
    return;
  free_rows(&m->cpu->sched);
  free_rows(&m->cpu->samples);
  free(m->cpu->chains);
  free(m->cpu);
}

static int64_t cpu_bytes(const struct nai_model *m) {
  return ((int64_t)rows_of(m->tables[NAI_IN_SCHED]) + rows_of(m->tables[NAI_IN_SAMPLES])) * 48 +
         (int64_t)rows_of(m->tables[NAI_IN_CALLCHAINS]) * 64;
}

const struct nai_part_def nai_part_cpu = {.name = "threads on CPUs",
                                          .tables = NAI_IN(SCHED) | NAI_IN(SAMPLES) | NAI_IN(CALLCHAINS),
                                          .begin = begin_cpu,
                                          .free = free_cpu,
                                          .bytes = cpu_bytes};
