/* What depends on what: the list of dependencies while it is built, and reading it. */
#include "model/critical/dep_build.h"

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

void nai_dep_note_disagreement(struct nai_dependencies *d, uint32_t node, uint32_t first, uint32_t end, uint32_t best) {
  for (uint32_t i = first; i < end; i++)
    d->disagrees |=
        i != best && d->v[i].kind != NAI_DEP_DROPPED && d->time[d->v[i].from] + d->v[i].weight > d->time[node];
}
