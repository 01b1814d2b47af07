/* Where in a GPU's window does the work happen? Tables active_spans, gpu_active. */
#include "analyses/spans/active_spans.h"
#include "analyses/analysis.h"
#include "derive/idle/pause_cause.h"
#include "derive/kernels/repeated.h"
#include "derive/idle/pauses.h"

#include <stdlib.h>

enum { MIN_STEADY_KERNELS = 20, MIN_REPEATED_PCT = 50, MIN_KERNEL_PCT = 5 };

/* What falls into a span. */
struct content {
  int64_t ops, kernels, kernel_ns;
  const char *kind;
};

/* One GPU on its way. */
struct gpu_spans {
  const struct nai_model *m;
  const struct nai_gpu *gpu;
  struct nai_span *spans;
  struct content *contents;
  uint32_t count;
};

/* Operations by the span in which they start; those of zero length at the very end of the window are the last one's. */
static void fill_contents(struct gpu_spans *g) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    int64_t start = nai_model_op_start(g->m, op);
    while (at + 1 < g->count && start >= g->spans[at].end)
      at++;
    g->contents[at].ops++;
    if (op->type != NAI_OP_KERNEL && op->type != NAI_OP_GRAPH)
      continue;
    g->contents[at].kernels++;
    g->contents[at].kernel_ns += nai_model_op_end(g->m, op) - start;
  }
}

/* Before the first kernel: set-up. With little of the kernel time: a check or warm-up. */
static void name_kinds(struct gpu_spans *g) {
  int64_t total = 0;
  bool any = false;
  for (uint32_t i = 0; i < g->count; i++) {
    total += g->contents[i].kernel_ns;
    any = any || g->contents[i].kernels;
  }
  for (uint32_t i = 0, kernels = 0; i < g->count; i++) {
    struct content *c = &g->contents[i];
    kernels += c->kernels > 0;
    c->kind = g->spans[i].pause                                                         ? NAI_SPAN_PAUSE
            : !any || g->count == 1                                                     ? NAI_SPAN_ACTIVE
            : !kernels                                                                  ? NAI_SPAN_SET_UP
            : nai_percent((double)c->kernel_ns, (double)total) < (double)MIN_KERNEL_PCT ? NAI_SPAN_CHECK
                                                                                        : NAI_SPAN_ACTIVE;
  }
}

/* What a span's time went to. */
struct division {
  int64_t compute, communication, copy, idle;
};

static struct division divide(const struct nai_gpu *gpu, const struct nai_span *span) {
  int64_t busy = nai_covered(&gpu->all, span->start, span->end);
  struct division d = {.communication = nai_covered(&gpu->exposed_communication, span->start, span->end),
                       .copy = nai_covered(&gpu->exposed_copy, span->start, span->end),
                       .idle = span->end - span->start - busy};
  d.compute = busy - d.communication - d.copy;
  return d;
}

static int put_span(struct nai_table *table, const struct gpu_spans *g, uint32_t i, struct nai_err *err) {
  const struct nai_span *span = &g->spans[i];
  const struct content *c = &g->contents[i];
  struct division d = divide(g->gpu, span);
  int64_t row = nai_table_add_row(table), length = span->end - span->start;
  const struct {
    int column;
    int64_t value;
  } cells[] = {{AS_DEVICE, g->gpu->device_id},
               {AS_SPAN, i},
               {AS_START, span->start},
               {AS_END, span->end},
               {AS_DURATION, length},
               {AS_COMPUTE, d.compute},
               {AS_COMM, d.communication},
               {AS_COPY, d.copy},
               {AS_IDLE, d.idle},
               {AS_OPS, c->ops},
               {AS_KERNELS, c->kernels},
               {AS_KERNEL_TIME, c->kernel_ns}};
  for (size_t k = 0; k < sizeof cells / sizeof *cells; k++)
    nai_set_i64(table, row, cells[k].column, cells[k].value);
  nai_set_str(table, row, AS_KIND, c->kind);
  nai_set_f64(table, row, AS_PCT, nai_percent((double)length, (double)(g->gpu->window_end - g->gpu->window_start)));
  if (!span->pause)
    return NAI_OK;
  struct nai_pause_cause cause;
  int rc = nai_pause_explain(&cause, g->m, g->gpu, span, err);
  if (rc)
    return rc;
  nai_set_str(table, row, AS_CAUSE, cause.cause);
  nai_set_str(table, row, AS_WHAT, *cause.what ? cause.what : NULL);
  nai_set_i64(table, row, AS_CAUSE_NS, cause.ns);
  return NAI_OK;
}

