/* The NVTX tree of a thread, and which range each of its API calls lies in. One sweep over both in start order. */
#include "model/build.h"
#include "model/nvtx/nvtx_open.h"

/* What only the sweep has to know of a node. */
struct progress {
  uint32_t name;       /* of the node, in `names` */
  int64_t longest_ns;  /* -1 before the first instance */
  int64_t async_until; /* end of the start/end instance that reaches furthest */
  uint32_t next;       /* node of the range that began after its last one; its own number before there was any */
};

/* Everything one thread's sweep needs. */
struct sweep {
  struct nai_model *m;
  struct nai_arena *arena;
  const struct NVTX_EVENTS_columns *ranges;
  uint32_t thread;
  struct nai_open_ranges
      nested; /* push/pop ranges as a stack: the parent of a range is the one that was on top when it began */
  struct nai_open_ranges
      async; /* start/end ranges in start order, which do not nest; one that has ended is taken off once it is on top */
  struct nai_keyset names; /* of this thread's nodes */
  uint32_t *open_of_name;  /* per name in `names`: push/pop ranges of that name on the stack */
  struct nai_nvtx_node *nodes;
  struct progress *progress; /* per node */
  uint32_t last;             /* node of the range before */
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
  GROW(x->progress, 1);
  GROW(x->open_of_name, 1); /* a thread has no more names than nodes */
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
  const struct nai_nvtx_node *n = &x->nodes[node];
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
  bool added;
  uint32_t local = nai_keyset_add(&x->names, name, &added);
  NAI_TRY(nai_memory_check(!x->names.oom, err));
  *node = x->node_count++;
  x->slots[at] = *node + 1;
  x->progress[*node] = (struct progress){local, -1, INT64_MIN, *node};
  /* The ranges on the stack are those around this one, so their names are those of the nodes above. */
  x->nodes[*node] = (struct nai_nvtx_node){.parent = parent,
                                           .name = name,
                                           .thread = (int32_t)x->thread,
                                           .start_end = start_end,
                                           .outermost = start_end || !x->open_of_name[local],
                                           .longest = NAI_NO_ROW};
  return NAI_OK;
}

/* The same, where ranges mostly follow each other as they did before. */
static int node_for(uint32_t *node, struct sweep *x, uint32_t parent, uint32_t name, bool start_end,
                    struct nai_err *err) {
  *node = x->node_count ? x->progress[x->last].next : 0;
  if (!x->node_count || !is_node(x, *node, parent, name, start_end))
    NAI_TRY(find_node(node, x, parent, name, start_end, err));
  x->progress[x->last].next = *node;
  x->last = *node;
  return NAI_OK;
}

static void count_instance(struct sweep *x, uint32_t index, uint32_t range, int64_t start, int64_t end) {
  struct nai_nvtx_node *node = &x->nodes[index];
  struct progress *progress = &x->progress[index];
  int64_t length = end - start;
  node->count++;
  if (length > progress->longest_ns) {
    progress->longest_ns = length;
    node->longest = range;
  }
  if (!node->start_end) {
    node->total_ns += length;
    node->self_ns += length;
    if (node->parent != NAI_NO_ROW)
      x->nodes[node->parent].self_ns -= length;
  } else if (end > progress->async_until) { /* not inside an instance of the same name */
    node->total_ns += length;
    node->self_ns += length;
    progress->async_until = end;
  }
}

/* --- the sweep -------------------------------------------------------------------------------- */

static void pop(struct sweep *x) { x->open_of_name[x->progress[x->nested.v[--x->nested.depth].node].name]--; }

/* Takes ended ranges off the stack. Returns the innermost push/pop range at t, NULL when there is none. */
static inline const struct nai_open_range *innermost(struct sweep *x, int64_t t) {
  while (x->nested.depth && nai_open_top(&x->nested)->end <= t)
    pop(x);
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
    pop(x);
    parent = nai_open_top(&x->nested);
  } while (parent && parent->end < end);
  return parent;
}

