/* Where does the kernel time of a step go, by kind of work? Table step_categories. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/steps/step_stats.h"
#include "tables/step_categories.h"

/* One process on one GPU: counts and time per step of the list and category. */
struct tally {
  const struct nai_model *m;
  const struct nai_step_list *list;
  struct nai_step_stats stats;
  uint32_t *of_step; /* per step of the process: index in the list, UINT32_MAX for none */
  int categories;
  int64_t *count, *ns; /* [category * list->count + step] */
  int64_t *room;       /* per step of the list */
};

static void tally_free(struct tally *t) { nai_step_stats_free(&t->stats); }

/* As in the part STEPS: the step of the launch, in a trace without launches that of its own time. */
static uint32_t step_of(const struct tally *t, uint32_t kernel, uint32_t *near) {
  const struct nai_model *m = t->m;
  const struct nai_process_steps *steps = &m->steps->processes[t->list->process];
  uint32_t api = m->kernel_api[kernel], step = UINT32_MAX;
  if (api != NAI_NO_ROW)
    step = nai_step_at(steps, nai_val(&m->apis.start_ns, api), near);
  else if (!m->apis.n)
    step = nai_step_at(steps, nai_val(&m->kernels.start_ns, kernel), near);
  return step == UINT32_MAX ? UINT32_MAX : t->of_step[step];
}

static void add_kernels(struct tally *t) {
  const struct nai_model *m = t->m;
  const struct nai_gpu *gpu = &m->gpus[t->list->gpu];
  uint32_t near = 0;
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    uint32_t kernel = gpu->ops[i].row;
    if (gpu->ops[i].type != NAI_OP_KERNEL || gpu->streams[gpu->ops[i].stream].process != (int32_t)t->list->process)
      continue;
    uint32_t step = step_of(t, kernel, &near);
    if (step == UINT32_MAX || t->stats.state[step] != NAI_STEP_STEADY)
      continue;
    size_t at = (size_t)m->kernel_category[nai_val_text(&m->kernels.name, kernel)] * t->list->count + step;
    t->count[at]++;
    t->ns[at] += nai_kernel_ns(m, kernel);
  }
}

static int64_t median_of(const struct tally *t, const int64_t *per_step) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->list->count; i++)
    if (t->stats.state[i] == NAI_STEP_STEADY)
      t->room[n++] = per_step[i];
  return n ? (int64_t)nai_quantile_i64(t->room, n, 0.5) : 0;
}

static int64_t sum_of(const int64_t *v, size_t n) {
  int64_t sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += v[i];
  return sum;
}

static void put_categories(struct nai_table *table, const struct tally *t) {
  uint32_t steps = t->list->count;
  int64_t all = sum_of(t->ns, (size_t)t->categories * steps);
  for (int c = 0; c < t->categories; c++) {
    const int64_t *count = t->count + (size_t)c * steps, *ns = t->ns + (size_t)c * steps;
    int64_t total = sum_of(ns, steps);
    if (!sum_of(count, steps))
      continue;
    struct STEP_CATEGORIES_row row =
        NAI_ROW(STEP_CATEGORIES, .pid = nai_model_pid(t->m, (int32_t)t->list->process),
                .device_id = nai_model_device(t->m, t->list->gpu),
                .category = nai_kernel_classes_name(t->m->classes, c), .median_kernel_count = median_of(t, count),
                .median_ns = median_of(t, ns), .total_ns = total,
                .pct_of_kernel_time = nai_percent((double)total, (double)all));
    if (t->stats.total_ns)
      row.pct_of_steps = nai_percent((double)total, (double)t->stats.total_ns);
    STEP_CATEGORIES_add(table, &row);
  }
}

static int put_list(const struct nai_node_io *io, const struct nai_step_list *list, struct nai_err *err) {
  const struct nai_process_steps *steps = &io->model->steps->processes[list->process];
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(io->model->scratch_dir);
  NAI_SCOPED(tally) t = {.m = io->model, .list = list, .categories = nai_kernel_classes_count(io->model->classes)};
  NAI_TRY(nai_step_stats_new(&t.stats, steps, list, err));
  NAI_TRY(NAI_NEW(t.room, &arena, list->count, err));
  NAI_TRY(NAI_NEW(t.of_step, &arena, steps->count, err));
  NAI_TRY(NAI_NEW(t.count, &arena, (size_t)t.categories * list->count, err));
  NAI_TRY(NAI_NEW(t.ns, &arena, (size_t)t.categories * list->count, err));
  for (uint32_t i = 0; i < steps->count; i++)
    t.of_step[i] = UINT32_MAX;
  for (uint32_t i = 0; i < list->count; i++)
    t.of_step[list->v[i].step] = i;
  add_kernels(&t);
  put_categories(io->out[0], &t);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_steps *s = io->model->steps;
  for (uint32_t i = 0; i < s->list_count; i++)
    if (s->lists[i].count)
      NAI_TRY(put_list(io, &s->lists[i], err));
  return NAI_OK;
}

NAI_ANALYSIS(step_categories, .outputs = NAI_SCHEMAS(&nai_step_categories_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(GPUS) | NAI_PART(STEPS),
             .config = NAI_CONFIG(KERNEL_CLASSES), .run = run)