/* Sums over the active spans, and the lengths of the others. */
struct sums {
  struct division d;
  int64_t active, pause, other, pauses, start, end;
};

static struct sums sum_up(const struct gpu_spans *g, struct nai_intervals *active) {
  struct sums s = {.start = NAI_NULL_I64, .end = NAI_NULL_I64};
  for (uint32_t i = 0; i < g->count; i++) {
    const struct nai_span *span = &g->spans[i];
    int64_t length = span->end - span->start;
    s.pauses += span->pause;
    s.pause += span->pause ? length : 0;
    if (g->contents[i].kind[0] != NAI_SPAN_ACTIVE[0]) {
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
    nai_intervals_add(active, span->start, span->end);
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
  } cells[] = {{GA_DEVICE, -1, g->gpu->device_id},
               {GA_WINDOW, -1, g->gpu->window_end - g->gpu->window_start},
               {GA_ACTIVE, -1, s->active},
               {GA_PAUSE, -1, s->pause},
               {GA_OTHER, -1, s->other},
               {GA_COMPUTE, GA_COMPUTE_PCT, s->d.compute},
               {GA_COMM, GA_COMM_PCT, s->d.communication},
               {GA_COPY, GA_COPY_PCT, s->d.copy},
               {GA_IDLE, GA_IDLE_PCT, s->d.idle},
               {GA_PAUSES, -1, s->pauses},
               {GA_LAUNCHES, -1, r->count},
               {GA_KERNEL_TIME, -1, r->total_ns},
               {GA_STEADY, -1, r->count >= MIN_STEADY_KERNELS && repeated >= MIN_REPEATED_PCT},
               {GA_START, -1, s->start},
               {GA_END, -1, s->end}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
    nai_set_i64(table, row, cells[i].column, cells[i].value);
    if (cells[i].pct >= 0)
      nai_set_f64(table, row, cells[i].pct, nai_percent((double)cells[i].value, (double)s->active));
  }
  if (r->count)
    nai_set_f64(table, row, GA_REPEATED_PCT, repeated);
  nai_set_str(table, row, GA_LABEL, nai_model_gpu_label(g->m, g->gpu->device_id));
}

static int add_gpu(struct nai_table *const *tables, const struct nai_model *m, const struct nai_gpu *gpu,
                   const struct nai_shapes *shapes, struct nai_err *err) {
  struct gpu_spans g = {.m = m, .gpu = gpu};
  struct nai_intervals active = {0};
  struct nai_repetition repetition = {0};
  int rc = nai_spans_find(&g.spans, &g.count, gpu, err);
  g.contents = rc ? NULL : calloc((size_t)g.count + 1, sizeof *g.contents);
  if (!rc && !g.contents)
    rc = nai_err_nomem(err);
  if (rc)
    goto out;
  fill_contents(&g);
  name_kinds(&g);
  for (uint32_t i = 0; !rc && i < g.count; i++)
    rc = put_span(tables[0], &g, i, err);
  struct sums sums = sum_up(&g, &active);
  if (!rc)
    rc = active.oom ? nai_err_nomem(err) : nai_repetition_of(&repetition, m, gpu, shapes, &active, err);
  if (!rc)
    put_gpu(tables[1], &g, &sums, &repetition);
out:
  nai_intervals_free(&active);
  free(g.contents);
  free(g.spans);
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nai_shapes shapes;
  int rc = nai_shapes_new(&shapes, m, err);
  for (uint32_t i = 0; !rc && i < m->gpu_count; i++)
    if (m->gpus[i].op_count)
      rc = add_gpu(io->out, m, &m->gpus[i], &shapes, err);
  nai_shapes_free(&shapes);
  return rc;
}

static const struct nai_schema *const schemas[] = {&nai_active_spans_schema, &nai_gpu_active_schema, NULL};
const struct nai_node nai_analysis_active_spans = {
    .name = "active_spans",
    .outputs = schemas,
    .parts = NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(IDLE),
    .tables = NAI_IN(GPUS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(THREADS) |
              NAI_IN(OVERHEAD) | NAI_IN(OSRT) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(LABELS),
    .run = run};
