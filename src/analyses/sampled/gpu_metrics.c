/* How much of the GPU's units was in use while it computed, communicated, copied, idled? Table gpu_metrics. */
#include "analyses/analysis.h"
#include "analyses/sampled/gpu_metric_timeline.h"
#include "analyses/sampled/series.h"
#include "base/sort.h"
#include "tables/gpu_metric_names.h"
#include "tables/gpu_metric_samples.h"
#include "tables/gpu_metric_timeline.h"
#include "tables/gpu_metrics.h"
#include "tables/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST = 20 };
enum condition { WINDOW, BUSY, COMPUTE, COMMUNICATION, COPY, IDLE, GEMM, STEPS, CONDITIONS };
static const char *const conditions[CONDITIONS] = {"window",       "busy", "compute",   "exposed_comm",
                                                   "exposed_copy", "idle", "gemm_only", "steady_steps"};

/* --- when ------------------------------------------------------------------------------------- */

/* Of one GPU, for samples so far apart. */
struct times {
  const struct nai_gpu *gpu;
  int64_t period;
  struct nai_intervals sets[CONDITIONS];
  struct nai_coverage coverage[CONDITIONS];
};

/* Kernels of matrix products with nothing beside them, those at least `least` long. */
static void find_gemm(struct nai_intervals *alone, const struct nai_model *m, const struct nai_gpu *gpu,
                      int64_t least) {
  struct nai_intervals gemm = {0}, other = {0}, all = {0};
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    bool is_gemm =
        op->type == NAI_OP_KERNEL &&
        strcmp(nai_kernel_classes_name(m->classes, m->kernel_category[nai_at_text(&m->kernels.name, op->row)]),
               "gemm") == 0;
    nai_intervals_add(is_gemm ? &gemm : &other, nai_model_op_start(m, op), nai_model_op_end(m, op));
  }
  nai_intervals_subtract(&all, &gemm, &other);
  for (size_t i = 0; i < all.count; i++)
    if (all.v[i].end - all.v[i].start >= least)
      nai_intervals_add(alone, all.v[i].start, all.v[i].end);
  alone->oom |= gemm.oom || other.oom || all.oom;
  nai_intervals_free(&gemm);
  nai_intervals_free(&other);
  nai_intervals_free(&all);
}

static void free_times(struct times *t) {
  for (int c = 0; c < CONDITIONS; c++) {
    nai_coverage_free(&t->coverage[c]);
    nai_intervals_free(&t->sets[c]);
  }
  *t = (struct times){0};
}

static int find_times(struct times *t, const struct nai_model *m, const struct nai_gpu *gpu,
                      const struct nai_table *steps, int64_t period, struct nai_err *err) {
  struct nai_intervals exposed = {0}, nothing = {0};
  struct nai_intervals *s = t->sets;
  int rc = NAI_OK;
  if (t->gpu == gpu && t->period == period) /* mostly those of the metric before */
    return NAI_OK;
  free_times(t);
  t->gpu = gpu;
  t->period = period;
  nai_intervals_add(&s[WINDOW], gpu->window_start, gpu->window_end);
  nai_intervals_union(&s[BUSY], &gpu->all, &nothing);
  nai_intervals_union(&s[COMMUNICATION], &gpu->exposed_communication, &nothing);
  nai_intervals_union(&s[COPY], &gpu->exposed_copy, &nothing);
  nai_intervals_union(&exposed, &gpu->exposed_communication, &gpu->exposed_copy);
  nai_intervals_subtract(&s[COMPUTE], &gpu->all, &exposed);
  nai_intervals_subtract(&s[IDLE], &s[WINDOW], &gpu->all);
  find_gemm(&s[GEMM], m, gpu, 2 * period);
  nai_add_steady(&s[STEPS], steps, gpu->device_id);
  if (exposed.oom)
    rc = nai_err_nomem(err);
  for (int c = 0; !rc && c < CONDITIONS; c++)
    rc = s[c].oom ? nai_err_nomem(err) : nai_coverage_new(&t->coverage[c], &s[c], err);
  nai_intervals_free(&exposed);
  return rc;
}

/* --- samples ---------------------------------------------------------------------------------- */

/* The samples of one metric, by time. */
struct samples {
  const struct nai_model *m;
  const uint32_t *rows;
  uint32_t count;
  int64_t period, max_gap;
  double scale; /* of values */
  const char *name, *unit;
};

static int64_t time_of(const struct samples *s, uint32_t i) {
  return nai_get_i64(s->m->tables[NAI_IN_GPU_METRIC_SAMPLES], s->rows[i], GPU_METRIC_SAMPLES_time_ns);
}

