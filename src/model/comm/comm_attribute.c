/* What was each communication kernel asked to do? From the range of NCCL's around the call that issued it: its launch;
 * of a kernel of a CUDA graph the call that was captured. */
#include "model/comm/comm_build.h"

#include "base/buf.h"
#include "base/sort.h"
#include "model/graphs/graph_origin.h"

/* --- the range around the call ---------------------------------------------------------------- */

static bool in_graph(const struct nai_model *m, const struct nai_comm_item *item) {
  return nai_at_i32(&m->kernels.graph_id, item->kernel) != NAI_NULL_I32;
}

/* Nodes of graphs seen so far. */
struct seen {
  struct nai_keyset ids, keys; /* node ids; process << 32 | number of the id */
};

static bool is_new(struct seen *seen, int32_t process, int64_t node) {
  bool added;
  uint32_t id = nai_keyset_add(&seen->ids, node, &added);
  nai_keyset_add(&seen->keys, nai_key_pair(process, id), &added);
  return added;
}

/* NULL for none. Those of a thread do not overlap. */
static struct nai_comm_call *range_around(const struct nai_model *m, uint32_t api) {
  int32_t thread = api == NAI_NO_ROW ? -1 : nai_val_i32(&m->apis.thread, api);
  if (thread < 0)
    return NULL;
  const struct nai_comm_calls *calls = &m->work->comm_calls[thread];
  int64_t t = nai_val(&m->apis.start_ns, api);
  size_t i = nai_bisect(calls->v, calls->count, sizeof *calls->v, offsetof(struct nai_comm_call, start), t + 1);
  return i && calls->v[i - 1].end > t ? &calls->v[i - 1] : NULL;
}

/* ranges[item]; and how many kernels each range launched: of a node of a graph the first run counts. */
static int find_ranges(struct nai_comm_call **ranges, struct nai_model *m, struct nai_err *err) {
  struct nai_arena *work = &m->work->arenas[NAI_PART_COMM];
  NAI_SCOPED(nai_graph_nodes) nodes = {0};
  struct seen seen = {{.arena = work}, {.arena = work}};
  bool captured = m->tables[NAI_IN_GRAPH_NODES]->rows > 0;
  for (uint32_t i = 0; i < m->comm->count; i++) {
    const struct nai_comm_item *item = &m->comm->items[i];
    int32_t process = nai_val_i32(&m->kernels.process, item->kernel);
    int64_t node = nai_at(&m->kernels.graph_node_id, item->kernel);
    uint32_t api = m->kernel_api[item->kernel];
    bool first_run = true;
    if (captured && in_graph(m, item) && process >= 0 && node != NAI_NULL_I64) {
      if (!nodes.m) /* most traces have none */
        NAI_TRY(nai_graph_nodes_new(&nodes, m, err));
      (void)nai_graph_node_call(&api, &nodes, process, node);
      first_run = is_new(&seen, process, node);
    }
    ranges[i] = range_around(m, api);
    if (ranges[i])
      ranges[i]->kernels += first_run;
  }
  return seen.ids.oom || seen.keys.oom ? nai_err_nomem(err) : NAI_OK;
}

/* --- what was called in it -------------------------------------------------------------------- */

/* The collectives behind a range that launches are itself, or those of the group that it ends: among the calls from
 * first_of on, up to itself, those that count. */
static const struct nai_comm_call *first_of(const struct nai_comm_call *call) { return call - call->in_group; }

static bool counts(const struct nai_comm_call *call) { return call->kind == NAI_COMM_COLLECTIVE; }

/* "Send x2, Recv x2": what was called, in order of first appearance. Names of collectives are few, and each is one text
 * in memory. NAI_NO_STRING for none. */
static int put_calls(uint32_t *text_id, struct nai_comm *c, const struct nai_comm_call *last, struct nai_err *err) {
  enum { MOST = 16 };
  const char *ops[MOST];
  uint32_t times[MOST], n = 0;
  NAI_SCOPED(nai_buf) text = {0};
  for (const struct nai_comm_call *call = first_of(last); call <= last; call++) {
    uint32_t k = 0;
    while (k < n && ops[k] != call->op)
      k++;
    if (!counts(call) || k == MOST)
      continue;
    if (k == n) {
      ops[n] = call->op;
      times[n++] = 0;
    }
    times[k]++;
  }
  for (uint32_t k = 0; k < n; k++) {
    nai_buf_puts(&text, k ? ", " : "");
    nai_buf_puts(&text, ops[k]);
    if (times[k] > 1)
      nai_buf_printf(&text, " x%u", times[k]);
  }
  *text_id = n && !text.oom ? nai_strings_add(&c->texts, nai_buf_str(&text), text.len) : NAI_NO_STRING;
  return n && *text_id == NAI_NO_STRING ? nai_err_nomem(err) : NAI_OK;
}

