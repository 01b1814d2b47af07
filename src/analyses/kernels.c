/* Which kernels take the time? Tables kernels, kernel_categories. */
#include "analyses/analysis.h"
#include "table/columns.h"

#include "base/keyset.h"
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

/* Group of each kernel: its (GPU, name) pair. */
struct grouping {
  uint32_t *group;        /* per kernel */
  struct nai_keyset keys; /* per group: index of the GPU << 32 | name */
};

static uint32_t gpu_of(const struct grouping *g, uint32_t group) {
  return (uint32_t)((uint64_t)g->keys.keys[group] >> 32);
}
static uint32_t name_of(const struct grouping *g, uint32_t group) { return (uint32_t)g->keys.keys[group]; }

static int group_kernels(struct grouping *out, const struct nai_model *m, struct nai_err *err) {
  const struct nai_kernel_view *k = &m->kernels;
  int32_t device = 0;
  uint32_t gpu = 0;
  bool added;
  out->group = malloc(((size_t)k->n + 1) * sizeof *out->group);
  if (!out->group)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < k->n; i++) {
    if (i == 0 || nai_at_i32(&k->device, i) != device) {
      device = nai_at_i32(&k->device, i);
      gpu = nai_model_gpu_index(m, device);
    }
    out->group[i] = nai_keyset_add(&out->keys, (int64_t)gpu << 32 | nai_at_text(&k->name, i), &added);
  }
  return out->keys.oom ? nai_err_nomem(err) : NAI_OK;
}

/* Sums of one group. */
struct group_sum {
  int64_t calls, total_ns, in_graphs;
  uint32_t longest; /* row of the longest execution, the earliest of equals */
};

static void sum_groups(struct group_sum *sums, const struct grouping *g, const struct nai_model *m) {
  const struct nai_kernel_view *k = &m->kernels;
  for (uint32_t i = 0; i < k->n; i++) {
    struct group_sum *sum = &sums[g->group[i]];
    int64_t length = nai_kernel_ns(m, i), longest = sum->calls ? nai_kernel_ns(m, sum->longest) : -1;
    if (length > longest || (length == longest && nai_at(&k->start, i) < nai_at(&k->start, sum->longest)))
      sum->longest = i;
    sum->calls++;
    sum->total_ns += length;
    sum->in_graphs += nai_at_i32(&k->graph, i) != NAI_NULL_I32;
  }
}

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

static int fill_kernels(struct nai_table *table, const struct grouping *g, const struct group_sum *sums,
                        const struct nai_model *m, const int64_t *device_ns, int64_t all_ns, struct nai_err *err) {
  static const struct nai_stats_columns to = {CALLS, TOTAL_NS, AVG, MIN, MAX, P50, P90, P99, STDDEV};
  struct nai_durations durations = {nai_column_of_u32(g->group), m->kernels.start, m->kernels.end};
  struct nai_values values = {m->kernels.n, nai_duration_block, &durations};
  struct nai_stats *stats = calloc((size_t)g->keys.count + 1, sizeof *stats);
  char **shorts = NULL;
  int rc = stats ? nai_group_stats(stats, g->keys.count, &values, err) : nai_err_nomem(err);
  if (!rc)
    rc = short_names(&shorts, &m->kernel_table->strings, err);
  for (uint32_t i = 0; !rc && i < g->keys.count; i++) {
    uint32_t name = name_of(g, i), gpu = gpu_of(g, i);
    int64_t row = nai_table_add_row(table);
    nai_put_stats(table, row, &to, &stats[i]);
    nai_set_str(table, row, NAME, nai_strings_get(&m->kernel_table->strings, name));
    nai_set_str(table, row, SHORT, shorts[name]);
    nai_set_i64(table, row, DEVICE, m->gpus[gpu].device_id);
    nai_set_str(table, row, CATEGORY, nai_kernel_classes_name(m->classes, m->kernel_category[name]));
    nai_set_f64(table, row, PCT_TOTAL, nai_percent((double)stats[i].total, (double)all_ns));
    nai_set_f64(table, row, PCT_DEVICE, nai_percent((double)stats[i].total, (double)device_ns[gpu]));
    nai_set_i64(table, row, LONGEST_START, nai_at(&m->kernels.start, sums[i].longest));
    nai_set_i64(table, row, LONGEST_END, nai_at(&m->kernels.end, sums[i].longest));
    nai_set_i64(table, row, IN_GRAPHS, sums[i].in_graphs);
  }
  free(shorts);
  free(stats);
  static const struct nai_sort_by order[] = {{TOTAL_NS, true}, {NAME, false}, {DEVICE, false}};
  return rc ? rc : nai_table_sort(table, order, 3, err);
}