static double value_of(const struct samples *s, uint32_t i) {
  return (double)nai_get_i64(s->m->tables[NAI_IN_GPU_METRIC_SAMPLES], s->rows[i], GPU_METRIC_SAMPLES_value) * s->scale;
}

static int find_period(struct samples *s, const struct nai_gpu *gpu, struct nai_err *err) {
  enum { LEAST_HZ = 1000000 };
  int64_t *distances = malloc((size_t)s->count * sizeof *distances);
  bool hertz = false;
  if (!distances)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < s->count; i++)
    hertz |= strcmp(s->unit, "MHz") == 0 && value_of(s, i) >= LEAST_HZ;
  for (uint32_t i = 1; i < s->count; i++) {
    int64_t from = time_of(s, i - 1), to = time_of(s, i);
    distances[i - 1] = to - from;
    from = from > gpu->window_start ? from : gpu->window_start;
    to = to < gpu->window_end ? to : gpu->window_end;
    s->max_gap = to - from > s->max_gap ? to - from : s->max_gap;
  }
  nai_select_i64(distances, s->count - 1, (s->count - 1) / 2);
  s->period = distances[(s->count - 1) / 2];
  s->scale = hertz ? 1e-6 : 1;
  free(distances);
  return NAI_OK;
}

struct sum {
  double weighted;
  int64_t ns, covered;
  uint32_t count;
};

static int compare_reals(const void *pa, const void *pb) {
  double a = *(const double *)pa, b = *(const double *)pb;
  return (a > b) - (a < b);
}

static int64_t put_condition(struct nai_table *table, const struct samples *s, int32_t device, struct times *t,
                             int condition, double *room) {
  struct sum sum = {0};
  int64_t length = nai_intervals_total_ns(&t->sets[condition]), covered_until = INT64_MIN;
  for (uint32_t i = 0; length && i < s->count; i++) {
    int64_t start = time_of(s, i), end = start + s->period, from = start > covered_until ? start : covered_until;
    int64_t ns = nai_coverage_overlap_ns(&t->coverage[condition], start, end);
    sum.ns += ns;
    sum.weighted += (double)ns * value_of(s, i);
    sum.covered += from < end ? nai_coverage_overlap_ns(&t->coverage[condition], from, end) : 0;
    covered_until = end > covered_until ? end : covered_until;
    if (2 * ns > s->period)
      room[sum.count++] = value_of(s, i);
  }
  if (!length)
    return -1;
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, GPU_METRICS_device_id, device);
  nai_set_str(table, row, GPU_METRICS_metric, s->name);
  nai_set_str(table, row, GPU_METRICS_metric_unit, s->unit);
  nai_set_str(table, row, GPU_METRICS_during, conditions[condition]);
  nai_set_i64(table, row, GPU_METRICS_time_ns, length);
  nai_set_f64(table, row, GPU_METRICS_coverage_pct, nai_percent((double)sum.covered, (double)length));
  nai_set_i64(table, row, GPU_METRICS_sample_count, sum.count);
  nai_set_f64(table, row, GPU_METRICS_period_ns, (double)s->period);
  nai_set_i64(table, row, GPU_METRICS_max_gap_ns, s->max_gap);
  if (sum.count < FEWEST)
    return row;
  qsort(room, sum.count, sizeof *room, compare_reals);
  nai_set_f64(table, row, GPU_METRICS_mean, sum.weighted / (double)sum.ns);
  nai_set_f64(table, row, GPU_METRICS_p50, room[(sum.count - 1) / 2]);
  nai_set_f64(table, row, GPU_METRICS_max, room[sum.count - 1]);
  return row;
}

/* --- metrics ---------------------------------------------------------------------------------- */

static int put_metric(const struct nai_node_io *io, struct times *times, int64_t metric, const uint32_t *rows,
                      uint32_t count, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_table *names = m->tables[NAI_IN_GPU_METRICS];
  struct nai_value name = nai_table_value(names, metric, GPU_METRIC_NAMES_metric_name);
  const struct nai_gpu *gpu = nai_metric_gpu(m, nai_get_i64(names, metric, GPU_METRIC_NAMES_gpu_id));
  struct samples s = {.m = m, .rows = rows, .count = count, .scale = 1};
  if (name.null || !gpu || count < 2 || !(s.unit = nai_metric_unit(name.s)))
    return NAI_OK;
  s.name = name.s;
  double *room = malloc((size_t)count * sizeof *room);
  int rc = room ? find_period(&s, gpu, err) : nai_err_nomem(err);
  const struct nai_metric_series series = {gpu->device_id, s.name, s.unit, s.scale, rows, count};
  if (!rc)
    nai_gpu_metric_timeline_put(io->out[1], m, &series, (uint32_t)names->rows);
  if (!rc && s.period > 0)
    rc = find_times(times, m, gpu, io->in ? io->in[0] : NULL, s.period, err);
  for (int c = 0; !rc && s.period > 0 && c < CONDITIONS; c++)
    put_condition(io->out[0], &s, gpu->device_id, times, c, room);
  free(room);
  return rc;
}

