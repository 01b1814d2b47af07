/* How long does a step take, and where does its time go? Tables steps, step_summary, repeating_units, step_search. */
#include "analyses/analysis.h"
#include "analyses/steps/range_units.h"
#include "analyses/steps/step_cause.h"
#include "analyses/steps/step_spans.h"
#include "model/nvtx/projection.h"
#include "tables/gpu_idle_gaps.h"
#include "tables/repeating_units.h"
#include "tables/step_search.h"
#include "tables/step_summary.h"
#include "tables/steps.h"
#include "tables/threads.h"

enum { STEPS, SUMMARY, UNITS, SEARCH };

/* One list, whose rows of table steps begin with row `first`. */
struct work {
  const struct nai_node_io *io;
  const struct nai_process_steps *steps;
  const struct nai_step_list *list;
  const struct nai_step_stats *stats;
  const struct nai_step_spans *spans;
  int64_t first, *room; /* room: a cell per step */
};

/* What the range that begins the step took: on the host, and what it launched on this GPU. */
static void add_range(struct STEPS_row *row, const struct work *w, const struct nai_step *host) {
  const struct nai_step_span *span = nai_step_span_of(w->spans, host->range, w->list->gpu);
  if (host->range == NAI_NO_ROW)
    return;
  row->label = nai_model_range_name(w->io->model, host->range);
  row->range_time_ns = nai_range_ns(w->io->model, host->range);
  if (!span)
    return;
  row->range_span_ns = span->end - span->start;
  row->range_busy_ns = span->busy_ns;
  row->range_idle_ns = span->end - span->start - span->busy_ns;
}

static void put_step(const struct work *w, const struct nai_step_gaps *gaps, uint32_t i) {
  const struct nai_model *m = w->io->model;
  const struct nai_gpu_step *s = &w->list->v[i];
  const struct nai_step *host = &w->steps->v[s->step];
  int32_t device = nai_model_device(m, w->list->gpu);
  bool outlier = w->stats->outlier[i];
  struct STEPS_row row =
      NAI_ROW(STEPS, .pid = nai_model_pid(m, (int32_t)w->list->process), .device_id = device, .step = s->step,
              .state = nai_step_state_name((enum nai_step_state)w->stats->state[i]), .cpu_start_ns = host->start,
              .cpu_end_ns = host->end, .gpu_start_ns = s->start, .gpu_end_ns = s->end, .duration_ns = nai_step_ns(s),
              .compute_ns = s->compute_ns, .exposed_comm_ns = s->exposed_comm_ns, .exposed_copy_ns = s->exposed_copy_ns,
              .idle_ns = s->idle_ns, .end_idle_ns = s->end_idle_ns, .input_wait_ns = nai_step_input_wait(gaps, s),
              .kernel_count = s->kernels, .kernel_ns = s->kernel_ns, .launch_calls = s->launch_calls,
              .launch_api_ns = s->launch_api_ns, .blocking_sync_ns = host->blocked_ns, .htod_bytes = s->htod_bytes,
              .dtoh_bytes = s->dtoh_bytes, .other_copy_bytes = s->other_bytes, .alloc_calls = host->allocation_calls,
              .alloc_ns = host->allocation_ns, .graph_launches = s->graph_launches, .first_use_kernels = s->first_use,
              .loading_ns = host->loading_ns, .is_outlier = outlier);
  add_range(&row, w, host);
  if (host->work_end != NAI_NULL_I64)
    row.between_ns = host->end > host->work_end ? host->end - host->work_end : 0;
  if (outlier)
    row.excess_ns = nai_step_ns(s) - w->stats->median_ns;
  STEPS_add(w->io->out[STEPS], &row);
}

/* --- medians of the steady steps that have a value, of two the lower one; NULL without any -------------------------
 */

static int64_t median_of_sum(const struct work *w, const int *columns, int count) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->list->count; i++) {
    if (w->stats->state[i] != NAI_STEP_STEADY)
      continue;
    w->room[n] = 0;
    for (int c = 0; c < count && w->room[n] != NAI_NULL_I64; c++) {
      int64_t value = nai_get_i64(w->io->out[STEPS], w->first + i, columns[c]);
      w->room[n] = value == NAI_NULL_I64 ? value : w->room[n] + value;
    }
    n += w->room[n] != NAI_NULL_I64;
  }
  if (!n)
    return NAI_NULL_I64;
  nai_select_i64(w->room, n, (n - 1) / 2);
  return w->room[(n - 1) / 2];
}

static int64_t median(const struct work *w, int column) { return median_of_sum(w, &column, 1); }

