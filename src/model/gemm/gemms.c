/* Which operation with sizes is each kernel part of? The innermost around the call that launched it; of nodes of graphs
 * around the call that captured them. */
#include "model/gemm/gemms.h"

#include "base/sort.h"
#include "model/graphs/graph_origin.h"
#include "model/steps/steady.h"
#include "tables/nvtx_sizes.h"

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
  struct nai_arena *kept, *arena;      /* of what is found; of the search */
  bool *known;                         /* per string of nvtx_events */
  struct ranges *ranges;               /* per thread */
  struct nai_keyset kinds, runs;       /* name << 32 | sizes; range << 32 | call of a graph launch + 1 */
  const struct nai_graph_nodes *nodes; /* NULL without graphs */
  uint32_t *place_of;                  /* process * gpu_count + gpu: index of the place + 1, 0 for none */
  struct nai_steady steady;
};

/* --- ranges --------------------------------------------------------------------------------------- */

static int find_names(bool *any, struct finder *f, struct nai_err *err) {
  const struct nai_strings *names = &f->g->m->tables[NAI_IN_NVTX]->strings;
  NAI_TRY(NAI_NEW(f->known, f->arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++)
    *any |= f->known[i] = nai_matrix_op_known(nai_strings_get(names, i));
  return NAI_OK;
}

static int kind_of(uint32_t *out, struct finder *f, uint32_t name, uint32_t sizes, struct nai_err *err) {
  const struct nai_model *m = f->g->m;
  bool added;
  *out = nai_keyset_add(&f->kinds, nai_key_pair(name, sizes), &added);
  NAI_TRY(nai_memory_check(!f->kinds.oom, err));
  if (!added)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(f->g->kinds, f->g->kind_capacity, *out, f->kept, err));
  struct nai_gemm_kind *kind = &f->g->kinds[*out];
  struct nai_sizes list;
  *kind = (struct nai_gemm_kind){.name = name, .sizes = sizes};
  kind->known = nai_sizes_read(&list, nai_get_str(m->tables[NAI_IN_NVTX_SIZES], sizes, NVTX_SIZES_sizes)) &&
                nai_matrix_shape_of(&kind->shape, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, name), &list);
  f->g->kind_count = f->kinds.count;
  return NAI_OK;
}

static int read_thread(struct finder *f, uint32_t thread, struct nai_err *err) {
  const struct nai_model *m = f->g->m;
  const struct nai_groups *g = &m->nvtx_by_thread;
  struct ranges *r = &f->ranges[thread];
  uint32_t open = NAI_NO_ROW;
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++) {
    uint32_t row = g->order[i], name = nai_val_text(&m->nvtx.name, row);
    int32_t sizes = nai_at_i32(&m->nvtx.sizes, row);
    if (name == NAI_NO_STRING || !f->known[name] || nai_val_i32(&m->nvtx.kind, row) != NAI_NVTX_PUSH_POP || sizes < 0)
      continue;
    struct range range = {.start = nai_val(&m->nvtx.start_ns, row), .end = nai_val(&m->nvtx.end_ns, row), .row = row};
    while (open != NAI_NO_ROW && r->v[open].end < range.end)
      open = r->v[open].parent;
    range.parent = open;
    NAI_TRY(kind_of(&range.kind, f, name, (uint32_t)sizes, err));
    if (open != NAI_NO_ROW && f->g->kinds[range.kind].shape.elementwise) /* a helper, such as the copy of a bias */
      continue;
    NAI_TRY(NAI_ROOM(r->v, r->capacity, r->count, f->arena, err));
    open = r->count;
    r->v[r->count++] = range;
  }
  return NAI_OK;
}

/* The innermost range around the start of a call, NULL for none. */
static const struct range *range_around(const struct finder *f, uint32_t api) {
  const struct nai_model *m = f->g->m;
  int32_t thread = api == NAI_NO_ROW ? -1 : nai_val_i32(&m->apis.thread, api);
  if (thread < 0)
    return NULL;
  const struct ranges *r = &f->ranges[thread];
  int64_t t = nai_val(&m->apis.start_ns, api);
  size_t i = nai_bisect(r->v, r->count, sizeof *r->v, offsetof(struct range, start), t + 1);
  uint32_t at = i ? (uint32_t)i - 1 : NAI_NO_ROW;
  while (at != NAI_NO_ROW && r->v[at].end <= t)
    at = r->v[at].parent;
  return at == NAI_NO_ROW ? NULL : &r->v[at];
}

/* --- places --------------------------------------------------------------------------------------- */

static struct nai_gemm_place *place_at(const struct finder *f, uint32_t kernel) {
  const struct nai_model *m = f->g->m;
  int32_t process = nai_val_i32(&m->kernels.process, kernel);
  uint32_t gpu = nai_model_gpu_index(m, nai_val_i32(&m->kernels.device_id, kernel));
  uint32_t at = process < 0 || gpu >= m->gpu_count ? 0 : f->place_of[(size_t)process * m->gpu_count + gpu];
  return at ? &f->g->places[at - 1] : NULL;
}

static int list_places(struct finder *f, struct nai_err *err) {
  const struct nai_model *m = f->g->m;
  NAI_TRY(NAI_NEW(f->place_of, f->arena, (size_t)m->process_count * m->gpu_count, err));
  NAI_TRY(NAI_NEW(f->g->places, f->kept, m->process_gpus.first[m->process_count], err));
  for (uint32_t p = 0; p < m->process_count; p++)
    for (uint32_t i = m->process_gpus.first[p]; i < m->process_gpus.first[p + 1]; i++) {
      uint32_t gpu = m->process_gpus.order[i];
      size_t at = (size_t)p * m->gpu_count + gpu;
      f->g->places[f->g->place_count++] =
          (struct nai_gemm_place){.process = p, .gpu = gpu, .steady_steps = f->steady.of[at].count};
      f->place_of[at] = f->g->place_count;
    }
  return NAI_OK;
}

