/* Reports that are tables of this program, of a run or of an export that is analyzed for them. */
#include "features/stats/stats.h"

#include "base/text.h"
#include "rundir/run.h"

static const struct {
  enum nai_stats_unit unit;
  const char *suffix; /* of a column's name; NULL: it stays */
} units[NAI_UNIT_COUNT] = {[NAI_NS] = {NAI_STATS_TIME, "_ns"},
                           [NAI_TIMESTAMP_NS] = {NAI_STATS_STAMP, "_ns"},
                           [NAI_BYTES] = {NAI_STATS_MEMORY, "_bytes"},
                           [NAI_PCT] = {NAI_STATS_PERCENT, NULL},
                           [NAI_GB_PER_S] = {NAI_STATS_RATE, "_gb_per_s"}};

/* The header says the unit: total_time_ns is "total_time (ns)". */
static const char *name_column(const struct nai_column_def *column, struct nai_arena *arena) {
  const char *suffix = units[column->unit].suffix;
  size_t len = strlen(column->name), behind = suffix ? strlen(suffix) : 0;
  bool says_unit = behind && len > behind && strcmp(column->name + len - behind, suffix) == 0;
  return nai_arena_printf(arena, "%.*s", (int)(says_unit ? len - behind : len), column->name);
}

/* Somebody else may have made the run. */
static const char *clean(struct nai_stats_rows *rows, const char *text) {
  nai_buf_clear(&rows->scratch);
  nai_text_clean(&rows->scratch, text, strlen(text));
  return nai_buf_str(&rows->scratch);
}

static void fill_number(void *record, const struct nai_stats_rows *rows, uint32_t row) {
  (void)rows;
  *(uint32_t *)record = row;
}

static void show_value(struct nai_stats_cell *out, struct nai_stats_rows *rows, const void *record, size_t column) {
  const uint32_t row = *(const uint32_t *)record;
  const struct nai_value value = nai_table_value(rows->table, row, (int)column);
  const enum nai_unit unit = rows->table->schema->columns[column].unit;
  if (value.null)
    *out = (struct nai_stats_cell){NAI_STATS_MISSING};
  else if (value.type == NAI_STR)
    nai_stats_put_text(out, clean(rows, value.s));
  else if (value.type != NAI_F64)
    nai_stats_put_int(out, value.i);
  else if (unit == NAI_GB_PER_S)
    nai_stats_put_real(out, value.f * 1e9);
  else
    nai_stats_put_real(out, nai_stats_round(value.f));
}

int nai_stats_make_table(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  struct nai_arena *arena = &rows->source->arena;
  struct nai_stats_column *columns = NULL;
  const struct nai_table *table = NULL;
  NAI_TRY(nai_run_table(&table, rows->run, options->table, NULL, err));
  const struct nai_schema *schema = table->schema;
  if (table->rows >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "table \"%s\" has more rows than a report can hold", schema->name);
  NAI_TRY(NAI_NEW(columns, arena, (size_t)schema->column_count + 1, err));
  for (uint32_t c = 0; c < schema->column_count; c++)
    columns[c] = (struct nai_stats_column){.name = name_column(&schema->columns[c], arena),
                                           .unit = units[schema->columns[c].unit].unit,
                                           .at = c,
                                           .cell = show_value};
  rows->note =
      nai_arena_printf(arena, "the report is table %s of nsys-ai analyze: %s", schema->name, schema->description);
  rows->columns = columns;
  rows->table = table;
  rows->fill = fill_number;
  rows->count = (uint32_t)table->rows;
  rows->absent = rows->count == 0;
  return nai_arena_check(arena, err);
}
