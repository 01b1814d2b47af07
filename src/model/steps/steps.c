/* The part STEPS: what repeats in each process, looked for in order of trust. */
#include "model/steps/steps_build.h"

const char *nai_step_method_name(enum nai_step_method method) {
  static const char *const names[] = {"none", "user", "serving", "nvtx", "kernels"};
  return names[method];
}

/* --- one process ------------------------------------------------------------------------------ */

/* Starts of the calls of a process that launched GPU work. */
static int collect_launches(struct nai_step_search *s, struct nai_err *err) {
  NAI_SCOPED(nai_arena) scratch = NAI_ARENA(s->m->scratch_dir);
  const struct nai_model *m = s->m;
  const struct nai_groups *calls = &m->api_by_thread;
  size_t most = 0;
  uint32_t *rows, n = 0;
  int64_t *launches;
  for (uint32_t t = 0; t < s->thread_count; t++)
    most += calls->first[s->threads[t] + 1] - calls->first[s->threads[t]];
  NAI_TRY(NAI_NEW(rows, &scratch, most, err));
  for (uint32_t t = 0; t < s->thread_count; t++)
    for (uint32_t i = calls->first[s->threads[t]]; i < calls->first[s->threads[t] + 1]; i++)
      if (m->api_owns[calls->order[i]])
        rows[n++] = calls->order[i];
  const struct nai_row_order by = {.start = m->apis.start_ns, .end = m->apis.end_ns};
  NAI_TRY(nai_rows_sort(rows, n, &by, m->scratch_dir, err));
  NAI_TRY(NAI_NEW(launches, s->arena, n, err));
  for (uint32_t i = 0; i < n; i++)
    launches[i] = nai_val(&m->apis.start_ns, rows[i]);
  s->launches = launches;
  s->launch_count = n;
  return NAI_OK;
}

/* What the tasks share, and what each process found. */
struct nai_step_work {
  struct nai_groups threads; /* by process */
  struct nai_step_names names;
  const uint8_t *serving;
  uint8_t *called;
  struct nai_steps *found; /* per process */
};

static int search_process(void *ctx, int process, struct nai_err *err) {
  struct nai_model *m = ctx;
  struct nai_step_work *w = m->work->steps;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_step_search s = {.m = m,
                              .process = (uint32_t)process,
                              .threads = w->threads.order + w->threads.first[process],
                              .thread_count = w->threads.first[process + 1] - w->threads.first[process],
                              .names = &w->names,
                              .serving = w->serving,
                              .out = &m->steps->processes[process],
                              .found = &w->found[process],
                              .arena = &arena,
                              .called = w->called};
  s.out->thread = NAI_NO_ROW;
  if (m->process_gpus.first[process] == m->process_gpus.first[process + 1])
    return NAI_OK; /* without GPU work */
  NAI_TRY(collect_launches(&s, err));
  if (s.serving)
    NAI_TRY(nai_steps_by_serving(&s, err));
  if (!s.out->count)
    NAI_TRY(m->step ? nai_steps_by_user(&s, err) : nai_steps_by_ranges(&s, err));
  if (!m->step && !s.out->count && m->nvtx.n && s.launch_count)
    NAI_TRY(nai_steps_by_optimizer(&s, err));
  NAI_TRY(nai_steps_by_kernels(&s, err));
  if (!s.out->count)
    return NAI_OK;
  s.out->why = NULL;
  NAI_TRY(nai_steps_read_serving(&s, err));
  return nai_steps_on_gpus(&s, err);
}

/* --- the part --------------------------------------------------------------------------------- */

static int begin_steps(struct nai_model *m, struct nai_err *err) {
  struct nai_arena *arena = &m->work->arenas[NAI_PART_STEPS];
  NAI_TRY(NAI_NEW(m->steps, &m->arena, 1, err));
  NAI_TRY(NAI_NEW(m->steps->processes, &m->arena, m->process_count, err));
  NAI_TRY(NAI_NEW(m->work->steps, arena, 1, err));
  struct nai_step_work *w = m->work->steps;
  NAI_TRY(NAI_NEW(w->found, arena, m->process_count, err));
  NAI_TRY(NAI_NEW(w->called, arena, m->apis.n, err));
  const struct nai_column process = nai_column_of_i32(m->thread_process);
  NAI_TRY(nai_groups_collect(&w->threads, m->thread_count, &process, m->process_count, arena, err));
  if (!m->nvtx.n || m->step)
    return NAI_OK;
  NAI_TRY(nai_serving_names_find(&w->serving, m, arena, err));
  return nai_step_names_find(&w->names, m, arena, err);
}

/* Puts together what the processes have. */
static int end_steps(struct nai_model *m, struct nai_err *err) {
  struct nai_steps *all = m->steps;
  const struct nai_steps *found = m->work->steps->found, *end = found + m->process_count;
  uint32_t lists = 0, units = 0;
  for (const struct nai_steps *f = found; f < end; f++) {
    lists += f->list_count;
    units += f->unit_count;
  }
  NAI_TRY(NAI_NEW(all->lists, &m->arena, lists, err));
  NAI_TRY(NAI_NEW(all->units, &m->arena, units, err));
  for (const struct nai_steps *f = found; f < end; f++) {
    for (uint32_t i = 0; i < f->list_count; i++)
      all->lists[all->list_count++] = f->lists[i];
    for (uint32_t i = 0; i < f->unit_count; i++)
      all->units[all->unit_count++] = f->units[i];
  }
  return m->step ? nai_patterns_check(m->step, err) : NAI_OK;
}

/* Launch times, and a byte per call. */
static int64_t steps_bytes(const struct nai_model *m) { return (int64_t)m->apis.n * 9; }

const struct nai_part_def nai_part_steps = {
    .name = "steps",
    .needs = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(RANGES) | NAI_PART(GPUS) |
             NAI_PART(ACTIVE) | NAI_PART(PROCESS_GPUS) | NAI_PART(BLOCKED) | NAI_PART(EVIDENCE) | NAI_PART(NVTX_TREE),
    .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(NVTX_DOMAINS) |
              NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(KERNEL_CONFIGS),
    .config = NAI_CONFIG(STEP),
    .begin = begin_steps,
    .tasks = nai_each_process,
    .task = search_process,
    .end = end_steps,
    .bytes = steps_bytes};
