/* Tables as they are opened and filled: which columns SQL sees of them, and of which table they show the rows. */
#include "sql/internal.h"

#include "base/array.h"

static double divisor_of(const struct nai_column_def *def, enum nai_unit unit) {
  if (def->type > NAI_I32)
    return 1;
  return unit == NAI_US ? 1e3 : unit == NAI_MS ? 1e6 : unit == NAI_S ? 1e9 : 1;
}

static int add_column(struct nai_sql_table *t, uint32_t *capacity, struct nai_display_column print, bool former,
                      struct nai_err *err) {
  NAI_TRY(nai_memory_check(nai_array_room(&t->columns, capacity, (uint32_t)t->column_count, sizeof *t->columns), err));
  double divide = divisor_of(&t->table->schema->columns[print.column], print.unit);
  t->columns[t->column_count++] = (struct nai_sql_column){print, divide, former};
  return NAI_OK;
}

/* What outputs show of the table, then what is stored and not shown, then all that had another name before. */
static int list_columns(struct nai_sql_table *t, struct nai_err *err) {
  const struct nai_schema *schema = t->table->schema;
  uint32_t capacity = 0;
  t->column_count = 0;
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, schema);)
    NAI_TRY(add_column(t, &capacity, p, false, err));
  t->shown_count = t->column_count;
  for (int c = 0; c < (int)schema->column_count; c++) {
    const struct nai_column_def *def = &schema->columns[c];
    if (def->display_units && !(def->display_units & 1u << def->unit))
      NAI_TRY(add_column(t, &capacity, (struct nai_display_column){c, def->unit}, false, err));
  }
  for (int c = 0, count = t->column_count; c < count; c++)
    if (schema->columns[t->columns[c].print.column].was)
      NAI_TRY(add_column(t, &capacity, t->columns[c].print, true, err));
  return NAI_OK;
}

const char *nai_sql_column_name(char name[NAI_COLUMN_NAME_MAX], const struct nai_sql_table *t, int i) {
  const struct nai_sql_column *column = &t->columns[i];
  return column->former ? nai_display_column_former(name, t->table->schema, &column->print)
                        : nai_display_column_name(name, t->table->schema, &column->print);
}

int nai_sql_read(struct nai_sql_table *t, struct nai_err *err) {
  if (t->facts) /* made last */
    return NAI_OK;
  int rc = t->table ? NAI_OK : t->source->open(t, err);
  if (rc == NAI_ESTALE)
    rc = err->code = NAI_EINPUT;
  NAI_TRY(rc);
  NAI_TRY(list_columns(t, err));
  t->facts = calloc((size_t)t->table->schema->column_count + 1, sizeof *t->facts);
  return t->facts ? NAI_OK : nai_err_nomem(err);
}

int nai_sql_fill(struct nai_sql_table *t, int column, struct nai_err *err) {
  uint32_t part = t->source->parts ? t->source->parts[column] : 0;
  if ((t->built & part) == part)
    return NAI_OK;
  NAI_TRY(t->source->build(t, part, err));
  t->built |= part;
  return NAI_OK;
}

int nai_sql_show(struct nai_sql_table *t, const struct nai_table *table, struct nai_err *err) {
  NAI_TRY(nai_sql_read(t, err));
  nai_facts_clear(t);
  t->table = table ? table : t->own;
  return NAI_OK;
}
