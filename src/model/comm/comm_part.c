/* Part COMM: the communication kernels of a trace, their streams and processes. What they did: comm_build.h. */
#include "model/comm/comm_build.h"

enum { MAX_STREAMS = 4096 }; /* that communicate; searching more one by one would take too long */

static int parse_names(struct nai_model *m, struct nai_err *err) {
  const struct nai_strings *strings = &m->tables[NAI_IN_KERNELS]->strings;
  const struct nai_comm_names *patterns = nai_kernel_classes_comm_names(m->classes);
  NAI_TRY(NAI_NEW(m->comm->names, &m->arena, strings->count, err));
  for (uint32_t i = 0; i < strings->count; i++)
    if (m->kernel_communication[i])
      m->comm->names[i] = nai_comm_names_parse(patterns, nai_strings_get(strings, i));
  return nai_comm_names_check(patterns, err);
}

static bool communicates(const struct nai_model *m) {
  for (uint32_t i = 0; i < m->tables[NAI_IN_KERNELS]->strings.count; i++)
    if (m->kernel_communication[i])
      return true;
  return false;
}

static uint32_t count_items(const struct nai_model *m) {
  uint32_t count = 0;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++)
      count += m->gpus[g].ops[i].communication;
  return count;
}

static struct nai_comm_item item_of(const struct nai_model *m, uint32_t gpu, const struct nai_op *op) {
  const struct nai_comm_name *name = &m->comm->names[nai_val_text(&m->kernels.name, op->row)];
  uint32_t api = nai_model_op_api(m, op);
  return (struct nai_comm_item){.kernel = op->row,
                                .gpu = gpu,
                                .start = op->start,
                                .end = op->end,
                                .op = name->op,
                                .redop = name->redop,
                                .calls = NAI_NO_STRING,
                                .peer = NAI_COMM_UNKNOWN,
                                .sent = NAI_COMM_UNKNOWN,
                                .received = NAI_COMM_UNKNOWN,
                                .self = NAI_COMM_UNKNOWN,
                                .ranks = NAI_COMM_UNKNOWN,
                                .root = NAI_COMM_UNKNOWN,
                                .own = NAI_COMM_UNKNOWN,
                                .seq = NAI_COMM_UNKNOWN,
                                .launched = api == NAI_NO_ROW ? NAI_NULL_I64 : nai_val(&m->apis.start_ns, api),
                                .set = NAI_NO_ROW,
                                .late = NAI_NO_ROW};
}

static void fill_items(const struct nai_model *m) {
  struct nai_comm *c = m->comm;
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    c->first_of_gpu[g] = c->count;
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++)
      if (m->gpus[g].ops[i].communication)
        c->items[c->count++] = item_of(m, g, &m->gpus[g].ops[i]);
  }
  c->first_of_gpu[m->gpu_count] = c->count;
}

static bool same_stream(const struct nai_comm_stream *a, const struct nai_comm_stream *b) {
  return a->gpu == b->gpu && a->process == b->process && a->context == b->context && a->id == b->id;
}

/* Adds streams and ranks that are new; *number is that of the kernel before. Streams are few, and neighbours share
 * theirs. */
static int number_stream(uint32_t *number, struct nai_model *m, struct nai_comm_stream stream, struct nai_err *err) {
  struct nai_comm *c = m->comm;
  if (*number < c->stream_count && same_stream(&c->streams[*number], &stream))
    return NAI_OK;
  stream.rank = c->rank_count;
  for (*number = 0; *number < c->stream_count; ++*number) {
    const struct nai_comm_stream *s = &c->streams[*number];
    if (same_stream(s, &stream))
      return NAI_OK;
    if (s->gpu == stream.gpu && s->process == stream.process)
      stream.rank = s->rank;
  }
  if (c->stream_count == MAX_STREAMS)
    return nai_err_set(err, NAI_ELIMIT, "more than %d streams with communication", MAX_STREAMS);
  if (stream.rank == c->rank_count) {
    NAI_TRY(NAI_ROOM(c->ranks, c->rank_capacity, c->rank_count, &m->arena, err));
    c->ranks[c->rank_count++] = (struct nai_comm_rank){stream.gpu, stream.process};
  }
  NAI_TRY(NAI_ROOM(c->streams, c->stream_capacity, c->stream_count, &m->arena, err));
  c->streams[c->stream_count++] = stream;
  return NAI_OK;
}

static int number_streams(struct nai_model *m, struct nai_err *err) {
  const struct KERNEL_EVENTS_columns *k = &m->kernels;
  uint32_t stream = 0;
  for (uint32_t i = 0; i < m->comm->count; i++) {
    struct nai_comm_item *item = &m->comm->items[i];
    const struct nai_comm_stream wanted = {.gpu = item->gpu,
                                           .process = nai_at_i32(&k->process, item->kernel),
                                           .context = nai_at_i32(&k->context_id, item->kernel),
                                           .id = nai_at_i32(&k->stream_id, item->kernel)};
    NAI_TRY(number_stream(&stream, m, wanted, err));
    item->stream = stream;
    item->rank = m->comm->streams[stream].rank;
  }
  return NAI_OK;
}

/* --- the part --------------------------------------------------------------------------------- */

static int build(struct nai_model *m, struct nai_err *err) {
  uint32_t count = communicates(m) ? count_items(m) : 0;
  NAI_TRY(NAI_NEW(m->comm, &m->arena, 1, err));
  m->comm->texts.arena = &m->arena;
  NAI_TRY(NAI_NEW(m->comm->first_of_gpu, &m->arena, (size_t)m->gpu_count + 1, err));
  if (!count)
    return NAI_OK;
  NAI_TRY(NAI_NEW(m->comm->items, &m->arena, count, err));
  NAI_TRY(parse_names(m, err));
  fill_items(m);
  NAI_TRY(number_streams(m, err));
  NAI_TRY(nai_comm_read_calls(m, err));
  NAI_TRY(nai_comm_attribute(m, err));
  NAI_TRY(nai_comm_match(m, err));
  return nai_comm_expose(m, err);
}

/* What sorts the kernels of a GPU by their ends; the rest lies in files. */
static int64_t comm_bytes(const struct nai_model *m) { return m->kernels.n; }

const struct nai_part_def nai_part_comm = {
    .name = "communication",
    .needs =
        NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(RANGES) | NAI_PART(CALLS) | NAI_PART(GPUS) | NAI_PART(ACTIVE),
    .tables = NAI_IN(KERNELS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(THREADS) | NAI_IN(KERNEL_CONFIGS) |
              NAI_IN(NVTX_DOMAINS) | NAI_IN(NVTX_PAYLOADS) | NAI_IN(PAYLOAD_SCHEMAS) | NAI_IN(PAYLOAD_ENTRIES) |
              NAI_IN(PAYLOAD_ENUMS) | NAI_IN(DYNAMIC_PAYLOADS) | NAI_IN(GRAPH_NODES),
    .config = NAI_CONFIG(KERNEL_CLASSES),
    .begin = build,
    .bytes = comm_bytes};
