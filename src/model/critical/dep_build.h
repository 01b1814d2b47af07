/* How the graph of dependencies is built. Internal to src/model/critical. */
#pragma once

#include "model/build.h"
#include "model/critical/dependencies.h"
#include "model/idle/idle.h"
#include "tables/cuda_event_events.h"
#include "tables/sync_events.h"

/* Operations of one stream, in order of their starts. */
struct dep_stream {
  uint32_t gpu, first, count; /* in dep_builder.stream_ops */
};

/* Dependencies on what happens later, or at the same time and has a greater number: each circle has one. */
struct dep_steps_back {
  uint32_t *nodes, count, node_capacity, at_capacity;
  struct nai_interval *at; /* from the node's time to that of what it depends on */
};

/* A call that another thread's call had to come before. */
struct dep_handoff {
  uint32_t call, from; /* node of the other thread */
  int64_t after, own;  /* start of the call after that node; what its thread does itself since its call before */
};

struct dep_builder {
  struct nai_model *m;
  struct nai_dependencies *d;
  struct nai_arena *arena;  /* freed when the part is built */
  uint32_t capacity, count; /* of d->v */
  struct dep_steps_back steps_back;
  uint32_t *call_of_api;        /* per row of api_events, the outermost call around it; NAI_NO_ROW */
  struct dep_handoff *handoffs; /* in order of calls */
  uint32_t handoff_count;
  uint32_t *call_ops_first, *call_ops; /* operations by call */
  bool *copies;                        /* per call: a copy is among them */
  double *call_median;                 /* per name of api_events */
  /* streams of all GPUs, one GPU after the other */
  uint32_t stream_count, *first_stream; /* per GPU */
  struct dep_stream *streams;
  uint32_t *stream_ops, *stream_of_op; /* operations by stream; the stream of each, NAI_NO_ROW: of none */
  uint32_t *place;                     /* per operation: in its stream */
  int64_t *submitted;                  /* beside stream_ops: all up to here were launched by then */
  struct nai_keyset contexts, ids;     /* process and context; that and stream -> place in stream_by_id */
  uint32_t *stream_by_id;
  struct nai_groups process_streams;
  /* records of synchronisation and events by call */
  uint8_t *wait;                 /* per call: enum dep_wait */
  uint32_t *waits, wait_count;   /* calls with another one than DEP_NO_WAIT */
  uint32_t *sync_of_call;        /* row of sync_events + 1, 0 for none */
  uint32_t *event_awaited;       /* per call that waits for an event: operation + 1 before its record, 0 unknown */
  struct nai_key *event_sources; /* operation behind a wait for an event: operation before the record, sorted */
  size_t event_source_count;
  int64_t *return_latency; /* per GPU: median from the end of an operation to the return of the wait for it */
};

/* dep_order.c: that a node depends on what does not happen earlier. */
NAI_MUST_CHECK int nai_dep_note_step_back(struct dep_builder *b, uint32_t node, uint32_t from, struct nai_err *err);
static inline void nai_dep_count(struct dep_builder *b, enum nai_dep_kind kind) {
  b->d->count++;
  b->d->quality.kinds[kind]++;
}
static inline NAI_MUST_CHECK int nai_dep_add(struct dep_builder *b, uint32_t node, uint32_t from, int64_t weight,
                                             enum nai_dep_kind kind, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(b->d->v, b->capacity, b->count, &b->m->arena, err));
  if (b->d->time[from] >= b->d->time[node])
    NAI_TRY(nai_dep_note_step_back(b, node, from, err));
  b->d->v[b->count++] = (struct nai_dep){.weight = weight,
                                         .from = from,
                                         .kind = (uint8_t)kind,
                                         .inferred = kind == NAI_DEP_HANDOFF || kind == NAI_DEP_QUEUE};
  nai_dep_count(b, kind);
  return NAI_OK;
}
/* The node stays plain. */
static inline NAI_MUST_CHECK int nai_dep_add_plain(struct dep_builder *b, uint32_t node, enum nai_dep_kind kind,
                                                   struct nai_err *err) {
  if (b->d->time[node - 1] > b->d->time[node])
    NAI_TRY(nai_dep_note_step_back(b, node, node - 1, err));
  nai_dep_count(b, kind);
  return NAI_OK;
}
/* Of dependencies first .. end - 1, those of a node, the one that decides its time; NAI_NO_ROW for none. *ready: when
 * it lets the node happen, INT64_MIN without one. */