/* --- kernels -------------------------------------------------------------------------------------- */

static void count_run(struct nai_gemm_sums *sums, const struct nai_matrix_shape *shape) {
  if (shape->elementwise)
    return;
  sums->runs++;
  sums->flop += shape->flop;
  sums->attention_flop += shape->attention ? shape->flop : 0;
}

static int add_run(struct finder *f, const struct range *range, uint32_t kernel, struct nai_gemm_place *place,
                   bool steady, struct nai_err *err) {
  const struct nai_model *m = f->g->m;
  struct nai_gemms *g = f->g;
  bool replayed = nai_at_i32(&m->kernels.graph_id, kernel) != NAI_NULL_I32, added;
  int64_t key = nai_key_pair(range->row, replayed ? m->kernel_api[kernel] + 1 : 0);
  uint32_t i = nai_keyset_add(&f->runs, key, &added);
  NAI_TRY(nai_memory_check(!f->runs.oom, err));
  if (added) {
    NAI_TRY(NAI_ROOM(g->runs, g->run_capacity, i, f->kept, err));
    g->runs[i] = (struct nai_gemm_run){.kind = range->kind, .gpu = place->gpu, .longest = kernel};
    count_run(&place->all, &g->kinds[range->kind].shape);
    if (steady)
      count_run(&place->steady, &g->kinds[range->kind].shape);
    g->run_count = f->runs.count;
  }
  struct nai_gemm_run *run = &g->runs[i];
  run->kernels++;
  run->ns += nai_kernel_ns(m, kernel);
  if (nai_kernel_ns(m, kernel) > nai_kernel_ns(m, run->longest))
    run->longest = kernel;
  return NAI_OK;
}

static uint32_t made_by(const struct finder *f, uint32_t kernel) {
  const struct KERNEL_EVENTS_columns *k = &f->g->m->kernels;
  uint32_t api = f->g->m->kernel_api[kernel];
  if (!f->nodes || nai_at_i32(&k->graph_id, kernel) == NAI_NULL_I32)
    return api;
  if (api == NAI_NO_ROW) /* nobody tells which launch of the graph it is */
    return NAI_NO_ROW;
  (void)nai_graph_node_call(&api, f->nodes, nai_at_i32(&k->process, kernel), nai_at(&k->graph_node_id, kernel));
  return api;
}

static int add_kernel(struct finder *f, uint32_t kernel, struct nai_err *err) {
  const struct nai_model *m = f->g->m;
  bool matrix = nai_kernel_classes_matrix(m->classes, m->kernel_category[nai_val_text(&m->kernels.name, kernel)]);
  struct nai_gemm_place *place = place_at(f, kernel);
  const struct range *range = place ? range_around(f, made_by(f, kernel)) : NULL;
  bool counts = range && f->g->kinds[range->kind].known;
  if (!place || (!matrix && !counts))
    return NAI_OK;
  int64_t ns = matrix ? nai_kernel_ns(m, kernel) : 0;
  int64_t covered = counts && !f->g->kinds[range->kind].shape.elementwise ? ns : 0;
  bool steady = nai_steady_kernel(&f->steady, place->process, place->gpu, kernel);
  place->all.matrix_ns += ns;
  place->all.covered_ns += covered;
  place->steady.matrix_ns += steady ? ns : 0;
  place->steady.covered_ns += steady ? covered : 0;
  return counts ? add_run(f, range, kernel, place, steady, err) : NAI_OK;
}

static int find_all(struct finder *f, struct nai_err *err) {
  const struct nai_model *m = f->g->m;
  NAI_SCOPED(nai_graph_nodes) nodes = {0};
  NAI_TRY(NAI_NEW(f->ranges, f->arena, m->thread_count, err));
  for (uint32_t t = 0; t < m->thread_count; t++)
    NAI_TRY(read_thread(f, t, err));
  if (!f->g->kind_count) /* no sizes */
    return NAI_OK;
  if (m->tables[NAI_IN_GRAPH_NODES]->rows) {
    NAI_TRY(nai_graph_nodes_new(&nodes, m, err));
    f->nodes = &nodes;
  }
  NAI_TRY(nai_steady_find(&f->steady, m, f->arena, err));
  NAI_TRY(list_places(f, err));
  for (uint32_t k = 0; k < m->kernels.n; k++)
    NAI_TRY(add_kernel(f, k, err));
  return NAI_OK;
}

int nai_gemms_find(struct nai_gemms *out, const struct nai_model *m, struct nai_arena *kept, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct finder f = {.g = out, .kept = kept, .arena = &arena, .kinds = {.arena = &arena}, .runs = {.arena = &arena}};
  bool any = false;
  *out = (struct nai_gemms){.m = m};
  if (!m->map_nvtx || !m->tables[NAI_IN_NVTX_SIZES]->rows)
    return NAI_OK;
  NAI_TRY(find_names(&any, &f, err));
  return any ? find_all(&f, err) : NAI_OK;
}

void nai_gemm_run_add(struct nai_gemm_run *sum, const struct nai_model *m, const struct nai_gemm_run *run) {
  int64_t more = nai_kernel_ns(m, run->longest) - nai_kernel_ns(m, sum->longest);
  sum->kernels += run->kernels;
  sum->ns += run->ns;
  if (more > 0 || (!more && nai_val(&m->kernels.start_ns, run->longest) < nai_val(&m->kernels.start_ns, sum->longest)))
    sum->longest = run->longest;
}
