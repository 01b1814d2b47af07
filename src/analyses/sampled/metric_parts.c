/* What did sampled metrics show in each phase and each step? Tables phase_metrics and step_metrics. */
#include "analyses/analysis.h"
#include "analyses/sampled/series.h"
#include "tables/phase_metrics.h"
#include "tables/step_metrics.h"
#include "tables/steps.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST = 20, MAX_ROWS = 20000 };

/* A phase on one GPU, or on any (device -1): when it ran something it had launched. */
struct phase_time {
  int phase;
  int32_t device;
  struct nai_intervals set;
};

struct work {
  const struct nai_model *m;
  const struct nai_table *steps;
  struct nai_table *by_phase, *by_step;
  struct phase_time *phases;
  uint32_t phase_count;
};

static void put_sum(struct nai_table *table, const struct work *w, const struct nai_series *s,
                    const struct nai_series_sum *sum, int64_t length) {
  int64_t row = nai_table_add_row(table);
  if (s->device >= 0)
    nai_set_i64(table, row, PHASE_METRICS_device_id, s->device);
  else
    nai_nic_put_card(table, row, PHASE_METRICS_nic, w->m, s->card);
  nai_set_i64(table, row, PHASE_METRICS_port, s->device >= 0 ? NAI_NULL_I64 : s->port);
  nai_set_str(table, row, PHASE_METRICS_metric, s->name);
  nai_set_str(table, row, PHASE_METRICS_metric_unit, s->unit);
  nai_set_i64(table, row, PHASE_METRICS_time_ns, length);
  nai_set_f64(table, row, PHASE_METRICS_coverage_pct, nai_percent((double)sum->covered, (double)length));
  nai_set_i64(table, row, PHASE_METRICS_sample_count, sum->count);
  if (sum->count < FEWEST)
    return;
  nai_set_f64(table, row, PHASE_METRICS_mean, sum->weighted / (double)sum->ns);
  nai_set_f64(table, row, PHASE_METRICS_max, sum->max);
}

/* --- phases --------------------------------------------------------------------------------------- */

/* A phase's operations on one GPU, in the order of their starts. */
static int add_phase(struct work *w, int phase, const struct nai_gpu *gpu, struct nai_err *err) {
  const struct nai_model *m = w->m;
  struct phase_time *p = &w->phases[w->phase_count++];
  *p = (struct phase_time){.phase = phase, .device = gpu->device_id};
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    uint32_t api = nai_model_op_api(m, &gpu->ops[i]);
    if (api != NAI_NO_ROW && m->call_phase[api] == phase)
      nai_intervals_add(&p->set, nai_model_op_start(m, &gpu->ops[i]), nai_model_op_end(m, &gpu->ops[i]));
  }
  return p->set.oom ? nai_err_nomem(err) : NAI_OK;
}

/* The same on all GPUs together. */
static int join_gpus(struct work *w, int phase, uint32_t first, struct nai_err *err) {
  struct phase_time *all = &w->phases[w->phase_count++];
  *all = (struct phase_time){.phase = phase, .device = -1};
  for (uint32_t i = first; i + 1 < w->phase_count; i++) {
    struct nai_intervals both = {0};
    nai_intervals_union(&both, &all->set, &w->phases[i].set);
    nai_intervals_free(&all->set);
    all->set = both;
  }
  return all->set.oom ? nai_err_nomem(err) : NAI_OK;
}

static int find_phases(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  int count = m->phases && m->map_nvtx ? nai_phase_map_count(m->phases) : 0, rc = NAI_OK;
  w->phases = calloc((size_t)count * (m->gpu_count + 1) + 1, sizeof *w->phases);
  if (!w->phases)
    return nai_err_nomem(err);
  for (int p = 0; !rc && p < count; p++) {
    uint32_t first = w->phase_count;
    for (uint32_t g = 0; !rc && g < m->gpu_count; g++)
      rc = add_phase(w, p, &m->gpus[g], err);
    if (!rc)
      rc = join_gpus(w, p, first, err);
  }
  return rc;
}

