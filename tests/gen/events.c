/* Host clocks, API calls and GPU operations. */
#include "gen/plan_internal.h"

#include <string.h>

int64_t nai_gen_now(const struct nai_gen_plan *plan, int thread) { return plan->threads[thread].now; }

void nai_gen_work(struct nai_gen_plan *plan, int thread, int64_t duration_ns) {
  plan->threads[thread].now += duration_ns;
}

void nai_gen_wait_until(struct nai_gen_plan *plan, int thread, int64_t time_ns) {
  if (time_ns > plan->threads[thread].now) {
    plan->threads[thread].now = time_ns;
  }
}

int64_t nai_gen_ready(const struct nai_gen_plan *plan, int stream) { return plan->streams[stream].ready; }

void nai_gen_hold(struct nai_gen_plan *plan, int stream, int64_t until_ns) {
  if (until_ns > plan->streams[stream].ready) {
    plan->streams[stream].ready = until_ns;
  }
}

static struct nai_gen_call *call_at(struct nai_gen_plan *plan, int64_t call) {
  return (struct nai_gen_call *)plan->calls.items + call;
}

/* A call whose end is not known yet; finish_call books it. */
static int64_t begin_call(struct nai_gen_plan *plan, int thread, enum nai_gen_api api) {
  struct nai_gen_call *call = nai_gen_plan_push(plan, &plan->calls);
  if (!call) {
    return -1;
  }
  struct nai_gen_thread *host = &plan->threads[thread];
  struct nai_gen_process *process = &plan->processes[host->process];
  if (plan->api_strings[api] < 0) {
    const char *raw = nai_gen_api(api)->raw;
    plan->api_strings[api] = nai_gen_string(plan, raw, strlen(raw));
  }
  *call = (struct nai_gen_call){.start = host->now,
                                .thread = thread,
                                .api = api,
                                .correlation = ++process->correlation,
                                .callchain = host->callchain};
  /* Calls that nsys leaves out of the trace consume correlation ids, too. */
  process->correlation += nai_gen_rng_between(&plan->rng, 0, 2);
  return (int64_t)plan->calls.count - 1;
}

static void finish_call(struct nai_gen_plan *plan, int64_t index, int64_t end_ns) {
  struct nai_gen_call *call = call_at(plan, index);
  struct nai_gen_thread *host = &plan->threads[call->thread];
  enum nai_gen_api_class class = nai_gen_api(call->api)->class;
  int64_t duration = end_ns - call->start;
  call->end = end_ns;
  host->now = end_ns + nai_gen_rng_between(&plan->rng, 150, 600);
  nai_gen_plan_saw(plan, end_ns);
  nai_gen_stat_add(&plan->processes[host->process].calls[call->api], duration);
  if (class == API_CLASS_BLOCKING || class == API_CLASS_COPY) {
    host->blocked_ns += duration;
  }
}

void nai_gen_callchain(struct nai_gen_plan *plan, int thread, int64_t chain) {
  plan->threads[thread].callchain = chain;
}

int64_t nai_gen_call(struct nai_gen_plan *plan, int thread, enum nai_gen_api api, int64_t duration_ns) {
  int64_t call = begin_call(plan, thread, api);
  if (call >= 0) {
    finish_call(plan, call, call_at(plan, call)->start + duration_ns);
  }
  return call;
}

/* Earliest start of work queued by `call` on `stream`. */
static int64_t queue_start(struct nai_gen_plan *plan, int64_t call, int stream) {
  int64_t launched = call_at(plan, call)->start + nai_gen_rng_between(&plan->rng, 2200, 4800);
  int64_t queued = plan->streams[stream].ready + nai_gen_rng_between(&plan->rng, 600, 1200);
  return launched > queued ? launched : queued;
}

