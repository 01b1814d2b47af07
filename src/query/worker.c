/* The process that runs a statement, and what it tells the one that asked. A single call of SQL can take hours (a long
 * pattern in a long text) and cannot be interrupted; a process can be ended. */
#include "query/internal.h"

#include "base/fs.h"
#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Frames: a byte that says what, then for
 *   HEADER  uint32 columns; each: uint32 unit, text
 *   ROW     cells: a byte that says of what type, then 8 bytes or a text
 *   END     uint32 error code as int32, text
 * A text is a uint32 length and its bytes with their NUL. */
enum { FRAME_HEADER = 'H', FRAME_ROW = 'R', FRAME_END = 'E' };
enum { CELL_NULL = 'n', CELL_INTEGER = 'i', CELL_REAL = 'f', CELL_TEXT = 't' };
enum { BLOCK = 1 << 16 };

/* --- in the worker ------------------------------------------------------------------------------- */

struct writer {
  struct nai_buf out;
  int fd;
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

struct shown {
  enum nai_unit unit;
  double multiply; /* SQL's value -> as stored */
  bool integer;    /* stored as one */
};

static void describe_columns(struct shown *shown, struct writer *w, const struct nai_database *db, sqlite3_stmt *s) {
  int count = sqlite3_column_count(s);
  nai_buf_putc(&w->out, FRAME_HEADER);
  put_int(w, (uint32_t)count);
  for (int i = 0; i < count; i++) {
    const struct nai_schema *schema;
    const struct nai_reader_of_column *from = nai_statement_origin(&schema, db, s, i);
    const char *name = sqlite3_column_name(s, i);
    shown[i] = (struct shown){NAI_UNIT_COUNT, 1, false};
    if (from) {
      enum nai_unit unit = from->print.unit;
      shown[i] = (struct shown){unit,
                                unit == NAI_US   ? 1e3
                                : unit == NAI_MS ? 1e6
                                : unit == NAI_S  ? 1e9
                                                 : 1,
                                schema->columns[from->print.column].type <= NAI_I32};
    }
    put_int(w, (uint32_t)shown[i].unit);
    put_text(w, name ? name : "", name ? strlen(name) : 0);
  }
}

static void put_cell(struct writer *w, const struct shown *shown, sqlite3_stmt *s, int i) {
  switch (sqlite3_column_type(s, i)) {
  case SQLITE_INTEGER: {
    int64_t value = sqlite3_column_int64(s, i);
    nai_buf_putc(&w->out, CELL_INTEGER);
    nai_buf_put(&w->out, &value, sizeof value);
    break;
  }
  case SQLITE_FLOAT: {
    double real = sqlite3_column_double(s, i) * shown->multiply;
    if (shown->integer && fabs(real) < 0x1p62) {
      int64_t value = llround(real);
      nai_buf_putc(&w->out, CELL_INTEGER);
      nai_buf_put(&w->out, &value, sizeof value);
      break;
    }
    nai_buf_putc(&w->out, CELL_REAL);
    nai_buf_put(&w->out, &real, sizeof real);
    break;
  }
  case SQLITE_NULL:
    nai_buf_putc(&w->out, CELL_NULL);
    break;
  default: { /* a BLOB is bytes: whoever prints them cleans them */
    const char *text = (const char *)sqlite3_column_text(s, i);
    nai_buf_putc(&w->out, text ? CELL_TEXT : CELL_NULL);
    if (text)
      put_text(w, text, strlen(text));
  }
  }
}

static int put_rows(struct writer *w, struct nai_database *db, const struct nai_query *query, sqlite3_stmt *s,
                    struct nai_err *err) {
  int count = sqlite3_column_count(s), rc = SQLITE_DONE;
  struct shown *shown = calloc((size_t)count, sizeof *shown);
  if (!shown)
    return nai_err_nomem(err);
  describe_columns(shown, w, db, s);
  flush(w, 1);
  bool first = true;
  while (query->mode != NAI_QUERY_DESCRIBE && (rc = sqlite3_step(s)) == SQLITE_ROW) {
    nai_buf_putc(&w->out, FRAME_ROW);
    for (int i = 0; i < count; i++)
      put_cell(w, &shown[i], s, i);
    flush(w, first ? 1 : BLOCK);
    first = false;
  }
  free(shown);
  return rc == SQLITE_DONE ? NAI_OK : nai_statement_error(db, rc, query->text, err);
}

static int work(struct writer *w, const struct nai_query *query, struct nai_err *err) {
  int64_t memory = query->limits.memory_bytes ? query->limits.memory_bytes : INT64_C(1) << 30;
  struct nai_database db;
  sqlite3_stmt *s = NULL;
  int rc = nai_database_open(&db, query->run, err);
  if (!rc && nai_guard_set(&db, memory) != SQLITE_OK)
    rc = nai_err_set(err, NAI_ELIMIT, "cannot restrict SQL: %s", sqlite3_errmsg(db.sqlite));
  if (!rc)
    rc = nai_statement_prepare(&s, &db, query, err);
  if (!rc)
    rc = put_rows(w, &db, query, s, err);
  sqlite3_finalize(s);
  nai_database_close(&db);
  return rc;
}

static _Noreturn void worker(int fd, const struct nai_query *query, pid_t parent) {
  struct writer w = {.fd = fd};
  struct nai_err err = {0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(EXIT_FAILURE);
  signal(SIGPIPE, SIG_DFL);
  int rc = work(&w, query, &err);
  nai_buf_putc(&w.out, FRAME_END);
  put_int(&w, (uint32_t)rc);
  put_text(&w, err.msg, rc ? strlen(err.msg) : 0);
  flush(&w, 1);
  nai_buf_free(&w.out);
  close(fd);
  _exit(EXIT_SUCCESS);
}

/* --- in the process that asked ------------------------------------------------------------------- */

struct reader {
  int fd;
  double deadline; /* 0: none */
  unsigned char *data;
  size_t at, len, capacity; /* bytes data[at..len) wait to be read; what stands before is kept until a row is done */
  const char *label;
};

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Makes `bytes` more readable. NAI_ESTALE: the worker ended without a word. */
static int need(struct reader *r, size_t bytes, struct nai_err *err) {
  while (r->len - r->at < bytes) {
    double left = r->deadline > 0 ? r->deadline - now_s() : 0;
    struct pollfd fd = {.fd = r->fd, .events = POLLIN};
    if (r->capacity - r->len < BLOCK) {
      size_t capacity = (r->capacity + BLOCK) * 2;
      unsigned char *more = realloc(r->data, capacity);
      if (!more)
        return nai_err_nomem(err);
      r->data = more;
      r->capacity = capacity;
    }
    int ready = r->deadline > 0 && left <= 0 ? 0 : poll(&fd, 1, r->deadline > 0 ? (int)(left * 1e3) + 1 : -1);
    if (ready == 0)
      return nai_err_set(err, NAI_ELIMIT, "%s: the statement took longer than --timeout allows", r->label);
    ssize_t got = ready < 0 ? -1 : read(r->fd, r->data + r->len, r->capacity - r->len);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return NAI_ESTALE;
    r->len += (size_t)got;
  }
  return NAI_OK;
}

static int get_byte(unsigned char *out, struct reader *r, struct nai_err *err) {
  int rc = need(r, 1, err);
  *out = rc ? 0 : r->data[r->at++];
  return rc;
}

static int get(void *out, struct reader *r, size_t bytes, struct nai_err *err) {
  int rc = need(r, bytes, err);
  if (!rc)
    memcpy(out, r->data + r->at, bytes);
  r->at += rc ? 0 : bytes;
  return rc;
}

/* Place of a text in r->data, which may move until the frame is complete. */
static int get_text(size_t *place, struct reader *r, struct nai_err *err) {
  uint32_t len;
  int rc = get(&len, r, sizeof len, err);
  if (!rc)
    rc = need(r, (size_t)len + 1, err);
  *place = r->at;
  r->at += rc ? 0 : (size_t)len + 1;
  return rc;
}

/* What was read is no longer needed. */
static void forget(struct reader *r) {
  if (r->at < BLOCK && r->at < r->len)
    return;
  memmove(r->data, r->data + r->at, r->len - r->at);
  r->len -= r->at;
  r->at = 0;
}

struct result {
  uint32_t count;
  struct nai_query_column *columns;
  struct nai_value *cells;
  size_t *places; /* of texts */
};

static int read_header(struct result *result, struct reader *r, struct nai_err *err) {
  uint32_t unit;
  int rc = get(&result->count, r, sizeof result->count, err);
  if (rc)
    return rc;
  result->columns = calloc((size_t)result->count + 1, sizeof *result->columns);
  result->cells = calloc((size_t)result->count + 1, sizeof *result->cells);
  result->places = calloc((size_t)result->count + 1, sizeof *result->places);
  if (!result->columns || !result->cells || !result->places)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < result->count && !rc; i++) {
    rc = get(&unit, r, sizeof unit, err);
    result->columns[i].unit = (enum nai_unit)unit;
    if (!rc)
      rc = get_text(&result->places[i], r, err);
  }
  for (uint32_t i = 0; i < result->count && !rc; i++) {
    char *name = strdup((const char *)r->data + result->places[i]);
    result->columns[i].name = name;
    rc = name ? NAI_OK : nai_err_nomem(err);
  }
  return rc;
}

static int read_row(struct result *result, struct reader *r, struct nai_err *err) {
  int rc = NAI_OK;
  for (uint32_t i = 0; i < result->count && !rc; i++) {
    struct nai_value *cell = &result->cells[i];
    unsigned char type;
    rc = get_byte(&type, r, err);
    *cell = (struct nai_value){.type = type == CELL_INTEGER ? NAI_I64
                                     : type == CELL_REAL    ? NAI_F64
                                                            : NAI_STR,
                               .null = type == CELL_NULL};
    if (!rc && type == CELL_INTEGER)
      rc = get(&cell->i, r, sizeof cell->i, err);
    else if (!rc && type == CELL_REAL)
      rc = get(&cell->f, r, sizeof cell->f, err);
    else if (!rc && type == CELL_TEXT)
      rc = get_text(&result->places[i], r, err);
  }
  for (uint32_t i = 0; i < result->count && !rc; i++)
    if (result->cells[i].type == NAI_STR && !result->cells[i].null)
      result->cells[i].s = (const char *)r->data + result->places[i];
  return rc;
}

static int read_end(struct reader *r, struct nai_err *err) {
  int32_t code;
  size_t place;
  int rc = get(&code, r, sizeof code, err);
  if (!rc)
    rc = get_text(&place, r, err);
  return rc ? rc : code ? nai_err_set(err, code, "%s", (const char *)r->data + place) : NAI_OK;
}

/* Frames until the end, or until there are rows enough. */
static int receive(bool *truncated, struct result *result, struct reader *r, const struct nai_query *query,
                   const struct nai_query_sink *sink, struct nai_err *err) {
  int64_t rows = 0;
  for (;;) {
    unsigned char frame;
    int rc = get_byte(&frame, r, err);
    if (!rc && frame == FRAME_END)
      return read_end(r, err);
    if (!rc && frame == FRAME_HEADER) {
      rc = read_header(result, r, err);
      if (!rc)
        rc = sink->begin(sink->ctx, result->columns, result->count, err);
    } else if (!rc) {
      if (query->limits.rows >= 0 && rows++ == query->limits.rows) {
        *truncated = true;
        return NAI_OK;
      }
      rc = read_row(result, r, err);
      if (!rc)
        rc = sink->row(sink->ctx, result->cells, err);
    }
    if (rc)
      return rc;
    forget(r);
  }
}

static void free_result(struct result *result) {
  for (uint32_t i = 0; result->columns && i < result->count; i++)
    free((char *)result->columns[i].name);
  free(result->columns);
  free(result->cells);
  free(result->places);
}

int nai_query_run(bool *truncated, const struct nai_query *query, const struct nai_query_sink *sink,
                  struct nai_err *err) {
  int fds[2], status = 0;
  struct result result = {0};
  pid_t parent = getpid();
  *truncated = false;
  fflush(NULL);
  if (pipe(fds) != 0)
    return nai_err_sys(err, NAI_ELIMIT, errno, "cannot make a pipe");
  pid_t child = fork();
  if (child == 0) {
    close(fds[0]);
    worker(fds[1], query, parent);
  }
  close(fds[1]);
  struct reader r = {.fd = fds[0], .label = query->text->label};
  r.deadline = query->limits.timeout_s > 0 ? now_s() + query->limits.timeout_s : 0;
  int rc = child < 0 ? nai_err_sys(err, NAI_ELIMIT, errno, "cannot start a process")
                     : receive(truncated, &result, &r, query, sink, err);
  if (child > 0 && (rc || *truncated))
    kill(child, SIGKILL);
  close(fds[0]);
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (rc == NAI_ESTALE)
    rc = nai_err_set(err, NAI_ELIMIT, "%s: the process that ran the statement was ended%s", query->text->label,
                     WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? "; memory may be short" : "");
  free(r.data);
  free_result(&result);
  return rc;
}
