/* How did threads use the CPUs? Table cpu_threads. */
#include "analyses/analysis.h"
#include "base/array.h"
#include "derive/cpu/cpu.h"
#include "table/columns.h"

#include <stdlib.h>
#include <string.h>

enum {
  PID,
  TID,
  NAME,
  FIRST,
  LAST,
  ON_CPU,
  OFF_CPU,
  UNKNOWN,
  PREEMPTED,
  PCT_ON,
  SWITCHES,
  SWITCHES_PER_S,
  MIGRATIONS,
  CPUS,
  BREAKS,
  SAMPLES,
  PCT_SAMPLES,
  FUNCTION,
  FUNCTION_PCT,
  GIL,
  GC
};
static const struct nai_column_def columns[] = {
    [PID] = {"pid", NAI_I64, NAI_ID, "process", .role = NAI_ROLE_PROCESS, .key = true},
    [TID] = {"tid", NAI_I64, NAI_ID, "thread; also such that nothing but scheduling or samples tells of",
             .role = NAI_ROLE_THREAD, .key = true},
    [NAME] = NAI_LABEL_COLUMN("thread_name", "name, where the thread did something else that was recorded"),
    [FIRST] = NAI_START_COLUMN("first_ns", "first record of scheduling or sample"),
    [LAST] = NAI_END_COLUMN("last_ns", "last one"),
    [ON_CPU] =
        NAI_TIME_COLUMN("on_cpu_ns", "ran, between its first and last record; empty without scheduling", .sum = true),
    [OFF_CPU] = NAI_TIME_COLUMN("off_cpu_ns", "did not run", .sum = true),
    [UNKNOWN] = NAI_TIME_COLUMN("sched_unknown_ns", "between records that do not alternate", .sum = true),
    [PREEMPTED] = NAI_TIME_COLUMN("preempted_ns",
                                  "of off_cpu_ns: it could have run but another thread did; empty where not recorded",
                                  .better = NAI_BETTER_LOWER, .sum = true),
    [PCT_ON] = NAI_PCT_COLUMN("on_cpu_pct", "share of on_cpu_ns and off_cpu_ns that it ran"),
    [SWITCHES] = NAI_COUNT_COLUMN("switch_count", "times it stopped running", .sum = true),
    [SWITCHES_PER_S] = {"switches_per_s", NAI_F64, NAI_PER_S, "the same per second", .role = NAI_ROLE_METRIC},
    [MIGRATIONS] = NAI_COUNT_COLUMN("migration_count", "times it began to run on another CPU than before", .sum = true),
    [CPUS] = NAI_COUNT_COLUMN("cpu_count", "CPUs it ran on"),
    [BREAKS] = NAI_COUNT_COLUMN("break_count", "records of scheduling that do not alternate", .sum = true),
    [SAMPLES] = NAI_COUNT_COLUMN("sample_count", "samples that stand for a stretch of time", .sum = true),
    [PCT_SAMPLES] = NAI_PCT_COLUMN("pct_of_samples", "of all samples"),
    [FUNCTION] = NAI_LABEL_COLUMN("function", "function that most of the samples are in"),
    [FUNCTION_PCT] = NAI_PCT_COLUMN("function_pct", "share of the thread's samples in it"),
    [GIL] = NAI_COUNT_COLUMN("gil_samples",
                             "samples in the wait for Python's interpreter lock; stacks taken on a switch, too"),
    [GC] = NAI_COUNT_COLUMN("gc_samples", "samples in Python's garbage collection"),
};
static const struct nai_schema schema =
    NAI_SCHEMA("cpu_threads", "Threads on CPUs", "One thread that scheduling or samples tell of", columns);

enum { MOST_CPUS = 4096 };

static int64_t pid_of(int64_t global_tid) { return global_tid >> 24 & 0xffffff; }
static int64_t tid_of(int64_t global_tid) { return global_tid & 0xffffff; }

static void reach(struct nai_table *table, int64_t row, int64_t from, int64_t to) {
  int64_t first = nai_get_i64(table, row, FIRST), last = nai_get_i64(table, row, LAST);
  nai_set_i64(table, row, FIRST, first == NAI_NULL_I64 || from < first ? from : first);
  nai_set_i64(table, row, LAST, last == NAI_NULL_I64 || to > last ? to : last);
}