static struct nai_gen_op *add_op(struct nai_gen_plan *plan, enum nai_gen_op_kind kind, int64_t call, int stream,
                                 int64_t start, int64_t duration_ns) {
  struct nai_gen_op *op = nai_gen_plan_push(plan, &plan->ops);
  if (!op) {
    return NULL;
  }
  op->kind = kind;
  op->start = start;
  op->end = start + duration_ns;
  op->stream = stream;
  op->call = call;
  op->kernel = -1;
  if (call >= 0) {
    op->correlation = call_at(plan, call)->correlation;
  } else {
    struct nai_gen_stream *queue = &plan->streams[stream];
    op->correlation = ++plan->processes[plan->contexts[queue->context].process].correlation;
  }
  nai_gen_hold(plan, stream, op->end);
  nai_gen_plan_saw(plan, op->end);
  return op;
}

/* Launch calls are counted once, however many kernels they own. */
static void book_launch_call(struct nai_gen_plan *plan, int64_t call, int stream) {
  struct nai_gen_call *launching = call_at(plan, call);
  if (!launching->launches) {
    launching->launches = true;
    plan->launch_calls++;
    nai_gen_stream_gpu(plan, stream)->launch_calls++;
  }
}

int64_t nai_gen_add_kernel(struct nai_gen_plan *plan, int64_t call, int stream, int kernel, int64_t start,
                           int64_t duration_ns, int64_t graph_node) {
  struct nai_gen_op *op = add_op(plan, OP_KERNEL, call, stream, start, duration_ns);
  if (!op) {
    return start;
  }
  op->kernel = kernel;
  op->grid_id = ++plan->grid_id;
  op->graph_node = graph_node;
  op->graph_id = graph_node >> 32;
  struct nai_gen_gpu *gpu = nai_gen_stream_gpu(plan, stream);
  int process = plan->contexts[plan->streams[stream].context].process;
  nai_gen_stat_add(&nai_gen_kernel_at(plan, kernel)->stats[gpu - plan->gpus], duration_ns);
  nai_gen_stat_add(&gpu->kernels, duration_ns);
  nai_gen_stat_add(&plan->processes[process].kernels, duration_ns);
  if (call >= 0) {
    plan->kernels_joined++;
    book_launch_call(plan, call, stream);
  } else {
    plan->kernels_unjoined++;
  }
  return op->end;
}

static int64_t call_duration(struct nai_gen_plan *plan) { return nai_gen_rng_between(&plan->rng, 2800, 5200); }

/* start_ns: when the kernel starts, or WHEN_QUEUED. */
enum { WHEN_QUEUED = -1 };

static int64_t launch(struct nai_gen_plan *plan, int thread, int stream, int kernel, int64_t start_ns,
                      int64_t duration_ns) {
  if (nai_gen_failed(plan)) {
    return 0;
  }
  enum nai_gen_api api = nai_gen_kernel_at(plan, kernel)->launch_api;
  int64_t call = nai_gen_call(plan, thread, api, call_duration(plan));
  if (call < 0) {
    return 0;
  }
  nai_gen_attribute(plan, thread, duration_ns);
  if (start_ns == WHEN_QUEUED) {
    start_ns = queue_start(plan, call, stream);
  }
  return nai_gen_add_kernel(plan, call, stream, kernel, start_ns, duration_ns, 0);
}

int64_t nai_gen_launch(struct nai_gen_plan *plan, int thread, int stream, int kernel, int64_t duration_ns) {
  return launch(plan, thread, stream, kernel, WHEN_QUEUED, duration_ns);
}

int64_t nai_gen_launch_at(struct nai_gen_plan *plan, int thread, int stream, int kernel, int64_t start_ns,
                          int64_t duration_ns) {
  return launch(plan, thread, stream, kernel, start_ns, duration_ns);
}

int64_t nai_gen_orphan(struct nai_gen_plan *plan, int stream, int kernel, int64_t start_ns, int64_t duration_ns) {
  return nai_gen_add_kernel(plan, -1, stream, kernel, start_ns, duration_ns, 0);
}

