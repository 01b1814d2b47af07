/* Asking: a single call of SQL can take hours (a long pattern in a long text) and cannot be interrupted; a process can
 * be ended. So the statement runs in one of its own (statement_worker.c), which sends its rows through a pipe. */
#include "query/internal.h"

#include "base/clock.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct reader {
  int fd;
  double deadline; /* 0: none */
  struct nai_buf data;
  size_t at; /* bytes from here on wait to be read; what stands before is kept until a row is done */
  const char *label;
};

/* Makes `bytes` more readable. NAI_ESTALE: the worker ended without a word. */
static int need(struct reader *r, size_t bytes, struct nai_err *err) {
  while (r->data.len - r->at < bytes) {
    double left = r->deadline > 0 ? r->deadline - nai_clock_s() : 0;
    struct pollfd fd = {.fd = r->fd, .events = POLLIN};
    char *room = nai_buf_reserve(&r->data, NAI_FRAME_BLOCK);
    NAI_TRY(nai_memory_check(room, err));
    int ready = r->deadline > 0 && left <= 0 ? 0 : poll(&fd, 1, r->deadline > 0 ? (int)(left * 1e3) + 1 : -1);
    if (ready == 0)
      return nai_err_set(err, NAI_ELIMIT, "%s: the statement took longer than --timeout allows", r->label);
    ssize_t got = ready < 0 ? -1 : read(r->fd, room, NAI_FRAME_BLOCK);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return NAI_ESTALE;
    r->data.len += (size_t)got;
  }
  return NAI_OK;
}

static int get(void *out, struct reader *r, size_t bytes, struct nai_err *err) {
  NAI_TRY(need(r, bytes, err));
  memcpy(out, r->data.data + r->at, bytes);
  r->at += bytes;
  return NAI_OK;
}

/* Place of a text in r->data, which may move until the frame is complete. */
static int get_text(size_t *place, struct reader *r, struct nai_err *err) {
  uint32_t len;
  NAI_TRY(get(&len, r, sizeof len, err));
  NAI_TRY(need(r, (size_t)len + 1, err));
  *place = r->at;
  r->at += (size_t)len + 1;
  return NAI_OK;
}

/* What was read is no longer needed. */
static void forget(struct reader *r) {
  if (r->at < NAI_FRAME_BLOCK && r->at < r->data.len)
    return;
  r->data.len -= r->at;
  memmove(r->data.data, r->data.data + r->at, r->data.len);
  r->at = 0;
}

struct result {
  struct nai_arena arena;
  uint32_t count;
  struct nai_query_column *columns;
  struct nai_value *cells;
  size_t *places; /* of texts */
};

/* A text of its own. */
static int copy_text(const char **out, struct result *result, struct reader *r, struct nai_err *err) {
  size_t place;
  NAI_TRY(get_text(&place, r, err));
  *out = nai_arena_printf(&result->arena, "%s", r->data.data + place);
  return NAI_OK;
}

/* What the statement's author says of a column that it computes. */
static void describe_computed(struct nai_query_column *column, const struct nai_query *query) {
  for (size_t i = 0; column->unit == NAI_UNIT_COUNT && i < query->computed_count; i++)
    if (strcmp(query->computed[i].name, column->name) == 0)
      *column = query->computed[i];
}

static int read_header(struct result *result, struct reader *r, const struct nai_query *query, struct nai_err *err) {
  uint32_t numbers[2] = {0};
  NAI_TRY(get(&result->count, r, sizeof result->count, err));
  NAI_TRY(NAI_NEW(result->columns, &result->arena, result->count, err));
  NAI_TRY(NAI_NEW(result->cells, &result->arena, result->count, err));
  NAI_TRY(NAI_NEW(result->places, &result->arena, result->count, err));
  for (uint32_t i = 0; i < result->count; i++) {
    struct nai_query_column *column = &result->columns[i];
    NAI_TRY(get(numbers, r, sizeof numbers, err));
    column->unit = (enum nai_unit)numbers[0];
    column->type = (enum nai_type)numbers[1];
    NAI_TRY(copy_text(&column->name, result, r, err));
    NAI_TRY(copy_text(&column->description, result, r, err));
    describe_computed(column, query);
  }
  return nai_arena_check(&result->arena, err);
}

