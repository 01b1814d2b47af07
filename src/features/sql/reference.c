/* Every table and view of SQL with its columns, as a page of Markdown. */
#include "features/sql/sql_command.h"
#include "query/query_rows.h"

#include "base/escape.h"

enum { T_NAME, T_KIND, T_TITLE, T_CANNOT_KNOW };
enum { C_TABLE, C_NAME, C_TYPE, C_UNIT, C_REFERS, C_HIDDEN, C_DESCRIPTION };
static const char tables_statement[] =
    "select name, kind, description, cannot_know from nai_tables order by kind = 'view' desc, kind = 'table' desc, name";
static const char columns_statement[] =
    "select c.table_name, c.name, c.type, c.unit, c.refers, c.hidden, c.description from nai_columns c "
    "join nai_tables t on t.name = c.table_name order by t.kind = 'view' desc, t.kind = 'table' desc, t.name, c.position";

static const struct {
  const char *kind, *title, *about;
} groups[] = {
    {"view", "Views", "Each kind of event with what belongs to it. Begin here."},
    {"table", "Tables of a run",
     "The tables of report.json, with or without rows, and the events that were read from the trace. What their numbers "
     "mean: analyses.md. Tables of one run only are left out: skills, evidence that was asked for."},
    {"derived", "Derived tables",
     "What the analyses know of each row of the event tables, made when a statement reads it."}};

static void put_text(struct nai_buf *out, const char *text) { nai_escape_markdown(out, text, strlen(text)); }

static void put_column(struct nai_buf *out, const struct nai_query_rows *columns, int64_t row) {
  const char *refers = nai_query_cell_text(columns, row, C_REFERS);
  nai_buf_printf(out, "| `%s` | %s | %s | ", nai_query_cell_text(columns, row, C_NAME),
                 nai_query_cell_text(columns, row, C_TYPE), nai_query_cell_text(columns, row, C_UNIT));
  put_text(out, nai_query_cell_text(columns, row, C_DESCRIPTION));
  if (*refers && strchr(refers, '.'))
    nai_buf_printf(out, "; as `%s`", refers);
  else if (*refers)
    nai_buf_printf(out, "; rowid of `%s`", refers);
  if (nai_query_cell_int(columns, row, C_HIDDEN))
    nai_buf_puts(out, "; by name only");
  nai_buf_puts(out, " |\n");
}

static void put_table(struct nai_buf *out, const struct nai_query_rows *tables, int64_t table,
                      const struct nai_query_rows *columns, int64_t *row) {
  const char *name = nai_query_cell_text(tables, table, T_NAME);
  nai_buf_printf(out, "\n### %s\n\n", name);
  put_text(out, nai_query_cell_text(tables, table, T_TITLE));
  const char *cannot_know = nai_query_cell_text(tables, table, T_CANNOT_KNOW);
  nai_buf_puts(out, *cannot_know ? ". Cannot know: " : "");
  put_text(out, cannot_know);
  nai_buf_puts(out, ".\n\n| column | type | unit | meaning |\n|---|---|---|---|\n");
  for (; *row < columns->rows && strcmp(nai_query_cell_text(columns, *row, C_TABLE), name) == 0; ++*row)
    put_column(out, columns, *row);
}

int nai_cmd_put_reference(struct nai_buf *out, struct nai_run *run, struct nai_err *err) {
  NAI_SCOPED(nai_query_rows) tables = {0}, columns = {0};
  int64_t row = 0, table = 0;
  NAI_TRY(nai_query_ask(&tables, run, tables_statement, NULL, 0, err));
  NAI_TRY(nai_query_ask(&columns, run, columns_statement, NULL, 0, err));
  nai_buf_puts(
      out,
      "# Tables and columns\n\nWhat `nsys-ai sql` can read, as `nsys-ai sql --reference` prints it. "
      "Types are SQLite's; columns in us, ms and s are\nreal numbers of that unit. `rowid` is the number of a row, "
      "from 0. How to ask: [asking.md](asking.md).\n");
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
    nai_buf_printf(out, "\n## %s\n\n%s\n", groups[g].title, groups[g].about);
    for (; table < tables.rows && strcmp(nai_query_cell_text(&tables, table, T_KIND), groups[g].kind) == 0; table++)
      put_table(out, &tables, table, &columns, &row);
  }
  return nai_buf_check(out, err);
}
