/* The database of a run: its tables and the derived ones by name. */
#include "query/internal.h"

#include "tables/book.h"

static int open_stored(struct nai_sql_table *t, struct nai_err *err) {
  /* Tables of a run made by another version are read with this version's columns. */
  return nai_run_table(&t->table, nai_database_of(t)->run, t->name, nai_book_find_named(t->name), err);
}

static const struct nai_sql_source stored = {.open = open_stored};

/* Of what needs no model: what there is to ask. */
static bool is_derived(const struct nai_run *run, const struct nai_sql_source *source) {
  return nai_database_has_model(run) || source == &nai_derived_names || source == &nai_derived_columns;
}

/* The page's data blocks are no rows to ask about. */
static bool is_shown(const char *name) { return strcmp(name, "viewer_data") != 0; }

/* What a run of an earlier version has under a former name is there under today's. */
static const char *name_now(const struct nai_run *run, const char *name) {
  const struct nai_schema *schema = nai_book_find_former(name);
  return schema && !nai_manifest_maker(nai_run_manifest(run), schema->name) ? schema->name : name;
}

static int add_stored(struct nai_database *db, const char *name, struct nai_err *err) {
  name = name_now(db->run, name);
  const struct nai_schema *schema = nai_book_find_named(name);
  return is_shown(name) ? nai_sql_add(&db->sql, name, schema ? schema->was : NULL, &stored, err) : NAI_OK;
}

static int list_tables(struct nai_database *db, struct nai_err *err) {
  const struct nai_manifest *m = nai_run_manifest(db->run);
  const struct nai_table *loaded;
  for (uint32_t i = 0; (loaded = nai_run_loaded(db->run, i)); i++)
    NAI_TRY(add_stored(db, loaded->schema->name, err));
  for (uint32_t n = 0; n < m->node_count; n++)
    for (uint32_t t = m->nodes[n].table; t < m->nodes[n].table_end; t++)
      NAI_TRY(add_stored(db, nai_manifest_name(m, m->entries[t].name), err));
  for (int i = 0; nai_derived_tables[i]; i++)
    if (is_derived(db->run, nai_derived_tables[i]))
      NAI_TRY(nai_sql_add(&db->sql, nai_derived_tables[i]->schema->name, nai_derived_tables[i]->schema->was,
                          nai_derived_tables[i], err));
  return NAI_OK;
}

static int create_views(struct nai_database *db) {
  int rc = SQLITE_OK;
  for (int i = 0; nai_query_views[i][0] && rc == SQLITE_OK; i++) {
    char *sql = sqlite3_mprintf("CREATE VIEW %s AS %s", nai_query_views[i][0], nai_query_views[i][1]);
    rc = sql ? sqlite3_exec(db->sql.sqlite, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
  }
  return rc;
}

static bool hides(const struct nai_sql *sql, const char *database, const char *table) {
  return nai_raw_is_hidden((const struct nai_database *)sql, database, table);
}

int nai_database_open(struct nai_database *db, struct nai_run *run, struct nai_err *err) {
  *db = (struct nai_database){.sql = {.hides = hides}, .run = run};
  NAI_TRY(list_tables(db, err));
  NAI_TRY(nai_sql_open(&db->sql, err));
  int failed = nai_database_functions(db);
  if (!failed && nai_database_has_model(run))
    failed = create_views(db);
  return failed ? nai_sql_open_error(&db->sql, failed, err) : NAI_OK;
}

void nai_database_close(struct nai_database *db) {
  nai_sql_close(&db->sql);
  nai_run_drop_model(db->run);
  nai_kernel_classes_free(db->classes);
  nai_sql_kept_free(&db->categories);
}

static bool has(const struct nai_run *run, const char *table) {
  for (int i = 0; nai_derived_tables[i]; i++)
    if (is_derived(run, nai_derived_tables[i]) && strcmp(nai_derived_tables[i]->schema->name, table) == 0)
      return true;
  for (int i = 0; nai_database_has_model(run) && nai_query_views[i][0]; i++)
    if (strcmp(nai_query_views[i][0], table) == 0)
      return true;
  return nai_run_find_loaded(run, table) || (is_shown(table) && nai_run_has(run, table));
}

bool nai_query_has(const struct nai_run *run, const char *table) {
  const struct nai_schema *now = nai_book_find_former(table);
  return has(run, table) || (now && has(run, now->name));
}
