/* What a statement may do: read, and nothing else, with bounds on what it takes. */
#include "sql/internal.h"

/* Functions statements may call, with a blank on either side. Left out are those that reach outside (load_extension),
 * change from run to run (random, dates), or take or make arbitrarily large text in one call (printf, format,
 * randomblob, zeroblob). */
static const char functions[] =
    " abs changes char coalesce glob hex ifnull iif instr length like likelihood likely lower ltrim max"
    " min nullif quote replace round rtrim sign substr substring trim typeof unicode unlikely upper avg"
    " count group_concat sum total row_number rank dense_rank percent_rank cume_dist ntile lag lead"
    " first_value last_value nth_value json json_array json_array_length json_extract json_object"
    " json_type json_valid json_quote json_group_array json_group_object -> ->> acos asin atan atan2 ceil"
    " ceiling cos degrees exp floor ln log log10 log2 mod pi pow power radians sin sqrt tan trunc union_ns"
    " p50 p90 p99 median percentile stddev clip_ns bucket short_name category cause_meaning label contains human"
    " regexp match ";

static bool may_call(const char *name) {
  size_t len = name ? strlen(name) : 0;
  for (const char *at = functions + 1; len && *at; at += strcspn(at, " ") + 1)
    if (sqlite3_strnicmp(at, name, (int)len) == 0 && at[len] == ' ')
      return true;
  return false;
}

/* What a temporary table comes to be by, and is read by. */
static bool makes(int action) {
  return action == SQLITE_CREATE_TEMP_TABLE || action == SQLITE_INSERT || action == SQLITE_UPDATE ||
         action == SQLITE_READ;
}

static int authorize(void *ctx, int action, const char *first, const char *second, const char *database,
                     const char *view) {
  const struct nai_sql *sql = ctx;
  (void)view;
  if (sql->declaring)
    return SQLITE_OK;
  if (sql->making && database && strcmp(database, "temp") == 0 && makes(action))
    return SQLITE_OK;
  switch (action) {
  case SQLITE_SELECT:
  case SQLITE_RECURSIVE:
    return SQLITE_OK;
  case SQLITE_FUNCTION:
    return may_call(second) ? SQLITE_OK : SQLITE_DENY;
  case SQLITE_READ:
    if (!database || strcmp(database, "main") == 0) /* NULL: no column is read */
      nai_sql_tell_former(sql, first, second);
    if (sql->hides && sql->hides(sql, database, first))
      return SQLITE_DENY;
    return strncmp(first, "sqlite_", strlen("sqlite_")) == 0 ? SQLITE_DENY : SQLITE_OK;
  default:
    return SQLITE_DENY;
  }
}

int nai_sql_make(struct nai_sql *sql, bool making) {
  sql->declaring = true; /* the one statement that says so */
  int rc = sqlite3_exec(sql->sqlite, making ? "PRAGMA query_only=0;" : "PRAGMA query_only=1;", NULL, NULL, NULL);
  sql->declaring = false;
  sql->making = making;
  return rc;
}

int nai_sql_guard(struct nai_sql *sql, int64_t memory_bytes) {
  static const struct {
    int limit, value;
  } limits[] = {
      {SQLITE_LIMIT_LENGTH, 256 << 10},   {SQLITE_LIMIT_SQL_LENGTH, 64 << 10}, {SQLITE_LIMIT_COLUMN, 512},
      {SQLITE_LIMIT_EXPR_DEPTH, 100},     {SQLITE_LIMIT_COMPOUND_SELECT, 50},  {SQLITE_LIMIT_VDBE_OP, 250000},
      {SQLITE_LIMIT_FUNCTION_ARG, 16},    {SQLITE_LIMIT_ATTACHED, 0},          {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
      {SQLITE_LIMIT_VARIABLE_NUMBER, 64}, {SQLITE_LIMIT_TRIGGER_DEPTH, 1},     {SQLITE_LIMIT_WORKER_THREADS, 0}};
  sqlite3 *sqlite = sql->sqlite;
  sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config(sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config(sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_db_config(sqlite, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
  sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DQS_DML, 0, NULL); /* "x" is a name, never a text */
  sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
  int rc = sqlite3_exec(sqlite, "PRAGMA temp_store=2; PRAGMA query_only=1;", NULL, NULL, NULL);
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    sqlite3_limit(sqlite, limits[i].limit, limits[i].value);
  if (memory_bytes)
    sqlite3_hard_heap_limit64(memory_bytes);
  return rc == SQLITE_OK ? sqlite3_set_authorizer(sqlite, authorize, sql) : rc;
}
