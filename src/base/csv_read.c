#include "base/csv_read.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/fs.h"

#include <stdlib.h>
#include <string.h>

static int fail(const struct nai_csv *csv, uint32_t line, struct nai_err *err, const char *what) {
  return nai_err_set(err, NAI_EUSAGE, "%s:%u: %s", csv->name, line, what);
}

static bool is_guarded(const char *cell) { return cell[0] == '\'' && cell[1] && strchr("=+-@\t\r\n", cell[1]); }

static bool add_cell(struct nai_csv *csv, const char *cell) {
  if (!nai_array_room(&csv->cells, &csv->cell_capacity, csv->cell_count, sizeof *csv->cells))
    return false;
  csv->cells[csv->cell_count++] = is_guarded(cell) ? cell + 1 : cell;
  csv->rows[csv->row_count - 1].count++;
  return true;
}

static bool add_row(struct nai_csv *csv, uint32_t line) {
  if (!nai_array_room(&csv->rows, &csv->row_capacity, csv->row_count, sizeof *csv->rows))
    return false;
  csv->rows[csv->row_count++] = (struct nai_csv_row){csv->cell_count, 0, line};
  return true;
}

/* A quoted cell from behind its quote on, put together in place; returns where it ends, NULL when nothing closes it. */
static char *unquote(char *from, uint32_t *line) {
  char *to = from;
  for (; *from; from++) {
    if (*from == '"' && from[1] != '"') {
      *to = '\0';
      return from + 1;
    }
    from += *from == '"';
    *line += *from == '\n';
    *to++ = *from;
  }
  return NULL;
}

/* One cell at `*at`, which moves to the separator behind it; that one is overwritten and returned. */
static int read_cell(char *separator, char **cell, char **at, struct nai_csv *csv, uint32_t *line,
                     struct nai_err *err) {
  char *end;
  if (**at == '"') {
    uint32_t begun = *line;
    *cell = *at + 1;
    end = unquote(*cell, line);
    if (!end)
      return fail(csv, begun, err, "a quoted cell has no end");
    if (*end == '\r' && end[1] == '\n')
      end++;
    if (*end && *end != ',' && *end != '\n')
      return fail(csv, *line, err, "text follows a closing quote");
  } else {
    *cell = *at;
    end = *at + strcspn(*at, ",\n");
    if (*end != ',' && end > *cell && end[-1] == '\r')
      end[-1] = '\0';
  }
  *separator = *end;
  *end = '\0';
  *at = *separator ? end + 1 : end;
  return NAI_OK;
}

static int read_row(struct nai_csv *csv, char **at, uint32_t *line, struct nai_err *err) {
  char separator = ',', *cell;
  uint32_t begun = *line;
  if (!add_row(csv, begun))
    return nai_err_nomem(err);
  while (separator == ',') {
    int rc = read_cell(&separator, &cell, at, csv, line, err);
    if (rc)
      return rc;
    if (!add_cell(csv, cell))
      return nai_err_nomem(err);
  }
  *line += 1;
  const struct nai_csv_row *row = &csv->rows[csv->row_count - 1];
  if (row->count == 1 && !*csv->cells[row->first]) { /* a blank line */
    csv->row_count--;
    csv->cell_count--;
  } else if (row->count != csv->rows[0].count) {
    return nai_err_set(err, NAI_EUSAGE, "%s:%u: expected %u cells, as in the first line, got %u", csv->name, begun,
                       csv->rows[0].count, row->count);
  }
  return NAI_OK;
}

int nai_csv_read(struct nai_csv **out, const char *path, size_t max, struct nai_err *err) {
  static const char mark[] = "\xef\xbb\xbf"; /* spreadsheets begin UTF-8 with it */
  struct nai_buf text = {0};
  struct nai_csv *csv = *out = calloc(1, sizeof *csv);
  uint32_t line = 1;
  if (!csv || !(csv->name = strdup(path)))
    return nai_err_nomem(err);
  int rc = nai_fs_read(&text, path, max, NAI_EUSAGE, err);
  csv->text = text.data;
  if (!rc && memchr(nai_buf_str(&text), 0, text.len))
    rc = fail(csv, 1, err, "not a text file: it holds a NUL byte");
  char *at = text.len ? csv->text : NULL;
  if (!rc && text.len >= 3 && memcmp(at, mark, 3) == 0)
    at += 3;
  while (!rc && at && *at)
    rc = read_row(csv, &at, &line, err);
  if (!rc && !csv->row_count)
    rc = fail(csv, 1, err, "the file is empty; expected a line with the names of the columns");
  return rc;
}

void nai_csv_free(struct nai_csv *csv) {
  if (!csv)
    return;
  free(csv->name);
  free(csv->text);
  free(csv->cells);
  free(csv->rows);
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
