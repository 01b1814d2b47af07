/* What several analyses write into their tables. */
#include "analyses/analysis.h"
#include "tables/threads.h"

void nai_put_stats(struct nai_table *table, int64_t row, const struct nai_stats_columns *to,
                   const struct nai_stats *s) {
  const struct {
    int column;
    int64_t value;
  } integers[] = {{to->count, s->count}, {to->total, s->total}, {to->min, s->min}, {to->max, s->max}};
  for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
    if (integers[i].column >= 0)
      nai_set_i64(table, row, integers[i].column, integers[i].value);
  const struct {
    int column;
    double value;
  } reals[] = {{to->mean, s->mean}, {to->p50, s->p50}, {to->p90, s->p90}, {to->p99, s->p99}, {to->stddev, s->stddev}};
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
    if (reals[i].column >= 0)
      nai_set_f64(table, row, reals[i].column, reals[i].value);
}

int64_t nai_total_kernel_ns(const struct nai_model *model) {
  int64_t total = 0;
  for (uint32_t i = 0; i < model->kernels.n; i++)
    total += nai_kernel_ns(model, i);
  return total;
}

void nai_put_range_place(struct nai_table *table, int64_t row, const struct nai_place_columns *to,
                         const struct nai_model *m, uint32_t range) {
  if (range == NAI_NO_ROW)
    return;
  int32_t thread = nai_at_i32(&m->nvtx.thread, range);
  nai_set_i64(table, row, to->start, nai_at(&m->nvtx.start_ns, range));
  nai_set_i64(table, row, to->end, nai_at(&m->nvtx.end_ns, range));
  nai_set_i64(table, row, to->pid, nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_pid));
  nai_set_i64(table, row, to->tid, nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_tid));
}
