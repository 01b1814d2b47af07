/* What starts and ends of operations depend on. */
#include "model/critical/dep_build.h"

#include "base/sort.h"
#include "model/comm/comm.h"

enum engine { COMPUTE, TO_DEVICE, TO_HOST, ENGINES };

struct walk {
  struct dep_builder *b;
  uint32_t *last;                   /* per stream: its last operation + 1 */
  uint32_t latest[ENGINES];         /* of the GPU: the operation that ends last, NAI_NO_ROW */
  size_t event;                     /* next of the event sources */
  uint32_t *members, *first_of_set; /* operations by collective */
  uint32_t *set_of_op;              /* NAI_NO_ROW: of none */
};

static enum engine engine_of(const struct nai_model *m, const struct nai_op *op) {
  int32_t kind = op->type == NAI_OP_COPY ? nai_at_i32(&m->memops.copy_kind, op->row) : 0;
  return kind == 1 ? TO_DEVICE : kind == 2 ? TO_HOST : COMPUTE;
}

/* The start of an operation. */
struct op_start {
  struct walk *w;
  uint32_t op, node, stream;
  int64_t time, floor; /* floor: between operations of the GPU */
  uint32_t deciding;   /* of its dependencies the one that lets it happen last, at `ready`; NAI_NO_ROW for none */
  int64_t ready;
};

/* It follows a node as soon as `floor` behind it. Inline: operations have two of these. */
static inline int add(struct op_start *s, uint32_t from, int64_t floor, enum nai_dep_kind kind, struct nai_err *err) {
  struct dep_builder *b = s->w->b;
  int64_t after = b->d->time[from], ready = dep_least(after + floor, s->time);
  if (ready > s->ready) {
    s->ready = ready;
    s->deciding = b->count;
  }
  return nai_dep_add(b, s->node, from, ready - after, kind, err);
}

/* A call that took long before it launched holds the launch up; else the launch follows its start. None follows a call
 * that began later. */
static int add_launch(struct op_start *s, uint32_t call, int64_t floor, struct nai_err *err) {
  enum { STALLED_MEDIANS = 4 };
  struct dep_builder *b = s->w->b;
  const struct nai_dependencies *d = b->d;
  int64_t begin = d->time[2 * call], end = d->time[2 * call + 1];
  if (s->time < begin - NAI_CLOCK_TOLERANCE_NS) {
    b->d->quality.kinds[NAI_DEP_DROPPED]++;
    return NAI_OK;
  }
  double median = b->call_median[nai_val_text(&b->m->apis.name, d->call_api[call])];
  bool stalled = s->time >= end && (double)(end - begin) > STALLED_MEDIANS * median;
  return add(s, 2 * call + stalled, floor, NAI_DEP_LAUNCH, err);
}

static int add_stream(struct op_start *s, uint32_t last, struct nai_err *err) {
  const struct nai_dependencies *d = s->w->b->d;
  uint32_t before = nai_node_of_op(d, last);
  /* they may overlap: then behind its start */
  return add(s, before + (d->time[before + 1] <= s->time), s->floor, NAI_DEP_STREAM, err);
}

static int add_events(struct op_start *s, struct nai_err *err) {
  struct walk *w = s->w;
  const struct dep_builder *b = w->b;
  for (; w->event < b->event_source_count && b->event_sources[w->event].key == s->op; w->event++)
    NAI_TRY(add(s, nai_node_of_op(b->d, b->event_sources[w->event].value) + 1, s->floor, NAI_DEP_EVENT, err));
  return NAI_OK;
}

/* What nothing else explains: the engine was busy with another stream's work. */
static int add_device(struct op_start *s, uint32_t other, struct nai_err *err) {
  const struct nai_dependencies *d = s->w->b->d;
  if (other == NAI_NO_ROW || s->w->b->stream_of_op[other] == s->stream)
    return NAI_OK;
  int64_t after = s->time - d->time[nai_node_of_op(d, other) + 1];
  return after < 0 || after > NAI_CLOCK_TOLERANCE_NS
           ? NAI_OK
           : add(s, nai_node_of_op(d, other) + 1, s->floor, NAI_DEP_DEVICE, err);
}

/* What stays unexplained belongs to nobody knows which of them: it stays on all. How much that is. */
static int64_t keep_unexplained(struct dep_builder *b, uint32_t first, int64_t rest) {
  if (rest <= NAI_CLOCK_TOLERANCE_NS)
    return 0;
  b->d->quality.unexplained++;
  b->d->quality.unexplained_ns += rest;
  for (uint32_t i = first; i < b->count; i++)
    b->d->v[i].weight += rest;
  return rest;
}

static int add_start(struct walk *w, uint32_t op, uint32_t node, uint32_t gpu, enum engine engine,
                     struct nai_err *err) {
  struct dep_builder *b = w->b;
  struct nai_dependencies *d = b->d;
  struct op_start s = {w, op, node, b->stream_of_op[op], d->time[node], d->stream_floor[gpu], NAI_NO_ROW, INT64_MIN};
  uint32_t first = b->count;
  d->first[node] = first;
  if (s.stream == NAI_NO_ROW)
    return NAI_OK;
  if (d->op_call[op] != NAI_NO_ROW)
    NAI_TRY(add_launch(&s, d->op_call[op], d->launch_floor[gpu], err));
  if (w->last[s.stream])
    NAI_TRY(add_stream(&s, w->last[s.stream] - 1, err));
  NAI_TRY(add_events(&s, err));
  if (s.deciding != NAI_NO_ROW && s.time - s.ready > NAI_CLOCK_TOLERANCE_NS) { /* later than what is known explains */
    NAI_TRY(add_device(&s, w->latest[engine], err));
    s.ready += keep_unexplained(b, first, s.time - s.ready);
  }
  nai_dep_settle_by(d, node, first, b->count, s.deciding, s.ready);
  w->last[s.stream] = op + 1;
  return NAI_OK;
}

