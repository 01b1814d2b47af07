#include "base/flow.h"

#include <pthread.h>

uint32_t nai_flow_add(struct nai_flow *flow, nai_task_fn *run, void *ctx, int arg) {
  flow->oom |= NAI_ROOM(flow->tasks, flow->task_capacity, flow->task_count, &flow->arena, NULL) != NAI_OK;
  if (flow->oom)
    return 0;
  flow->tasks[flow->task_count] = (struct nai_flow_task){run, ctx, arg, 0, NAI_FLOW_END};
  return flow->task_count++;
}

void nai_flow_after(struct nai_flow *flow, uint32_t task, uint32_t earlier) {
  flow->oom |= NAI_ROOM(flow->edges, flow->edge_capacity, flow->edge_count, &flow->arena, NULL) != NAI_OK;
  if (flow->oom)
    return;
  flow->edges[flow->edge_count] = (struct nai_flow_edge){task, flow->tasks[earlier].releases};
  flow->tasks[earlier].releases = flow->edge_count++;
  flow->tasks[task].waits++;
}

void nai_flow_free(struct nai_flow *flow) {
  nai_arena_free(&flow->arena);
  *flow = (struct nai_flow){0};
}

/* --- running ---------------------------------------------------------------------------------- */

struct runner {
  struct nai_flow *flow;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint32_t *ready; /* a heap of task numbers, the lowest first */
  uint32_t ready_count, running;
  uint32_t failed; /* the lowest task that failed, task_count while none has */
  struct nai_err err;
};

static void push_ready(struct runner *r, uint32_t task) {
  uint32_t at = r->ready_count++;
  for (; at && r->ready[(at - 1) / 2] > task; at = (at - 1) / 2)
    r->ready[at] = r->ready[(at - 1) / 2];
  r->ready[at] = task;
}

static uint32_t pop_ready(struct runner *r) {
  uint32_t lowest = r->ready[0], last = r->ready[--r->ready_count], at = 0;
  for (uint32_t child; (child = at * 2 + 1) < r->ready_count; at = child) {
    child += child + 1 < r->ready_count && r->ready[child + 1] < r->ready[child];
    if (r->ready[child] >= last)
      break;
    r->ready[at] = r->ready[child];
  }
  r->ready[at] = last;
  return lowest;
}

/* Called with the lock held. */
static void finish(struct runner *r, uint32_t task, int rc, const struct nai_err *err) {
  struct nai_flow *flow = r->flow;
  if (rc && task < r->failed) {
    r->failed = task;
    r->err = *err;
  }
  for (uint32_t e = rc ? (uint32_t)NAI_FLOW_END : flow->tasks[task].releases; e != NAI_FLOW_END;
       e = flow->edges[e].next)
    if (--flow->tasks[flow->edges[e].to].waits == 0)
      push_ready(r, flow->edges[e].to);
  r->running--;
  pthread_cond_broadcast(&r->changed);
}

static void *work(void *arg) {
  struct runner *r = arg;
  struct nai_err err = {0};
  pthread_mutex_lock(&r->lock);
  for (;;) {
    while (!r->ready_count && r->running)
      pthread_cond_wait(&r->changed, &r->lock);
    if (!r->ready_count)
      break;
    uint32_t task = pop_ready(r);
    if (task > r->failed) /* those below it still run: their error would come first */
      continue;
    const struct nai_flow_task *t = &r->flow->tasks[task];
    r->running++;
    pthread_mutex_unlock(&r->lock);
    int rc = t->run(t->ctx, t->arg, &err);
    pthread_mutex_lock(&r->lock);
    finish(r, task, rc, &err);
  }
  pthread_mutex_unlock(&r->lock);
  return NULL;
}

int nai_flow_run(struct nai_flow *flow, int threads, struct nai_err *err) {
  NAI_FREED uint32_t *ready = flow->oom ? NULL : malloc(((size_t)flow->task_count + 1) * sizeof *ready);
  struct runner r = {.flow = flow, .failed = flow->task_count, .ready = ready};
  NAI_TRY(nai_memory_check(ready, err));
  pthread_mutex_init(&r.lock, NULL);
  pthread_cond_init(&r.changed, NULL);
  for (uint32_t i = 0; i < flow->task_count; i++)
    if (!flow->tasks[i].waits)
      push_ready(&r, i);
  pthread_t others[NAI_MAX_THREADS];
  int started = 0, wanted = threads < NAI_MAX_THREADS ? threads : NAI_MAX_THREADS;
  while (started < wanted - 1 && started + 1 < (int)flow->task_count &&
         pthread_create(&others[started], NULL, work, &r) == 0)
    started++;
  work(&r);
  for (int i = 0; i < started; i++)
    pthread_join(others[i], NULL);
  pthread_mutex_destroy(&r.lock);
  pthread_cond_destroy(&r.changed);
  if (r.failed == flow->task_count)
    return NAI_OK;
  if (err)
    *err = r.err;
  return r.err.code;
}
