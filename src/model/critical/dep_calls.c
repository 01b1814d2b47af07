/* What ends of calls depend on. */
#include "model/critical/dep_build.h"

#include "base/sort.h"

enum {
  COPY_RETURN_NS = 2000,      /* a blocking copy returns so long after it is complete, where no wait tells */
  QUEUE_FULL_NS = 100 * 1000, /* a launch is held up by a full queue when it takes this long, */
  QUEUE_FULL_MEDIANS = 20,    /* so many times what it mostly takes, */
  QUEUE_FULL_AHEAD = 256,     /* and so many operations are ahead of it */
  QUEUE_DEPTH = 1024          /* operations that a queue holds */
};

/* What a call takes by itself when it waits. */
static int64_t return_of(const struct dep_builder *b, uint32_t op) {
  int64_t ns = b->return_latency[b->streams[b->stream_of_op[op]].gpu];
  return ns ? ns : COPY_RETURN_NS;
}

struct call_end {
  struct dep_builder *b;
  uint32_t call, node;
  int64_t start, end;
  int64_t own; /* what it takes without what it waits for */
};

static int add_wait(struct call_end *c, uint32_t op, struct nai_err *err) {
  const struct nai_dependencies *d = c->b->d;
  uint32_t node = nai_node_of_op(d, op) + 1;
  int64_t after = c->end - d->time[node], returns = return_of(c->b, op);
  if (after < -NAI_CLOCK_TOLERANCE_NS)
    return NAI_OK; /* it did not wait for that */
  if (d->time[node] > c->start)
    c->own = dep_least(c->own, returns);
  return nai_dep_add(c->b, c->node, node, dep_least(after, returns), NAI_DEP_WAIT, err);
}

static int add_waits(struct call_end *c, struct nai_err *err) {
  struct nai_dep_quality *q = &c->b->d->quality;
  uint32_t ops[DEP_MAX_AWAITED];
  enum dep_knowledge how;
  const uint32_t api = c->b->d->call_api[c->call];
  if (!nai_model_api_blocks(c->b->m, api) || nai_model_free_waits(c->b->m, api)) /* add_free has those */
    return NAI_OK;
  q->waits++;
  q->waits_ns += c->end - c->start;
  uint32_t count = nai_dep_awaited(c->b, c->call, ops, &how);
  q->inferred += how == DEP_BY_TIME;
  q->unresolved += how == DEP_UNKNOWN;
  q->unresolved_ns += how == DEP_UNKNOWN ? c->end - c->start : 0;
  for (uint32_t i = 0; i < count; i++)
    NAI_TRY(add_wait(c, ops[i], err));
  for (uint32_t i = c->b->d->first[c->node]; i < c->b->count; i++)
    c->b->d->v[i].inferred = how == DEP_BY_TIME;
  return NAI_OK;
}

/* A free returns behind all work that was launched before it: the rest of its time is its own. */
static int add_free(struct call_end *c, struct nai_err *err) {
  const struct nai_dependencies *d = c->b->d;
  uint32_t ops[DEP_MAX_AWAITED], last = NAI_NO_ROW;
  int64_t until = c->start;
  for (uint32_t i = 0, n = nai_dep_awaited_by_free(c->b, c->call, ops); i < n; i++) {
    uint32_t node = nai_node_of_op(d, ops[i]) + 1;
    if (d->time[node] > c->end + NAI_CLOCK_TOLERANCE_NS)
      return NAI_OK; /* it did not wait */
    if (d->time[node] > until) {
      last = node;
      until = d->time[node];
    }
  }
  if (last == NAI_NO_ROW)
    return NAI_OK;
  c->own = dep_least(c->own, until < c->end ? c->end - until : 0);
  NAI_TRY(nai_dep_add(c->b, c->node, last, c->end - until, NAI_DEP_WAIT, err));
  c->b->d->v[c->b->count - 1].inferred = true;
  return NAI_OK;
}

/* Whether the thread stays in the call until the copy is made, or nearly. */
static bool copy_blocks(const struct dep_builder *b, uint32_t call, const struct nai_op *op) {
  enum { PAGEABLE = 0 };
  const struct nai_model *m = b->m;
  if (op->type != NAI_OP_COPY)
    return false;
  return b->wait[call] == DEP_COPIES || nai_at_i32(&m->memops.src_kind, op->row) == PAGEABLE ||
         nai_at_i32(&m->memops.dst_kind, op->row) == PAGEABLE;
}

static int add_copy(struct call_end *c, uint32_t op, struct nai_err *err) {
  const struct nai_dependencies *d = c->b->d;
  uint32_t node = nai_node_of_op(d, op);
  if (c->end <= d->time[node] || c->b->stream_of_op[op] == NAI_NO_ROW)
    return NAI_OK;
  if (c->end >= d->time[node + 1])
    return add_wait(c, op, err);
  c->own = dep_least(c->own, return_of(c->b, op));
  return nai_dep_add(c->b, c->node, node, c->end - d->time[node], NAI_DEP_STAGING, err);
}

/* How long calls of that name mostly take. */
static double median_of(const struct call_end *c) {
  return c->b->call_median[nai_val_text(&c->b->m->apis.name, c->b->d->call_api[c->call])];
}