/* What holds for all collectives behind a kernel. */
struct summary {
  uint32_t count;
  bool sized, one_comm, one_peer, alike;
  bool self_known; /* of each send and receive, whether it is to the own rank */
  int64_t sent, received, self;
  const struct nai_comm_call *first;
  struct nai_interval on_gpu;
  uint32_t channels;
};

/* Adds the bytes of a call of which all are sized. A message to the own rank uses no link. */
static void add_bytes(struct summary *s, const struct nai_comm_call *call, int32_t process,
                      const struct nai_comm_selves *selves) {
  const struct nai_payload *p = &call->payload;
  bool send = strcmp(call->op, "Send") == 0, receive = strcmp(call->op, "Recv") == 0, to_self = false;
  if (send || receive) {
    int64_t own = nai_payload_has(p, NAI_PAYLOAD_COMM) ? nai_comm_self(selves, process, p->value[NAI_PAYLOAD_COMM])
                                                       : NAI_COMM_UNKNOWN;
    s->self_known = s->self_known && own != NAI_COMM_UNKNOWN && nai_payload_has(p, NAI_PAYLOAD_PEER);
    to_self = own != NAI_COMM_UNKNOWN && nai_payload_has(p, NAI_PAYLOAD_PEER) && p->value[NAI_PAYLOAD_PEER] == own;
  }
  s->self += to_self && send ? p->value[NAI_PAYLOAD_BYTES] : 0;
  s->sent += to_self || receive ? 0 : p->value[NAI_PAYLOAD_BYTES];
  s->received += to_self || send ? 0 : p->value[NAI_PAYLOAD_BYTES];
}

static struct summary sum_up(const struct nai_comm_call *last, int32_t process, const struct nai_comm_selves *selves) {
  struct summary s = {.sized = true, .one_comm = true, .one_peer = true, .alike = true, .self_known = true};
  for (const struct nai_comm_call *call = first_of(last); call <= last; call++) {
    if (!counts(call))
      continue;
    s.count++;
    s.first = s.first ? s.first : call;
    s.one_comm = s.one_comm && nai_payload_same(&call->payload, &s.first->payload, NAI_PAYLOAD_COMM);
    s.one_peer = s.one_peer && nai_payload_has(&call->payload, NAI_PAYLOAD_PEER) &&
                 nai_payload_same(&call->payload, &s.first->payload, NAI_PAYLOAD_PEER);
    s.alike = s.alike && strcmp(call->op, s.first->op) == 0 &&
              nai_payload_same(&call->payload, &s.first->payload, NAI_PAYLOAD_BYTES);
    s.sized = s.sized && nai_payload_has(&call->payload, NAI_PAYLOAD_BYTES);
    if (call->channels && (!s.channels || call->on_gpu.start < s.on_gpu.start))
      s.on_gpu.start = call->on_gpu.start;
    s.on_gpu.end = call->on_gpu.end > s.on_gpu.end ? call->on_gpu.end : s.on_gpu.end;
    s.channels = call->channels > s.channels ? call->channels : s.channels;
    if (s.sized)
      add_bytes(&s, call, process, selves);
  }
  return s;
}

/* Several kernels of one group share its collectives only where those are alike: nothing tells whose is whose. */
static void take_summary(struct nai_comm *c, struct nai_comm_item *item, const struct nai_comm_call *call,
                         const struct summary *s) {
  bool mine = call->kernels == 1, shared = s->alike && !s->self && s->count % call->kernels == 0;
  if (s->one_comm && nai_payload_has(&s->first->payload, NAI_PAYLOAD_COMM)) {
    item->known_comm = true;
    item->comm = s->first->payload.value[NAI_PAYLOAD_COMM];
    item->category = s->first->category;
  }
  if (s->one_peer)
    item->peer = s->first->payload.value[NAI_PAYLOAD_PEER];
  if (s->count == 1 && s->first->redop)
    item->redop = s->first->redop;
  if (s->count == 1 && nai_payload_has(&s->first->payload, NAI_PAYLOAD_ROOT))
    item->root = s->first->payload.value[NAI_PAYLOAD_ROOT];
  if (s->count == 1 && nai_payload_has(&s->first->payload, NAI_PAYLOAD_SEQ))
    item->seq = s->first->payload.value[NAI_PAYLOAD_SEQ];
  if (mine) {
    item->on_gpu = s->on_gpu;
    item->channels = s->channels;
  }
  if (s->sized && (mine || shared)) {
    item->sent = s->sent / call->kernels;
    item->received = s->received / call->kernels;
    item->self = s->self_known ? s->self : NAI_COMM_UNKNOWN;
    c->sized++;
  }
}

