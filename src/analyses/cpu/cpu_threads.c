/* How did threads use the CPUs? Table cpu_threads. */
#include "analyses/analysis.h"
#include "model/cpu/cpu.h"
#include "tables/cpu_threads.h"
#include "tables/sample_events.h"
#include "tables/sched_events.h"
#include "tables/threads.h"

enum { MAX_CPUS = 4096 };

static int64_t pid_of(int64_t global_tid) { return global_tid >> 24 & 0xffffff; }
static int64_t tid_of(int64_t global_tid) { return global_tid & 0xffffff; }

static void reach(struct CPU_THREADS_row *row, int64_t from, int64_t to) {
  row->first_ns = row->first_ns == NAI_NULL_I64 || from < row->first_ns ? from : row->first_ns;
  row->last_ns = row->last_ns == NAI_NULL_I64 || to > row->last_ns ? to : row->last_ns;
}

/* Switches, migrations and CPUs of a thread. */
static void add_moves(struct CPU_THREADS_row *row, const struct SCHED_EVENTS_columns *c, const uint32_t *order,
                      uint32_t count) {
  bool seen[MAX_CPUS] = {0};
  int64_t before = NAI_NULL_I64;
  row->switch_count = row->migration_count = row->cpu_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    int64_t cpu = nai_at(&c->cpu, order[i]);
    bool in = nai_at(&c->is_in, order[i]) == 1;
    row->switch_count += !in;
    if (!in || cpu < 0 || cpu >= MAX_CPUS)
      continue;
    row->migration_count += before != NAI_NULL_I64 && before != cpu;
    row->cpu_count += !seen[cpu];
    seen[cpu] = true;
    before = cpu;
  }
}

static void add_sched(struct CPU_THREADS_row *row, const struct nai_model *m, const struct nai_cpu_thread *thread) {
  const struct SCHED_EVENTS_columns c = SCHED_EVENTS_columns_of(m->tables[NAI_IN_SCHED]);
  const uint32_t *order = m->cpu->sched.order + thread->first;
  int64_t first = nai_at(&c.time_ns, order[0]), last = nai_at(&c.time_ns, order[thread->count - 1]);
  struct nai_cpu_time time = {0};
  nai_cpu_time_add(&time, m, thread->global_tid, first, last);
  reach(row, first, last);
  row->on_cpu_ns = time.on_ns;
  row->off_cpu_ns = time.off_ns;
  row->sched_unknown_ns = time.unknown_ns;
  row->break_count = time.breaks;
  if (m->cpu->tells_runnable)
    row->preempted_ns = time.preempted_ns;
  if (time.on_ns + time.off_ns)
    row->on_cpu_pct = nai_percent((double)time.on_ns, (double)(time.on_ns + time.off_ns));
  add_moves(row, &c, order, thread->count);
  if (last > first)
    row->switches_per_s = (double)row->switch_count * 1e9 / (double)(last - first);
}

/* Samples by function. */
struct functions {
  struct nai_keyset keys;
  int64_t *count;
  uint32_t capacity;
};

static int count_function(struct functions *f, uint32_t function, bool is_module, struct nai_err *err) {
  bool added;
  uint32_t i = nai_keyset_add(&f->keys, (int64_t)function << 1 | is_module, &added);
  NAI_TRY(nai_memory_check(!f->keys.oom, err));
  NAI_TRY(NAI_ROOM(f->count, f->capacity, i, f->keys.arena, err));
  f->count[i]++;
  return NAI_OK;
}

static const char *function_name(const struct nai_model *m, int64_t key) {
  return nai_chain_name(m, &(struct nai_chain){.function = (uint32_t)(key >> 1), .is_module = key & 1});
}

/* The function that most samples are in, its number; f has some. */
static uint32_t most(const struct functions *f, const struct nai_model *m) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < f->keys.count; i++)
    if (f->count[i] > f->count[best] ||
        (f->count[i] == f->count[best] &&
         strcmp(function_name(m, f->keys.keys[i]), function_name(m, f->keys.keys[best])) < 0))
      best = i;
  return best;
}

