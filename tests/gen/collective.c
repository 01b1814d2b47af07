#include "gen/collective.h"

#include "gen/truth/truth_json.h"

#include <string.h>

enum { INT = 5, UINT64 = 18, SIZE = 22, FIRST = 1 << 24 };

struct entry {
  const char *name;
  int type, offset;
};
static const struct {
  enum nai_gen_nccl_schema schema;
  int bytes;
  struct entry entries[5];
} schemas[] = {
    {NAI_GEN_NCCL_ALL_GATHER, 16, {{"NCCL communicator ID", UINT64, 0}, {"Message size [bytes]", SIZE, 8}}},
    {NAI_GEN_NCCL_ALL_REDUCE,
     24,
     {{"NCCL communicator ID", UINT64, 0}, {"Message size [bytes]", SIZE, 8}, {"Reduction operation", FIRST + 40, 16}}},
    {NAI_GEN_NCCL_SEND,
     24,
     {{"NCCL communicator ID", UINT64, 0}, {"Message size [bytes]", SIZE, 8}, {"Peer rank", INT, 16}}},
    {NAI_GEN_NCCL_RECV,
     24,
     {{"NCCL communicator ID", UINT64, 0}, {"Message size [bytes]", SIZE, 8}, {"Peer rank", INT, 16}}},
    {NAI_GEN_NCCL_INIT,
     24,
     {{"NCCL communicator ID", UINT64, 0}, {"No. of ranks", INT, 8}, {"Rank", INT, 12}, {"CUDA device", INT, 16}}},
};
enum { SCHEMAS = sizeof schemas / sizeof schemas[0] };

static void put_schema(struct nai_gen_plan *plan, int domain, int i) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "NVTX_PAYLOAD_SCHEMAS");
  nai_gen_row_int(&row, "domainId", domain);
  nai_gen_row_int(&row, "schemaId", FIRST + (int)schemas[i].schema);
  nai_gen_row_int(&row, "payloadSize", schemas[i].bytes);
  nai_gen_evidence_row(plan, &row);
  for (int e = 0; e < 5 && schemas[i].entries[e].name; e++) {
    const struct entry *entry = &schemas[i].entries[e];
    nai_gen_row_start(&row, "NVTX_PAYLOAD_SCHEMA_ENTRIES");
    nai_gen_row_int(&row, "domainId", domain);
    nai_gen_row_int(&row, "schemaId", FIRST + (int)schemas[i].schema);
    nai_gen_row_int(&row, "idx", e);
    nai_gen_row_int(&row, "type", entry->type);
    nai_gen_row_text(&row, "name", entry->name);
    if (entry->offset) { /* an offset of 0 is left out */
      nai_gen_row_int(&row, "offset", entry->offset);
    }
    nai_gen_evidence_row(plan, &row);
  }
}

void nai_gen_nccl_schemas(struct nai_gen_plan *plan, int domain, int processes) {
  for (int p = 0; p < processes; p++) {
    for (int i = 0; i < SCHEMAS; i++) {
      put_schema(plan, domain, i);
    }
  }
}

static void put(unsigned char *to, size_t bytes, uint64_t value) { memcpy(to, &value, bytes); }

static size_t encode(unsigned char blob[64], int domain, const struct nai_gen_payload *p) {
  size_t size = 0;
  for (int i = 0; i < SCHEMAS; i++) {
    size = schemas[i].schema == p->schema ? (size_t)schemas[i].bytes : size;
  }
  memset(blob, 0, 64);
  put(blob, 4, (uint64_t)domain);
  put(blob + 8, 4, FIRST + (uint64_t)p->schema);
  put(blob + 16, 8, size);
  put(blob + 24, 8, p->header == NAI_GEN_HEADER_TOTAL ? 32 + size : 32);
  unsigned char *payload = blob + 32;
  put(payload, 8, p->communicator);
  if (p->schema == NAI_GEN_NCCL_INIT) {
    put(payload + 8, 4, (uint64_t)p->ranks);
    put(payload + 12, 4, (uint64_t)p->rank);
    put(payload + 16, 4, (uint64_t)p->device);
  } else {
    put(payload + 8, 8, (uint64_t)p->bytes);
    if (size > 16) {
      put(payload + 16, 4, (uint64_t)p->number);
    }
  }
  return 32 + size - (size_t)p->cut;
}

