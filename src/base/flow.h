/* A graph of tasks: each runs when the ones it waits for have, on as many threads as there are. */
#pragma once

#include "base/arena.h"
#include "base/threads.h"

struct nai_flow_task {
  nai_task_fn *run;
  void *ctx;
  int arg;
  uint32_t waits;    /* for so many tasks */
  uint32_t releases; /* first of its edges, NAI_FLOW_END for none */
};

struct nai_flow_edge {
  uint32_t to, next;
};

#define NAI_FLOW_END UINT32_MAX

/* Zeroed to begin with. Sticky on out-of-memory: nai_flow_run reports it. */
struct nai_flow {
  struct nai_arena arena;
  struct nai_flow_task *tasks;
  struct nai_flow_edge *edges;
  uint32_t task_count, task_capacity, edge_count, edge_capacity;
  bool oom;
};

/* Adds run(ctx, arg) and returns its number. Of the tasks that may start, the one with the lowest number does. */
uint32_t nai_flow_add(struct nai_flow *flow, nai_task_fn *run, void *ctx, int arg);
/* `task` waits for `earlier`, which was added before it. */
void nai_flow_after(struct nai_flow *flow, uint32_t task, uint32_t earlier);
/* Runs all tasks on at most `threads` threads (the caller's included) and waits. The error is that of the lowest task
 * that failed, for any number of threads; tasks with higher numbers may then not have run. */
NAI_MUST_CHECK int nai_flow_run(struct nai_flow *flow, int threads, struct nai_err *err);
void nai_flow_free(struct nai_flow *flow);
