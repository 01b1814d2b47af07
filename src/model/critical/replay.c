/* When everything happens under changed durations. */
#include "model/critical/dependencies.h"

static int64_t scaled(int64_t ns, double factor) { return factor == 1 ? ns : llround((double)ns * factor); }

static bool waits_no_longer(const struct nai_scenario *s, uint32_t call) { return s->no_wait && s->no_wait[call]; }

static int64_t cut(const int64_t *cuts, uint32_t call, int64_t ns) {
  int64_t rest = cuts ? ns - cuts[call] : ns;
  return rest < 0 && ns > 0 ? 0 : rest;
}

static int64_t call_weight(const struct nai_scenario *s, uint32_t call, int64_t ns) {
  ns = cut(s->call_cut, call, ns);
  int64_t least = s->slow_return ? NAI_SLOW_CALL_WITHOUT_WAIT_NS : NAI_CALL_WITHOUT_WAIT_NS;
  if (waits_no_longer(s, call) && ns > least)
    ns = least;
  return s->call_factor ? scaled(ns, s->call_factor[call]) : ns;
}

static int64_t host_weight(const struct nai_scenario *s, uint32_t call, int64_t ns) {
  double factor = 1 + s->host_change;
  if (s->slow_return && waits_no_longer(s, call - 1))
    factor *= NAI_SLOW_HOST;
  return scaled(cut(s->host_cut, call, ns), factor);
}

/* Of code, of a call or of an operation what it takes itself, which is `ns` as recorded. */
static inline int64_t own_weight(const struct nai_dependencies *d, const struct nai_scenario *s, uint32_t node,
                                 enum nai_dep_kind kind, int64_t ns) {
  if (kind == NAI_DEP_HOST)
    return host_weight(s, nai_node_call(node), ns);
  if (kind == NAI_DEP_CALL)
    return call_weight(s, nai_node_call(node), ns);
  return s->op_factor ? scaled(ns, s->op_factor[nai_node_op(d, node)]) : ns;
}

/* Inline: a replay asks for every dependency. */
static inline bool weight_of(int64_t *weight, const struct nai_dependencies *d, const struct nai_scenario *s,
                             uint32_t node, const struct nai_dep *dep) {
  *weight = dep->weight;
  switch ((enum nai_dep_kind)dep->kind) {
  case NAI_DEP_DROPPED:
    return false;
  case NAI_DEP_HANDOFF: /* the code of both around it */
    *weight = scaled(dep->weight, 1 + s->host_change);
    return !s->runs_ahead || !s->runs_ahead[nai_node_call(node)];
  case NAI_DEP_WAIT: /* a call that is gone waits for nothing */
    return !waits_no_longer(s, nai_node_call(node)) && !(s->call_factor && s->call_factor[nai_node_call(node)] == 0);
  case NAI_DEP_STAGING:
    if (s->op_factor)
      *weight = scaled(dep->weight, s->op_factor[nai_node_op(d, dep->from)]);
    return !waits_no_longer(s, nai_node_call(node));
  case NAI_DEP_HOST:
  case NAI_DEP_CALL:
  case NAI_DEP_OPERATION:
  case NAI_DEP_COLLECTIVE:
    *weight = own_weight(d, s, node, (enum nai_dep_kind)dep->kind, dep->weight);
    return true;
  case NAI_DEP_LAUNCH:
  case NAI_DEP_STREAM:
    if (dep->kind == NAI_DEP_STREAM && s->off_stream && s->off_stream[nai_node_op(d, node)])
      return false;
    if (s->op_factor && s->op_factor[nai_node_op(d, node)] == 0 && *weight > 0)
      *weight = 0;
    return true;
  default:
    return true;
  }
}

bool nai_dep_weight(int64_t *weight, const struct nai_dependencies *d, const struct nai_scenario *s, uint32_t node,
                    const struct nai_dep *dep) {
  return weight_of(weight, d, s, node, dep);
}

/* The kinds of dependencies, as bits, that may weigh something else than recorded; BESIDES: some are the scenario's. */
#define BESIDES (1u << NAI_DEP_KINDS)
static uint32_t kinds_changed(const struct nai_scenario *s) {
  uint32_t kinds = 1u << NAI_DEP_DROPPED;
  for (int k = 0; k < NAI_ALSO_BEHIND; k++)
    kinds |= s->also_behind[k] ? BESIDES : 0;
  if (s->host_cut || s->slow_return || s->host_change != 0)
    kinds |= 1u << NAI_DEP_HOST | 1u << NAI_DEP_HANDOFF;
  if (s->call_cut || s->call_factor || s->no_wait)
    kinds |= 1u << NAI_DEP_CALL;
  if (s->no_wait || s->call_factor)
    kinds |= 1u << NAI_DEP_WAIT | 1u << NAI_DEP_STAGING;
  if (s->op_factor)
    kinds |= 1u << NAI_DEP_OPERATION | 1u << NAI_DEP_COLLECTIVE | 1u << NAI_DEP_STAGING | 1u << NAI_DEP_LAUNCH |
             1u << NAI_DEP_STREAM;
  if (s->runs_ahead)
    kinds |= 1u << NAI_DEP_HANDOFF;
  if (s->off_stream)
    kinds |= 1u << NAI_DEP_STREAM;
  return kinds;
}

