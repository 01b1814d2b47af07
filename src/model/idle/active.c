/* What each GPU's window consists of: part ACTIVE. */
#include "model/idle/active.h"
#include "model/build.h"
#include "model/idle/idle.h"
#include "table/stats.h"

#include <stdlib.h>

enum { MIN_KERNEL_PCT = 5 };

bool nai_gpu_is_active(const struct nai_gpu_active *active, uint32_t *at, int64_t time) {
  uint32_t i = *at;
  while (i < active->count && active->spans[i].at.end <= time)
    i++;
  if (i == active->count)
    return true;
  *at = i;
  return active->spans[i].kind == NAI_SPAN_IS_ACTIVE;
}

bool nai_idle_gap_active(uint32_t *at, const struct nai_model *m, uint32_t gpu, uint32_t number) {
  return !m->active || nai_gpu_is_active(&m->active[gpu], at, nai_idle_span(&m->gpus[gpu], number).start);
}

/* Operations by the span in which they start; those of zero length at the very end of the window are the last one's. */
static void fill_spans(struct nai_gpu_active *a, const struct nai_model *m, const struct nai_gpu *gpu) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    int64_t start = nai_model_op_start(m, op);
    while (at + 1 < a->count && start >= a->spans[at].at.end)
      at++;
    a->spans[at].ops++;
    if (op->type != NAI_OP_KERNEL && op->type != NAI_OP_GRAPH)
      continue;
    a->spans[at].kernels++;
    a->spans[at].kernel_ns += nai_model_op_end(m, op) - start;
  }
}

static void find_kinds(struct nai_gpu_active *a) {
  int64_t total = 0;
  bool any = false;
  for (uint32_t i = 0; i < a->count; i++) {
    total += a->spans[i].kernel_ns;
    any = any || a->spans[i].kernels;
  }
  for (uint32_t i = 0, kernels = 0; i < a->count; i++) {
    struct nai_gpu_span *s = &a->spans[i];
    kernels += s->kernels > 0;
    s->kind = s->at.pause                                                               ? NAI_SPAN_IS_PAUSE
            : !any || a->count == 1                                                     ? NAI_SPAN_IS_ACTIVE
            : !kernels                                                                  ? NAI_SPAN_IS_SET_UP
            : nai_percent((double)s->kernel_ns, (double)total) < (double)MIN_KERNEL_PCT ? NAI_SPAN_IS_CHECK
                                                                                        : NAI_SPAN_IS_ACTIVE;
    if (s->kind == NAI_SPAN_IS_ACTIVE)
      nai_intervals_add(&a->active, s->at.start, s->at.end);
  }
}

static int begin(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  m->active = calloc((size_t)m->gpu_count + 1, sizeof *m->active);
  return m->active ? NAI_OK : nai_err_nomem(err);
}

static int count_tasks(const struct nai_model *m) { return (int)m->gpu_count; }

static int divide_window(void *ctx, int task, struct nai_err *err) {
  struct nai_model *m = ctx;
  const struct nai_gpu *gpu = &m->gpus[task];
  struct nai_gpu_active *a = &m->active[task];
  struct nai_span *found = NULL;
  if (!gpu->op_count)
    return NAI_OK;
  int rc = nai_spans_find(&found, &a->count, gpu, err);
  a->spans = rc ? NULL : calloc((size_t)a->count + 1, sizeof *a->spans);
  if (!rc && !a->spans)
    rc = nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < a->count; i++)
    a->spans[i].at = found[i];
  free(found);
  if (rc)
    return rc;
  fill_spans(a, m, gpu);
  find_kinds(a);
  return a->active.oom ? nai_err_nomem(err) : NAI_OK;
}

static void free_active(struct nai_model *m) {
  for (uint32_t g = 0; m->active && g < m->gpu_count; g++) {
    free(m->active[g].spans);
    nai_intervals_free(&m->active[g].active);
  }
  free(m->active);
  m->active = NULL;
}

const struct nai_part_def nai_part_active = {.name = "active time",
                                             .needs = NAI_PART(GPUS),
                                             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS),
                                             .begin = begin,
                                             .tasks = count_tasks,
                                             .task = divide_window,
                                             .free = free_active};
