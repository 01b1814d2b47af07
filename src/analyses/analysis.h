/* An analysis answers one question: a pure function from the model to tables. Adding one = a file here and a line in
 * registry.c; its schemas drive every output (docs/adding-an-analysis.md). */
#ifndef NAI_ANALYSES_ANALYSIS_H
#define NAI_ANALYSES_ANALYSIS_H

#include "derive/model.h"
#include "table/stats.h"
#include "table/table.h"

enum { NAI_ANALYSIS_MAX_TABLES = 6 };

struct nai_analysis {
  const char *name;
  const struct nai_schema *const *schemas; /* of its tables, ends with NULL */
  /* Fills tables[i], which are empty tables of schemas[i]. May run beside other analyses; reads the model only. */
  int (*run)(struct nai_table *const *tables, const struct nai_model *model, struct nai_err *err);
  int cost; /* rough share of the run time on a large trace: the costly ones start first; 0 for the rest */
};

extern const struct nai_analysis *const nai_analyses[]; /* ends with NULL */

/* Shares and places every analysis needs. */

/* Sets `*_ns`-stored columns from statistics; a column number of -1 is left out. */
struct nai_stats_columns {
  int count, total, mean, min, max, p50, p90, p99, stddev;
};
void nai_put_stats(struct nai_table *table, int64_t row, const struct nai_stats_columns *to,
                   const struct nai_stats *stats);
/* Sum of all kernel durations over all devices, ns: the base of pct_total_kernel_time. */
int64_t nai_total_kernel_ns(const struct nai_model *model);
/* Rounds a real number of ns to the integer the table stores. */
int64_t nai_round_ns(double ns);

#endif