static inline uint32_t nai_dep_deciding(int64_t *ready, const struct nai_dependencies *d, uint32_t first,
                                        uint32_t end) {
  uint32_t best = NAI_NO_ROW;
  *ready = INT64_MIN;
  for (uint32_t i = first; i < end; i++) {
    int64_t t = d->time[d->v[i].from] + d->v[i].weight;
    if (t > *ready && d->v[i].kind != NAI_DEP_DROPPED) {
      best = i;
      *ready = t;
    }
  }
  return best;
}
/* Notes when one of them disagrees with the node's recorded time. */
void nai_dep_note_disagreement(struct nai_dependencies *d, uint32_t node, uint32_t first, uint32_t end, uint32_t best);
/* Makes them give the node's recorded time, and puts the deciding one, `best`, in front. */
static inline void nai_dep_settle_by(struct nai_dependencies *d, uint32_t node, uint32_t first, uint32_t end,
                                     uint32_t best, int64_t ready) {
  if (best == NAI_NO_ROW)
    return;
  if (ready > d->time[node])
    nai_dep_note_disagreement(d, node, first, end, best);
  struct nai_dep deciding = d->v[best];
  deciding.weight += d->time[node] - ready;
  d->v[best] = d->v[first];
  d->v[first] = deciding;
}
static inline void nai_dep_settle(struct nai_dependencies *d, uint32_t node, uint32_t first, uint32_t end) {
  int64_t ready;
  uint32_t best = nai_dep_deciding(&ready, d, first, end);
  nai_dep_settle_by(d, node, first, end, best, ready);
}

/* Streams, and who is behind whom in them. */
NAI_MUST_CHECK int nai_dep_find_streams(struct dep_builder *b, struct nai_err *err);
uint32_t nai_dep_stream_number(const struct dep_builder *b, int32_t process, int32_t context, int32_t id);
/* The last operation of a stream that was launched before t, NAI_NO_ROW for none; the first one that was not. */
uint32_t nai_dep_last_submitted(const struct dep_builder *b, uint32_t stream, int64_t t);
uint32_t nai_dep_first_behind(const struct dep_builder *b, uint32_t stream, int64_t t);

/* What calls wait for, by their names. */
enum dep_wait {
  DEP_NO_WAIT,
  DEP_WAIT_FOR_ALL,
  DEP_WAIT_FOR_STREAM,
  DEP_WAIT_FOR_EVENT,
  DEP_COPIES,       /* and mostly returns when that is done */
  DEP_STREAM_WAITS, /* for an event */
  DEP_FREES         /* memory, behind all that was launched before */
};
/* Whether the thread waits in a call. */
static inline bool nai_dep_waits(const struct dep_builder *b, uint32_t call) {
  return b->wait[call] == DEP_WAIT_FOR_ALL || b->wait[call] == DEP_WAIT_FOR_STREAM ||
         b->wait[call] == DEP_WAIT_FOR_EVENT;
}
enum { DEP_MAX_AWAITED = 64 };
NAI_MUST_CHECK int nai_dep_find_waits(struct dep_builder *b, struct nai_err *err);
/* The operations that a call waits for; how many, none of a call that does not wait. */
enum dep_knowledge { DEP_RECORDED, DEP_BY_TIME, DEP_UNKNOWN };
uint32_t nai_dep_awaited(const struct dep_builder *b, uint32_t call, uint32_t ops[DEP_MAX_AWAITED],
                         enum dep_knowledge *how);
/* The last operations of each stream that a call which frees memory waits for, as the manual says of it; of others
 * none. */
uint32_t nai_dep_awaited_by_free(const struct dep_builder *b, uint32_t call, uint32_t ops[DEP_MAX_AWAITED]);
NAI_MUST_CHECK int nai_dep_measure_returns(struct dep_builder *b, struct nai_err *err);

NAI_MUST_CHECK int nai_dep_find_handoffs(struct dep_builder *b, struct nai_err *err);
NAI_MUST_CHECK int nai_dep_add_calls(struct dep_builder *b, struct nai_err *err);
NAI_MUST_CHECK int nai_dep_add_operations(struct dep_builder *b, struct nai_err *err);
/* Drops what would make a circle. */
NAI_MUST_CHECK int nai_dep_break_circles(struct dep_builder *b, struct nai_err *err);

static inline int64_t dep_least(int64_t a, int64_t b) { return a < b ? a : b; }
