/* The process that runs a statement: what it tells the one that asked (query.c). */
#include "query/internal.h"

#include "base/fs.h"
#include "base/sandbox.h"
#include "base/text.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

struct writer {
  struct nai_buf out, safe;
  int fd;
  bool raw; /* texts may be of the export */
};

static void put_int(struct writer *w, uint32_t value) { nai_buf_put(&w->out, &value, sizeof value); }

static void put_text(struct writer *w, const char *text, size_t len) {
  put_int(w, (uint32_t)len);
  nai_buf_put(&w->out, text, len);
  nai_buf_putc(&w->out, '\0');
}

/* The asking process may have seen enough and be gone: then this one goes, too. */
static void flush(struct writer *w, size_t least) {
  if (w->out.oom || (w->out.len >= least && nai_fs_write_all(w->fd, nai_buf_str(&w->out), w->out.len)))
    _exit(EXIT_FAILURE);
  if (w->out.len >= least)
    nai_buf_clear(&w->out);
}

/* Texts of a run are clean. Those of the export become so here, and what a statement makes is valid UTF-8 at least. */
static void put_safe_text(struct writer *w, const char *text, size_t len) {
  if (nai_text_is_clean(text, len)) {
    put_text(w, text, len);
    return;
  }
  nai_buf_clear(&w->safe);
  if (w->raw)
    nai_text_clean(&w->safe, text, len);
  else
    nai_text_repair(&w->safe, text, len);
  w->out.oom |= w->safe.oom;
  put_text(w, nai_buf_str(&w->safe), w->safe.len);
}

struct shown {
  enum nai_unit unit;
  double multiply; /* SQL's value -> as stored */
  bool integer;    /* stored as one */
  const struct nai_column_def *labeled;
};

static void describe_columns(struct shown *shown, struct writer *w, const struct nai_database *db,
                             const struct nai_query *query, sqlite3_stmt *s) {
  int count = sqlite3_column_count(s);
  nai_buf_putc(&w->out, NAI_FRAME_HEADER);
  put_int(w, (uint32_t)count);
  for (int i = 0; i < count; i++) {
    const struct nai_schema *schema;
    const struct nai_sql_column *from = nai_sql_origin(&schema, &db->sql, s, i);
    const char *name = sqlite3_column_name(s, i), *description = "";
    enum nai_type type = NAI_STR;
    shown[i] = (struct shown){NAI_UNIT_COUNT, 1, false, NULL};
    if (from) {
      enum nai_unit unit = from->print.unit;
      shown[i] = (struct shown){unit,
                                unit == NAI_US   ? 1e3
                                : unit == NAI_MS ? 1e6
                                : unit == NAI_S  ? 1e9
                                                 : 1,
                                schema->columns[from->print.column].type <= NAI_I32,
                                query->labels ? &schema->columns[from->print.column] : NULL};
      type = schema->columns[from->print.column].type;
      description = schema->columns[from->print.column].description;
    }
    put_int(w, (uint32_t)shown[i].unit);
    put_int(w, (uint32_t)type);
    put_text(w, name ? name : "", name ? strlen(name) : 0);
    put_text(w, description, strlen(description));
  }
}

static void put_real(struct writer *w, const struct shown *shown, double value) {
  double real = value * shown->multiply;
  if (shown->integer && fabs(real) < 0x1p62) {
    int64_t integer = llround(real);
    nai_buf_putc(&w->out, NAI_SENT_INTEGER);
    nai_buf_put(&w->out, &integer, sizeof integer);
    return;
  }
  nai_buf_putc(&w->out, NAI_SENT_REAL);
  nai_buf_put(&w->out, &real, sizeof real);
}

