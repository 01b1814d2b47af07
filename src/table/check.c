/* What a table from a file has to hold for loops to run over it unchecked. Checksums tell damage; these tell a file
 * that somebody made. */
#include "table/table.h"

/* As src/trace drops rows beyond: 73 years, and 13 days for one event. */
#define TIME_LIMIT ((int64_t)1 << 61)
#define DURATION_LIMIT ((int64_t)1 << 50)

static int fail(const struct nai_table *table, int column, int64_t row, const char *what, struct nai_err *err) {
  return nai_err_set(err, NAI_ESTALE, "table \"%s\", row %" PRId64 ": %s %s", table->schema->name, row,
                     table->schema->columns[column].name, what);
}

static int check_filled(const struct nai_table *table, int column, struct nai_err *err) {
  struct nai_column c = nai_table_column(table, column);
  bool text = table->schema->columns[column].type == NAI_STR; /* whose NULL is another number in a plain array */
  for (int64_t row = 0; row < table->rows; row++)
    if (text ? nai_at_text(&c, (uint64_t)row) == NAI_NO_STRING : nai_at(&c, (uint64_t)row) == c.null_value)
      return fail(table, column, row, "is NULL", err);
  return NAI_OK;
}

static int check_durations(const struct nai_table *table, int start_column, int end_column, struct nai_err *err) {
  struct nai_column start = nai_table_column(table, start_column), end = nai_table_column(table, end_column);
  int64_t total = 0;
  for (int64_t row = 0; row < table->rows; row++) {
    int64_t a = nai_at(&start, (uint64_t)row), b = nai_at(&end, (uint64_t)row);
    if (b < a || b - a > DURATION_LIMIT)
      return fail(table, end_column, row, "is no end of what begins there", err);
    if (total > INT64_MAX / 2 - (b - a))
      return fail(table, end_column, row, "makes the sum of durations too long", err);
    total += b - a;
  }
  return NAI_OK;
}

/* Sizes and counts of events, which are summed up. */
static int check_sizes(const struct nai_table *table, int column, struct nai_err *err) {
  struct nai_column c = nai_table_column(table, column);
  int64_t total = 0;
  for (int64_t row = 0; row < table->rows; row++) {
    int64_t size = nai_at(&c, (uint64_t)row);
    if (size == c.null_value)
      continue;
    if (size < 0)
      return fail(table, column, row, "is negative", err);
    if (total > INT64_MAX / 2 - size)
      return fail(table, column, row, "makes the sum too large", err);
    total += size;
  }
  return NAI_OK;
}

static int check_column(const struct nai_table *table, int column, struct nai_err *err) {
  const struct nai_column_def *def = &table->schema->columns[column];
  struct nai_column c = nai_table_column(table, column);
  bool time = def->role == NAI_ROLE_START || def->role == NAI_ROLE_END;
  if (def->filled)
    NAI_TRY(check_filled(table, column, err));
  if (def->values && !nai_column_within(&c, table->rows, 0, def->values - 1))
    return fail(table, column, 0, "or one behind it is none of its values", err);
  if (def->filled && time && !nai_column_within(&c, table->rows, -TIME_LIMIT, TIME_LIMIT))
    return fail(table, column, 0, "or one behind it is no time of a capture", err);
  return NAI_OK;
}

int nai_table_check_cells(const struct nai_table *table, struct nai_err *err) {
  const struct nai_schema *schema = table->schema;
  int start, end;
  for (int c = 0; c < (int)schema->column_count; c++)
    if (schema->columns[c].filled || schema->columns[c].values)
      NAI_TRY(check_column(table, c, err));
  int when = nai_schema_role(schema, NAI_ROLE_START);
  if (when < 0 || !schema->columns[when].filled)
    return NAI_OK; /* no events */
  for (int c = 0; c < (int)schema->column_count; c++)
    if (schema->columns[c].sum && schema->columns[c].type != NAI_F64)
      NAI_TRY(check_sizes(table, c, err));
  bool last = nai_schema_place(&start, &end, schema) && schema->columns[end].filled;
  return last ? check_durations(table, start, end, err) : NAI_OK;
}