/* Reading and writing share the memory's bandwidth: a row for both. */
static void add_sum(struct nai_table *table, int64_t r, int64_t w) {
  int64_t row = nai_table_add_row(table),
          counts[] = {nai_get_i64(table, r, GPU_METRICS_sample_count), nai_get_i64(table, w, GPU_METRICS_sample_count)};
  double means[] = {nai_get_f64(table, r, GPU_METRICS_mean), nai_get_f64(table, w, GPU_METRICS_mean)},
         covered[] = {nai_get_f64(table, r, GPU_METRICS_coverage_pct), nai_get_f64(table, w, GPU_METRICS_coverage_pct)};
  nai_set_i64(table, row, GPU_METRICS_device_id, nai_get_i64(table, r, GPU_METRICS_device_id));
  nai_set_str(table, row, GPU_METRICS_metric, "DRAM Read + Write Bandwidth [Throughput %]");
  nai_set_str(table, row, GPU_METRICS_metric_unit, "%");
  for (int c = 0; c < CONDITIONS; c++)
    if (strcmp(conditions[c], nai_get_str(table, r, GPU_METRICS_during)) == 0)
      nai_set_str(table, row, GPU_METRICS_during, conditions[c]);
  nai_set_i64(table, row, GPU_METRICS_time_ns, nai_get_i64(table, r, GPU_METRICS_time_ns));
  nai_set_f64(table, row, GPU_METRICS_coverage_pct, covered[0] < covered[1] ? covered[0] : covered[1]);
  nai_set_i64(table, row, GPU_METRICS_sample_count, counts[0] < counts[1] ? counts[0] : counts[1]);
  if (!isnan(means[0]) && !isnan(means[1]))
    nai_set_f64(table, row, GPU_METRICS_mean, means[0] + means[1]);
}

static void add_dram(struct nai_table *table) {
  static const char read[] = "DRAM Read Bandwidth [Throughput %]", write[] = "DRAM Write Bandwidth [Throughput %]";
  int64_t rows = table->rows;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t w = 0; strcmp(nai_get_str(table, r, GPU_METRICS_metric), read) == 0 && w < rows; w++)
      if (strcmp(nai_get_str(table, w, GPU_METRICS_metric), write) == 0 &&
          nai_get_i64(table, r, GPU_METRICS_device_id) == nai_get_i64(table, w, GPU_METRICS_device_id) &&
          strcmp(nai_get_str(table, r, GPU_METRICS_during), nai_get_str(table, w, GPU_METRICS_during)) == 0)
        add_sum(table, r, w);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_table *t = m->tables[NAI_IN_GPU_METRIC_SAMPLES];
  uint32_t n = (uint32_t)t->rows, metrics = (uint32_t)m->tables[NAI_IN_GPU_METRICS]->rows;
  struct nai_arena arena = NAI_ARENA(m->scratch_dir);
  struct nai_groups groups = {0};
  struct times times = {0};
  if (!n)
    return NAI_OK;
  const struct nai_column metric = nai_table_column(t, GPU_METRIC_SAMPLES_metric);
  const struct nai_row_order by = {.start = nai_table_column(t, GPU_METRIC_SAMPLES_time_ns),
                                   .end = nai_table_column(t, GPU_METRIC_SAMPLES_value)};
  int rc = nai_groups_build(&groups, n, &metric, metrics, &by, &arena, err);
  for (uint32_t i = 0; !rc && i < metrics; i++)
    rc = put_metric(io, &times, i, groups.order + groups.first[i], groups.first[i + 1] - groups.first[i], err);
  nai_arena_free(&arena);
  free_times(&times);
  if (!rc)
    add_dram(io->out[0]);
  return rc;
}

NAI_ANALYSIS(gpu_metrics, .outputs = NAI_SCHEMAS(&nai_gpu_metrics_schema, &nai_gpu_metric_timeline_schema),
             .inputs = NAI_SCHEMAS(&nai_steps_schema), .parts = NAI_PART(GPUS) | NAI_PART(NAMES) | NAI_PART(WINDOW),
             .tables = NAI_IN(GPU_METRICS) | NAI_IN(GPU_METRIC_SAMPLES) | NAI_IN(GPUS) | NAI_IN(KERNELS) |
                       NAI_IN(MEMOPS) | NAI_IN(GRAPHS),
             .run = run)
