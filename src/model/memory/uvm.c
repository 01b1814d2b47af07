/* When pages of unified memory move, and how often each does. */
#include "model/memory/uvm.h"
#include "tables/memop_events.h"
#include "tables/um_fault_events.h"

#include <stdlib.h>

/* --- when ------------------------------------------------------------------------------------- */

static int by_start(const void *pa, const void *pb) {
  const struct nai_interval *a = pa, *b = pb;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  return (a->end > b->end) - (a->end < b->end);
}

/* Faults that a GPU handles, which the export need not have in order. */
static int gpu_faults(struct nai_intervals *faults, const struct nai_model *m, int32_t device, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_UM_FAULTS];
  int64_t n = t ? t->rows : 0, count = 0;
  if (!n)
    return NAI_OK;
  struct nai_interval *v = malloc((size_t)n * sizeof *v);
  for (int64_t i = 0; v && i < n; i++)
    if (nai_get_i64(t, i, UM_FAULT_EVENTS_kind) == NAI_FAULT_GPU &&
        nai_get_i64(t, i, UM_FAULT_EVENTS_device_id) == device)
      v[count++] =
          (struct nai_interval){nai_get_i64(t, i, UM_FAULT_EVENTS_start_ns), nai_get_i64(t, i, UM_FAULT_EVENTS_end_ns)};
  if (v)
    qsort(v, (size_t)count, sizeof *v, by_start);
  for (int64_t i = 0; i < count; i++)
    nai_intervals_add(faults, v[i].start, v[i].end);
  free(v);
  return v && !faults->oom ? NAI_OK : nai_err_nomem(err);
}

int nai_uvm_busy(struct nai_intervals *busy, const struct nai_model *m, const struct nai_gpu *gpu,
                 struct nai_err *err) {
  struct nai_intervals moves = {0}, faults = {0};
  for (uint32_t i = 0; i < gpu->op_count; i++)
    if (nai_op_migrates(m, &gpu->ops[i]))
      nai_intervals_add(&moves, nai_model_op_start(m, &gpu->ops[i]), nai_model_op_end(m, &gpu->ops[i]));
  int rc = gpu_faults(&faults, m, gpu->device_id, err);
  nai_intervals_union(busy, &moves, &faults);
  bool oom = moves.oom || busy->oom;
  nai_intervals_free(&moves);
  nai_intervals_free(&faults);
  return rc || !oom ? rc : nai_err_nomem(err);
}

/* --- how often -------------------------------------------------------------------------------- */

/* Where so many more (or fewer) migrations cover an address. */
struct edge {
  int64_t process, address;
  int32_t to_gpu, to_host;
};

static int by_address(const void *pa, const void *pb) {
  const struct edge *a = pa, *b = pb;
  if (a->process != b->process)
    return a->process < b->process ? -1 : 1;
  return (a->address > b->address) - (a->address < b->address);
}

static uint32_t take_edges(struct edge *edges, const struct nai_model *m, const struct nai_gpu *gpu) {
  const struct nai_column address = nai_table_column(m->tables[NAI_IN_MEMOPS], MEMOP_EVENTS_virtual_address);
  uint32_t count = 0;
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    uint32_t row = gpu->ops[i].row;
    if (!nai_op_migrates(m, &gpu->ops[i]))
      continue;
    int64_t at = nai_at(&address, row), bytes = nai_at(&m->memops.bytes, row), kind = nai_at(&m->memops.copy_kind, row);
    if (at == NAI_NULL_I64 || at <= 0 || bytes <= 0 || at > INT64_MAX - bytes)
      continue;
    struct edge edge = {nai_at(&m->memops.process, row), at, kind == NAI_UVM_TO_GPU, kind == NAI_UVM_TO_HOST};
    edges[count++] = edge;
    edges[count++] = (struct edge){edge.process, at + bytes, -edge.to_gpu, -edge.to_host};
  }
  return count;
}

int nai_uvm_pages_count(struct nai_uvm_pages *pages, const struct nai_model *m, const struct nai_gpu *gpu,
                        struct nai_err *err) {
  uint32_t moves = 0;
  for (uint32_t i = 0; i < gpu->op_count; i++)
    moves += nai_op_migrates(m, &gpu->ops[i]);
  *pages = (struct nai_uvm_pages){0};
  if (!moves)
    return NAI_OK;
  struct edge *edges = malloc(2 * (size_t)moves * sizeof *edges);
  if (!edges)
    return nai_err_nomem(err);
  uint32_t count = take_edges(edges, m, gpu);
  int32_t to_gpu = 0, to_host = 0;
  qsort(edges, count, sizeof *edges, by_address);
  for (uint32_t i = 0; i + 1 < count; i++) {
    to_gpu += edges[i].to_gpu;
    to_host += edges[i].to_host;
    int64_t bytes = edges[i + 1].process == edges[i].process ? edges[i + 1].address - edges[i].address : 0;
    pages->to_gpu_distinct += to_gpu > 0 ? bytes : 0;
    pages->to_host_distinct += to_host > 0 ? bytes : 0;
    pages->ping_pong += to_gpu > 1 && to_host > 1 ? bytes : 0;
  }
  pages->known = count > 0;
  free(edges);
  return NAI_OK;
}