bool nai_dep_besides(struct nai_dep *out, const struct nai_dependencies *d, const struct nai_scenario *s, uint32_t node,
                     int which) {
  const uint32_t *behind = s->also_behind[which];
  if (!behind || nai_node_is_call(d, node) || node % 2 || !behind[nai_node_op(d, node)])
    return false;
  uint32_t end = nai_node_of_op(d, behind[nai_node_op(d, node)] - 1) + 1;
  int64_t between = d->time[node] - d->time[end];
  *out = (struct nai_dep){.from = end, .weight = between < 0 ? between : 0, .kind = NAI_DEP_STREAM};
  return true;
}

static inline int64_t happens(const int64_t *moved, const struct nai_dependencies *d, const struct nai_scenario *s,
                              uint32_t changed, uint32_t node) {
  int64_t latest = INT64_MIN;
  struct nai_dep besides;
  for (int k = 0; changed & BESIDES && k < NAI_ALSO_BEHIND; k++) {
    if (!s->also_behind[k] || !nai_dep_besides(&besides, d, s, node, k))
      continue;
    int64_t t = nai_node_time(d, moved, besides.from) + besides.weight;
    latest = t > latest ? t : latest;
  }
  const struct nai_dep *dep = d->v + d->first[node], *end = d->v + d->first[node + 1];
  for (; dep < end; dep++) {
    int64_t weight = dep->weight, other; /* which has an address, and is seldom asked for */
    if (changed & 1u << dep->kind) {
      if (!weight_of(&other, d, s, node, dep))
        continue;
      weight = other;
    }
    int64_t t = d->time[dep->from] + moved[dep->from] + weight;
    latest = t > latest ? t : latest;
  }
  return latest == INT64_MIN ? d->time[node] : latest;
}

/* By how much a plain node moves: with the one before it, and by what the scenario makes of the time between. */
static inline int64_t plain_moves(const int64_t *moved, const struct nai_dependencies *d, const struct nai_scenario *s,
                                  uint32_t changed, uint32_t node) {
  const enum nai_dep_kind kind = nai_plain_kind(d, node);
  const int64_t ns = d->time[node] - d->time[node - 1];
  int64_t by = moved[node - 1] + (changed >> kind & 1 ? own_weight(d, s, node, kind, ns) - ns : 0);
  if (kind != NAI_DEP_CALL || !d->queue_place[nai_node_call(node)])
    return by;
  uint32_t place = nai_node_of_op(d, d->queue_place[nai_node_call(node)] - 1);
  int64_t until = nai_node_time(d, moved, place) - d->time[node];
  return until > by ? until : by;
}

void nai_dep_replay(int64_t *moved, const struct nai_model *m, const struct nai_scenario *scenario,
                    const uint32_t *order, uint32_t count) {
  const struct nai_dependencies *d = m->dependencies;
  uint32_t changed = kinds_changed(scenario);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t node = order[i];
    moved[node] = nai_dep_is_plain(d, node) ? plain_moves(moved, d, scenario, changed, node)
                                            : happens(moved, d, scenario, changed, node) - d->time[node];
  }
}

void nai_dep_slack(int64_t *slack, const struct nai_model *m, const uint32_t *order) {
  const struct nai_dependencies *d = m->dependencies;
  int64_t end = nai_dep_last_end(m, NULL, m->gpu_count);
  for (uint32_t i = 0; i < d->node_count; i++) /* first: the latest time */
    slack[i] = d->time[i] > end ? d->time[i] : end;
  for (uint32_t i = d->node_count; i-- > 0;) {
    uint32_t node = order[i];
    struct nai_dep plain[NAI_PLAIN_DEPS];
    struct nai_dep_list deps = nai_deps_of(d, node, plain);
    for (const struct nai_dep *dep = deps.v; dep < deps.end; dep++) {
      int64_t latest = slack[node] - dep->weight;
      if (dep->kind != NAI_DEP_DROPPED && latest < slack[dep->from])
        slack[dep->from] = latest;
    }
  }
  for (uint32_t i = 0; i < d->node_count; i++)
    slack[i] -= d->time[i];
}

int64_t nai_dep_first_start(const struct nai_model *m, const int64_t *moved) {
  const struct nai_dependencies *d = m->dependencies;
  int64_t first = INT64_MAX;
  for (uint32_t op = 0; op < d->op_count; op++) {
    int64_t start = nai_node_time(d, moved, nai_node_of_op(d, op));
    first = start < first ? start : first;
  }
  return first;
}

int64_t nai_dep_last_end(const struct nai_model *m, const int64_t *moved, uint32_t gpu) {
  const struct nai_dependencies *d = m->dependencies;
  uint32_t first = gpu < m->gpu_count ? d->first_op[gpu] : 0;
  uint32_t end = gpu < m->gpu_count ? d->first_op[gpu + 1] : d->op_count;
  int64_t latest = INT64_MIN;
  for (uint32_t op = first; op < end; op++) {
    int64_t at = nai_node_time(d, moved, nai_node_of_op(d, op) + 1);
    latest = at > latest ? at : latest;
  }
  return latest;
}
