/* Sums over kernels that several analyses start from. */
#include "model/build.h"

/* --- kernels by GPU and name ------------------------------------------------------------------ */

/* Adds a kernel to its group, which it may begin. */
static int add_to_group(struct nai_model *m, struct nai_keyset *keys, uint32_t *capacity, uint32_t gpu, uint32_t kernel,
                        struct nai_err *err) {
  const struct KERNEL_EVENTS_columns *k = &m->kernels;
  uint32_t name = nai_val_text(&k->name, kernel);
  bool added;
  uint32_t index = nai_keyset_add(keys, nai_key_pair(gpu, name), &added);
  NAI_TRY(nai_memory_check(!keys->oom, err));
  if (added) {
    NAI_TRY(NAI_ROOM(m->kernel_groups, *capacity, m->kernel_group_count, &m->arena, err));
    m->kernel_groups[m->kernel_group_count++] = (struct nai_kernel_group){.gpu = gpu, .name = name, .longest = kernel};
  }
  struct nai_kernel_group *group = &m->kernel_groups[index];
  int64_t length = nai_kernel_ns(m, kernel), longest = nai_kernel_ns(m, group->longest);
  if (length > longest || (length == longest && nai_val(&k->start_ns, kernel) < nai_val(&k->start_ns, group->longest)))
    group->longest = kernel;
  group->calls++;
  group->total_ns += length;
  group->graph_calls += nai_at_i32(&k->graph_id, kernel) != NAI_NULL_I32;
  m->kernel_group[kernel] = index;
  return NAI_OK;
}

static int group_kernels(struct nai_model *m, struct nai_err *err) {
  struct nai_keyset keys = {.arena = &m->work->arenas[NAI_PART_KERNEL_GROUPS]}; /* index of the GPU << 32 | name */
  uint32_t capacity = 0;
  NAI_TRY(NAI_NEW(m->kernel_group, &m->arena, m->kernels.n, err));
  for (uint32_t i = 0; i < m->kernels.n; i++) {
    const uint32_t gpu = nai_model_gpu_index(m, nai_val_i32(&m->kernels.device_id, i));
    NAI_TRY(add_to_group(m, &keys, &capacity, gpu, i, err));
  }
  return NAI_OK;
}

static int64_t groups_bytes(const struct nai_model *m) { return (int64_t)m->kernels.n * 12; }

const struct nai_part_def nai_part_kernel_groups = {
    .name = "kernel groups", .tables = NAI_IN(KERNELS) | NAI_IN(GPUS), .begin = group_kernels, .bytes = groups_bytes};

/* --- processes -------------------------------------------------------------------------------- */

static struct nai_process_sum *sum_of(struct nai_model *m, int64_t process) {
  return &m->process_sums[process < 0 ? m->process_count : (uint32_t)process];
}

static int sum_processes(struct nai_model *m, struct nai_err *err) {
  NAI_TRY(NAI_NEW(m->process_sums, &m->arena, (size_t)m->process_count + 1, err));
  for (uint32_t k = 0; k < m->kernels.n; k++) {
    struct nai_process_sum *sum = sum_of(m, nai_at(&m->kernels.process, k));
    sum->kernels++;
    sum->kernel_ns += nai_kernel_ns(m, k);
    sum->without_launch_ns += m->kernel_api[k] == NAI_NO_ROW ? nai_kernel_ns(m, k) : 0;
  }
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
    .needs = NAI_PART(CALLS) | NAI_PART(BLOCKED) | NAI_PART(LAUNCHES) | NAI_PART(NVTX_TREE),
    .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(THREADS) | NAI_IN(PROCESSES),
    .begin = sum_processes};
