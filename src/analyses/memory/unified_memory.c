/* How much managed memory moves, why, and do kernels wait for it? Tables unified_memory and uvm_kernels. */
#include "analyses/analysis.h"
#include "model/memory/uvm.h"
#include "tables/um_fault_events.h"
#include "tables/unified_memory.h"
#include "tables/uvm_kernels.h"

/* --- kernels ---------------------------------------------------------------------------------- */

struct covered {
  int64_t calls, waiting, total, covered, most;
  uint32_t kernel; /* with most of it */
};

static void take_kernel(struct covered *c, const struct nai_model *m, struct nai_coverage *busy, uint32_t kernel) {
  int64_t start = nai_val(&m->kernels.start_ns, kernel), end = nai_val(&m->kernels.end_ns, kernel);
  int64_t ns = nai_coverage_overlap_ns(busy, start, end);
  c->calls++;
  c->total += end - start;
  c->covered += ns;
  c->waiting += ns > 0;
  if (c->calls == 1 || ns > c->most) {
    c->most = ns;
    c->kernel = kernel;
  }
}

/* Sums over all kernels in `all`. */
static int put_kernels(struct covered *all, const struct nai_node_io *io, const struct nai_gpu *gpu,
                       struct nai_coverage *busy, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_model *m = io->model;
  uint32_t names = m->tables[NAI_IN_KERNELS]->strings.count;
  struct covered *by_name;
  NAI_TRY(NAI_NEW(by_name, arena, names, err));
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    if (gpu->ops[i].type != NAI_OP_KERNEL)
      continue;
    take_kernel(&by_name[nai_val_text(&m->kernels.name, gpu->ops[i].row)], m, busy, gpu->ops[i].row);
    take_kernel(all, m, busy, gpu->ops[i].row);
  }
  for (const struct covered *c = by_name; c < by_name + names; c++)
    if (c->calls)
      NAI_ADD(UVM_KERNELS, io->out[1], .device_id = gpu->device_id, .kernel_name = nai_model_kernel_name(m, c->kernel),
              .call_count = c->calls, .covered_count = c->waiting, .total_time_ns = c->total, .covered_ns = c->covered,
              .covered_pct = nai_percent((double)c->covered, (double)c->total), .most_covered_ns = c->most,
              .most_covered_start_ns = nai_val(&m->kernels.start_ns, c->kernel),
              .most_covered_end_ns = nai_val(&m->kernels.end_ns, c->kernel));
  return NAI_OK;
}

/* --- GPUs ------------------------------------------------------------------------------------- */

static int64_t *bytes_by_cause(struct UNIFIED_MEMORY_row *row, int64_t cause) {
  int64_t *const of[] = {&row->other_cause_bytes, &row->prefetch_bytes, &row->fault_bytes,
                         &row->speculative_bytes, &row->eviction_bytes, &row->access_counter_bytes};
  return cause > 0 && cause < (int64_t)(sizeof of / sizeof *of) ? of[cause] : &row->other_cause_bytes;
}

static int64_t *bytes_by_direction(struct UNIFIED_MEMORY_row *row, int64_t kind) {
  return kind == NAI_UVM_TO_GPU  ? &row->to_gpu_bytes
       : kind == NAI_UVM_TO_HOST ? &row->to_host_bytes
                                 : &row->between_gpus_bytes;
}

static void add_moves(struct UNIFIED_MEMORY_row *row, const struct nai_model *m, const struct nai_gpu *gpu) {
  int64_t ns = 0;
  bool possible = true;
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    if (!nai_op_migrates(m, op))
      continue;
    int64_t bytes = nai_at(&m->memops.bytes, op->row);
    ns += nai_memop_ns(m, op->row);
    possible = possible && nai_memop_rate_is_possible(m, op->row);
    row->migration_count++;
    row->migrated_bytes += bytes;
    *bytes_by_direction(row, nai_at(&m->memops.copy_kind, op->row)) += bytes;
    *bytes_by_cause(row, nai_at(&m->memops.migration_cause, op->row)) += bytes;
  }
  if (ns && possible)
    row->gb_per_s = (double)row->migrated_bytes / (double)ns;
}

