/* How much managed memory moves, why, and do kernels wait for it? Tables unified_memory and uvm_kernels. */
#include "analyses/analysis.h"
#include "derive/memory/uvm.h"
#include "table/columns.h"

#include <stdlib.h>

enum {
  DEVICE,
  MIGRATIONS,
  MIGRATED,
  TO_GPU,
  TO_HOST,
  BETWEEN,
  PREFETCH,
  FAULT,
  SPECULATIVE,
  EVICTION,
  ACCESS,
  OTHER,
  TIME,
  RATE,
  FAULT_GROUPS,
  GPU_FAULTS,
  CPU_FAULTS,
  KERNEL_TIME,
  COVERED,
  COVERED_PCT,
  EVICTING,
  DISTINCT_TO_GPU,
  DISTINCT_TO_HOST,
  MOVES,
  AGAIN,
  PING_PONG
};
static const struct nai_column_def columns[] = {
    [DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [MIGRATIONS] = NAI_COUNT_COLUMN("migration_count", "pieces of managed memory that moved", .sum = true),
    [MIGRATED] = NAI_BYTES_COLUMN("migrated_bytes", "their size", .better = NAI_BETTER_LOWER, .sum = true),
    [TO_GPU] = NAI_BYTES_COLUMN("to_gpu_bytes", "of migrated_bytes: from the host to the GPU", .sum = true),
    [TO_HOST] = NAI_BYTES_COLUMN("to_host_bytes", "of migrated_bytes: from the GPU to the host", .sum = true),
    [BETWEEN] = NAI_BYTES_COLUMN("between_gpus_bytes", "of migrated_bytes: between GPUs", .sum = true),
    [PREFETCH] = NAI_BYTES_COLUMN("prefetch_bytes", "of migrated_bytes: the program asked for it", .sum = true),
    [FAULT] = NAI_BYTES_COLUMN("fault_bytes", "of migrated_bytes: somebody touched the page and waited", .sum = true),
    [SPECULATIVE] = NAI_BYTES_COLUMN("speculative_bytes",
                                     "of migrated_bytes: brought along with a page that was touched", .sum = true),
    [EVICTION] = NAI_BYTES_COLUMN("eviction_bytes", "of migrated_bytes: GPU memory was full", .sum = true),
    [ACCESS] = NAI_BYTES_COLUMN("access_counter_bytes", "of migrated_bytes: used from afar often enough", .sum = true),
    [OTHER] = NAI_BYTES_COLUMN("other_cause_bytes", "of migrated_bytes: cause not told", .sum = true),
    [TIME] = NAI_TIME_COLUMN("migrating_ns", "time in which memory moved or the GPU handled faults (union)",
                             .better = NAI_BETTER_LOWER),
    [RATE] = {"gb_per_s", NAI_F64, NAI_GB_PER_S,
              "migrated_bytes over summed durations; NULL where a row has an impossible rate", .role = NAI_ROLE_METRIC},
    [FAULT_GROUPS] =
        NAI_COUNT_COLUMN("gpu_fault_groups", "groups of faults of the GPU; empty without page-fault rows", .sum = true),
    [GPU_FAULTS] = NAI_COUNT_COLUMN("gpu_faults", "faults in them", .better = NAI_BETTER_LOWER, .sum = true),
    [CPU_FAULTS] = NAI_COUNT_COLUMN("cpu_faults", "faults of CPUs, of all processes that used this GPU",
                                    .better = NAI_BETTER_LOWER),
    [KERNEL_TIME] = NAI_TIME_COLUMN("kernel_time_ns", "summed durations of kernels"),
    [COVERED] = NAI_TIME_COLUMN("covered_ns", "of kernel_time_ns: while memory moved or faults were handled",
                                .better = NAI_BETTER_LOWER),
    [COVERED_PCT] = NAI_PCT_COLUMN("covered_pct", "the same as a share", .better = NAI_BETTER_LOWER),
    [EVICTING] = NAI_TIME_COLUMN("evicting_ns", "of covered_ns: while memory left the GPU because it was full",
                                 .better = NAI_BETTER_LOWER),
    [DISTINCT_TO_GPU] = NAI_BYTES_COLUMN("to_gpu_distinct_bytes", "memory that moved to the GPU once at least"),
    [DISTINCT_TO_HOST] = NAI_BYTES_COLUMN("to_host_distinct_bytes", "memory that moved to the host once at least"),
    [MOVES] = {"moves_to_gpu", NAI_F64, NAI_COUNT, "to_gpu_bytes over to_gpu_distinct_bytes: how often memory arrives",
               .role = NAI_ROLE_METRIC, .better = NAI_BETTER_LOWER},
    [AGAIN] = NAI_TIME_COLUMN("again_ns", "about: part of covered_ns for memory that had been on the GPU before",
                              .better = NAI_BETTER_LOWER),
    [PING_PONG] =
        NAI_BYTES_COLUMN("ping_pong_bytes", "memory that moved to the GPU twice at least and back twice at least",
                         .better = NAI_BETTER_LOWER),
};
static const struct nai_schema schema =
    NAI_SCHEMA("unified_memory", "Unified memory", "One GPU that managed memory moves to or from", columns);

enum { K_DEVICE, K_NAME, K_CALLS, K_WAITING, K_TOTAL, K_COVERED, K_PCT, K_MOST, K_START, K_END };
static const struct nai_column_def kernel_columns[] = {
    [K_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [K_NAME] = NAI_KERNEL_NAME_COLUMN("kernel_name", "kernel", .key = true),
    [K_CALLS] = NAI_COUNT_COLUMN("call_count", "executions", .sum = true),
    [K_WAITING] = NAI_COUNT_COLUMN("covered_count", "executions in which memory moved", .sum = true),
    [K_TOTAL] = NAI_TIME_COLUMN("total_time_ns", "summed durations", .sum = true),
    [K_COVERED] = NAI_TIME_COLUMN("covered_ns", "of it while memory moved or faults were handled",
                                  .better = NAI_BETTER_LOWER, .sum = true),
    [K_PCT] = NAI_PCT_COLUMN("covered_pct", "the same as a share", .better = NAI_BETTER_LOWER),
    [K_MOST] = NAI_TIME_COLUMN("most_covered_ns", "covered part of the execution that has most of it"),
    [K_START] = NAI_START_COLUMN("most_covered_start_ns", "start of that execution"),
    [K_END] = NAI_END_COLUMN("most_covered_end_ns", "end of that execution"),
};
static const struct nai_schema kernels_schema =
    NAI_SCHEMA("uvm_kernels", "Kernels and unified memory",
               "The executions of one kernel on one GPU that managed memory moves to or from", kernel_columns);

/* --- kernels ---------------------------------------------------------------------------------- */

struct covered {
  int64_t calls, waiting, total, covered, most;
  uint32_t kernel; /* with most of it */
};

static void take_kernel(struct covered *c, const struct nai_model *m, struct nai_coverage *busy, uint32_t kernel) {
  int64_t start = nai_at(&m->kernels.start, kernel), end = nai_at(&m->kernels.end, kernel);
  int64_t ns = nai_coverage_within(busy, start, end);
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
  nai_set_i64(table, row, K_DEVICE, gpu->device_id);
  nai_set_str(table, row, K_NAME, nai_model_kernel_name(m, c->kernel));
  nai_set_i64(table, row, K_CALLS, c->calls);
  nai_set_i64(table, row, K_WAITING, c->waiting);
  nai_set_i64(table, row, K_TOTAL, c->total);
  nai_set_i64(table, row, K_COVERED, c->covered);
  nai_set_f64(table, row, K_PCT, nai_percent((double)c->covered, (double)c->total));
  nai_set_i64(table, row, K_MOST, c->most);
  nai_set_i64(table, row, K_START, nai_at(&m->kernels.start, c->kernel));
  nai_set_i64(table, row, K_END, nai_at(&m->kernels.end, c->kernel));
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
  static const int of[] = {OTHER, PREFETCH, FAULT, SPECULATIVE, EVICTION, ACCESS};
  return cause > 0 && cause < (int64_t)(sizeof of / sizeof *of) ? of[cause] : OTHER;
}

static void put_moves(struct nai_table *table, int64_t row, const struct nai_model *m, const struct nai_gpu *gpu) {
  const struct nai_column cause = nai_table_column(m->tables[NAI_IN_MEMOPS], MO_CAUSE);
  int64_t ns = 0;
  bool possible = true;
  for (int c = MIGRATIONS; c <= OTHER; c++)
    nai_set_i64(table, row, c, 0);
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    if (!nai_op_migrates(m, op))
      continue;
    int64_t bytes = nai_at(&m->memops.bytes, op->row), kind = nai_at(&m->memops.copy_kind, op->row);
    ns += nai_model_op_end(m, op) - nai_model_op_start(m, op);
    possible = possible && nai_memop_rate_is_possible(m, op->row);
    add(table, row, MIGRATIONS, 1);
    add(table, row, MIGRATED, bytes);
    add(table, row, kind == NAI_UVM_TO_GPU ? TO_GPU : kind == NAI_UVM_TO_HOST ? TO_HOST : BETWEEN, bytes);
    add(table, row, cause_column(nai_at(&cause, op->row)), bytes);
  }
  if (ns && possible)
    nai_set_f64(table, row, RATE, (double)nai_get_i64(table, row, MIGRATED) / (double)ns);
}

static void put_faults(struct nai_table *table, int64_t row, const struct nai_model *m, const struct nai_gpu *gpu) {
  const struct nai_table *t = m->tables[NAI_IN_UM_FAULTS];
  if (!t || !t->rows)
    return;
  for (int c = FAULT_GROUPS; c <= CPU_FAULTS; c++)
    nai_set_i64(table, row, c, 0);
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t faults = nai_get_i64(t, i, UF_FAULTS);
    if (nai_get_i64(t, i, UF_KIND) == NAI_FAULT_CPU) {
      add(table, row, CPU_FAULTS, nai_keyset_find(&gpu->processes, nai_get_i64(t, i, UF_PROCESS)) != UINT32_MAX);
    } else if (nai_get_i64(t, i, UF_DEVICE) == gpu->device_id) {
      add(table, row, FAULT_GROUPS, 1);
      add(table, row, GPU_FAULTS, faults == NAI_NULL_I64 ? 0 : faults);
    }
  }
}