static void put_cell(struct writer *w, const struct shown *shown, sqlite3_stmt *s, int i) {
  switch (sqlite3_column_type(s, i)) {
  case SQLITE_INTEGER: {
    int64_t value = sqlite3_column_int64(s, i);
    if (shown->multiply > 1) { /* the column holds real numbers: this is of another arm of a UNION */
      put_real(w, shown, (double)value);
      break;
    }
    nai_buf_putc(&w->out, NAI_SENT_INTEGER);
    nai_buf_put(&w->out, &value, sizeof value);
    break;
  }
  case SQLITE_FLOAT:
    put_real(w, shown, sqlite3_column_double(s, i));
    break;
  case SQLITE_NULL:
    nai_buf_putc(&w->out, NAI_SENT_NULL);
    break;
  default: { /* a BLOB is bytes */
    const char *text = (const char *)sqlite3_column_text(s, i);
    if (text && shown->labeled)
      text = nai_column_label(shown->labeled, text);
    nai_buf_putc(&w->out, text ? NAI_SENT_TEXT : NAI_SENT_NULL);
    if (text)
      put_safe_text(w, text, strlen(text));
  }
  }
}

static int put_rows(struct writer *w, struct nai_database *db, const struct nai_query *query, sqlite3_stmt *s,
                    struct nai_err *err) {
  int count = sqlite3_column_count(s), rc = SQLITE_DONE;
  NAI_FREED struct shown *shown = calloc((size_t)count, sizeof *shown);
  NAI_TRY(nai_memory_check(shown, err));
  describe_columns(shown, w, db, query, s);
  flush(w, 1);
  bool first = true;
  while (query->mode != NAI_QUERY_DESCRIBE && (rc = sqlite3_step(s)) == SQLITE_ROW) {
    nai_buf_putc(&w->out, NAI_FRAME_ROW);
    for (int i = 0; i < count; i++)
      put_cell(w, &shown[i], s, i);
    flush(w, first ? 1 : NAI_FRAME_BLOCK);
    first = false;
  }
  return rc == SQLITE_DONE ? NAI_OK : nai_statement_error(db, rc, query->text, err);
}

static void put_former(void *writer, const struct nai_former *former) {
  struct writer *w = writer;
  const char *const texts[] = {former->kind, former->was, former->now};
  nai_buf_putc(&w->out, NAI_FRAME_FORMER);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    put_text(w, texts[i], strlen(texts[i]));
}

static int ask(struct writer *w, struct nai_database *db, const struct nai_query *query, struct nai_err *err) {
  int64_t memory = query->limits.memory_bytes ? query->limits.memory_bytes : INT64_C(1) << 30;
  sqlite3_stmt *s = NULL;
  nai_run_drop_model(query->run); /* the asking process may have made one with other kernel classes */
  NAI_TRY(nai_database_open(db, query->run, err));
  NAI_TRY(nai_raw_attach(db, query, err));
  nai_sandbox_enter(&(struct nai_sandbox){.readable = nai_run_directory(query->run)}); /* the export is open by now */
  if (nai_sql_guard(&db->sql, memory) != SQLITE_OK)
    return nai_err_set(err, NAI_ELIMIT, "cannot restrict SQL: %s", sqlite3_errmsg(db->sql.sqlite));
  db->sql.tell = put_former;
  db->sql.tell_ctx = w;
  int rc = nai_statement_prepare(&s, db, query, err);
  db->sql.tell = NULL;
  if (!rc)
    rc = put_rows(w, db, query, s, err);
  sqlite3_finalize(s);
  return rc;
}

static int work(struct writer *w, const struct nai_query *query, struct nai_err *err) {
  struct nai_database db;
  nai_run_drop_model(query->run); /* the asking process may have made one with other kernel classes */
  int rc = ask(w, &db, query, err);
  nai_database_close(&db);
  return rc;
}

/* What the asking process does when it is told to end is not for this one: it ends. What is ignored (nohup) stays so.
 */
static void take_signals_back(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  struct sigaction now;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
      signal(ends[i], SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
}

_Noreturn void nai_query_work(int fd, const struct nai_query *query, pid_t parent) {
  struct writer w = {.fd = fd, .raw = query->raw};
  struct nai_err err = {0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(EXIT_FAILURE);
  take_signals_back();
  int rc = work(&w, query, &err);
  nai_buf_putc(&w.out, NAI_FRAME_END);
  put_int(&w, (uint32_t)rc);
  put_text(&w, err.msg, rc ? strlen(err.msg) : 0);
  flush(&w, 1);
  nai_buf_free(&w.out);
  close(fd);
  _exit(EXIT_SUCCESS);
}
