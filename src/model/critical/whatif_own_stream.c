/* Copies to the GPU, or communication, on a stream of their own. */
#include "model/critical/whatif_edit.h"

/* What each change makes operations wait for. */
enum { COPIES, COMPUTE, RESULTS };

/* The last operations of a stream, +1; 0 for none. */
struct last {
  uint32_t copy, other;
};

static bool is_upload(const struct nai_model *m, const struct nai_op *op) {
  return op->type == NAI_OP_COPY && nai_at_i32(&m->memops.copy_kind, op->row) == 1 && nai_op_is_on_stream(m, op);
}

static uint32_t pass_copies(const struct nai_model *m, uint32_t gpu, uint32_t node) {
  const struct nai_dependencies *d = m->dependencies;
  uint32_t op = nai_node_op(d, node);
  while (op + 1 < d->first_op[gpu + 1] &&
         (is_upload(m, nai_dep_op(m, op)) || !nai_op_is_on_stream(m, nai_dep_op(m, op))))
    op++;
  return nai_node_of_op(d, op);
}

int nai_whatif_pass_copies(struct nai_whatif *w, struct nai_err *err) {
  NAI_TRY(NAI_NEW(w->behind_copies, w->arena, w->count, err));
  for (uint32_t i = 0; i < w->count; i++) {
    struct nai_path_scope *scope = &w->behind_copies[i];
    *scope = w->scopes[i];
    if (scope->kind == NAI_SCOPE_WINDOW)
      continue;
    NAI_TRY(NAI_NEW(scope->nodes, w->arena, (size_t)scope->count + 1, err));
    for (uint32_t k = 0; k <= scope->count; k++)
      scope->nodes[k] = pass_copies(w->model, scope->gpu, w->scopes[i].nodes[k]);
  }
  return NAI_OK;
}

/* Behind a dependency that was dropped the order of the replay does not hold. */
static bool lost_one(const struct nai_dependencies *d, uint32_t node) {
  return nai_dep_has(d, node, 1 << NAI_DEP_DROPPED);
}

/* A copy waits for the copy before it, what follows it for it and for what was before it. */
static void move(struct edit *e, struct last *last, uint32_t op, bool upload) {
  const struct nai_dependencies *d = e->m->dependencies;
  if (lost_one(d, nai_node_of_op(d, op)))
    *last = (struct last){0};
  if (upload && last->other > last->copy) {
    e->of.off_stream[op] = 1;
    e->of.also_behind[COPIES][op] = last->copy;
    e->edited++;
  } else if (!upload && last->copy > last->other) {
    e->of.also_behind[COPIES][op] = last->other;
  }
  *(upload ? &last->copy : &last->other) = op + 1;
}

int nai_edit_own_stream(struct edit *e, enum nai_case which, struct nai_err *err) {
  const struct nai_model *m = e->m;
  if (which == NAI_CASE_LOW) /* the GPU may still read what the copy overwrites */
    return NAI_OK;
  NAI_TRY(nai_edit_streams(e, err));
  NAI_TRY(nai_edit_behind(e, COPIES, err));
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    struct last *last;
    NAI_TRY(NAI_NEW(last, e->arena, m->gpus[g].stream_count, err));
    for (uint32_t i = e->w->ops[g].first; i < e->w->ops[g].end; i++) {
      const struct nai_op *op = &m->gpus[g].ops[i];
      if (nai_op_is_on_stream(m, op))
        move(e, &last[op->stream], m->dependencies->first_op[g] + i, is_upload(m, op));
    }
  }
  return NAI_OK;
}

/* --- communication ---------------------------------------------------------------------------- */

/* Kernels beside communication take so much longer. */
#define BESIDE_COMMUNICATION 1.3

/* Of a stream: the last operation that is no communication, the last two that are, +1; 0 for none. */
struct last_comm {
  uint32_t compute, comm, before;
  int64_t end;     /* of the last one of any kind */
  int64_t left_ns; /* of the last communication, that kernels may still run beside */
};

