/* The NVTX tree of a thread, and which range each of its API calls lies in. One sweep over both in start order. */
#include "model/build.h"
#include "model/nvtx/nvtx_open.h"

#include "base/spill_array.h"
#include "base/keyset.h"

#include <stdlib.h>
#include <string.h>

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
  struct nai_column start, end, kind, name; /* of nvtx_events */
  uint32_t thread;
  struct nai_open_ranges
      nested; /* push/pop ranges as a stack: the parent of a range is the one that was on top when it began */
  struct nai_open_ranges
      async; /* start/end ranges in start order, which do not nest; one that has ended is taken off once it is on top */
  int64_t now;             /* the thread's time is shared out up to here */
  struct nai_keyset names; /* of this thread's nodes */
  uint32_t *open_of_name;  /* per name in `names`: push/pop ranges of that name on the stack */
  struct nai_nvtx_node *nodes;
  struct progress *progress; /* per node */
  uint32_t last;             /* node of the range before */
  uint32_t node_count, node_capacity;
  uint32_t *slots; /* hash of (parent, name, kind) -> node + 1 */
  uint32_t slot_mask;
};

/* --- nodes ------------------------------------------------------------------------------------ */

static uint32_t slot_of(const struct sweep *x, uint32_t parent, uint32_t name, bool start_end) {
  uint64_t key = ((uint64_t)parent << 33 | (uint64_t)name << 1 | start_end) * 0x9e3779b97f4a7c15u;
  return (uint32_t)(key >> 32) & x->slot_mask;
}

enum { FIRST_NODES = 64 };

static bool grow_nodes(struct sweep *x) {
  uint32_t capacity = x->node_capacity ? x->node_capacity * 2 : FIRST_NODES;
  const char *dir = x->m->scratch_dir;
  size_t old = x->node_capacity;
  struct nai_nvtx_node *nodes = nai_spill_array_grow(x->nodes, dir, old * sizeof *nodes, capacity * sizeof *nodes);
  if (!nodes)
    return false;
  x->nodes = nodes;
  struct progress *progress =
      nai_spill_array_grow(x->progress, dir, old * sizeof *progress, capacity * sizeof *progress);
  if (!progress)
    return false;
  x->progress = progress;
  /* a thread has no more names than nodes */
  uint32_t *open = nai_spill_array_grow(x->open_of_name, dir, old * sizeof *open, capacity * sizeof *open);
  if (!open)
    return false;
  memset(open + x->node_capacity, 0, (size_t)(capacity - x->node_capacity) * sizeof *open);
  x->open_of_name = open;
  uint32_t *slots = nai_spill_array_grow(NULL, dir, 0, (size_t)capacity * 2 * sizeof *slots);
  if (!slots)
    return false;
  memset(slots, 0, (size_t)capacity * 2 * sizeof *slots);
  nai_spill_array_free(x->slots);
  x->slots = slots;
  x->slot_mask = capacity * 2 - 1;
  x->node_capacity = capacity;
  for (uint32_t i = 0; i < x->node_count; i++) {
    uint32_t at = slot_of(x, nodes[i].parent, nodes[i].name, nodes[i].start_end);
    while (slots[at])
      at = (at + 1) & x->slot_mask;
    slots[at] = i + 1;
  }
  return true;
}

static bool is_node(const struct sweep *x, uint32_t node, uint32_t parent, uint32_t name, bool start_end) {
  const struct nai_nvtx_node *n = &x->nodes[node];
  return n->parent == parent && n->name == name && n->start_end == start_end;
}

/* Node of a name below a parent node, made when new; NAI_NO_ROW when out of memory. */
static uint32_t find_node(struct sweep *x, uint32_t parent, uint32_t name, bool start_end) {
  if (x->node_count == x->node_capacity && !grow_nodes(x))
    return NAI_NO_ROW;
  uint32_t at = slot_of(x, parent, name, start_end);
  for (; x->slots[at]; at = (at + 1) & x->slot_mask) {
    if (is_node(x, x->slots[at] - 1, parent, name, start_end))
      return x->slots[at] - 1;
  }
  bool added;
  uint32_t local = nai_keyset_add(&x->names, name, &added);
  if (x->names.oom)
    return NAI_NO_ROW;
  x->progress[x->node_count] = (struct progress){local, -1, INT64_MIN, x->node_count};
  /* The ranges on the stack are those around this one, so their names are those of the nodes above. */
  x->nodes[x->node_count] = (struct nai_nvtx_node){.parent = parent,
                                                   .name = name,
                                                   .thread = (int32_t)x->thread,
                                                   .start_end = start_end,
                                                   .outermost = start_end || !x->open_of_name[local],
                                                   .longest = NAI_NO_ROW};
  x->slots[at] = x->node_count + 1;
  return x->node_count++;
}