static int fill_categories(struct nai_table *table, const struct grouping *g, const struct group_sum *groups,
                           const struct nai_model *m, const int64_t *device_ns, int64_t all_ns, struct nai_err *err) {
  int categories = nai_kernel_classes_count(m->classes);
  size_t cells = (size_t)categories * (m->gpu_count + 1);
  struct sum {
    int64_t calls, total;
  } *sums = calloc(cells + 1, sizeof *sums);
  if (!sums)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < g->keys.count; i++) {
    struct sum *sum = &sums[(size_t)gpu_of(g, i) * categories + m->kernel_category[name_of(g, i)]];
    sum->calls += groups[i].calls;
    sum->total += groups[i].total_ns;
  }
  for (uint32_t gpu = 0; gpu < m->gpu_count; gpu++)
    for (int c = 0; c < categories; c++) {
      const struct sum *sum = &sums[(size_t)gpu * categories + c];
      if (!sum->calls)
        continue;
      int64_t row = nai_table_add_row(table);
      nai_set_str(table, row, C_CATEGORY, nai_kernel_classes_name(m->classes, c));
      nai_set_i64(table, row, C_DEVICE, m->gpus[gpu].device_id);
      nai_set_i64(table, row, C_CALLS, sum->calls);
      nai_set_i64(table, row, C_TOTAL_NS, sum->total);
      nai_set_f64(table, row, C_PCT_DEVICE, nai_percent((double)sum->total, (double)device_ns[gpu]));
      nai_set_f64(table, row, C_PCT_TOTAL, nai_percent((double)sum->total, (double)all_ns));
    }
  free(sums);
  static const struct nai_sort_by order[] = {{C_TOTAL_NS, true}, {C_CATEGORY, false}, {C_DEVICE, false}};
  return nai_table_sort(table, order, 3, err);
}

static int run(struct nai_table *const *tables, const struct nai_model *m, struct nai_err *err) {
  struct grouping g = {0};
  struct group_sum *sums = NULL;
  int64_t all_ns = 0, *device_ns = calloc((size_t)m->gpu_count + 1, sizeof *device_ns);
  int rc = device_ns ? group_kernels(&g, m, err) : nai_err_nomem(err);
  if (rc)
    goto out;
  sums = calloc((size_t)g.keys.count + 1, sizeof *sums);
  if (!sums) {
    rc = nai_err_nomem(err);
    goto out;
  }
  sum_groups(sums, &g, m);
  for (uint32_t i = 0; i < g.keys.count; i++) {
    device_ns[gpu_of(&g, i)] += sums[i].total_ns;
    all_ns += sums[i].total_ns;
  }
  rc = fill_kernels(tables[0], &g, sums, m, device_ns, all_ns, err);
  if (!rc)
    rc = fill_categories(tables[1], &g, sums, m, device_ns, all_ns, err);
out:
  free(device_ns);
  free(g.group);
  nai_keyset_free(&g.keys);
  free(sums);
  return rc;
}

static const struct nai_schema *const schemas[] = {&kernels_schema, &categories_schema, NULL};
const struct nai_analysis nai_analysis_kernels = {"kernels", schemas, run, 2};
