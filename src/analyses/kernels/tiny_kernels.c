/* Which kernels take 5 us or less? Table tiny_kernels. */
#include "analyses/kernels/tiny_kernels.h"

#include "analyses/analysis.h"
#include "table/columns.h"
#include "table/kernel_name.h"

#include <stdlib.h>

enum { NAME, DEVICE, CALLS, TOTAL, AVG, PCT, SHORT };
static const struct nai_column_def columns[] = {
    [NAME] = NAI_KERNEL_NAME_COLUMN("kernel_name", "demangled kernel name", .key = true),
    [DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [CALLS] = NAI_COUNT_COLUMN("call_count", "executions of 5 us or less", .better = NAI_BETTER_LOWER, .sum = true),
    [TOTAL] = NAI_TIME_COLUMN("total_time_ns", "their summed durations", .better = NAI_BETTER_LOWER, .sum = true),
    [AVG] = NAI_AVERAGE_COLUMN("avg_duration_ns", "their mean duration"),
    [PCT] = NAI_PCT_COLUMN("pct_of_device_kernels", "of all kernel executions on this GPU", .better = NAI_BETTER_LOWER),
    [SHORT] = NAI_LABEL_COLUMN("short_name", "name for people"),
};
const struct nai_schema nai_tiny_kernels_schema =
    NAI_SCHEMA("tiny_kernels", "Tiny kernels", "Executions of 5 us or less, by kernel name and GPU", columns);

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
  nai_set_str(table, row, NAME, text);
  nai_set_str(table, row, SHORT, nai_buf_str(&brief));
  nai_set_i64(table, row, DEVICE, m->gpus[gpu].device_id);
  nai_set_i64(table, row, CALLS, tiny->calls);
  nai_set_i64(table, row, TOTAL, tiny->total_ns);
  nai_set_f64(table, row, AVG, (double)tiny->total_ns / (double)tiny->calls);
  nai_set_f64(table, row, PCT, nai_percent((double)tiny->calls, (double)device_calls));
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
  static const struct nai_sort_by order[] = {{CALLS, true}, {NAME, false}, {DEVICE, false}};
  return rc ? rc : nai_table_sort(table, order, 3, err);
}
