/* What did each collective take, and what of it was waiting? Table comm_instances. */
#include "analyses/analysis.h"
#include "analyses/comm/comm_purpose.h"

#include "base/sort.h"
#include "tables/comm_instances.h"

enum { MAX_LISTED = 10000 };

static void put_set(struct COMM_INSTANCES_row *row, const struct nai_model *m, const struct nai_comm_item *item) {
  if (item->set == NAI_NO_ROW)
    return;
  row->set_id = item->set;
  row->set_members = item->members;
  row->wait_ns = item->wait;
  row->transfer_ns = item->transfer;
  row->tail_ns = item->tail;
  row->skew_ns = item->skew;
  if (item->late != NAI_NO_ROW)
    row->late_device_id = nai_model_device(m, m->comm->items[item->late].gpu);
}

static void put_message(struct COMM_INSTANCES_row *row, const struct nai_comm_item *item) {
  struct nai_comm_rates rates = nai_comm_rates_of(item);
  row->algbw = rates.algorithm;
  row->busbw = rates.bus;
  row->redop = item->redop;
  if (item->ranks > 0)
    row->rank_count = item->ranks;
  if (item->sent < 0)
    return;
  row->message_bytes = nai_comm_bytes(item);
  row->sent_bytes = item->sent;
  row->received_bytes = item->received;
  if (item->self >= 0)
    row->self_bytes = item->self;
}

static void put_instance(const struct nai_node_io *io, const struct nai_comm_item *item) {
  const struct nai_model *m = io->model;
  const struct nai_comm_stream *stream = &m->comm->streams[item->stream];
  char id[NAI_COMM_ID_MAX];
  struct COMM_INSTANCES_row row =
      NAI_ROW(COMM_INSTANCES, .device_id = nai_model_device(m, item->gpu), .pid = nai_model_pid(m, stream->process),
              .stream_id = stream->id, .op = nai_comm_op(item), .dtype = nai_comm_name_of(m, item)->dtype,
              .calls = item->calls == NAI_NO_STRING ? NULL : nai_strings_get(&m->comm->texts, item->calls),
              .framework_op = nai_comm_framework_op(m, item, io->arena), .start_ns = item->start, .end_ns = item->end,
              .duration_ns = item->end - item->start, .overlapped_ns = item->end - item->start - item->exposed,
              .exposed_ns = item->charged, .communicator = item->known_comm ? nai_comm_id(id, item->comm) : NULL,
              .kernel_name = nai_model_kernel_name(m, item->kernel));
  put_set(&row, m, item);
  if (item->root >= 0)
    row.root = item->root;
  if (item->seq >= 0)
    row.seq = item->seq;
  if (item->channels) {
    row.gpu_start_ns = item->on_gpu.start;
    row.gpu_end_ns = item->on_gpu.end;
    row.channel_count = item->channels;
  }
  put_message(&row, item);
  COMM_INSTANCES_add(io->out[0], &row);
}

/* Least exposed time of the kernels that are listed, and how many of exactly that. */
struct limit {
  int64_t least;
  uint32_t of_least;
};

static int find_limit(struct limit *limit, const struct nai_comm *c, struct nai_arena *arena, struct nai_err *err) {
  int64_t *exposed;
  *limit = (struct limit){.least = -1};
  if (c->count <= MAX_LISTED)
    return NAI_OK;
  NAI_TRY(NAI_NEW(exposed, arena, c->count, err));
  for (uint32_t i = 0; i < c->count; i++)
    exposed[i] = c->items[i].charged;
  nai_select_i64(exposed, c->count, c->count - MAX_LISTED);
  *limit = (struct limit){exposed[c->count - MAX_LISTED], MAX_LISTED};
  for (uint32_t i = 0; i < c->count; i++)
    limit->of_least -= c->items[i].charged > limit->least;
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_comm *c = io->model->comm;
  struct limit limit;
  NAI_TRY(find_limit(&limit, c, io->arena, err));
  for (uint32_t i = 0; i < c->count; i++) {
    const struct nai_comm_item *item = &c->items[i];
    if (item->charged < limit.least || (item->charged == limit.least && !limit.of_least))
      continue;
    limit.of_least -= item->charged == limit.least;
    put_instance(io, item);
  }
  return nai_memory_check(!io->arena->oom, err);
}

NAI_ANALYSIS(comm_instances, .outputs = NAI_SCHEMAS(&nai_comm_instances_schema),
             .parts = NAI_PART(COMM) | NAI_PART(LAUNCHES) | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(KERNELS) | NAI_IN(GPUS) | NAI_IN(PROCESSES) | NAI_IN(NVTX), .run = run)
