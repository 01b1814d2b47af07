/* How answers are printed: rows of statements in a format, what the terminal can show, notes. */
#include "command/command.h"

#include "base/escape.h"
#include "base/text.h"
#include "table/json.h"

#include <sys/ioctl.h>
#include <unistd.h>

int nai_cmd_print(const struct nai_buf *text, struct nai_err *err) {
  NAI_TRY(nai_buf_check(text, err));
  if (fwrite(nai_buf_str(text), 1, text->len, stdout) != text->len) /* what is buffered shows when stdout is flushed */
    return nai_err_sys(err, NAI_EIO, errno, "cannot write to standard output");
  return NAI_OK;
}

int nai_cmd_put_text_json(struct nai_buf *out, const char *of, const struct nai_buf *text, struct nai_err *err) {
  struct nai_json json;
  NAI_TRY(nai_buf_check(text, err));
  nai_json_open(&json, out, NAI_JSON_INLINE);
  nai_json_put_text(&json, "schema_version", "1.0");
  nai_json_put_text(&json, "of", of);
  nai_json_put_text(&json, "text", nai_buf_str(text));
  nai_json_close(&json);
  return nai_buf_check(out, err);
}

bool nai_cmd_color(void) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

void nai_cmd_note(const char *line) {
  NAI_SCOPED(nai_buf) clean = {0};
  nai_escape_terminal(&clean, line, strlen(line));
  if (!clean.oom)
    fprintf(stderr, "nsys-ai: %s\n", nai_buf_str(&clean));
}

void nai_cmd_put_quoted(struct nai_buf *out, const char *word) {
  nai_buf_putc(out, '\'');
  for (; *word; word++)
    if (*word == '\'')
      nai_buf_puts(out, "'\\''");
    else
      nai_buf_putc(out, *word);
  nai_buf_putc(out, '\'');
}

const char *nai_cmd_rows_formats(size_t index, const char *before) {
  (void)before;
  return index < NAI_ROWS_FORMATS ? nai_rows_format_name((enum nai_rows_format)index) : NULL;
}

struct printing {
  struct nai_rows rows;
  struct nai_rows_column *columns;
  struct nai_buf *out;
  struct nai_arena *arena;
  int64_t skip;
};

static int begin(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err) {
  struct printing *p = ctx;
  NAI_TRY(NAI_NEW(p->columns, p->arena, count, err));
  for (uint32_t i = 0; i < count; i++)
    p->columns[i] = (struct nai_rows_column){columns[i].name, columns[i].unit};
  p->rows.columns = p->columns;
  p->rows.count = count;
  nai_rows_begin(&p->rows, p->out);
  return NAI_OK;
}

static int put_row(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  struct printing *p = ctx;
  if (p->skip > 0) {
    p->skip--;
    return NAI_OK;
  }
  nai_rows_put(&p->rows, cells);
  if (p->rows.rows == 1 && p->out->sink && p->rows.format != NAI_ROWS_TABLE)
    nai_buf_flush(p->out); /* somebody may wait for it */
  return nai_buf_failed(p->out) ? nai_buf_check(p->out, err) : NAI_OK;
}

int nai_cmd_query(bool *truncated, struct nai_buf *out, const struct nai_query *query,
                  const struct nai_cmd_printing *how, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct printing p = {.rows = {.format = how->format,
                                .human = how->human,
                                .titles = how->titles,
                                .width = how->width,
                                .title = how->title,
                                .none = how->none},
                       .out = out,
                       .arena = &arena,
                       .skip = how->skip};
  const struct nai_query_sink sink = {begin, put_row, &p};
  int rc = nai_query_run(truncated, query, &sink, err);
  if (p.columns)
    nai_rows_end(&p.rows, *truncated);
  return rc;
}

int nai_cmd_query_all(struct nai_buf *out, struct nai_run *run, const char *sql, const char *label,
                      const struct nai_query_parameter *parameters, size_t count, const struct nai_cmd_printing *how,
                      struct nai_err *err) {
  const struct nai_query_text text = {.sql = sql, .label = label};
  const struct nai_query query = {
      .run = run, .text = &text, .parameters = parameters, .parameter_count = count, .limits = {.rows = -1}};
  bool truncated;
  return nai_cmd_query(&truncated, out, &query, how, err);
}

void nai_cmd_put_wrapped(struct nai_buf *out, const char *text, size_t len, int indent) {
  nai_text_wrap(out, text, len, indent, nai_cmd_terminal_width());
}

void nai_cmd_put_lines(struct nai_buf *out, const struct nai_buf *lines) {
  enum { FURTHER = 4 };
  const char *line = nai_buf_str(lines);
  for (size_t len; *line; line += len + (line[len] == '\n')) {
    len = strcspn(line, "\n");
    nai_cmd_put_wrapped(out, line, len, (int)strspn(line, " ") + FURTHER);
  }
  out->oom |= lines->oom;
}

int nai_cmd_print_lines(const struct nai_buf *lines, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_cmd_put_lines(&text, lines);
  return nai_cmd_print(&text, err);
}

int nai_cmd_terminal_width(void) {
  struct winsize size;
  return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int nai_cmd_prose_width(void) {
  enum { WIDEST = 100 };
  int width = nai_cmd_terminal_width();
  return width && width < WIDEST ? width : WIDEST;
}
