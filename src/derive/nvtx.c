/* The NVTX tree of a thread, and which range each of its API calls lies in. One sweep over both in start order. */
#include "derive/model.h"

#include <stdlib.h>
#include <string.h>

/* Ranges that have begun, in start order; ended ones below the top are removed when they come up. */
struct stack {
  uint32_t *rows;
  uint32_t depth, capacity;
};

/* Everything one thread's sweep needs. */
struct sweep {
  struct nai_model *m;
  uint32_t thread;
  struct stack nested, async; /* push/pop ranges nest, start/end ranges only cover */
  struct nai_nvtx_node *nodes;
  uint32_t node_count, node_capacity;
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

/* The range begun last among those that contain t. */
static uint32_t innermost(struct stack *s, const int64_t *end, int64_t t) {
  while (s->depth && end[s->rows[s->depth - 1]] <= t)
    s->depth--;
  return s->depth ? s->rows[s->depth - 1] : NAI_NO_ROW;
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
  struct nai_nvtx_node fresh = {.parent = parent, .name = name, .thread = (int32_t)x->thread, .start_end = start_end,
                                .outermost = true, .longest = NAI_NO_ROW};
  for (uint32_t up = parent; up != NAI_NO_ROW && fresh.outermost; up = x->nodes[up].parent)
    fresh.outermost = x->nodes[up].name != name;
  x->async_until[x->node_count] = INT64_MIN;
  x->nodes[x->node_count] = fresh;
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
    node->wall_ns += length;
    if (node->parent != NAI_NO_ROW) {
      x->nodes[node->parent].self_ns -= length;
      x->nodes[node->parent].wall_ns -= length;
    }
  } else if (v->end[range] > x->async_until[index]) { /* not inside an instance of the same name */
    node->total_ns += length;
    node->self_ns += length;
    x->async_until[index] = v->end[range];
  }
}

/* --- the sweep -------------------------------------------------------------------------------------------------- */

/* Finds the innermost stacked range that wholly contains `range` and takes it for its parent. Live ranges above it cross
 * `range`: the part they share is the later one's in the partition of the thread's time. */
static uint32_t find_parent(struct sweep *x, uint32_t range) {
  enum { MAX_CROSSING = 64 };
  const struct nai_nvtx_view *v = &x->m->nvtx;
  innermost(&x->nested, v->end, v->start[range]);
  uint32_t parent = NAI_NO_ROW, above = 0;
  for (; above < x->nested.depth && above < MAX_CROSSING && parent == NAI_NO_ROW; above++) {
    uint32_t row = x->nested.rows[x->nested.depth - 1 - above];
    if (v->end[row] >= v->end[range])
      parent = row;
  }
  uint32_t crossed = above - (parent != NAI_NO_ROW);
  int64_t shared = 0;
  for (uint32_t i = 0; i < crossed; i++) {
    uint32_t row = x->nested.rows[x->nested.depth - 1 - i];
    int64_t overlap = v->end[row] - v->start[range];
    if (overlap <= shared)
      continue;
    x->nodes[x->m->nvtx_node[row]].wall_ns -= overlap - shared;
    shared = overlap;
  }
  if (shared && parent != NAI_NO_ROW)
    x->nodes[x->m->nvtx_node[parent]].wall_ns += shared;
  x->m->crossing[x->thread] += crossed > 0;
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
  return m->nvtx.end[range] == m->nvtx.start[range] || push(start_end ? &x->async : &x->nested, range);
}

int nai_nvtx_nest(struct nai_nvtx_node **nodes, uint32_t *node_count, struct nai_model *m, uint32_t thread,
                  struct nai_err *err) {
  const struct nai_nvtx_view *nvtx = &m->nvtx;
  const struct nai_api_view *apis = &m->apis;
  const struct nai_groups *ranges = &m->nvtx_by_thread, *calls = &m->api_by_thread;
  struct sweep x = {.m = m, .thread = thread};
  uint32_t r = ranges->first[thread], r_end = ranges->first[thread + 1];
  uint32_t c = calls->first[thread], c_end = calls->first[thread + 1];
  int rc = NAI_OK;
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
    uint32_t inner = innermost(&x.nested, nvtx->end, apis->start[call]);
    /* Start/end ranges speak for a call only where no push/pop range does. */
    m->api_range[call] = inner != NAI_NO_ROW ? inner : innermost(&x.async, nvtx->end, apis->start[call]);
  }
  free(x.nested.rows);
  free(x.async.rows);
  free(x.async_until);
  free(x.slots);
  *nodes = x.nodes;
  *node_count = x.node_count;
  return rc;
}

struct nai_nvtx_node *nai_model_node(const struct nai_model *m, uint32_t range) {
  return &m->nodes[m->first_node[m->nvtx.thread[range]] + m->nvtx_node[range]];
}

/* --- attribution ------------------------------------------------------------------------------------------------ */

