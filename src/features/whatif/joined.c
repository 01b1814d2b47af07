#include "features/whatif/joined.h"

#include "base/sort.h"
#include "base/temporary.h"
#include "base/threads.h"
#include "command/command.h"
#include "features/ranks/timeline.h"
#include "tables/gpus.h"

struct joining {
  struct nai_joined *out;
  uint64_t tables;
  struct nai_export_place clock;
  int64_t first[NAI_IN_COUNT]; /* row that the trace's first one becomes */
  int64_t devices;             /* added to its GPUs' numbers, */
  int64_t export_rows;         /* and to those of rows of its export, which payloads are found by, */
  int64_t threads;             /* and to serialized threads: those of containers may have the same */
};

/* The table whose rows a column refers to, NAI_IN_COUNT for none. */
static int table_of(const struct nai_column_def *column) {
  int t = column->refers ? 0 : NAI_IN_COUNT;
  while (t < NAI_IN_COUNT && strcmp(nai_event_tables[t]->name, column->refers) != 0)
    t++;
  return t;
}

/* Rowids may lie near the limits of 64 bits. */
static int64_t move(int64_t row, int64_t by) { return (int64_t)((uint64_t)row + (uint64_t)by); }

static int64_t number_on(const struct joining *j, int table, const struct nai_column_def *column, int64_t value) {
  int rows_of = table_of(column);
  if (column->unit == NAI_TIMESTAMP_NS)
    return nai_export_place_time(&j->clock, value);
  if (strcmp(column->name, "export_row") == 0)
    return move(value, j->export_rows);
  if (strcmp(column->name, "global_tid") == 0)
    return move(value, j->threads);
  if (strcmp(column->name, "export_row_offset") == 0)
    return move(value, j->export_rows - j->first[table]);
  if (value < 0)
    return value;
  return value + (column->role == NAI_ROLE_DEVICE ? j->devices : rows_of < NAI_IN_COUNT ? j->first[rows_of] : 0);
}

static void add_rows(const struct joining *j, int table, const struct nai_table *from) {
  struct nai_table *to = j->out->tables[table];
  for (int64_t i = 0; i < from->rows; i++) {
    int64_t row = nai_table_add_row(to);
    for (int c = 0; c < (int)to->schema->column_count; c++) {
      const struct nai_column_def *column = &to->schema->columns[c];
      struct nai_value v = nai_table_value(from, i, c);
      if (v.null)
        continue;
      if (column->type == NAI_STR)
        nai_set_str(to, row, c, v.s);
      else if (column->type == NAI_F64)
        nai_set_f64(to, row, c, v.f);
      else
        nai_set_i64(to, row, c, number_on(j, table, column, v.i));
    }
  }
}

/* GPUs are in order of their numbers. */
static int64_t shift_devices(const struct nai_table *all, const struct nai_table *gpus) {
  int64_t last = all->rows ? nai_get_i64(all, all->rows - 1, GPUS_device_id) : -1;
  int64_t first = gpus->rows ? nai_get_i64(gpus, 0, GPUS_device_id) : INT64_MAX;
  return first > last ? 0 : last + 1 - first;
}

static int add_trace(struct joining *j, struct nai_run *run, struct nai_err *err) {
  NAI_TRY(nai_run_open_events(run, j->tables, err));
  j->devices = shift_devices(j->out->tables[NAI_IN_GPUS], nai_run_find_loaded(run, nai_gpus_schema.name));
  for (int t = 0; t < NAI_IN_COUNT; t++)
    j->first[t] = j->out->tables[t] ? j->out->tables[t]->rows : 0;
  for (int t = 0; t < NAI_IN_COUNT; t++) {
    const struct nai_table *from = nai_run_find_loaded(run, nai_event_tables[t]->name);
    if (!j->out->tables[t] || !from)
      continue;
    add_rows(j, t, from);
    NAI_TRY(nai_table_check(j->out->tables[t], err));
  }
  j->export_rows += INT64_C(1) << 40;
  j->threads =
      move(j->threads, INT64_C(0x1e3779b97f4a7c15)); /* far from any sum or difference of what they are made of */
  return NAI_OK;
}

/* --- clocks ----------------------------------------------------------------------------------- */

/* What a collective mostly takes once all ranks are there. */
static int usual_transfer(int64_t *out, const struct nai_ranks *r, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  int64_t *all;
  size_t count = 0;
  NAI_TRY(NAI_NEW(all, &arena, (size_t)r->collectives, err));
  for (const struct nai_rank_group *group = r->groups; group < r->groups + r->group_count; group++)
    for (uint32_t k = 0; k < group->collectives && count < (size_t)r->collectives; k++)
      all[count++] = group->transfer[k];
  *out = count ? nai_median_i64(all, count) : 0;
  return NAI_OK;
}

static int join_tables(struct nai_joined *out, uint64_t tables, struct nai_err *err) {
  enum { MOST_TRANSFERS = 3 };
  struct joining j = {.out = out, .tables = tables};
  int64_t transfer;
  NAI_TRY(usual_transfer(&transfer, &out->ranks, err));
  for (int t = 0; t < NAI_IN_COUNT; t++) {
    if (!(tables & NAI_IN_BIT(t)))
      continue;
    NAI_TRY(nai_table_new(&out->tables[t], nai_event_tables[t], err));
    nai_table_keep_in(out->tables[t], nai_temporary_place());
  }
  for (uint32_t s = 0; s < out->ranks.source_count && !out->refused; s++) {
    if (!nai_ranks_place(&j.clock, &out->ranks, s))
      out->refused = "a trace has no collective in common with the others that tells its clock";
    out->doubt_ns = j.clock.doubt > out->doubt_ns ? j.clock.doubt : out->doubt_ns;
    if (out->doubt_ns > MOST_TRANSFERS * transfer)
      out->refused = "the clocks of the traces are in doubt by more than three times what a collective transfers in";
    if (!out->refused)
      NAI_TRY(add_trace(&j, out->ranks.sources[s].run, err));
  }
  return NAI_OK;
}

int nai_join(struct nai_joined *out, const char *const *sources, size_t count, uint32_t parts, bool quiet,
             struct nai_err *err) {
  enum { CLOCK_DOUBT_NS = 10 * 1000 * 1000 }; /* as ranks has it */
  for (size_t i = 0; i < count; i++) {
    struct nai_run *run;
    NAI_TRY(nai_cmd_source_open(&run, sources[i], &(struct nai_cmd_source){.quiet = quiet}, err));
    NAI_TRY(nai_ranks_add(&out->ranks, run, sources[i], err));
  }
  NAI_TRY(nai_ranks_compare(&out->ranks, &(struct nai_ranks_options){.clock_doubt_ns = CLOCK_DOUBT_NS}, err));
  NAI_TRY(join_tables(out, nai_parts_tables(nai_parts_needed(parts)) | NAI_IN(GPUS) | NAI_IN(LABELS), err));
  nai_model_open(&out->model, out->tables,
                 &(struct nai_model_options){.classes = out->ranks.classes,
                                             .worker_count = nai_cpu_count(),
                                             .map_nvtx = true,
                                             .scratch_dir = nai_temporary_place()});
  return out->refused ? NAI_OK : nai_model_build(&out->model, parts, err);
}

void nai_joined_free(struct nai_joined *out) {
  nai_model_free(&out->model);
  for (int t = 0; t < NAI_IN_COUNT; t++)
    nai_table_free(out->tables[t]);
  nai_ranks_free(&out->ranks);
}
