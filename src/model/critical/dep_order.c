/* Orders in which every node comes behind those that it depends on. */
#include "model/critical/dep_build.h"

enum { UNSEEN, DONE, OPEN };

struct frame {
  uint32_t node, seen; /* dependencies looked at */
};

struct visit {
  const struct nai_dependencies *d;
  struct dep_builder *b; /* whose dependencies are dropped where they make a circle; NULL: none is */
  int64_t since;         /* nodes that happen before are left out, and those that are DONE from the beginning */
  uint8_t *state;
  struct frame *stack;
  uint32_t *order, placed; /* order: NULL where none is wanted */
  bool circle;
  uint32_t *broken, broken_count, broken_capacity; /* nodes that lost a dependency */
};

/* A dependency on what depends on this node itself cannot be: clocks disagree there. */
static int drop(struct visit *v, uint32_t node, uint32_t dep, struct nai_err *err) {
  struct nai_dependencies *d = v->b->d;
  d->quality.kinds[d->v[dep].kind]--;
  d->quality.kinds[NAI_DEP_DROPPED]++;
  d->v[dep].kind = NAI_DEP_DROPPED;
  if (v->broken_count && v->broken[v->broken_count - 1] == node)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(v->broken, v->broken_capacity, v->broken_count, v->b->arena, err));
  v->broken[v->broken_count++] = node;
  return NAI_OK;
}

static inline bool is_behind_us(const struct visit *v, uint32_t from) {
  return v->state[from] == DONE || v->d->time[from] < v->since;
}

/* What a node depends on that was not visited yet; NAI_NO_ROW: nothing is left. */
static inline uint32_t next_of(const struct visit *v, struct frame *f) {
  struct nai_dep plain[NAI_PLAIN_DEPS];
  struct nai_dep_list deps = nai_deps_of(v->d, f->node, plain);
  const struct nai_dep *dep = deps.v + f->seen;
  while (dep < deps.end && (is_behind_us(v, dep->from) || dep->kind == NAI_DEP_DROPPED))
    dep++;
  f->seen = (uint32_t)(dep - deps.v) + 1;
  return dep < deps.end ? dep->from : NAI_NO_ROW;
}

static int visit_from(struct visit *v, uint32_t root, struct nai_err *err) {
  uint8_t *state = v->state;
  struct frame *restrict stack = v->stack;
  uint32_t *restrict order = v->order, depth = 1;
  *stack = (struct frame){root, 0};
  for (state[root] = OPEN; depth;) {
    struct frame *f = &stack[depth - 1];
    uint32_t node = f->node, from = next_of(v, f);
    if (from == NAI_NO_ROW) {
      state[node] = DONE;
      if (order)
        order[v->placed++] = node;
      depth--;
      continue;
    }
    if (state[from] == OPEN) {
      v->circle = true;
      if (v->b)
        NAI_TRY(drop(v, node, v->d->first[node] + f->seen - 1, err));
      continue;
    }
    state[from] = OPEN;
    stack[depth++] = (struct frame){from, 0};
  }
  return NAI_OK;
}

static int visit_all(struct visit *v, struct nai_err *err) {
  const uint8_t *at = v->state, *end = at + v->d->node_count;
  for (; (at = memchr(at, UNSEEN, (size_t)(end - at))); at++)
    NAI_TRY(visit_from(v, (uint32_t)(at - v->state), err));
  return NAI_OK;
}

int nai_dep_order(uint32_t **order, uint32_t *count, const struct nai_dependencies *d, uint8_t *left_out,
                  struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_arena) scratch = NAI_ARENA(arena->directory);
  struct visit v = {.d = d, .since = INT64_MIN, .state = left_out};
  if (!left_out)
    NAI_TRY(NAI_NEW(v.state, &scratch, d->node_count, err));
  NAI_TRY(NAI_NEW_UNSET(v.stack, &scratch, d->node_count, err));
  NAI_TRY(NAI_NEW_UNSET(v.order, arena, d->node_count, err));
  NAI_TRY(visit_all(&v, err));
  *order = v.order;
  *count = v.placed;
  return NAI_OK;
}

/* --- circles ---------------------------------------------------------------------------------- */

int nai_dep_note_step_back(struct dep_builder *b, uint32_t node, uint32_t from, struct nai_err *err) {
  struct dep_steps_back *s = &b->steps_back;
  if (b->d->time[from] == b->d->time[node] && from < node)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(s->nodes, s->node_capacity, s->count, b->arena, err));
  NAI_TRY(NAI_ROOM(s->at, s->at_capacity, s->count, b->arena, err));
  s->nodes[s->count] = node;
  s->at[s->count++] = (struct nai_interval){b->d->time[node], b->d->time[from] + 1};
  return NAI_OK;
}

/* A circle lies within steps back that overlap: all else in it leads to what happened before. */
static int find_circle(struct visit *v, const struct dep_steps_back *steps, struct nai_err *err) {
  NAI_SCOPED(nai_intervals) overlaps = {0};
  nai_intervals_gather(&overlaps, steps->at, steps->count);
  NAI_TRY(nai_memory_check(!overlaps.oom, err));
  for (uint32_t i = 0; i < steps->count && !v->circle; i++) {
    v->since = overlaps.v[nai_intervals_after(&overlaps, v->d->time[steps->nodes[i]])].start;
    if (v->state[steps->nodes[i]] == UNSEEN)
      NAI_TRY(visit_from(v, steps->nodes[i], err));
  }
  return NAI_OK;
}

/* Plain nodes may lose theirs, too: all come into v. */
static int store_plain(struct dep_builder *b, struct nai_err *err) {
  struct nai_dependencies *d = b->d;
  const struct nai_dependencies before = *d;
  struct nai_dep plain[NAI_PLAIN_DEPS];
  b->count = 0;
  b->capacity = before.first[d->node_count] + NAI_PLAIN_DEPS * d->node_count;
  NAI_TRY(NAI_NEW_UNSET(d->v, &b->m->arena, b->capacity, err));
  NAI_TRY(NAI_NEW_UNSET(d->first, &b->m->arena, (size_t)d->node_count + 1, err));
  for (uint32_t node = 0; node < d->node_count; node++) {
    struct nai_dep_list deps = nai_deps_of(&before, node, plain);
    d->first[node] = b->count;
    for (const struct nai_dep *dep = deps.v; dep < deps.end; dep++)
      d->v[b->count++] = *dep;
  }
  d->first[d->node_count] = b->count;
  memset(d->queue_place, 0, d->call_count * sizeof *d->queue_place);
  return NAI_OK;
}

int nai_dep_break_circles(struct dep_builder *b, struct nai_err *err) {
  struct nai_dependencies *d = b->d;
  struct visit v = {.d = d};
  if (!b->steps_back.count)
    return NAI_OK;
  NAI_TRY(NAI_NEW(v.state, b->arena, d->node_count, err));
  NAI_TRY(NAI_NEW_UNSET(v.stack, b->arena, d->node_count, err));
  NAI_TRY(find_circle(&v, &b->steps_back, err));
  if (!v.circle)
    return NAI_OK;
  NAI_TRY(store_plain(b, err));
  memset(v.state, UNSEEN, d->node_count);
  v.b = b;
  v.since = INT64_MIN;
  NAI_TRY(visit_all(&v, err));
  for (uint32_t i = 0; i < v.broken_count; i++)
    nai_dep_settle(d, v.broken[i], d->first[v.broken[i]], d->first[v.broken[i] + 1]);
  return NAI_OK;
}
