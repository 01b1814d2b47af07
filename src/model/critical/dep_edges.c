/* What depends on what: the list of dependencies while it is built, and reading it. */
#include "model/critical/dep_build.h"

#include "base/sort.h"

const char *nai_dep_kind_name(enum nai_dep_kind kind) {
  static const char *const names[NAI_DEP_KINDS] = {"host",      "handoff",    "call",   "wait",  "staging",
                                                   "queue",     "launch",     "stream", "event", "device",
                                                   "operation", "collective", "dropped"};
  return names[kind];
}

uint32_t nai_dep_op_gpu(const struct nai_dependencies *d, uint32_t op, uint32_t gpu_count) {
  uint32_t low = 0, high = gpu_count; /* first_op[low] <= op < first_op[high] */
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    *(d->first_op[middle] <= op ? &low : &high) = middle;
  }
  return low;
}

const struct nai_op *nai_dep_op(const struct nai_model *m, uint32_t op) {
  uint32_t gpu = nai_dep_op_gpu(m->dependencies, op, m->gpu_count);
  return &m->gpus[gpu].ops[op - m->dependencies->first_op[gpu]];
}

struct starts {
  const struct nai_dependencies *d;
  int64_t t;
};
static bool starts_before(const void *ctx, size_t call) {
  const struct starts *s = ctx;
  return s->d->time[2 * call] < s->t;
}

uint32_t nai_dep_call_from(const struct nai_dependencies *d, uint32_t thread, int64_t t) {
  return (uint32_t)nai_search(d->first_call[thread], d->first_call[thread + 1], starts_before, &(struct starts){d, t});
}

void nai_dep_note_disagreement(struct nai_dependencies *d, uint32_t node, uint32_t first, uint32_t end, uint32_t best) {
  for (uint32_t i = first; i < end; i++)
    d->disagrees |=
        i != best && d->v[i].kind != NAI_DEP_DROPPED && d->time[d->v[i].from] + d->v[i].weight > d->time[node];
}