static void book_transfer(struct nai_gen_plan *plan, const struct nai_gen_op *op) {
  int gpu = (int)(nai_gen_stream_gpu(plan, op->stream) - plan->gpus);
  struct nai_gen_transfer *transfer = NULL;
  struct nai_gen_transfer *known = plan->transfers.items;
  for (size_t i = 0; i < plan->transfers.count && !transfer; i++) {
    if (known[i].gpu == gpu && known[i].direction == op->direction && known[i].source == op->source &&
        known[i].target == op->target) {
      transfer = &known[i];
    }
  }
  if (!transfer) {
    transfer = nai_gen_plan_push(plan, &plan->transfers);
    if (!transfer) {
      return;
    }
    transfer->gpu = gpu;
    transfer->direction = op->direction;
    transfer->source = op->source;
    transfer->target = op->target;
  }
  nai_gen_stat_add(&transfer->stat, op->end - op->start);
  transfer->bytes += op->bytes;
}

int64_t nai_gen_add_copy(struct nai_gen_plan *plan, int64_t call, int thread, int stream, int64_t start,
                         const struct nai_gen_copy *copy) {
  struct nai_gen_op *op = add_op(plan, OP_COPY, call, stream, start, copy->duration_ns);
  if (!op) {
    return 0;
  }
  op->direction = copy->direction;
  op->source = copy->source;
  op->target = copy->target;
  op->bytes = copy->bytes;
  bool copied = op->direction != NAI_GEN_DECOMPRESSION; /* the bytes of that are compressed */
  plan->processes[plan->threads[thread].process].memcpy_bytes += copied ? op->bytes : 0;
  book_transfer(plan, op);
  return op->end;
}

int64_t nai_gen_copy(struct nai_gen_plan *plan, int thread, int stream, const struct nai_gen_copy *copy) {
  int64_t call = begin_call(plan, thread, copy->blocking ? API_MEMCPY : API_MEMCPY_ASYNC);
  if (call < 0) {
    return 0;
  }
  int64_t start = queue_start(plan, call, stream);
  int64_t end = nai_gen_add_copy(plan, call, thread, stream, start, copy);
  int64_t returned = call_at(plan, call)->start + call_duration(plan);
  if (copy->blocking) {
    returned = end + nai_gen_rng_between(&plan->rng, 1500, 3000);
  }
  finish_call(plan, call, returned);
  return end;
}

int64_t nai_gen_set(struct nai_gen_plan *plan, int thread, int stream, int64_t bytes, int64_t duration_ns) {
  int64_t call = nai_gen_call(plan, thread, API_MEMSET_ASYNC, call_duration(plan));
  if (call < 0) {
    return 0;
  }
  int64_t start = queue_start(plan, call, stream);
  struct nai_gen_op *op = add_op(plan, OP_SET, call, stream, start, duration_ns);
  if (!op) {
    return 0;
  }
  op->bytes = bytes;
  op->source = NAI_GEN_DEVICE;
  book_transfer(plan, op);
  return op->end;
}

static int64_t context_ready(const struct nai_gen_plan *plan, int context) {
  int64_t ready = 0;
  for (int i = 0; i < plan->stream_count; i++) {
    if (plan->streams[i].context == context && plan->streams[i].ready > ready) {
      ready = plan->streams[i].ready;
    }
  }
  return ready;
}

struct nai_gen_sync *nai_gen_add_sync(struct nai_gen_plan *plan, int thread, int stream, int64_t call) {
  struct nai_gen_sync *sync = nai_gen_plan_push(plan, &plan->syncs);
  if (sync) {
    const struct nai_gen_call *api = call_at(plan, call);
    /* The record lies inside its call. */
    *sync = (struct nai_gen_sync){.start = api->start + 300,
                                  .end = api->end - 200,
                                  .thread = thread,
                                  .stream = stream,
                                  .api = api->api,
                                  .correlation = api->correlation};
  }
  return sync;
}

