#include "analyses/analysis.h"

#include <math.h>

extern const struct nai_analysis nai_analysis_kernels, nai_analysis_utilization, nai_analysis_idle_gaps,
    nai_analysis_launches, nai_analysis_sync, nai_analysis_nvtx, nai_analysis_nvtx_tree, nai_analysis_processes,
    nai_analysis_memory, nai_analysis_osrt, nai_analysis_quality;

/* Their tables appear in reports in this order. */
const struct nai_analysis *const nai_analyses[] = {
    &nai_analysis_nvtx,      &nai_analysis_kernels, &nai_analysis_idle_gaps, &nai_analysis_launches,
    &nai_analysis_nvtx_tree, &nai_analysis_sync,    &nai_analysis_processes, &nai_analysis_utilization,
    &nai_analysis_memory,    &nai_analysis_osrt,    &nai_analysis_quality,   NULL,
};

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

int64_t nai_round_ns(double ns) { return isfinite(ns) ? (int64_t)llround(ns) : NAI_NULL_I64; }
