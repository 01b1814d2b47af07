#include "model/critical/path.h"

#include "model/idle/idle.h"
#include "tables/declare.h"

const char *nai_path_cause_name(enum nai_path_cause cause) { return nai_path_labels[cause].value; }
const char *nai_path_cause_title(enum nai_path_cause cause) { return nai_path_labels[cause].label; }

struct nai_path nai_path_at(const struct nai_model *m, const int64_t *moved, const struct nai_scenario *scenario,
                            uint32_t node, int64_t until) {
  static const struct nai_scenario unchanged = {0};
  return (struct nai_path){.model = m,
                           .moved = moved,
                           .scenario = scenario ? scenario : &unchanged,
                           .at = nai_node_time(m->dependencies, moved, node),
                           .until = until,
                           .node = node};
}

/* --- what a dependency is --------------------------------------------------------------------- */

static enum nai_path_cause operation_cause(const struct nai_model *m, uint32_t op) {
  const struct nai_op *o = nai_dep_op(m, op);
  if (o->communication)
    return NAI_PATH_COMMUNICATION;
  return o->type == NAI_OP_KERNEL ? NAI_PATH_KERNEL
       : o->type == NAI_OP_COPY   ? NAI_PATH_COPY
       : o->type == NAI_OP_SET    ? NAI_PATH_MEMSET
                                  : NAI_PATH_GRAPH;
}

static enum nai_path_cause call_cause(const struct nai_model *m, uint32_t call) {
  uint32_t api = m->dependencies->call_api[call];
  switch ((enum nai_api_class)m->api_class[nai_val_text(&m->apis.name, api)]) {
  case NAI_API_ALLOCATION:
    return NAI_PATH_ALLOCATION;
  case NAI_API_MODULE:
    return NAI_PATH_MODULE;
  default:
    return m->api_owns[api] ? NAI_PATH_LAUNCH_CALL : NAI_PATH_CUDA_CALL;
  }
}

/* The cause of a dependency that is all one thing. */
static enum nai_path_cause cause_of(const struct nai_model *m, uint32_t node, const struct nai_dep *dep) {
  switch ((enum nai_dep_kind)dep->kind) {
  case NAI_DEP_HOST:
  case NAI_DEP_HANDOFF:
    return NAI_PATH_HOST;
  case NAI_DEP_CALL:
    return call_cause(m, nai_node_call(node));
  case NAI_DEP_WAIT:
    return call_cause(m, nai_node_call(node)) == NAI_PATH_ALLOCATION ? NAI_PATH_ALLOCATION : NAI_PATH_SYNC_RETURN;
  case NAI_DEP_STAGING:
    return NAI_PATH_COPY;
  case NAI_DEP_QUEUE:
    return NAI_PATH_QUEUE_FULL;
  case NAI_DEP_DEVICE:
    return NAI_PATH_DEVICE_BUSY;
  case NAI_DEP_OPERATION:
  case NAI_DEP_COLLECTIVE:
    return operation_cause(m, nai_node_op(m->dependencies, node));
  default:
    return NAI_PATH_STREAM_GAP;
  }
}

/* --- walking ---------------------------------------------------------------------------------- */

static int64_t time_of(const struct nai_path *p, uint32_t node) {
  return nai_node_time(p->model->dependencies, p->moved, node);
}

/* Hands out [from, at) later, as far as it lies behind `until`; pieces come from the end backwards, so this is the
 * last one so far. */
static void piece(struct nai_path *p, int64_t from, enum nai_path_cause cause, const struct nai_dep *dep) {
  from = from > p->until ? from : p->until;
  if (from >= p->at)
    return;
  p->pieces[p->count++] = (struct nai_path_segment){from, p->at, cause, p->node, *dep};
  p->at = from;
}

/* In the call, then at most so long behind it, then nobody knows. */
static void launch_pieces(struct nai_path *p, const struct nai_dep *dep) {
  const struct nai_dependencies *d = p->model->dependencies;
  uint32_t call = nai_node_call(dep->from), gpu = nai_dep_op_gpu(d, nai_node_op(d, p->node), p->model->gpu_count);
  int64_t begin = time_of(p, dep->from), end = time_of(p, 2 * call + 1), limit = 2 * d->launch_floor[gpu];
  limit = limit > NAI_CLOCK_TOLERANCE_NS ? limit : NAI_CLOCK_TOLERANCE_NS;
  end = end < begin ? begin : end;
  piece(p, end + limit, NAI_PATH_UNEXPLAINED, dep);
  piece(p, end, NAI_PATH_LAUNCH_LATENCY, dep);
  piece(p, begin, NAI_PATH_LAUNCH_CALL, dep);
}

/* Short distances in a stream are its own, longer ones nobody's. */
static void stream_pieces(struct nai_path *p, const struct nai_dep *dep) {
  int64_t begin = time_of(p, dep->from);
  piece(p, begin + NAI_CLOCK_TOLERANCE_NS, NAI_PATH_UNEXPLAINED, dep);
  piece(p, begin, NAI_PATH_STREAM_GAP, dep);
}

