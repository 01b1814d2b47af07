/* Which operating-system calls take host time? Table osrt_calls. */
#include "analyses/analysis.h"

#include <stdlib.h>

enum { NAME, COUNT, TOTAL, AVG, P50, P90, MAX };
static const struct nai_column_def columns[] = {
    [NAME] = {"function", NAI_STR, NAI_TEXT, "operating-system runtime function", NULL},
    [COUNT] = {"call_count", NAI_I64, NAI_COUNT, "outermost calls", NULL},
    [TOTAL] = {"total_time_ms", NAI_I64, NAI_MS, "summed durations over all threads", NULL},
    [AVG] = {"avg_duration_us", NAI_F64, NAI_US, "mean duration", NULL},
    [P50] = {"p50_duration_us", NAI_F64, NAI_US, "median duration", NULL},
    [P90] = {"p90_duration_us", NAI_F64, NAI_US, "90th percentile of durations", NULL},
    [MAX] = {"max_duration_us", NAI_I64, NAI_US, "longest duration", NULL},
};
static const struct nai_schema schema =
    NAI_SCHEMA("osrt_calls", "OS runtime calls", "One operating-system function", columns);

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_table *const *tables = io->out;
  const struct nai_model *m = io->model;
  const struct nai_table *t = m->tables[NAI_IN_OSRT];
  uint32_t names = t->strings.count;
  struct nai_durations durations = {nai_table_column(t, OS_NAME), nai_table_column(t, OS_START),
                                    nai_table_column(t, OS_END)};
  struct nai_values values = {(uint32_t)t->rows, nai_duration_block, &durations};
  struct nai_stats *stats = calloc((size_t)names + 1, sizeof *stats);
  int rc = stats ? nai_group_stats(stats, names, &values, err) : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < names; i++) {
    static const struct nai_stats_columns to = {COUNT, TOTAL, AVG, -1, MAX, P50, P90, -1, -1};
    if (!stats[i].count)
      continue;
    int64_t row = nai_table_add_row(tables[0]);
    nai_put_stats(tables[0], row, &to, &stats[i]);
    nai_set_str(tables[0], row, NAME, nai_strings_get(&t->strings, i));
  }
  free(stats);
  static const struct nai_sort_by order[] = {{TOTAL, true}, {NAME, false}};
  return rc ? rc : nai_table_sort(tables[0], order, 2, err);
}

static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_osrt = {.name = "osrt", .outputs = schemas, .tables = NAI_IN(OSRT), .run = run};
