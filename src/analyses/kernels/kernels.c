/* Which kernels take the time? Tables kernels, kernel_categories. */
#include "analyses/analysis.h"

#include "table/kernel_name.h"
#include "tables/kernel_categories.h"
#include "tables/kernels.h"

#include <stdlib.h>

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
  static const struct nai_stats_columns to = {KERNELS_call_count,        KERNELS_total_time_ns,
                                              KERNELS_avg_duration_ns,   KERNELS_min_duration_ns,
                                              KERNELS_max_duration_ns,   KERNELS_p50_duration_ns,
                                              KERNELS_p90_duration_ns,   KERNELS_p99_duration_ns,
                                              KERNELS_stddev_duration_ns};
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
    nai_set_str(table, row, KERNELS_kernel_name, nai_strings_get(names, group->name));
    nai_set_str(table, row, KERNELS_short_name, shorts[group->name]);
    nai_set_i64(table, row, KERNELS_device_id, nai_model_device(m, group->gpu));
    nai_set_str(table, row, KERNELS_category, nai_kernel_classes_name(m->classes, m->kernel_category[group->name]));
    nai_set_f64(table, row, KERNELS_pct_total_kernel_time, nai_percent((double)group->total_ns, (double)all_ns));
    nai_set_f64(table, row, KERNELS_pct_of_device_kernel_time,
                nai_percent((double)group->total_ns, (double)device_ns[group->gpu]));
    nai_set_i64(table, row, KERNELS_longest_start_ns, nai_at(&m->kernels.start, group->longest));
    nai_set_i64(table, row, KERNELS_longest_end_ns, nai_at(&m->kernels.end, group->longest));
    nai_set_i64(table, row, KERNELS_graph_call_count, group->graph_calls);
  }
  free(shorts);
  free(stats);
  static const struct nai_sort_by order[] = {
      {KERNELS_total_time_ns, true}, {KERNELS_kernel_name, false}, {KERNELS_device_id, false}};
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
      nai_set_str(table, row, KERNEL_CATEGORIES_category, nai_kernel_classes_name(m->classes, c));
      nai_set_i64(table, row, KERNEL_CATEGORIES_device_id, nai_model_device(m, gpu));
      nai_set_i64(table, row, KERNEL_CATEGORIES_call_count, sum->calls);
      nai_set_i64(table, row, KERNEL_CATEGORIES_total_time_ns, sum->total);
      nai_set_f64(table, row, KERNEL_CATEGORIES_pct_of_device_kernel_time,
                  nai_percent((double)sum->total, (double)device_ns[gpu]));
      nai_set_f64(table, row, KERNEL_CATEGORIES_pct_total_kernel_time, nai_percent((double)sum->total, (double)all_ns));
    }
  free(sums);
  static const struct nai_sort_by order[] = {{KERNEL_CATEGORIES_total_time_ns, true},
                                             {KERNEL_CATEGORIES_category, false},
                                             {KERNEL_CATEGORIES_device_id, false}};
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

static const struct nai_schema *const schemas[] = {&nai_kernels_schema, &nai_kernel_categories_schema, NULL};
const struct nai_node nai_analysis_kernels = {.name = "kernels",
                                              .outputs = schemas,
                                              .parts = NAI_PART(NAMES) | NAI_PART(KERNEL_GROUPS),
                                              .tables = NAI_IN(KERNELS) | NAI_IN(GPUS),
                                              .cost = 2,
                                              .run = run};
