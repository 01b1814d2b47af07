/* The NVTX tree of a thread, and which range each of its API calls lies in. One sweep over both in start order. */
#include "derive/model.h"

#include "base/keyset.h"

#include <stdlib.h>
#include <string.h>

struct stack {
  uint32_t *rows;
  uint32_t depth, capacity;
};

/* Everything one thread's sweep needs. */
struct sweep {
  struct nai_model *m;
  uint32_t thread;
  struct stack nested; /* push/pop ranges, each inside the one below it: a range's parent is what it is put upon */
  struct stack async;  /* start/end ranges in start order: they cover, but do not nest; ended ones go when they come up */
  int64_t now;         /* the thread's time is shared out up to here */
  struct nai_keyset names; /* of this thread's nodes */
  uint32_t *open;          /* per name in `names`: push/pop ranges of that name on the stack */
  struct nai_nvtx_node *nodes;
  uint32_t node_count, node_capacity;
  uint32_t *name_of;    /* per node: its name in `names` */
  int64_t *async_until; /* per node: end of the start/end instance that reaches furthest */
  uint32_t *slots;      /* hash of (parent, name, kind) -> node + 1 */
  uint32_t slot_mask;
};

static bool push(struct stack *s, uint32_t row) {
  if (s->depth == s->capacity) {
    uint32_t capacity = s->capacity ? s->capacity * 2 : 256;
    uint32_t *rows = realloc(s->rows, (size_t)capacity * sizeof *rows);
    if (!rows)
      return false;
    s->rows = rows;
    s->capacity = capacity;
  }
  s->rows[s->depth++] = row;
  return true;
}

/* --- nodes ------------------------------------------------------------------------------------------------------ */

static uint32_t slot_of(const struct sweep *x, uint32_t parent, uint32_t name, bool start_end) {
  uint64_t key = ((uint64_t)parent << 33 | (uint64_t)name << 1 | start_end) * 0x9e3779b97f4a7c15u;
  return (uint32_t)(key >> 32) & x->slot_mask;
}

