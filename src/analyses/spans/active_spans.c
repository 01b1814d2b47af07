/* Where in a GPU's window does the work happen? Tables active_spans, gpu_active. */
#include "analyses/analysis.h"
#include "model/idle/active.h"
#include "model/idle/pause_cause.h"
#include "model/kernels/repeated.h"
#include "tables/active_spans.h"
#include "tables/gpu_active.h"

enum { MIN_STEADY_KERNELS = 20, MIN_REPEATED_PCT = 50 };

/* One GPU. */
struct gpu_spans {
  const struct nai_model *m;
  const struct nai_gpu *gpu;
  const struct nai_gpu_active *window;
};

/* What a span's time went to. */
struct division {
  int64_t compute, communication, copy, idle;
};

static struct division divide(const struct nai_gpu *gpu, const struct nai_span *span) {
  int64_t busy = nai_intervals_overlap_ns(&gpu->all, span->start, span->end);
  struct division d = {.communication = nai_intervals_overlap_ns(&gpu->exposed_communication, span->start, span->end),
                       .copy = nai_intervals_overlap_ns(&gpu->exposed_copy, span->start, span->end),
                       .idle = span->end - span->start - busy};
  d.compute = busy - d.communication - d.copy;
  return d;
}

static int put_span(struct nai_table *table, const struct gpu_spans *g, uint32_t i, struct nai_err *err) {
  static const char *const kinds[] = {[NAI_SPAN_IS_ACTIVE] = NAI_SPAN_ACTIVE,
                                      [NAI_SPAN_IS_SET_UP] = NAI_SPAN_SET_UP,
                                      [NAI_SPAN_IS_CHECK] = NAI_SPAN_CHECK,
                                      [NAI_SPAN_IS_PAUSE] = NAI_SPAN_PAUSE};
  const struct nai_gpu_span *c = &g->window->spans[i];
  const struct nai_span *span = &c->at;
  struct division d = divide(g->gpu, span);
  struct nai_pause_cause cause;
  int64_t length = span->end - span->start;
  struct ACTIVE_SPANS_row row =
      NAI_ROW(ACTIVE_SPANS, .device_id = g->gpu->device_id, .span = i, .kind = kinds[c->kind], .start_ns = span->start,
              .end_ns = span->end, .duration_ns = length, .compute_ns = d.compute, .exposed_comm_ns = d.communication,
              .exposed_copy_ns = d.copy, .idle_ns = d.idle,
              .pct_of_window = nai_percent((double)length, (double)(g->gpu->window_end - g->gpu->window_start)),
              .operation_count = c->ops, .kernel_count = c->kernels, .kernel_time_ns = c->kernel_ns);
  if (span->pause) {
    NAI_TRY(nai_pause_explain(&cause, g->m, g->gpu, span, err));
    row.cause = cause.cause;
    row.what = *cause.what ? cause.what : NULL;
    row.cause_ns = cause.ns;
  }
  ACTIVE_SPANS_add(table, &row);
  return NAI_OK;
}

/* Sums over the active spans, and the lengths of the others. */
struct sums {
  struct division d;
  int64_t active, pause, other, pauses, start, end;
};

static struct sums sum_up(const struct gpu_spans *g) {
  struct sums s = {.start = NAI_NULL_I64, .end = NAI_NULL_I64};
  for (uint32_t i = 0; i < g->window->count; i++) {
    const struct nai_span *span = &g->window->spans[i].at;
    int64_t length = span->end - span->start;
    s.pauses += span->pause;
    s.pause += span->pause ? length : 0;
    if (g->window->spans[i].kind != NAI_SPAN_IS_ACTIVE) {
      s.other += span->pause ? 0 : length;
      continue;
    }
    struct division d = divide(g->gpu, span);
    s.d.compute += d.compute;
    s.d.communication += d.communication;
    s.d.copy += d.copy;
    s.d.idle += d.idle;
    s.active += length;
    s.start = s.start == NAI_NULL_I64 ? span->start : s.start;
    s.end = span->end;
  }
  return s;
}

static void put_gpu(struct nai_table *table, const struct gpu_spans *g, const struct nai_repetition *r) {
  struct sums s = sum_up(g);
  double active = (double)s.active, repeated = nai_percent((double)r->repeated_ns, (double)r->total_ns);
  NAI_ADD(GPU_ACTIVE, table, .device_id = g->gpu->device_id, .gpu = nai_model_gpu_label(g->m, g->gpu->device_id),
          .window_ns = g->gpu->window_end - g->gpu->window_start, .active_ns = s.active, .pause_ns = s.pause,
          .set_up_ns = s.other, .pause_count = s.pauses, .active_start_ns = s.start, .active_end_ns = s.end,
          .compute_ns = s.d.compute, .compute_pct = nai_percent((double)s.d.compute, active),
          .exposed_comm_ns = s.d.communication, .exposed_comm_pct = nai_percent((double)s.d.communication, active),
          .exposed_copy_ns = s.d.copy, .exposed_copy_pct = nai_percent((double)s.d.copy, active), .idle_ns = s.d.idle,
          .idle_pct = nai_percent((double)s.d.idle, active), .kernel_count = r->count, .kernel_time_ns = r->total_ns,
          .repeated_pct = repeated, .steady = r->count >= MIN_STEADY_KERNELS && repeated >= MIN_REPEATED_PCT);
}

static int add_gpu(const struct nai_node_io *io, uint32_t gpu, const struct nai_shapes *shapes, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct gpu_spans g = {.m = m, .gpu = &m->gpus[gpu], .window = &m->active[gpu]};
  struct nai_repetition repetition;
  for (uint32_t i = 0; i < g.window->count; i++)
    NAI_TRY(put_span(io->out[0], &g, i, err));
  NAI_TRY(nai_repetition_of(&repetition, m, g.gpu, shapes, &g.window->active, err));
  put_gpu(io->out[1], &g, &repetition);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  NAI_SCOPED(nai_shapes) shapes = {0};
  NAI_TRY(nai_shapes_new(&shapes, m, err));
  for (uint32_t i = 0; i < m->gpu_count; i++)
    if (m->gpus[i].op_count)
      NAI_TRY(add_gpu(io, i, &shapes, err));
  return NAI_OK;
}

NAI_ANALYSIS(active_spans, .outputs = NAI_SCHEMAS(&nai_active_spans_schema, &nai_gpu_active_schema),
             .parts = NAI_PART(GPUS) | NAI_PART(ACTIVE) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(IDLE) |
                      NAI_PART(KERNEL_GROUPS),
             .tables = NAI_IN(GPUS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) |
                       NAI_IN(THREADS) | NAI_IN(OVERHEAD) | NAI_IN(OSRT) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(LABELS),
             .run = run)
