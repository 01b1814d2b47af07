/* Which kernels take the time? Tables kernels, kernel_categories. */
#include "analyses/analysis.h"

#include "table/kernel_name.h"
#include "tables/kernel_categories.h"
#include "tables/kernels.h"

/* Sums of kernel time: of a GPU, of all, of a category on a GPU. */
struct sums {
  int64_t all_ns, *device_ns;
  struct category_sum {
    int64_t calls, total_ns;
  } * categories; /* [gpu * categories + category] */
};

static int sum_up(struct sums *s, const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  size_t categories = (size_t)nai_kernel_classes_count(m->classes);
  NAI_TRY(NAI_NEW(s->device_ns, io->arena, m->gpu_count, err));
  NAI_TRY(NAI_NEW(s->categories, io->arena, m->gpu_count * categories, err));
  for (uint32_t i = 0; i < m->kernel_group_count; i++) {
    const struct nai_kernel_group *group = &m->kernel_groups[i];
    struct category_sum *sum = &s->categories[group->gpu * categories + (size_t)m->kernel_category[group->name]];
    sum->calls += group->calls;
    sum->total_ns += group->total_ns;
    s->device_ns[group->gpu] += group->total_ns;
    s->all_ns += group->total_ns;
  }
  return NAI_OK;
}

static int put_kernels(const struct nai_node_io *io, const struct sums *sums, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nai_durations durations = {nai_column_of_u32(m->kernel_group), m->kernels.start_ns, m->kernels.end_ns};
  struct nai_values values = {m->kernels.n, nai_duration_block, &durations, m->scratch_dir};
  const struct nai_strings *names = &m->tables[NAI_IN_KERNELS]->strings;
  NAI_FREED char **shorts = NULL;
  struct nai_stats *stats;
  NAI_TRY(NAI_NEW(stats, io->arena, m->kernel_group_count, err));
  NAI_TRY(nai_group_stats(stats, m->kernel_group_count, &values, err));
  NAI_TRY(nai_kernel_names_of(&shorts, names, err));
  for (uint32_t i = 0; i < m->kernel_group_count; i++) {
    const struct nai_kernel_group *group = &m->kernel_groups[i];
    const struct nai_stats *s = &stats[i];
    double total_ns = (double)group->total_ns;
    NAI_ADD(KERNELS, io->out[0], .kernel_name = nai_strings_get(names, group->name), .short_name = shorts[group->name],
            .device_id = nai_model_device(m, group->gpu), .call_count = s->count, .total_time_ns = s->total,
            .avg_duration_ns = s->mean, .min_duration_ns = s->min, .max_duration_ns = s->max, .p50_duration_ns = s->p50,
            .p90_duration_ns = s->p90, .p99_duration_ns = s->p99, .stddev_duration_ns = s->stddev,
            .category = nai_kernel_classes_name(m->classes, m->kernel_category[group->name]),
            .pct_total_kernel_time = nai_percent(total_ns, (double)sums->all_ns),
            .pct_of_device_kernel_time = nai_percent(total_ns, (double)sums->device_ns[group->gpu]),
            .longest_start_ns = nai_val(&m->kernels.start_ns, group->longest),
            .longest_end_ns = nai_val(&m->kernels.end_ns, group->longest), .graph_call_count = group->graph_calls);
  }
  return NAI_OK;
}

static void put_categories(const struct nai_node_io *io, const struct sums *sums) {
  const struct nai_model *m = io->model;
  int categories = nai_kernel_classes_count(m->classes);
  for (uint32_t gpu = 0; gpu < m->gpu_count; gpu++)
    for (int c = 0; c < categories; c++) {
      const struct category_sum *sum = &sums->categories[(size_t)gpu * (size_t)categories + (size_t)c];
      if (sum->calls)
        NAI_ADD(KERNEL_CATEGORIES, io->out[1], .category = nai_kernel_classes_name(m->classes, c),
                .device_id = nai_model_device(m, gpu), .call_count = sum->calls, .total_time_ns = sum->total_ns,
                .pct_of_device_kernel_time = nai_percent((double)sum->total_ns, (double)sums->device_ns[gpu]),
                .pct_total_kernel_time = nai_percent((double)sum->total_ns, (double)sums->all_ns));
    }
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct sums sums = {0};
  NAI_TRY(sum_up(&sums, io, err));
  put_categories(io, &sums);
  return put_kernels(io, &sums, err);
}

NAI_ANALYSIS(kernels, .outputs = NAI_SCHEMAS(&nai_kernels_schema, &nai_kernel_categories_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(KERNEL_GROUPS), .tables = NAI_IN(KERNELS) | NAI_IN(GPUS), .cost = 2,
             .run = run)
