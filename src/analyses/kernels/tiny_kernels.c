/* Which kernels take 5 us or less? Table tiny_kernels. */
#include "analyses/analysis.h"
#include "table/kernel_name.h"
#include "tables/tiny_kernels.h"

enum { TINY_NS = 5000 };

/* Tiny executions on one GPU. */
struct tiny {
  const struct nai_model *m;
  struct tiny_sum {
    int64_t calls, total_ns;
  } * sums;       /* per kernel name, zero between GPUs */
  uint32_t *seen; /* names that occur */
};

static void put_row(struct nai_table *out, const struct tiny *t, const struct nai_gpu *gpu, uint32_t name,
                    int64_t device_calls) {
  const char *text = nai_strings_get(&t->m->tables[NAI_IN_KERNELS]->strings, name);
  const struct tiny_sum *sum = &t->sums[name];
  NAI_SCOPED(nai_buf) brief = {0};
  nai_kernel_name_short(&brief, text, NAI_SHORT_NAME);
  NAI_ADD(TINY_KERNELS, out, .kernel_name = text, .short_name = nai_buf_str(&brief), .device_id = gpu->device_id,
          .call_count = sum->calls, .total_time_ns = sum->total_ns,
          .avg_duration_ns = (double)sum->total_ns / (double)sum->calls,
          .pct_of_device_kernels = nai_percent((double)sum->calls, (double)device_calls));
  out->oom |= brief.oom;
}

static void put_gpu(struct nai_table *out, struct tiny *t, const struct nai_gpu *gpu) {
  uint32_t count = 0;
  int64_t device_calls = 0;
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    uint32_t kernel = gpu->ops[i].row;
    if (gpu->ops[i].type != NAI_OP_KERNEL)
      continue;
    device_calls++;
    if (nai_kernel_ns(t->m, kernel) > TINY_NS)
      continue;
    uint32_t name = nai_val_text(&t->m->kernels.name, kernel);
    if (!t->sums[name].calls++)
      t->seen[count++] = name;
    t->sums[name].total_ns += nai_kernel_ns(t->m, kernel);
  }
  for (uint32_t i = 0; i < count; i++) {
    put_row(out, t, gpu, t->seen[i], device_calls);
    t->sums[t->seen[i]] = (struct tiny_sum){0};
  }
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct tiny t = {.m = io->model};
  uint32_t names = t.m->tables[NAI_IN_KERNELS]->strings.count;
  NAI_TRY(NAI_NEW(t.sums, io->arena, names, err));
  NAI_TRY(NAI_NEW(t.seen, io->arena, names, err));
  for (uint32_t g = 0; g < t.m->gpu_count; g++)
    put_gpu(io->out[0], &t, &t.m->gpus[g]);
  return NAI_OK;
}

NAI_ANALYSIS(tiny_kernels, .outputs = NAI_SCHEMAS(&nai_tiny_kernels_schema), .parts = NAI_PART(GPUS),
             .tables = NAI_IN(KERNELS) | NAI_IN(GPUS), .run = run)