struct comm_move {
  struct edit *e;
  enum nai_case which;
  uint8_t *begins; /* per operation: 1 where a repetition begins */
};

static int find_beginnings(struct comm_move *c, struct nai_err *err) {
  const struct nai_whatif *w = c->e->w;
  const struct nai_dependencies *d = w->model->dependencies;
  NAI_TRY(NAI_NEW(c->begins, c->e->arena, d->op_count, err));
  for (uint32_t i = 0; i < w->count; i++)
    for (uint32_t k = 0; w->scopes[i].kind != NAI_SCOPE_WINDOW && k <= w->scopes[i].count; k++)
      c->begins[nai_node_op(d, w->scopes[i].nodes[k])] = 1;
  return NAI_OK;
}

static void slow_down(struct comm_move *c, struct last_comm *last, uint32_t op) {
  const struct nai_dependencies *d = c->e->m->dependencies;
  int64_t ns = d->time[nai_node_of_op(d, op) + 1] - d->time[nai_node_of_op(d, op)];
  int64_t beside = ns < last->left_ns ? ns : last->left_ns;
  last->left_ns -= beside;
  if (beside > 0 && c->which != NAI_CASE_HIGH)
    c->e->of.op_factor[op] *= (float)(1 + (BESIDE_COMMUNICATION - 1) * (double)beside / (double)ns);
}

/* What follows a collective waits for what computed before it. Its result is awaited behind the next collective, in the
 * favorable case where the next repetition begins. */
static void pass(struct comm_move *c, struct last_comm *last, uint32_t op) {
  struct edit *e = c->e;
  if (last->comm > last->compute) {
    e->of.off_stream[op] = 1;
    e->of.also_behind[COMPUTE][op] = last->compute;
    e->of.also_behind[RESULTS][op] = c->begins[op] ? last->comm : c->which == NAI_CASE_HIGH ? 0 : last->before;
    e->edited++;
  } else if (c->begins[op]) {
    e->of.also_behind[RESULTS][op] = last->comm;
  }
  slow_down(c, last, op);
  last->compute = op + 1;
}

static void move_comm(struct comm_move *c, struct last_comm *last, uint32_t op, bool comm) {
  const struct nai_dependencies *d = c->e->m->dependencies;
  uint32_t node = nai_node_of_op(d, op);
  if (lost_one(d, node) || d->time[node] < last->end) /* or behind an overlap */
    *last = (struct last_comm){0};
  last->end = d->time[node + 1];
  if (!comm) {
    pass(c, last, op);
    return;
  }
  c->e->of.also_behind[COMPUTE][op] = last->comm;
  last->before = last->comm;
  last->comm = op + 1;
  last->left_ns = d->time[node + 1] - d->time[node];
}

int nai_edit_own_stream_comm(struct edit *e, enum nai_case which, struct nai_err *err) {
  const struct nai_model *m = e->m;
  struct comm_move c = {.e = e, .which = which};
  if (which == NAI_CASE_LOW) /* the next kernel may need the result */
    return NAI_OK;
  NAI_TRY(nai_edit_streams(e, err));
  NAI_TRY(find_beginnings(&c, err));
  NAI_TRY(nai_edit_op_factors(e, err));
  NAI_TRY(nai_edit_behind(e, COMPUTE, err));
  NAI_TRY(nai_edit_behind(e, RESULTS, err));
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    struct last_comm *last;
    NAI_TRY(NAI_NEW(last, e->arena, m->gpus[g].stream_count, err));
    for (uint32_t i = e->w->ops[g].first; i < e->w->ops[g].end; i++) {
      const struct nai_op *op = &m->gpus[g].ops[i];
      if (nai_op_is_on_stream(m, op))
        move_comm(&c, &last[op->stream], m->dependencies->first_op[g] + i, op->communication);
    }
  }
  return NAI_OK;
}