void nai_gen_synchronize(struct nai_gen_plan *plan, int thread, int stream, enum nai_gen_api api, int64_t extra_ns) {
  int64_t now = plan->threads[thread].now;
  int64_t ready =
      api == API_DEVICE_SYNC ? context_ready(plan, plan->streams[stream].context) : plan->streams[stream].ready;
  int64_t waited = ready > now ? ready - now : 0;
  int64_t own = nai_gen_rng_between(&plan->rng, 1500, 4000);
  int64_t call = nai_gen_call(plan, thread, api, waited + extra_ns + own);
  if (call >= 0) {
    (void)nai_gen_add_sync(plan, thread, stream, call);
  }
}

void nai_gen_stream_wait(struct nai_gen_plan *plan, int thread, int stream, int other) {
  nai_gen_call(plan, thread, API_EVENT_RECORD, nai_gen_rng_between(&plan->rng, 700, 1500));
  int64_t call = nai_gen_call(plan, thread, API_STREAM_WAIT, nai_gen_rng_between(&plan->rng, 900, 1800));
  if (call >= 0) {
    (void)nai_gen_add_sync(plan, thread, stream, call);
    nai_gen_hold(plan, stream, plan->streams[other].ready);
  }
}

int64_t nai_gen_add_envelope(struct nai_gen_plan *plan, int64_t call, int stream, int graph_id, int64_t start,
                             int64_t duration_ns) {
  struct nai_gen_op *op = call < 0 ? NULL : add_op(plan, OP_GRAPH, call, stream, start, duration_ns);
  if (!op) {
    return 0;
  }
  op->graph_id = graph_id;
  return op->end;
}

int64_t nai_gen_graph(struct nai_gen_plan *plan, int thread, int stream, int graph_id, int64_t duration_ns) {
  int64_t call = nai_gen_call(plan, thread, API_GRAPH_LAUNCH, 3 * call_duration(plan));
  return call < 0 ? 0
                  : nai_gen_add_envelope(plan, call, stream, graph_id, queue_start(plan, call, stream), duration_ns);
}

static int64_t graph_node_id(int graph_id, int node) { return ((int64_t)graph_id << 32) | (node + 1); }

int64_t nai_gen_graph_nodes(struct nai_gen_plan *plan, int thread, int stream, int graph_id,
                            const struct nai_gen_node *nodes, int count) {
  int64_t call = nai_gen_call(plan, thread, API_GRAPH_LAUNCH, 3 * call_duration(plan));
  if (call < 0) {
    return 0;
  }
  int64_t start = queue_start(plan, call, stream);
  for (int i = 0; i < count && !nai_gen_failed(plan); i++) {
    nai_gen_attribute(plan, thread, nodes[i].duration_ns);
    start = nai_gen_add_kernel(plan, call, stream, nodes[i].kernel, start, nodes[i].duration_ns,
                               graph_node_id(graph_id, i));
    start += nai_gen_rng_between(&plan->rng, 200, 500);
  }
  return nai_gen_ready(plan, stream);
}

void nai_gen_add_overhead(struct nai_gen_plan *plan, const struct nai_gen_overhead *overhead) {
  struct nai_gen_overhead *added = nai_gen_plan_push(plan, &plan->overheads);
  if (added) {
    *added = *overhead;
  }
}

void nai_gen_profiler_overhead(struct nai_gen_plan *plan, int thread, int64_t duration_ns) {
  int64_t start = plan->threads[thread].now;
  nai_gen_add_overhead(plan, &(struct nai_gen_overhead){start, start + duration_ns, thread, -1, 3, NULL});
  plan->threads[thread].now += duration_ns;
  plan->profiler_ns += duration_ns;
  nai_gen_plan_saw(plan, start + duration_ns);
}

void nai_gen_cuda_overhead(struct nai_gen_plan *plan, int64_t call, int kind) {
  if (call >= 0) {
    const struct nai_gen_call *api = call_at(plan, call);
    nai_gen_add_overhead(plan, &(struct nai_gen_overhead){api->start + 200, api->end - 200, api->thread,
                                                          api->correlation, kind, NULL});
  }
}
