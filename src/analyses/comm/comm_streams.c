/* Tables comm_streams and comm_instances. */
#include "analyses/comm/comm.h"

#include "base/buf.h"
#include "base/sort.h"
#include "tables/comm_instances.h"
#include "tables/comm_streams.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- streams ---------------------------------------------------------------------------------- */

enum { MAX_OPS = 16 };

/* What a stream adds up to. */
struct stream {
  int64_t sums[COMM_STREAMS_refused + 1];
  const char *ops[MAX_OPS];
  int64_t times[MAX_OPS];
  uint32_t op_count;
  const struct nai_comm_item *last;
  struct nai_keyset comms;
  const char *refused;
};

static void count_op(struct stream *s, const char *op) {
  uint32_t k = 0;
  op = op ? op : "unknown";
  while (k < s->op_count && strcmp(s->ops[k], op) != 0)
    k++;
  if (k == MAX_OPS)
    return;
  if (k == s->op_count) {
    s->ops[k] = op;
    s->times[s->op_count++] = 0;
  }
  s->times[k]++;
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
  s->sums[COMM_STREAMS_kernel_count]++;
  s->sums[COMM_STREAMS_total_time_ns] += item->end - item->start;
  s->sums[COMM_STREAMS_overlapped_ns] += item->end - item->start - item->exposed;
  s->sums[COMM_STREAMS_exposed_ns] += item->charged;
  s->sums[COMM_STREAMS_active_exposed_ns] += item->active_charged;
  s->sums[COMM_STREAMS_serial_wait_ns] += serial_wait(s->last, item);
  s->sums[COMM_STREAMS_matched_count] += item->set != NAI_NO_ROW;
  if (item->known_comm)
    nai_keyset_add(&s->comms, item->comm, &added);
  count_op(s, item->op);
  s->refused = item->set == NAI_NO_ROW ? c->lines[item->line].refused : s->refused;
  s->last = item;
}

static void print_ops(struct nai_buf *out, struct stream *s) {
  for (uint32_t left = s->op_count; left; left--) {
    uint32_t most = 0;
    for (uint32_t k = 1; k < s->op_count; k++)
      if (s->times[k] > s->times[most] || (s->times[k] == s->times[most] && strcmp(s->ops[k], s->ops[most]) < 0))
        most = k;
    nai_buf_printf(out, "%s%s %" PRId64, out->len ? ", " : "", s->ops[most], s->times[most]);
    s->times[most] = -1;
  }
}

static void put_stream(struct nai_table *table, const struct nai_comm *c, uint32_t number, struct stream *s) {
  const struct nai_comm_stream *of = &c->streams[number];
  struct nai_buf ops = {0};
  int64_t row = nai_table_add_row(table);
  print_ops(&ops, s);
  nai_set_i64(table, row, COMM_STREAMS_device_id, nai_model_device(c->m, of->gpu));
  nai_set_i64(table, row, COMM_STREAMS_pid, nai_model_pid(c->m, of->process));
  nai_set_i64(table, row, COMM_STREAMS_context_id, of->context);
  nai_set_i64(table, row, COMM_STREAMS_stream_id, of->id);
  nai_set_str(table, row, COMM_STREAMS_ops, nai_buf_str(&ops));
  for (int column = COMM_STREAMS_kernel_count; column <= COMM_STREAMS_matched_count; column++)
    if (column != COMM_STREAMS_serial_wait_pct && column != COMM_STREAMS_communicator_count)
      nai_set_i64(table, row, column, s->sums[column]);
  if (s->comms.count) {
    nai_set_i64(table, row, COMM_STREAMS_communicator_count, s->comms.count);
    nai_set_f64(table, row, COMM_STREAMS_serial_wait_pct,
                nai_percent((double)s->sums[COMM_STREAMS_serial_wait_ns], (double)s->sums[COMM_STREAMS_total_time_ns]));
  } else {
    nai_set_i64(table, row, COMM_STREAMS_serial_wait_ns, NAI_NULL_I64);
  }
  if (!s->sums[COMM_STREAMS_matched_count])
    nai_set_str(table, row, COMM_STREAMS_refused, s->refused);
  table->oom |= ops.oom;
  nai_buf_free(&ops);
}

/* Compute kernels on the streams of a GPU that communicate. */
static int count_compute(struct stream *streams, const struct nai_comm *c, uint32_t g, struct nai_err *err) {
  const struct nai_gpu *gpu = &c->m->gpus[g];
  int64_t *kernels = calloc((size_t)gpu->stream_count + 1, sizeof *kernels); /* per stream of the GPU */
  if (!kernels)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < gpu->op_count; i++)
    kernels[gpu->ops[i].stream] += gpu->ops[i].type == NAI_OP_KERNEL && !gpu->ops[i].communication;
  for (uint32_t k = 0; k < c->stream_count; k++) {
    const struct nai_comm_stream *s = &c->streams[k];
    for (uint32_t n = 0; s->gpu == g && n < gpu->stream_count; n++)
      if (gpu->streams[n].id == s->id && gpu->streams[n].context == s->context && gpu->streams[n].process == s->process)
        streams[k].sums[COMM_STREAMS_compute_count] = kernels[n];
  }
  free(kernels);
  return NAI_OK;
}

