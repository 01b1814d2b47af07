/* What could the program save on the GPU itself? Table losses. */
#include "analyses/losses/losses.h"
#include "analyses/analysis.h"
#include "model/idle/active.h"
#include "model/kernels/repeated.h"
#include "tables/gpu_active.h"
#include "tables/losses.h"

static int look_inside(struct nai_loss_gpu *g, struct nai_err *err) {
  size_t next = 0;
  NAI_TRY(NAI_NEW(g->inside, g->arena, g->gpu->op_count, err));
  NAI_TRY(NAI_NEW(g->copies, g->arena, g->gpu->op_count, err));
  for (uint32_t i = 0; i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    int64_t start = op->start;
    g->inside[i] = nai_step_inside(&next, &g->active, start);
    if (!g->inside[i] || (op->type != NAI_OP_KERNEL && op->type != NAI_OP_COPY))
      continue;
    int64_t ns = op->end - start;
    bool migrates = op->type == NAI_OP_COPY && nai_at(&g->m->memops.migration, op->row) == 1;
    g->migrations = g->migrations || migrates;
    g->kernel_ns += op->type == NAI_OP_KERNEL ? ns : 0;
    if (op->type != NAI_OP_COPY || migrates)
      continue;
    g->copy_ns += ns;
    g->copies[g->copy_count++] = i;
  }
  return NAI_OK;
}

static bool is_steady(const struct nai_table *active, int32_t device) {
  int64_t row = nai_find_i64(active, GPU_ACTIVE_device_id, device);
  return row >= 0 && nai_get_i64(active, row, GPU_ACTIVE_steady) == 1;
}

/* `g`: what all GPUs have in common. */
static int add_gpu(struct nai_loss_gpu g, const struct nai_node_io *io, uint32_t gpu, struct nai_err *err) {
  static int (*const losses[])(const struct nai_loss_gpu *,
                               struct nai_err *) = {nai_losses_of_kernels, nai_losses_of_shape,   nai_losses_of_modes,
                                                    nai_losses_of_copies,  nai_losses_of_repeats, nai_losses_of_calls};
  NAI_SCOPED(nai_arena) kept = NAI_ARENA(g.m->scratch_dir);
  g.arena = &kept;
  g.gpu = &g.m->gpus[gpu];
  g.active = g.m->active[gpu].active;
  g.active_ns = nai_intervals_total_ns(&g.active);
  g.steady = is_steady(io->in[0], g.gpu->device_id);
  NAI_TRY(look_inside(&g, err));
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
    NAI_SCOPED(nai_arena) arena = NAI_ARENA(g.m->scratch_dir);
    g.arena = &arena;
    NAI_TRY(losses[i](&g, err));
  }
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_strings *names = &m->tables[NAI_IN_KERNELS]->strings;
  enum nai_kernel_trait *traits;
  bool *fusable;
  NAI_TRY(NAI_NEW(traits, io->arena, names->count, err));
  NAI_TRY(NAI_NEW(fusable, io->arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++) {
    traits[i] = nai_kernel_classes_trait(m->classes, nai_strings_get(names, i));
    fusable[i] = traits[i] == NAI_TRAIT_CAST ||
                 (traits[i] == NAI_TRAIT_NONE && nai_kernel_classes_fusable(m->classes, m->kernel_category[i]));
  }
  NAI_TRY(nai_kernel_classes_check(m->classes, err));
  struct nai_loss_gpu all = {.out = io->out[0], .m = m, .traits = traits, .fusable = fusable};
  for (uint32_t i = 0; i < m->gpu_count; i++)
    if (m->gpus[i].op_count)
      NAI_TRY(add_gpu(all, io, i, err));
  return NAI_OK;
}

NAI_ANALYSIS(losses, .outputs = NAI_SCHEMAS(&nai_losses_schema), .inputs = NAI_SCHEMAS(&nai_gpu_active_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(ACTIVE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) |
                      NAI_PART(NVTX_TREE),
             .tables = NAI_IN(GPUS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) |
                       NAI_IN(THREADS) | NAI_IN(NVTX) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(LABELS) | NAI_IN(UM_FAULTS) |
                       NAI_IN(PROCESSES) | NAI_IN(CONTEXTS) | NAI_IN(CUDA_DEVICES),
             .config = NAI_CONFIG(KERNEL_CLASSES), .cost = 2, .run = run)