static void attach(struct nai_gen_plan *plan, int thread, const void *bytes, size_t size, int category) {
  struct nai_gen_thread *host = &plan->threads[thread];
  if (nai_gen_failed(plan) || host->depth == 0) {
    return;
  }
  struct nai_gen_range *range = (struct nai_gen_range *)plan->ranges.items + host->stack[host->depth - 1].range;
  range->blob_offset = plan->text.count;
  range->blob_size = size;
  range->json = category > 0;
  range->category = category;
  plan->payloads = true;
  if (!nai_gen_vec_append(&plan->text, bytes, size)) {
    nai_gen_fail(NAI_GEN_ENOMEM, plan->err, "out of memory");
  }
}

void nai_gen_attach(struct nai_gen_plan *plan, int thread, int domain, const struct nai_gen_payload *payload) {
  unsigned char blob[64];
  size_t size = encode(blob, domain, payload);
  attach(plan, thread, blob, size, 0);
}

void nai_gen_attach_json(struct nai_gen_plan *plan, int thread, int category, const char *json) {
  attach(plan, thread, json, strlen(json), category);
}

/* --- answers ---------------------------------------------------------------------------------- */

static struct nai_gen_wait *wait_of(struct nai_gen_plan *plan, int gpu, const char *op) {
  struct nai_gen_wait *known = plan->waits.items;
  for (size_t i = 0; i < plan->waits.count; i++) {
    if (known[i].gpu == gpu && strcmp(known[i].op, op) == 0) {
      return &known[i];
    }
  }
  struct nai_gen_wait *added = nai_gen_plan_push(plan, &plan->waits);
  if (added) {
    *added = (struct nai_gen_wait){.gpu = gpu, .op = op};
  }
  return added;
}

void nai_gen_join_collective(struct nai_gen_plan *plan, const struct nai_gen_collective *c, int rank) {
  int64_t last = c->start[0];
  for (int i = 1; i < c->ranks; i++) {
    last = c->start[i] > last ? c->start[i] : last;
  }
  int64_t duration = c->end - c->start[rank];
  int64_t start = c->start[rank] + c->shift[rank];
  if (c->graph_id) {
    nai_gen_graph_replay(plan, &(struct nai_gen_replay){.thread = c->thread[rank],
                                                        .stream = c->stream[rank],
                                                        .graph_id = c->graph_id,
                                                        .nodes = &(struct nai_gen_node){c->kernel, duration},
                                                        .count = 1,
                                                        .api_ns = 9000,
                                                        .start_ns = start});
  } else {
    nai_gen_launch_at(plan, c->thread[rank], c->stream[rank], c->kernel, start, duration);
  }
  if (nai_gen_failed(plan)) {
    return;
  }
  struct nai_gen_wait *wait = wait_of(plan, (int)(nai_gen_stream_gpu(plan, c->stream[rank]) - plan->gpus), c->op);
  if (wait) {
    wait->count++;
    wait->total_ns += duration;
    wait->wait_ns += last - c->start[rank];
    wait->transfer_ns += c->end - last;
    wait->bytes += c->bytes;
  }
}

void nai_gen_set_waits(json_t *truth, const struct nai_gen_plan *plan) {
  const struct nai_gen_wait *waits = plan->waits.items;
  json_t *list = plan->waits.count ? json_array() : NULL;
  for (size_t i = 0; i < plan->waits.count; i++) {
    json_t *object = nai_gen_json_object_in(list);
    nai_gen_json_int(object, "gpu", waits[i].gpu);
    nai_gen_json_string(object, "op", waits[i].op);
    nai_gen_json_int(object, "count", waits[i].count);
    nai_gen_json_int(object, "total_ns", waits[i].total_ns);
    nai_gen_json_int(object, "wait_ns", waits[i].wait_ns);
    nai_gen_json_int(object, "transfer_ns", waits[i].transfer_ns);
    nai_gen_json_int(object, "bytes", waits[i].bytes);
  }
  if (list) {
    json_object_set_new(truth, "collectives", list);
  }
}
