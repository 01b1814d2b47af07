/* Which operation with sizes is each kernel part of? The innermost around the call that launched it; of nodes of graphs
 * around the call that captured them. */
#include "analyses/gemm/gemm.h"

#include "model/graphs/graph_origin.h"
#include "base/array.h"
#include "base/sort.h"
#include "model/steps/step_stats.h"
#include "model/steps/steps.h"
#include "tables/nvtx_events.h"
#include "tables/nvtx_sizes.h"

#include <stddef.h>
#include <stdlib.h>

/* A range of a known operation. */
struct range {
  int64_t start, end;
  uint32_t row, kind, parent; /* of nvtx_events; index among the thread's, NAI_NO_ROW for none */
};
struct ranges {
  struct range *v; /* by start */
  uint32_t count, capacity;
};

struct finder {
  struct nai_gemms *g;
  bool *known;                   /* per string of nvtx_events */
  struct ranges *ranges;         /* per thread */
  struct nai_keyset kinds, runs; /* name << 32 | sizes; range << 32 | call of a graph launch + 1 */
  struct nai_graph_nodes nodes;
  bool has_graphs;
  uint32_t *place_of; /* process * gpu_count + gpu: index of the place + 1, 0 for none */
  uint8_t **steady;   /* per place: per step of the process whether it is steady there; NULL without steps */
  uint32_t near;      /* step of the launch before */
};

/* --- ranges --------------------------------------------------------------------------------------- */

static bool find_names(struct finder *f, const struct nai_strings *names) {
  bool any = false;
  for (uint32_t i = 0; i < names->count; i++)
    any |= f->known[i] = nai_matrix_op_known(nai_strings_get(names, i));
  return any;
}

/* Index of the kind, UINT32_MAX when out of memory. */
static uint32_t kind_of(struct finder *f, uint32_t name, uint32_t sizes) {
  const struct nai_model *m = f->g->m;
  bool added;
  uint32_t i = nai_keyset_add(&f->kinds, nai_key_pair(name, sizes), &added);
  if (f->kinds.oom || (added && !nai_array_room(&f->g->kinds, &f->g->kind_capacity, i, sizeof *f->g->kinds)))
    return UINT32_MAX;
  if (!added)
    return i;
  struct nai_gemm_kind *kind = &f->g->kinds[i];
  struct nai_sizes list;
  *kind = (struct nai_gemm_kind){.name = name, .sizes = sizes};
  kind->known = nai_sizes_read(&list, nai_get_str(m->tables[NAI_IN_NVTX_SIZES], sizes, NVTX_SIZES_sizes)) &&
                nai_matrix_shape_of(&kind->shape, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, name), &list);
  f->g->kind_count = f->kinds.count;
  return i;
}

static int read_thread(struct finder *f, uint32_t thread, struct nai_err *err) {
  const struct nai_model *m = f->g->m;
  const struct nai_groups *g = &m->nvtx_by_thread;
  struct nai_column sizes = nai_table_column(m->tables[NAI_IN_NVTX], NVTX_EVENTS_sizes);
  struct ranges *r = &f->ranges[thread];
  uint32_t open = NAI_NO_ROW;
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++) {
    uint32_t row = g->order[i], name = nai_at_text(&m->nvtx.name, row);
    if (name == NAI_NO_STRING || !f->known[name] || nai_at_i32(&m->nvtx.kind, row) != NAI_NVTX_PUSH_POP ||
        nai_at_i32(&sizes, row) < 0)
      continue;
    struct range range = {.start = nai_at(&m->nvtx.start_ns, row), .end = nai_at(&m->nvtx.end_ns, row), .row = row};
    while (open != NAI_NO_ROW && r->v[open].end < range.end)
      open = r->v[open].parent;
    range.parent = open;
    range.kind = kind_of(f, name, (uint32_t)nai_at_i32(&sizes, row));
    if (range.kind == UINT32_MAX || !nai_array_room(&r->v, &r->capacity, r->count, sizeof *r->v))
      return nai_err_nomem(err);
    open = r->count;
    r->v[r->count++] = range;
  }
  return NAI_OK;
}

/* The innermost range around the start of a call, NULL for none. */
static const struct range *range_around(const struct finder *f, uint32_t api) {
  const struct nai_model *m = f->g->m;
  int32_t thread = api == NAI_NO_ROW ? -1 : nai_at_i32(&m->apis.thread, api);
  if (thread < 0)
    return NULL;
  const struct ranges *r = &f->ranges[thread];
  int64_t t = nai_at(&m->apis.start_ns, api);
  size_t i = nai_bisect(r->v, r->count, sizeof *r->v, offsetof(struct range, start), t + 1);
  uint32_t at = i ? (uint32_t)i - 1 : NAI_NO_ROW;
  while (at != NAI_NO_ROW && r->v[at].end <= t)
    at = r->v[at].parent;
  return at == NAI_NO_ROW ? NULL : &r->v[at];
}

