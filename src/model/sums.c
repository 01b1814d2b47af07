/* Sums over kernels that several analyses start from. */
#include "base/sort.h"
#include "model/build.h"

/* --- kernels of a kind, and by GPU and name ----------------------------------------------------- */

struct grouping {
  struct nai_keyset groups, launches, kinds; /* (GPU, name); (process, configuration); (group, launch) */
  uint32_t *last;                            /* per group: 1 + the kind met last */
  uint32_t last_room, group_room, kind_room;
};

static int find_group(uint32_t *group, struct nai_model *m, struct grouping *g, uint32_t kernel, struct nai_err *err) {
  const uint32_t gpu = nai_model_gpu_index(m, nai_val_i32(&m->kernels.device_id, kernel)),
                 name = nai_val_text(&m->kernels.name, kernel);
  bool added;
  *group = nai_keyset_add(&g->groups, nai_key_pair(gpu, name), &added);
  NAI_TRY(nai_memory_check(!g->groups.oom, err));
  if (!added)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(g->last, g->last_room, *group, g->groups.arena, err));
  NAI_TRY(NAI_ROOM(m->kernel_groups, g->group_room, *group, &m->arena, err));
  m->kernel_groups[m->kernel_group_count++] = (struct nai_kernel_group){.gpu = gpu, .name = name, .longest = kernel};
  return NAI_OK;
}

/* The kind of a kernel: mostly that of the one before it in the group. */
static int find_kind(uint32_t *kind, struct nai_model *m, struct grouping *g, uint32_t group, uint32_t kernel,
                     struct nai_err *err) {
  const int32_t process = nai_at_i32(&m->kernels.process, kernel), config = nai_val_i32(&m->kernels.config, kernel);
  bool added;
  *kind = g->last[group] - 1;
  if (g->last[group] && m->kernel_kinds[*kind].process == process && m->kernel_kinds[*kind].config == config)
    return NAI_OK;
  uint32_t launch = nai_keyset_add(&g->launches, nai_key_pair(process, (uint32_t)config), &added);
  *kind = nai_keyset_add(&g->kinds, nai_key_pair(group, launch), &added);
  NAI_TRY(nai_memory_check(!g->launches.oom && !g->kinds.oom, err));
  g->last[group] = *kind + 1;
  if (!added)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(m->kernel_kinds, g->kind_room, *kind, &m->arena, err));
  m->kernel_kinds[m->kernel_kind_count++] = (struct nai_kernel_kind){
      .group = group, .process = process, .config = config, .first = kernel, .longest = kernel};
  return NAI_OK;
}

/* The longer one of two kernels, the earlier one of equals. */
static uint32_t longer(const struct nai_model *m, uint32_t a, uint32_t b) {
  const struct nai_column *starts = &m->kernels.start_ns;
  int64_t more = nai_kernel_ns(m, b) - nai_kernel_ns(m, a);
  return more > 0 || (more == 0 && NAI_COMPARE({nai_val(starts, b), nai_val(starts, a)}, {b, a}) < 0) ? b : a;
}

static void sum_groups(struct nai_model *m) {
  for (uint32_t i = 0; i < m->kernel_kind_count; i++) {
    const struct nai_kernel_kind *kind = &m->kernel_kinds[i];
    struct nai_kernel_group *group = &m->kernel_groups[kind->group];
    group->calls += kind->calls;
    group->total_ns += kind->total_ns;
    group->graph_calls += kind->graph_calls;
    group->longest = longer(m, group->longest, kind->longest);
  }
}