static void put_pages(struct nai_table *table, int64_t row, const struct nai_uvm_pages *pages, int64_t covered) {
  int64_t to_gpu = nai_get_i64(table, row, TO_GPU);
  if (!pages->known)
    return;
  nai_set_i64(table, row, DISTINCT_TO_GPU, pages->to_gpu_distinct);
  nai_set_i64(table, row, DISTINCT_TO_HOST, pages->to_host_distinct);
  nai_set_i64(table, row, PING_PONG, pages->ping_pong);
  if (!pages->to_gpu_distinct)
    return;
  double first = (double)pages->to_gpu_distinct / (double)to_gpu;
  nai_set_f64(table, row, MOVES, 1 / first);
  nai_set_i64(table, row, AGAIN, first < 1 ? (int64_t)((double)covered * (1 - first)) : 0);
}

/* Kernels while memory is evicted. */
static int put_evictions(struct nai_table *table, int64_t row, const struct nai_model *m, const struct nai_gpu *gpu,
                         struct nai_err *err) {
  enum { CAUSE_EVICTION = 4 };
  const struct nai_column cause = nai_table_column(m->tables[NAI_IN_MEMOPS], MO_CAUSE);
  struct nai_intervals evicting = {0};
  struct nai_coverage coverage = {0};
  int64_t ns = 0;
  for (uint32_t i = 0; i < gpu->op_count; i++)
    if (nai_op_migrates(m, &gpu->ops[i]) && nai_at(&cause, gpu->ops[i].row) == CAUSE_EVICTION)
      nai_intervals_add(&evicting, nai_model_op_start(m, &gpu->ops[i]), nai_model_op_end(m, &gpu->ops[i]));
  int rc = evicting.oom ? nai_err_nomem(err) : nai_coverage_new(&coverage, &evicting, err);
  for (uint32_t i = 0; !rc && evicting.count && i < gpu->op_count; i++)
    if (gpu->ops[i].type == NAI_OP_KERNEL)
      ns += nai_coverage_within(&coverage, nai_model_op_start(m, &gpu->ops[i]), nai_model_op_end(m, &gpu->ops[i]));
  nai_set_i64(table, row, EVICTING, ns);
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
  nai_set_i64(io->out[0], row, DEVICE, gpu->device_id);
  put_moves(io->out[0], row, m, gpu);
  put_faults(io->out[0], row, m, gpu);
  nai_set_i64(io->out[0], row, TIME, nai_intervals_total(&busy));
  nai_set_i64(io->out[0], row, KERNEL_TIME, all.total);
  nai_set_i64(io->out[0], row, COVERED, all.covered);
  if (all.total)
    nai_set_f64(io->out[0], row, COVERED_PCT, nai_percent((double)all.covered, (double)all.total));
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
  static const struct nai_sort_by gpus[] = {{DEVICE, false}},
                                  kernels[] = {{K_COVERED, true}, {K_TOTAL, true}, {K_DEVICE, false}, {K_NAME, false}};
  if (!rc)
    rc = nai_table_sort(io->out[0], gpus, 1, err);
  return rc ? rc : nai_table_sort(io->out[1], kernels, 4, err);
}

static const struct nai_schema *const schemas[] = {&schema, &kernels_schema, NULL};
const struct nai_node nai_analysis_unified_memory = {.name = "unified_memory",
                                                     .outputs = schemas,
                                                     .parts = NAI_PART(GPUS),
                                                     .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GPUS) |
                                                               NAI_IN(UM_FAULTS),
                                                     .run = run};
