/* What there is to ask: nai_tables and nai_columns, made from the descriptions in the schemas. */
#include "query/internal.h"

#include "table/columns.h"

#include <string.h>

enum { TA_NAME, TA_KIND, TA_ROWS, TA_DESCRIPTION };
static const struct nai_column_def table_columns[] = {
    [TA_NAME] = NAI_NAME_COLUMN("name", "what SQL calls it", .key = true),
    [TA_KIND] = {"kind", NAI_STR, NAI_TEXT, "table (of the run), derived, or view"},
    [TA_ROWS] = NAI_COUNT_COLUMN("rows", "rows; NULL where they have not been made"),
    [TA_DESCRIPTION] = NAI_LABEL_COLUMN("description", "what a row is")};
static const struct nai_schema table_schema =
    NAI_SCHEMA("nai_tables", "Tables of SQL", "One table or view that statements can read", table_columns);
static const uint8_t no_parts[8];

enum { CO_TABLE, CO_POSITION, CO_NAME, CO_TYPE, CO_UNIT, CO_DESCRIPTION, CO_REFERS, CO_HIDDEN };
static const struct nai_column_def column_columns[] = {
    [CO_TABLE] = NAI_NAME_COLUMN("table_name", "row of nai_tables", .key = true),
    [CO_POSITION] = NAI_COUNT_COLUMN("position", "from 0", .key = true),
    [CO_NAME] = NAI_LABEL_COLUMN("name", "what SQL calls it"),
    [CO_TYPE] = {"type", NAI_STR, NAI_TEXT, "INTEGER, REAL or TEXT"},
    [CO_UNIT] = {"unit", NAI_STR, NAI_TEXT, "unit of its values"},
    [CO_DESCRIPTION] = NAI_LABEL_COLUMN("description", "what it says"),
    [CO_REFERS] = {"refers", NAI_STR, NAI_TEXT,
                   "TABLE: its values are row numbers (rowid) of that table; TABLE.COLUMN: values of that column"},
    [CO_HIDDEN] = {"hidden", NAI_I32, NAI_ID, "1: read by name only, no part of select *"}};
static const struct nai_schema column_schema =
    NAI_SCHEMA("nai_columns", "Columns of SQL", "One column of a table or view that statements can read",
               column_columns);

static int nothing(struct nai_query_table *t, uint32_t part, struct nai_err *err) {
  (void)t, (void)part, (void)err;
  return NAI_OK;
}

static bool is_own(const struct nai_query_table *t) {
  return t->derived == &nai_derived_names || t->derived == &nai_derived_columns;
}

/* Row of tables of the run: known without the model. */
static int put_table(struct nai_table *out, struct nai_query_table *t, struct nai_err *err) {
  int rc = t->derived ? NAI_OK : nai_database_read(t, err);
  if (rc)
    return rc;
  const struct nai_schema *schema = t->derived ? t->derived->schema : t->table->schema;
  int64_t row = nai_table_add_row(out);
  nai_set_str(out, row, TA_NAME, t->name);
  nai_set_str(out, row, TA_KIND, t->derived ? "derived" : "table");
  nai_set_i64(out, row, TA_ROWS, t->derived ? NAI_NULL_I64 : t->table->rows);
  nai_set_str(out, row, TA_DESCRIPTION, schema->description);
  return NAI_OK;
}

static int open_names(struct nai_query_table *t, struct nai_err *err) {
  int rc = nai_derived_new(t, 0, err);
  for (uint32_t i = 0; i < t->db->table_count && !rc; i++)
    rc = is_own(&t->db->tables[i]) ? NAI_OK : put_table(t->own, &t->db->tables[i], err);
  for (int i = 0; nai_query_views[i][0] && !rc; i++) {
    int64_t row = nai_table_add_row(t->own);
    nai_set_str(t->own, row, TA_NAME, nai_query_views[i][0]);
    nai_set_str(t->own, row, TA_KIND, "view");
    nai_set_str(t->own, row, TA_DESCRIPTION, nai_query_views[i][2]);
  }
  return rc ? rc : nai_table_check(t->own, err);
}

