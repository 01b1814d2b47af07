/* The database of a run: its tables and the derived ones by name, opened when a statement names them. */
#include "query/internal.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Of nai_event_tables or NULL: tables of a run made by another version are read with this version's columns. */
static const struct nai_schema *event_schema(const char *name) {
  for (int i = 0; i < NAI_IN_COUNT; i++)
    if (strcmp(nai_event_tables[i]->name, name) == 0)
      return nai_event_tables[i];
  return NULL;
}

static double divisor_of(const struct nai_column_def *def, enum nai_unit unit) {
  if (def->type > NAI_I32)
    return 1;
  return unit == NAI_US ? 1e3 : unit == NAI_MS ? 1e6 : unit == NAI_S ? 1e9 : 1;
}

/* What outputs show of the table, then what is stored and not shown. */
static int list_columns(struct nai_query_table *t, struct nai_err *err) {
  const struct nai_schema *schema = t->table->schema;
  uint32_t capacity = 0;
  t->column_count = 0;
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, schema);) {
    if (!nai_array_room(&t->columns, &capacity, (uint32_t)t->column_count, sizeof *t->columns))
      return nai_err_nomem(err);
    t->columns[t->column_count++] = (struct nai_reader_of_column){p, divisor_of(&schema->columns[p.column], p.unit)};
  }
  t->shown_count = t->column_count;
  for (int c = 0; c < (int)schema->column_count; c++) {
    const struct nai_column_def *def = &schema->columns[c];
    if (!def->display_units || def->display_units & 1u << def->unit)
      continue;
    if (!nai_array_room(&t->columns, &capacity, (uint32_t)t->column_count, sizeof *t->columns))
      return nai_err_nomem(err);
    t->columns[t->column_count++] = (struct nai_reader_of_column){{c, def->unit}, divisor_of(def, def->unit)};
  }
  return NAI_OK;
}

int nai_database_read(struct nai_query_table *t, struct nai_err *err) {
  if (t->columns)
    return NAI_OK;
  int rc =
      t->derived ? t->derived->open(t, err) : nai_run_table(&t->table, t->db->run, t->name, event_schema(t->name), err);
  if (rc == NAI_ESTALE)
    rc = err->code = NAI_EINPUT;
  if (!rc && !(t->facts = calloc((size_t)t->table->schema->column_count + 1, sizeof *t->facts)))
    rc = nai_err_nomem(err);
  return rc ? rc : list_columns(t, err);
}

int nai_database_fill(struct nai_query_table *t, int column, struct nai_err *err) {
  uint32_t part = t->derived ? t->derived->parts[column] : 0;
  if ((t->built & part) == part)
    return NAI_OK;
  int rc = t->derived->build(t, part, err);
  if (!rc)
    t->built |= part;
  return rc;
}

struct nai_query_table *nai_database_table(const struct nai_database *db, const char *name) {
  for (uint32_t i = 0; i < db->table_count; i++)
    if (sqlite3_stricmp(db->tables[i].name, name) == 0)
      return &db->tables[i];
  return NULL;
}

/* --- opening ------------------------------------------------------------------------------------- */

/* The page's data blocks are no rows to ask about. */
static bool is_shown(const char *name) { return strcmp(name, "viewer_data") != 0; }

static int add(struct nai_database *db, uint32_t *capacity, const char *name, const struct nai_derived *derived,
               struct nai_err *err) {
  if (!is_shown(name) || nai_database_table(db, name))
    return NAI_OK;
  if (!nai_array_room(&db->tables, capacity, db->table_count, sizeof *db->tables))
    return nai_err_nomem(err);
  db->tables[db->table_count++] = (struct nai_query_table){.db = db, .name = name, .derived = derived};
  return NAI_OK;
}

static int list_tables(struct nai_database *db, struct nai_err *err) {
  const struct nai_manifest *m = &db->run->manifest;
  uint32_t capacity = 0;
  int rc = NAI_OK;
  for (uint32_t i = 0; i < db->run->table_count && !rc; i++)
    rc = add(db, &capacity, db->run->tables[i]->schema->name, NULL, err);
  for (uint32_t n = 0; n < m->node_count && !rc; n++)
    for (uint32_t t = m->nodes[n].table; t < m->nodes[n].table_end && !rc; t++)
      rc = add(db, &capacity, nai_manifest_name(m, m->entries[t].name), NULL, err);
  for (int i = 0; nai_derived_tables[i] && !rc; i++)
    rc = add(db, &capacity, nai_derived_tables[i]->schema->name, nai_derived_tables[i], err);
  return rc;
}

static int create_modules(struct nai_database *db) {
  const char **keep = malloc(((size_t)db->table_count + 2) * sizeof *keep);
  int rc = keep ? SQLITE_OK : SQLITE_NOMEM;
  for (uint32_t i = 0; i < db->table_count && rc == SQLITE_OK; i++) {
    keep[i] = db->tables[i].name;
    rc = sqlite3_create_module(db->sqlite, db->tables[i].name, &nai_query_module, &db->tables[i]);
  }
  if (rc == SQLITE_OK) {
    keep[db->table_count] = "json_each";
    keep[db->table_count + 1] = NULL;
    rc = sqlite3_drop_modules(db->sqlite, keep);
  }
  free(keep);
  return rc;
}

static int create_views(struct nai_database *db) {
  int rc = SQLITE_OK;
  for (int i = 0; nai_query_views[i][0] && rc == SQLITE_OK; i++) {
    char *sql = sqlite3_mprintf("CREATE VIEW %s AS %s", nai_query_views[i][0], nai_query_views[i][1]);
    rc = sql ? sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
  }
  return rc;
}

int nai_database_open(struct nai_database *db, struct nai_run *run, struct nai_err *err) {
  *db = (struct nai_database){.run = run};
  int rc = list_tables(db, err);
  if (rc)
    return rc;
  int failed =
      sqlite3_open_v2(":memory:", &db->sqlite,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
  if (!failed)
    failed = create_modules(db);
  if (!failed)
    failed = nai_functions_add(db);
  if (!failed)
    failed = nai_aggregates_add(db);
  if (!failed)
    failed = create_views(db);
  if (!failed)
    return NAI_OK;
  return failed == SQLITE_NOMEM ? nai_err_nomem(err)
                                : nai_err_set(err, NAI_EINPUT, "cannot prepare the tables of the run for SQL: %s",
                                              sqlite3_errmsg(db->sqlite));
}

void nai_database_close(struct nai_database *db) {
  sqlite3_close_v2(db->sqlite);
  for (uint32_t i = 0; i < db->table_count; i++) {
    struct nai_query_table *t = &db->tables[i];
    if (t->table)
      nai_facts_free(t);
    nai_table_free(t->own);
    free(t->columns);
  }
  free(db->tables);
  nai_run_drop_model(db->run);
  nai_kernel_classes_free(db->classes);
  nai_strings_free(&db->classed);
  free(db->classes_of);
}

bool nai_query_has(const struct nai_run *run, const char *table) {
  const struct nai_manifest *m = &run->manifest;
  for (int i = 0; nai_derived_tables[i]; i++)
    if (strcmp(nai_derived_tables[i]->schema->name, table) == 0)
      return true;
  for (int i = 0; nai_query_views[i][0]; i++)
    if (strcmp(nai_query_views[i][0], table) == 0)
      return true;
  return nai_run_find_loaded(run, table) || (is_shown(table) && nai_manifest_maker(m, table));
}