static void attribute_kernels(struct nai_model *m) {
  for (uint32_t k = 0; k < m->kernels.n; k++) {
    uint32_t api = m->kernel_api[k], range = api == NAI_NO_ROW ? NAI_NO_ROW : m->api_range[api];
    if (range == NAI_NO_ROW)
      continue;
    struct nai_nvtx_node *node = nai_model_node(m, range);
    node->kernel_ns += m->kernels.end[k] - m->kernels.start[k];
    node->kernel_count++;
  }
  for (uint32_t i = 0; i < m->node_count; i++) {
    m->nodes[i].inclusive_kernel_ns = m->nodes[i].kernel_ns;
    m->nodes[i].inclusive_kernel_count = m->nodes[i].kernel_count;
  }
  for (uint32_t i = m->node_count; i-- > 0;) { /* children come after parents */
    const struct nai_nvtx_node *node = &m->nodes[i];
    if (node->parent == NAI_NO_ROW)
      continue;
    m->nodes[node->parent].inclusive_kernel_ns += node->inclusive_kernel_ns;
    m->nodes[node->parent].inclusive_kernel_count += node->inclusive_kernel_count;
  }
}

/* Kernel time launched by the calls of one thread: before[i] = by its calls 0..i-1 in start order. */
struct launched {
  int64_t *ns, *count;
};

static int sum_launched(struct launched *out, const struct nai_model *m, const int64_t *api_ns, const uint32_t *api_count,
                        uint32_t thread, struct nai_err *err) {
  uint32_t first = m->api_by_thread.first[thread], n = m->api_by_thread.first[thread + 1] - first;
  out->ns = malloc(((size_t)n + 1) * sizeof *out->ns);
  out->count = malloc(((size_t)n + 1) * sizeof *out->count);
  if (!out->ns || !out->count)
    return nai_err_nomem(err);
  out->ns[0] = out->count[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t api = m->api_by_thread.order[first + i];
    out->ns[i + 1] = out->ns[i] + api_ns[api];
    out->count[i + 1] = out->count[i] + api_count[api];
  }
  return NAI_OK;
}

/* Calls of the thread that start before t. */
static uint32_t calls_before(const struct nai_model *m, uint32_t thread, int64_t t) {
  const struct nai_groups *g = &m->api_by_thread;
  uint32_t lo = g->first[thread], hi = g->first[thread + 1];
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (m->apis.start[g->order[mid]] < t)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo - g->first[thread];
}

/* A start/end range covers every kernel launched on its thread while any instance of its name was open, each once: what
 * push/pop ranges inside it are charged with counts as well. */
static int attribute_start_end(struct nai_model *m, uint32_t thread, const int64_t *api_ns, const uint32_t *api_count,
                               struct nai_err *err) {
  const struct nai_groups *g = &m->nvtx_by_thread;
  uint32_t first = m->first_node[thread], nodes = m->first_node[thread + 1] - first;
  struct launched launched = {0};
  int64_t *until = malloc(((size_t)nodes + 1) * sizeof *until); /* per node: covered so far */
  int rc = until ? sum_launched(&launched, m, api_ns, api_count, thread, err) : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < nodes; i++) {
    until[i] = INT64_MIN;
    if (m->nodes[first + i].start_end)
      m->nodes[first + i].inclusive_kernel_ns = m->nodes[first + i].inclusive_kernel_count = 0;
  }
  for (uint32_t i = g->first[thread]; !rc && i < g->first[thread + 1]; i++) {
    uint32_t range = g->order[i], local = m->nvtx_node[range];
    struct nai_nvtx_node *node = &m->nodes[first + local];
    if (!node->start_end || m->nvtx.end[range] <= until[local])
      continue;
    int64_t from = m->nvtx.start[range] > until[local] ? m->nvtx.start[range] : until[local];
    uint32_t a = calls_before(m, thread, from), b = calls_before(m, thread, m->nvtx.end[range]);
    node->inclusive_kernel_ns += launched.ns[b] - launched.ns[a];
    node->inclusive_kernel_count += launched.count[b] - launched.count[a];
    until[local] = m->nvtx.end[range];
  }
  free(until);
  free(launched.ns);
  free(launched.count);
  return rc;
}

static bool has_start_end(const struct nai_model *m, uint32_t thread) {
  for (uint32_t i = m->first_node[thread]; i < m->first_node[thread + 1]; i++)
    if (m->nodes[i].start_end)
      return true;
  return false;
}

int nai_nvtx_attribute(struct nai_model *m, struct nai_nvtx_node **parts, const uint32_t *part_counts,
                       struct nai_err *err) {
  uint64_t total = 0;
  for (uint32_t t = 0; t < m->thread_count; t++)
    total += part_counts[t];
  if (total >= NAI_NO_ROW)
    return nai_err_set(err, NAI_ELIMIT, "more than 4,294,967,294 distinct NVTX call paths");
  m->nodes = malloc((size_t)(total + 1) * sizeof *m->nodes);
  if (!m->nodes)
    return nai_err_nomem(err);
  bool any = false;
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
    any |= has_start_end(m, t);
  }
  attribute_kernels(m);
  if (!any)
    return NAI_OK;
  int64_t *api_ns = calloc((size_t)m->apis.n + 1, sizeof *api_ns);
  uint32_t *api_count = calloc((size_t)m->apis.n + 1, sizeof *api_count);
  int rc = api_ns && api_count ? NAI_OK : nai_err_nomem(err);
  for (uint32_t k = 0; !rc && k < m->kernels.n; k++)
    if (m->kernel_api[k] != NAI_NO_ROW) {
      api_ns[m->kernel_api[k]] += m->kernels.end[k] - m->kernels.start[k];
      api_count[m->kernel_api[k]]++;
    }
  for (uint32_t t = 0; !rc && t < m->thread_count; t++)
    if (has_start_end(m, t))
      rc = attribute_start_end(m, t, api_ns, api_count, err);
  free(api_ns);
  free(api_count);
  return rc;
}
