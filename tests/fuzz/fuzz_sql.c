/* SQL as it comes over a run with a few tables: whatever it says, it ends, reads only, and breaks nothing. The
 * statement is prepared and stepped in this process, so that the fuzzer sees what it does. */
#include "query/internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int stop(void *left) { return --*(int *)left <= 0; }

/* A run of event tables with three rows each. */
static struct nai_run *make_run(void) {
  struct nai_run *run;
  if (nai_run_new(&run, NULL))
    abort();
  for (int i = 0; i < NAI_IN_COUNT; i++) {
    struct nai_table *table;
    if (nai_table_new(&table, nai_event_tables[i], NULL))
      abort();
    for (int row = 0; row < 3; row++) {
      nai_table_add_row(table);
      for (uint32_t c = 0; c < table->schema->column_count; c++) {
        const struct nai_column_def *def = &table->schema->columns[c];
        if (!row && strcmp(def->name, "correlation_id") == 0)
          continue; /* NULL; extract leaves none in columns the model counts on */
        if (def->type == NAI_STR)
          nai_set_str(table, row, (int)c, row == 1 ? "abc" : "x%y");
        else if (def->type == NAI_F64)
          nai_set_f64(table, row, (int)c, 0.5 * row);
        else
          nai_set_i64(table, row, (int)c, def->refers ? row % 2 : row * 10);
      }
    }
    if (nai_run_add(run, table, NULL))
      abort();
  }
  return run;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct nai_run *run = make_run();
  struct nai_database db;
  struct nai_err err = {0};
  sqlite3_stmt *statement = NULL;
  int left = 200;
  char *sql = strndup((const char *)data, size);
  const struct nai_query_text text = {.sql = sql, .label = "sql"};
  const struct nai_query query = {.run = run, .text = &text};
  if (nai_database_open(&db, run, &err) || nai_sql_guard(&db.sql, 64 << 20))
    abort();
  sqlite3_progress_handler(db.sql.sqlite, 1000, stop, &left);
  if (nai_statement_prepare(&statement, &db, &query, &err) == NAI_OK)
    for (int i = 0; i < 1000 && sqlite3_step(statement) == SQLITE_ROW; i++)
      for (int c = 0; c < sqlite3_column_count(statement); c++)
        sqlite3_column_text(statement, c);
  if (!sqlite3_stmt_readonly(statement))
    abort();
  sqlite3_finalize(statement);
  nai_database_close(&db);
  nai_run_close(run);
  free(sql);
  return 0;
}