static void add_faults(struct UNIFIED_MEMORY_row *row, const struct nai_model *m, const struct nai_gpu *gpu) {
  const struct nai_table *t = m->tables[NAI_IN_UM_FAULTS];
  if (!t || !t->rows)
    return;
  row->gpu_fault_groups = row->gpu_faults = row->cpu_faults = 0;
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t faults = nai_get_i64(t, i, UM_FAULT_EVENTS_faults);
    if (nai_get_i64(t, i, UM_FAULT_EVENTS_kind) == NAI_FAULT_CPU) {
      row->cpu_faults += nai_keyset_find(&gpu->processes, nai_get_i64(t, i, UM_FAULT_EVENTS_process)) != UINT32_MAX;
    } else if (nai_get_i64(t, i, UM_FAULT_EVENTS_device_id) == gpu->device_id) {
      row->gpu_fault_groups++;
      row->gpu_faults += faults == NAI_NULL_I64 ? 0 : faults;
    }
  }
}

static void add_pages(struct UNIFIED_MEMORY_row *row, const struct nai_uvm_pages *pages) {
  if (!pages->known)
    return;
  row->to_gpu_distinct_bytes = pages->to_gpu_distinct;
  row->to_host_distinct_bytes = pages->to_host_distinct;
  row->ping_pong_bytes = pages->ping_pong;
  if (!pages->to_gpu_distinct)
    return;
  double first = (double)pages->to_gpu_distinct / (double)row->to_gpu_bytes;
  row->moves_to_gpu = 1 / first;
  row->again_ns = first < 1 ? (int64_t)((double)row->covered_ns * (1 - first)) : 0;
}

/* Time of kernels while memory is evicted. */
static int evicting_ns(int64_t *ns, const struct nai_model *m, const struct nai_gpu *gpu, struct nai_arena *arena,
                       struct nai_err *err) {
  enum { CAUSE_EVICTION = 4 };
  struct nai_intervals evicting = {.arena = arena};
  struct nai_coverage coverage;
  *ns = 0;
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    if (nai_op_migrates(m, op) && nai_at(&m->memops.migration_cause, op->row) == CAUSE_EVICTION)
      nai_intervals_add(&evicting, op->start, op->end);
  }
  NAI_TRY(nai_memory_check(!evicting.oom, err));
  NAI_TRY(nai_coverage_in(&coverage, &evicting, arena, err));
  for (uint32_t i = 0; evicting.count && i < gpu->op_count; i++)
    if (gpu->ops[i].type == NAI_OP_KERNEL)
      *ns += nai_coverage_overlap_ns(&coverage, gpu->ops[i].start, gpu->ops[i].end);
  return NAI_OK;
}

static int put_gpu(const struct nai_node_io *io, const struct nai_gpu *gpu, struct nai_err *err) {
  const struct nai_model *m = io->model;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  NAI_SCOPED(nai_intervals) busy = {0};
  struct nai_coverage coverage;
  struct nai_uvm_pages pages;
  struct covered all = {0};
  NAI_TRY(nai_uvm_busy(&busy, m, gpu, err));
  if (!busy.count)
    return NAI_OK;
  NAI_TRY(nai_coverage_in(&coverage, &busy, &arena, err));
  NAI_TRY(put_kernels(&all, io, gpu, &coverage, &arena, err));
  NAI_TRY(nai_uvm_pages_count(&pages, m, gpu, err));
  struct UNIFIED_MEMORY_row row =
      NAI_ROW(UNIFIED_MEMORY, .device_id = gpu->device_id, .migration_count = 0, .migrated_bytes = 0, .to_gpu_bytes = 0,
              .to_host_bytes = 0, .between_gpus_bytes = 0, .prefetch_bytes = 0, .fault_bytes = 0,
              .speculative_bytes = 0, .eviction_bytes = 0, .access_counter_bytes = 0, .other_cause_bytes = 0,
              .migrating_ns = nai_intervals_total_ns(&busy), .kernel_time_ns = all.total, .covered_ns = all.covered);
  if (all.total)
    row.covered_pct = nai_percent((double)all.covered, (double)all.total);
  add_moves(&row, m, gpu);
  add_faults(&row, m, gpu);
  add_pages(&row, &pages);
  NAI_TRY(evicting_ns(&row.evicting_ns, m, gpu, &arena, err));
  UNIFIED_MEMORY_add(io->out[0], &row);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  for (uint32_t g = 0; g < io->model->gpu_count; g++)
    NAI_TRY(put_gpu(io, &io->model->gpus[g], err));
  return NAI_OK;
}

NAI_ANALYSIS(unified_memory, .outputs = NAI_SCHEMAS(&nai_unified_memory_schema, &nai_uvm_kernels_schema),
             .parts = NAI_PART(GPUS), .tables = NAI_IN(UM_FAULTS), .run = run)
