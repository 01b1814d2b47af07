/* How much managed memory moves, why, and do kernels wait for it? Tables unified_memory and uvm_kernels. */
#include "analyses/analysis.h"
#include "model/memory/uvm.h"
#include "tables/memop_events.h"
#include "tables/um_fault_events.h"
#include "tables/unified_memory.h"
#include "tables/uvm_kernels.h"

#include <stdlib.h>

/* --- kernels ---------------------------------------------------------------------------------- */

struct covered {
  int64_t calls, waiting, total, covered, most;
  uint32_t kernel; /* with most of it */
};

static void take_kernel(struct covered *c, const struct nai_model *m, struct nai_coverage *busy, uint32_t kernel) {
  int64_t start = nai_at(&m->kernels.start_ns, kernel), end = nai_at(&m->kernels.end_ns, kernel);
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

static void put_kernel(struct nai_table *table, const struct nai_model *m, const struct nai_gpu *gpu,
                       const struct covered *c) {
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, UVM_KERNELS_device_id, gpu->device_id);
  nai_set_str(table, row, UVM_KERNELS_kernel_name, nai_model_kernel_name(m, c->kernel));
  nai_set_i64(table, row, UVM_KERNELS_call_count, c->calls);
  nai_set_i64(table, row, UVM_KERNELS_covered_count, c->waiting);
  nai_set_i64(table, row, UVM_KERNELS_total_time_ns, c->total);
  nai_set_i64(table, row, UVM_KERNELS_covered_ns, c->covered);
  nai_set_f64(table, row, UVM_KERNELS_covered_pct, nai_percent((double)c->covered, (double)c->total));
  nai_set_i64(table, row, UVM_KERNELS_most_covered_ns, c->most);
  nai_set_i64(table, row, UVM_KERNELS_most_covered_start_ns, nai_at(&m->kernels.start_ns, c->kernel));
  nai_set_i64(table, row, UVM_KERNELS_most_covered_end_ns, nai_at(&m->kernels.end_ns, c->kernel));
}

/* Sums over all kernels in `all`. */
static int put_kernels(struct covered *all, struct nai_table *table, const struct nai_model *m,
                       const struct nai_gpu *gpu, const struct nai_intervals *busy, struct nai_err *err) {
  size_t names = (size_t)m->tables[NAI_IN_KERNELS]->strings.count + 1;
  struct covered *by_name = calloc(names, sizeof *by_name);
  struct nai_coverage coverage = {0};
  int rc = by_name ? nai_coverage_new(&coverage, busy, err) : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < gpu->op_count; i++) {
    if (gpu->ops[i].type != NAI_OP_KERNEL)
      continue;
    take_kernel(&by_name[nai_at_text(&m->kernels.name, gpu->ops[i].row)], m, &coverage, gpu->ops[i].row);
    take_kernel(all, m, &coverage, gpu->ops[i].row);
  }
  for (size_t i = 0; !rc && i < names; i++)
    if (by_name[i].calls)
      put_kernel(table, m, gpu, &by_name[i]);
  nai_coverage_free(&coverage);
  free(by_name);
  return rc;
}

/* --- GPUs ------------------------------------------------------------------------------------- */

static void add(struct nai_table *table, int64_t row, int column, int64_t value) {
  nai_set_i64(table, row, column, nai_get_i64(table, row, column) + value);
}

static int cause_column(int64_t cause) {
  static const int of[] = {UNIFIED_MEMORY_other_cause_bytes, UNIFIED_MEMORY_prefetch_bytes,
                           UNIFIED_MEMORY_fault_bytes,       UNIFIED_MEMORY_speculative_bytes,
                           UNIFIED_MEMORY_eviction_bytes,    UNIFIED_MEMORY_access_counter_bytes};
  return cause > 0 && cause < (int64_t)(sizeof of / sizeof *of) ? of[cause] : UNIFIED_MEMORY_other_cause_bytes;
}

static void put_moves(struct nai_table *table, int64_t row, const struct nai_model *m, const struct nai_gpu *gpu) {
  const struct nai_column cause = nai_table_column(m->tables[NAI_IN_MEMOPS], MEMOP_EVENTS_migration_cause);
  int64_t ns = 0;
  bool possible = true;
  for (int c = UNIFIED_MEMORY_migration_count; c <= UNIFIED_MEMORY_other_cause_bytes; c++)
    nai_set_i64(table, row, c, 0);
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    if (!nai_op_migrates(m, op))
      continue;
    int64_t bytes = nai_at(&m->memops.bytes, op->row), kind = nai_at(&m->memops.copy_kind, op->row);
    ns += nai_model_op_end(m, op) - nai_model_op_start(m, op);
    possible = possible && nai_memop_rate_is_possible(m, op->row);
    add(table, row, UNIFIED_MEMORY_migration_count, 1);
    add(table, row, UNIFIED_MEMORY_migrated_bytes, bytes);
    add(table, row,
        kind == NAI_UVM_TO_GPU    ? UNIFIED_MEMORY_to_gpu_bytes
        : kind == NAI_UVM_TO_HOST ? UNIFIED_MEMORY_to_host_bytes
                                  : UNIFIED_MEMORY_between_gpus_bytes,
        bytes);
    add(table, row, cause_column(nai_at(&cause, op->row)), bytes);
  }
  if (ns && possible)
    nai_set_f64(table, row, UNIFIED_MEMORY_gb_per_s,
                (double)nai_get_i64(table, row, UNIFIED_MEMORY_migrated_bytes) / (double)ns);
}