int nai_comm_put_streams(struct nai_table *table, const struct nai_comm *c, struct nai_err *err) {
  struct stream *streams = calloc((size_t)c->stream_count + 1, sizeof *streams);
  int rc = streams ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < c->count; i++)
    add_item(&streams[c->items[i].stream], c, &c->items[i]);
  for (uint32_t g = 0; !rc && g < c->m->gpu_count; g++)
    if (c->first_of_gpu[g + 1] > c->first_of_gpu[g])
      rc = count_compute(streams, c, g, err);
  for (uint32_t i = 0; !rc && i < c->stream_count; i++) {
    put_stream(table, c, i, &streams[i]);
    rc = streams[i].comms.oom ? nai_err_nomem(err) : NAI_OK;
  }
  for (uint32_t i = 0; streams && i < c->stream_count; i++)
    nai_keyset_free(&streams[i].comms);
  free(streams);
  return rc;
}

/* --- one by one ------------------------------------------------------------------------------- */

static void put_set(struct nai_table *table, int64_t row, const struct nai_comm *c, const struct nai_comm_item *item) {
  if (item->set == NAI_NO_ROW)
    return;
  nai_set_i64(table, row, COMM_INSTANCES_set_id, item->set);
  nai_set_i64(table, row, COMM_INSTANCES_set_members, item->members);
  nai_set_i64(table, row, COMM_INSTANCES_wait_ns, item->wait);
  nai_set_i64(table, row, COMM_INSTANCES_transfer_ns, item->transfer);
  nai_set_i64(table, row, COMM_INSTANCES_tail_ns, item->tail);
  nai_set_i64(table, row, COMM_INSTANCES_skew_ns, item->skew);
  if (item->late != NAI_NO_ROW)
    nai_set_i64(table, row, COMM_INSTANCES_late_device_id, nai_model_device(c->m, c->items[item->late].gpu));
}

static void put_message(struct nai_table *table, int64_t row, const struct nai_comm_item *item) {
  struct nai_comm_rates rates = nai_comm_rates(item->op, nai_comm_bytes(item), item->ranks, nai_comm_rated_ns(item));
  if (item->sent >= 0) {
    nai_set_i64(table, row, COMM_INSTANCES_message_bytes, nai_comm_bytes(item));
    nai_set_i64(table, row, COMM_INSTANCES_sent_bytes, item->sent);
    nai_set_i64(table, row, COMM_INSTANCES_received_bytes, item->received);
  }
  if (item->ranks > 0)
    nai_set_i64(table, row, COMM_INSTANCES_rank_count, item->ranks);
  if (item->known_comm) {
    char id[24];
    snprintf(id, sizeof id, "0x%016" PRIx64, (uint64_t)item->comm);
    nai_set_str(table, row, COMM_INSTANCES_communicator, id);
  }
  nai_set_str(table, row, COMM_INSTANCES_redop, item->redop);
  if (!isnan(rates.algorithm))
    nai_set_f64(table, row, COMM_INSTANCES_algbw, rates.algorithm);
  if (!isnan(rates.bus))
    nai_set_f64(table, row, COMM_INSTANCES_busbw, rates.bus);
}

static void put_instance(struct nai_table *table, const struct nai_comm *c, const struct nai_comm_item *item) {
  const struct nai_comm_stream *stream = &c->streams[item->stream];
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, COMM_INSTANCES_device_id, nai_model_device(c->m, item->gpu));
  nai_set_i64(table, row, COMM_INSTANCES_pid, nai_model_pid(c->m, stream->process));
  nai_set_i64(table, row, COMM_INSTANCES_stream_id, stream->id);
  nai_set_str(table, row, COMM_INSTANCES_op, item->op ? item->op : "unknown");
  nai_set_str(table, row, COMM_INSTANCES_dtype, nai_comm_name_of(c, item)->dtype);
  nai_set_str(table, row, COMM_INSTANCES_calls,
              item->calls == NAI_NO_STRING ? NULL : nai_strings_get(&c->texts, item->calls));
  nai_set_i64(table, row, COMM_INSTANCES_start_ns, item->start);
  nai_set_i64(table, row, COMM_INSTANCES_end_ns, item->end);
  nai_set_i64(table, row, COMM_INSTANCES_duration_ns, item->end - item->start);
  nai_set_i64(table, row, COMM_INSTANCES_overlapped_ns, item->end - item->start - item->exposed);
  nai_set_i64(table, row, COMM_INSTANCES_exposed_ns, item->charged);
  put_set(table, row, c, item);
  put_message(table, row, item);
  nai_set_str(table, row, COMM_INSTANCES_kernel_name, nai_model_kernel_name(c->m, item->kernel));
}

/* Least exposed time of the kernels that are listed, and how many of exactly that. */
static int find_limit(int64_t *least, uint32_t *of_least, const struct nai_comm *c, uint32_t most,
                      struct nai_err *err) {
  *least = -1;
  *of_least = 0;
  if (c->count <= most)
    return NAI_OK;
  int64_t *exposed = malloc((size_t)c->count * sizeof *exposed);
  if (!exposed)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < c->count; i++)
    exposed[i] = c->items[i].charged;
  nai_select_i64(exposed, c->count, c->count - most);
  *least = exposed[c->count - most];
  *of_least = most;
  for (uint32_t i = 0; i < c->count; i++)
    *of_least -= c->items[i].charged > *least;
  free(exposed);
  return NAI_OK;
}

int nai_comm_put_instances(struct nai_table *table, const struct nai_comm *c, struct nai_err *err) {
  enum { MOST = 10000 };
  int64_t least;
  uint32_t of_least;
  int rc = find_limit(&least, &of_least, c, MOST, err);
  for (uint32_t i = 0; !rc && i < c->count; i++) {
    const struct nai_comm_item *item = &c->items[i];
    if (item->charged < least || (item->charged == least && !of_least))
      continue;
    of_least -= item->charged == least;
    put_instance(table, c, item);
  }
  return rc;
}
