/* Copies to the GPU on a stream of their own. */
#include "model/critical/whatif_edit.h"

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
  for (uint32_t i = d->first[node]; i < d->first[node + 1]; i++)
    if (d->v[i].kind == NAI_DEP_DROPPED)
      return true;
  return false;
}

/* A copy waits for the copy before it, what follows it for it and for what was before it. */
static void move(struct edit *e, struct last *last, uint32_t op, bool upload) {
  const struct nai_dependencies *d = e->m->dependencies;
  if (lost_one(d, nai_node_of_op(d, op)))
    *last = (struct last){0};
  if (upload && last->other > last->copy) {
    e->off_stream[op] = 1;
    e->also_behind[op] = last->copy;
    e->edited++;
  } else if (!upload && last->copy > last->other) {
    e->also_behind[op] = last->other;
  }
  *(upload ? &last->copy : &last->other) = op + 1;
}

int nai_edit_own_stream(struct edit *e, enum nai_case which, struct nai_err *err) {
  const struct nai_model *m = e->m;
  if (which == NAI_CASE_LOW) /* the GPU may still read what the copy overwrites */
    return NAI_OK;
  NAI_TRY(NAI_NEW(e->off_stream, e->arena, m->dependencies->op_count, err));
  NAI_TRY(NAI_NEW(e->also_behind, e->arena, m->dependencies->op_count, err));
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
