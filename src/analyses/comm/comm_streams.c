/* Which streams communicate, and what waits on them for another communicator? Table comm_streams. */
#include "analyses/analysis.h"
#include "model/calls/stream_info.h"
#include "model/comm/comm.h"

#include "base/buf.h"
#include "tables/comm_streams.h"

/* What a stream adds up to. */
struct stream {
  struct COMM_STREAMS_row row;
  struct nai_comm_ops ops;
  const struct nai_comm_item *last;
  struct nai_keyset comms;
  const char *refused;
};

static void begin_stream(struct stream *s, const struct nai_node_io *io, const struct nai_comm_stream *of) {
  const struct nai_model *m = io->model;
  struct nai_stream_info info = nai_stream_info_of(m, of->process, of->context, of->id);
  s->comms.arena = io->arena;
  s->row = (struct COMM_STREAMS_row)NAI_ROW(COMM_STREAMS, .device_id = nai_model_device(m, of->gpu),
                                            .pid = nai_model_pid(m, of->process), .context_id = of->context,
                                            .stream_id = of->id, .stream_name = info.name, .priority = info.priority,
                                            .kernel_count = 0, .total_time_ns = 0, .overlapped_ns = 0, .exposed_ns = 0,
                                            .active_exposed_ns = 0, .compute_count = 0, .serial_wait_ns = 0,
                                            .matched_count = 0);
}

/* Launched, and held up by a kernel of another communicator on the same stream. */
static int64_t serial_wait(const struct nai_comm_item *before, const struct nai_comm_item *item) {
  if (!before || !before->known_comm || !item->known_comm || before->comm == item->comm ||
      item->launched == NAI_NULL_I64)
    return 0;
  int64_t from = item->launched > before->start ? item->launched : before->start;
  int64_t until = item->start < before->end ? item->start : before->end;
  return until > from ? until - from : 0;
}

static void add_item(struct stream *s, const struct nai_comm *c, const struct nai_comm_item *item) {
  bool added;
  s->row.kernel_count++;
  s->row.total_time_ns += item->end - item->start;
  s->row.overlapped_ns += item->end - item->start - item->exposed;
  s->row.exposed_ns += item->charged;
  s->row.active_exposed_ns += item->active_charged;
  s->row.serial_wait_ns += serial_wait(s->last, item);
  s->row.matched_count += item->set != NAI_NO_ROW;
  if (item->known_comm)
    nai_keyset_add(&s->comms, item->comm, &added);
  nai_comm_ops_add(&s->ops, nai_comm_op(item));
  s->refused = item->set == NAI_NO_ROW ? c->lines[item->line].refused : s->refused;
  s->last = item;
}

/* Compute kernels on the streams of a GPU that communicate. */
static int count_compute(struct stream *streams, const struct nai_node_io *io, uint32_t g, struct nai_err *err) {
  const struct nai_comm *c = io->model->comm;
  const struct nai_gpu *gpu = &io->model->gpus[g];
  int64_t *kernels; /* per stream of the GPU */
  NAI_TRY(NAI_NEW(kernels, io->arena, gpu->stream_count, err));
  for (uint32_t i = 0; i < gpu->op_count; i++)
    kernels[gpu->ops[i].stream] += gpu->ops[i].type == NAI_OP_KERNEL && !gpu->ops[i].communication;
  for (uint32_t k = 0; k < c->stream_count; k++) {
    const struct nai_comm_stream *s = &c->streams[k];
    for (uint32_t n = 0; s->gpu == g && n < gpu->stream_count; n++)
      if (gpu->streams[n].id == s->id && gpu->streams[n].context == s->context && gpu->streams[n].process == s->process)
        streams[k].row.compute_count = kernels[n];
  }
  return NAI_OK;
}

static int put_stream(struct nai_table *table, struct stream *s, struct nai_err *err) {
  NAI_SCOPED(nai_buf) ops = {0};
  NAI_TRY(nai_memory_check(!s->comms.oom, err));
  nai_comm_ops_say(&ops, &s->ops);
  s->row.ops = nai_buf_str(&ops);
  s->row.communicator_count = s->comms.count ? s->comms.count : NAI_NULL_I64;
  s->row.serial_wait_pct =
      s->comms.count ? nai_percent((double)s->row.serial_wait_ns, (double)s->row.total_time_ns) : NAN;
  s->row.serial_wait_ns = s->comms.count ? s->row.serial_wait_ns : NAI_NULL_I64;
  s->row.refused = s->row.matched_count ? NULL : s->refused;
  COMM_STREAMS_add(table, &s->row);
  return nai_buf_check(&ops, err);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_comm *c = io->model->comm;
  struct stream *streams;
  NAI_TRY(NAI_NEW(streams, io->arena, c->stream_count, err));
  for (uint32_t i = 0; i < c->stream_count; i++)
    begin_stream(&streams[i], io, &c->streams[i]);
  for (uint32_t i = 0; i < c->count; i++)
    add_item(&streams[c->items[i].stream], c, &c->items[i]);
  for (uint32_t g = 0; g < io->model->gpu_count; g++)
    if (c->first_of_gpu[g + 1] > c->first_of_gpu[g])
      NAI_TRY(count_compute(streams, io, g, err));
  for (uint32_t i = 0; i < c->stream_count; i++)
    NAI_TRY(put_stream(io->out[0], &streams[i], err));
  return NAI_OK;
}

NAI_ANALYSIS(comm_streams, .outputs = NAI_SCHEMAS(&nai_comm_streams_schema), .parts = NAI_PART(COMM),
             .tables = NAI_IN(GPUS) | NAI_IN(PROCESSES) | NAI_IN(STREAMS) | NAI_IN(STREAM_NAMES), .run = run)
