#include "table/csv_read.h"

#include "base/buf.h"
#include "base/fs.h"

#include <csv.h>

/* What libcsv's callbacks see. Cells come one by one, rows when their line ends. */
struct reading {
  struct nai_csv *csv;
  char *to;           /* where the next cell is put: over text that libcsv has read already */
  uint32_t line;      /* that is being read, from 1 */
  uint32_t cell_line; /* in which the cell being read began */
  uint32_t row_line;  /* in which the row being read began; 0: between rows */
  uint32_t first;     /* its first cell */
  struct nai_err *err;
  int rc;
};

static int fail(const struct nai_csv *csv, uint32_t line, struct nai_err *err, const char *what) {
  return nai_err_set(err, NAI_EUSAGE, "%s:%u: %s", csv->name, line, what);
}

static bool is_guarded(const char *cell) { return cell[0] == '\'' && cell[1] && strchr("=+-@\t\r\n", cell[1]); }

/* A cell with its NUL takes no more room than it took with what ended it. */
static void on_cell(void *cell, size_t len, void *ctx) {
  struct reading *r = ctx;
  struct nai_csv *csv = r->csv;
  if (r->rc)
    return;
  r->rc = NAI_ROOM(csv->cells, csv->cell_capacity, csv->cell_count, &csv->arena, r->err);
  if (r->rc)
    return;
  if (len)
    memcpy(r->to, cell, len);
  r->to[len] = '\0';
  csv->cells[csv->cell_count++] = is_guarded(r->to) ? r->to + 1 : r->to;
  r->to += len + 1;
  r->cell_line = r->line;
}

static void on_row(int end, void *ctx) {
  struct reading *r = ctx;
  struct nai_csv *csv = r->csv;
  (void)end;
  if (r->rc)
    return;
  struct nai_csv_row row = {r->first, csv->cell_count - r->first, r->row_line};
  r->row_line = 0;
  if (row.count == 1 && !*csv->cells[row.first]) { /* a blank line */
    csv->cell_count--;
    return;
  }
  r->first = csv->cell_count;
  if (csv->row_count && row.count != csv->rows[0].count)
    r->rc = nai_err_set(r->err, NAI_EUSAGE, "%s:%u: expected %u cells, as in the first line, got %u", csv->name,
                        row.line, csv->rows[0].count, row.count);
  else
    r->rc = NAI_ROOM(csv->rows, csv->row_capacity, csv->row_count, &csv->arena, r->err);
  if (!r->rc)
    csv->rows[csv->row_count++] = row;
}

/* Blanks around a cell belong to it; a CR counts for nothing but before the end of a line. */
static int is_cr(unsigned char c) { return c == '\r'; }
static int is_lf(unsigned char c) { return c == '\n'; }

/* libcsv does not count lines, so it is given one at a time. */
static int read_lines(struct reading *r, struct csv_parser *parser, const char *at, const char *end) {
  for (r->line = 1; at < end && !r->rc; r->line++) {
    const char *lf = memchr(at, '\n', (size_t)(end - at));
    size_t len = (size_t)((lf ? lf + 1 : end) - at);
    if (!r->row_line && at[strspn(at, "\r")] != '\n') /* libcsv passes over blank lines */
      r->row_line = r->cell_line = r->line;
    size_t parsed = csv_parse(parser, at, len, on_cell, on_row, r);
    if (parsed != len && !r->rc)
      return csv_error(parser) != CSV_EPARSE ? nai_err_nomem(r->err)
           : at[parsed] == '"'               ? fail(r->csv, r->line, r->err, "a quote inside a cell that is not quoted")
                                             : fail(r->csv, r->line, r->err, "text follows a closing quote");
    at += len;
  }
  if (!r->rc && csv_fini(parser, on_cell, on_row, r))
    return csv_error(parser) == CSV_EPARSE ? fail(r->csv, r->cell_line, r->err, "a quoted cell has no end")
                                           : nai_err_nomem(r->err);
  return r->rc;
}

static int read_text(struct nai_csv *csv, size_t len, struct nai_err *err) {
  static const char mark[] = "\xef\xbb\xbf"; /* spreadsheets begin UTF-8 with it */
  struct reading r = {.csv = csv, .to = csv->text, .err = err};
  struct csv_parser parser;
  size_t skip = len >= 3 && memcmp(csv->text, mark, 3) == 0 ? 3 : 0;
  if (!len)
    return NAI_OK;
  if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI))
    return nai_err_nomem(err);
  csv_set_space_func(&parser, is_cr);
  csv_set_term_func(&parser, is_lf);
  int rc = read_lines(&r, &parser, csv->text + skip, csv->text + len);
  csv_free(&parser);
  return rc;
}

int nai_csv_read(struct nai_csv **out, const char *path, size_t max, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  NAI_OWNED(nai_csv) *csv = calloc(1, sizeof *csv);
  *out = NULL;
  NAI_TRY(nai_memory_check(csv, err));
  csv->arena = (struct nai_arena)NAI_ARENA(NULL);
  csv->name = nai_arena_printf(&csv->arena, "%s", path);
  NAI_TRY(nai_arena_check(&csv->arena, err));
  NAI_TRY(nai_fs_read(&text, path, max, NAI_EUSAGE, err));
  if (memchr(nai_buf_str(&text), 0, text.len))
    return fail(csv, 1, err, "not a text file: it holds a NUL byte");
  csv->text = text.data;
  text.data = NULL;
  NAI_TRY(read_text(csv, text.len, err));
  if (!csv->row_count)
    return fail(csv, 1, err, "the file is empty; expected a line with the names of the columns");
  return NAI_GIVE(out, csv);
}

void nai_csv_free(struct nai_csv *csv) {
  if (!csv)
    return;
  free(csv->text);
  nai_arena_free(&csv->arena);
  free(csv);
}

int nai_csv_column(const struct nai_csv *csv, const char *name) {
  for (uint32_t i = 0; i < csv->rows[0].count; i++)
    if (strcmp(csv->cells[i], name) == 0)
      return (int)i;
  return -1;
}

const char *nai_csv_cell(const struct nai_csv *csv, uint32_t row, int column) {
  return column < 0 ? "" : csv->cells[csv->rows[row].first + (uint32_t)column];
}