/* Switches, migrations and CPUs of a thread. */
static void put_moves(struct nai_table *table, int64_t row, const struct nai_model *m,
                      const struct nai_cpu_thread *thread, uint8_t seen[MOST_CPUS]) {
  const struct nai_table *t = m->tables[NAI_IN_SCHED];
  int64_t switches = 0, migrations = 0, cpus = 0, before = NAI_NULL_I64;
  memset(seen, 0, MOST_CPUS);
  for (uint32_t i = 0; i < thread->count; i++) {
    uint32_t at = m->cpu->sched.order[thread->first + i];
    int64_t cpu = nai_get_i64(t, at, SC_CPU);
    bool in = nai_get_i64(t, at, SC_IN) == 1;
    switches += !in;
    if (!in || cpu < 0 || cpu >= MOST_CPUS)
      continue;
    migrations += before != NAI_NULL_I64 && before != cpu;
    cpus += !seen[cpu];
    seen[cpu] = 1;
    before = cpu;
  }
  nai_set_i64(table, row, SWITCHES, switches);
  nai_set_i64(table, row, MIGRATIONS, migrations);
  nai_set_i64(table, row, CPUS, cpus);
}

static void put_sched(struct nai_table *table, int64_t row, const struct nai_model *m,
                      const struct nai_cpu_thread *thread, uint8_t seen[MOST_CPUS]) {
  const struct nai_table *t = m->tables[NAI_IN_SCHED];
  const uint32_t *order = m->cpu->sched.order + thread->first;
  int64_t first = nai_get_i64(t, order[0], SC_TIME), last = nai_get_i64(t, order[thread->count - 1], SC_TIME);
  struct nai_cpu_time time = {0};
  nai_cpu_time_add(&time, m, thread->global_tid, first, last);
  reach(table, row, first, last);
  nai_set_i64(table, row, ON_CPU, time.on_ns);
  nai_set_i64(table, row, OFF_CPU, time.off_ns);
  nai_set_i64(table, row, UNKNOWN, time.unknown_ns);
  nai_set_i64(table, row, BREAKS, time.breaks);
  if (m->cpu->tells_runnable)
    nai_set_i64(table, row, PREEMPTED, time.preempted_ns);
  if (time.on_ns + time.off_ns)
    nai_set_f64(table, row, PCT_ON, nai_percent((double)time.on_ns, (double)(time.on_ns + time.off_ns)));
  put_moves(table, row, m, thread, seen);
  if (last > first)
    nai_set_f64(table, row, SWITCHES_PER_S, (double)nai_get_i64(table, row, SWITCHES) * 1e9 / (double)(last - first));
}

/* Samples by function. */
struct functions {
  struct nai_keyset keys;
  int64_t *count;
  uint32_t capacity;
};

static int count_function(struct functions *f, const struct nai_chain *chain, struct nai_err *err) {
  bool added;
  uint32_t i = nai_keyset_add(&f->keys, (int64_t)chain->function << 1 | chain->is_module, &added);
  if (f->keys.oom || (i == f->capacity && !nai_array_room(&f->count, &f->capacity, i, sizeof *f->count)))
    return nai_err_nomem(err);
  f->count[i] = (added ? 0 : f->count[i]) + 1;
  return NAI_OK;
}

static const char *function_name(const struct nai_model *m, int64_t key) {
  return nai_chain_name(m, &(struct nai_chain){.function = (uint32_t)(key >> 1), .is_module = key & 1});
}

static void put_function(struct nai_table *table, int64_t row, const struct nai_model *m, const struct functions *f,
                         int64_t samples) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < f->keys.count; i++)
    if (f->count[i] > f->count[best] ||
        (f->count[i] == f->count[best] &&
         strcmp(function_name(m, f->keys.keys[i]), function_name(m, f->keys.keys[best])) < 0))
      best = i;
  if (!f->keys.count)
    return;
  nai_set_str(table, row, FUNCTION, function_name(m, f->keys.keys[best]));
  nai_set_f64(table, row, FUNCTION_PCT, nai_percent((double)f->count[best], (double)samples));
}

