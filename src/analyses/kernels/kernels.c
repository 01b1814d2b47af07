/* Which kernels take the time? Tables kernels, kernel_categories. */
#include "analyses/analysis.h"
#include "table/columns.h"

#include "table/kernel_name.h"

#include <stdlib.h>

enum {
  NAME,
  DEVICE,
  CALLS,
  TOTAL_NS,
  AVG,
  MIN,
  MAX,
  P50,
  P90,
  P99,
  STDDEV,
  PCT_TOTAL,
  SHORT,
  CATEGORY,
  LONGEST_START,
  LONGEST_END,
  PCT_DEVICE,
  IN_GRAPHS
};
#define TOTAL_COLUMN                                                                                                \
  {                                                                                                                 \
    "total_time_ns", NAI_I64, NAI_NS, "summed durations", .prints = NAI_AS_NS | NAI_AS_MS, .role = NAI_ROLE_METRIC, \
                                                          .better = NAI_BETTER_LOWER, .sum = true                   \
  }
static const struct nai_column_def columns[] = {
    [NAME] = NAI_KERNEL_NAME_COLUMN("kernel_name", "demangled kernel name", .key = true),
    [DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [CALLS] = NAI_COUNT_COLUMN("call_count", "executions", .sum = true),
    [TOTAL_NS] = TOTAL_COLUMN,
    [AVG] = NAI_AVERAGE_COLUMN("avg_duration_ns", "mean duration"),
    [MIN] = NAI_LENGTH_COLUMN("min_duration_ns", "shortest duration"),
    [MAX] = NAI_LENGTH_COLUMN("max_duration_ns", "longest duration"),
    [P50] = NAI_AVERAGE_COLUMN("p50_duration_ns", "median duration"),
    [P90] = NAI_AVERAGE_COLUMN("p90_duration_ns", "90th percentile of durations"),
    [P99] = NAI_AVERAGE_COLUMN("p99_duration_ns", "99th percentile of durations"),
    [STDDEV] = NAI_AVERAGE_COLUMN("stddev_duration_ns", "sample standard deviation of durations"),
    [PCT_TOTAL] = NAI_PCT_COLUMN("pct_total_kernel_time", "of all kernel durations on all GPUs", .sum = true),
    [SHORT] = NAI_LABEL_COLUMN("short_name", "name for people, unique in this trace"),
    [CATEGORY] = NAI_LABEL_COLUMN("category", "kind of work (rules/kernel-classes.yaml)"),
    [LONGEST_START] = NAI_START_COLUMN("longest_start_ns", "start of the longest execution"),
    [LONGEST_END] = NAI_END_COLUMN("longest_end_ns", "end of the longest execution"),
    [PCT_DEVICE] = NAI_PCT_COLUMN("pct_of_device_kernel_time", "of all kernel durations on this GPU"),
    [IN_GRAPHS] = NAI_COUNT_COLUMN("graph_call_count", "executions that belong to a CUDA graph", .sum = true),
};
static const struct nai_schema kernels_schema =
    NAI_SCHEMA("kernels", "Top kernels", "One kernel name on one GPU, by total time", columns);

enum { C_CATEGORY, C_DEVICE, C_CALLS, C_TOTAL_NS, C_PCT_DEVICE, C_PCT_TOTAL };
static const struct nai_column_def category_columns[] = {
    [C_CATEGORY] = NAI_NAME_COLUMN("category", "kind of work (rules/kernel-classes.yaml)", .key = true),
    [C_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [C_CALLS] = NAI_COUNT_COLUMN("call_count", "kernel executions", .sum = true),
    [C_TOTAL_NS] = TOTAL_COLUMN,
    [C_PCT_DEVICE] = NAI_PCT_COLUMN("pct_of_device_kernel_time", "of all kernel durations on this GPU"),
    [C_PCT_TOTAL] = NAI_PCT_COLUMN("pct_total_kernel_time", "of all kernel durations on all GPUs", .sum = true),
};
static const struct nai_schema categories_schema =
    NAI_SCHEMA("kernel_categories", "Kernel time by category", "One category on one GPU", category_columns);

static int short_names(char ***out, const struct nai_strings *names, struct nai_err *err) {
  enum { SHORT_MAX = 72 };
  const char **list = malloc(((size_t)names->count + 1) * sizeof *list);
  if (!list)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < names->count; i++)
    list[i] = nai_strings_get(names, i);
  int rc = nai_kernel_names_short(out, list, names->count, SHORT_MAX, err);
  free(list);
  return rc;
}

static int fill_kernels(struct nai_table *table, const struct nai_model *m, const int64_t *device_ns, int64_t all_ns,
                        struct nai_err *err) {
  static const struct nai_stats_columns to = {CALLS, TOTAL_NS, AVG, MIN, MAX, P50, P90, P99, STDDEV};
  struct nai_durations durations = {nai_column_of_u32(m->kernel_group), m->kernels.start, m->kernels.end};
  struct nai_values values = {m->kernels.n, nai_duration_block, &durations};
  struct nai_stats *stats = calloc((size_t)m->kernel_group_count + 1, sizeof *stats);
  const struct nai_strings *names = &m->tables[NAI_IN_KERNELS]->strings;
  char **shorts = NULL;
  int rc = stats ? nai_group_stats(stats, m->kernel_group_count, &values, err) : nai_err_nomem(err);
  if (!rc)
    rc = short_names(&shorts, names, err);
  for (uint32_t i = 0; !rc && i < m->kernel_group_count; i++) {
    const struct nai_kernel_group *group = &m->kernel_groups[i];
    int64_t row = nai_table_add_row(table);
    nai_put_stats(table, row, &to, &stats[i]);
    nai_set_str(table, row, NAME, nai_strings_get(names, group->name));
    nai_set_str(table, row, SHORT, shorts[group->name]);
    nai_set_i64(table, row, DEVICE, nai_model_device(m, group->gpu));
    nai_set_str(table, row, CATEGORY, nai_kernel_classes_name(m->classes, m->kernel_category[group->name]));
    nai_set_f64(table, row, PCT_TOTAL, nai_percent((double)group->total_ns, (double)all_ns));
    nai_set_f64(table, row, PCT_DEVICE, nai_percent((double)group->total_ns, (double)device_ns[group->gpu]));
    nai_set_i64(table, row, LONGEST_START, nai_at(&m->kernels.start, group->longest));
    nai_set_i64(table, row, LONGEST_END, nai_at(&m->kernels.end, group->longest));
    nai_set_i64(table, row, IN_GRAPHS, group->graph_calls);
  }
  free(shorts);
  free(stats);
  static const struct nai_sort_by order[] = {{TOTAL_NS, true}, {NAME, false}, {DEVICE, false}};
  return rc ? rc : nai_table_sort(table, order, 3, err);
}

static int fill_categories(struct nai_table *table, const struct nai_model *m, const int64_t *device_ns, int64_t all_ns,
                           struct nai_err *err) {
  int categories = nai_kernel_classes_count(m->classes);
  size_t cells = (size_t)categories * (m->gpu_count + 1);
  struct sum {
    int64_t calls, total;
  } *sums = calloc(cells + 1, sizeof *sums);
  if (!sums)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < m->kernel_group_count; i++) {
    const struct nai_kernel_group *group = &m->kernel_groups[i];
    struct sum *sum = &sums[(size_t)group->gpu * categories + m->kernel_category[group->name]];
    sum->calls += group->calls;
    sum->total += group->total_ns;
  }
  for (uint32_t gpu = 0; gpu < m->gpu_count; gpu++)
    for (int c = 0; c < categories; c++) {
      const struct sum *sum = &sums[(size_t)gpu * categories + c];
      if (!sum->calls)
        continue;
      int64_t row = nai_table_add_row(table);
      nai_set_str(table, row, C_CATEGORY, nai_kernel_classes_name(m->classes, c));
      nai_set_i64(table, row, C_DEVICE, nai_model_device(m, gpu));
      nai_set_i64(table, row, C_CALLS, sum->calls);
      nai_set_i64(table, row, C_TOTAL_NS, sum->total);
      nai_set_f64(table, row, C_PCT_DEVICE, nai_percent((double)sum->total, (double)device_ns[gpu]));
      nai_set_f64(table, row, C_PCT_TOTAL, nai_percent((double)sum->total, (double)all_ns));
    }
  free(sums);
  static const struct nai_sort_by order[] = {{C_TOTAL_NS, true}, {C_CATEGORY, false}, {C_DEVICE, false}};
  return nai_table_sort(table, order, 3, err);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  int64_t all_ns = 0, *device_ns = calloc((size_t)m->gpu_count + 1, sizeof *device_ns);
  if (!device_ns)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < m->kernel_group_count; i++) {
    device_ns[m->kernel_groups[i].gpu] += m->kernel_groups[i].total_ns;
    all_ns += m->kernel_groups[i].total_ns;
  }
  int rc = fill_kernels(io->out[0], m, device_ns, all_ns, err);
  if (!rc)
    rc = fill_categories(io->out[1], m, device_ns, all_ns, err);
  free(device_ns);
  return rc;
}

static const struct nai_schema *const schemas[] = {&kernels_schema, &categories_schema, NULL};
const struct nai_node nai_analysis_kernels = {.name = "kernels",
                                              .outputs = schemas,
                                              .parts = NAI_PART(NAMES) | NAI_PART(KERNEL_GROUPS),
                                              .tables = NAI_IN(KERNELS) | NAI_IN(GPUS),
                                              .cost = 2,
                                              .run = run};