static void put_column(struct nai_table *out, const char *table, int position, const struct nai_schema *schema,
                       const struct nai_print *print, bool hidden) {
  const struct nai_column_def *def = &schema->columns[print->column];
  const char *type = nai_print_type(schema, print);
  char name[NAI_COLUMN_NAME_MAX];
  int64_t row = nai_table_add_row(out);
  nai_set_str(out, row, CO_TABLE, table);
  nai_set_i64(out, row, CO_POSITION, position);
  nai_set_str(out, row, CO_NAME, nai_print_name(name, schema, print));
  nai_set_str(out, row, CO_TYPE, *type == 't' ? "TEXT" : *type == 'i' ? "INTEGER" : "REAL");
  nai_set_str(out, row, CO_UNIT, nai_unit_name(print->unit));
  nai_set_str(out, row, CO_DESCRIPTION, def->description);
  nai_set_str(out, row, CO_REFERS, def->refers);
  nai_set_i64(out, row, CO_HIDDEN, hidden);
}

static void put_columns(struct nai_table *out, const char *table, const struct nai_schema *schema) {
  int position = 0;
  for (struct nai_print p = NAI_FIRST_PRINT; nai_print_next(&p, schema);)
    put_column(out, table, position++, schema, &p, false);
  for (int c = 0; c < (int)schema->column_count; c++) {
    const struct nai_column_def *def = &schema->columns[c];
    if (def->prints && !(def->prints & 1u << def->unit))
      put_column(out, table, position++, schema, &(struct nai_print){c, def->unit}, true);
  }
}

/* Of a view: as its SELECT would return them. */
static int put_view(struct nai_table *out, const struct nai_database *db, int view, struct nai_err *err) {
  sqlite3_stmt *statement = NULL;
  char *sql = sqlite3_mprintf("SELECT * FROM %s", nai_query_views[view][0]);
  if (!sql || sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL) != SQLITE_OK) {
    sqlite3_free(sql);
    return nai_err_set(err, NAI_EINPUT, "view %s: %s", nai_query_views[view][0], sqlite3_errmsg(db->sqlite));
  }
  sqlite3_free(sql);
  for (int i = 0; i < sqlite3_column_count(statement); i++) {
    const struct nai_schema *schema = NULL;
    const struct nai_reader_of_column *from = nai_statement_origin(&schema, db, statement, i);
    int64_t row = nai_table_add_row(out);
    nai_set_str(out, row, CO_TABLE, nai_query_views[view][0]);
    nai_set_i64(out, row, CO_POSITION, i);
    nai_set_str(out, row, CO_NAME, sqlite3_column_name(statement, i));
    const struct nai_query_view_column *made = nai_query_view_columns;
    while (!from && made->name && strcmp(made->name, sqlite3_column_name(statement, i)) != 0)
      made++;
    nai_set_str(out, row, CO_TYPE, from ? sqlite3_column_decltype(statement, i) : made->type);
    nai_set_str(out, row, CO_UNIT,
                from         ? nai_unit_name(from->print.unit)
                : made->name ? nai_unit_name(made->unit)
                             : NULL);
    nai_set_str(out, row, CO_DESCRIPTION, from ? schema->columns[from->print.column].description : made->description);
    nai_set_str(out, row, CO_REFERS, from ? schema->columns[from->print.column].refers : made->refers);
    nai_set_i64(out, row, CO_HIDDEN, 0);
  }
  sqlite3_finalize(statement);
  return NAI_OK;
}

static int open_columns(struct nai_query_table *t, struct nai_err *err) {
  struct nai_database *db = t->db;
  int rc = nai_derived_new(t, 0, err);
  for (uint32_t i = 0; i < db->table_count && !rc; i++) {
    struct nai_query_table *of = &db->tables[i];
    rc = of->derived ? NAI_OK : nai_database_read(of, err);
    if (!rc && !is_own(of))
      put_columns(t->own, of->name, of->derived ? of->derived->schema : of->table->schema);
  }
  for (int i = 0; nai_query_views[i][0] && !rc; i++)
    rc = put_view(t->own, db, i, err);
  return rc ? rc : nai_table_check(t->own, err);
}

const struct nai_derived nai_derived_names = {&table_schema, no_parts, open_names, nothing};
const struct nai_derived nai_derived_columns = {&column_schema, no_parts, open_columns, nothing};
