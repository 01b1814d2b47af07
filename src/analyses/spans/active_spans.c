/* Where in a GPU's window does the work happen? Tables active_spans, gpu_active. */
#include "analyses/spans/active_spans.h"
#include "analyses/analysis.h"
#include "model/idle/active.h"
#include "model/idle/pause_cause.h"
#include "model/kernels/repeated.h"
#include "tables/active_spans.h"
#include "tables/gpu_active.h"

enum { MIN_STEADY_KERNELS = 20, MIN_REPEATED_PCT = 50 };

static const char *const kinds[] = {[NAI_SPAN_IS_ACTIVE] = NAI_SPAN_ACTIVE,
                                    [NAI_SPAN_IS_SET_UP] = NAI_SPAN_SET_UP,
                                    [NAI_SPAN_IS_CHECK] = NAI_SPAN_CHECK,
                                    [NAI_SPAN_IS_PAUSE] = NAI_SPAN_PAUSE};

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
  const struct nai_gpu_span *c = &g->window->spans[i];
  const struct nai_span *span = &c->at;
  struct division d = divide(g->gpu, span);
  int64_t row = nai_table_add_row(table), length = span->end - span->start;
  const struct {
    int column;
    int64_t value;
  } cells[] = {{ACTIVE_SPANS_device_id, g->gpu->device_id},
               {ACTIVE_SPANS_span, i},
               {ACTIVE_SPANS_start_ns, span->start},
               {ACTIVE_SPANS_end_ns, span->end},
               {ACTIVE_SPANS_duration_ns, length},
               {ACTIVE_SPANS_compute_ns, d.compute},
               {ACTIVE_SPANS_exposed_comm_ns, d.communication},
               {ACTIVE_SPANS_exposed_copy_ns, d.copy},
               {ACTIVE_SPANS_idle_ns, d.idle},
               {ACTIVE_SPANS_operation_count, c->ops},
               {ACTIVE_SPANS_kernel_count, c->kernels},
               {ACTIVE_SPANS_kernel_time_ns, c->kernel_ns}};
  for (size_t k = 0; k < sizeof cells / sizeof *cells; k++)
    nai_set_i64(table, row, cells[k].column, cells[k].value);
  nai_set_str(table, row, ACTIVE_SPANS_kind, kinds[c->kind]);
  nai_set_f64(table, row, ACTIVE_SPANS_pct_of_window,
              nai_percent((double)length, (double)(g->gpu->window_end - g->gpu->window_start)));
  if (!span->pause)
    return NAI_OK;
  struct nai_pause_cause cause;
  int rc = nai_pause_explain(&cause, g->m, g->gpu, span, err);
  if (rc)
    return rc;
  nai_set_str(table, row, ACTIVE_SPANS_cause, cause.cause);
  nai_set_str(table, row, ACTIVE_SPANS_what, *cause.what ? cause.what : NULL);
  nai_set_i64(table, row, ACTIVE_SPANS_cause_ns, cause.ns);
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

static void put_gpu(struct nai_table *table, const struct gpu_spans *g, const struct sums *s,
                    const struct nai_repetition *r) {
  int64_t row = nai_table_add_row(table);
  double repeated = nai_percent((double)r->repeated_ns, (double)r->total_ns);
  const struct {
    int column, pct;
    int64_t value;
  } cells[] = {{GPU_ACTIVE_device_id, -1, g->gpu->device_id},
               {GPU_ACTIVE_window_ns, -1, g->gpu->window_end - g->gpu->window_start},
               {GPU_ACTIVE_active_ns, -1, s->active},
               {GPU_ACTIVE_pause_ns, -1, s->pause},
               {GPU_ACTIVE_set_up_ns, -1, s->other},
               {GPU_ACTIVE_compute_ns, GPU_ACTIVE_compute_pct, s->d.compute},
               {GPU_ACTIVE_exposed_comm_ns, GPU_ACTIVE_exposed_comm_pct, s->d.communication},
               {GPU_ACTIVE_exposed_copy_ns, GPU_ACTIVE_exposed_copy_pct, s->d.copy},
               {GPU_ACTIVE_idle_ns, GPU_ACTIVE_idle_pct, s->d.idle},
               {GPU_ACTIVE_pause_count, -1, s->pauses},
               {GPU_ACTIVE_kernel_count, -1, r->count},
               {GPU_ACTIVE_kernel_time_ns, -1, r->total_ns},
               {GPU_ACTIVE_steady, -1, r->count >= MIN_STEADY_KERNELS && repeated >= MIN_REPEATED_PCT},
               {GPU_ACTIVE_active_start_ns, -1, s->start},
               {GPU_ACTIVE_active_end_ns, -1, s->end}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
    nai_set_i64(table, row, cells[i].column, cells[i].value);
    if (cells[i].pct >= 0)
      nai_set_f64(table, row, cells[i].pct, nai_percent((double)cells[i].value, (double)s->active));
  }
  if (r->count)
    nai_set_f64(table, row, GPU_ACTIVE_repeated_pct, repeated);
  nai_set_str(table, row, GPU_ACTIVE_gpu, nai_model_gpu_label(g->m, g->gpu->device_id));
}

static int add_gpu(struct nai_table *const *tables, const struct nai_model *m, uint32_t gpu,
                   const struct nai_shapes *shapes, struct nai_err *err) {
  struct gpu_spans g = {.m = m, .gpu = &m->gpus[gpu], .window = &m->active[gpu]};
  struct nai_repetition repetition = {0};
  int rc = NAI_OK;
  for (uint32_t i = 0; !rc && i < g.window->count; i++)
    rc = put_span(tables[0], &g, i, err);
  if (!rc)
    rc = nai_repetition_of(&repetition, m, g.gpu, shapes, &g.window->active, err);
  if (rc)
    return rc;
  struct sums sums = sum_up(&g);
  put_gpu(tables[1], &g, &sums, &repetition);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nai_shapes shapes;
  int rc = nai_shapes_new(&shapes, m, err);
  for (uint32_t i = 0; !rc && i < m->gpu_count; i++)
    if (m->gpus[i].op_count)
      rc = add_gpu(io->out, m, i, &shapes, err);
  nai_shapes_free(&shapes);
  return rc;
}

NAI_ANALYSIS(active_spans, .outputs = NAI_SCHEMAS(&nai_active_spans_schema, &nai_gpu_active_schema),
             .parts = NAI_PART(GPUS) | NAI_PART(ACTIVE) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(IDLE),
             .tables = NAI_IN(GPUS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) |
                       NAI_IN(THREADS) | NAI_IN(OVERHEAD) | NAI_IN(OSRT) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(LABELS),
             .run = run)
