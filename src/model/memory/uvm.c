/* When pages of unified memory move, and how often each does. */
#include "model/memory/uvm.h"
#include "base/sort.h"
#include "tables/um_fault_events.h"

/* --- when ------------------------------------------------------------------------------------- */

/* Faults that a GPU handles, which the export need not have in order. */
static int gpu_faults(struct nai_intervals *faults, const struct nai_model *m, int32_t device, struct nai_err *err) {
  const struct UM_FAULT_EVENTS_columns c = UM_FAULT_EVENTS_columns_of(m->tables[NAI_IN_UM_FAULTS]);
  struct nai_interval *v;
  size_t count = 0;
  NAI_TRY(NAI_NEW(v, faults->arena, c.n, err));
  for (uint32_t i = 0; i < c.n; i++)
    if (nai_at(&c.kind, i) == NAI_FAULT_GPU && nai_at(&c.device_id, i) == device)
      v[count++] = (struct nai_interval){nai_val(&c.start_ns, i), nai_val(&c.end_ns, i)};
  nai_intervals_gather(faults, v, count);
  return NAI_OK;
}

int nai_uvm_busy(struct nai_intervals *busy, const struct nai_model *m, const struct nai_gpu *gpu,
                 struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_intervals moves = {.arena = &arena}, faults = {.arena = &arena};
  for (uint32_t i = 0; i < gpu->op_count; i++)
    if (nai_op_migrates(m, &gpu->ops[i]))
      nai_intervals_add(&moves, gpu->ops[i].start, gpu->ops[i].end);
  NAI_TRY(gpu_faults(&faults, m, gpu->device_id, err));
  nai_intervals_union(busy, &moves, &faults);
  return busy->oom ? nai_err_nomem(err) : NAI_OK;
}

/* --- how often -------------------------------------------------------------------------------- */

/* Where so many more (or fewer) migrations cover an address. */
struct edge {
  int64_t process, address;
  int32_t to_gpu, to_host;
};

NAI_ORDER(by_address, struct edge, {a->process, b->process}, {a->address, b->address})

static uint32_t take_edges(struct edge *edges, const struct nai_model *m, const struct nai_gpu *gpu) {
  const struct MEMOP_EVENTS_columns *c = &m->memops;
  uint32_t count = 0;
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    uint32_t row = gpu->ops[i].row;
    if (!nai_op_migrates(m, &gpu->ops[i]))
      continue;
    int64_t at = nai_at(&c->virtual_address, row), bytes = nai_at(&c->bytes, row), kind = nai_at(&c->copy_kind, row);
    if (at == NAI_NULL_I64 || at <= 0 || bytes <= 0 || at > INT64_MAX - bytes)
      continue;
    struct edge edge = {nai_at(&c->process, row), at, kind == NAI_UVM_TO_GPU, kind == NAI_UVM_TO_HOST};
    edges[count++] = edge;
    edges[count++] = (struct edge){edge.process, at + bytes, -edge.to_gpu, -edge.to_host};
  }
  return count;
}

int nai_uvm_pages_count(struct nai_uvm_pages *pages, const struct nai_model *m, const struct nai_gpu *gpu,
                        struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct edge *edges;
  size_t moves = 0;
  for (uint32_t i = 0; i < gpu->op_count; i++)
    moves += nai_op_migrates(m, &gpu->ops[i]);
  NAI_TRY(NAI_NEW(edges, &arena, 2 * moves, err));
  uint32_t count = take_edges(edges, m, gpu);
  int32_t to_gpu = 0, to_host = 0;
  *pages = (struct nai_uvm_pages){.known = count > 0};
  qsort(edges, count, sizeof *edges, by_address);
  for (uint32_t i = 0; i + 1 < count; i++) {
    to_gpu += edges[i].to_gpu;
    to_host += edges[i].to_host;
    int64_t bytes = edges[i + 1].process == edges[i].process ? edges[i + 1].address - edges[i].address : 0;
    pages->to_gpu_distinct += to_gpu > 0 ? bytes : 0;
    pages->to_host_distinct += to_host > 0 ? bytes : 0;
    pages->ping_pong += to_gpu > 1 && to_host > 1 ? bytes : 0;
  }
  return NAI_OK;
}
