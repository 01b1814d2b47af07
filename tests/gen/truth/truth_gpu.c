/* Reference totals of GPU time by a sweep over all starts and ends.
 *
 * Deliberately the plainest method there is (counters per class between neighbouring boundaries),
 * and not interval algebra, so that it can disagree with the analyser.
 */
#include "gen/plan_internal.h"

#include <stdlib.h>

enum counter { COUNT_COMPUTE, COUNT_COMM, COUNT_COPY, COUNT_KERNEL, COUNTERS };

struct boundary {
  int64_t time;
  enum counter counter;
  int delta;
};

struct sweep {
  struct nai_gen_plan *plan;
  struct nai_gen_gpu *gpu;
  const struct nai_gen_op **ops; /* of this GPU, by start */
  size_t op_count;
  struct boundary *boundaries;
  size_t boundary_count;
  size_t next_op; /* first operation that starts at or after the sweep */
};

static int compare_boundaries(const void *left, const void *right) {
  const struct boundary *a = left;
  const struct boundary *b = right;
  return (a->time > b->time) - (a->time < b->time);
}

static int op_rank(const struct nai_gen_op *op) { return op->kind == OP_GRAPH ? (int)OP_KERNEL : (int)op->kind; }

static int compare_ops(const void *left, const void *right) {
  const struct nai_gen_op *a = *(const struct nai_gen_op *const *)left;
  const struct nai_gen_op *b = *(const struct nai_gen_op *const *)right;
  if (a->start != b->start) {
    return a->start < b->start ? -1 : 1;
  }
  if (op_rank(a) != op_rank(b)) {
    return op_rank(a) - op_rank(b);
  }
  if (a->stream != b->stream) {
    return a->stream - b->stream; /* stream ids grow with their handles */
  }
  return (a > b) - (a < b);
}

static enum counter class_of(const struct nai_gen_plan *plan, const struct nai_gen_op *op) {
  if (op->kind == OP_COPY || op->kind == OP_SET) {
    return COUNT_COPY;
  }
  if (op->kind == OP_KERNEL && nai_gen_kernel_at(plan, op->kernel)->class == NAI_GEN_COMM) {
    return COUNT_COMM;
  }
  return COUNT_COMPUTE;
}

static void add_boundaries(struct sweep *sweep, const struct nai_gen_op *op, enum counter counter) {
  sweep->boundaries[sweep->boundary_count++] = (struct boundary){op->start, counter, 1};
  sweep->boundaries[sweep->boundary_count++] = (struct boundary){op->end, counter, -1};
}

static int collect(struct sweep *sweep) {
  const struct nai_gen_op *ops = sweep->plan->ops.items;
  size_t total = sweep->plan->ops.count;
  sweep->ops = calloc(total ? total : 1, sizeof *sweep->ops);
  sweep->boundaries = calloc(total ? total : 1, 4 * sizeof *sweep->boundaries);
  if (!sweep->ops || !sweep->boundaries) {
    return nai_gen_fail(NAI_GEN_ENOMEM, sweep->plan->err, "out of memory");
  }
  for (size_t i = 0; i < total; i++) {
    if (nai_gen_stream_gpu(sweep->plan, ops[i].stream) != sweep->gpu) {
      continue;
    }
    sweep->ops[sweep->op_count++] = &ops[i];
    add_boundaries(sweep, &ops[i], class_of(sweep->plan, &ops[i]));
    if (ops[i].kind == OP_KERNEL) {
      add_boundaries(sweep, &ops[i], COUNT_KERNEL);
    }
  }
  qsort(sweep->ops, sweep->op_count, sizeof *sweep->ops, compare_ops);
  qsort(sweep->boundaries, sweep->boundary_count, sizeof *sweep->boundaries, compare_boundaries);
  return 0;
}

static void book_gap(struct sweep *sweep, int64_t start, int64_t end) {
  nai_gen_stat_add(&sweep->gpu->gaps, end - start);
  while (sweep->next_op < sweep->op_count && sweep->ops[sweep->next_op]->start < end) {
    sweep->next_op++;
  }
  if (!sweep->plan->streaming && sweep->next_op < sweep->op_count) {
    nai_gen_sweep_gap(sweep->plan, sweep->gpu, sweep->ops[sweep->next_op]->call, start, end);
  }
}

