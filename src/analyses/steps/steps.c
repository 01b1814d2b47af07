/* How long does a step take, and where does its time go? Tables steps, step_summary, repeating_units, step_search. */
#include "analyses/analysis.h"
#include "analyses/steps/step_cause.h"
#include "model/steps/step_stats.h"
#include "tables/gpu_idle_gaps.h"
#include "tables/repeating_units.h"
#include "tables/step_search.h"
#include "tables/step_summary.h"
#include "tables/steps.h"
#include "tables/threads.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { STEPS, SUMMARY, UNITS, SEARCH };

/* --- numbers of a step ------------------------------------------------------------------------ */

#define ON_GPU(field)                                                                                  \
  static int64_t get_##field(const struct nai_process_steps *steps, const struct nai_gpu_step *step) { \
    (void)steps;                                                                                       \
    return step->field;                                                                                \
  }
#define ON_HOST(field)                                                                                 \
  static int64_t get_##field(const struct nai_process_steps *steps, const struct nai_gpu_step *step) { \
    return steps->v[step->step].field;                                                                 \
  }
ON_GPU(compute_ns)
ON_GPU(exposed_comm_ns)
ON_GPU(exposed_copy_ns)
ON_GPU(idle_ns)
ON_GPU(end_idle_ns)
ON_GPU(kernels)
ON_GPU(kernel_ns)
ON_GPU(launch_calls)
ON_GPU(launch_api_ns)
ON_GPU(htod_bytes)
ON_GPU(dtoh_bytes)
ON_GPU(other_bytes)
ON_GPU(graph_launches)
ON_HOST(blocked_ns)
ON_HOST(allocation_calls)
ON_HOST(allocation_ns)