/* --- places --------------------------------------------------------------------------------------- */

static struct nai_gemm_place *place_at(const struct finder *f, uint32_t kernel) {
  const struct nai_model *m = f->g->m;
  int32_t process = nai_at_i32(&m->kernels.process, kernel);
  uint32_t gpu = nai_model_gpu_index(m, nai_at_i32(&m->kernels.device_id, kernel));
  uint32_t at = process < 0 || gpu >= m->gpu_count ? 0 : f->place_of[(size_t)process * m->gpu_count + gpu];
  return at ? &f->g->places[at - 1] : NULL;
}

static int list_places(struct finder *f, struct nai_err *err) {
  const struct nai_model *m = f->g->m;
  uint32_t most = m->process_gpus.first[m->process_count];
  f->place_of = calloc((size_t)m->process_count * m->gpu_count + 1, sizeof *f->place_of);
  f->g->places = calloc((size_t)most + 1, sizeof *f->g->places);
  f->steady = calloc((size_t)most + 1, sizeof *f->steady);
  if (!f->place_of || !f->g->places || !f->steady)
    return nai_err_nomem(err);
  for (uint32_t p = 0; p < m->process_count; p++)
    for (uint32_t i = m->process_gpus.first[p]; i < m->process_gpus.first[p + 1]; i++) {
      uint32_t gpu = m->process_gpus.order[i];
      f->g->places[f->g->place_count++] = (struct nai_gemm_place){.process = p, .gpu = gpu};
      f->place_of[(size_t)p * m->gpu_count + gpu] = f->g->place_count;
    }
  return NAI_OK;
}

static int find_steady(struct finder *f, struct nai_err *err) {
  const struct nai_model *m = f->g->m;
  int rc = NAI_OK;
  for (uint32_t i = 0; !rc && i < m->steps->list_count; i++) {
    const struct nai_step_list *list = &m->steps->lists[i];
    uint32_t at = f->place_of[(size_t)list->process * m->gpu_count + list->gpu];
    struct nai_step_stats stats;
    if (!at || !list->count)
      continue;
    uint8_t *steady = calloc((size_t)m->steps->processes[list->process].count + 1, 1);
    f->steady[at - 1] = steady;
    if (!steady)
      return nai_err_nomem(err);
    rc = nai_step_stats_new(&stats, &m->steps->processes[list->process], list, err);
    for (uint32_t s = 0; !rc && s < list->count; s++)
      steady[list->v[s].step] = stats.state[s] == NAI_STEP_STEADY;
    f->g->places[at - 1].steady_steps = rc ? 0 : stats.states[NAI_STEP_STEADY];
    nai_step_stats_free(&stats);
  }
  return rc;
}

static bool is_steady(struct finder *f, const struct nai_gemm_place *place, int64_t launched) {
  const uint8_t *steady = f->steady[place - f->g->places];
  uint32_t step = steady ? nai_step_at(&f->g->m->steps->processes[place->process], launched, &f->near) : UINT32_MAX;
  return step != UINT32_MAX && steady[step];
}

/* --- kernels -------------------------------------------------------------------------------------- */

static int add_run(struct finder *f, const struct range *range, uint32_t kernel, struct nai_gemm_place *place,
                   bool steady, struct nai_err *err) {
  const struct nai_model *m = f->g->m;
  struct nai_gemms *g = f->g;
  uint32_t api = m->kernel_api[kernel];
  bool replayed = nai_at_i32(&m->kernels.graph_id, kernel) != NAI_NULL_I32, added;
  uint32_t i = nai_keyset_add(&f->runs, nai_key_pair(range->row, replayed ? (uint32_t)api + 1 : 0), &added);
  if (f->runs.oom || (added && !nai_array_room(&g->runs, &g->run_capacity, i, sizeof *g->runs)))
    return nai_err_nomem(err);
  struct nai_gemm_run *run = &g->runs[i];
  if (added) {
    const struct nai_matrix_shape *shape = &g->kinds[range->kind].shape;
    *run = (struct nai_gemm_run){.kind = range->kind,
                                 .gpu = place->gpu,
                                 .process = (int32_t)place->process,
                                 .launched = nai_at(&m->apis.start_ns, api),
                                 .longest = kernel};
    for (struct nai_gemm_sums *s = &place->all; s; s = s == &place->all && steady ? &place->steady : NULL) {
      s->runs++;
      s->flop += shape->flop;
      s->attention_flop += shape->attention ? shape->flop : 0;
    }
    g->run_count = f->runs.count;
  }
  run->kernels++;
  run->ns += nai_kernel_ns(m, kernel);
  if (nai_kernel_ns(m, kernel) > nai_kernel_ns(m, run->longest))
    run->longest = kernel;
  return NAI_OK;
}

