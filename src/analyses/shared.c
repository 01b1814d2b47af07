/* What several analyses write into their tables. */
#include "analyses/analysis.h"

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
