/* The stretches of a trace that a critical path is asked for. */
#include "model/critical/path.h"

#include "model/steps/step_stats.h"

const char *nai_path_scope_name(enum nai_path_scope_kind kind) {
  static const char *const names[] = {"window", "step", "unit"};
  return names[kind];
}

struct scopes {
  const struct nai_model *m;
  struct nai_arena *arena;
  struct nai_path_scope *v;
  uint32_t count;
};

static uint32_t last_to_end(const struct nai_dependencies *d) {
  uint32_t last = 0;
  for (uint32_t op = 1; op < d->op_count; op++)
    if (d->time[nai_node_of_op(d, op) + 1] > d->time[nai_node_of_op(d, last) + 1])
      last = op;
  return nai_node_of_op(d, last) + 1;
}

static int add_window(struct scopes *s, struct nai_err *err) {
  const struct nai_dependencies *d = s->m->dependencies;
  struct nai_path_scope *scope = &s->v[s->count];
  if (!d->op_count)
    return NAI_OK;
  *scope =
      (struct nai_path_scope){.kind = NAI_SCOPE_WINDOW, .gpu = s->m->gpu_count, .process = -1, .count = 1, .judged = 1};
  NAI_TRY(NAI_NEW(scope->nodes, s->arena, 2, err));
  scope->nodes[0] = scope->nodes[1] = last_to_end(d);
  s->count++;
  return NAI_OK;
}

/* Pages that move depend on nothing that is known: no boundary, for none would ever come earlier. */
static uint32_t start_node(const struct nai_model *m, uint32_t g, int64_t t) {
  const struct nai_gpu *gpu = &m->gpus[g];
  uint32_t at = nai_model_op_from(m, gpu, t);
  while (at < gpu->op_count && !nai_op_is_on_stream(m, &gpu->ops[at]))
    at++;
  at -= at == gpu->op_count; /* the end of the last step: the last operation */
  while (at && !nai_op_is_on_stream(m, &gpu->ops[at]))
    at--;
  return nai_node_of_op(m->dependencies, m->dependencies->first_op[g] + at);
}

/* Steps that follow each other without one missing; the last one ends where nothing begins. */
static int add_steps(struct scopes *s, const struct nai_step_list *list, struct nai_err *err) {
  NAI_SCOPED(nai_step_stats) stats = {0};
  struct nai_path_scope *scope = &s->v[s->count];
  NAI_TRY(nai_step_stats_new(&stats, &s->m->steps->processes[list->process], list, err));
  if (list->count < 2)
    return NAI_OK;
  *scope = (struct nai_path_scope){
      .kind = NAI_SCOPE_STEP, .gpu = list->gpu, .process = (int32_t)list->process, .count = list->count - 1};
  NAI_TRY(NAI_NEW(scope->nodes, s->arena, list->count, err));
  NAI_TRY(NAI_NEW(scope->counts, s->arena, list->count, err));
  for (uint32_t i = 0; i < list->count; i++) {
    scope->nodes[i] = start_node(s->m, list->gpu, list->v[i].start);
    scope->counts[i] = i + 1 < list->count && stats.state[i] == NAI_STEP_STEADY;
    scope->judged += scope->counts[i];
  }
  s->count += scope->judged > 0;
  return NAI_OK;
}

/* Every so many kernels of the stream from its first one on, as long as that is the same kernel. */
static int add_unit(struct scopes *s, const struct nai_repeating_unit *u, struct nai_err *err) {
  enum { MIN_REPETITIONS = 3 };
  const struct nai_model *m = s->m;
  const struct nai_gpu *gpu = &m->gpus[u->gpu];
  struct nai_path_scope *scope = &s->v[s->count];
  uint32_t kernels = 0, found = 0, name = nai_at_text(&m->kernels.name, u->marker);
  *scope = (struct nai_path_scope){.kind = NAI_SCOPE_UNIT, .gpu = u->gpu, .process = (int32_t)u->process};
  NAI_TRY(NAI_NEW(scope->nodes, s->arena, (size_t)u->count + 1, err));
  for (uint32_t i = nai_model_op_from(m, gpu, u->start); i < gpu->op_count && found <= u->count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    const struct nai_stream *stream = &gpu->streams[op->stream];
    if (op->type != NAI_OP_KERNEL || stream->id != u->stream || stream->context != u->context ||
        stream->process != (int32_t)u->process || kernels++ % u->kernels)
      continue;
    if (nai_at_text(&m->kernels.name, op->row) != name)
      break;
    scope->nodes[found++] = nai_node_of_op(m->dependencies, m->dependencies->first_op[u->gpu] + i);
  }
  scope->count = scope->judged = found ? found - 1 : 0;
  s->count += scope->count >= MIN_REPETITIONS;
  return NAI_OK;
}

static bool has_steps(const struct scopes *s, uint32_t process, uint32_t gpu) {
  for (uint32_t i = 0; i < s->count; i++)
    if (s->v[i].kind != NAI_SCOPE_WINDOW && s->v[i].process == (int32_t)process && s->v[i].gpu == gpu)
      return true;
  return false;
}

int nai_path_scopes(struct nai_path_scope **out, uint32_t *count, const struct nai_model *m, struct nai_arena *arena,
                    struct nai_err *err) {
  struct scopes s = {.m = m, .arena = arena};
  const struct nai_steps *steps = m->steps;
  NAI_TRY(NAI_NEW(s.v, arena, (size_t)1 + steps->list_count + steps->unit_count, err));
  NAI_TRY(add_window(&s, err));
  for (uint32_t i = 0; i < steps->list_count; i++)
    NAI_TRY(add_steps(&s, &steps->lists[i], err));
  for (uint32_t i = 0; i < steps->unit_count; i++)
    if (!has_steps(&s, steps->units[i].process, steps->units[i].gpu)) /* the largest comes first */
      NAI_TRY(add_unit(&s, &steps->units[i], err));
  *out = s.v;
  *count = s.count;
  return NAI_OK;
}

double nai_path_scope_ns(const struct nai_path_scope *s, const struct nai_model *m, const int64_t *times) {
  double sum = 0;
  if (s->kind == NAI_SCOPE_WINDOW)
    return (double)(nai_dep_last_end(m, times, m->gpu_count) - nai_dep_first_start(m, times));
  for (uint32_t i = 0; i < s->count; i++)
    if (!s->counts || s->counts[i])
      sum += (double)(times[s->nodes[i + 1]] - times[s->nodes[i]]);
  return s->judged ? sum / s->judged : 0;
}
