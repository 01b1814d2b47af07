/* How much of the GPU's units was in use while it computed, communicated, copied, idled? Table gpu_metrics. */
#include "analyses/analysis.h"
#include "model/sampled/metric_series.h"
#include "tables/gpu_metrics.h"
#include "tables/steps.h"

enum condition { WINDOW, BUSY, COMPUTE, COMMUNICATION, COPY, IDLE, GEMM, STEADY, CONDITIONS };
static const char *const conditions[CONDITIONS] = {"window",       "busy", "compute",   "exposed_comm",
                                                   "exposed_copy", "idle", "gemm_only", "steady_steps"};

/* --- when ------------------------------------------------------------------------------------- */

/* Of one GPU, for samples so far apart. */
struct times {
  const struct nai_gpu *gpu;
  int64_t period;
  struct nai_arena arena;
  struct nai_intervals sets[CONDITIONS]; /* those that the model lacks */
  struct nai_coverage coverage[CONDITIONS];
};
static void times_free(struct times *t) { nai_arena_free(&t->arena); }

/* Kernels of matrix products with nothing beside them, those at least `least` long. */
static int find_gemm(struct nai_intervals *alone, const struct nai_model *m, const struct nai_gpu *gpu, int64_t least,
                     struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_intervals gemm = {.arena = &arena}, other = {.arena = &arena}, all = {.arena = &arena};
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    bool is_gemm =
        op->type == NAI_OP_KERNEL &&
        strcmp(nai_kernel_classes_name(m->classes, m->kernel_category[nai_val_text(&m->kernels.name, op->row)]),
               "gemm") == 0;
    nai_intervals_add(is_gemm ? &gemm : &other, op->start, op->end);
  }
  nai_intervals_subtract(&all, &gemm, &other);
  for (size_t i = 0; i < all.count; i++)
    if (all.v[i].end - all.v[i].start >= least)
      nai_intervals_add(alone, all.v[i].start, all.v[i].end);
  return gemm.oom || other.oom || all.oom ? nai_err_nomem(err) : NAI_OK;
}

static int find_times(struct times *t, const struct nai_node_io *io, const struct nai_gpu *gpu, int64_t period,
                      struct nai_err *err) {
  struct nai_intervals *s = t->sets, exposed = {.arena = &t->arena};
  const struct nai_intervals *const of[CONDITIONS] = {&s[WINDOW],         &gpu->all,
                                                      &s[COMPUTE],        &gpu->exposed_communication,
                                                      &gpu->exposed_copy, &s[IDLE],
                                                      &s[GEMM],           &s[STEADY]};
  if (t->gpu == gpu && t->period == period) /* mostly those of the metric before */
    return NAI_OK;
  times_free(t);
  *t = (struct times){.gpu = gpu, .period = period, .arena = NAI_ARENA(io->model->scratch_dir)};
  for (int c = 0; c < CONDITIONS; c++)
    s[c].arena = &t->arena;
  nai_intervals_add(&s[WINDOW], gpu->window_start, gpu->window_end);
  nai_intervals_union(&exposed, &gpu->exposed_communication, &gpu->exposed_copy);
  nai_intervals_subtract(&s[COMPUTE], &gpu->all, &exposed);
  nai_intervals_subtract(&s[IDLE], &s[WINDOW], &gpu->all);
  NAI_TRY(find_gemm(&s[GEMM], io->model, gpu, 2 * period, err));
  NAI_TRY(nai_steady_windows(&s[STEADY], io->in[0], gpu->device_id, err));
  for (int c = 0; c < CONDITIONS; c++) {
    NAI_TRY(nai_memory_check(!exposed.oom && !of[c]->oom, err));
    NAI_TRY(nai_coverage_in(&t->coverage[c], of[c], &t->arena, err));
  }
  return NAI_OK;
}

/* --- metrics ---------------------------------------------------------------------------------- */

struct work {
  const struct nai_node_io *io;
  struct times times;
};
static void work_free(struct work *w) { times_free(&w->times); }

/* Longest distance between samples in the window. */
static int64_t max_gap_of(const struct nai_metric_series *s) {
  int64_t longest = 0;
  for (uint32_t i = 1; i < s->count; i++) {
    int64_t from = s->start[i - 1] > s->gpu->window_start ? s->start[i - 1] : s->gpu->window_start,
            to = s->start[i] < s->gpu->window_end ? s->start[i] : s->gpu->window_end;
    longest = to - from > longest ? to - from : longest;
  }
  return longest;
}

static int put_series(void *ctx, const struct nai_metric_series *s, struct nai_err *err) {
  struct work *w = ctx;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(w->io->model->scratch_dir);
  int64_t max_gap = max_gap_of(s);
  double *room;
  if (s->period <= 0)
    return NAI_OK;
  NAI_TRY(NAI_NEW(room, &arena, s->count, err));
  NAI_TRY(find_times(&w->times, w->io, s->gpu, s->period, err));
  for (int c = 0; c < CONDITIONS; c++) {
    struct nai_series_sum sum = nai_series_during(s, &w->times.coverage[c], room);
    if (sum.length)
      NAI_ADD(GPU_METRICS, w->io->out[0], .device_id = s->device_id, .metric = s->name, .metric_unit = s->unit,
              .during = conditions[c], .time_ns = sum.length, .coverage_pct = sum.coverage_pct,
              .sample_count = sum.count, .mean = sum.mean, .p50 = sum.p50, .max = sum.max,
              .period_ns = (double)s->period, .max_gap_ns = max_gap);
  }
  return NAI_OK;
}

/* A text of the table may move when others are added. */
static const char *condition_of(const char *during) {
  int c = 0;
  while (c + 1 < CONDITIONS && strcmp(conditions[c], during) != 0)
    c++;
  return conditions[c];
}

/* Reading and writing share the memory's bandwidth: a row for both. */
static void add_sum(struct nai_table *table, const struct GPU_METRICS_row *r, const struct GPU_METRICS_row *w) {
  NAI_ADD(GPU_METRICS, table, .device_id = r->device_id, .metric = "DRAM Read + Write Bandwidth [Throughput %]",
          .metric_unit = "%", .during = condition_of(r->during), .time_ns = r->time_ns,
          .coverage_pct = r->coverage_pct < w->coverage_pct ? r->coverage_pct : w->coverage_pct,
          .sample_count = r->sample_count < w->sample_count ? r->sample_count : w->sample_count,
          .mean = r->mean + w->mean);
}

static void add_sums(struct nai_table *table) {
  static const char read[] = "DRAM Read Bandwidth [Throughput %]", write[] = "DRAM Write Bandwidth [Throughput %]";
  int64_t rows = table->rows;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = 0; strcmp(nai_get_str(table, i, GPU_METRICS_metric), read) == 0 && k < rows; k++) {
      struct GPU_METRICS_row r = GPU_METRICS_at(table, i), w = GPU_METRICS_at(table, k);
      if (strcmp(w.metric, write) == 0 && r.device_id == w.device_id && strcmp(r.during, w.during) == 0)
        add_sum(table, &r, &w);
    }
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  NAI_SCOPED(work) w = {.io = io, .times.arena = NAI_ARENA(NULL)};
  NAI_TRY(nai_gpu_series_each(io->model, put_series, &w, err));
  add_sums(io->out[0]);
  return NAI_OK;
}

NAI_ANALYSIS(gpu_metrics, .outputs = NAI_SCHEMAS(&nai_gpu_metrics_schema), .inputs = NAI_SCHEMAS(&nai_steps_schema),
             .parts = NAI_PART(SAMPLED) | NAI_PART(GPUS) | NAI_PART(NAMES), .run = run)
