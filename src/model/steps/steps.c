/* The part STEPS: what repeats in each process, looked for in order of trust. */
#include "model/steps/steps_build.h"

#include "base/sort.h"

#include <stdlib.h>

const char *nai_step_method_name(enum nai_step_method method) {
  static const char *const names[] = {"none", "user", "nvtx", "kernels"};
  return names[method];
}

uint32_t nai_step_at(const struct nai_process_steps *steps, int64_t t, uint32_t *near) {
  if (*near < steps->count && steps->v[*near].start <= t && t < steps->v[*near].end)
    return *near;
  size_t after = nai_bisect(steps->v, steps->count, sizeof *steps->v, offsetof(struct nai_step, start), t + 1);
  if (!after || t >= steps->v[after - 1].end)
    return UINT32_MAX;
  return *near = (uint32_t)after - 1;
}

uint32_t nai_step_launches(const struct nai_step_search *s, int64_t from, int64_t to) {
  size_t first = nai_bisect(s->launches, s->launch_count, sizeof *s->launches, 0, from);
  return (uint32_t)(nai_bisect(s->launches, s->launch_count, sizeof *s->launches, 0, to) - first);
}

void nai_step_canonical(struct nai_buf *out, const char *name) {
  for (bool digits = false; *name; name++) {
    bool digit = *name >= '0' && *name <= '9';
    if (!digit || !digits)
      nai_buf_putc(out, digit ? '#' : *name);
    digits = digit;
  }
}

/* --- one process ------------------------------------------------------------------------------ */

/* Starts of the calls of a process that launched GPU work. */
static int collect_launches(int64_t **out, struct nai_step_search *s, struct nai_err *err) {
  const struct nai_model *m = s->m;
  const struct nai_groups *calls = &m->api_by_thread;
  size_t most = 0;
  for (uint32_t t = 0; t < s->thread_count; t++)
    most += calls->first[s->threads[t] + 1] - calls->first[s->threads[t]];
  int64_t *v = *out = malloc((most + 1) * sizeof *v);
  uint32_t *rows = malloc((most + 1) * sizeof *rows), n = 0;
  int rc = v && rows ? NAI_OK : nai_err_nomem(err);
  for (uint32_t t = 0; !rc && t < s->thread_count; t++)
    for (uint32_t i = calls->first[s->threads[t]]; i < calls->first[s->threads[t] + 1]; i++)
      if (m->api_owns[calls->order[i]])
        rows[n++] = calls->order[i];
  if (!rc)
    rc = nai_rows_sort(rows, n, &(struct nai_row_order){.start = m->apis.start_ns, .end = m->apis.end_ns},
                       m->scratch_dir, err);
  for (uint32_t i = 0; !rc && i < n; i++)
    v[i] = nai_at(&m->apis.start_ns, rows[i]);
  free(rows);
  s->launches = v;
  s->launch_count = n;
  return rc;
}

/* What the tasks share, and what each process found. */
struct nai_step_work {
  struct nai_groups threads; /* by process */
  struct nai_step_names names;
  uint8_t *called;
  struct nai_steps *found; /* per process */
};

static int search_process(void *ctx, int process, struct nai_err *err) {
  struct nai_model *m = ctx;
  struct nai_step_work *w = m->work->steps;
  struct nai_step_search s = {.m = m,
                              .process = (uint32_t)process,
                              .threads = w->threads.order + w->threads.first[process],
                              .thread_count = w->threads.first[process + 1] - w->threads.first[process],
                              .names = &w->names,
                              .out = &m->steps->processes[process],
                              .found = &w->found[process],
                              .called = w->called};
  int64_t *launches = NULL;
  s.out->thread = NAI_NO_ROW;
  if (m->process_gpus.first[process] == m->process_gpus.first[process + 1])
    return NAI_OK; /* without GPU work */
  int rc = collect_launches(&launches, &s, err);
  if (!rc && m->step)
    rc = nai_steps_by_user(&s, err);
  else if (!rc)
    rc = nai_steps_by_ranges(&s, err);
  if (!rc && !m->step && !s.out->count && m->nvtx.n && s.launch_count)
    rc = nai_steps_by_optimizer(&s, err);
  if (!rc)
    rc = nai_steps_by_kernels(&s, err);
  if (s.out->count) {
    free(s.out->why);
    s.out->why = NULL;
  }
  if (!rc && s.out->count)
    rc = nai_steps_on_gpus(&s, err);
  free(launches);
  return rc;
}

