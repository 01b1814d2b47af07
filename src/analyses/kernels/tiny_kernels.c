/* Which kernels take 5 us or less? Table tiny_kernels. */
#include "analyses/kernels/tiny_kernels.h"

#include "analyses/analysis.h"
#include "table/kernel_name.h"
#include "tables/tiny_kernels.h"

#include <stdlib.h>

enum { TINY_NS = 5000 };

/* Tiny executions of one kernel name on one GPU. */
struct tiny {
  int64_t calls, total_ns;
};

static void put_row(struct nai_table *table, const struct nai_model *m, uint32_t gpu, uint32_t name,
                    const struct tiny *tiny, int64_t device_calls) {
  const char *text = nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, name);
  struct nai_buf brief = {0};
  nai_kernel_name_short(&brief, text, 72);
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, TINY_KERNELS_kernel_name, text);
  nai_set_str(table, row, TINY_KERNELS_short_name, nai_buf_str(&brief));
  nai_set_i64(table, row, TINY_KERNELS_device_id, m->gpus[gpu].device_id);
  nai_set_i64(table, row, TINY_KERNELS_call_count, tiny->calls);
  nai_set_i64(table, row, TINY_KERNELS_total_time_ns, tiny->total_ns);
  nai_set_f64(table, row, TINY_KERNELS_avg_duration_ns, (double)tiny->total_ns / (double)tiny->calls);
  nai_set_f64(table, row, TINY_KERNELS_pct_of_device_kernels, nai_percent((double)tiny->calls, (double)device_calls));
  table->oom |= brief.oom;
  nai_buf_free(&brief);
}

int nai_tiny_kernels_put(struct nai_table *table, const struct nai_model *m, struct nai_err *err) {
  uint32_t names = m->tables[NAI_IN_KERNELS]->strings.count;
  struct tiny *sums = calloc((size_t)names + 1, sizeof *sums); /* of one GPU, zero between them */
  uint32_t *touched = malloc(((size_t)names + 1) * sizeof *touched);
  int rc = sums && touched ? NAI_OK : nai_err_nomem(err);
  for (uint32_t g = 0; !rc && g < m->gpu_count; g++) {
    const struct nai_gpu *gpu = &m->gpus[g];
    uint32_t count = 0;
    int64_t device_calls = 0;
    for (uint32_t i = 0; i < gpu->op_count; i++) {
      const struct nai_op *op = &gpu->ops[i];
      device_calls += op->type == NAI_OP_KERNEL;
      int64_t length = nai_model_op_end(m, op) - nai_model_op_start(m, op);
      if (op->type != NAI_OP_KERNEL || length > TINY_NS)
        continue;
      struct tiny *sum = &sums[nai_at_text(&m->kernels.name, op->row)];
      if (!sum->calls++)
        touched[count++] = nai_at_text(&m->kernels.name, op->row);
      sum->total_ns += length;
    }
    for (uint32_t i = 0; i < count; i++) {
      put_row(table, m, g, touched[i], &sums[touched[i]], device_calls);
      sums[touched[i]] = (struct tiny){0};
    }
  }
  free(sums);
  free(touched);
  return rc;
}