static void use_phases(struct work *w, const struct nai_series *s) {
  for (uint32_t i = 0; i < w->phase_count; i++) {
    const struct phase_time *p = &w->phases[i];
    int64_t length = nai_intervals_total_ns(&p->set);
    if (p->device != s->device || !length)
      continue;
    struct nai_series_sum sum = nai_series_within(s, &p->set);
    put_sum(w->by_phase, w, s, &sum, length);
    nai_set_str(w->by_phase, w->by_phase->rows - 1, PHASE_METRICS_phase, nai_phase_map_phase(w->m->phases, p->phase));
  }
}

/* --- steps ---------------------------------------------------------------------------------------- */

/* Of cards the windows on the process's first GPU count: rows of a process come GPU by GPU. */
static bool is_for(const struct nai_table *steps, int64_t row, int64_t *first_device, int64_t *pid, int32_t device) {
  int64_t of = nai_get_i64(steps, row, STEPS_device_id);
  if (device >= 0)
    return of == device;
  if (*pid != nai_get_i64(steps, row, STEPS_pid)) {
    *pid = nai_get_i64(steps, row, STEPS_pid);
    *first_device = of;
  }
  return of == *first_device;
}

static void use_steps(struct work *w, const struct nai_series *s) {
  const struct nai_table *steps = w->steps;
  int64_t first_device = NAI_NULL_I64, pid = NAI_NULL_I64;
  uint32_t first = 0; /* samples that may reach into the step */
  for (int64_t i = 0; i < steps->rows && w->by_step->rows < MAX_ROWS; i++) {
    struct nai_interval window = {nai_get_i64(steps, i, STEPS_gpu_start_ns), nai_get_i64(steps, i, STEPS_gpu_end_ns)};
    const struct nai_intervals set = {.v = &window, .count = 1};
    if (window.end <= window.start || !is_for(steps, i, &first_device, &pid, s->device))
      continue;
    if (first == s->count || s->start[first] > window.start) /* the steps of another process */
      first = 0;
    while (first < s->count && s->end[first] <= window.start)
      first++;
    struct nai_series rest = *s;
    rest.start += first;
    rest.end += first;
    rest.value += first;
    rest.count -= first;
    struct nai_series_sum sum = nai_series_within(&rest, &set);
    put_sum(w->by_step, w, s, &sum, window.end - window.start);
    int64_t row = w->by_step->rows - 1;
    nai_set_i64(w->by_step, row, STEP_METRICS_pid, nai_get_i64(steps, i, STEPS_pid));
    nai_set_i64(w->by_step, row, STEP_METRICS_step, nai_get_i64(steps, i, STEPS_step));
    nai_set_str(w->by_step, row, STEP_METRICS_state, nai_get_str(steps, i, STEPS_state));
    nai_set_i64(w->by_step, row, STEP_METRICS_start_ns, window.start);
    nai_set_i64(w->by_step, row, STEP_METRICS_end_ns, window.end);
  }
}

static int use_series(void *ctx, const struct nai_series *s, struct nai_err *err) {
  struct work *w = ctx;
  use_phases(w, s);
  if (w->steps)
    use_steps(w, s);
  int rc = nai_table_check(w->by_phase, err);
  return rc ? rc : nai_table_check(w->by_step, err);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct work w = {.m = m, .steps = io->in ? io->in[0] : NULL, .by_phase = io->out[0], .by_step = io->out[1]};
  if (!m->tables[NAI_IN_GPU_METRIC_SAMPLES]->rows && !m->tables[NAI_IN_NIC_SAMPLES]->rows)
    return NAI_OK;
  int rc = find_phases(&w, err);
  if (!rc)
    rc = nai_series_each(m, use_series, &w, err);
  for (uint32_t i = 0; i < w.phase_count; i++)
    nai_intervals_free(&w.phases[i].set);
  free(w.phases);
  return rc;
}

NAI_ANALYSIS(metric_parts, .outputs = NAI_SCHEMAS(&nai_phase_metrics_schema, &nai_step_metrics_schema),
             .inputs = NAI_SCHEMAS(&nai_steps_schema), .parts = NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(PHASES),
             .tables = NAI_IN(GPU_METRICS) | NAI_IN(GPU_METRIC_SAMPLES) | NAI_IN(NIC_SAMPLES) | NAI_IN(NIC_METRICS) |
                       NAI_IN(NIC_IDS) | NAI_IN(NICS) | NAI_IN(GPUS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) |
                       NAI_IN(GRAPHS),
             .config = NAI_CONFIG(MAP_NVTX), .run = run)