/* Why outliers are longer. */
static int put_causes(const struct work *w, const struct nai_step_gaps *gaps, struct nai_arena *arena,
                      struct nai_err *err) {
  static const int copied[] = {STEPS_htod_bytes, STEPS_dtoh_bytes, STEPS_other_copy_bytes};
  struct nai_table *t = w->io->out[STEPS];
  struct nai_step_usual usual = {.m = w->io->model,
                                 .list = w->list,
                                 .stats = w->stats,
                                 .gaps = gaps,
                                 .arena = arena,
                                 .compute_ns = median(w, STEPS_compute_ns),
                                 .exposed_comm_ns = median(w, STEPS_exposed_comm_ns),
                                 .exposed_copy_ns = median(w, STEPS_exposed_copy_ns),
                                 .idle_ns = median(w, STEPS_idle_ns),
                                 .copied_bytes = median_of_sum(w, copied, 3)};
  NAI_SCOPED(nai_step_cause) cause = {0};
  for (uint32_t i = 0; i < w->list->count; i++) {
    if (!w->stats->outlier[i])
      continue;
    NAI_TRY(nai_step_explain(&cause, &usual, i, err));
    NAI_TRY(nai_buf_check(&cause.detail, err));
    nai_set_str(t, w->first + i, STEPS_cause, cause.part);
    if (cause.ns)
      nai_set_i64(t, w->first + i, STEPS_cause_ns, cause.ns);
    nai_set_str(t, w->first + i, STEPS_cause_detail, cause.detail.len ? nai_buf_str(&cause.detail) : NULL);
  }
  return NAI_OK;
}

/* --- the summary -------------------------------------------------------------------------------- */

/* Waits of the steady steps for input. */
static void add_input(struct STEP_SUMMARY_row *row, const struct work *w) {
  row->input_wait_ns = row->input_wait_steps = 0;
  for (uint32_t i = 0; i < w->list->count; i++) {
    int64_t ns = nai_get_i64(w->io->out[STEPS], w->first + i, STEPS_input_wait_ns);
    if (w->stats->state[i] != NAI_STEP_STEADY)
      continue;
    row->input_wait_ns += ns;
    row->input_wait_steps += ns > 0 && ns * 10 >= nai_step_ns(&w->list->v[i]);
  }
  row->input_wait_pct = nai_percent((double)row->input_wait_ns, (double)w->stats->total_ns);
}

static int add_spread(struct STEP_SUMMARY_row *row, const struct work *w, struct nai_err *err) {
  const struct nai_step_stats *s = w->stats;
  int64_t all = 0, idle = 0;
  double drift_ns;
  for (uint32_t i = 0; i < w->list->count; i++) {
    all += nai_step_ns(&w->list->v[i]);
    idle += s->state[i] == NAI_STEP_STEADY ? w->list->v[i].idle_ns : 0;
  }
  row->warm_up_pct = nai_percent((double)s->warm_up_ns, (double)all);
  if (!s->total_ns)
    return NAI_OK;
  row->steps_per_s = 1e9 * s->states[NAI_STEP_STEADY] / (double)s->total_ns;
  row->idle_pct = nai_percent((double)idle, (double)s->total_ns);
  NAI_TRY(nai_step_drift(&drift_ns, s, w->list, err));
  row->drift_pct_per_step = drift_ns < 0 ? 0 : 100 * drift_ns / (double)s->median_ns;
  return NAI_OK;
}

static int put_summary(const struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->io->model;
  const struct nai_step_list *list = w->list;
  const struct nai_step_stats *s = w->stats;
  struct STEP_SUMMARY_row row = NAI_ROW(
      STEP_SUMMARY, .pid = nai_model_pid(m, (int32_t)list->process), .device_id = nai_model_device(m, list->gpu),
      .method = nai_step_method_name(w->steps->method), .confidence = w->steps->confidence, .step_name = w->steps->name,
      .steps = list->count, .steady_steps = s->states[NAI_STEP_STEADY], .warm_up_steps = s->states[NAI_STEP_WARM_UP],
      .truncated_steps = s->states[NAI_STEP_TRUNCATED], .paused_steps = s->states[NAI_STEP_PAUSED],
      .outlier_steps = s->outliers, .median_ns = s->median_ns, .mad_ns = s->mad_ns, .p90_ns = s->p90_ns,
      .min_ns = s->min_ns, .max_ns = s->max_ns, .cv_pct = s->cv_pct, .spread_ns = s->spread_ns,
      .excess_ns = s->excess_ns, .steady_ns = s->total_ns, .warm_up_ns = s->warm_up_ns,
      .median_compute_ns = median(w, STEPS_compute_ns), .median_exposed_comm_ns = median(w, STEPS_exposed_comm_ns),
      .median_exposed_copy_ns = median(w, STEPS_exposed_copy_ns), .median_idle_ns = median(w, STEPS_idle_ns),
      .median_end_idle_ns = median(w, STEPS_end_idle_ns), .median_kernel_count = median(w, STEPS_kernel_count),
      .median_kernel_ns = median(w, STEPS_kernel_ns), .median_launch_calls = median(w, STEPS_launch_calls),
      .median_launch_api_ns = median(w, STEPS_launch_api_ns),
      .median_blocking_sync_ns = median(w, STEPS_blocking_sync_ns), .median_htod_bytes = median(w, STEPS_htod_bytes),
      .median_dtoh_bytes = median(w, STEPS_dtoh_bytes), .median_other_copy_bytes = median(w, STEPS_other_copy_bytes),
      .median_alloc_calls = median(w, STEPS_alloc_calls), .median_alloc_ns = median(w, STEPS_alloc_ns),
      .median_graph_launches = median(w, STEPS_graph_launches), .median_range_time_ns = median(w, STEPS_range_time_ns),
      .median_range_span_ns = median(w, STEPS_range_span_ns), .median_range_busy_ns = median(w, STEPS_range_busy_ns),
      .median_range_idle_ns = median(w, STEPS_range_idle_ns), .first_start_ns = list->v[0].start,
      .last_end_ns = list->v[list->count - 1].end);
  if (w->steps->thread != NAI_NO_ROW)
    row.tid = nai_get_i64(m->tables[NAI_IN_THREADS], w->steps->thread, THREADS_tid);
  add_input(&row, w);
  NAI_TRY(add_spread(&row, w, err));
  STEP_SUMMARY_add(w->io->out[SUMMARY], &row);
  return NAI_OK;
}

