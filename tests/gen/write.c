/* Planned events to rows, in the order of their start times as the exporter writes them. */
#include "gen/plan_internal.h"

#include <stdlib.h>
#include <string.h>

enum { RUNTIME_INVERSIONS = 4 };

struct sort_key {
  int64_t start, end;
  size_t index;
};

static int compare_keys(const void *left, const void *right) {
  const struct sort_key *a = left;
  const struct sort_key *b = right;
  if (a->start != b->start) {
    return a->start < b->start ? -1 : 1;
  }
  if (a->end != b->end) {
    return a->end > b->end ? -1 : 1;
  }
  return (a->index > b->index) - (a->index < b->index);
}

/* All event structs begin with start and end. */
static struct sort_key *order_rows(struct nai_gen_plan *plan, const struct nai_gen_vec *vec, bool some_inverted) {
  size_t count = vec->count;
  struct sort_key *keys = calloc(count ? count : 1, sizeof *keys);
  if (!keys) {
    nai_gen_fail(NAI_GEN_ENOMEM, plan->err, "out of memory");
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    const int64_t *times = (const void *)((const char *)vec->items + i * vec->item_size);
    keys[i] = (struct sort_key){times[0], times[1], i};
  }
  qsort(keys, count, sizeof *keys, compare_keys);
  struct nai_gen_rng *rng = &plan->order_rng;
  size_t swaps = plan->shuffle ? count : some_inverted && count > 100 ? RUNTIME_INVERSIONS : 0;
  for (size_t i = 0; i < swaps; i++) {
    size_t a = plan->shuffle ? count - 1 - i : (size_t)nai_gen_rng_between(rng, 1, (int64_t)count - 1);
    size_t b = plan->shuffle ? (size_t)nai_gen_rng_between(rng, 0, (int64_t)a) : a - 1;
    struct sort_key kept = keys[a];
    keys[a] = keys[b];
    keys[b] = kept;
  }
  return keys;
}

static void insert(struct nai_gen_plan *plan, const struct nai_gen_row *row) {
  if (!nai_gen_failed(plan)) {
    (void)nai_gen_db_insert(plan->db, row, plan->err);
  }
}

/* The columns that kernels, copies, sets, graphs and synchronisations share come first, in the same
 * order, in all their tables. */
static void set_head(struct nai_gen_plan *plan, struct nai_gen_row *row, int64_t start, int64_t end, int stream,
                     int64_t correlation) {
  const struct nai_gen_stream *queue = &plan->streams[stream];
  const struct nai_gen_context *context = &plan->contexts[queue->context];
  nai_gen_row_int(row, "start", start);
  nai_gen_row_int(row, "end", end);
  nai_gen_row_int(row, "deviceId", context->device_id);
  nai_gen_row_int(row, "contextId", context->green ? context->green : context->context_id);
  nai_gen_row_int(row, "greenContextId", context->green ? context->context_id : 0);
  nai_gen_row_int(row, "streamId", queue->stream_id);
  nai_gen_row_int(row, "correlationId", correlation);
  nai_gen_row_int(row, "globalPid", plan->processes[context->process].global_pid);
}

