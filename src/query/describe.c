/* What there is to ask: nai_tables and nai_columns, made from the descriptions in the schemas. */
#include "query/internal.h"

#include "tables/book.h"
#include "tables/sql_columns.h"
#include "tables/sql_tables.h"

static bool is_own(const struct nai_sql_table *t) {
  return t->source == &nai_derived_names || t->source == &nai_derived_columns;
}

/* Row of tables of the run: known without the model. */
static int put_table(struct nai_table *out, struct nai_sql_table *t, struct nai_err *err) {
  if (!nai_database_derives(t))
    NAI_TRY(nai_sql_read(t, err));
  const struct nai_schema *schema = nai_database_derives(t) ? t->source->schema : t->table->schema;
  const struct nai_schema *declared = nai_book_find(t->name);
  NAI_ADD(SQL_TABLES, out, .name = t->name, .kind = nai_database_derives(t) ? "derived" : "table",
          .rows = nai_database_derives(t) ? NAI_NULL_I64 : t->table->rows, .description = schema->description,
          .cannot_know = declared ? declared->cannot_know : NULL);
  return NAI_OK;
}

static int open_names(struct nai_sql_table *t, struct nai_err *err) {
  NAI_TRY(nai_derived_new(t, 0, err));
  for (uint32_t i = 0; i < t->sql->table_count; i++)
    if (!is_own(&t->sql->tables[i]))
      NAI_TRY(put_table(t->own, &t->sql->tables[i], err));
  for (int i = 0; nai_database_has_model(nai_database_of(t)->run) && nai_query_views[i][0]; i++)
    NAI_ADD(SQL_TABLES, t->own, .name = nai_query_views[i][0], .kind = "view", .description = nai_query_views[i][2]);
  return nai_table_check(t->own, err);
}

static void put_column(struct nai_table *out, const char *table, int position, const struct nai_schema *schema,
                       const struct nai_display_column *print, bool hidden) {
  const struct nai_column_def *def = &schema->columns[print->column];
  const char *type = nai_display_column_type(schema, print);
  char name[NAI_COLUMN_NAME_MAX];
  NAI_ADD(SQL_COLUMNS, out, .table_name = table, .position = position,
          .name = nai_display_column_name(name, schema, print),
          .type = *type == 't' ? "TEXT"
                : *type == 'i' ? "INTEGER"
                               : "REAL",
          .unit = nai_unit_name(print->unit), .description = def->description, .refers = def->refers, .hidden = hidden);
}

static void put_columns(struct nai_table *out, const char *table, const struct nai_schema *schema) {
  int position = 0;
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, schema);)
    put_column(out, table, position++, schema, &p, false);
  for (int c = 0; c < (int)schema->column_count; c++) {
    const struct nai_column_def *def = &schema->columns[c];
    if (def->display_units && !(def->display_units & 1u << def->unit))
      put_column(out, table, position++, schema, &(struct nai_display_column){c, def->unit}, true);
  }
}

/* Of a view: as its SELECT would return them. */
static int put_view(struct nai_table *out, const struct nai_database *db, int view, struct nai_err *err) {
  sqlite3_stmt *statement = NULL;
  char *sql = sqlite3_mprintf("SELECT * FROM %s", nai_query_views[view][0]);
  if (!sql || sqlite3_prepare_v2(db->sql.sqlite, sql, -1, &statement, NULL) != SQLITE_OK) {
    sqlite3_free(sql);
    if (!sql || sqlite3_errcode(db->sql.sqlite) == SQLITE_NOMEM)
      return nai_err_nomem(err);
    return nai_err_set(err, NAI_EINPUT, "view %s: %s", nai_query_views[view][0], sqlite3_errmsg(db->sql.sqlite));
  }
  sqlite3_free(sql);
  for (int i = 0; i < sqlite3_column_count(statement); i++) {
    const struct nai_schema *schema = NULL;
    const struct nai_sql_column *from = nai_sql_origin(&schema, &db->sql, statement, i);
    const char *name = sqlite3_column_name(statement, i);
    const struct nai_query_view_column *made = nai_query_view_columns;
    while (!from && made->name && strcmp(made->name, name) != 0)
      made++;
    struct SQL_COLUMNS_row row =
        NAI_ROW(SQL_COLUMNS, .table_name = nai_query_views[view][0], .position = i, .name = name, .type = made->type,
                .unit = made->name ? nai_unit_name(made->unit) : NULL, .description = made->description,
                .refers = made->refers, .hidden = 0);
    if (from) {
      row.type = sqlite3_column_decltype(statement, i);
      row.unit = nai_unit_name(from->print.unit);
      row.description = schema->columns[from->print.column].description;
      row.refers = schema->columns[from->print.column].refers;
    }
    SQL_COLUMNS_add(out, &row);
  }
  sqlite3_finalize(statement);
  return NAI_OK;
}

static int open_columns(struct nai_sql_table *t, struct nai_err *err) {
  struct nai_database *db = nai_database_of(t);
  NAI_TRY(nai_derived_new(t, 0, err));
  for (uint32_t i = 0; i < db->sql.table_count; i++) {
    struct nai_sql_table *of = &db->sql.tables[i];
    if (!nai_database_derives(of))
      NAI_TRY(nai_sql_read(of, err));
    if (!is_own(of))
      put_columns(t->own, of->name, nai_database_derives(of) ? of->source->schema : of->table->schema);
  }
  for (int i = 0; nai_database_has_model(db->run) && nai_query_views[i][0]; i++)
    NAI_TRY(put_view(t->own, db, i, err));
  return nai_table_check(t->own, err);
}

const struct nai_sql_source nai_derived_names = {.schema = &nai_sql_tables_schema, .open = open_names};
const struct nai_sql_source nai_derived_columns = {.schema = &nai_sql_columns_schema, .open = open_columns};
