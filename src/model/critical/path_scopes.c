/* The stretches of a trace that a critical path is asked for. */
#include "model/critical/path.h"

#include "model/steps/step_stats.h"

const char *nai_path_scope_name(enum nai_path_scope_kind kind) {
  static const char *const names[] = {"window", "step", "unit", "active"};
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
  uint32_t at = nai_gpu_op_from(gpu, t);
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
  uint32_t kernels = 0, found = 0, name = nai_val_text(&m->kernels.name, u->marker);
  *scope = (struct nai_path_scope){.kind = NAI_SCOPE_UNIT, .gpu = u->gpu, .process = (int32_t)u->process};
  NAI_TRY(NAI_NEW(scope->nodes, s->arena, (size_t)u->count + 1, err));
  for (uint32_t i = nai_gpu_op_from(gpu, u->start); i < gpu->op_count && found <= u->count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    const struct nai_stream *stream = &gpu->streams[op->stream];
    if (op->type != NAI_OP_KERNEL || stream->id != u->stream || stream->context != u->context ||
        stream->process != (int32_t)u->process || kernels++ % u->kernels)
      continue;
    if (nai_val_text(&m->kernels.name, op->row) != name)
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

/* --- what is asked for ------------------------------------------------------------------------ */

int64_t nai_path_repetition(const struct nai_path_scope *scope, const struct nai_model *m, uint32_t i) {
  const struct nai_step_list *list = m->steps->lists;
  if (scope->kind != NAI_SCOPE_STEP)
    return i;
  while (list->process != (uint32_t)scope->process || list->gpu != scope->gpu)
    list++;
  return list->v[i].step;
}

/* Of each process and GPU that has it, the one that takes longest first. */
static int ask_step(struct scopes *s, int64_t step, struct nai_err *err) {
  struct scopes found = {.m = s->m, .arena = s->arena};
  int64_t least = INT64_MAX, most = INT64_MIN;
  NAI_TRY(NAI_NEW(found.v, s->arena, s->count + 1, err));
  for (uint32_t k = 0; k < s->count; k++)
    for (uint32_t i = 0; s->v[k].kind != NAI_SCOPE_WINDOW && i < s->v[k].count; i++) {
      int64_t number = nai_path_repetition(&s->v[k], s->m, i);
      least = number < least ? number : least;
      most = number > most ? number : most;
      if (number != step)
        continue;
      struct nai_path_scope *one = &found.v[found.count++];
      *one = s->v[k];
      one->nodes += i;
      one->counts = NULL;
      one->count = one->judged = 1;
      if (nai_path_scope_ns(one, s->m, NULL) > nai_path_scope_ns(&found.v[0], s->m, NULL)) {
        struct nai_path_scope shorter = found.v[0];
        found.v[0] = *one;
        *one = shorter;
      }
    }
  if (!found.count && least > most)
    return nai_err_set(err, NAI_EUSAGE, "--step: no steps and no repeating units were found; give --window START END");
  if (!found.count)
    return nai_err_set(err, NAI_EUSAGE, "--step %" PRId64 ": there are %" PRId64 " to %" PRId64, step, least, most);
  *s = found;
  return NAI_OK;
}

/* From the first operation that starts in the stretch to the last one that has ended in it. */
static int ask_window(struct scopes *s, const struct nai_path_asked *asked, struct nai_err *err) {
  const struct nai_dependencies *d = s->m->dependencies;
  uint32_t *nodes = s->v[0].nodes, none = d->node_count;
  nodes[0] = nodes[1] = none;
  for (uint32_t node = nai_node_of_op(d, 0); node < d->node_count; node += 2) {
    if (d->time[node] < asked->from || d->time[node + 1] > asked->to)
      continue;
    if (nodes[0] == none || d->time[node] < d->time[nodes[0]])
      nodes[0] = node;
    if (nodes[1] == none || d->time[node + 1] > d->time[nodes[1]])
      nodes[1] = node + 1;
  }
  s->count = 1;
  return nodes[0] == none ? nai_err_set(err, NAI_EUSAGE, "--window: no GPU operation lies in that time") : NAI_OK;
}

int nai_path_scopes(struct nai_path_scope **out, uint32_t *count, const struct nai_model *m,
                    const struct nai_path_asked *asked, struct nai_arena *arena, struct nai_err *err) {
  struct scopes s = {.m = m, .arena = arena};
  const struct nai_steps *steps = m->steps;
  NAI_TRY(NAI_NEW(s.v, arena, (size_t)1 + steps->list_count + steps->unit_count, err));
  NAI_TRY(add_window(&s, err));
  for (uint32_t i = 0; i < steps->list_count; i++)
    NAI_TRY(add_steps(&s, &steps->lists[i], err));
  for (uint32_t i = 0; i < steps->unit_count; i++)
    if (!has_steps(&s, steps->units[i].process, steps->units[i].gpu)) /* the largest comes first */
      NAI_TRY(add_unit(&s, &steps->units[i], err));
  if (asked && asked->of_step)
    NAI_TRY(ask_step(&s, asked->step, err));
  else if (asked && s.count)
    NAI_TRY(ask_window(&s, asked, err));
  *out = s.v;
  *count = s.count;
  return NAI_OK;
}

double nai_path_scope_ns(const struct nai_path_scope *s, const struct nai_model *m, const int64_t *moved) {
  const struct nai_dependencies *d = m->dependencies;
  double sum = 0;
  if (s->nodes[0] == s->nodes[1])
    return (double)(nai_dep_last_end(m, moved, m->gpu_count) - nai_dep_first_start(m, moved));
  for (uint32_t i = 0; i < s->count; i++)
    if (!s->counts || s->counts[i])
      sum += (double)(nai_node_time(d, moved, s->nodes[i + 1]) - nai_node_time(d, moved, s->nodes[i]));
  return s->judged ? sum / s->judged : 0;
}

int64_t nai_path_scope_start(const struct nai_path_scope *s, const struct nai_model *m, const int64_t *moved) {
  return s->nodes[0] == s->nodes[1] ? nai_dep_first_start(m, moved)
                                    : nai_node_time(m->dependencies, moved, s->nodes[0]);
}