static int put_samples(struct nai_table *table, int64_t row, const struct nai_model *m,
                       const struct nai_cpu_thread *thread, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_SAMPLES];
  struct functions functions = {0};
  int64_t timed = 0, gil = 0, gc = 0;
  int rc = NAI_OK;
  for (uint32_t i = 0; !rc && i < thread->count; i++) {
    uint32_t at = m->cpu->samples.order[thread->first + i];
    const struct nai_chain *chain = nai_cpu_chain(m, NAI_CALLCHAIN_SAMPLE, nai_get_i64(t, at, SA_CALLCHAIN));
    int64_t time = nai_get_i64(t, at, SA_TIME);
    reach(table, row, time, time);
    gil += chain && chain->flags & NAI_CHAIN_GIL;
    gc += chain && chain->flags & NAI_CHAIN_GC;
    if (!nai_sample_is_timed(m, at))
      continue;
    timed++;
    rc = chain ? count_function(&functions, chain, err) : NAI_OK;
  }
  nai_set_i64(table, row, SAMPLES, timed);
  if (!rc && timed)
    put_function(table, row, m, &functions, timed);
  if (m->cpu->chain_count) {
    nai_set_i64(table, row, GIL, gil);
    nai_set_i64(table, row, GC, gc);
  }
  nai_keyset_free(&functions.keys);
  free(functions.count);
  return rc;
}

static int64_t add_thread(struct nai_table *table, const struct nai_model *m, int64_t global_tid) {
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, PID, pid_of(global_tid));
  nai_set_i64(table, row, TID, tid_of(global_tid));
  for (int64_t i = 0; i < threads->rows; i++)
    if (nai_get_i64(threads, i, TH_KEY) == global_tid) {
      struct nai_value name = nai_table_value(threads, i, TH_NAME);
      nai_set_str(table, row, NAME, name.null ? NULL : name.s);
    }
  return row;
}

/* Both lists are by global_tid. */
static int put_threads(struct nai_table *table, const struct nai_model *m, uint8_t *seen, struct nai_err *err) {
  const struct nai_cpu_rows *sched = &m->cpu->sched, *samples = &m->cpu->samples;
  int rc = NAI_OK;
  for (uint32_t a = 0, b = 0; !rc && (a < sched->thread_count || b < samples->thread_count);) {
    const struct nai_cpu_thread *of_a = a < sched->thread_count ? &sched->threads[a] : NULL,
                                *of_b = b < samples->thread_count ? &samples->threads[b] : NULL;
    int64_t global_tid = of_a && (!of_b || of_a->global_tid < of_b->global_tid) ? of_a->global_tid : of_b->global_tid;
    bool in_a = of_a && of_a->global_tid == global_tid, in_b = of_b && of_b->global_tid == global_tid;
    a += in_a;
    b += in_b;
    if (global_tid == NAI_NULL_I64) /* a record of no thread */
      continue;
    int64_t row = add_thread(table, m, global_tid);
    if (in_a)
      put_sched(table, row, m, of_a, seen);
    if (in_b)
      rc = put_samples(table, row, m, of_b, err);
  }
  return rc;
}

static void put_shares(struct nai_table *table) {
  int64_t all = 0;
  for (int64_t i = 0; i < table->rows; i++) {
    int64_t n = nai_get_i64(table, i, SAMPLES);
    all += n == NAI_NULL_I64 ? 0 : n;
  }
  for (int64_t i = 0; all && i < table->rows; i++) {
    int64_t n = nai_get_i64(table, i, SAMPLES);
    if (n != NAI_NULL_I64)
      nai_set_f64(table, i, PCT_SAMPLES, nai_percent((double)n, (double)all));
  }
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  uint8_t *seen = malloc(MOST_CPUS);
  int rc = seen ? put_threads(io->out[0], io->model, seen, err) : nai_err_nomem(err);
  free(seen);
  if (!rc)
    put_shares(io->out[0]);
  static const struct nai_sort_by order[] = {{ON_CPU, true}, {SAMPLES, true}, {PID, false}, {TID, false}};
  return rc ? rc : nai_table_sort(io->out[0], order, 4, err);
}

static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_cpu_threads = {.name = "cpu_threads",
                                                  .outputs = schemas,
                                                  .parts = NAI_PART(CPU),
                                                  .tables = NAI_IN(SCHED) | NAI_IN(SAMPLES) | NAI_IN(CALLCHAINS) |
                                                            NAI_IN(THREADS),
                                                  .run = run};
