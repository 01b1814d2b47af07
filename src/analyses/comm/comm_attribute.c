/* What was each communication kernel asked to do? From the range of NCCL's around the call that issued it. */
#include "analyses/comm/comm.h"
#include "base/buf.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* The range around t, NULL for none. Those of a thread do not overlap. */
static struct nai_comm_call *call_at(const struct nai_comm_calls *calls, int64_t t) {
  size_t i = nai_bisect(calls->v, calls->count, sizeof *calls->v, offsetof(struct nai_comm_call, start), t + 1);
  return i && calls->v[i - 1].end > t ? &calls->v[i - 1] : NULL;
}

static struct nai_comm_calls *calls_of(const struct nai_comm *c, const struct nai_comm_item *item) {
  return item->thread < 0 ? NULL : &c->calls[item->thread];
}

/* The collectives behind a range that launches: itself, or those of the group it ends. */
struct records {
  const struct nai_comm_call *v;
  uint32_t count; /* calls, of which collectives count */
};

static struct records records_of(const struct nai_comm_calls *calls, const struct nai_comm_call *call) {
  if (call->kind == NAI_COMM_COLLECTIVE)
    return (struct records){call, 1};
  return (struct records){calls->v + call->first, call->last - call->first};
}

static bool counts(const struct nai_comm_call *call) { return call->kind == NAI_COMM_COLLECTIVE; }

/* "Send x2, Recv x2": what was called, in order of first appearance. Names of collectives are few, and each is one text
 * in memory. NAI_NO_STRING for none. */
static int put_calls(uint32_t *text_id, struct nai_comm *c, const struct records *r, struct nai_err *err) {
  enum { MOST = 16 };
  const char *ops[MOST];
  uint32_t times[MOST], n = 0;
  struct nai_buf text = {0};
  for (uint32_t i = 0; i < r->count; i++) {
    uint32_t k = 0;
    while (k < n && ops[k] != r->v[i].op)
      k++;
    if (!counts(&r->v[i]) || k == MOST)
      continue;
    if (k == n) {
      ops[n] = r->v[i].op;
      times[n++] = 0;
    }
    times[k]++;
  }
  for (uint32_t k = 0; k < n; k++)
    nai_buf_printf(&text, times[k] > 1 ? "%s%s x%u" : "%s%s", k ? ", " : "", ops[k], times[k]);
  *text_id = n && !text.oom ? nai_strings_add(&c->texts, nai_buf_str(&text), text.len) : NAI_NO_STRING;
  nai_buf_free(&text);
  return n && *text_id == NAI_NO_STRING ? nai_err_nomem(err) : NAI_OK;
}

/* What holds for all collectives behind a kernel. */
struct summary {
  uint32_t count;
  bool sized, one_comm, one_peer, alike;
  int64_t sent, received;
  const struct nai_comm_call *first;
};

static bool same_value(const struct nai_payload *a, const struct nai_payload *b, enum nai_payload_field field) {
  return nai_payload_has(a, field) == nai_payload_has(b, field) &&
         (!nai_payload_has(a, field) || a->value[field] == b->value[field]);
}

static struct summary sum_up(const struct records *r) {
  struct summary s = {.sized = true, .one_comm = true, .one_peer = true, .alike = true};
  for (uint32_t i = 0; i < r->count; i++) {
    const struct nai_comm_call *call = &r->v[i];
    if (!counts(call))
      continue;
    s.count++;
    s.first = s.first ? s.first : call;
    s.one_comm = s.one_comm && same_value(&call->payload, &s.first->payload, NAI_PAYLOAD_COMM);
    s.one_peer = s.one_peer && nai_payload_has(&call->payload, NAI_PAYLOAD_PEER) &&
                 same_value(&call->payload, &s.first->payload, NAI_PAYLOAD_PEER);
    s.alike = s.alike && strcmp(call->op, s.first->op) == 0 &&
              same_value(&call->payload, &s.first->payload, NAI_PAYLOAD_BYTES);
    s.sized = s.sized && nai_payload_has(&call->payload, NAI_PAYLOAD_BYTES);
    int64_t bytes = s.sized ? call->payload.value[NAI_PAYLOAD_BYTES] : 0;
    if (strcmp(call->op, "Recv") != 0)
      s.sent += bytes;
    if (strcmp(call->op, "Send") != 0)
      s.received += bytes;
  }
  return s;
}

/* Several kernels of one group share its collectives only where those are alike: nothing tells whose is whose. */
static void take_summary(struct nai_comm *c, struct nai_comm_item *item, const struct nai_comm_call *call,
                         const struct summary *s) {
  bool mine = call->kernels == 1, shared = s->alike && s->count % call->kernels == 0;
  if (s->one_comm && nai_payload_has(&s->first->payload, NAI_PAYLOAD_COMM)) {
    item->known_comm = true;
    item->comm = s->first->payload.value[NAI_PAYLOAD_COMM];
  }
  if (s->one_peer)
    item->peer = s->first->payload.value[NAI_PAYLOAD_PEER];
  if (s->count == 1 && s->first->redop)
    item->redop = s->first->redop;
  if (s->sized && (mine || shared)) {
    item->sent = s->sent / call->kernels;
    item->received = s->received / call->kernels;
    c->sized++;
  }
}

/* Kernels of one group follow each other: what was found for the last one often holds for the next. */
struct attribution {
  const struct nai_comm_call *call;
  struct summary summary;
  uint32_t text;
};