/* What every step has, and its median in the summary. */
static const struct {
  int column, median;
  nai_step_value_fn *value;
} numbers[] = {
    {STEPS_compute_ns, STEP_SUMMARY_median_compute_ns, get_compute_ns},
    {STEPS_exposed_comm_ns, STEP_SUMMARY_median_exposed_comm_ns, get_exposed_comm_ns},
    {STEPS_exposed_copy_ns, STEP_SUMMARY_median_exposed_copy_ns, get_exposed_copy_ns},
    {STEPS_idle_ns, STEP_SUMMARY_median_idle_ns, get_idle_ns},
    {STEPS_end_idle_ns, STEP_SUMMARY_median_end_idle_ns, get_end_idle_ns},
    {STEPS_kernel_count, STEP_SUMMARY_median_kernel_count, get_kernels},
    {STEPS_kernel_ns, STEP_SUMMARY_median_kernel_ns, get_kernel_ns},
    {STEPS_launch_calls, STEP_SUMMARY_median_launch_calls, get_launch_calls},
    {STEPS_launch_api_ns, STEP_SUMMARY_median_launch_api_ns, get_launch_api_ns},
    {STEPS_blocking_sync_ns, STEP_SUMMARY_median_blocking_sync_ns, get_blocked_ns},
    {STEPS_htod_bytes, STEP_SUMMARY_median_htod_bytes, get_htod_bytes},
    {STEPS_dtoh_bytes, STEP_SUMMARY_median_dtoh_bytes, get_dtoh_bytes},
    {STEPS_other_copy_bytes, STEP_SUMMARY_median_other_copy_bytes, get_other_bytes},
    {STEPS_alloc_calls, STEP_SUMMARY_median_alloc_calls, get_allocation_calls},
    {STEPS_alloc_ns, STEP_SUMMARY_median_alloc_ns, get_allocation_ns},
    {STEPS_graph_launches, STEP_SUMMARY_median_graph_launches, get_graph_launches},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* --- tables ----------------------------------------------------------------------------------- */

static void put_step(struct nai_table *t, const struct nai_step_usual *u, uint32_t i) {
  const struct nai_model *m = u->m;
  const struct nai_step_list *list = u->list;
  const struct nai_step_stats *stats = u->stats;
  const struct nai_process_steps *steps = &m->steps->processes[list->process];
  const struct nai_gpu_step *s = &list->v[i];
  const struct nai_step *host = &steps->v[s->step];
  int64_t row = nai_table_add_row(t);
  nai_set_i64(t, row, STEPS_pid, nai_model_pid(m, (int32_t)list->process));
  nai_set_i64(t, row, STEPS_device_id, nai_model_device(m, list->gpu));
  nai_set_i64(t, row, STEPS_step, s->step);
  if (host->range != NAI_NO_ROW)
    nai_set_str(t, row, STEPS_label, nai_model_range_name(m, host->range));
  nai_set_str(t, row, STEPS_state, nai_step_state_name((enum nai_step_state)stats->state[i]));
  nai_set_i64(t, row, STEPS_cpu_start_ns, host->start);
  nai_set_i64(t, row, STEPS_cpu_end_ns, host->end);
  nai_set_i64(t, row, STEPS_gpu_start_ns, s->start);
  nai_set_i64(t, row, STEPS_gpu_end_ns, s->end);
  nai_set_i64(t, row, STEPS_duration_ns, nai_step_ns(s));
  if (host->work_end != NAI_NULL_I64)
    nai_set_i64(t, row, STEPS_between_ns, host->end > host->work_end ? host->end - host->work_end : 0);
  for (int n = 0; n < NUMBERS; n++)
    nai_set_i64(t, row, numbers[n].column, numbers[n].value(steps, s));
  nai_set_i64(t, row, STEPS_input_wait_ns, nai_step_input_wait(u->gaps, nai_model_device(m, list->gpu), s));
  nai_set_i64(t, row, STEPS_first_use_kernels, s->first_use);
  nai_set_i64(t, row, STEPS_loading_ns, host->loading_ns);
  nai_set_i64(t, row, STEPS_is_outlier, stats->outlier[i]);
  if (stats->outlier[i])
    nai_set_i64(t, row, STEPS_excess_ns, nai_step_ns(s) - stats->median_ns);
}

static int put_spread(struct nai_table *t, int64_t row, const struct nai_step_list *list,
                      const struct nai_step_stats *s, struct nai_err *err) {
  int64_t all = 0, idle = 0;
  double drift_ns;
  for (uint32_t i = 0; i < list->count; i++) {
    all += nai_step_ns(&list->v[i]);
    idle += s->state[i] == NAI_STEP_STEADY ? list->v[i].idle_ns : 0;
  }
  nai_set_i64(t, row, STEP_SUMMARY_median_ns, s->median_ns);
  nai_set_i64(t, row, STEP_SUMMARY_mad_ns, s->mad_ns);
  nai_set_i64(t, row, STEP_SUMMARY_p90_ns, s->p90_ns);
  nai_set_i64(t, row, STEP_SUMMARY_min_ns, s->min_ns);
  nai_set_i64(t, row, STEP_SUMMARY_max_ns, s->max_ns);
  nai_set_f64(t, row, STEP_SUMMARY_cv_pct, s->cv_pct);
  nai_set_i64(t, row, STEP_SUMMARY_spread_ns, s->spread_ns);
  nai_set_i64(t, row, STEP_SUMMARY_excess_ns, s->excess_ns);
  nai_set_i64(t, row, STEP_SUMMARY_steady_ns, s->total_ns);
  nai_set_i64(t, row, STEP_SUMMARY_warm_up_ns, s->warm_up_ns);
  nai_set_f64(t, row, STEP_SUMMARY_warm_up_pct, nai_percent((double)s->warm_up_ns, (double)all));
  if (s->total_ns) {
    nai_set_f64(t, row, STEP_SUMMARY_steps_per_s, 1e9 * s->states[NAI_STEP_STEADY] / (double)s->total_ns);
    nai_set_f64(t, row, STEP_SUMMARY_idle_pct, nai_percent((double)idle, (double)s->total_ns));
  }
  int rc = s->total_ns ? nai_step_drift(&drift_ns, s, list, err) : NAI_OK;
  if (!rc && s->total_ns)
    nai_set_f64(t, row, STEP_SUMMARY_drift_pct_per_step, drift_ns < 0 ? 0 : 100 * drift_ns / (double)s->median_ns);
  return rc;
}

static int put_summary(struct nai_table *t, const struct nai_model *m, const struct nai_step_list *list,
                       const struct nai_step_stats *stats, struct nai_err *err) {
  const struct nai_process_steps *steps = &m->steps->processes[list->process];
  int64_t row = nai_table_add_row(t), *room = malloc(((size_t)list->count + 1) * sizeof *room);
  if (!room)
    return nai_err_nomem(err);
  nai_set_i64(t, row, STEP_SUMMARY_pid, nai_model_pid(m, (int32_t)list->process));
  nai_set_i64(t, row, STEP_SUMMARY_device_id, nai_model_device(m, list->gpu));
  nai_set_str(t, row, STEP_SUMMARY_method, nai_step_method_name(steps->method));
  nai_set_f64(t, row, STEP_SUMMARY_confidence, steps->confidence);
  nai_set_str(t, row, STEP_SUMMARY_step_name, steps->name);
  if (steps->thread != NAI_NO_ROW)
    nai_set_i64(t, row, STEP_SUMMARY_tid, nai_get_i64(m->tables[NAI_IN_THREADS], steps->thread, THREADS_tid));
  nai_set_i64(t, row, STEP_SUMMARY_steps, list->count);
  nai_set_i64(t, row, STEP_SUMMARY_steady_steps, stats->states[NAI_STEP_STEADY]);
  nai_set_i64(t, row, STEP_SUMMARY_warm_up_steps, stats->states[NAI_STEP_WARM_UP]);
  nai_set_i64(t, row, STEP_SUMMARY_truncated_steps, stats->states[NAI_STEP_TRUNCATED]);
  nai_set_i64(t, row, STEP_SUMMARY_outlier_steps, stats->outliers);
  nai_set_i64(t, row, STEP_SUMMARY_first_start_ns, list->v[0].start);
  nai_set_i64(t, row, STEP_SUMMARY_last_end_ns, list->v[list->count - 1].end);
  for (int n = 0; n < NUMBERS; n++)
    nai_set_i64(t, row, numbers[n].median, nai_step_median(room, stats, steps, list, numbers[n].value));
  free(room);
  return put_spread(t, row, list, stats, err);
}

/* Sums of the steady steps' waits for input; `first` is the row of the list's first step. */
static void put_input(struct nai_table *summary, const struct nai_table *steps, int64_t first,
                      const struct nai_step_list *list, const struct nai_step_stats *stats) {
  int64_t total = 0, waiting = 0, row = summary->rows - 1;
  for (uint32_t i = 0; i < list->count; i++) {
    int64_t ns = nai_get_i64(steps, first + i, STEPS_input_wait_ns);
    if (stats->state[i] != NAI_STEP_STEADY)
      continue;
    total += ns;
    waiting += ns > 0 && ns * 10 >= nai_step_ns(&list->v[i]);
  }
  nai_set_i64(summary, row, STEP_SUMMARY_input_wait_ns, total);
  nai_set_f64(summary, row, STEP_SUMMARY_input_wait_pct, nai_percent((double)total, (double)stats->total_ns));
  nai_set_i64(summary, row, STEP_SUMMARY_input_wait_steps, waiting);
}

static int64_t get_copied(const struct nai_process_steps *steps, const struct nai_gpu_step *step) {
  (void)steps;
  return step->htod_bytes + step->dtoh_bytes + step->other_bytes;
}

/* Why outliers are longer. */
static int put_causes(struct nai_table *t, int64_t first, struct nai_step_usual *u, struct nai_err *err) {
  const struct nai_process_steps *steps = &u->m->steps->processes[u->list->process];
  int64_t *room = malloc(((size_t)u->list->count + 1) * sizeof *room);
  struct nai_step_cause cause = {0};
  int rc = room ? NAI_OK : nai_err_nomem(err);
  if (!rc && u->stats->outliers) {
    u->compute_ns = nai_step_median(room, u->stats, steps, u->list, get_compute_ns);
    u->exposed_comm_ns = nai_step_median(room, u->stats, steps, u->list, get_exposed_comm_ns);
    u->exposed_copy_ns = nai_step_median(room, u->stats, steps, u->list, get_exposed_copy_ns);
    u->idle_ns = nai_step_median(room, u->stats, steps, u->list, get_idle_ns);
    u->copied_bytes = nai_step_median(room, u->stats, steps, u->list, get_copied);
  }
  for (uint32_t i = 0; !rc && u->stats->outliers && i < u->list->count; i++) {
    if (!u->stats->outlier[i])
      continue;
    rc = nai_step_explain(&cause, u, i, err);
    nai_set_str(t, first + i, STEPS_cause, cause.part);
    if (cause.ns)
      nai_set_i64(t, first + i, STEPS_cause_ns, cause.ns);
    nai_set_str(t, first + i, STEPS_cause_detail, cause.detail.len ? nai_buf_str(&cause.detail) : NULL);
  }
  if (!rc && cause.detail.oom)
    rc = nai_err_nomem(err);
  nai_buf_free(&cause.detail);
  free(room);
  return rc;
}

static int put_list(const struct nai_node_io *io, const struct nai_step_list *list, const struct nai_step_gaps *gaps,
                    struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nai_step_stats stats;
  struct nai_step_usual usual = {.m = m, .list = list, .stats = &stats, .gaps = gaps};
  int64_t first = io->out[STEPS]->rows;
  if (!list->count)
    return NAI_OK;
  int rc = nai_step_stats_new(&stats, &m->steps->processes[list->process], list, err);
  for (uint32_t i = 0; !rc && i < list->count; i++)
    put_step(io->out[STEPS], &usual, i);
  if (!rc)
    rc = nai_table_check(io->out[STEPS], err);
  if (!rc)
    rc = put_causes(io->out[STEPS], first, &usual, err);
  if (!rc)
    rc = put_summary(io->out[SUMMARY], m, list, &stats, err);
  if (!rc)
    rc = nai_table_check(io->out[SUMMARY], err);
  if (!rc)
    put_input(io->out[SUMMARY], io->out[STEPS], first, list, &stats);
  nai_step_usual_free(&usual);
  nai_step_stats_free(&stats);
  return rc;
}

static void put_unit(struct nai_table *t, const struct nai_model *m, const struct nai_repeating_unit *u,
                     int64_t number) {
  int64_t row = nai_table_add_row(t);
  nai_set_i64(t, row, REPEATING_UNITS_pid, nai_model_pid(m, (int32_t)u->process));
  nai_set_i64(t, row, REPEATING_UNITS_device_id, nai_model_device(m, u->gpu));
  nai_set_i64(t, row, REPEATING_UNITS_context_id, u->context);
  nai_set_i64(t, row, REPEATING_UNITS_stream_id, u->stream);
  nai_set_i64(t, row, REPEATING_UNITS_unit, number);
  nai_set_i64(t, row, REPEATING_UNITS_kernel_count, u->kernels);
  nai_set_i64(t, row, REPEATING_UNITS_repetitions, u->count);
  nai_set_f64(t, row, REPEATING_UNITS_match_pct, u->match_pct);
  nai_set_i64(t, row, REPEATING_UNITS_median_ns, u->median_ns);
  nai_set_f64(t, row, REPEATING_UNITS_cv_pct, u->cv_pct);
  nai_set_str(t, row, REPEATING_UNITS_level, u->level);
  nai_set_str(t, row, REPEATING_UNITS_nvtx_path, u->path);
  if (u->marker != NAI_NO_ROW)
    nai_set_str(t, row, REPEATING_UNITS_first_kernel, nai_model_kernel_name(m, u->marker));
  nai_set_i64(t, row, REPEATING_UNITS_start_ns, u->start);
  nai_set_i64(t, row, REPEATING_UNITS_end_ns, u->end);
}

static void put_search(struct nai_table *t, const struct nai_model *m) {
  for (uint32_t p = 0; p < m->process_count; p++) {
    const struct nai_process_steps *s = &m->steps->processes[p];
    if (!s->count && !s->why)
      continue;
    int64_t row = nai_table_add_row(t);
    nai_set_i64(t, row, STEP_SEARCH_pid, nai_model_pid(m, (int32_t)p));
    nai_set_str(t, row, STEP_SEARCH_method, nai_step_method_name(s->method));
    nai_set_i64(t, row, STEP_SEARCH_steps, s->count);
    nai_set_str(t, row, STEP_SEARCH_reason, s->why);
  }
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_steps *s = io->model->steps;
  struct nai_step_gaps gaps;
  int rc = nai_step_gaps_new(&gaps, io->in[0], err);
  for (uint32_t i = 0; !rc && i < s->list_count; i++)
    rc = put_list(io, &s->lists[i], &gaps, err);
  nai_step_gaps_free(&gaps);
  for (uint32_t i = 0, number = 0; i < s->unit_count; i++) {
    number = i && s->units[i - 1].process == s->units[i].process ? number + 1 : 0;
    put_unit(io->out[UNITS], io->model, &s->units[i], number);
  }
  put_search(io->out[SEARCH], io->model);
  return rc;
}

NAI_ANALYSIS(steps,
             .outputs = NAI_SCHEMAS(&nai_steps_schema, &nai_step_summary_schema, &nai_repeating_units_schema,
                                    &nai_step_search_schema),
             .inputs = NAI_SCHEMAS(&nai_gpu_idle_gaps_schema), .parts = NAI_PART(STEPS),
             .tables = NAI_IN(PROCESSES) | NAI_IN(THREADS) | NAI_IN(GPUS), .run = run)
