/* How did threads use the CPUs? Table cpu_threads. */
#include "analyses/analysis.h"
#include "base/array.h"
#include "model/cpu/cpu.h"
#include "tables/cpu_threads.h"
#include "tables/sample_events.h"
#include "tables/sched_events.h"
#include "tables/threads.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CPUS = 4096 };

static int64_t pid_of(int64_t global_tid) { return global_tid >> 24 & 0xffffff; }
static int64_t tid_of(int64_t global_tid) { return global_tid & 0xffffff; }

static void reach(struct nai_table *table, int64_t row, int64_t from, int64_t to) {
  int64_t first = nai_get_i64(table, row, CPU_THREADS_first_ns), last = nai_get_i64(table, row, CPU_THREADS_last_ns);
  nai_set_i64(table, row, CPU_THREADS_first_ns, first == NAI_NULL_I64 || from < first ? from : first);
  nai_set_i64(table, row, CPU_THREADS_last_ns, last == NAI_NULL_I64 || to > last ? to : last);
}

/* Switches, migrations and CPUs of a thread. */
static void put_moves(struct nai_table *table, int64_t row, const struct nai_model *m,
                      const struct nai_cpu_thread *thread, uint8_t seen[MAX_CPUS]) {
  const struct nai_table *t = m->tables[NAI_IN_SCHED];
  int64_t switches = 0, migrations = 0, cpus = 0, before = NAI_NULL_I64;
  memset(seen, 0, MAX_CPUS);
  for (uint32_t i = 0; i < thread->count; i++) {
    uint32_t at = m->cpu->sched.order[thread->first + i];
    int64_t cpu = nai_get_i64(t, at, SCHED_EVENTS_cpu);
    bool in = nai_get_i64(t, at, SCHED_EVENTS_is_in) == 1;
    switches += !in;
    if (!in || cpu < 0 || cpu >= MAX_CPUS)
      continue;
    migrations += before != NAI_NULL_I64 && before != cpu;
    cpus += !seen[cpu];
    seen[cpu] = 1;
    before = cpu;
  }
  nai_set_i64(table, row, CPU_THREADS_switch_count, switches);
  nai_set_i64(table, row, CPU_THREADS_migration_count, migrations);
  nai_set_i64(table, row, CPU_THREADS_cpu_count, cpus);
}

static void put_sched(struct nai_table *table, int64_t row, const struct nai_model *m,
                      const struct nai_cpu_thread *thread, uint8_t seen[MAX_CPUS]) {
  const struct nai_table *t = m->tables[NAI_IN_SCHED];
  const uint32_t *order = m->cpu->sched.order + thread->first;
  int64_t first = nai_get_i64(t, order[0], SCHED_EVENTS_time_ns),
          last = nai_get_i64(t, order[thread->count - 1], SCHED_EVENTS_time_ns);
  struct nai_cpu_time time = {0};
  nai_cpu_time_add(&time, m, thread->global_tid, first, last);
  reach(table, row, first, last);
  nai_set_i64(table, row, CPU_THREADS_on_cpu_ns, time.on_ns);
  nai_set_i64(table, row, CPU_THREADS_off_cpu_ns, time.off_ns);
  nai_set_i64(table, row, CPU_THREADS_sched_unknown_ns, time.unknown_ns);
  nai_set_i64(table, row, CPU_THREADS_break_count, time.breaks);
  if (m->cpu->tells_runnable)
    nai_set_i64(table, row, CPU_THREADS_preempted_ns, time.preempted_ns);
  if (time.on_ns + time.off_ns)
    nai_set_f64(table, row, CPU_THREADS_on_cpu_pct,
                nai_percent((double)time.on_ns, (double)(time.on_ns + time.off_ns)));
  put_moves(table, row, m, thread, seen);
  if (last > first)
    nai_set_f64(table, row, CPU_THREADS_switches_per_s,
                (double)nai_get_i64(table, row, CPU_THREADS_switch_count) * 1e9 / (double)(last - first));
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
  nai_set_str(table, row, CPU_THREADS_function, function_name(m, f->keys.keys[best]));
  nai_set_f64(table, row, CPU_THREADS_function_pct, nai_percent((double)f->count[best], (double)samples));
}

static int put_samples(struct nai_table *table, int64_t row, const struct nai_model *m,
                       const struct nai_cpu_thread *thread, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_SAMPLES];
  struct functions functions = {0};
  int64_t timed = 0, gil = 0, gc = 0;
  int rc = NAI_OK;
  for (uint32_t i = 0; !rc && i < thread->count; i++) {
    uint32_t at = m->cpu->samples.order[thread->first + i];
    const struct nai_chain *chain =
        nai_cpu_chain(m, NAI_CALLCHAIN_SAMPLE, nai_get_i64(t, at, SAMPLE_EVENTS_callchain_id));
    int64_t time = nai_get_i64(t, at, SAMPLE_EVENTS_time_ns);
    reach(table, row, time, time);
    gil += chain && chain->flags & NAI_CHAIN_GIL;
    gc += chain && chain->flags & NAI_CHAIN_GC;
    if (!nai_sample_is_timed(m, at))
      continue;
    timed++;
    rc = chain ? count_function(&functions, chain, err) : NAI_OK;
  }
  nai_set_i64(table, row, CPU_THREADS_sample_count, timed);
  if (!rc && timed)
    put_function(table, row, m, &functions, timed);
  if (m->cpu->chain_count) {
    nai_set_i64(table, row, CPU_THREADS_gil_samples, gil);
    nai_set_i64(table, row, CPU_THREADS_gc_samples, gc);
  }
  nai_keyset_free(&functions.keys);
  free(functions.count);
  return rc;
}

static int64_t add_thread(struct nai_table *table, const struct nai_model *m, int64_t global_tid) {
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, CPU_THREADS_pid, pid_of(global_tid));
  nai_set_i64(table, row, CPU_THREADS_tid, tid_of(global_tid));
  for (int64_t i = 0; i < threads->rows; i++)
    if (nai_get_i64(threads, i, THREADS_global_tid) == global_tid) {
      struct nai_value name = nai_table_value(threads, i, THREADS_thread_name);
      nai_set_str(table, row, CPU_THREADS_thread_name, name.null ? NULL : name.s);
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
    int64_t n = nai_get_i64(table, i, CPU_THREADS_sample_count);
    all += n == NAI_NULL_I64 ? 0 : n;
  }
  for (int64_t i = 0; all && i < table->rows; i++) {
    int64_t n = nai_get_i64(table, i, CPU_THREADS_sample_count);
    if (n != NAI_NULL_I64)
      nai_set_f64(table, i, CPU_THREADS_pct_of_samples, nai_percent((double)n, (double)all));
  }
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  uint8_t *seen = malloc(MAX_CPUS);
  int rc = seen ? put_threads(io->out[0], io->model, seen, err) : nai_err_nomem(err);
  free(seen);
  if (!rc)
    put_shares(io->out[0]);
  return rc;
}

NAI_ANALYSIS(cpu_threads, .outputs = NAI_SCHEMAS(&nai_cpu_threads_schema), .parts = NAI_PART(CPU),
             .tables = NAI_IN(SCHED) | NAI_IN(SAMPLES) | NAI_IN(CALLCHAINS) | NAI_IN(THREADS), .run = run)
