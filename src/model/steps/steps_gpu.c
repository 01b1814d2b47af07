/* The steps of a process on its GPUs: windows, what the GPU did in them, and sums over their work. */
#include "model/steps/steps_build.h"

#include "model/idle/active.h"
#include "model/idle/evidence.h"

uint32_t nai_step_at(const struct nai_process_steps *steps, int64_t t, uint32_t *near) {
  if (*near < steps->count && steps->v[*near].start <= t && t < steps->v[*near].end)
    return *near;
  size_t after = nai_bisect(steps->v, steps->count, sizeof *steps->v, offsetof(struct nai_step, start), t + 1);
  if (!after || t >= steps->v[after - 1].end)
    return UINT32_MAX;
  return *near = (uint32_t)after - 1;
}

uint32_t nai_step_of(const struct nai_model *m, const struct nai_process_steps *steps, uint32_t api, int64_t start,
                     uint32_t *near) {
  if (api != NAI_NO_ROW)
    return nai_step_at(steps, nai_val(&m->apis.start_ns, api), near);
  return m->apis.n ? UINT32_MAX : nai_step_at(steps, start, near);
}

/* --- windows ---------------------------------------------------------------------------------- */

/* Sums of one process on one GPU. */
struct tally {
  const struct nai_model *m;
  const struct nai_process_steps *steps;
  struct nai_gpu_step *v; /* per step of the process */
  uint8_t *called;        /* per API call: it has been counted */
  uint8_t *used;          /* per kernel name: the process has run it */
  uint32_t near;          /* step of the operation before */
};

static void add_copy(struct nai_gpu_step *s, const struct nai_model *m, uint32_t row) {
  enum { HTOD = 1, DTOH = 2 };
  int64_t bytes = nai_at(&m->memops.bytes, row);
  int32_t kind = nai_at_i32(&m->memops.copy_kind, row);
  bytes = bytes == NAI_NULL_I64 ? 0 : bytes;
  *(kind == HTOD ? &s->htod_bytes : kind == DTOH ? &s->dtoh_bytes : &s->other_bytes) += bytes;
}

static void add_op(struct tally *t, const struct nai_op *op) {
  const struct nai_model *m = t->m;
  uint8_t *used = op->type == NAI_OP_KERNEL ? &t->used[nai_val_text(&m->kernels.name, op->row)] : NULL;
  bool first = used && !*used;
  if (used)
    *used = 1;
  uint32_t api = nai_model_op_api(m, op);
  int64_t start = op->start, end = op->end;
  uint32_t step = nai_step_of(m, t->steps, api, start, &t->near);
  if (step == UINT32_MAX)
    return;
  struct nai_gpu_step *s = &t->v[step];
  s->start = !s->ops || start < s->start ? start : s->start;
  s->end = !s->ops || end > s->end ? end : s->end;
  s->ops++;
  s->first_use += first;
  s->kernels += op->type == NAI_OP_KERNEL;
  s->kernel_ns += op->type == NAI_OP_KERNEL ? end - start : 0;
  s->graph_launches += op->type == NAI_OP_GRAPH;
  if (op->type == NAI_OP_COPY)
    add_copy(s, m, op->row);
  if (api == NAI_NO_ROW)
    return;
  s->launch_calls += !t->called[api];
  s->launch_api_ns += t->called[api] ? 0 : nai_call_ns(m, api);
  t->called[api] = 1;
}

/* Leaves out steps without work here, and lets each window last until the next one begins. Where work of a later step
 * overtook that of an earlier one, the earlier begins no later. */
static uint32_t make_windows(struct nai_gpu_step *v, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (v[i].ops) {
      v[kept] = v[i];
      v[kept++].step = i;
    }
  for (uint32_t i = kept; i-- > 1;) {
    v[i - 1].start = v[i].start < v[i - 1].start ? v[i].start : v[i - 1].start;
    v[i - 1].end = v[i].start;
  }
  return kept;
}

/* --- partition -------------------------------------------------------------------------------- */

/* Idle time right before `to`. */
static int64_t idle_before(const struct nai_intervals *busy, int64_t from, int64_t to) {
  size_t i = nai_intervals_after(busy, to - 1);
  int64_t since = i ? busy->v[i - 1].end : from;
  if (i < busy->count && busy->v[i].start < to)
    return 0;
  return to - (since > from ? since : from);
}

static void divide(struct nai_gpu_step *s, const struct nai_gpu *gpu, bool last) {
  int64_t busy = nai_intervals_overlap_ns(&gpu->all, s->start, s->end);
  s->exposed_comm_ns = nai_intervals_overlap_ns(&gpu->exposed_communication, s->start, s->end);
  s->exposed_copy_ns = nai_intervals_overlap_ns(&gpu->exposed_copy, s->start, s->end);
  s->compute_ns = busy - s->exposed_comm_ns - s->exposed_copy_ns;
  s->idle_ns = s->end - s->start - busy;
  s->end_idle_ns = last || s->end == s->start ? 0 : idle_before(&gpu->all, s->start, s->end);
}

