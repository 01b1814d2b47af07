/* What did each process do? Tables pids, kernels_by_pid. */
#include "analyses/analysis.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PID, NAME, DEVICES, KERNELS, KERNEL_TIME, PCT, COPIED, API_CALLS, BLOCKED, COVERAGE };
static const struct nai_column_def columns[] = {
    [PID] = {"pid", NAI_I64, NAI_ID, "process", NULL},
    [NAME] = {"process_name", NAI_STR, NAI_TEXT, "executable name", NULL},
    [DEVICES] = {"devices", NAI_STR, NAI_TEXT, "GPUs it used", NULL},
    [KERNELS] = {"kernel_count", NAI_I64, NAI_COUNT, "kernel executions", NULL},
    [KERNEL_TIME] = {"kernel_time_ms", NAI_I64, NAI_MS, "summed kernel durations", NULL},
    [PCT] = {"pct_of_total_kernel_time", NAI_F64, NAI_PCT, "of all kernel durations", NULL},
    [COPIED] = {"memcpy_bytes", NAI_I64, NAI_BYTES, "bytes copied", NULL},
    [API_CALLS] = {"api_calls", NAI_I64, NAI_COUNT, "CUDA API calls", NULL},
    [BLOCKED] = {"blocked_ms", NAI_I64, NAI_MS, "time its threads waited in blocking calls (union per thread, summed)", NULL},
    [COVERAGE] = {"nvtx_coverage_pct", NAI_F64, NAI_PCT, "its kernel time launched inside NVTX ranges", NULL},
};
static const struct nai_schema pids_schema = NAI_SCHEMA("pids", "Processes", "One process with CUDA activity or NVTX", columns);

enum { K_PID, K_PID_TOTAL, K_PID_PCT, K_NAME, K_DEVICE, K_CALLS, K_TOTAL, K_AVG, K_PCT_PID, K_PCT_ALL };
static const struct nai_column_def kernel_columns[] = {
    [K_PID] = {"pid", NAI_I64, NAI_ID, "process", NULL},
    [K_PID_TOTAL] = {"pid_total_kernel_time_ms", NAI_I64, NAI_MS, "summed kernel durations of the process", NULL},
    [K_PID_PCT] = {"pid_pct_of_total_kernel_time", NAI_F64, NAI_PCT, "the process, of all kernel durations", NULL},
    [K_NAME] = {"kernel_name", NAI_STR, NAI_TEXT, "demangled kernel name", NULL},
    [K_DEVICE] = {"device_id", NAI_I32, NAI_ID, "GPU", NULL},
    [K_CALLS] = {"call_count", NAI_I64, NAI_COUNT, "executions", NULL},
    [K_TOTAL] = {"total_time_ms", NAI_I64, NAI_MS, "summed durations", NULL},
    [K_AVG] = {"avg_duration_us", NAI_F64, NAI_US, "mean duration", NULL},
    [K_PCT_PID] = {"pct_of_pid_kernel_time", NAI_F64, NAI_PCT, "of the process's kernel durations", NULL},
    [K_PCT_ALL] = {"pct_of_total_kernel_time", NAI_F64, NAI_PCT, "of all kernel durations", NULL},
};
static const struct nai_schema kernels_schema =
    NAI_SCHEMA("kernels_by_pid", "Kernels by process", "One kernel name on one GPU in one process", kernel_columns);

struct process_sum {
  int64_t kernels, kernel_ns, attributed_ns, copied_bytes, api_calls, blocked_ns;
};

static void sum_processes(struct process_sum *sums, const struct nai_model *m) {
  for (uint32_t i = 0; i < m->kernels.n; i++) {
    if (m->kernels.process[i] < 0)
      continue;
    struct process_sum *s = &sums[m->kernels.process[i]];
    int64_t length = m->kernels.end[i] - m->kernels.start[i];
    uint32_t api = m->kernel_api[i];
    s->kernels++;
    s->kernel_ns += length;
    s->attributed_ns += api != NAI_NO_ROW && m->api_range[api] != NAI_NO_ROW ? length : 0;
  }
  for (uint32_t i = 0; i < m->memops.n; i++)
    if (m->memops.process[i] >= 0 && m->memops.kind[i] == NAI_MEMOP_COPY)
      sums[m->memops.process[i]].copied_bytes += m->memops.bytes[i];
  for (uint32_t t = 0; t < m->thread_count; t++) {
    if (m->thread_process[t] < 0)
      continue;
    struct process_sum *s = &sums[m->thread_process[t]];
    s->api_calls += m->api_by_thread.first[t + 1] - m->api_by_thread.first[t];
    s->blocked_ns += nai_intervals_total(&m->blocked[t]);
  }
}

