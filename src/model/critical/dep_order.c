/* An order in which every node comes behind those that it depends on. */
#include "model/critical/dep_build.h"

enum { UNSEEN, OPEN, DONE };

struct frame {
  uint32_t node, next; /* dependency to look at */
};

struct visit {
  struct dep_builder *b;
  uint8_t *state;
  struct frame *stack;
  uint32_t placed;
  uint32_t *broken, broken_count, broken_capacity; /* nodes that lost a dependency */
};

/* A dependency on what depends on this node itself cannot be: clocks disagree there. */
static int drop(struct visit *v, uint32_t node, struct nai_dep *dep, struct nai_err *err) {
  v->b->d->quality.kinds[dep->kind]--;
  v->b->d->quality.kinds[NAI_DEP_DROPPED]++;
  dep->kind = NAI_DEP_DROPPED;
  if (v->broken_count && v->broken[v->broken_count - 1] == node)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(v->broken, v->broken_capacity, v->broken_count, v->b->arena, err));
  v->broken[v->broken_count++] = node;
  return NAI_OK;
}

static int visit_from(struct visit *v, uint32_t root, struct nai_err *err) {
  struct nai_dependencies *d = v->b->d;
  const uint32_t *restrict first = d->first;
  uint8_t *restrict state = v->state; /* bytes, which else might be any of the other arrays */
  struct frame *restrict stack = v->stack;
  uint32_t *restrict order = d->order, placed = v->placed, depth = 1;
  *stack = (struct frame){root, first[root]};
  for (state[root] = OPEN; depth;) {
    struct frame *f = &stack[depth - 1];
    uint32_t node = f->node, end = first[node + 1];
    while (f->next < end && state[d->v[f->next].from] == DONE)
      f->next++;
    if (f->next == end) {
      state[node] = DONE;
      order[placed++] = node;
      depth--;
      continue;
    }
    struct nai_dep *dep = &d->v[f->next++];
    if (state[dep->from] == OPEN) {
      NAI_TRY(drop(v, node, dep, err));
      continue;
    }
    state[dep->from] = OPEN;
    stack[depth++] = (struct frame){dep->from, first[dep->from]};
  }
  v->placed = placed;
  return NAI_OK;
}

int nai_dep_order(struct dep_builder *b, struct nai_err *err) {
  struct nai_dependencies *d = b->d;
  struct visit v = {.b = b};
  NAI_TRY(NAI_NEW(v.state, b->arena, d->node_count, err));
  NAI_TRY(NAI_NEW(v.stack, b->arena, d->node_count, err));
  NAI_TRY(NAI_NEW(d->order, &b->m->arena, d->node_count, err));
  for (uint32_t node = 0; node < d->node_count; node++)
    if (v.state[node] == UNSEEN)
      NAI_TRY(visit_from(&v, node, err));
  for (uint32_t i = 0; i < v.broken_count; i++)
    nai_dep_settle(d, v.broken[i], d->first[v.broken[i]], d->first[v.broken[i] + 1]);
  return NAI_OK;
}
