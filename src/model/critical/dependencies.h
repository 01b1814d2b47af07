/* What had to happen before what: a graph of starts and ends of CUDA calls and of operations on GPUs, replayed with
 * changed durations. Part DEPENDENCIES of the model; definitions: docs/analyses.md, "Critical path". Times are ns.
 *
 * Nodes 2 i and 2 i + 1 are the start and the end of call i, those from 2 call_count on the same of operations, GPU by
 * GPU. A node happens once everything it depends on has happened and the dependency's weight has passed, at the latest
 * of these times. Weights are made so that this is the recorded time; a node without dependencies keeps it. */
#pragma once

#include "model/model.h"

enum nai_dep_kind {
  NAI_DEP_HOST,       /* end of the thread's previous call -> start: the thread's own code */
  NAI_DEP_HANDOFF,    /* start or end of another thread's call -> start: threads that take turns, inferred */
  NAI_DEP_CALL,       /* start of a call -> its end */
  NAI_DEP_WAIT,       /* end of an operation -> end of the call that waits for it */
  NAI_DEP_STAGING,    /* start of a copy -> end of its call, which returned before the copy was complete */
  NAI_DEP_QUEUE,      /* start of an operation -> end of the call that found the launch queue full */
  NAI_DEP_LAUNCH,     /* start of a call, of one that stalled its end -> start of what it launched */
  NAI_DEP_STREAM,     /* end of the previous operation of the stream (its start, where they overlap) -> start */
  NAI_DEP_EVENT,      /* end of the operation before a recorded event -> start behind a wait for it */
  NAI_DEP_DEVICE,     /* end of another stream's operation on the same engine -> start */
  NAI_DEP_OPERATION,  /* start of an operation -> its end */
  NAI_DEP_COLLECTIVE, /* start of each member of a collective -> end of one */
  NAI_DEP_DROPPED,    /* could not be ordered: as if it were not there */
  NAI_DEP_KINDS
};
const char *nai_dep_kind_name(enum nai_dep_kind kind); /* "host", "call", ... */

struct nai_dep {
  int64_t weight;
  uint32_t from; /* node */
  uint8_t kind;  /* enum nai_dep_kind */
  bool inferred; /* no record says it: a hand-off, a wait for what ended then, a full queue */
};

/* What the graph leaves out or had to guess. */
struct nai_dep_quality {
  int64_t kinds[NAI_DEP_KINDS];      /* dependencies by kind */
  int64_t unlinked;                  /* operations whose launch is not recorded, and of them those */
  int64_t unlinked_behind;           /* behind a recorded launch of their stream, or of a process without calls */
  int64_t waits, waits_ns;           /* calls that wait for the GPU; their time */
  int64_t unresolved, unresolved_ns; /* of them: for what is not known */
  int64_t inferred;                  /* for what ended when they returned: no record says it */
  int64_t event_waits, events_without_record;
  int64_t unexplained, unexplained_ns; /* starts later than all that is known allows, by more than 20 us */
  int64_t queue_calls;                 /* calls that a full queue held up, by their duration */
  int64_t collectives, unmatched;      /* communication kernels joined with those of other GPUs, and not */
};

struct nai_dependencies {
  uint32_t call_count, op_count, node_count;
  uint32_t *call_api;   /* per call: row of api_events; calls inside others are none */
  uint32_t *first_call; /* per thread: its first call; thread_count + 1 entries */
  uint32_t *op_call;    /* per operation: the call that launched it, NAI_NO_ROW unknown */
  uint32_t *first_op;   /* per GPU: its first operation; gpu_count + 1 entries */
  int64_t *time;        /* per node: recorded */
  uint32_t *first;   /* per node: its dependencies in v, the one that decided its time first; node_count + 1 entries */
  struct nai_dep *v; /* all but those of plain nodes */
  int64_t count;     /* of dependencies, those of plain nodes too */
  /* per call that launched: the operation that has to start before the queue has a place for it, +1; 0 none */
  uint32_t *queue_place;
  bool disagrees; /* a node may not happen as soon as what it depends on lets it: then a replay is not the record */
  int64_t *launch_floor, *stream_floor; /* per GPU: the fastest tenth from call to start, between operations */
  struct nai_dep_quality quality;
};

static inline uint32_t nai_node_of_op(const struct nai_dependencies *d, uint32_t op) {
  return 2 * (d->call_count + op);
}
static inline bool nai_node_is_call(const struct nai_dependencies *d, uint32_t node) {
  return node < 2 * d->call_count;
}
/* The call or the operation whose start or end a node is. */
static inline uint32_t nai_node_call(uint32_t node) { return node / 2; }
static inline uint32_t nai_node_op(const struct nai_dependencies *d, uint32_t node) { return node / 2 - d->call_count; }
/* Most nodes depend on the node before them, as long behind it as recorded: the end of a call or an operation on its
 * start, the start of a call on the end of the thread's call before; the end of a launch on queue_place as well. Of
 * these plain nodes nothing is in v. The first call of a thread has one there that was dropped. */