static int read_row(struct result *result, struct reader *r, struct nai_err *err) {
  for (uint32_t i = 0; i < result->count; i++) {
    struct nai_value *cell = &result->cells[i];
    unsigned char type;
    NAI_TRY(get(&type, r, 1, err));
    *cell = (struct nai_value){.type = type == NAI_SENT_INTEGER ? NAI_I64
                                     : type == NAI_SENT_REAL    ? NAI_F64
                                                                : NAI_STR,
                               .null = type == NAI_SENT_NULL};
    if (type == NAI_SENT_INTEGER)
      NAI_TRY(get(&cell->i, r, sizeof cell->i, err));
    else if (type == NAI_SENT_REAL)
      NAI_TRY(get(&cell->f, r, sizeof cell->f, err));
    else if (type == NAI_SENT_TEXT)
      NAI_TRY(get_text(&result->places[i], r, err));
  }
  for (uint32_t i = 0; i < result->count; i++)
    if (result->cells[i].type == NAI_STR && !result->cells[i].null)
      result->cells[i].s = r->data.data + result->places[i];
  return NAI_OK;
}

static int read_end(struct reader *r, struct nai_err *err) {
  int32_t code;
  size_t place;
  NAI_TRY(get(&code, r, sizeof code, err));
  NAI_TRY(get_text(&place, r, err));
  return code ? nai_err_set(err, code, "%s", r->data.data + place) : NAI_OK;
}

/* A name that the statement says and that is a former one; where it stands in a file, the file is said. */
static int read_former(struct reader *r, const struct nai_query *query, struct nai_err *err) {
  size_t kind, was, now;
  NAI_TRY(get_text(&kind, r, err));
  NAI_TRY(get_text(&was, r, err));
  NAI_TRY(get_text(&now, r, err));
  const char *texts = r->data.data, *file = strcmp(r->label, "sql") == 0 ? NULL : r->label;
  nai_former_tell(file, (uint32_t)query->text->line, (uint32_t)query->text->column,
                  &(struct nai_former){texts + kind, texts + was, texts + now});
  return NAI_OK;
}

/* Frames until the end, or until there are rows enough. */
static int receive(bool *truncated, struct result *result, struct reader *r, const struct nai_query *query,
                   const struct nai_query_sink *sink, struct nai_err *err) {
  for (int64_t rows = 0;; forget(r)) {
    unsigned char frame;
    NAI_TRY(get(&frame, r, 1, err));
    if (frame == NAI_FRAME_END)
      return read_end(r, err);
    if (frame == NAI_FRAME_FORMER) {
      NAI_TRY(read_former(r, query, err));
      continue;
    }
    if (frame == NAI_FRAME_HEADER) {
      NAI_TRY(read_header(result, r, query, err));
      NAI_TRY(sink->begin(sink->ctx, result->columns, result->count, err));
      continue;
    }
    if (query->limits.rows >= 0 && rows++ == query->limits.rows) {
      *truncated = true;
      return NAI_OK;
    }
    NAI_TRY(read_row(result, r, err));
    NAI_TRY(sink->row(sink->ctx, result->cells, err));
  }
}

int nai_query_run(bool *truncated, const struct nai_query *query, const struct nai_query_sink *sink,
                  struct nai_err *err) {
  int fds[2], status = 0;
  struct result result = {.arena = NAI_ARENA(NULL)};
  pid_t parent = getpid();
  *truncated = false;
  fflush(NULL);
  if (pipe(fds) != 0)
    return nai_err_sys(err, NAI_ELIMIT, errno, "cannot make a pipe");
  pid_t child = fork();
  if (child == 0) {
    close(fds[0]);
    nai_query_work(fds[1], query, parent);
  }
  close(fds[1]);
  struct reader r = {.fd = fds[0], .label = query->text->label};
  r.deadline = query->limits.timeout_s > 0 ? nai_clock_s() + query->limits.timeout_s : 0;
  int rc = child < 0 ? nai_err_sys(err, NAI_ELIMIT, errno, "cannot start a process")
                     : receive(truncated, &result, &r, query, sink, err);
  if (child > 0 && (rc || *truncated))
    kill(child, SIGKILL);
  close(fds[0]);
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (rc == NAI_ESTALE && WIFEXITED(status) && WEXITSTATUS(status) == nai_err_exit_status(NAI_EINPUT))
    rc = nai_err_set(err, NAI_EINPUT, "%s: a table of the run became shorter while it was read", query->text->label);
  else if (rc == NAI_ESTALE)
    rc = nai_err_set(err, NAI_ELIMIT, "%s: the process that ran the statement was ended%s", query->text->label,
                     WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? "; memory may be short" : "");
  nai_buf_free(&r.data);
  nai_arena_free(&result.arena);
  return rc;
}
