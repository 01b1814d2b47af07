#include "gen/steps.h"

#include "gen/plan_internal.h"
#include "gen/truth/truth_json.h"

#include <string.h>

void nai_gen_step(struct nai_gen_plan *plan, const struct nai_gen_step *step) {
  struct nai_gen_step_mark *mark = nai_gen_plan_push(plan, &plan->steps);
  if (mark) {
    *mark = (struct nai_gen_step_mark){.step = *step, .first_op = plan->ops.count};
  }
}

void nai_gen_steps_end(struct nai_gen_plan *plan, int process) {
  nai_gen_step(plan, &(struct nai_gen_step){.process = process});
}

void nai_gen_unit(struct nai_gen_plan *plan, int process, int kernels, int count, const char *level) {
  struct nai_gen_unit *unit = nai_gen_plan_push(plan, &plan->units);
  if (unit) {
    *unit = (struct nai_gen_unit){process, kernels, count, level};
  }
}

/* The next mark of the same process; the number of marks when there is none. */
static size_t next_mark(const struct nai_gen_plan *plan, size_t mark) {
  const struct nai_gen_step_mark *marks = plan->steps.items;
  size_t next = mark + 1;
  while (next < plan->steps.count && marks[next].step.process != marks[mark].step.process) {
    next++;
  }
  return next;
}

/* The process's work on its GPU from the mark up to the next one. A process of a scenario with steps has one GPU. */
static void see_work(const struct nai_gen_plan *plan, size_t mark) {
  struct nai_gen_step_mark *m = (struct nai_gen_step_mark *)plan->steps.items + mark;
  const struct nai_gen_step_mark *marks = plan->steps.items;
  const struct nai_gen_op *ops = plan->ops.items;
  size_t next = next_mark(plan, mark);
  size_t end = next < plan->steps.count ? marks[next].first_op : plan->ops.count;
  m->start = INT64_MAX;
  for (size_t i = m->first_op; i < end; i++) {
    const struct nai_gen_context *context = &plan->contexts[plan->streams[ops[i].stream].context];
    if (context->process != m->step.process) {
      continue;
    }
    m->gpu = context->gpu;
    m->start = ops[i].start < m->start ? ops[i].start : m->start;
    m->end = ops[i].end > m->end ? ops[i].end : m->end;
    m->kernels += ops[i].kind == OP_KERNEL;
  }
  m->work_end = m->end;
}

void nai_gen_window_steps(struct nai_gen_plan *plan) {
  struct nai_gen_step_mark *marks = plan->steps.items;
  for (size_t i = 0; i < plan->steps.count; i++) {
    see_work(plan, i);
  }
  for (size_t i = 0; i < plan->steps.count; i++) {
    size_t next = next_mark(plan, i);
    if (next < plan->steps.count && marks[next].step.state) {
      marks[i].end = marks[next].start;
    }
  }
}

void nai_gen_book_step_time(struct nai_gen_plan *plan, const struct nai_gen_gpu *gpu, int class, int64_t start,
                            int64_t end) {
  struct nai_gen_step_mark *marks = plan->steps.items;
  for (size_t i = 0; i < plan->steps.count; i++) {
    int64_t from = start > marks[i].start ? start : marks[i].start;
    int64_t to = end < marks[i].end ? end : marks[i].end;
    if (marks[i].step.state && &plan->gpus[marks[i].gpu] == gpu && from < to) {
      marks[i].ns[class] += to - from;
    }
  }
}

static json_t *step_json(const struct nai_gen_plan *plan, const struct nai_gen_step_mark *m, int number) {
  static const char *const parts[] = {"compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns"};
  json_t *object = json_object();
  nai_gen_json_int(object, "pid", plan->processes[m->step.process].pid);
  nai_gen_json_int(object, "gpu", m->gpu);
  nai_gen_json_int(object, "step", number);
  nai_gen_json_string(object, "state", m->step.state);
  nai_gen_json_int(object, "start_ns", m->start);
  nai_gen_json_int(object, "end_ns", m->end);
  nai_gen_json_int(object, "kernel_count", m->kernels);
  for (int i = 0; i <= NAI_GEN_CLASS_COUNT; i++) {
    nai_gen_json_int(object, parts[i], m->ns[i]);
  }
  if (m->step.excess_ns) {
    nai_gen_json_int(object, "excess_ns", m->step.excess_ns);
    nai_gen_json_string(object, "cause", m->step.cause);
    nai_gen_json_string(object, "detail", m->step.detail);
  }
  return object;
}

static json_t *serving_json(const struct nai_gen_plan *plan, const struct nai_gen_step_mark *m, int number) {
  json_t *object = json_object();
  nai_gen_json_int(object, "pid", plan->processes[m->step.process].pid);
  nai_gen_json_int(object, "step", number);
  nai_gen_json_string(object, "kind", m->step.kind);
  nai_gen_json_int(object, "context_requests", m->step.context_requests);
  nai_gen_json_int(object, "context_tokens", m->step.context_tokens);
  nai_gen_json_int(object, "generation_requests", m->step.generation_requests);
  nai_gen_json_int(object, "generation_tokens", m->step.generation_tokens);
  nai_gen_json_int(object, "start_ns", m->work_end ? m->start : 0);
  nai_gen_json_int(object, "end_ns", m->work_end);
  nai_gen_json_int(object, "kernel_count", m->kernels);
  return object;
}

/* Steps of serving, by their own work: no window, no parts. */
static void set_serving(json_t *truth, const struct nai_gen_plan *plan) {
  const struct nai_gen_step_mark *marks = plan->steps.items;
  int numbers[MAX_PROCESSES] = {0};
  json_t *steps = json_array();
  for (size_t i = 0; i < plan->steps.count; i++) {
    if (marks[i].step.kind) {
      json_array_append_new(steps, serving_json(plan, &marks[i], numbers[marks[i].step.process]++));
    }
  }
  if (json_array_size(steps)) {
    json_object_set(truth, "serving_steps", steps);
  }
  json_decref(steps);
}

void nai_gen_set_steps(json_t *truth, const struct nai_gen_plan *plan) {
  const struct nai_gen_step_mark *marks = plan->steps.items;
  const struct nai_gen_unit *units = plan->units.items;
  json_t *steps = json_array(), *repeated = json_array();
  int numbers[MAX_PROCESSES] = {0};
  for (size_t i = 0; i < plan->steps.count; i++) {
    if (marks[i].step.state && !marks[i].step.kind) {
      json_array_append_new(steps, step_json(plan, &marks[i], numbers[marks[i].step.process]++));
    }
  }
  for (size_t i = 0; i < plan->units.count; i++) {
    json_t *object = nai_gen_json_object_in(repeated);
    nai_gen_json_int(object, "pid", plan->processes[units[i].process].pid);
    nai_gen_json_int(object, "kernel_count", units[i].kernels);
    nai_gen_json_int(object, "repetitions", units[i].count);
    nai_gen_json_string(object, "level", units[i].level);
  }
  set_serving(truth, plan);
  if (json_array_size(steps) || plan->units.count > 0) {
    json_object_set(truth, "steps", steps);
    json_object_set(truth, "repeating_units", repeated);
  }
  json_decref(steps);
  json_decref(repeated);
}