static uint32_t made_by(const struct finder *f, uint32_t kernel) {
  const struct KERNEL_EVENTS_columns *k = &f->g->m->kernels;
  uint32_t api = f->g->m->kernel_api[kernel];
  if (!f->has_graphs || nai_at_i32(&k->graph_id, kernel) == NAI_NULL_I32)
    return api;
  if (api == NAI_NO_ROW) /* nobody tells which launch of the graph it is */
    return NAI_NO_ROW;
  (void)nai_graph_node_call(&api, &f->nodes, nai_at_i32(&k->process, kernel), nai_at(&k->graph_node_id, kernel));
  return api;
}

static int add_kernel(struct finder *f, uint32_t kernel, struct nai_err *err) {
  const struct nai_model *m = f->g->m;
  bool matrix = nai_kernel_classes_matrix(m->classes, m->kernel_category[nai_at_text(&m->kernels.name, kernel)]);
  struct nai_gemm_place *place = place_at(f, kernel);
  const struct range *range = place ? range_around(f, made_by(f, kernel)) : NULL;
  bool counts = range && f->g->kinds[range->kind].known;
  if (!place || (!matrix && !counts))
    return NAI_OK;
  int64_t ns = matrix ? nai_kernel_ns(m, kernel) : 0;
  uint32_t api = m->kernel_api[kernel];
  bool steady = api != NAI_NO_ROW && is_steady(f, place, nai_at(&m->apis.start_ns, api));
  place->all.matrix_ns += ns;
  place->all.covered_ns += counts ? ns : 0;
  place->steady.matrix_ns += steady ? ns : 0;
  place->steady.covered_ns += steady && counts ? ns : 0;
  return counts ? add_run(f, range, kernel, place, steady, err) : NAI_OK;
}

static int find_all(struct finder *f, struct nai_err *err) {
  const struct nai_model *m = f->g->m;
  int rc = NAI_OK;
  f->ranges = calloc((size_t)m->thread_count + 1, sizeof *f->ranges);
  if (!f->ranges)
    return nai_err_nomem(err);
  for (uint32_t t = 0; !rc && t < m->thread_count; t++)
    rc = read_thread(f, t, err);
  if (rc || !f->g->kind_count) /* no sizes */
    return rc;
  f->has_graphs = m->tables[NAI_IN_GRAPH_NODES]->rows > 0;
  if (f->has_graphs)
    rc = nai_graph_nodes_new(&f->nodes, m, err);
  if (!rc)
    rc = list_places(f, err);
  if (!rc)
    rc = find_steady(f, err);
  for (uint32_t k = 0; !rc && k < m->kernels.n; k++)
    rc = add_kernel(f, k, err);
  return rc;
}

int nai_gemms_find(struct nai_gemms *out, const struct nai_model *m, struct nai_err *err) {
  const struct nai_strings *names = &m->tables[NAI_IN_NVTX]->strings;
  struct finder f = {.g = out};
  *out = (struct nai_gemms){.m = m};
  if (!m->map_nvtx || !m->tables[NAI_IN_NVTX_SIZES]->rows)
    return NAI_OK;
  f.known = calloc((size_t)names->count + 1, sizeof *f.known);
  int rc = f.known ? NAI_OK : nai_err_nomem(err);
  if (!rc && find_names(&f, names))
    rc = find_all(&f, err);
  for (uint32_t t = 0; f.ranges && t < m->thread_count; t++)
    free(f.ranges[t].v);
  for (uint32_t i = 0; f.steady && i < out->place_count; i++)
    free(f.steady[i]);
  nai_keyset_free(&f.kinds);
  nai_keyset_free(&f.runs);
  nai_graph_nodes_free(&f.nodes);
  free(f.known);
  free(f.ranges);
  free(f.place_of);
  free(f.steady);
  return rc;
}

void nai_gemms_free(struct nai_gemms *g) {
  free(g->kinds);
  free(g->runs);
  free(g->places);
}