/* When the last member of a collective starts; INT64_MAX where one ends before that: then they are not one. */
static int64_t all_arrived(const struct walk *w, uint32_t set) {
  const struct nai_dependencies *d = w->b->d;
  int64_t latest = INT64_MIN, ended = INT64_MAX;
  for (uint32_t i = w->first_of_set[set]; i < w->first_of_set[set + 1]; i++) {
    uint32_t node = nai_node_of_op(d, w->members[i]);
    latest = d->time[node] > latest ? d->time[node] : latest;
    ended = dep_least(ended, d->time[node + 1]);
  }
  return ended < latest ? INT64_MAX : latest;
}

static int add_end(struct walk *w, uint32_t op, uint32_t node, bool communication, struct nai_err *err) {
  struct nai_dependencies *d = w->b->d;
  uint32_t set = w->set_of_op ? w->set_of_op[op] : NAI_NO_ROW, first = w->b->count;
  int64_t arrived = set == NAI_NO_ROW ? INT64_MAX : all_arrived(w, set);
  d->first[node + 1] = first;
  d->quality.collectives += arrived != INT64_MAX;
  d->quality.unmatched += arrived == INT64_MAX && communication;
  if (arrived == INT64_MAX)
    return nai_dep_add_plain(w->b, node + 1, NAI_DEP_OPERATION, err);
  for (uint32_t i = w->first_of_set[set]; i < w->first_of_set[set + 1]; i++)
    NAI_TRY(nai_dep_add(w->b, node + 1, nai_node_of_op(d, w->members[i]), d->time[node + 1] - arrived,
                        NAI_DEP_COLLECTIVE, err));
  nai_dep_settle(d, node + 1, first, w->b->count);
  return NAI_OK;
}

/* --- collectives ------------------------------------------------------------------------------ */

/* Communication items and operations of a GPU come in the same order of starts, but equal starts may differ: rows
 * tell. */
static int find_members(struct walk *w, struct nai_err *err) {
  const struct nai_model *m = w->b->m;
  const struct nai_comm *comm = m->comm;
  uint32_t *op_of_kernel;
  if (!comm->set_count)
    return NAI_OK;
  NAI_TRY(NAI_NEW(op_of_kernel, w->b->arena, m->kernels.n, err));
  NAI_TRY(NAI_NEW(w->members, w->b->arena, comm->count, err));
  NAI_TRY(NAI_NEW(w->first_of_set, w->b->arena, (size_t)comm->set_count + 2, err));
  NAI_TRY(NAI_NEW(w->set_of_op, w->b->arena, w->b->d->op_count, err));
  for (uint32_t g = 0, op = 0; g < m->gpu_count; g++)
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++, op++) {
      w->set_of_op[op] = NAI_NO_ROW;
      if (m->gpus[g].ops[i].type == NAI_OP_KERNEL)
        op_of_kernel[m->gpus[g].ops[i].row] = op;
    }
  for (uint32_t i = 0; i < comm->count; i++)
    if (comm->items[i].set != NAI_NO_ROW)
      w->first_of_set[comm->items[i].set + 2]++;
  for (uint32_t s = 0; s < comm->set_count; s++)
    w->first_of_set[s + 2] += w->first_of_set[s + 1];
  for (uint32_t i = 0; i < comm->count; i++) {
    uint32_t set = comm->items[i].set, op = op_of_kernel[comm->items[i].kernel];
    if (set == NAI_NO_ROW)
      continue;
    w->set_of_op[op] = set;
    w->members[w->first_of_set[set + 1]++] = op;
  }
  return NAI_OK;
}

int nai_dep_add_operations(struct dep_builder *b, struct nai_err *err) {
  const struct nai_model *m = b->m;
  struct walk w = {.b = b};
  NAI_TRY(NAI_NEW(w.last, b->arena, b->stream_count, err));
  NAI_TRY(find_members(&w, err));
  for (uint32_t g = 0, op = 0; g < m->gpu_count; g++) {
    w.latest[COMPUTE] = w.latest[TO_DEVICE] = w.latest[TO_HOST] = NAI_NO_ROW;
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++, op++) {
      const struct nai_op *o = &m->gpus[g].ops[i];
      enum engine engine = engine_of(m, o);
      uint32_t *latest = &w.latest[engine], node = nai_node_of_op(b->d, op);
      NAI_TRY(add_start(&w, op, node, g, engine, err));
      NAI_TRY(add_end(&w, op, node, o->communication, err));
      if (*latest == NAI_NO_ROW || o->end > b->d->time[nai_node_of_op(b->d, *latest) + 1])
        *latest = op;
    }
  }
  return NAI_OK;
}
