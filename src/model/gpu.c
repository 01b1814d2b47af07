/* A GPU's timeline: its operations in order and the unions of what it was busy with. Which GPUs a process used, and
 * when anything happened. */
#include "model/build.h"
#include "tables/gpus.h"

/* --- unions ----------------------------------------------------------------------------------- */

/* Sums the union of intervals that come in start order, without keeping them. */
struct running_union {
  int64_t total, start, end;
  bool any;
};

static void extend(struct running_union *u, int64_t start, int64_t end) {
  if (!u->any || start > u->end) {
    u->total += u->any ? u->end - u->start : 0;
    u->start = start;
    u->end = end;
    u->any = true;
  } else if (end > u->end) {
    u->end = end;
  }
}

static int64_t union_total(const struct running_union *u) { return u->total + (u->any ? u->end - u->start : 0); }

static bool is_copy(const struct nai_op *op) { return op->type == NAI_OP_COPY || op->type == NAI_OP_SET; }

static int build_unions(struct nai_gpu *gpu, struct nai_model *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_intervals compute = {.arena = &arena}, communication = compute, copy = compute, beside_compute = compute;
  struct running_union kernels_only = {0}, graphs_only = {0};
  gpu->all.arena = gpu->exposed_communication.arena = gpu->exposed_copy.arena = &m->arena;
  nai_intervals_reserve(&gpu->all, gpu->op_count); /* nearly as many, mostly */
  nai_intervals_reserve(&compute, gpu->op_count);
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    int64_t start = op->start, end = op->end;
    if (end > gpu->window_end)
      gpu->window_end = end;
    if (start == end)
      continue;
    if (op->type == NAI_OP_KERNEL) {
      if (!kernels_only.any)
        gpu->kernel_window_start = start;
      extend(&kernels_only, start, end);
    }
    if (op->type == NAI_OP_GRAPH)
      extend(&graphs_only, start, end);
    nai_intervals_add(op->communication ? &communication : is_copy(op) ? &copy : &compute, start, end);
    nai_intervals_add(&gpu->all, start, end);
  }
  gpu->kernel_window_end = kernels_only.any ? kernels_only.end : 0;
  gpu->kernel_busy_ns = union_total(&kernels_only);
  gpu->graph_ns = union_total(&graphs_only);
  gpu->compute_ns = nai_intervals_total_ns(&compute);
  gpu->communication_ns = nai_intervals_total_ns(&communication);
  gpu->copy_ns = nai_intervals_total_ns(&copy);
  nai_intervals_subtract(&gpu->exposed_communication, &communication, &compute);
  nai_intervals_subtract(&beside_compute, &copy, &compute);
  nai_intervals_subtract(&gpu->exposed_copy, &beside_compute, &communication);
  return nai_memory_check(!gpu->all.oom && !gpu->exposed_communication.oom && !gpu->exposed_copy.oom, err);
}

static int begin_gpus(struct nai_model *m, struct nai_err *err) {
  NAI_TRY(NAI_NEW(m->gpus, &m->arena, m->gpu_count, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    m->gpus[g].device_id = nai_model_device(m, g);
  return nai_gpu_rows_collect(m, err);
}

static int build_gpu(void *ctx, int index, struct nai_err *err) {
  struct nai_model *m = ctx;
  struct nai_gpu *gpu = &m->gpus[index];
  NAI_TRY(nai_gpu_order_ops(gpu, (uint32_t)index, m, err));
  gpu->window_start = gpu->window_end = gpu->op_count ? gpu->ops[0].start : 0;
  return build_unions(gpu, m, err);
}

static int64_t gpus_bytes(const struct nai_model *m) {
  return (int64_t)m->kernels.n * 24 + ((int64_t)m->memops.n + m->graphs.n) * 80;
}

const struct nai_part_def nai_part_gpus = {.name = "GPU timelines",
                                           .needs = NAI_PART(NAMES),
                                           .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(GPUS),
                                           .begin = begin_gpus,
                                           .tasks = nai_each_gpu,
                                           .task = build_gpu,
                                           .bytes = gpus_bytes};

/* --- GPUs of processes ------------------------------------------------------------------------ */

static int find_process_gpus(struct nai_model *m, struct nai_err *err) {
  struct nai_arena *arena = &m->work->arenas[NAI_PART_PROCESS_GPUS];
  struct nai_groups *groups = &m->process_gpus;
  int32_t *process;
  uint32_t *gpu, pairs = 0, n = 0;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    pairs += m->gpus[g].processes.count;
  NAI_TRY(NAI_NEW(process, arena, pairs, err));
  NAI_TRY(NAI_NEW(gpu, arena, pairs, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (uint32_t i = 0; i < m->gpus[g].processes.count; i++) {
      process[n] = (int32_t)m->gpus[g].processes.keys[i];
      gpu[n++] = g;
    }
  const struct nai_column group = nai_column_of_i32(process);
  NAI_TRY(nai_groups_collect(groups, n, &group, m->process_count, &m->arena, err));
  for (uint32_t i = 0; i < groups->first[m->process_count]; i++)
    groups->order[i] = gpu[groups->order[i]];
  return NAI_OK;
}

const struct nai_part_def nai_part_process_gpus = {
    .name = "GPUs of processes", .needs = NAI_PART(GPUS), .tables = NAI_IN(PROCESSES), .begin = find_process_gpus};

/* --- the window ------------------------------------------------------------------------------- */

static void widen(struct nai_model *m, int64_t start, int64_t end) {
  m->window_start = start < m->window_start ? start : m->window_start;
  m->window_end = end > m->window_end ? end : m->window_end;
}

static int find_window(struct nai_model *m, struct nai_err *err) {
  (void)err;
  m->window_start = INT64_MAX;
  m->window_end = INT64_MIN;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    if (m->gpus[g].op_count)
      widen(m, m->gpus[g].window_start, m->gpus[g].window_end);
  if (m->window_start <= m->window_end)
    return NAI_OK;
  for (uint32_t i = 0; i < m->apis.n; i++)
    widen(m, nai_val(&m->apis.start_ns, i), nai_val(&m->apis.end_ns, i));
  for (uint32_t i = 0; i < m->nvtx.n; i++)
    widen(m, nai_val(&m->nvtx.start_ns, i), nai_val(&m->nvtx.end_ns, i));
  if (m->window_start > m->window_end)
    m->window_start = m->window_end = 0;
  return NAI_OK;
}

const struct nai_part_def nai_part_window = {
    .name = "window", .needs = NAI_PART(GPUS), .tables = NAI_IN(APIS) | NAI_IN(NVTX), .begin = find_window};