static int add_samples(struct CPU_THREADS_row *row, const struct nai_model *m, const struct nai_cpu_thread *thread,
                       struct nai_err *err) {
  const struct SAMPLE_EVENTS_columns c = SAMPLE_EVENTS_columns_of(m->tables[NAI_IN_SAMPLES]);
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct functions functions = {.keys = {.arena = &arena}}, not_inlined = functions;
  int64_t gil = 0, gc = 0, told = 0;
  row->sample_count = row->not_inlined_samples = 0;
  for (uint32_t i = 0; i < thread->count; i++) {
    uint32_t at = m->cpu->samples.order[thread->first + i];
    const struct nai_chain *chain = nai_cpu_chain(m, NAI_CALLCHAIN_SAMPLE, nai_at(&c.callchain_id, at));
    reach(row, nai_at(&c.time_ns, at), nai_at(&c.time_ns, at));
    gil += chain && chain->flags & NAI_CHAIN_GIL;
    gc += chain && chain->flags & NAI_CHAIN_GC;
    if (!nai_sample_is_timed(m, at))
      continue;
    row->sample_count++;
    if (chain && chain->flags & NAI_CHAIN_NOT_INLINED) {
      row->not_inlined_samples++;
      NAI_TRY(count_function(&not_inlined, chain->innermost, false, err));
    }
    told += nai_sample_tells(m, chain);
    if (chain && nai_sample_tells(m, chain))
      NAI_TRY(count_function(&functions, chain->function, chain->is_module, err));
  }
  if (functions.keys.count) {
    uint32_t best = most(&functions, m);
    row->function = function_name(m, functions.keys.keys[best]);
    row->function_pct = nai_percent((double)functions.count[best], (double)told);
  }
  if (not_inlined.keys.count)
    row->not_inlined_function = function_name(m, not_inlined.keys.keys[most(&not_inlined, m)]);
  if (m->cpu->chain_count) {
    row->gil_samples = gil;
    row->gc_samples = gc;
  }
  return NAI_OK;
}

static const char *thread_name(const struct nai_table *threads, int64_t global_tid) {
  int64_t row = nai_find_i64(threads, THREADS_global_tid, global_tid);
  struct nai_value name =
      row < 0 ? (struct nai_value){.null = true} : nai_table_value(threads, row, THREADS_thread_name);
  return name.null ? NULL : name.s;
}

/* Either of `sched` and `samples` may be NULL. */
static int put_thread(const struct nai_node_io *io, int64_t global_tid, const struct nai_cpu_thread *sched,
                      const struct nai_cpu_thread *samples, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct CPU_THREADS_row row = NAI_ROW(CPU_THREADS, .pid = pid_of(global_tid), .tid = tid_of(global_tid),
                                       .thread_name = thread_name(m->tables[NAI_IN_THREADS], global_tid));
  if (sched)
    add_sched(&row, m, sched);
  if (samples)
    NAI_TRY(add_samples(&row, m, samples, err));
  CPU_THREADS_add(io->out[0], &row);
  return NAI_OK;
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

/* Both lists are by global_tid. */
static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_cpu_rows *sched = &io->model->cpu->sched, *samples = &io->model->cpu->samples;
  for (uint32_t a = 0, b = 0; a < sched->thread_count || b < samples->thread_count;) {
    const struct nai_cpu_thread *of_a = a < sched->thread_count ? &sched->threads[a] : NULL,
                                *of_b = b < samples->thread_count ? &samples->threads[b] : NULL;
    int64_t global_tid = of_a && (!of_b || of_a->global_tid < of_b->global_tid) ? of_a->global_tid : of_b->global_tid;
    bool in_a = of_a && of_a->global_tid == global_tid, in_b = of_b && of_b->global_tid == global_tid;
    a += in_a;
    b += in_b;
    if (global_tid != NAI_NULL_I64) /* else a record of no thread */
      NAI_TRY(put_thread(io, global_tid, in_a ? of_a : NULL, in_b ? of_b : NULL, err));
  }
  put_shares(io->out[0]);
  return NAI_OK;
}

NAI_ANALYSIS(cpu_threads, .outputs = NAI_SCHEMAS(&nai_cpu_threads_schema), .parts = NAI_PART(CPU),
             .tables = NAI_IN(THREADS), .run = run)
