/* The NVTX tree of a thread, and which range each of its API calls lies in. One sweep over both in start order. */
#include "model/build.h"
#include "model/nvtx/nvtx_open.h"

/* A node of the thread, and its instances so far. */
struct met {
  uint32_t parent, name, count;
  uint32_t longest;    /* row of nvtx_events */
  int64_t total_ns;    /* start/end instances inside one of the same name left out */
  int64_t longest_ns;  /* -1 before the first instance */
  int64_t async_until; /* end of the start/end instance that reaches furthest */
  uint32_t next;       /* node of the range that began after its last one; its own number before there was any */
  bool start_end;
};

/* Everything one thread's sweep needs. */
struct sweep {
  struct nai_model *m;
  struct nai_arena *arena;
  const struct NVTX_EVENTS_columns *ranges;
  uint32_t thread;
  uint32_t call, call_end; /* the next one, in api_by_thread, and behind the last */
  int64_t call_start;      /* INT64_MAX when there is none left */
  struct nai_open_ranges
      nested; /* push/pop ranges as a stack: the parent of a range is the one that was on top when it began */
  struct nai_open_ranges
      async; /* start/end ranges in start order, which do not nest; one that has ended is taken off once it is on top */
  struct met *nodes;
  uint32_t last; /* node of the range before */
  uint32_t node_count, node_capacity;
  uint32_t *slots; /* hash of (parent, name, kind) -> node + 1; two per node that there is room for */
};

/* --- nodes ------------------------------------------------------------------------------------ */

static uint32_t slot_of(const struct sweep *x, uint32_t parent, uint32_t name, bool start_end) {
  uint64_t key = ((uint64_t)parent << 33 | (uint64_t)name << 1 | start_end) * 0x9e3779b97f4a7c15u;
  return (uint32_t)(key >> 32) & (x->node_capacity * 2 - 1);
}

static uint32_t next_slot(const struct sweep *x, uint32_t slot) { return (slot + 1) & (x->node_capacity * 2 - 1); }

#define GROW(array, per_node)                                                             \
  NAI_TRY(nai_arena_resize(&(array), x->arena, (size_t)old *(per_node) * sizeof *(array), \
                           (size_t)x->node_capacity * (per_node) * sizeof *(array), err))
static int grow_nodes(struct sweep *x, struct nai_err *err) {
  enum { FIRST = 64, RANGES = 4096 };
  const uint32_t *first = &x->m->nvtx_by_thread.first[x->thread];
  uint32_t old = x->node_capacity;
  x->node_capacity = old ? old * 2 : first[1] - first[0] < RANGES ? FIRST : RANGES / 4; /* mostly the names repeat */
  GROW(x->nodes, 1);
  GROW(x->slots, 2);
  memset(x->slots, 0, (size_t)x->node_capacity * 2 * sizeof *x->slots);
  for (uint32_t i = 0; i < x->node_count; i++) {
    uint32_t at = slot_of(x, x->nodes[i].parent, x->nodes[i].name, x->nodes[i].start_end);
    while (x->slots[at])
      at = next_slot(x, at);
    x->slots[at] = i + 1;
  }
  return NAI_OK;
}
#undef GROW

static bool is_node(const struct sweep *x, uint32_t node, uint32_t parent, uint32_t name, bool start_end) {
  const struct met *n = &x->nodes[node];
  return n->parent == parent && n->name == name && n->start_end == start_end;
}

/* Node of a name below a parent node, made when new. */
static int find_node(uint32_t *node, struct sweep *x, uint32_t parent, uint32_t name, bool start_end,
                     struct nai_err *err) {
  if (x->node_count == x->node_capacity)
    NAI_TRY(grow_nodes(x, err));
  uint32_t at = slot_of(x, parent, name, start_end);
  for (; x->slots[at]; at = next_slot(x, at)) {
    *node = x->slots[at] - 1;
    if (is_node(x, *node, parent, name, start_end))
      return NAI_OK;
  }
  *node = x->node_count++;
  x->slots[at] = *node + 1;
  x->nodes[*node] = (struct met){.parent = parent,
                                 .name = name,
                                 .longest = NAI_NO_ROW,
                                 .longest_ns = -1,
                                 .async_until = INT64_MIN,
                                 .next = *node,
                                 .start_end = start_end};
  return NAI_OK;
}

/* The same, where ranges mostly follow each other as they did before. */
static inline int node_for(uint32_t *node, struct sweep *x, uint32_t parent, uint32_t name, bool start_end,
                           struct nai_err *err) {
  *node = x->nodes[x->last].next;
  if (!is_node(x, *node, parent, name, start_end))
    NAI_TRY(find_node(node, x, parent, name, start_end, err));
  x->nodes[x->last].next = *node;
  x->last = *node;
  return NAI_OK;
}

static void count_instance(struct met *node, uint32_t range, int64_t length) {
  node->count++;
  if (length > node->longest_ns) {
    node->longest_ns = length;
    node->longest = range;
  }
}

/* --- the sweep -------------------------------------------------------------------------------- */

/* Takes ended ranges off the stack. Returns the innermost push/pop range at t, NULL when there is none. */
static inline const struct nai_open_range *innermost(struct sweep *x, int64_t t) {
  while (x->nested.depth && nai_open_top(&x->nested)->end <= t)
    x->nested.depth--;
  return nai_open_top(&x->nested);
}

/* Node of the start/end range begun last among those that contain t. */
static uint32_t innermost_async(struct sweep *x, int64_t t) {
  while (x->async.depth && nai_open_top(&x->async)->end <= t)
    x->async.depth--;
  return x->async.depth ? nai_open_top(&x->async)->node : NAI_NO_ROW;
}

