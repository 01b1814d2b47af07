/* Which NVTX ranges the kernels belong to: those around the API calls that launched them. */
#include "derive/build.h"

#include <stdlib.h>

static void attribute_kernels(struct nai_model *m) {
  for (uint32_t k = 0; k < m->kernels.n; k++) {
    uint32_t api = m->kernel_api[k];
    struct nai_nvtx_node *node = api == NAI_NO_ROW ? NULL : nai_model_call_node(m, api);
    if (!node)
      continue;
    node->kernel_ns += nai_kernel_ns(m, k);
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

/* --- start/end ranges ------------------------------------------------------------------------- */

/* Kernels by launching call: sums over the thread's calls before the i-th in start order. */
struct launched {
  int64_t *ns, *count;
};

static int sum_launched(struct launched *out, const struct nai_model *m, const int64_t *api_ns,
                        const uint32_t *api_count, uint32_t thread, struct nai_err *err) {
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
  return nai_rows_from(g->order, g->first[thread], g->first[thread + 1], &m->apis.start, t) - g->first[thread];
}

/* When a name was open on the thread, by kind of range. */
struct open_times {
  struct nai_intervals start_end, push_pop;
};

/* Fills times[node] of the thread's start/end nodes. node_of_name: scratch, NAI_NO_ROW between uses. */
static bool find_open_times(struct open_times *times, uint32_t *node_of_name, const struct nai_model *m,
                            uint32_t thread) {
  const struct nai_groups *g = &m->nvtx_by_thread;
  const struct nai_nvtx_node *nodes = m->nodes + m->first_node[thread];
  uint32_t count = m->first_node[thread + 1] - m->first_node[thread];
  bool ok = true;
  for (uint32_t i = 0; i < count; i++)
    if (nodes[i].start_end)
      node_of_name[nodes[i].name] = i;
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++) {
    uint32_t range = g->order[i], node = node_of_name[nai_at_text(&m->nvtx.name, range)];
    if (node == NAI_NO_ROW)
      continue;
    struct nai_intervals *set =
        nai_at_i32(&m->nvtx.kind, range) == NAI_NVTX_PUSH_POP ? &times[node].push_pop : &times[node].start_end;
    nai_intervals_add(set, nai_at(&m->nvtx.start, range), nai_at(&m->nvtx.end, range));
    ok &= !set->oom;
  }
  for (uint32_t i = 0; i < count; i++)
    if (nodes[i].start_end)
      node_of_name[nodes[i].name] = NAI_NO_ROW;
  return ok;
}

/* A start/end range covers every kernel launched on its thread while any instance of its name was open, each once: what
 * push/pop ranges of other names inside it are charged with counts as well, what those of its own name are does not. */
static int attribute_start_end(struct nai_model *m, uint32_t thread, const int64_t *api_ns, const uint32_t *api_count,
                               uint32_t *node_of_name, struct nai_err *err) {
  struct nai_nvtx_node *nodes = m->nodes + m->first_node[thread];
  uint32_t count = m->first_node[thread + 1] - m->first_node[thread];
  struct launched launched = {0};
  struct open_times *times = calloc((size_t)count + 1, sizeof *times);
  int rc = times && find_open_times(times, node_of_name, m, thread) ? NAI_OK : nai_err_nomem(err);
  if (!rc)
    rc = sum_launched(&launched, m, api_ns, api_count, thread, err);
  for (uint32_t i = 0; !rc && i < count; i++) {
    if (!nodes[i].start_end)
      continue;
    struct nai_intervals own = {0};
    nai_intervals_subtract(&own, &times[i].start_end, &times[i].push_pop);
    nodes[i].inclusive_kernel_ns = nodes[i].inclusive_kernel_count = 0;
    for (size_t k = 0; k < own.count; k++) {
      uint32_t a = calls_before(m, thread, own.v[k].start), b = calls_before(m, thread, own.v[k].end);
      nodes[i].inclusive_kernel_ns += launched.ns[b] - launched.ns[a];
      nodes[i].inclusive_kernel_count += launched.count[b] - launched.count[a];
    }
    if (own.oom)
      rc = nai_err_nomem(err);
    nai_intervals_free(&own);
  }
  for (uint32_t i = 0; times && i < count; i++) {
    nai_intervals_free(&times[i].start_end);
    nai_intervals_free(&times[i].push_pop);
  }
  free(times);
  free(launched.ns);
  free(launched.count);
  return rc;
}

int nai_nvtx_attribute(struct nai_model *m, struct nai_err *err) {
  attribute_kernels(m);
  bool any = false;
  for (uint32_t t = 0; t < m->thread_count; t++)
    any |= nai_model_has_start_end(m, t);
  if (!any)
    return NAI_OK;
  uint32_t names = m->tables[NAI_IN_NVTX]->strings.count;
  int64_t *api_ns = calloc((size_t)m->apis.n + 1, sizeof *api_ns);
  uint32_t *api_count = calloc((size_t)m->apis.n + 1, sizeof *api_count);
  uint32_t *node_of_name = malloc(((size_t)names + 1) * sizeof *node_of_name);
  int rc = api_ns && api_count && node_of_name ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < names; i++)
    node_of_name[i] = NAI_NO_ROW;
  for (uint32_t k = 0; !rc && k < m->kernels.n; k++)
    if (m->kernel_api[k] != NAI_NO_ROW) {
      api_ns[m->kernel_api[k]] += nai_kernel_ns(m, k);
      api_count[m->kernel_api[k]]++;
    }
  for (uint32_t t = 0; !rc && t < m->thread_count; t++)
    if (nai_model_has_start_end(m, t))
      rc = attribute_start_end(m, t, api_ns, api_count, node_of_name, err);
  free(api_ns);
  free(api_count);
  free(node_of_name);
  return rc;
}