static bool grow_nodes(struct sweep *x) {
  uint32_t capacity = x->node_capacity ? x->node_capacity * 2 : 64;
  struct nai_nvtx_node *nodes = realloc(x->nodes, (size_t)capacity * sizeof *nodes);
  if (!nodes)
    return false;
  x->nodes = nodes;
  int64_t *until = realloc(x->async_until, (size_t)capacity * sizeof *until);
  if (!until)
    return false;
  x->async_until = until;
  uint32_t *name_of = realloc(x->name_of, (size_t)capacity * sizeof *name_of);
  if (!name_of)
    return false;
  x->name_of = name_of;
  uint32_t *open = realloc(x->open, (size_t)capacity * sizeof *open); /* a thread has no more names than nodes */
  if (!open)
    return false;
  memset(open + x->node_capacity, 0, (size_t)(capacity - x->node_capacity) * sizeof *open);
  x->open = open;
  uint32_t *slots = calloc((size_t)capacity * 2, sizeof *slots);
  if (!slots)
    return false;
  free(x->slots);
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

/* Node of a name below a parent node, made when new; NAI_NO_ROW when out of memory. */
static uint32_t node_for(struct sweep *x, uint32_t parent, uint32_t name, bool start_end) {
  if (x->node_count == x->node_capacity && !grow_nodes(x))
    return NAI_NO_ROW;
  uint32_t at = slot_of(x, parent, name, start_end);
  for (; x->slots[at]; at = (at + 1) & x->slot_mask) {
    const struct nai_nvtx_node *node = &x->nodes[x->slots[at] - 1];
    if (node->parent == parent && node->name == name && node->start_end == start_end)
      return x->slots[at] - 1;
  }
  bool added;
  uint32_t local = nai_keyset_add(&x->names, name, &added);
  if (x->names.oom)
    return NAI_NO_ROW;
  x->name_of[x->node_count] = local;
  /* The ranges on the stack are those around this one, so their names are those of the nodes above. */
  x->nodes[x->node_count] = (struct nai_nvtx_node){.parent = parent, .name = name, .thread = (int32_t)x->thread,
                                                   .start_end = start_end, .outermost = start_end || !x->open[local],
                                                   .longest = NAI_NO_ROW};
  x->async_until[x->node_count] = INT64_MIN;
  x->slots[at] = x->node_count + 1;
  return x->node_count++;
}

static void count_instance(struct sweep *x, uint32_t index, uint32_t range) {
  const struct nai_nvtx_view *v = &x->m->nvtx;
  struct nai_nvtx_node *node = &x->nodes[index];
  int64_t length = v->end[range] - v->start[range];
  node->count++;
  if (node->longest == NAI_NO_ROW || length > v->end[node->longest] - v->start[node->longest])
    node->longest = range;
  if (!node->start_end) {
    node->total_ns += length;
    node->self_ns += length;
    if (node->parent != NAI_NO_ROW)
      x->nodes[node->parent].self_ns -= length;
  } else if (v->end[range] > x->async_until[index]) { /* not inside an instance of the same name */
    node->total_ns += length;
    node->self_ns += length;
    x->async_until[index] = v->end[range];
  }
}

/* --- the sweep -------------------------------------------------------------------------------------------------- */

static void pop(struct sweep *x) { x->open[x->name_of[x->m->nvtx_node[x->nested.rows[--x->nested.depth]]]]--; }

/* Shares out the thread's time up to t among the ranges that were innermost, and takes ended ones off the stack. Returns
 * the innermost push/pop range at t. */
static uint32_t advance(struct sweep *x, int64_t t) {
  const int64_t *end = x->m->nvtx.end;
  while (x->nested.depth) {
    uint32_t top = x->nested.rows[x->nested.depth - 1];
    int64_t until = end[top] < t ? end[top] : t;
    if (until > x->now) {
      x->nodes[x->m->nvtx_node[top]].wall_ns += until - x->now;
      x->now = until;
    }
    if (end[top] > t)
      break;
    pop(x);
  }
  x->now = t > x->now ? t : x->now;
  return x->nested.depth ? x->nested.rows[x->nested.depth - 1] : NAI_NO_ROW;
}

/* The start/end range begun last among those that contain t. */
static uint32_t innermost_async(struct sweep *x, int64_t t) {
  struct stack *s = &x->async;
  while (s->depth && x->m->nvtx.end[s->rows[s->depth - 1]] <= t)
    s->depth--;
  return s->depth ? s->rows[s->depth - 1] : NAI_NO_ROW;
}

/* The innermost range that wholly contains `range`. What lies above it crosses `range` and ends before it: it can neither
 * contain a later range that `range` does not, nor be innermost again, so it leaves the stack for good. */
static uint32_t find_parent(struct sweep *x, uint32_t range) {
  const int64_t *end = x->m->nvtx.end;
  uint32_t parent = advance(x, x->m->nvtx.start[range]);
  x->m->crossing[x->thread] += parent != NAI_NO_ROW && end[parent] < end[range];
  while (parent != NAI_NO_ROW && end[parent] < end[range]) {
    pop(x);
    parent = x->nested.depth ? x->nested.rows[x->nested.depth - 1] : NAI_NO_ROW;
  }
  return parent;
}

static bool enter(struct sweep *x, uint32_t range) {
  struct nai_model *m = x->m;
  bool start_end = m->nvtx.kind[range] != NAI_NVTX_PUSH_POP;
  uint32_t parent = start_end ? NAI_NO_ROW : find_parent(x, range);
  uint32_t node = node_for(x, parent == NAI_NO_ROW ? NAI_NO_ROW : m->nvtx_node[parent], m->nvtx.name[range], start_end);
  if (node == NAI_NO_ROW)
    return false;
  m->nvtx_parent[range] = parent;
  m->nvtx_node[range] = node;
  count_instance(x, node, range);
  if (m->nvtx.end[range] == m->nvtx.start[range]) /* contains nothing */
    return true;
  if (start_end)
    return push(&x->async, range);
  x->open[x->name_of[node]]++;
  return push(&x->nested, range);
}

int nai_nvtx_nest(struct nai_nvtx_node **nodes, uint32_t *node_count, struct nai_model *m, uint32_t thread,
                  struct nai_err *err) {
  const struct nai_nvtx_view *nvtx = &m->nvtx;
  const struct nai_api_view *apis = &m->apis;
  const struct nai_groups *ranges = &m->nvtx_by_thread, *calls = &m->api_by_thread;
  struct sweep x = {.m = m, .thread = thread, .now = INT64_MIN};
  uint32_t r = ranges->first[thread], r_end = ranges->first[thread + 1];
  uint32_t c = calls->first[thread], c_end = calls->first[thread + 1];
  int rc = NAI_OK;
  if (r == r_end) {
    for (; c < c_end; c++)
      m->api_range[calls->order[c]] = NAI_NO_ROW;
    return NAI_OK;
  }
  while (!rc && (c < c_end || r < r_end)) {
    uint32_t range = r < r_end ? ranges->order[r] : NAI_NO_ROW, call = c < c_end ? calls->order[c] : NAI_NO_ROW;
    /* A call that starts with a range lies in it. */
    if (range != NAI_NO_ROW && (call == NAI_NO_ROW || nvtx->start[range] <= apis->start[call])) {
      r++;
      if (!enter(&x, range))
        rc = nai_err_nomem(err);
      continue;
    }
    c++;
    uint32_t inner = advance(&x, apis->start[call]);
    /* Start/end ranges speak for a call only where no push/pop range does. */
    m->api_range[call] = inner != NAI_NO_ROW ? inner : innermost_async(&x, apis->start[call]);
  }
  if (!rc)
    advance(&x, INT64_MAX);
  free(x.nested.rows);
  free(x.async.rows);
  nai_keyset_free(&x.names);
  free(x.open);
  free(x.name_of);
  free(x.async_until);
  free(x.slots);
  *nodes = x.nodes;
  *node_count = x.node_count;
  return rc;
}

int nai_nvtx_collect(struct nai_model *m, struct nai_nvtx_node **parts, const uint32_t *part_counts, struct nai_err *err) {
  uint64_t total = 0;
  for (uint32_t t = 0; t < m->thread_count; t++)
    total += part_counts[t];
  if (total >= NAI_NO_ROW)
    return nai_err_set(err, NAI_ELIMIT, "more than 4,294,967,294 distinct NVTX call paths");
  m->nodes = malloc((size_t)(total + 1) * sizeof *m->nodes);
  if (!m->nodes)
    return nai_err_nomem(err);
  for (uint32_t t = 0; t < m->thread_count; t++) {
    m->first_node[t] = m->node_count;
    for (uint32_t i = 0; i < part_counts[t]; i++) {
      struct nai_nvtx_node *node = &m->nodes[m->node_count + i];
      *node = parts[t][i];
      if (node->parent != NAI_NO_ROW)
        node->parent += m->first_node[t];
    }
    m->node_count += part_counts[t];
    m->first_node[t + 1] = m->node_count;
  }
  return NAI_OK;
}

struct nai_nvtx_node *nai_model_node(const struct nai_model *m, uint32_t range) {
  return &m->nodes[m->first_node[m->nvtx.thread[range]] + m->nvtx_node[range]];
}

bool nai_model_has_start_end(const struct nai_model *m, uint32_t thread) {
  for (uint32_t i = m->first_node[thread]; i < m->first_node[thread + 1]; i++)
    if (m->nodes[i].start_end)
      return true;
  return false;
}