/* A launch that is held up returns when an earlier operation of its stream starts. */
static int add_queue(struct call_end *c, uint32_t op, struct nai_err *err) {
  const struct dep_builder *b = c->b;
  const struct nai_dependencies *d = b->d;
  if (b->stream_of_op[op] == NAI_NO_ROW)
    return NAI_OK;
  const struct dep_stream *s = &b->streams[b->stream_of_op[op]];
  uint32_t place = b->place[op], at = place > QUEUE_DEPTH ? place - QUEUE_DEPTH : 0;
  int64_t ns = c->end - c->start;
  bool held = ns >= QUEUE_FULL_NS && place >= QUEUE_FULL_AHEAD && (double)ns > QUEUE_FULL_MEDIANS * median_of(c);
  if (held) { /* the last one that had started when the call returned */
    at = place;
    while (at > 0 && place - at < QUEUE_DEPTH * 2 && d->time[nai_node_of_op(d, b->stream_ops[s->first + at])] > c->end)
      at--;
    held = place - at >= QUEUE_FULL_AHEAD;
    at = held ? at : place > QUEUE_DEPTH ? place - QUEUE_DEPTH : 0;
  }
  uint32_t node = nai_node_of_op(d, b->stream_ops[s->first + at]);
  int64_t after = c->end - d->time[node];
  if (after < 0 || (!held && place < QUEUE_DEPTH))
    return NAI_OK;
  c->b->d->quality.queue_calls += held;
  if (held)
    c->own = dep_least(c->own, (int64_t)median_of(c));
  if (!held && after > 0 && b->count == d->first[c->node]) { /* the node stays plain */
    c->b->d->queue_place[c->call] = b->stream_ops[s->first + at] + 1;
    nai_dep_count(c->b, NAI_DEP_QUEUE);
    return NAI_OK;
  }
  return nai_dep_add(c->b, c->node, node, held ? after : 0, NAI_DEP_QUEUE, err);
}

static int add_owned(struct call_end *c, struct nai_err *err) {
  const struct dep_builder *b = c->b;
  const uint32_t *ops = b->call_ops + b->call_ops_first[c->call];
  uint32_t count = b->call_ops_first[c->call + 1] - b->call_ops_first[c->call];
  for (uint32_t i = 0; b->copies[c->call] && i < count; i++) {
    if (copy_blocks(b, c->call, nai_dep_op(b->m, ops[i])))
      NAI_TRY(add_copy(c, ops[i], err));
  }
  return count && c->own == c->end - c->start ? add_queue(c, ops[0], err) : NAI_OK;
}

static int add_call_end(struct dep_builder *b, uint32_t call, struct nai_err *err) {
  struct nai_dependencies *d = b->d;
  struct call_end c = {b, call, 2 * call + 1, d->time[2 * call], d->time[2 * call + 1], 0};
  uint32_t first = b->count;
  c.own = c.end - c.start;
  d->first[c.node] = first;
  if (b->wait[call] != DEP_NO_WAIT)
    NAI_TRY(add_waits(&c, err));
  if (b->wait[call] == DEP_FREES)
    NAI_TRY(add_free(&c, err));
  NAI_TRY(add_owned(&c, err));
  if (b->count == first)
    return nai_dep_add_plain(b, c.node, NAI_DEP_CALL, err);
  NAI_TRY(nai_dep_add(b, c.node, 2 * call, c.own, NAI_DEP_CALL, err));
  nai_dep_settle(d, c.node, first, b->count);
  return NAI_OK;
}

/* Behind the thread's previous call, and where it waited for another thread behind that. */
static int add_call_start(struct dep_builder *b, uint32_t call, const struct dep_handoff **next, struct nai_err *err) {
  struct nai_dependencies *d = b->d;
  uint32_t first = b->count;
  int64_t own = d->time[2 * call] - d->time[2 * call - 1];
  if (!b->handoff_count || *next == b->handoffs + b->handoff_count || (*next)->call != call)
    return nai_dep_add_plain(b, 2 * call, NAI_DEP_HOST, err);
  NAI_TRY(nai_dep_add(b, 2 * call, (*next)->from, (*next)->after, NAI_DEP_HANDOFF, err));
  own = dep_least(own, (*next)->own);
  ++*next;
  NAI_TRY(nai_dep_add(b, 2 * call, 2 * call - 1, own, NAI_DEP_HOST, err));
  nai_dep_settle(d, 2 * call, first, b->count);
  return NAI_OK;
}

/* Nothing: the node would be plain if nothing were there. */
static int add_first_start(struct dep_builder *b, uint32_t call, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(b->d->v, b->capacity, b->count, &b->m->arena, err));
  b->d->v[b->count++] = (struct nai_dep){.from = 2 * call, .kind = NAI_DEP_DROPPED};
  return NAI_OK;
}

int nai_dep_add_calls(struct dep_builder *b, struct nai_err *err) {
  struct nai_dependencies *d = b->d;
  const struct dep_handoff *handoff = b->handoffs;
  for (uint32_t thread = 0; thread < b->m->api_by_thread.groups; thread++)
    for (uint32_t call = b->d->first_call[thread]; call < b->d->first_call[thread + 1]; call++) {
      d->first[2 * call] = b->count;
      NAI_TRY(call > b->d->first_call[thread] ? add_call_start(b, call, &handoff, err) : add_first_start(b, call, err));
      NAI_TRY(add_call_end(b, call, err));
    }
  return NAI_OK;
}