static int enter(struct sweep *x, uint32_t range, int64_t start, struct nai_err *err) {
  int64_t end = nai_val(&x->ranges->end_ns, range);
  bool start_end = nai_val_i32(&x->ranges->kind, range) != NAI_NVTX_PUSH_POP;
  const struct nai_open_range *parent = start_end ? NULL : find_parent(x, start, end);
  uint32_t node;
  NAI_TRY(
      node_for(&node, x, parent ? parent->node : NAI_NO_ROW, nai_val_text(&x->ranges->name, range), start_end, err));
  x->m->nvtx_depth[range] = (uint8_t)(start_end ? 0 : x->nested.depth < UINT8_MAX ? x->nested.depth : UINT8_MAX);
  count_instance(x, node, range, start, end);
  if (end == start) /* contains nothing */
    return NAI_OK;
  if (!start_end)
    x->open_of_name[x->progress[node].name]++;
  if (start_end) /* ended ones would pile up on threads whose calls never ask for them */
    innermost_async(x, start);
  return nai_open_push(start_end ? &x->async : &x->nested, (struct nai_open_range){end, range, node, NAI_NO_ROW}, err);
}

/* Goes through the thread's ranges and calls in start order. */
static int sweep(struct sweep *x, struct nai_err *err) {
  struct nai_model *m = x->m;
  const struct nai_groups *ranges = &m->nvtx_by_thread, *calls = &m->api_by_thread;
  const struct nai_column call_starts = m->apis.start_ns;
  uint32_t r = ranges->first[x->thread], r_end = ranges->first[x->thread + 1];
  uint32_t c = calls->first[x->thread], c_end = calls->first[x->thread + 1];
  struct nai_checkpoints *checkpoints = &m->checkpoints[x->thread];
  while (c < c_end || r < r_end) {
    int64_t call_start = c < c_end ? nai_val(&call_starts, calls->order[c]) : INT64_MAX;
    for (; r < r_end; r++) { /* a call that starts with a range lies in it */
      int64_t start = nai_val(&x->ranges->start_ns, ranges->order[r]);
      if (start > call_start)
        break;
      if (r >= checkpoints->next_place)
        NAI_TRY(nai_checkpoint_note(checkpoints, r, &x->nested, &m->arena, err));
      NAI_TRY(enter(x, ranges->order[r], start, err));
    }
    if (c == c_end)
      continue;
    const struct nai_open_range *inner = innermost(x, call_start);
    /* Start/end ranges speak for a call only where no push/pop range does. */
    m->api_node[calls->order[c++]] = inner ? inner->node : innermost_async(x, call_start);
  }
  return NAI_OK;
}

int nai_nvtx_nest(struct nai_thread_nodes *nodes, struct nai_model *m, uint32_t thread, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  const struct nai_groups *ranges = &m->nvtx_by_thread, *calls = &m->api_by_thread;
  if (ranges->first[thread] == ranges->first[thread + 1]) {
    for (uint32_t c = calls->first[thread]; c < calls->first[thread + 1]; c++)
      m->api_node[calls->order[c]] = NAI_NO_ROW;
    return NAI_OK;
  }
  struct sweep x = {.m = m,
                    .arena = &arena,
                    .ranges = &m->nvtx,
                    .thread = thread,
                    .nested.arena = &arena,
                    .async.arena = &arena,
                    .names.arena = &arena};
  NAI_TRY(sweep(&x, err));
  NAI_TRY(NAI_NEW(nodes->v, &m->work->arenas[NAI_PART_NVTX_TREE], x.node_count, err));
  memcpy(nodes->v, x.nodes, x.node_count * sizeof *x.nodes);
  nodes->count = x.node_count;
  return NAI_OK;
}

bool nai_model_has_start_end(const struct nai_model *m, uint32_t thread) {
  for (uint32_t i = m->first_node[thread]; i < m->first_node[thread + 1]; i++)
    if (m->nodes[i].start_end)
      return true;
  return false;
}
