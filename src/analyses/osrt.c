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

struct outermost {
  struct nai_durations durations;
  struct nai_column level;
};

/* Nested calls lie inside their caller's time. */
static void outermost_block(const void *calls, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct outermost *o = calls;
  nai_duration_block(&o->durations, first, count, group, value);
  for (uint32_t i = 0; i < count; i++)
    if (nai_at(&o->level, first + i) > 0)
      group[i] = NAI_NO_GROUP;
}

static int run(struct nai_table *const *tables, const struct nai_model *m, struct nai_err *err) {
  const struct nai_table *t = m->osrt_table;
  uint32_t names = t->strings.count;
  struct outermost calls = {{nai_table_column(t, OS_NAME), nai_table_column(t, OS_START), nai_table_column(t, OS_END)},
                            nai_table_column(t, OS_LEVEL)};
  struct nai_values values = {(uint32_t)t->rows, outermost_block, &calls};
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
const struct nai_analysis nai_analysis_osrt = {"osrt", schemas, run, 0};