static const struct nai_dep none = {.kind = NAI_DEP_DROPPED};

/* The dependency that decided when the node happened. */
static struct nai_dep deciding(const struct nai_path *p) {
  const struct nai_dependencies *d = p->model->dependencies;
  struct nai_dep plain[NAI_PLAIN_DEPS], besides, best = none;
  const struct nai_dep_list deps = nai_deps_of(d, p->node, plain);
  int64_t latest = INT64_MIN, weight;
  if (!p->moved && deps.v < deps.end && deps.v->kind != NAI_DEP_DROPPED)
    return *deps.v;
  for (int k = 0; k < NAI_ALSO_BEHIND; k++)
    if (p->scenario->also_behind[k] && nai_dep_besides(&besides, d, p->scenario, p->node, k) &&
        time_of(p, besides.from) + besides.weight > latest) {
      latest = time_of(p, besides.from) + besides.weight;
      best = besides;
    }
  for (const struct nai_dep *dep = deps.v; dep < deps.end; dep++)
    if (nai_dep_weight(&weight, d, p->scenario, p->node, dep) && time_of(p, dep->from) + weight > latest) {
      latest = time_of(p, dep->from) + weight;
      best = *dep;
    }
  return best;
}

static void step_back(struct nai_path *p) {
  const struct nai_dep dep = deciding(p);
  if (dep.kind == NAI_DEP_DROPPED) {
    piece(p, p->until, NAI_PATH_NOT_RECORDED, &dep);
    p->at = p->until;
    return;
  }
  if (dep.kind == NAI_DEP_LAUNCH)
    launch_pieces(p, &dep);
  else if (dep.kind == NAI_DEP_STREAM || dep.kind == NAI_DEP_EVENT)
    stream_pieces(p, &dep);
  else
    piece(p, time_of(p, dep.from), cause_of(p->model, p->node, &dep), &dep);
  p->node = dep.from;
}

bool nai_path_next(struct nai_path *p, struct nai_path_segment *out) {
  if (p->next == p->count) {
    p->next = p->count = 0;
    while (!p->count && p->at > p->until)
      step_back(p);
    if (!p->count)
      return false;
  }
  *out = p->pieces[p->next++];
  return true;
}

int64_t nai_path_margin(const struct nai_model *m, const struct nai_path_segment *s) {
  const struct nai_dependencies *d = m->dependencies;
  struct nai_dep plain[NAI_PLAIN_DEPS];
  const struct nai_dep_list deps = nai_deps_of(d, s->node, plain);
  const struct nai_dep *decided = NULL;
  int64_t latest = INT64_MIN;
  for (const struct nai_dep *dep = deps.v; s->dep.kind != NAI_DEP_DROPPED && dep < deps.end; dep++)
    if (!decided && dep->from == s->dep.from && dep->kind == s->dep.kind && dep->weight == s->dep.weight)
      decided = dep;
    else if (dep->kind != NAI_DEP_DROPPED && d->time[dep->from] + dep->weight > latest)
      latest = d->time[dep->from] + dep->weight;
  return latest == INT64_MIN ? NAI_NULL_I64 : d->time[s->node] - latest;
}

/* --- names ------------------------------------------------------------------------------------ */

uint32_t nai_path_call(const struct nai_model *m, const struct nai_path_segment *s) {
  const struct nai_dependencies *d = m->dependencies;
  if (s->dep.kind == NAI_DEP_DROPPED)
    return NAI_NO_ROW;
  if (s->dep.kind == NAI_DEP_LAUNCH)
    return d->call_api[nai_node_call(s->dep.from)];
  if (nai_node_is_call(d, s->node))
    return d->call_api[nai_node_call(s->node)];
  uint32_t call = d->op_call[nai_node_op(d, s->node)];
  return call == NAI_NO_ROW ? NAI_NO_ROW : d->call_api[call];
}

const char *nai_path_op_name(char room[NAI_KIND_NAME_MAX], const struct nai_model *m, const struct nai_op *op) {
  return op->type == NAI_OP_KERNEL ? nai_model_kernel_name(m, op->row)
       : op->type == NAI_OP_GRAPH  ? "CUDA graph"
                                   : nai_model_direction(room, m, op->row);
}

const char *nai_path_subject(char room[NAI_KIND_NAME_MAX], const struct nai_model *m,
                             const struct nai_path_segment *s) {
  const struct nai_dependencies *d = m->dependencies;
  uint32_t node = s->dep.kind == NAI_DEP_STAGING ? s->dep.from : s->node;
  if (s->dep.kind == NAI_DEP_DROPPED)
    return "";
  if (s->dep.kind == NAI_DEP_LAUNCH || nai_node_is_call(d, node))
    return nai_model_api_name(m, nai_path_call(m, s));
  return nai_path_op_name(room, m, nai_dep_op(m, nai_node_op(d, node)));
}