static int group_kernels(struct nai_model *m, struct nai_err *err) {
  struct nai_arena *arena = &m->work->arenas[NAI_PART_KERNEL_GROUPS];
  struct grouping g = {.groups = {.arena = arena}, .launches = {.arena = arena}, .kinds = {.arena = arena}};
  NAI_TRY(NAI_NEW(m->kernel_group, &m->arena, m->kernels.n, err));
  NAI_TRY(NAI_NEW(m->kernel_kind, &m->arena, m->kernels.n, err));
  for (uint32_t i = 0; i < m->kernels.n; i++) {
    uint32_t group, number;
    NAI_TRY(find_group(&group, m, &g, i, err));
    NAI_TRY(find_kind(&number, m, &g, group, i, err));
    struct nai_kernel_kind *kind = &m->kernel_kinds[number];
    int64_t ns = nai_kernel_ns(m, i);
    if (ns >= kind->longest_ns) {
      kind->longest_ns = ns;
      kind->longest = longer(m, kind->longest, i);
    }
    kind->calls++;
    kind->total_ns += ns;
    kind->graph_calls += nai_at_i32(&m->kernels.graph_id, i) != NAI_NULL_I32;
    m->kernel_groups[group].squares += (double)ns * (double)ns;
    m->kernel_group[i] = group;
    m->kernel_kind[i] = number;
  }
  sum_groups(m);
  return NAI_OK;
}

static int64_t groups_bytes(const struct nai_model *m) { return (int64_t)m->kernels.n * 16; }

const struct nai_part_def nai_part_kernel_groups = {
    .name = "kernel groups", .tables = NAI_IN(KERNELS) | NAI_IN(GPUS), .begin = group_kernels, .bytes = groups_bytes};

/* --- processes -------------------------------------------------------------------------------- */

static struct nai_process_sum *sum_of(struct nai_model *m, int64_t process) {
  return &m->process_sums[process < 0 ? m->process_count : (uint32_t)process];
}

static int sum_processes(struct nai_model *m, struct nai_err *err) {
  NAI_TRY(NAI_NEW(m->process_sums, &m->arena, (size_t)m->process_count + 1, err));
  for (uint32_t i = 0; i < m->kernel_kind_count; i++) {
    struct nai_process_sum *sum = sum_of(m, m->kernel_kinds[i].process);
    sum->kernels += m->kernel_kinds[i].calls;
    sum->kernel_ns += m->kernel_kinds[i].total_ns;
  }
  for (uint32_t k = 0; k < m->kernels.n; k++)
    if (m->kernel_api[k] == NAI_NO_ROW)
      sum_of(m, m->kernel_kinds[m->kernel_kind[k]].process)->without_launch_ns += nai_kernel_ns(m, k);
  for (uint32_t i = 0; i < m->node_count; i++) {
    struct nai_process_sum *sum = sum_of(m, m->thread_process[m->nodes[i].thread]);
    sum->attributed += m->nodes[i].kernel_count;
    sum->attributed_ns += m->nodes[i].kernel_ns;
  }
  for (uint32_t i = 0; i < m->memops.n; i++)
    if (nai_val_i32(&m->memops.kind, i) == NAI_MEMOP_COPY && nai_at(&m->memops.migration, i) != 1 &&
        nai_at(&m->memops.copy_kind, i) != NAI_COPY_DECOMPRESSION)
      sum_of(m, nai_at(&m->memops.process, i))->copied_bytes += nai_at(&m->memops.bytes, i);
  for (uint32_t t = 0; t < m->thread_count; t++) {
    struct nai_process_sum *sum = sum_of(m, m->thread_process[t]);
    sum->api_calls += m->api_by_thread.first[t + 1] - m->api_by_thread.first[t];
    sum->blocked_ns += nai_intervals_total_ns(&m->blocked[t]);
  }
  return NAI_OK;
}

const struct nai_part_def nai_part_process_sums = {
    .name = "process sums",
    .needs = NAI_PART(CALLS) | NAI_PART(BLOCKED) | NAI_PART(LAUNCHES) | NAI_PART(NVTX_TREE) | NAI_PART(KERNEL_GROUPS),
    .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(THREADS) | NAI_IN(PROCESSES),
    .begin = sum_processes};
