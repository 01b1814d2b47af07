/* What did each process do? Tables pids, kernels_by_pid. */
#include "analyses/analysis.h"
#include "table/columns.h"

#include "base/array.h"
#include "base/keyset.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PID, NAME, DEVICES, KERNELS, KERNEL_TIME, PCT, COPIED, API_CALLS, BLOCKED, COVERAGE };
static const struct nai_column_def columns[] = {
    [PID] = NAI_PID_COLUMN("process", .key = true),
    [NAME] = NAI_NAME_COLUMN("process_name", "executable name"),
    [DEVICES] = NAI_LABEL_COLUMN("devices", "GPUs it used"),
    [KERNELS] = NAI_COUNT_COLUMN("kernel_count", "kernel executions", .sum = true),
    [KERNEL_TIME] =
        NAI_TIME_COLUMN("kernel_time_ns", "summed kernel durations", .better = NAI_BETTER_LOWER, .sum = true),
    [PCT] = NAI_PCT_COLUMN("pct_of_total_kernel_time", "of all kernel durations", .sum = true),
    [COPIED] = NAI_BYTES_COLUMN("memcpy_bytes", "bytes copied; page migrations not included",
                                .better = NAI_BETTER_LOWER, .sum = true),
    [API_CALLS] = NAI_COUNT_COLUMN("api_calls", "CUDA API calls", .better = NAI_BETTER_LOWER, .sum = true),
    [BLOCKED] = NAI_TIME_COLUMN("blocked_ns", "time its threads waited in blocking calls (union per thread, summed)",
                                .better = NAI_BETTER_LOWER, .sum = true),
    [COVERAGE] =
        NAI_PCT_COLUMN("nvtx_coverage_pct", "its kernel time launched inside NVTX ranges", .better = NAI_BETTER_HIGHER),
};
static const struct nai_schema pids_schema =
    NAI_SCHEMA("pids", "Processes", "One process with CUDA activity or NVTX", columns);

enum { K_PID, K_PID_TOTAL, K_PID_PCT, K_NAME, K_DEVICE, K_CALLS, K_TOTAL, K_AVG, K_PCT_PID, K_PCT_ALL };
static const struct nai_column_def kernel_columns[] = {
    [K_PID] = NAI_PID_COLUMN("process", .key = true),
    [K_PID_TOTAL] = NAI_TIME_COLUMN("pid_total_kernel_time_ns", "summed kernel durations of the process",
                                    .better = NAI_BETTER_LOWER),
    [K_PID_PCT] = NAI_PCT_COLUMN("pid_pct_of_total_kernel_time", "the process, of all kernel durations"),
    [K_NAME] = NAI_KERNEL_NAME_COLUMN("kernel_name", "demangled kernel name", .key = true),
    [K_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [K_CALLS] = NAI_COUNT_COLUMN("call_count", "executions", .sum = true),
    [K_TOTAL] = NAI_TIME_COLUMN("total_time_ns", "summed durations", .better = NAI_BETTER_LOWER, .sum = true),
    [K_AVG] = NAI_AVERAGE_COLUMN("avg_duration_ns", "mean duration"),
    [K_PCT_PID] = NAI_PCT_COLUMN("pct_of_pid_kernel_time", "of the process's kernel durations"),
    [K_PCT_ALL] = NAI_PCT_COLUMN("pct_of_total_kernel_time", "of all kernel durations", .sum = true),
};
static const struct nai_schema kernels_schema =
    NAI_SCHEMA("kernels_by_pid", "Kernels by process", "One kernel name on one GPU in one process", kernel_columns);

static void put_process(struct nai_table *table, const struct nai_model *m, uint32_t p, const struct nai_process_sum *s,
                        int64_t all_ns) {
  struct nai_buf devices = {0};
  const struct nai_groups *used = &m->process_gpus;
  for (uint32_t i = used->first[p]; i < used->first[p + 1]; i++)
    nai_buf_printf(&devices, "%s%" PRId32, devices.len ? " " : "", nai_model_device(m, used->order[i]));
  int64_t row = nai_table_add_row(table);
  struct nai_value name = nai_table_value(m->tables[NAI_IN_PROCESSES], p, PR_NAME);
  nai_set_i64(table, row, PID, nai_model_pid(m, (int32_t)p));
  nai_set_str(table, row, NAME, name.null ? NULL : name.s);
  nai_set_str(table, row, DEVICES, nai_buf_str(&devices));
  nai_set_i64(table, row, KERNELS, s->kernels);
  nai_set_i64(table, row, KERNEL_TIME, s->kernel_ns);
  nai_set_f64(table, row, PCT, nai_percent((double)s->kernel_ns, (double)all_ns));
  nai_set_i64(table, row, COPIED, s->copied_bytes);
  nai_set_i64(table, row, API_CALLS, s->api_calls);
  nai_set_i64(table, row, BLOCKED, s->blocked_ns);
  if (s->kernel_ns && m->map_nvtx && m->nvtx.n)
    nai_set_f64(table, row, COVERAGE, nai_percent((double)s->attributed_ns, (double)s->kernel_ns));
  table->oom |= devices.oom;
  nai_buf_free(&devices);
}

/* Calls and time of one kernel name on one GPU in one process. */
struct kernel_sum {
  int64_t calls, total_ns;
  uint32_t kernel; /* the first one */
};

static void put_kernel(struct nai_table *table, const struct nai_model *m, const struct kernel_sum *k,
                       const struct nai_process_sum *process, int64_t all_ns) {
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, K_PID, nai_model_pid(m, nai_at_i32(&m->kernels.process, k->kernel)));
  nai_set_i64(table, row, K_PID_TOTAL, process->kernel_ns);
  nai_set_f64(table, row, K_PID_PCT, nai_percent((double)process->kernel_ns, (double)all_ns));
  nai_set_str(table, row, K_NAME, nai_model_kernel_name(m, k->kernel));
  nai_set_i64(table, row, K_DEVICE, nai_at_i32(&m->kernels.device, k->kernel));
  nai_set_i64(table, row, K_CALLS, k->calls);
  nai_set_i64(table, row, K_TOTAL, k->total_ns);
  nai_set_f64(table, row, K_AVG, (double)k->total_ns / (double)k->calls);
  nai_set_f64(table, row, K_PCT_PID, nai_percent((double)k->total_ns, (double)process->kernel_ns));
  nai_set_f64(table, row, K_PCT_ALL, nai_percent((double)k->total_ns, (double)all_ns));
}