static void put_faults(struct nai_table *table, int64_t row, const struct nai_model *m, const struct nai_gpu *gpu) {
  const struct nai_table *t = m->tables[NAI_IN_UM_FAULTS];
  if (!t || !t->rows)
    return;
  for (int c = UNIFIED_MEMORY_gpu_fault_groups; c <= UNIFIED_MEMORY_cpu_faults; c++)
    nai_set_i64(table, row, c, 0);
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t faults = nai_get_i64(t, i, UM_FAULT_EVENTS_faults);
    if (nai_get_i64(t, i, UM_FAULT_EVENTS_kind) == NAI_FAULT_CPU) {
      add(table, row, UNIFIED_MEMORY_cpu_faults,
          nai_keyset_find(&gpu->processes, nai_get_i64(t, i, UM_FAULT_EVENTS_process)) != UINT32_MAX);
    } else if (nai_get_i64(t, i, UM_FAULT_EVENTS_device_id) == gpu->device_id) {
      add(table, row, UNIFIED_MEMORY_gpu_fault_groups, 1);
      add(table, row, UNIFIED_MEMORY_gpu_faults, faults == NAI_NULL_I64 ? 0 : faults);
    }
  }
}

static void put_pages(struct nai_table *table, int64_t row, const struct nai_uvm_pages *pages, int64_t covered) {
  int64_t to_gpu = nai_get_i64(table, row, UNIFIED_MEMORY_to_gpu_bytes);
  if (!pages->known)
    return;
  nai_set_i64(table, row, UNIFIED_MEMORY_to_gpu_distinct_bytes, pages->to_gpu_distinct);
  nai_set_i64(table, row, UNIFIED_MEMORY_to_host_distinct_bytes, pages->to_host_distinct);
  nai_set_i64(table, row, UNIFIED_MEMORY_ping_pong_bytes, pages->ping_pong);
  if (!pages->to_gpu_distinct)
    return;
  double first = (double)pages->to_gpu_distinct / (double)to_gpu;
  nai_set_f64(table, row, UNIFIED_MEMORY_moves_to_gpu, 1 / first);
  nai_set_i64(table, row, UNIFIED_MEMORY_again_ns, first < 1 ? (int64_t)((double)covered * (1 - first)) : 0);
}

/* Kernels while memory is evicted. */
static int put_evictions(struct nai_table *table, int64_t row, const struct nai_model *m, const struct nai_gpu *gpu,
                         struct nai_err *err) {
  enum { CAUSE_EVICTION = 4 };
  const struct nai_column cause = nai_table_column(m->tables[NAI_IN_MEMOPS], MEMOP_EVENTS_migration_cause);
  struct nai_intervals evicting = {0};
  struct nai_coverage coverage = {0};
  int64_t ns = 0;
  for (uint32_t i = 0; i < gpu->op_count; i++)
    if (nai_op_migrates(m, &gpu->ops[i]) && nai_at(&cause, gpu->ops[i].row) == CAUSE_EVICTION)
      nai_intervals_add(&evicting, nai_model_op_start(m, &gpu->ops[i]), nai_model_op_end(m, &gpu->ops[i]));
  int rc = evicting.oom ? nai_err_nomem(err) : nai_coverage_new(&coverage, &evicting, err);
  for (uint32_t i = 0; !rc && evicting.count && i < gpu->op_count; i++)
    if (gpu->ops[i].type == NAI_OP_KERNEL)
      ns += nai_coverage_overlap_ns(&coverage, nai_model_op_start(m, &gpu->ops[i]), nai_model_op_end(m, &gpu->ops[i]));
  nai_set_i64(table, row, UNIFIED_MEMORY_evicting_ns, ns);
  nai_coverage_free(&coverage);
  nai_intervals_free(&evicting);
  return rc;
}

static int put_gpu(const struct nai_node_io *io, const struct nai_gpu *gpu, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nai_intervals busy = {0};
  struct nai_uvm_pages pages;
  struct covered all = {0};
  int rc = nai_uvm_busy(&busy, m, gpu, err);
  if (rc || !busy.count)
    goto out;
  if ((rc = put_kernels(&all, io->out[1], m, gpu, &busy, err)) || (rc = nai_uvm_pages_count(&pages, m, gpu, err)))
    goto out;
  int64_t row = nai_table_add_row(io->out[0]);
  nai_set_i64(io->out[0], row, UNIFIED_MEMORY_device_id, gpu->device_id);
  put_moves(io->out[0], row, m, gpu);
  put_faults(io->out[0], row, m, gpu);
  nai_set_i64(io->out[0], row, UNIFIED_MEMORY_migrating_ns, nai_intervals_total_ns(&busy));
  nai_set_i64(io->out[0], row, UNIFIED_MEMORY_kernel_time_ns, all.total);
  nai_set_i64(io->out[0], row, UNIFIED_MEMORY_covered_ns, all.covered);
  if (all.total)
    nai_set_f64(io->out[0], row, UNIFIED_MEMORY_covered_pct, nai_percent((double)all.covered, (double)all.total));
  put_pages(io->out[0], row, &pages, all.covered);
  rc = put_evictions(io->out[0], row, m, gpu, err);
out:
  nai_intervals_free(&busy);
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  int rc = NAI_OK;
  for (uint32_t g = 0; !rc && g < io->model->gpu_count; g++)
    rc = put_gpu(io, &io->model->gpus[g], err);
  return rc;
}

NAI_ANALYSIS(unified_memory, .outputs = NAI_SCHEMAS(&nai_unified_memory_schema, &nai_uvm_kernels_schema),
             .parts = NAI_PART(GPUS), .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GPUS) | NAI_IN(UM_FAULTS),
             .run = run)
