#include "base/threads.h"
#include "trace/trace/trace_internal.h"

static bool is_open(sqlite3 *db) {
  sqlite3_file *file = NULL;
  return db && sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK && file &&
         file->pMethods;
}

int nai_sqlite_unread(sqlite3 *db) {
  int failed = 0;
  bool known = db && sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &failed) == SQLITE_OK;
  return known && (failed == EIO || failed == ENXIO || failed == ERANGE) ? failed : 0; /* those of unixRead */
}

int nai_sqlite_fail(struct nai_err *err, sqlite3 *db, int rc, const char *what) {
  int failed = db ? sqlite3_system_errno(db) : 0;
  if (rc == SQLITE_IOERR_NOMEM)
    rc = SQLITE_NOMEM;
  /* Nothing but the copy of a database with a live write-ahead log is ever written to. */
  if (failed == ENOSPC || failed == EDQUOT || failed == EFBIG)
    return nai_err_sys(err, NAI_EIO, failed, "%s from its copy in the temporary directory (TMPDIR)", what);
  /* Beside an open copy SQLite opens the log's index alone: anew, and where that fails, for whatever reason, an old
   * one. */
  if ((rc & 0xff) == SQLITE_CANTOPEN && failed == ENOENT && is_open(db))
    return nai_err_set(err, NAI_ELIMIT,
                       "%s: no file can be opened beside its copy in the temporary directory (TMPDIR); perhaps too few "
                       "file descriptors are left",
                       what);
  switch (rc & 0xff) {
  case SQLITE_CANTOPEN:
  case SQLITE_IOERR:
    return failed ? nai_err_sys(err, NAI_EINPUT, failed, "%s", what)
                  : nai_err_set(err, NAI_EINPUT, "%s: %s", what, sqlite3_errstr(rc));
  case SQLITE_NOMEM:
    return nai_err_nomem(err);
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return nai_err_set(err, NAI_EINPUT, "%s: another program is writing to the database", what);
  case SQLITE_INTERRUPT:
    return nai_err_set(err, NAI_EINPUT, "%s: it takes too long, the schema is not one of a trace export", what);
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    failed = nai_sqlite_unread(db);
    return failed ? nai_err_sys(err, NAI_EINPUT, failed, "%s", what)
                  : nai_err_damaged(err, "%s: %s", what, db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
  default:
    return nai_err_set(err, NAI_EINPUT, "%s: %s", what, db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
  }
}

int nai_sqlite_prepare(sqlite3_stmt **out, sqlite3 *db, const char *sql, const char *what, struct nai_err *err) {
  int rc = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
  return rc == SQLITE_OK ? NAI_OK : nai_sqlite_fail(err, db, rc, what);
}

void nai_sql_identifier(struct nai_buf *out, const char *name) {
  nai_buf_putc(out, '"');
  for (; *name; name++) {
    if (*name == '"')
      nai_buf_putc(out, '"');
    nai_buf_putc(out, *name);
  }
  nai_buf_putc(out, '"');
}

/* The library may be built to take any file name that begins with "file:" for a URI, so all names are made URIs here:
 * absolute and percent-encoded, which leaves nothing in them to interpret. */
int nai_trace_set_uri(struct nai_trace *trace, const char *absolute_path, bool immutable, struct nai_err *err) {
  NAI_SCOPED(nai_buf) buf = {0};
  nai_buf_puts(&buf, "file://");
  for (const unsigned char *p = (const unsigned char *)absolute_path; *p; p++) {
    bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr("/-._", *p);
    if (plain)
      nai_buf_putc(&buf, (char)*p);
    else
      nai_buf_printf(&buf, "%%%02X", *p);
  }
  NAI_TRY(nai_buf_check(&buf, err));
  trace->uri = nai_arena_printf(&trace->arena, "%s%s", buf.data, immutable ? "?mode=ro&immutable=1" : "?mode=ro");
  return nai_arena_check(&trace->arena, err);
}

/* Nothing in the schema gets to run: no triggers, views, extensions or functions with side effects; nothing is written.
 */
static int restrict_connection(sqlite3 *db) {
  static const struct {
    int option, value;
  } settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                  {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                  {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                  {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                  {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                  {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1}};
  static const struct {
    int limit, value;
  } limits[] = {{SQLITE_LIMIT_LENGTH, NAI_SQLITE_LENGTH_LIMIT},
                {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                {SQLITE_LIMIT_COLUMN, NAI_TRACE_MAX_COLUMNS},
                {SQLITE_LIMIT_EXPR_DEPTH, 100},
                {SQLITE_LIMIT_COMPOUND_SELECT, 10},
                {SQLITE_LIMIT_FUNCTION_ARG, 16},
                {SQLITE_LIMIT_ATTACHED, 0},
                {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
                {SQLITE_LIMIT_VARIABLE_NUMBER, 16},
                {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                {SQLITE_LIMIT_WORKER_THREADS, 0}};
  int rc = SQLITE_OK;
  for (size_t i = 0; i < sizeof settings / sizeof *settings && rc == SQLITE_OK; i++)
    rc = sqlite3_db_config(db, settings[i].option, settings[i].value, NULL);
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    sqlite3_limit(db, limits[i].limit, limits[i].value);
  sqlite3_busy_timeout(db, 2000);
  /* One transaction for as long as the connection lives: rows stay consistent, and no statement has to lock again. */
  if (rc == SQLITE_OK)
    rc = sqlite3_exec(db,
                      "PRAGMA cell_size_check=1; PRAGMA query_only=1; PRAGMA temp_store=2; "
                      "PRAGMA ignore_check_constraints=1; BEGIN",
                      NULL, NULL, NULL);
  return rc;
}

int nai_trace_connect(sqlite3 **out, const struct nai_trace *trace, struct nai_err *err) {
  sqlite3 *db = NULL;
  int state =
      sqlite3_open_v2(trace->uri, &db,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
  if (state == SQLITE_OK)
    state = restrict_connection(db);
  if (state == SQLITE_OK) {
    *out = db;
    return NAI_OK;
  }
  int rc = nai_sqlite_fail(err, db, state, "cannot open the database");
  sqlite3_close(db);
  return rc;
}

/* A connection reads the schema before its first row, which takes as long as scanning thousands of rows: those that a
 * scan or lookup is done with serve the next one. */
struct nai_pool {
  pthread_mutex_t lock;
  int count;
  sqlite3 *idle[8];
};

int nai_trace_new_pool(struct nai_trace *trace, struct nai_err *err) {
  NAI_TRY(NAI_NEW(trace->pool, &trace->arena, 1, err));
  pthread_mutex_init(&trace->pool->lock, NULL);
  return NAI_OK;
}

static sqlite3 *take_idle(struct nai_pool *pool) {
  NAI_LOCKED(&pool->lock);
  return pool->count ? pool->idle[--pool->count] : NULL;
}

int nai_trace_borrow(struct nai_loan *out, const struct nai_trace *trace, struct nai_err *err) {
  *out = (struct nai_loan){trace, take_idle(trace->pool)};
  return out->db ? NAI_OK : nai_trace_connect(&out->db, trace, err);
}

/* Whether there is room for it. */
static bool put_idle(struct nai_pool *pool, sqlite3 *db) {
  NAI_LOCKED(&pool->lock);
  if (pool->count == (int)(sizeof pool->idle / sizeof *pool->idle))
    return false;
  pool->idle[pool->count++] = db;
  return true;
}

void nai_loan_free(struct nai_loan *loan) {
  if (loan->db && !put_idle(loan->trace->pool, loan->db))
    sqlite3_close(loan->db);
  loan->db = NULL;
}

void nai_trace_free_pool(struct nai_trace *trace) {
  if (!trace->pool)
    return;
  for (int i = 0; i < trace->pool->count; i++)
    sqlite3_close(trace->pool->idle[i]);
  pthread_mutex_destroy(&trace->pool->lock);
}