/* used[process * gpu_count + gpu]: whether the process ran anything on the GPU. */
static void find_devices(bool *used, const struct nai_model *m) {
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++) {
      const struct nai_op *op = &m->gpus[g].ops[i];
      int32_t process = op->type == NAI_OP_KERNEL  ? m->kernels.process[op->row]
                        : op->type == NAI_OP_GRAPH ? m->graphs.process[op->row]
                                                   : m->memops.process[op->row];
      if (process >= 0)
        used[(size_t)process * m->gpu_count + g] = true;
    }
}

static void put_process(struct nai_table *table, const struct nai_model *m, uint32_t p, const struct process_sum *s,
                        const bool *used, int64_t all_ns) {
  struct nai_buf devices = {0};
  for (uint32_t g = 0; g < m->gpu_count; g++)
    if (used[(size_t)p * m->gpu_count + g])
      nai_buf_printf(&devices, "%s%" PRId32, devices.len ? " " : "", m->gpus[g].device_id);
  int64_t row = nai_table_add_row(table);
  struct nai_value name = nai_table_value(m->processes, p, PR_NAME);
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

/* Calls and time of one process by name and GPU. */
struct kernel_sum {
  int64_t calls, total_ns;
};

static int put_kernels(struct nai_table *table, const struct nai_model *m, const struct process_sum *sums, int64_t all_ns,
                       struct nai_err *err) {
  uint32_t names = m->kernel_table->strings.count;
  struct kernel_sum *cells = calloc((size_t)names * m->gpu_count + 1, sizeof *cells);
  if (!cells)
    return nai_err_nomem(err);
  for (uint32_t p = 0; p < m->process_count; p++) {
    for (uint32_t g = 0; g < m->gpu_count; g++)
      for (uint32_t i = 0; i < m->gpus[g].op_count; i++) {
        const struct nai_op *op = &m->gpus[g].ops[i];
        if (op->type != NAI_OP_KERNEL || m->kernels.process[op->row] != (int32_t)p)
          continue;
        struct kernel_sum *cell = &cells[(size_t)g * names + m->kernels.name[op->row]];
        cell->calls++;
        cell->total_ns += op->end - op->start;
      }
    for (uint32_t g = 0; g < m->gpu_count; g++)
      for (uint32_t name = 0; name < names; name++) {
        struct kernel_sum *cell = &cells[(size_t)g * names + name];
        if (!cell->calls)
          continue;
        int64_t row = nai_table_add_row(table);
        nai_set_i64(table, row, K_PID, nai_model_pid(m, (int32_t)p));
        nai_set_i64(table, row, K_PID_TOTAL, sums[p].kernel_ns);
        nai_set_f64(table, row, K_PID_PCT, nai_percent((double)sums[p].kernel_ns, (double)all_ns));
        nai_set_str(table, row, K_NAME, nai_strings_get(&m->kernel_table->strings, name));
        nai_set_i64(table, row, K_DEVICE, m->gpus[g].device_id);
        nai_set_i64(table, row, K_CALLS, cell->calls);
        nai_set_i64(table, row, K_TOTAL, cell->total_ns);
        nai_set_f64(table, row, K_AVG, (double)cell->total_ns / (double)cell->calls);
        nai_set_f64(table, row, K_PCT_PID, nai_percent((double)cell->total_ns, (double)sums[p].kernel_ns));
        nai_set_f64(table, row, K_PCT_ALL, nai_percent((double)cell->total_ns, (double)all_ns));
        *cell = (struct kernel_sum){0};
      }
  }
  free(cells);
  static const struct nai_sort_by order[] = {{K_PID, false}, {K_TOTAL, true}, {K_NAME, false}, {K_DEVICE, false}};
  return nai_table_sort(table, order, 4, err);
}

static int run(struct nai_table *const *tables, const struct nai_model *m, struct nai_err *err) {
  struct process_sum *sums = calloc((size_t)m->process_count + 1, sizeof *sums);
  bool *used = calloc((size_t)m->process_count * m->gpu_count + 1, sizeof *used);
  int64_t all_ns = nai_total_kernel_ns(m);
  int rc = sums && used ? NAI_OK : nai_err_nomem(err);
  if (!rc) {
    sum_processes(sums, m);
    find_devices(used, m);
    for (uint32_t p = 0; p < m->process_count; p++)
      put_process(tables[0], m, p, &sums[p], used, all_ns);
    static const struct nai_sort_by order[] = {{KERNEL_TIME, true}, {PID, false}};
    rc = nai_table_sort(tables[0], order, 2, err);
  }
  if (!rc)
    rc = put_kernels(tables[1], m, sums, all_ns, err);
  free(sums);
  free(used);
  return rc;
}

static const struct nai_schema *const schemas[] = {&pids_schema, &kernels_schema, NULL};
const struct nai_analysis nai_analysis_processes = {"processes", schemas, run};