static void find_paused(const struct nai_step_list *list, const struct nai_gpu_active *active) {
  uint32_t step = 0;
  for (uint32_t i = 0; i < active->count; i++)
    for (int64_t end = active->spans[i].at.pause ? active->spans[i].at.end : INT64_MIN;
         step < list->count && list->v[step].start < end; step++)
      list->v[step].paused = list->v[step].end >= end;
}

static int add_list(struct nai_step_search *s, uint32_t gpu, uint8_t *used, struct nai_err *err) {
  const struct nai_model *m = s->m;
  const struct nai_gpu *on = &m->gpus[gpu];
  struct tally t = {.m = m, .steps = s->out, .called = s->called, .used = used};
  struct nai_step_list *list = &s->found->lists[s->found->list_count];
  NAI_TRY(NAI_NEW(t.v, &s->m->arena, s->out->count, err));
  for (uint32_t i = 0; i < on->op_count; i++)
    if (on->streams[on->ops[i].stream].process == (int32_t)s->process)
      add_op(&t, &on->ops[i]);
  *list = (struct nai_step_list){s->process, gpu, t.v, make_windows(t.v, s->out->count)};
  s->found->list_count++;
  for (uint32_t i = 0; i < list->count; i++)
    divide(&t.v[i], on, i + 1 == list->count);
  find_paused(list, &m->active[gpu]);
  return NAI_OK;
}

/* --- the host --------------------------------------------------------------------------------- */

/* The first of the thread's calls from *i on that loads modules; false when there is none. */
static bool next_module_call(uint32_t *i, const struct nai_model *m, uint32_t thread) {
  const struct nai_groups *calls = &m->api_by_thread;
  for (; *i < calls->first[thread + 1]; ++*i)
    if (m->api_class[nai_val_text(&m->apis.name, calls->order[*i])] == NAI_API_MODULE)
      return true;
  return false;
}

/* Time in which the thread loads or compiles GPU code, by calls and by records of the driver, which lie in each other:
 * each moment once, and to the step in which it begins. */
static void add_loading(struct nai_process_steps *steps, const struct nai_model *m, uint32_t thread) {
  const struct nai_layer_list *records = &m->evidence->loading[thread];
  int64_t until = INT64_MIN;
  uint32_t near = 0, call = m->api_by_thread.first[thread], record = 0;
  for (;;) {
    bool called = next_module_call(&call, m, thread), recorded = record < records->count;
    if (!called && !recorded)
      return;
    uint32_t api = called ? m->api_by_thread.order[call] : 0;
    bool take_call = called && (!recorded || nai_val(&m->apis.start_ns, api) <= records->v[record].start);
    int64_t start = take_call ? nai_val(&m->apis.start_ns, api) : records->v[record].start;
    int64_t end = take_call ? nai_val(&m->apis.end_ns, api) : records->v[record].until;
    call += take_call;
    record += !take_call;
    start = start > until ? start : until;
    uint32_t step = end > start ? nai_step_at(steps, start, &near) : UINT32_MAX;
    if (step != UINT32_MAX)
      steps->v[step].loading_ns += end - start;
    until = end > until ? end : until;
  }
}

/* The thread's calls and waits, step by step. */
static void add_thread(struct nai_process_steps *steps, const struct nai_model *m, uint32_t thread) {
  const struct nai_groups *calls = &m->api_by_thread;
  uint32_t near = 0;
  for (uint32_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
    uint32_t api = calls->order[i];
    enum nai_api_class class = m->api_class[nai_val_text(&m->apis.name, api)];
    uint32_t step =
        class == NAI_API_ALLOCATION ? nai_step_at(steps, nai_val(&m->apis.start_ns, api), &near) : UINT32_MAX;
    if (step == UINT32_MAX)
      continue;
    steps->v[step].allocation_calls++;
    steps->v[step].allocation_ns += nai_call_ns(m, api);
  }
  for (uint32_t i = 0; i < steps->count; i++)
    steps->v[i].blocked_ns += nai_intervals_overlap_ns(&m->blocked[thread], steps->v[i].start, steps->v[i].end);
  add_loading(steps, m, thread);
}

int nai_steps_on_gpus(struct nai_step_search *s, struct nai_err *err) {
  const struct nai_groups *gpus = &s->m->process_gpus;
  uint32_t first = gpus->first[s->process], end = gpus->first[s->process + 1];
  uint8_t *used;
  NAI_TRY(NAI_NEW(used, s->arena, s->m->tables[NAI_IN_KERNELS]->strings.count, err));
  NAI_TRY(NAI_NEW(s->found->lists, &s->m->work->arenas[NAI_PART_STEPS], end - first, err));
  for (uint32_t i = first; i < end; i++)
    NAI_TRY(add_list(s, gpus->order[i], used, err));
  for (uint32_t t = 0; t < s->thread_count; t++)
    add_thread(s->out, s->m, s->threads[t]);
  return NAI_OK;
}