static void book_interval(struct sweep *sweep, const int *active, int64_t start, int64_t end) {
  struct nai_gen_gpu *gpu = sweep->gpu;
  int64_t length = end - start;
  if (active[COUNT_COMM] > 0) {
    gpu->comm_ns += length;
    gpu->comm_hidden_ns += active[COUNT_COMPUTE] > 0 ? length : 0;
  }
  gpu->kernel_busy_ns += active[COUNT_KERNEL] > 0 ? length : 0;
  int class = active[COUNT_COMPUTE] > 0 ? (int)NAI_GEN_COMPUTE
            : active[COUNT_COMM] > 0    ? (int)NAI_GEN_COMM
            : active[COUNT_COPY] > 0    ? (int)NAI_GEN_COPY
                                        : (int)NAI_GEN_CLASS_COUNT;
  nai_gen_book_step_time(sweep->plan, gpu, class, start, end);
  if (class < NAI_GEN_CLASS_COUNT) {
    gpu->class_ns[class] += length;
  } else {
    book_gap(sweep, start, end);
  }
}

static void run_sweep(struct sweep *sweep) {
  struct nai_gen_gpu *gpu = sweep->gpu;
  int active[COUNTERS] = {0};
  if (!gpu->used && sweep->boundary_count > 0) {
    gpu->used = true;
    gpu->start = gpu->end = sweep->boundaries[0].time;
    gpu->kernel_start = INT64_MAX;
  }
  for (size_t i = 0; i < sweep->boundary_count; i++) {
    const struct boundary *boundary = &sweep->boundaries[i];
    if (boundary->time > gpu->end) {
      book_interval(sweep, active, gpu->end, boundary->time);
      gpu->end = boundary->time;
    }
    active[boundary->counter] += boundary->delta;
    if (boundary->counter == COUNT_KERNEL) {
      gpu->kernel_start = boundary->time < gpu->kernel_start ? boundary->time : gpu->kernel_start;
      gpu->kernel_end = boundary->time;
    }
  }
}

static void keep_durations(struct sweep *sweep) {
  for (size_t i = 0; i < sweep->op_count && !sweep->plan->streaming; i++) {
    const struct nai_gen_op *op = sweep->ops[i];
    int64_t *duration = op->kind == OP_KERNEL ? nai_gen_plan_push(sweep->plan, &sweep->gpu->durations) : NULL;
    if (duration) {
      *duration = op->end - op->start;
    }
  }
}

/* Pairs a join on correlationId alone would invent across processes. */
static void count_foreign_pairs(struct nai_gen_plan *plan) {
  const int64_t too_many = 400000000;
  const struct nai_gen_op *ops = plan->ops.items;
  const struct nai_gen_call *calls = plan->calls.items;
  if (plan->process_count < 2) {
    return;
  }
  if (plan->streaming || (int64_t)(plan->ops.count * plan->calls.count) > too_many) {
    plan->foreign_pairs = -1;
    return;
  }
  for (size_t i = 0; i < plan->ops.count; i++) {
    int process = plan->contexts[plan->streams[ops[i].stream].context].process;
    for (size_t j = 0; ops[i].kind == OP_KERNEL && j < plan->calls.count; j++) {
      plan->foreign_pairs +=
          calls[j].correlation == ops[i].correlation && plan->threads[calls[j].thread].process != process;
    }
  }
}

void nai_gen_total_gpus(struct nai_gen_plan *plan) {
  nai_gen_window_steps(plan);
  for (int i = 0; i < plan->gpu_count && !nai_gen_failed(plan); i++) {
    struct sweep sweep = {.plan = plan, .gpu = &plan->gpus[i]};
    if (collect(&sweep) == 0) {
      run_sweep(&sweep);
      keep_durations(&sweep);
    }
    free(sweep.ops);
    free(sweep.boundaries);
  }
  count_foreign_pairs(plan);
}