/* Kernels of one group follow each other: what was found for the last one often holds for the next. */
struct attribution {
  struct nai_comm_selves selves;
  struct nai_comm_traffic traffic;
  const struct nai_comm_call *call;
  struct summary summary;
  uint32_t text;
};

static int take_records(struct nai_model *m, struct nai_comm_item *item, const struct nai_comm_call *call,
                        struct attribution *a, struct nai_err *err) {
  struct nai_comm *c = m->comm;
  const struct summary *s = &a->summary;
  if (!call || (call->kind != NAI_COMM_COLLECTIVE && call->kind != NAI_COMM_GROUP_END))
    return NAI_OK;
  if (call != a->call) {
    a->call = call;
    a->summary = sum_up(call, nai_val_i32(&m->kernels.process, item->kernel), &a->selves);
    NAI_TRY(put_calls(&a->text, c, call, err));
  }
  if (!s->count)
    return NAI_OK;
  c->attributed++;
  c->in_groups += call->kind == NAI_COMM_GROUP_END;
  c->captured += in_graph(m, item);
  item->calls = a->text;
  take_summary(c, item, call, s);
  bool point_to_point = strcmp(s->first->op, "Send") == 0 || strcmp(s->first->op, "Recv") == 0;
  if (!item->op) /* a generic kernel: what was called says what it does */
    item->op = point_to_point ? "SendRecv" : s->alike ? s->first->op : NULL;
  if (!point_to_point && strcmp(s->first->op, "AllToAll") != 0)
    return NAI_OK;
  return nai_comm_add_traffic(&a->traffic, m, &a->selves, item, first_of(call), call, err);
}

/* --- sizes of communicators ------------------------------------------------------------------- */

/* Of two ranks the same number whoever asks; 0 where one is not known. */
static int64_t pair_of(int64_t a, int64_t b) {
  enum { MAX_RANKS = 1 << 24 };
  bool possible = a >= 0 && b >= 0 && a != b && a < MAX_RANKS && b < MAX_RANKS;
  return !possible ? 0 : a < b ? (a << 24 | b) + 1 : (b << 24 | a) + 1;
}

/* Ranks of each communicator: as its initialisation says, else as many processes as use it here. */
static int size_comms(struct nai_comm *c, const struct nai_comm_selves *selves, struct nai_arena *work,
                      struct nai_err *err) {
  struct nai_keyset comms = {.arena = work}, users = {.arena = work}; /* ids; communicator and rank */
  uint32_t *seen;
  bool added;
  NAI_TRY(NAI_NEW(seen, work, c->count, err));
  for (uint32_t i = 0; i < c->count; i++)
    if (c->items[i].known_comm) {
      uint32_t at = nai_keyset_add(&comms, c->items[i].comm, &added);
      nai_keyset_add(&users, nai_key_pair(at, c->items[i].rank), &added);
      seen[at] += added;
    }
  NAI_TRY(nai_memory_check(!comms.oom && !users.oom, err));
  for (uint32_t i = 0; i < c->count; i++) {
    struct nai_comm_item *item = &c->items[i];
    uint32_t users_here = item->known_comm ? seen[nai_keyset_find(&comms, item->comm)] : 0;
    int64_t told = item->known_comm ? nai_comm_size(selves, item->comm) : 0;
    if (told || users_here > 1)
      item->ranks = told ? told : users_here;
    if (!item->known_comm)
      continue;
    item->own = nai_comm_self(selves, c->ranks[item->rank].process, item->comm);
    item->parent = nai_comm_parent(selves, item->comm);
    if (item->ranks > 2)
      item->pair = pair_of(item->own, item->peer);
  }
  return NAI_OK;
}

static void name_senders(struct nai_comm *c, const struct nai_comm_selves *selves) {
  for (uint32_t i = 0; i < c->peer_count; i++)
    c->peers[i].self = nai_comm_self(selves, c->ranks[c->peers[i].rank].process, c->peers[i].comm);
}

int nai_comm_attribute(struct nai_model *m, struct nai_err *err) {
  struct nai_arena *work = &m->work->arenas[NAI_PART_COMM];
  struct attribution last = {.text = NAI_NO_STRING, .traffic = {{.arena = work}, {.arena = work}, {.arena = work}}};
  struct nai_comm_call **ranges;
  NAI_TRY(NAI_NEW(ranges, work, m->comm->count, err));
  NAI_TRY(nai_comm_selves(&last.selves, m->comm, work, err));
  NAI_TRY(find_ranges(ranges, m, err));
  for (uint32_t i = 0; i < m->comm->count; i++)
    NAI_TRY(take_records(m, &m->comm->items[i], ranges[i], &last, err));
  name_senders(m->comm, &last.selves);
  return size_comms(m->comm, &last.selves, work, err);
}