static void fill_kernel(struct nai_gen_plan *plan, struct nai_gen_row *row, const struct nai_gen_op *op) {
  const struct nai_gen_kernel *kernel = nai_gen_kernel_at(plan, op->kernel);
  nai_gen_row_int(row, "demangledName", kernel->demangled);
  nai_gen_row_int(row, "shortName", kernel->short_name);
  nai_gen_row_int(row, "mangledName", kernel->short_name);
  nai_gen_row_int(row, "launchType", 1);
  nai_gen_row_int(row, "cacheConfig", 1);
  nai_gen_row_int(row, "registersPerThread", kernel->registers);
  nai_gen_row_int(row, "gridX", kernel->grid);
  nai_gen_row_int(row, "gridY", 1);
  nai_gen_row_int(row, "gridZ", 1);
  nai_gen_row_int(row, "blockX", kernel->block);
  nai_gen_row_int(row, "blockY", 1);
  nai_gen_row_int(row, "blockZ", 1);
  nai_gen_row_int(row, "staticSharedMemory", 0);
  nai_gen_row_int(row, "dynamicSharedMemory", kernel->shared_bytes);
  nai_gen_row_int(row, "localMemoryPerThread", kernel->local_bytes);
  nai_gen_row_int(row, "localMemoryTotal", 250871808);
  nai_gen_row_int(row, "gridId", op->grid_id);
  nai_gen_row_int(row, "sharedMemoryExecuted", 32768);
  if (op->graph_node) {
    nai_gen_row_int(row, "graphNodeId", op->graph_node);
    nai_gen_row_int(row, "graphId", op->graph_id);
  }
  nai_gen_row_int(row, "sharedMemoryLimitConfig", 0);
  nai_gen_row_int(row, "clusterX", 0);
  nai_gen_row_int(row, "clusterY", 0);
  nai_gen_row_int(row, "clusterZ", 0);
  nai_gen_row_int(row, "clusterSchedulingPolicy", 1);
  nai_gen_row_int(row, "maxPotentialClusterSize", 0);
  nai_gen_row_int(row, "maxActiveClusters", 0);
  nai_gen_row_text(row, "tensorSizeMinusOneElements", "[]");
}

static void write_decompression(struct nai_gen_plan *plan, struct nai_gen_row *row, const struct nai_gen_op *op) {
  const struct nai_gen_stream *queue = &plan->streams[op->stream];
  const struct nai_gen_context *context = &plan->contexts[queue->context];
  nai_gen_row_start(row, "CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS");
  nai_gen_row_int(row, "start", op->start);
  nai_gen_row_int(row, "end", op->end);
  nai_gen_row_int(row, "eventClass", 4);
  nai_gen_row_int(row, "deviceId", context->device_id);
  nai_gen_row_int(row, "contextId", context->context_id);
  nai_gen_row_int(row, "streamId", queue->stream_id);
  nai_gen_row_int(row, "correlationId", op->correlation);
  nai_gen_row_int(row, "globalPid", plan->processes[context->process].global_pid);
  nai_gen_row_int(row, "ChannelID", 3);
  nai_gen_row_int(row, "sourceBytes", op->bytes);
  nai_gen_row_int(row, "NumberOfOperations", 1);
  insert(plan, row);
}