static int look_at(struct attribution *a, struct nai_comm *c, const struct nai_comm_calls *calls,
                   const struct nai_comm_call *call, struct nai_err *err) {
  struct records records = records_of(calls, call);
  a->call = call;
  a->summary = sum_up(&records);
  return put_calls(&a->text, c, &records, err);
}

static int take_records(struct nai_comm *c, struct nai_comm_item *item, struct attribution *a, struct nai_err *err) {
  struct nai_comm_calls *calls = calls_of(c, item);
  struct nai_comm_call *call = calls ? call_at(calls, item->issued) : NULL;
  const struct summary *s = &a->summary;
  if (!call || (call->kind != NAI_COMM_COLLECTIVE && call->kind != NAI_COMM_GROUP_END))
    return NAI_OK;
  int rc = call == a->call ? NAI_OK : look_at(a, c, calls, call, err);
  if (rc || !s->count)
    return rc;
  c->attributed++;
  c->in_groups += call->kind == NAI_COMM_GROUP_END;
  c->captured += nai_at_i32(&c->m->kernels.graph_id, item->kernel) != NAI_NULL_I32;
  item->calls = a->text;
  take_summary(c, item, call, s);
  if (!item->op) { /* a generic kernel: what was called says what it does */
    bool point_to_point = strcmp(s->first->op, "Send") == 0 || strcmp(s->first->op, "Recv") == 0;
    item->op = point_to_point ? "SendRecv" : s->alike ? s->first->op : NULL;
  }
  return NAI_OK;
}

/* --- sizes of communicators ------------------------------------------------------------------- */

/* Ranks of each communicator: as its initialisation says, else as many processes as use it here. */
struct sizes {
  struct nai_keyset comms;
  int64_t *told;
  uint32_t *seen, *last_rank; /* ranks counted */
};

static int add_comm(struct sizes *s, int64_t comm, uint32_t *at, struct nai_err *err) {
  bool added;
  *at = nai_keyset_add(&s->comms, comm, &added);
  return s->comms.oom ? nai_err_nomem(err) : NAI_OK;
}

static int list_comms(struct sizes *s, const struct nai_comm *c, struct nai_err *err) {
  uint32_t at;
  int rc = NAI_OK;
  for (uint32_t i = 0; !rc && i < c->count; i++)
    if (c->items[i].known_comm)
      rc = add_comm(s, c->items[i].comm, &at, err);
  s->told = calloc((size_t)s->comms.count + 1, sizeof *s->told);
  s->seen = calloc((size_t)s->comms.count + 1, sizeof *s->seen);
  return rc ? rc : s->told && s->seen ? NAI_OK : nai_err_nomem(err);
}

static void ask_inits(struct sizes *s, const struct nai_comm *c) {
  for (uint32_t t = 0; t < c->m->thread_count; t++)
    for (uint32_t i = 0; i < c->calls[t].count; i++) {
      const struct nai_payload *p = &c->calls[t].v[i].payload;
      if (c->calls[t].v[i].kind != NAI_COMM_INIT || !nai_payload_has(p, NAI_PAYLOAD_COMM) ||
          !nai_payload_has(p, NAI_PAYLOAD_RANKS) || p->value[NAI_PAYLOAD_RANKS] < 1)
        continue;
      uint32_t at = nai_keyset_find(&s->comms, p->value[NAI_PAYLOAD_COMM]);
      if (at != UINT32_MAX)
        s->told[at] = p->value[NAI_PAYLOAD_RANKS];
    }
}

static int count_users(struct sizes *s, const struct nai_comm *c, struct nai_err *err) {
  struct nai_keyset users = {0}; /* communicator and rank */
  for (uint32_t i = 0; i < c->count; i++) {
    bool added = false;
    if (!c->items[i].known_comm)
      continue;
    uint32_t at = nai_keyset_find(&s->comms, c->items[i].comm);
    nai_keyset_add(&users, nai_key_pair(at, c->items[i].rank), &added);
    s->seen[at] += added;
  }
  int rc = users.oom ? nai_err_nomem(err) : NAI_OK;
  nai_keyset_free(&users);
  return rc;
}

static int size_comms(struct nai_comm *c, struct nai_err *err) {
  struct sizes s = {0};
  int rc = list_comms(&s, c, err);
  if (!rc && s.comms.count) {
    ask_inits(&s, c);
    rc = count_users(&s, c, err);
  }
  for (uint32_t i = 0; !rc && i < c->count; i++) {
    uint32_t at = c->items[i].known_comm ? nai_keyset_find(&s.comms, c->items[i].comm) : UINT32_MAX;
    if (at != UINT32_MAX && (s.told[at] || s.seen[at] > 1))
      c->items[i].ranks = s.told[at] ? s.told[at] : s.seen[at];
  }
  nai_keyset_free(&s.comms);
  free(s.told);
  free(s.seen);
  return rc;
}

int nai_comm_attribute(struct nai_comm *c, struct nai_err *err) {
  struct attribution last = {.text = NAI_NO_STRING};
  int rc = NAI_OK;
  for (uint32_t i = 0; i < c->count; i++) {
    struct nai_comm_calls *calls = calls_of(c, &c->items[i]);
    struct nai_comm_call *call = calls ? call_at(calls, c->items[i].issued) : NULL;
    if (call)
      call->kernels += c->items[i].first_run;
  }
  for (uint32_t i = 0; !rc && i < c->count; i++)
    rc = take_records(c, &c->items[i], &last, err);
  return rc ? rc : size_comms(c, err);
}
