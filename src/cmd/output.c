/* Where answers go: rows of statements in a format, standard output or a file. */
#include "cmd/cmd.h"

#include "base/fs.h"
#include "base/sink.h"
#include "query/query.h"
#include "render/rows.h"

#include <errno.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

const char *nai_cmd_rows_formats(size_t index, const char *before) {
  (void)before;
  return index < NAI_ROWS_FORMATS ? nai_rows_format_name((enum nai_rows_format)index) : NULL;
}

struct printing {
  struct nai_rows rows;
  struct nai_rows_column *columns;
  struct nai_buf *out;
};

static int begin(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err) {
  struct printing *p = ctx;
  p->columns = calloc((size_t)count + 1, sizeof *p->columns);
  if (!p->columns)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < count; i++)
    p->columns[i] = (struct nai_rows_column){columns[i].name, columns[i].unit};
  p->rows.columns = p->columns;
  p->rows.count = count;
  nai_rows_begin(&p->rows, p->out);
  return NAI_OK;
}

static int put_row(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  struct printing *p = ctx;
  nai_rows_put(&p->rows, cells);
  if (p->rows.rows == 1 && p->out->sink && p->rows.format != NAI_ROWS_TABLE)
    nai_buf_flush(p->out); /* somebody may wait for it */
  return nai_buf_failed(p->out) ? nai_buf_check(p->out, err) : NAI_OK;
}

int nai_cmd_query(bool *truncated, struct nai_buf *out, const struct nai_query *query,
                  const struct nai_cmd_printing *how, struct nai_err *err) {
  struct printing p = {
      .rows = {.format = how->format, .human = how->human, .width = how->width, .title = how->title, .none = how->none},
      .out = out};
  const struct nai_query_sink sink = {begin, put_row, &p};
  int rc = nai_query_run(truncated, query, &sink, err);
  if (p.columns)
    nai_rows_end(&p.rows, *truncated);
  free(p.columns);
  return rc;
}

/* --- files ------------------------------------------------------------------------------------------ */

int nai_cmd_terminal_width(void) {
  struct winsize size;
  return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int nai_cmd_output_open(struct nai_cmd_output *output, const char *path, struct nai_err *err) {
  struct stat there;
  *output->path = 0;
  if (!path || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
    nai_sink_stdout(&output->sink);
    return NAI_OK;
  }
  bool exists = stat(path, &there) == 0;
  if (exists && S_ISDIR(there.st_mode))
    return nai_err_set(err, NAI_EIO, "cannot write \"%s\": it is a directory", path);
  if (exists && !S_ISREG(there.st_mode)) /* a pipe, a device: never to be replaced */
    return nai_sink_create(&output->sink, path, err);
  if (exists ? !realpath(path, output->path) /* a link stays, what it leads to is replaced */
             : snprintf(output->path, sizeof output->path, "%s", path) >= (int)sizeof output->path)
    *output->path = 0;
  if (!*output->path || !nai_fs_aside(output->part, sizeof output->part, output->path)) {
    *output->path = 0;
    return nai_err_sys(err, NAI_EIO, ENAMETOOLONG, "cannot write \"%s\"", path);
  }
  return nai_sink_create(&output->sink, output->part, err);
}

int nai_cmd_output_close(struct nai_cmd_output *output, int rc, struct nai_err *err) {
  if (rc) { /* half an answer would look like one */
    nai_buf_free(&output->sink.text);
    output->sink.text = (struct nai_buf){.sink = &output->sink.sink};
  }
  rc = nai_sink_finish(&output->sink, rc, err);
  if (*output->path && (rc ? unlink(output->part) : rename(output->part, output->path)) != 0 && !rc) {
    rc = nai_err_sys(err, NAI_EIO, errno, "cannot write \"%s\"", output->path);
    unlink(output->part);
  }
  return rc;
}