/* The innermost range that wholly contains start .. end. What lies above it crosses that and ends before it: it can
 * neither contain a later range that this one does not, nor be innermost again, so it leaves the stack for good
 * (nai_open_begin, too). */
static const struct nai_open_range *find_parent(struct sweep *x, int64_t start, int64_t end) {
  const struct nai_open_range *parent = innermost(x, start);
  if (!parent || parent->end >= end)
    return parent;
  x->m->crossing[x->thread]++;
  do {
    x->nested.depth--;
    parent = nai_open_top(&x->nested);
  } while (parent && parent->end < end);
  return parent;
}

static int enter_async(struct sweep *x, uint32_t range, int64_t start, int64_t end, struct nai_err *err) {
  uint32_t node;
  NAI_TRY(node_for(&node, x, NAI_NO_ROW, nai_val_text(&x->ranges->name, range), true, err));
  struct met *met = &x->nodes[node];
  count_instance(met, range, end - start);
  if (end > met->async_until) { /* not inside an instance of the same name */
    met->total_ns += end - start;
    met->async_until = end;
  }
  if (end == start) /* contains nothing */
    return NAI_OK;
  innermost_async(x, start); /* ended ones would pile up on threads whose calls never ask for them */
  return nai_open_push(&x->async, (struct nai_open_range){end, range, node, NAI_NO_ROW}, err);
}

static int enter(struct sweep *x, uint32_t range, int64_t start, struct nai_err *err) {
  int64_t end = nai_val(&x->ranges->end_ns, range);
  if (nai_val_i32(&x->ranges->kind, range) != NAI_NVTX_PUSH_POP)
    return enter_async(x, range, start, end, err);
  const struct nai_open_range *parent = find_parent(x, start, end);
  uint32_t node;
  NAI_TRY(node_for(&node, x, parent ? parent->node : NAI_NO_ROW, nai_val_text(&x->ranges->name, range), false, err));
  count_instance(&x->nodes[node], range, end - start);
  x->nodes[node].total_ns += end - start;
  x->m->nvtx_depth[range] = (uint8_t)(x->nested.depth < UINT8_MAX ? x->nested.depth : UINT8_MAX);
  if (end == start)
    return NAI_OK;
  return nai_open_push(&x->nested, (struct nai_open_range){end, range, node, NAI_NO_ROW}, err);
}

static void look_at_call(struct sweep *x) {
  bool left = x->call < x->call_end;
  x->call_start = left ? nai_val(&x->m->apis.start_ns, x->m->api_by_thread.order[x->call]) : INT64_MAX;
}

/* Finds the node of the next call. */
static inline void place_call(struct sweep *x) {
  const struct nai_open_range *inner = innermost(x, x->call_start);
  /* Start/end ranges speak for a call only where no push/pop range does. */
  x->m->api_node[x->m->api_by_thread.order[x->call++]] = inner ? inner->node : innermost_async(x, x->call_start);
  look_at_call(x);
}

/* Goes through the thread's ranges and calls in start order; a call that starts with a range lies in it. */
static int sweep(struct sweep *x, struct nai_err *err) {
  const struct nai_groups *ranges = &x->m->nvtx_by_thread;
  struct nai_checkpoints *checkpoints = &x->m->checkpoints[x->thread];
  look_at_call(x);
  if (ranges->first[x->thread] < ranges->first[x->thread + 1])
    NAI_TRY(grow_nodes(x, err)); /* the node that the first range is compared with has a parent, number 0 */
  for (uint32_t r = ranges->first[x->thread], end = ranges->first[x->thread + 1]; r < end; r++) {
    int64_t start = nai_val(&x->ranges->start_ns, ranges->order[r]);
    while (x->call_start < start)
      place_call(x);
    if (r >= checkpoints->next_place)
      NAI_TRY(nai_checkpoint_note(checkpoints, r, &x->nested, &x->m->arena, err));
    NAI_TRY(enter(x, ranges->order[r], start, err));
  }
  while (x->call < x->call_end)
    place_call(x);
  return NAI_OK;
}

int nai_nvtx_nest(struct nai_thread_nodes *nodes, struct nai_model *m, uint32_t thread, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct sweep x = {.m = m,
                    .arena = &arena,
                    .ranges = &m->nvtx,
                    .thread = thread,
                    .call = m->api_by_thread.first[thread],
                    .call_end = m->api_by_thread.first[thread + 1],
                    .nested.arena = &arena,
                    .async.arena = &arena};
  NAI_TRY(sweep(&x, err));
  NAI_TRY(NAI_NEW(nodes->v, &m->work->arenas[NAI_PART_NVTX_TREE], x.node_count, err));
  nodes->count = x.node_count;
  for (uint32_t i = 0; i < x.node_count; i++) {
    const struct met *node = &x.nodes[i];
    nodes->v[i] = (struct nai_nvtx_node){.parent = node->parent,
                                         .name = node->name,
                                         .thread = (int32_t)thread,
                                         .start_end = node->start_end,
                                         .longest = node->longest,
                                         .count = node->count,
                                         .total_ns = node->total_ns,
                                         .self_ns = node->total_ns};
    if (node->parent != NAI_NO_ROW)
      nodes->v[node->parent].self_ns -= node->total_ns;
  }
  return NAI_OK;
}

bool nai_model_has_start_end(const struct nai_model *m, uint32_t thread) {
  for (uint32_t i = m->first_node[thread]; i < m->first_node[thread + 1]; i++)
    if (m->nodes[i].start_end)
      return true;
  return false;
}
