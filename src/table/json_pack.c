/* Long tables in the page: columns instead of rows, so that a table of idle gaps takes a fraction of the room. */
#include "table/json.h"

/* Decimals that a unit shows of stored ns. */
static int digits_of(enum nai_unit unit) { return unit == NAI_US ? 3 : unit == NAI_MS ? 6 : unit == NAI_S ? 9 : 0; }

/* JavaScript adds doubles: sums stay exact below 2^53. */
static bool adds_up(const struct nai_column *column, int64_t rows) {
  const int64_t limit = (int64_t)1 << 52;
  return nai_column_within(column, rows, 1 - limit, limit - 1);
}

/* Each number less the one before it; null leaves that one as it is. */
static void put_differences(struct nai_json *json, const struct nai_column *column, int64_t rows) {
  int64_t last = 0;
  nai_json_put_array(json, "differences", NAI_JSON_INLINE);
  for (int64_t row = 0; row < rows; row++) {
    int64_t value = nai_at(column, (uint64_t)row);
    if (value == column->null_value) {
      nai_json_text(json, NULL);
      continue;
    }
    nai_json_int(json, (int64_t)((uint64_t)value - (uint64_t)last));
    last = value;
  }
  nai_json_end(json);
}

/* Distinct texts in the order they come up, and which of them each row has. */
static bool put_texts(struct nai_json *json, const struct nai_table *table, int column, int64_t rows) {
  NAI_FREED uint32_t *number = calloc((size_t)table->strings.count + 1, sizeof *number); /* string id -> number + 1 */
  const struct nai_column ids = nai_table_column(table, column);
  uint32_t count = 0;
  if (!number)
    return false;
  nai_json_put_array(json, "texts", NAI_JSON_INLINE);
  for (int64_t row = 0; row < rows; row++) {
    uint32_t id = nai_at_text(&ids, (uint64_t)row);
    if (id == NAI_NO_STRING || number[id])
      continue;
    number[id] = ++count;
    nai_json_text(json, nai_get_str(table, row, column));
  }
  nai_json_end(json);
  nai_json_put_array(json, "rows", NAI_JSON_INLINE);
  for (int64_t row = 0; row < rows; row++) {
    uint32_t id = nai_at_text(&ids, (uint64_t)row);
    if (id == NAI_NO_STRING)
      nai_json_text(json, NULL);
    else
      nai_json_int(json, (int64_t)number[id] - 1);
  }
  nai_json_end(json);
  return true;
}

static void put_values(struct nai_json *json, const struct nai_table *table, const struct nai_display_column *p,
                       int64_t rows) {
  nai_json_put_array(json, "values", NAI_JSON_INLINE);
  for (int64_t row = 0; row < rows; row++) {
    struct nai_value value = nai_table_value(table, row, p->column);
    nai_json_value(json, p->unit, &value);
  }
  nai_json_end(json);
}

static void put_packed_column(struct nai_json *json, const struct nai_table *table, const struct nai_display_column *p,
                              int64_t rows) {
  enum nai_type type = table->schema->columns[p->column].type;
  nai_json_begin_object(json, NAI_JSON_INLINE);
  if (type == NAI_STR && !put_texts(json, table, p->column, rows))
    json->out->oom = true;
  struct nai_column column;
  if (type == NAI_I64 || type == NAI_I32)
    column = nai_table_column(table, p->column);
  bool integers = (type == NAI_I64 || type == NAI_I32) && adds_up(&column, rows);
  if (type != NAI_STR && !integers)
    put_values(json, table, p, rows);
  if (integers) {
    if (digits_of(p->unit))
      nai_json_put_int(json, "digits", digits_of(p->unit));
    put_differences(json, &column, rows);
  }
  nai_json_end(json);
}

void nai_json_table_packed(struct nai_json *json, const struct nai_table *table, int64_t most) {
  int64_t rows = table->rows < most ? table->rows : most;
  nai_json_begin_object(json, NAI_JSON_LINES);
  nai_json_table_head(json, table, most);
  nai_json_put_array(json, "packed", NAI_JSON_LINES);
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN;
       nai_display_column_next(&p, table->schema) && !nai_buf_failed(json->out);)
    put_packed_column(json, table, &p, rows);
  nai_json_end(json);
  nai_json_end(json);
}
