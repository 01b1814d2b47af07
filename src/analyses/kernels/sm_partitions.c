/* Which parts of a GPU's SMs were kernels confined to, and how busy were these? Table sm_partitions. */
#include "analyses/analysis.h"
#include "base/buf.h"
#include "model/kernels/partitions.h"
#include "tables/sm_partitions.h"

/* What ran in one partition. */
struct use {
  int64_t count, ns;
  struct nai_intervals busy;
};

static int sum_up(struct use *uses, const struct nai_partitions *p, const struct nai_gpu *gpu, struct nai_arena *arena,
                  struct nai_err *err) {
  bool oom = false;
  for (uint32_t i = 0; i < p->count; i++)
    uses[i] = (struct use){.busy = {.arena = arena}};
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    if (op->type != NAI_OP_KERNEL)
      continue;
    struct use *use = &uses[nai_partition_of(p, op->row, gpu->device_id)];
    use->count++;
    use->ns += op->end - op->start;
    nai_intervals_add(&use->busy, op->start, op->end);
    oom |= use->busy.oom;
  }
  return oom ? nai_err_nomem(err) : NAI_OK;
}

/* "5, 6": what else may run on its SMs. NULL for nothing. */
static const char *overlaps(const struct nai_partitions *p, const struct use *uses, uint32_t number,
                            struct nai_arena *arena) {
  NAI_SCOPED(nai_buf) text = {0};
  for (uint32_t i = 1; i < p->count; i++)
    if (i != number && uses[i].count && p->v[i].green != NAI_NULL_I64 && nai_partitions_overlap(p, number, i))
      nai_buf_printf(&text, "%s%" PRId64, text.len ? ", " : "", p->v[i].green);
  return text.len && !text.oom ? nai_arena_printf(arena, "%s", nai_buf_str(&text)) : NULL;
}

static void put(const struct nai_node_io *io, const struct nai_partitions *p, struct use *uses, uint32_t number,
                uint32_t gpu) {
  const struct nai_partition *partition = &p->v[number];
  int64_t all = nai_get_i64(io->model->tables[NAI_IN_GPUS], gpu, GPUS_sm_count);
  NAI_ADD(SM_PARTITIONS, io->out[0], .device_id = nai_model_device(io->model, gpu),
          .pid = nai_model_pid(io->model, partition->process), .green_context = partition->green,
          .parent_context = partition->parent, .sm_count = partition->sm_count ? partition->sm_count : NAI_NULL_I64,
          .sm_pct_of_gpu = partition->sm_count && all > 0 ? nai_percent((double)partition->sm_count, (double)all) : NAN,
          .overlaps = overlaps(p, uses, number, io->arena), .kernel_count = uses[number].count,
          .kernel_time_ns = uses[number].ns, .busy_ns = nai_intervals_total_ns(&uses[number].busy));
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_partitions p;
  struct use *uses;
  NAI_TRY(nai_partitions_new(&p, io->model, io->arena, err));
  NAI_TRY(NAI_NEW(uses, io->arena, p.count, err));
  for (uint32_t gpu = 0; nai_partitions_any(&p) && gpu < io->model->gpu_count; gpu++) {
    NAI_TRY(sum_up(uses, &p, &io->model->gpus[gpu], io->arena, err));
    for (uint32_t i = 1; i < p.count; i++)
      if (uses[i].count)
        put(io, &p, uses, i, gpu);
  }
  return nai_arena_check(io->arena, err);
}

NAI_ANALYSIS(sm_partitions, .outputs = NAI_SCHEMAS(&nai_sm_partitions_schema), .parts = NAI_PART(GPUS),
             .tables = NAI_IN(KERNELS) | NAI_IN(GPUS) | NAI_IN(PROCESSES) | NAI_IN(CONTEXTS) | NAI_IN(CUDA_DEVICES),
             .run = run)
