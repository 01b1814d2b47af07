/* Does the host launch many tiny kernels? Tables launch_storm, tiny_kernels. */
#include "analyses/analysis.h"

#include "base/sort.h"
#include "table/kernel_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCOPE, ID, KERNELS, LAUNCH_CALLS, WINDOW, KERNELS_PER_S, CALLS_PER_S, P50, P90, P99, UNDER_5, UNDER_10, UNDER_20,
       PEAK, API_P50, LATENCY_P50, LATENCY_P90, QUEUE_P50, PEAK_START, PEAK_END, KERNEL_TIME, SCOPE_LABEL };
static const struct nai_column_def columns[] = {
    [SCOPE] = {"scope", NAI_STR, NAI_TEXT, "all, gpu or process", NULL},
    [ID] = {"id", NAI_I64, NAI_ID, "device id or pid", NULL},
    [KERNELS] = {"kernel_count", NAI_I64, NAI_COUNT, "kernel executions", NULL},
    [LAUNCH_CALLS] = {"launch_calls", NAI_I64, NAI_COUNT, "API calls that launched them", NULL},
    [WINDOW] = {"window_s", NAI_I64, NAI_S, "first kernel start to last kernel end", NULL},
    [KERNELS_PER_S] = {"kernels_per_s", NAI_F64, NAI_PER_S, "kernels over the window", NULL},
    [CALLS_PER_S] = {"launch_calls_per_s", NAI_F64, NAI_PER_S, "launch calls over the window", NULL},
    [P50] = {"p50_kernel_us", NAI_F64, NAI_US, "median kernel duration", NULL},
    [P90] = {"p90_kernel_us", NAI_F64, NAI_US, "90th percentile of kernel durations", NULL},
    [P99] = {"p99_kernel_us", NAI_F64, NAI_US, "99th percentile of kernel durations", NULL},
    [UNDER_5] = {"pct_under_5us", NAI_F64, NAI_PCT, "kernels shorter than 5 us, of all kernels", NULL},
    [UNDER_10] = {"pct_under_10us", NAI_F64, NAI_PCT, "kernels shorter than 10 us, of all kernels", NULL},
    [UNDER_20] = {"pct_under_20us", NAI_F64, NAI_PCT, "kernels shorter than 20 us, of all kernels", NULL},
    [PEAK] = {"peak_kernels_per_10ms", NAI_I64, NAI_COUNT, "most kernel starts in any 10 ms", NULL},
    [API_P50] = {"api_p50_us", NAI_F64, NAI_US, "median duration of the launch calls", NULL},
    [LATENCY_P50] = {"launch_latency_p50_us", NAI_F64, NAI_US, "median of kernel start minus API call start", NULL},
    [LATENCY_P90] = {"launch_latency_p90_us", NAI_F64, NAI_US, "90th percentile of kernel start minus API call start", NULL},
    [QUEUE_P50] = {"queue_delay_p50_us", NAI_F64, NAI_US,
                   "median of kernel start minus API call end, where the kernel started after the call returned", NULL},
    [PEAK_START] = {"peak_start_ns", NAI_I64, NAI_TIMESTAMP_NS, "start of the busiest 10 ms", NULL},
    [PEAK_END] = {"peak_end_ns", NAI_I64, NAI_TIMESTAMP_NS, "end of the busiest 10 ms", NULL},
    [KERNEL_TIME] = {"kernel_time_ms", NAI_I64, NAI_MS, "summed kernel durations", NULL},
    [SCOPE_LABEL] = {"scope_label", NAI_STR, NAI_TEXT, "scope for people", NULL},
};
static const struct nai_schema storm_schema =
    NAI_SCHEMA("launch_storm", "Launch behaviour", "All kernels, those of one GPU, or those of one process", columns);

enum { T_NAME, T_DEVICE, T_CALLS, T_TOTAL, T_AVG, T_PCT, T_SHORT };
static const struct nai_column_def tiny_columns[] = {
    [T_NAME] = {"kernel_name", NAI_STR, NAI_TEXT, "demangled kernel name", NULL},
    [T_DEVICE] = {"device_id", NAI_I32, NAI_ID, "GPU", NULL},
    [T_CALLS] = {"call_count", NAI_I64, NAI_COUNT, "executions of 5 us or less", NULL},
    [T_TOTAL] = {"total_time_ms", NAI_I64, NAI_MS, "their summed durations", NULL},
    [T_AVG] = {"avg_duration_us", NAI_F64, NAI_US, "their mean duration", NULL},
    [T_PCT] = {"pct_of_device_kernels", NAI_F64, NAI_PCT, "of all kernel executions on this GPU", NULL},
    [T_SHORT] = {"short_name", NAI_STR, NAI_TEXT, "name for people", NULL},
};
static const struct nai_schema tiny_schema =
    NAI_SCHEMA("tiny_kernels", "Tiny kernels", "Executions of 5 us or less, by kernel name and GPU", tiny_columns);

enum { PEAK_NS = 10 * 1000 * 1000, TINY_NS = 5000 };