/* The same, where ranges mostly follow each other as they did before. */
static uint32_t node_for(struct sweep *x, uint32_t parent, uint32_t name, bool start_end) {
  uint32_t node = x->node_count ? x->progress[x->last].next : 0;
  if (!x->node_count || !is_node(x, node, parent, name, start_end))
    node = find_node(x, parent, name, start_end);
  if (node != NAI_NO_ROW) {
    x->progress[x->last].next = node;
    x->last = node;
  }
  return node;
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

/* Shares out the thread's time up to t among the ranges that were innermost, and takes ended ones off the stack.
 * Returns the innermost push/pop range at t, NULL when there is none. */
static const struct nai_open_range *advance(struct sweep *x, int64_t t) {
  while (x->nested.depth) {
    const struct nai_open_range *top = nai_open_top(&x->nested);
    int64_t until = top->end < t ? top->end : t;
    if (until > x->now) {
      x->nodes[top->node].wall_ns += until - x->now;
      x->now = until;
    }
    if (top->end > t)
      break;
    pop(x);
  }
  x->now = t > x->now ? t : x->now;
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
  const struct nai_open_range *parent = advance(x, start);
  x->m->crossing[x->thread] += parent && parent->end < end;
  while (parent && parent->end < end) {
    pop(x);
    parent = nai_open_top(&x->nested);
  }
  return parent;
}

static bool enter(struct sweep *x, uint32_t range, int64_t start) {
  int64_t end = nai_at(&x->end, range);
  bool start_end = nai_at_i32(&x->kind, range) != NAI_NVTX_PUSH_POP;
  const struct nai_open_range *parent = start_end ? NULL : find_parent(x, start, end);
  uint32_t node = node_for(x, parent ? parent->node : NAI_NO_ROW, nai_at_text(&x->name, range), start_end);
  if (node == NAI_NO_ROW)
    return false;
  x->m->nvtx_depth[range] = (uint8_t)(start_end ? 0 : x->nested.depth < UINT8_MAX ? x->nested.depth : UINT8_MAX);
  count_instance(x, node, range, start, end);
  if (end == start) /* contains nothing */
    return true;
  if (!start_end)
    x->open_of_name[x->progress[node].name]++;
  if (start_end) /* ended ones would pile up on threads whose calls never ask for them */
    innermost_async(x, start);
  return nai_open_push(start_end ? &x->async : &x->nested, (struct nai_open_range){end, range, node, NAI_NO_ROW});
}

/* Goes through the thread's ranges and calls in start order. */
static bool sweep(struct sweep *x) {
  struct nai_model *m = x->m;
  const struct nai_groups *ranges = &m->nvtx_by_thread, *calls = &m->api_by_thread;
  const struct nai_column call_starts = m->apis.start_ns;
  uint32_t r = ranges->first[x->thread], r_end = ranges->first[x->thread + 1];
  uint32_t c = calls->first[x->thread], c_end = calls->first[x->thread + 1];
  bool ok = true;
  while (ok && (c < c_end || r < r_end)) {
    int64_t call_start = c < c_end ? nai_at(&call_starts, calls->order[c]) : INT64_MAX;
    for (; ok && r < r_end; r++) { /* a call that starts with a range lies in it */
      int64_t start = nai_at(&x->start, ranges->order[r]);
      if (start > call_start)
        break;
      ok = nai_checkpoint_note(&m->checkpoints[x->thread], r, &x->nested) && enter(x, ranges->order[r], start);
    }
    if (c == c_end)
      continue;
    const struct nai_open_range *inner = advance(x, call_start);
    /* Start/end ranges speak for a call only where no push/pop range does. */
    m->api_node[calls->order[c++]] = inner ? inner->node : innermost_async(x, call_start);
  }
  advance(x, INT64_MAX);
  return ok;
}

int nai_nvtx_nest(struct nai_nvtx_node **nodes, uint32_t *node_count, struct nai_model *m, uint32_t thread,
                  struct nai_err *err) {
  const struct NVTX_EVENTS_columns *v = &m->nvtx;
  const struct nai_groups *ranges = &m->nvtx_by_thread, *calls = &m->api_by_thread;
  struct sweep x = {.m = m,
                    .start = v->start_ns,
                    .end = v->end_ns,
                    .kind = v->kind,
                    .name = v->name,
                    .thread = thread,
                    .now = INT64_MIN,
                    .names.directory = m->scratch_dir};
  if (ranges->first[thread] == ranges->first[thread + 1]) {
    for (uint32_t c = calls->first[thread]; c < calls->first[thread + 1]; c++)
      m->api_node[calls->order[c]] = NAI_NO_ROW;
    return NAI_OK;
  }
  int rc = sweep(&x) ? NAI_OK : nai_err_nomem(err);
  nai_open_free(&x.nested);
  nai_open_free(&x.async);
  nai_keyset_free(&x.names);
  nai_spill_array_free(x.open_of_name);
  nai_spill_array_free(x.progress);
  nai_spill_array_free(x.slots);
  if (x.nodes && x.node_capacity == FIRST_NODES) { /* there may be many threads with few nodes each */
    size_t bytes = x.node_count * sizeof *x.nodes;
    struct nai_nvtx_node *fitting = nai_spill_array_grow(x.nodes, m->scratch_dir, bytes, bytes);
    x.nodes = fitting ? fitting : x.nodes;
  }
  *nodes = x.nodes;
  *node_count = x.node_count;
  return rc;
}

struct nai_nvtx_node *nai_model_call_node(const struct nai_model *m, uint32_t api) {
  uint32_t node = m->api_node[api];
  return node == NAI_NO_ROW ? NULL : &m->nodes[m->first_node[nai_at_i32(&m->apis.thread, api)] + node];
}

bool nai_model_has_start_end(const struct nai_model *m, uint32_t thread) {
  for (uint32_t i = m->first_node[thread]; i < m->first_node[thread + 1]; i++)
    if (m->nodes[i].start_end)
      return true;
  return false;
}
