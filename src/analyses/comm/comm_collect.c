/* The communication kernels of a trace, their streams and processes. */
#include "analyses/comm/comm.h"
#include "base/array.h"

#include <stdlib.h>

static int parse_names(struct nai_comm *c, struct nai_err *err) {
  const struct nai_strings *strings = &c->m->tables[NAI_IN_KERNELS]->strings;
  const struct nai_comm_names *patterns = nai_kernel_classes_comm_names(c->m->classes);
  c->names = calloc((size_t)strings->count + 1, sizeof *c->names);
  if (!c->names)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < strings->count; i++)
    if (c->m->kernel_communication[i])
      c->names[i] = nai_comm_names_parse(patterns, nai_strings_get(strings, i));
  return nai_comm_names_check(patterns, err);
}

static uint32_t count_items(const struct nai_model *m) {
  uint32_t count = 0;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++)
      count += m->gpus[g].ops[i].communication;
  return count;
}

static void fill_items(struct nai_comm *c) {
  const struct nai_model *m = c->m;
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    c->first_of_gpu[g] = c->count;
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++) {
      const struct nai_op *op = &m->gpus[g].ops[i];
      if (!op->communication)
        continue;
      uint32_t api = nai_model_op_api(m, op);
      struct nai_comm_item *item = &c->items[c->count++];
      *item = (struct nai_comm_item){.kernel = op->row,
                                     .gpu = g,
                                     .start = nai_model_op_start(m, op),
                                     .end = nai_model_op_end(m, op),
                                     .op = c->names[nai_at_text(&m->kernels.name, op->row)].op,
                                     .redop = c->names[nai_at_text(&m->kernels.name, op->row)].redop,
                                     .calls = NAI_NO_STRING,
                                     .peer = NAI_COMM_UNKNOWN,
                                     .sent = NAI_COMM_UNKNOWN,
                                     .received = NAI_COMM_UNKNOWN,
                                     .ranks = NAI_COMM_UNKNOWN,
                                     .launched = api == NAI_NO_ROW ? NAI_NULL_I64 : nai_at(&m->apis.start_ns, api),
                                     .set = NAI_NO_ROW,
                                     .late = NAI_NO_ROW};
    }
  }
  c->first_of_gpu[m->gpu_count] = c->count;
}

static bool same_stream(const struct nai_comm_stream *a, const struct nai_comm_stream *b) {
  return a->gpu == b->gpu && a->process == b->process && a->context == b->context && a->id == b->id;
}

/* Number of a stream or rank in a small list, added when new; NAI_NO_ROW when out of memory. Streams and processes are
 * few, and neighbours share theirs. */
static uint32_t stream_number(struct nai_comm *c, const struct nai_comm_stream *stream, uint32_t guess) {
  if (guess < c->stream_count && same_stream(&c->streams[guess], stream))
    return guess;
  for (uint32_t i = 0; i < c->stream_count; i++)
    if (same_stream(&c->streams[i], stream))
      return i;
  if (!nai_array_room(&c->streams, &c->stream_capacity, c->stream_count, sizeof *c->streams))
    return NAI_NO_ROW;
  c->streams[c->stream_count] = *stream;
  return c->stream_count++;
}

static uint32_t rank_number(struct nai_comm *c, uint32_t gpu, int32_t process, uint32_t guess) {
  if (guess < c->rank_count && c->ranks[guess].gpu == gpu && c->ranks[guess].process == process)
    return guess;
  for (uint32_t i = 0; i < c->rank_count; i++)
    if (c->ranks[i].gpu == gpu && c->ranks[i].process == process)
      return i;
  if (!nai_array_room(&c->ranks, &c->rank_capacity, c->rank_count, sizeof *c->ranks))
    return NAI_NO_ROW;
  c->ranks[c->rank_count] = (struct nai_comm_rank){gpu, process};
  return c->rank_count++;
}

static int number(struct nai_comm *c, struct nai_err *err) {
  enum { MOST = 4096 }; /* streams and processes that communicate; searching more one by one would take too long */
  const struct KERNEL_EVENTS_columns *k = &c->m->kernels;
  uint32_t stream = 0, rank = 0;
  for (uint32_t i = 0; i < c->count; i++) {
    struct nai_comm_item *item = &c->items[i];
    const struct nai_comm_stream wanted = {item->gpu, nai_at_i32(&k->process, item->kernel),
                                           nai_at_i32(&k->context_id, item->kernel),
                                           nai_at_i32(&k->stream_id, item->kernel)};
    item->stream = stream = stream_number(c, &wanted, stream);
    item->rank = rank = rank_number(c, item->gpu, wanted.process, rank);
    if (stream == NAI_NO_ROW || rank == NAI_NO_ROW)
      return nai_err_nomem(err);
    if (c->stream_count > MOST || c->rank_count > MOST)
      return nai_err_set(err, NAI_ELIMIT, "more than %d streams with communication", MOST);
  }
  return NAI_OK;
}

int nai_comm_collect(struct nai_comm *c, const struct nai_model *m, struct nai_err *err) {
  *c = (struct nai_comm){.m = m};
  uint32_t count = count_items(m);
  if (!count)
    return NAI_OK;
  c->items = malloc((size_t)count * sizeof *c->items);
  c->first_of_gpu = calloc((size_t)m->gpu_count + 1, sizeof *c->first_of_gpu);
  c->calls = calloc((size_t)m->thread_count + 1, sizeof *c->calls);
  if (!c->items || !c->first_of_gpu || !c->calls)
    return nai_err_nomem(err);
  int rc = parse_names(c, err);
  if (rc)
    return rc;
  fill_items(c);
  return number(c, err);
}

void nai_comm_free(struct nai_comm *c) {
  free(c->names);
  free(c->items);
  free(c->first_of_gpu);
  free(c->streams);
  free(c->ranks);
  free(c->lines);
  free(c->line_items);
  nai_strings_free(&c->texts);
  for (uint32_t i = 0; c->calls && i < c->m->thread_count; i++)
    free(c->calls[i].v);
  free(c->calls);
}