/* Scratch for one scope at a time, sized for all kernels. */
struct scratch {
  uint32_t *rows;    /* kernels of the scope by start */
  int64_t *values;
  uint32_t *apis;    /* distinct launch calls */
  uint8_t *seen;     /* per API call */
};

static double share_under(const int64_t *durations, uint32_t n, int64_t limit) {
  int64_t under = 0;
  for (uint32_t i = 0; i < n; i++)
    under += durations[i] < limit;
  return nai_percent((double)under, n);
}

static void put_durations(struct nai_table *table, int64_t row, const struct nai_model *m, struct scratch *s, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    s->values[i] = m->kernels.end[s->rows[i]] - m->kernels.start[s->rows[i]];
  nai_set_f64(table, row, UNDER_5, share_under(s->values, n, 5000));
  nai_set_f64(table, row, UNDER_10, share_under(s->values, n, 10000));
  nai_set_f64(table, row, UNDER_20, share_under(s->values, n, 20000));
  struct nai_stats stats = nai_stats_of(s->values, n);
  static const struct nai_stats_columns to = {KERNELS, KERNEL_TIME, -1, -1, -1, P50, P90, P99, -1};
  nai_put_stats(table, row, &to, &stats);
}

/* The 10 ms with most kernel starts; rows are in start order. */
static void put_peak(struct nai_table *table, int64_t row, const struct nai_model *m, const struct scratch *s, uint32_t n) {
  uint32_t best = 0, best_at = 0, from = 0;
  for (uint32_t i = 0; i < n; i++) {
    while (m->kernels.start[s->rows[i]] - m->kernels.start[s->rows[from]] >= PEAK_NS)
      from++;
    if (i - from + 1 > best) {
      best = i - from + 1;
      best_at = from;
    }
  }
  int64_t start = m->kernels.start[s->rows[best_at]];
  nai_set_i64(table, row, PEAK, best);
  nai_set_i64(table, row, PEAK_START, start);
  nai_set_i64(table, row, PEAK_END, start + PEAK_NS);
}

static void put_launches(struct nai_table *table, int64_t row, const struct nai_model *m, struct scratch *s, uint32_t n) {
  uint32_t calls = 0, joined = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t api = m->kernel_api[s->rows[i]];
    if (api == NAI_NO_ROW)
      continue;
    s->values[joined++] = m->kernels.start[s->rows[i]] - m->apis.start[api];
    if (!s->seen[api])
      s->apis[calls++] = api;
    s->seen[api] = 1;
  }
  nai_set_i64(table, row, LAUNCH_CALLS, calls);
  double latency[2];
  nai_quantiles_i64(latency, s->values, joined, (const double[]){0.50, 0.90}, 2);
  nai_set_f64(table, row, LATENCY_P50, latency[0]);
  nai_set_f64(table, row, LATENCY_P90, latency[1]);
  uint32_t after = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t api = m->kernel_api[s->rows[i]];
    if (api != NAI_NO_ROW && m->kernels.start[s->rows[i]] >= m->apis.end[api])
      s->values[after++] = m->kernels.start[s->rows[i]] - m->apis.end[api];
  }
  nai_set_f64(table, row, QUEUE_P50, nai_quantile_i64(s->values, after, 0.50));
  for (uint32_t i = 0; i < calls; i++) {
    s->values[i] = m->apis.end[s->apis[i]] - m->apis.start[s->apis[i]];
    s->seen[s->apis[i]] = 0;
  }
  nai_set_f64(table, row, API_P50, nai_quantile_i64(s->values, calls, 0.50));
}

static void put_scope(struct nai_table *table, const struct nai_model *m, struct scratch *s, uint32_t n, const char *scope,
                      int64_t id, const char *label) {
  if (!n)
    return;
  int64_t row = nai_table_add_row(table), first = m->kernels.start[s->rows[0]], last = first;
  for (uint32_t i = 0; i < n; i++)
    last = m->kernels.end[s->rows[i]] > last ? m->kernels.end[s->rows[i]] : last;
  double window_s = (double)(last - first) / 1e9;
  nai_set_str(table, row, SCOPE, scope);
  nai_set_i64(table, row, ID, id);
  nai_set_str(table, row, SCOPE_LABEL, label);
  nai_set_i64(table, row, WINDOW, last - first);
  put_durations(table, row, m, s, n);
  put_peak(table, row, m, s, n);
  put_launches(table, row, m, s, n);
  if (window_s > 0) {
    nai_set_f64(table, row, KERNELS_PER_S, n / window_s);
    nai_set_f64(table, row, CALLS_PER_S, (double)nai_get_i64(table, row, LAUNCH_CALLS) / window_s);
  }
}

static void put_gpus(struct nai_table *table, const struct nai_model *m, struct scratch *s) {
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    const struct nai_gpu *gpu = &m->gpus[g];
    uint32_t count = 0;
    for (uint32_t i = 0; i < gpu->op_count; i++)
      if (gpu->ops[i].type == NAI_OP_KERNEL)
        s->rows[count++] = gpu->ops[i].row;
    put_scope(table, m, s, count, "gpu", gpu->device_id, nai_model_gpu_label(m, gpu->device_id));
  }
}

