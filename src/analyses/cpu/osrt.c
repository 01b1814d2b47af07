/* Which operating-system calls take host time? Table osrt_calls. */
#include "analyses/analysis.h"
#include "tables/osrt_calls.h"
#include "tables/osrt_events.h"

#include <stdlib.h>

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

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_table *const *tables = io->out;
  const struct nai_model *m = io->model;
  const struct nai_table *t = m->tables[NAI_IN_OSRT];
  uint32_t names = t->strings.count;
  struct outermost calls = {{nai_table_column(t, OSRT_EVENTS_name), nai_table_column(t, OSRT_EVENTS_start_ns),
                             nai_table_column(t, OSRT_EVENTS_end_ns)},
                            nai_table_column(t, OSRT_EVENTS_nesting_level)};
  struct nai_values values = {(uint32_t)t->rows, outermost_block, &calls};
  struct nai_stats *stats = calloc((size_t)names + 1, sizeof *stats);
  int rc = stats ? nai_group_stats(stats, names, &values, err) : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < names; i++) {
    static const struct nai_stats_columns to = {OSRT_CALLS_call_count,
                                                OSRT_CALLS_total_time_ns,
                                                OSRT_CALLS_avg_duration_ns,
                                                -1,
                                                OSRT_CALLS_max_duration_ns,
                                                OSRT_CALLS_p50_duration_ns,
                                                OSRT_CALLS_p90_duration_ns,
                                                -1,
                                                -1};
    if (!stats[i].count)
      continue;
    int64_t row = nai_table_add_row(tables[0]);
    nai_put_stats(tables[0], row, &to, &stats[i]);
    nai_set_str(tables[0], row, OSRT_CALLS_function, nai_strings_get(&t->strings, i));
  }
  free(stats);
  static const struct nai_sort_by order[] = {{OSRT_CALLS_total_time_ns, true}, {OSRT_CALLS_function, false}};
  return rc ? rc : nai_table_sort(tables[0], order, 2, err);
}

static const struct nai_schema *const schemas[] = {&nai_osrt_calls_schema, NULL};
const struct nai_node nai_analysis_osrt = {.name = "osrt", .outputs = schemas, .tables = NAI_IN(OSRT), .run = run};