/* --- the part --------------------------------------------------------------------------------- */

static int begin_steps(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  struct nai_step_work *w = m->work->steps = calloc(1, sizeof *w);
  m->steps = calloc(1, sizeof *m->steps);
  if (!w || !m->steps)
    return nai_err_nomem(err);
  m->steps->processes = calloc((size_t)m->process_count + 1, sizeof *m->steps->processes);
  w->found = calloc((size_t)m->process_count + 1, sizeof *w->found);
  w->called = calloc((size_t)m->apis.n + 1, 1);
  if (!m->steps->processes || !w->found || !w->called)
    return nai_err_nomem(err);
  const struct nai_column process = nai_column_of_i32(m->thread_process);
  int rc = nai_groups_collect(&w->threads, m->thread_count, &process, m->process_count,
                              &m->work->arenas[NAI_PART_STEPS], err);
  return rc || !m->nvtx.n || m->step ? rc : nai_step_names_new(&w->names, m, err);
}

static int process_count(const struct nai_model *m) { return (int)m->process_count; }

static void free_found(struct nai_steps *s) {
  for (uint32_t i = 0; i < s->list_count; i++)
    free(s->lists[i].v);
  for (uint32_t i = 0; i < s->unit_count; i++)
    free(s->units[i].path);
  free(s->lists);
  free(s->units);
}

static void free_work(struct nai_model *m) {
  struct nai_step_work *w = m->work ? m->work->steps : NULL;
  if (!w)
    return;
  for (uint32_t p = 0; w->found && p < m->process_count; p++)
    free_found(&w->found[p]);
  nai_step_names_free(&w->names);
  free(w->called);
  free(w->found);
  free(w);
  m->work->steps = NULL;
}

/* Puts together what the processes have. */
static int end_steps(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  struct nai_steps *all = m->steps, *found = m->work->steps->found;
  uint32_t lists = 0, units = 0;
  for (uint32_t p = 0; p < m->process_count; p++) {
    lists += found[p].list_count;
    units += found[p].unit_count;
  }
  all->lists = malloc(((size_t)lists + 1) * sizeof *all->lists);
  all->units = malloc(((size_t)units + 1) * sizeof *all->units);
  if (!all->lists || !all->units)
    return nai_err_nomem(err);
  for (uint32_t p = 0; p < m->process_count; p++) {
    for (uint32_t i = 0; i < found[p].list_count; i++)
      all->lists[all->list_count++] = found[p].lists[i];
    for (uint32_t i = 0; i < found[p].unit_count; i++)
      all->units[all->unit_count++] = found[p].units[i];
    found[p].list_count = found[p].unit_count = 0; /* theirs now */
  }
  free_work(m);
  return m->step ? nai_patterns_check(m->step, err) : NAI_OK;
}

static void free_steps(struct nai_model *m) {
  struct nai_steps *s = m->steps;
  free_work(m);
  if (!s)
    return;
  for (uint32_t p = 0; s->processes && p < m->process_count; p++) {
    free(s->processes[p].name);
    free(s->processes[p].why);
    free(s->processes[p].v);
  }
  free_found(s);
  free(s->processes);
  free(s);
}

/* Launch times, and a byte per call. */
static int64_t steps_bytes(const struct nai_model *m) { return (int64_t)m->apis.n * 9; }

const struct nai_part_def nai_part_steps = {.name = "steps",
                                            .needs = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) |
                                                     NAI_PART(RANGES) | NAI_PART(GPUS) | NAI_PART(PROCESS_GPUS) |
                                                     NAI_PART(BLOCKED) | NAI_PART(EVIDENCE) | NAI_PART(NVTX_TREE),
                                            .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) |
                                                      NAI_IN(NVTX) | NAI_IN(NVTX_DOMAINS) | NAI_IN(THREADS) |
                                                      NAI_IN(PROCESSES) | NAI_IN(KERNEL_CONFIGS),
                                            .config = NAI_CONFIG(STEP),
                                            .begin = begin_steps,
                                            .tasks = process_count,
                                            .task = search_process,
                                            .end = end_steps,
                                            .free = free_steps,
                                            .bytes = steps_bytes};
