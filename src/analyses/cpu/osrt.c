/* Which operating-system calls take host time? Table osrt_calls. */
#include "analyses/analysis.h"
#include "tables/osrt_calls.h"
#include "tables/osrt_events.h"

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
  const struct nai_strings *names = &io->model->tables[NAI_IN_OSRT]->strings;
  struct OSRT_EVENTS_columns c = OSRT_EVENTS_columns_of(io->model->tables[NAI_IN_OSRT]);
  struct outermost calls = {{c.name, c.start_ns, c.end_ns}, c.nesting_level};
  struct nai_stats *stats;
  NAI_TRY(NAI_NEW(stats, io->arena, names->count, err));
  NAI_TRY(nai_group_stats(stats, names->count,
                          &(struct nai_values){c.n, outermost_block, &calls, io->model->scratch_dir}, err));
  for (uint32_t i = 0; i < names->count; i++)
    if (stats[i].count)
      NAI_ADD(OSRT_CALLS, io->out[0], .function = nai_strings_get(names, i), .call_count = stats[i].count,
              .total_time_ns = stats[i].total, .avg_duration_ns = stats[i].mean, .max_duration_ns = stats[i].max,
              .p50_duration_ns = stats[i].p50, .p90_duration_ns = stats[i].p90);
  return NAI_OK;
}

NAI_ANALYSIS(osrt, .outputs = NAI_SCHEMAS(&nai_osrt_calls_schema), .tables = NAI_IN(OSRT), .run = run)