static int put_kernels(struct nai_table *table, const struct nai_model *m, int64_t all_ns, struct nai_err *err) {
  struct nai_keyset groups = {0}; /* process, kernel group */
  struct kernel_sum *list = NULL;
  uint32_t capacity = 0;
  bool ok = true, added;
  for (uint32_t i = 0; ok && i < m->kernels.n; i++) {
    int64_t process = nai_at(&m->kernels.process, i);
    if (process < 0)
      continue;
    uint32_t group = nai_keyset_add(&groups, nai_key_pair(process, m->kernel_group[i]), &added);
    ok = !groups.oom && nai_array_room(&list, &capacity, group, sizeof *list);
    if (!ok)
      break;
    if (added)
      list[group] = (struct kernel_sum){0, 0, i};
    list[group].calls++;
    list[group].total_ns += nai_kernel_ns(m, i);
  }
  for (uint32_t i = 0; ok && i < groups.count; i++)
    put_kernel(table, m, &list[i], &m->process_sums[nai_at_i32(&m->kernels.process, list[i].kernel)], all_ns);
  free(list);
  nai_keyset_free(&groups);
  static const struct nai_sort_by order[] = {{K_PID, false}, {K_TOTAL, true}, {K_NAME, false}, {K_DEVICE, false}};
  return ok ? nai_table_sort(table, order, 4, err) : nai_err_nomem(err);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  int64_t all_ns = nai_total_kernel_ns(m);
  for (uint32_t p = 0; p < m->process_count; p++)
    put_process(io->out[0], m, p, &m->process_sums[p], all_ns);
  static const struct nai_sort_by order[] = {{KERNEL_TIME, true}, {PID, false}};
  int rc = nai_table_sort(io->out[0], order, 2, err);
  return rc ? rc : put_kernels(io->out[1], m, all_ns, err);
}

static const struct nai_schema *const schemas[] = {&pids_schema, &kernels_schema, NULL};
const struct nai_node nai_analysis_processes = {.name = "processes",
                                                .outputs = schemas,
                                                .parts = NAI_PART(KERNEL_GROUPS) | NAI_PART(PROCESS_SUMS) |
                                                         NAI_PART(PROCESS_GPUS),
                                                .tables = NAI_IN(KERNELS) | NAI_IN(PROCESSES) | NAI_IN(GPUS),
                                                .run = run};