static void write_op(struct nai_gen_plan *plan, struct nai_gen_row *row, const struct nai_gen_op *op) {
  static const char *const tables[] = {[OP_KERNEL] = "CUPTI_ACTIVITY_KIND_KERNEL",
                                       [OP_COPY] = "CUPTI_ACTIVITY_KIND_MEMCPY",
                                       [OP_SET] = "CUPTI_ACTIVITY_KIND_MEMSET",
                                       [OP_GRAPH] = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
  if (op->kind == OP_COPY && op->direction == NAI_GEN_DECOMPRESSION) {
    write_decompression(plan, row, op);
    return;
  }
  nai_gen_row_start(row, tables[op->kind]);
  set_head(plan, row, op->start, op->end, op->stream, op->correlation);
  switch (op->kind) {
  case OP_KERNEL:
    fill_kernel(plan, row, op);
    break;
  case OP_COPY:
    nai_gen_row_int(row, "bytes", op->bytes);
    nai_gen_row_int(row, "copyKind", op->direction);
    nai_gen_row_int(row, "srcKind", op->source);
    nai_gen_row_int(row, "dstKind", op->target);
    nai_gen_row_int(row, "copyCount", 1);
    break;
  case OP_SET:
    nai_gen_row_int(row, "value", 0);
    nai_gen_row_int(row, "bytes", op->bytes);
    nai_gen_row_int(row, "memKind", op->source);
    break;
  case OP_GRAPH:
    nai_gen_row_int(row, "graphId", op->graph_id);
    nai_gen_row_int(row, "graphExecId", op->graph_id + 1);
    break;
  }
  insert(plan, row);
}

static void write_call(struct nai_gen_plan *plan, struct nai_gen_row *row, const struct nai_gen_call *call) {
  const char *name = nai_gen_api(call->api)->canonical;
  nai_gen_row_start(row, "CUPTI_ACTIVITY_KIND_RUNTIME");
  nai_gen_row_int(row, "start", call->start);
  nai_gen_row_int(row, "end", call->end);
  nai_gen_row_int(row, "eventClass", name[2] == 'd' ? 0 : 1); /* cudaX: runtime, cuX: driver */
  nai_gen_row_int(row, "globalTid", plan->threads[call->thread].global_tid);
  nai_gen_row_int(row, "correlationId", call->correlation);
  nai_gen_row_int(row, "nameId", plan->api_strings[call->api]);
  nai_gen_row_int(row, "returnValue", 0);
  if (call->callchain) {
    nai_gen_row_int(row, "callchainId", call->callchain == NAI_GEN_CHAIN_ZERO ? 0 : call->callchain);
  }
  insert(plan, row);
}

static void write_sync(struct nai_gen_plan *plan, struct nai_gen_row *row, const struct nai_gen_sync *sync) {
  const int64_t not_applicable = 4294967295;
  static const int types[API_COUNT] = {
      [API_EVENT_SYNC] = 1, [API_STREAM_WAIT] = 2, [API_STREAM_SYNC] = 3, [API_DEVICE_SYNC] = 4};
  bool has_event = sync->api == API_EVENT_SYNC || sync->api == API_STREAM_WAIT;
  nai_gen_row_start(row, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
  set_head(plan, row, sync->start, sync->end, sync->stream, sync->correlation);
  nai_gen_row_int(row, "deviceId", 0); /* real exports never fill it in */
  if (sync->api == API_EVENT_SYNC || sync->api == API_DEVICE_SYNC) {
    nai_gen_row_int(row, "streamId", not_applicable);
  }
  nai_gen_row_int(row, "syncType", types[sync->api]);
  nai_gen_row_int(row, "eventId", !has_event ? not_applicable : sync->event ? sync->event : sync->correlation % 1000);
  nai_gen_row_int(row, "eventSyncId", sync->event);
  insert(plan, row);
}

static void write_range(struct nai_gen_plan *plan, struct nai_gen_row *row, const struct nai_gen_range *range) {
  nai_gen_row_start(row, "NVTX_EVENTS");
  nai_gen_row_int(row, "start", range->start);
  if (!range->open) {
    nai_gen_row_int(row, "end", range->end);
  }
  nai_gen_row_int(row, "eventType", range->type);
  if (range->range_id >= 0) {
    nai_gen_row_int(row, "rangeId", range->range_id);
  }
  nai_gen_row_int(row, "globalTid", plan->threads[range->thread].global_tid);
  if (range->end_thread >= 0) {
    nai_gen_row_int(row, "endGlobalTid", plan->threads[range->end_thread].global_tid);
  }
  if (range->text_id >= 0) {
    nai_gen_row_int(row, "textId", range->text_id);
  } else {
    nai_gen_row_bytes(row, "text", (const char *)plan->text.items + range->text_offset, range->text_size);
  }
  nai_gen_row_int(row, "domainId", range->domain);
  if (range->category) {
    nai_gen_row_int(row, "category", range->category);
  }
  if (range->json) {
    nai_gen_row_bytes(row, "jsonText", (const char *)plan->text.items + range->blob_offset, range->blob_size);
  } else if (range->blob_size) {
    nai_gen_row_blob(row, "binaryData", (const char *)plan->text.items + range->blob_offset, range->blob_size);
  }
  insert(plan, row);
}

/* Names of the stalls CUPTI reports, by overhead type. */
static int64_t stall_name(struct nai_gen_plan *plan, int kind) {
  const char *name = kind == 6 ? "Runtime triggered module loading"
                   : kind == 7 ? "Lazy function loading"
                               : "Command buffer full";
  return nai_gen_string(plan, name, strlen(name));
}

static void write_overhead(struct nai_gen_plan *plan, struct nai_gen_row *row,
                           const struct nai_gen_overhead *overhead) {
  int64_t tid = plan->threads[overhead->thread].global_tid;
  if (overhead->correlation < 0) {
    nai_gen_row_start(row, "PROFILER_OVERHEAD");
    nai_gen_row_int(row, "start", overhead->start);
    nai_gen_row_int(row, "end", overhead->end);
    nai_gen_row_int(row, "globalTid", tid);
    const char *name = overhead->name ? overhead->name : "CUPTI buffer flush";
    nai_gen_row_int(row, "nameId", nai_gen_string(plan, name, strlen(name)));
    if (plan->schema < NAI_GEN_2026) {
      nai_gen_row_int(row, "returnValue", 0);
    } else {
      nai_gen_row_int(row, "overheadType", overhead->kind);
    }
  } else {
    nai_gen_row_start(row, "CUPTI_ACTIVITY_KIND_OVERHEAD");
    nai_gen_row_int(row, "start", overhead->start);
    nai_gen_row_int(row, "end", overhead->end);
    nai_gen_row_int(row, "eventClass", 103);
    nai_gen_row_int(row, "globalTid", tid);
    nai_gen_row_int(row, "correlationId", overhead->correlation);
    nai_gen_row_int(row, "nameId", stall_name(plan, overhead->kind));
    nai_gen_row_int(row, "overheadType", overhead->kind);
  }
  insert(plan, row);
}

static void write_graph_node(struct nai_gen_plan *plan, struct nai_gen_row *row,
                             const struct nai_gen_graph_node_row *node) {
  nai_gen_row_start(row, "CUDA_GRAPH_NODE_EVENTS");
  nai_gen_row_int(row, "start", node->start);
  nai_gen_row_int(row, "end", node->end);
  nai_gen_row_int(row, "eventClass", 77);
  nai_gen_row_int(row, "globalTid", plan->threads[node->thread].global_tid);
  nai_gen_row_int(row, "nameId", nai_gen_string(plan, "cudaGraphAddKernelNode_v10000", 29));
  nai_gen_row_int(row, "graphNodeId", node->node);
  if (node->original) {
    nai_gen_row_int(row, "originalGraphNodeId", node->original);
  }
  insert(plan, row);
}

typedef void (*write_fn)(struct nai_gen_plan *plan, struct nai_gen_row *row, const void *event);

#define WRITER(name, type)                                                                        \
  static void name##_any(struct nai_gen_plan *plan, struct nai_gen_row *row, const void *event) { \
    name(plan, row, (const struct type *)event);                                                  \
  }
WRITER(write_op, nai_gen_op)
WRITER(write_call, nai_gen_call)
WRITER(write_sync, nai_gen_sync)
WRITER(write_range, nai_gen_range)
WRITER(write_overhead, nai_gen_overhead)
WRITER(write_graph_node, nai_gen_graph_node_row)

void nai_gen_write_events(struct nai_gen_plan *plan) {
  const struct {
    struct nai_gen_vec *events;
    write_fn write;
    bool some_inverted;
  } kinds[] = {{&plan->ops, write_op_any, false},
               {&plan->calls, write_call_any, true},
               {&plan->syncs, write_sync_any, false},
               {&plan->ranges, write_range_any, false},
               {&plan->overheads, write_overhead_any, false},
               {&plan->graph_nodes, write_graph_node_any, false}};
  struct nai_gen_row row;
  nai_gen_total_gpus(plan);
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0] && !nai_gen_failed(plan); k++) {
    struct nai_gen_vec *events = kinds[k].events;
    struct sort_key *keys = order_rows(plan, events, kinds[k].some_inverted);
    for (size_t i = 0; keys && i < events->count; i++) {
      kinds[k].write(plan, &row, (const char *)events->items + keys[i].index * events->item_size);
    }
    free(keys);
    events->count = 0;
  }
  const struct nai_gen_row *raws = plan->raws.items;
  for (size_t i = 0; i < plan->raws.count; i++) {
    insert(plan, &raws[i]);
  }
  plan->raws.count = 0;
  plan->text.count = 0;
}

void nai_gen_flush(struct nai_gen_plan *plan) {
  plan->streaming = true;
  nai_gen_write_events(plan);
}