static int put_list(const struct nai_node_io *io, const struct nai_step_list *list, const struct nai_step_spans *spans,
                    struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(io->model->scratch_dir);
  NAI_SCOPED(nai_step_stats) stats = {0};
  struct work w = {.io = io,
                   .steps = &io->model->steps->processes[list->process],
                   .list = list,
                   .stats = &stats,
                   .spans = spans,
                   .first = io->out[STEPS]->rows};
  struct nai_step_gaps gaps;
  NAI_TRY(nai_step_gaps_find(&gaps, io->in[0], nai_model_device(io->model, list->gpu), &arena, err));
  NAI_TRY(nai_step_stats_new(&stats, w.steps, list, err));
  NAI_TRY(NAI_NEW(w.room, &arena, list->count, err));
  for (uint32_t i = 0; i < list->count; i++)
    put_step(&w, &gaps, i);
  NAI_TRY(nai_table_check(io->out[STEPS], err));
  if (stats.outliers)
    NAI_TRY(put_causes(&w, &gaps, &arena, err));
  return put_summary(&w, err);
}

/* --- what repeats, and where steps were looked for ------------------------------------------------ */

static void put_unit(struct nai_table *t, const struct nai_model *m, const struct nai_repeating_unit *u,
                     int64_t number) {
  const struct nai_gpu *gpu = &m->gpus[u->gpu];
  int64_t from = u->warm_start, to = u->last_start, n = u->between ? u->between : 1;
  int64_t busy = nai_intervals_overlap_ns(&gpu->all, from, to) / n, period = (to - from) / n;
  int64_t comm = nai_intervals_overlap_ns(&gpu->exposed_communication, from, to) / n;
  int64_t copy = nai_intervals_overlap_ns(&gpu->exposed_copy, from, to) / n;
  NAI_ADD(REPEATING_UNITS, t, .pid = nai_model_pid(m, (int32_t)u->process), .device_id = nai_model_device(m, u->gpu),
          .context_id = u->context, .stream_id = u->stream, .unit = number, .kernel_count = u->kernels,
          .repetitions = u->count, .match_pct = u->match_pct, .median_ns = u->median_ns, .cv_pct = u->cv_pct,
          .period_ns = period, .compute_ns = busy - comm - copy, .exposed_comm_ns = comm, .exposed_copy_ns = copy,
          .idle_ns = period - busy, .level = u->level, .nvtx_path = u->path,
          .first_kernel = u->marker != NAI_NO_ROW ? nai_model_kernel_name(m, u->marker) : NULL, .start_ns = u->start,
          .end_ns = u->end);
}

static void put_search(struct nai_table *t, const struct nai_model *m) {
  for (uint32_t p = 0; p < m->process_count; p++) {
    const struct nai_process_steps *s = &m->steps->processes[p];
    if (s->count || s->why)
      NAI_ADD(STEP_SEARCH, t, .pid = nai_model_pid(m, (int32_t)p), .method = nai_step_method_name(s->method),
              .steps = s->count, .reason = s->why);
  }
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_steps *s = io->model->steps;
  struct nai_step_spans spans;
  NAI_TRY(nai_step_spans_find(&spans, io->model, io->arena, err));
  for (uint32_t i = 0; i < s->list_count; i++)
    if (s->lists[i].count)
      NAI_TRY(put_list(io, &s->lists[i], &spans, err));
  for (uint32_t i = 0, number = 0; i < s->unit_count; i++) {
    number = i && s->units[i - 1].process == s->units[i].process ? number + 1 : 0;
    put_unit(io->out[UNITS], io->model, &s->units[i], number);
  }
  put_search(io->out[SEARCH], io->model);
  return nai_range_units_put(io, io->out[UNITS], err);
}

NAI_ANALYSIS(steps,
             .outputs = NAI_SCHEMAS(&nai_steps_schema, &nai_step_summary_schema, &nai_repeating_units_schema,
                                    &nai_step_search_schema),
             .inputs = NAI_SCHEMAS(&nai_gpu_idle_gaps_schema),
             .parts = NAI_PART(STEPS) | NAI_PART(NVTX_TREE) | NAI_PROJECTION_PARTS, .config = NAI_CONFIG(MAP_NVTX),
             .run = run)