static inline bool nai_dep_is_plain(const struct nai_dependencies *d, uint32_t node) {
  return d->first[node] == d->first[node + 1] && (node % 2 || nai_node_is_call(d, node));
}
static inline enum nai_dep_kind nai_plain_kind(const struct nai_dependencies *d, uint32_t node) {
  return !nai_node_is_call(d, node) ? NAI_DEP_OPERATION : node % 2 ? NAI_DEP_CALL : NAI_DEP_HOST;
}
enum { NAI_PLAIN_DEPS = 2 };
static inline uint32_t nai_deps_of_plain(struct nai_dep out[NAI_PLAIN_DEPS], const struct nai_dependencies *d,
                                         uint32_t node) {
  enum nai_dep_kind kind = nai_plain_kind(d, node);
  out[0] = (struct nai_dep){.weight = d->time[node] - d->time[node - 1], .from = node - 1, .kind = (uint8_t)kind};
  if (kind != NAI_DEP_CALL || !d->queue_place[nai_node_call(node)])
    return 1;
  uint32_t op = d->queue_place[nai_node_call(node)] - 1;
  out[1] = (struct nai_dep){.from = nai_node_of_op(d, op), .kind = NAI_DEP_QUEUE, .inferred = true};
  return 2;
}
/* The dependencies of a node: those in v, or those of a plain one, made in `plain`. */
struct nai_dep_list {
  const struct nai_dep *v, *end;
};
static inline struct nai_dep_list nai_deps_of(const struct nai_dependencies *d, uint32_t node,
                                              struct nai_dep plain[NAI_PLAIN_DEPS]) {
  if (!nai_dep_is_plain(d, node))
    return (struct nai_dep_list){d->v + d->first[node], d->v + d->first[node + 1]};
  return (struct nai_dep_list){plain, plain + nai_deps_of_plain(plain, d, node)};
}
/* The first call of a thread that starts at t or later; that behind its last one where none does. */
uint32_t nai_dep_call_from(const struct nai_dependencies *deps, uint32_t thread, int64_t t);
/* Whether a node has a dependency of one of these kinds, bits 1 << enum nai_dep_kind: none of those of plain nodes. */
static inline bool nai_dep_has(const struct nai_dependencies *d, uint32_t node, unsigned kinds) {
  for (uint32_t i = d->first[node]; i < d->first[node + 1]; i++)
    if (kinds >> d->v[i].kind & 1)
      return true;
  return false;
}
/* Index of the GPU of an operation, and the operation as the GPU has it. */
uint32_t nai_dep_op_gpu(const struct nai_dependencies *deps, uint32_t op, uint32_t gpu_count);
const struct nai_op *nai_dep_op(const struct nai_model *model, uint32_t op);
/* Pages that move are on no stream, whatever number they have. */
static inline bool nai_op_is_on_stream(const struct nai_model *m, const struct nai_op *op) {
  return op->type != NAI_OP_COPY || nai_at_i32(&m->memops.migration, op->row) != 1;
}

/* What is changed in a replay; what is NULL or 1 is kept. */
enum { NAI_ALSO_BEHIND = 3 };
struct nai_scenario {
  const float *op_factor;    /* per operation: of its duration; 0: it is not there */
  const uint8_t *no_wait;    /* per call: 1 when it no longer waits */
  const float *call_factor;  /* per call: of its duration */
  const int64_t *call_cut;   /* per call: taken off its duration, */
  const int64_t *host_cut;   /* and off the thread's own code before it */
  const uint8_t *off_stream; /* per operation: 1 when it no longer waits for what is before it on its stream */
  /* per operation: others that it waits for, +1; 0 none */
  const uint32_t *also_behind[NAI_ALSO_BEHIND];
  const uint8_t *runs_ahead; /* per call: 1 when it does not wait for another thread */
  double host_change;        /* of the threads' own code: by how much of its time, -1 to 0 or more */
  bool slow_return;          /* a call without its wait takes longer, and so does the code behind it */
};
/* The weight of a dependency of `node` under the scenario; false when it is gone. */
bool nai_dep_weight(int64_t *weight, const struct nai_dependencies *deps, const struct nai_scenario *scenario,
                    uint32_t node, const struct nai_dep *dep);
/* The dependency of `node` that only the scenario has by also_behind[which]; false for none. */
bool nai_dep_besides(struct nai_dep *out, const struct nai_dependencies *deps, const struct nai_scenario *scenario,
                     uint32_t node, int which);
/* What a call still takes that no longer waits, likely and at most; the code behind it then takes that much longer. */
enum { NAI_CALL_WITHOUT_WAIT_NS = 2000, NAI_SLOW_CALL_WITHOUT_WAIT_NS = 20000 };
#define NAI_SLOW_HOST 1.25
/* Nodes, each behind those of them that it depends on: all but those of which left_out has 1, which is overwritten;
 * NULL: all. The order is the arena's. O(dependencies). */
NAI_MUST_CHECK int nai_dep_order(uint32_t **order, uint32_t *count, const struct nai_dependencies *deps,
                                 uint8_t *left_out, struct nai_arena *arena, struct nai_err *err);
/* moved[node] = by how much later than recorded it happens under the scenario, of `count` nodes in order: 0 where
 * nothing is changed. What else they depend on happens as `moved` says. O(dependencies). */
void nai_dep_replay(int64_t *moved, const struct nai_model *model, const struct nai_scenario *scenario,
                    const uint32_t *order, uint32_t count);
/* slack[node] = by how much later it may happen, all else unchanged, without the last operation of any GPU ending later
 * than recorded. `order`: of all nodes. O(dependencies). */
void nai_dep_slack(int64_t *slack, const struct nai_model *model, const uint32_t *order);
/* When a node happens as `moved` says; NULL: as recorded. */
static inline int64_t nai_node_time(const struct nai_dependencies *d, const int64_t *moved, uint32_t node) {
  return moved ? d->time[node] + moved[node] : d->time[node];
}
/* When the first operation of any GPU starts; INT64_MAX for none. */
int64_t nai_dep_first_start(const struct nai_model *model, const int64_t *moved);
/* When the last operation of a GPU ends, of all GPUs where it is gpu_count. INT64_MIN for none. */
int64_t nai_dep_last_end(const struct nai_model *model, const int64_t *moved, uint32_t gpu);