static int put_processes(struct nai_table *table, const struct nai_model *m, struct scratch *s, struct nai_err *err) {
  struct nai_groups by_process = {0};
  int rc = nai_groups_build(&by_process, m->kernels.n, m->kernels.process, m->process_count, m->kernels.start,
                            m->kernels.end, NULL, NULL, m->scratch_dir, err);
  for (uint32_t p = 0; !rc && p < m->process_count; p++) {
    uint32_t count = by_process.first[p + 1] - by_process.first[p];
    char label[48];
    memcpy(s->rows, by_process.order + by_process.first[p], count * sizeof *s->rows);
    snprintf(label, sizeof label, "process %lld", (long long)nai_model_pid(m, (int32_t)p));
    put_scope(table, m, s, count, "process", nai_model_pid(m, (int32_t)p), label);
  }
  nai_groups_free(&by_process);
  return rc;
}

static int put_storm(struct nai_table *table, const struct nai_model *m, struct nai_err *err) {
  uint32_t n = m->kernels.n;
  struct scratch s = {0};
  struct nai_groups by_start = {0};
  s.rows = malloc(((size_t)n + 1) * sizeof *s.rows);
  s.values = malloc(((size_t)n + 1) * sizeof *s.values);
  s.apis = malloc(((size_t)n + 1) * sizeof *s.apis);
  s.seen = calloc((size_t)m->apis.n + 1, 1);
  int rc = s.rows && s.values && s.apis && s.seen
               ? nai_groups_build(&by_start, n, NULL, 1, m->kernels.start, m->kernels.end, NULL, NULL, m->scratch_dir, err)
               : nai_err_nomem(err);
  if (!rc) {
    memcpy(s.rows, by_start.order, n * sizeof *s.rows);
    put_scope(table, m, &s, n, "all", NAI_NULL_I64, "all");
    put_gpus(table, m, &s);
  }
  nai_groups_free(&by_start);
  if (!rc)
    rc = put_processes(table, m, &s, err);
  free(s.rows);
  free(s.values);
  free(s.apis);
  free(s.seen);
  return rc;
}

/* Tiny executions of one kernel name on one GPU. */
struct tiny {
  int64_t calls, total_ns;
};

static void put_tiny_row(struct nai_table *table, const struct nai_model *m, uint32_t gpu, uint32_t name,
                         const struct tiny *tiny, int64_t device_calls) {
  const char *text = nai_strings_get(&m->kernel_table->strings, name);
  struct nai_buf brief = {0};
  nai_kernel_name_short(&brief, text, 72);
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, T_NAME, text);
  nai_set_str(table, row, T_SHORT, nai_buf_str(&brief));
  nai_set_i64(table, row, T_DEVICE, m->gpus[gpu].device_id);
  nai_set_i64(table, row, T_CALLS, tiny->calls);
  nai_set_i64(table, row, T_TOTAL, tiny->total_ns);
  nai_set_f64(table, row, T_AVG, (double)tiny->total_ns / (double)tiny->calls);
  nai_set_f64(table, row, T_PCT, nai_percent((double)tiny->calls, (double)device_calls));
  table->oom |= brief.oom;
  nai_buf_free(&brief);
}

static int put_tiny(struct nai_table *table, const struct nai_model *m, struct nai_err *err) {
  uint32_t names = m->kernel_table->strings.count;
  struct tiny *sums = calloc((size_t)names + 1, sizeof *sums); /* of one GPU, zero between them */
  uint32_t *touched = malloc(((size_t)names + 1) * sizeof *touched);
  int rc = sums && touched ? NAI_OK : nai_err_nomem(err);
  for (uint32_t g = 0; !rc && g < m->gpu_count; g++) {
    const struct nai_gpu *gpu = &m->gpus[g];
    uint32_t count = 0;
    int64_t device_calls = 0;
    for (uint32_t i = 0; i < gpu->op_count; i++) {
      const struct nai_op *op = &gpu->ops[i];
      device_calls += op->type == NAI_OP_KERNEL;
      if (op->type != NAI_OP_KERNEL || op->end - op->start > TINY_NS)
        continue;
      struct tiny *sum = &sums[m->kernels.name[op->row]];
      if (!sum->calls++)
        touched[count++] = m->kernels.name[op->row];
      sum->total_ns += op->end - op->start;
    }
    for (uint32_t i = 0; i < count; i++) {
      put_tiny_row(table, m, g, touched[i], &sums[touched[i]], device_calls);
      sums[touched[i]] = (struct tiny){0};
    }
  }
  free(sums);
  free(touched);
  static const struct nai_sort_by order[] = {{T_CALLS, true}, {T_NAME, false}, {T_DEVICE, false}};
  return rc ? rc : nai_table_sort(table, order, 3, err);
}

static int run(struct nai_table *const *tables, const struct nai_model *m, struct nai_err *err) {
  int rc = put_storm(tables[0], m, err);
  return rc ? rc : put_tiny(tables[1], m, err);
}

static const struct nai_schema *const schemas[] = {&storm_schema, &tiny_schema, NULL};
const struct nai_analysis nai_analysis_launches = {"launches", schemas, run, 3};
