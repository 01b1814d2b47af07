#include "report/rows.h"

#include "base/fmt.h"
#include "base/text.h"
#include "table/csv.h"
#include "base/escape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *nai_rows_format_name(enum nai_rows_format format) {
  static const char *const names[NAI_ROWS_FORMATS] = {"table", "csv", "json", "ndjson", "markdown"};
  return names[format];
}

/* As few digits as tell the number. */
static void put_real(struct nai_buf *out, double value) {
  char text[40];
  if (!isfinite(value))
    return;
  snprintf(text, sizeof text, "%.15g", value);
  if (strtod(text, NULL) != value)
    snprintf(text, sizeof text, "%.17g", value);
  nai_buf_puts(out, strcmp(text, "-0") == 0 ? "0" : text);
}

void nai_rows_number(struct nai_buf *out, enum nai_unit unit, const struct nai_value *value) {
  if (value->null)
    return;
  if (unit != NAI_UNIT_COUNT && unit != NAI_TEXT)
    nai_value_print(out, unit, value);
  else if (value->type == NAI_F64)
    put_real(out, value->f);
  else
    nai_fmt_scaled(out, value->i, 0);
}

static bool is_text(const struct nai_value *value) { return value->type == NAI_STR && !value->null; }

/* Of a computed column for people: what its name says. */
static enum nai_unit guess_unit(const char *name) {
  static const struct {
    const char *end;
    enum nai_unit unit;
  } ends[] = {{"start_ns", NAI_TIMESTAMP_NS},
              {"end_ns", NAI_TIMESTAMP_NS},
              {"_ns", NAI_NS},
              {"bytes", NAI_BYTES},
              {"_pct", NAI_PCT},
              {"_count", NAI_COUNT},
              {"count", NAI_COUNT}};
  size_t len = strlen(name);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (len >= strlen(ends[i].end) && strcmp(name + len - strlen(ends[i].end), ends[i].end) == 0)
      return ends[i].unit;
  return NAI_UNIT_COUNT;
}

static void put_human(struct nai_buf *out, const struct nai_rows_column *column, const struct nai_value *value) {
  enum nai_unit unit = column->unit == NAI_UNIT_COUNT ? guess_unit(column->name) : column->unit;
  if (unit == NAI_UNIT_COUNT && !value->null)
    nai_rows_number(out, unit, value);
  else
    nai_value_print_human(out, unit, value);
}

/* As the format escapes it. */
static void put_text(struct nai_rows *r, struct nai_buf *out, const char *text) {
  size_t len = strlen(text);
  if (r->format == NAI_ROWS_TABLE)
    nai_escape_terminal(out, text, len);
  else if (r->format == NAI_ROWS_CSV)
    nai_csv_text(out, &r->scratch, text, len);
  else
    nai_escape_markdown(out, text, len);
}

static void put_cell(struct nai_rows *r, struct nai_buf *out, uint32_t column, const struct nai_value *cell) {
  if (is_text(cell))
    put_text(r, out, cell->s);
  else if (r->human && r->format != NAI_ROWS_CSV)
    put_human(out, &r->columns[column], cell);
  else
    nai_rows_number(out, r->columns[column].unit, cell);
}

/* --- text table ------------------------------------------------------------------------------------ */

/* Keeps the cell that is in `scratch`. */
static void keep_cell(struct nai_rows *r, uint32_t column) {
  const char *text = nai_buf_str(&r->scratch);
  int chars = (int)nai_text_chars(text, r->scratch.len);
  if (r->widths && chars > r->widths[column])
    r->widths[column] = chars;
  nai_buf_put(&r->cells, text, r->scratch.len);
  nai_buf_putc(&r->cells, '\0');
}

static void begin_table(struct nai_rows *r) {
  r->widths = calloc((size_t)r->count + 1, sizeof *r->widths);
  r->numbers = calloc((size_t)r->count + 1, sizeof *r->numbers);
  r->cells.oom |= !r->widths || !r->numbers;
  for (uint32_t i = 0; i < r->count && !r->cells.oom; i++) {
    r->numbers[i] = true;
    nai_buf_clear(&r->scratch);
    put_text(r, &r->scratch, r->columns[i].name);
    keep_cell(r, i);
  }
}

static void put_table_row(struct nai_rows *r, const struct nai_value *cells) {
  for (uint32_t i = 0; i < r->count && !r->cells.oom; i++) {
    nai_buf_clear(&r->scratch);
    put_cell(r, &r->scratch, i, &cells[i]);
    r->numbers[i] &= !is_text(&cells[i]);
    keep_cell(r, i);
  }
}

/* The last column: as it comes, or cut to what is left of the line. */
static void put_last(struct nai_rows *r, const char *text, size_t len, int used) {
  enum { LEAST = 8 };
  int room = r->width ? (r->width - used > LEAST ? r->width - used : LEAST) : 0;
  if (!room || (int)nai_text_chars(text, len) <= room) {
    nai_buf_put(r->out, text, len);
    return;
  }
  size_t end = 0;
  for (int chars = 0; chars < room - 1 && end < len; chars++)
    do
      end++;
    while (((unsigned char)text[end] & 0xc0) == 0x80);
  nai_buf_put(r->out, text, end);
  nai_buf_puts(r->out, "…");
}

static void end_table(struct nai_rows *r) {
  const char *at = nai_buf_str(&r->cells);
  if (!r->rows && r->none) {
    nai_buf_printf(r->out, "%s\n", r->none);
    return;
  }
  for (int64_t row = 0; row <= r->rows && !r->cells.oom; row++) { /* row 0: names */
    int used = 0;
    for (uint32_t i = 0; i < r->count; i++) {
      size_t len = strlen(at);
      int pad = r->widths[i] - (int)nai_text_chars(at, len);
      bool last = i + 1 == r->count;
      nai_buf_printf(r->out, "%*s", (i ? 2 : 0) + (r->numbers[i] ? pad : 0), "");
      used += (i ? 2 : 0) + r->widths[i];
      if (last && !r->numbers[i])
        put_last(r, at, len, used - r->widths[i]);
      else
        nai_buf_put(r->out, at, len);
      if (!last && !r->numbers[i])
        nai_buf_printf(r->out, "%*s", pad, "");
      at += len + 1;
    }
    nai_buf_putc(r->out, '\n');
  }
  r->out->oom |= r->cells.oom;
}

/* --- the others ------------------------------------------------------------------------------------ */

static void put_csv_row(struct nai_rows *r, const struct nai_value *cells) {
  for (uint32_t i = 0; i < r->count; i++) {
    nai_buf_puts(r->out, i ? "," : "");
    put_cell(r, r->out, i, &cells[i]);
  }
  nai_buf_putc(r->out, '\n');
}

static void put_json_cell(struct nai_rows *r, uint32_t i, const struct nai_value *cell) {
  if (is_text(cell)) {
    nai_json_text(&r->json, cell->s);
    return;
  }
  nai_buf_clear(&r->scratch);
  nai_rows_number(&r->scratch, r->columns[i].unit, cell);
  nai_json_decimal(&r->json, nai_buf_str(&r->scratch));
}

static void begin_json(struct nai_rows *r) {
  nai_json_init(&r->json, r->out, false);
  nai_json_begin_object(&r->json, NAI_JSON_LINES);
  if (r->title)
    nai_json_put_text(&r->json, "title", r->title);
  nai_json_key(&r->json, "columns");
  nai_json_begin_array(&r->json, NAI_JSON_LINES);
  for (uint32_t i = 0; i < r->count; i++) {
    nai_json_begin_object(&r->json, NAI_JSON_INLINE);
    nai_json_put_text(&r->json, "name", r->columns[i].name);
    nai_json_put_text(&r->json, "unit", r->columns[i].unit < NAI_UNIT_COUNT ? nai_unit_name(r->columns[i].unit) : NULL);
    nai_json_end(&r->json);
  }
  nai_json_end(&r->json);
  nai_json_key(&r->json, "rows");
  nai_json_begin_array(&r->json, NAI_JSON_LINES);
}

static void put_json_row(struct nai_rows *r, const struct nai_value *cells) {
  nai_json_begin_array(&r->json, NAI_JSON_INLINE);
  for (uint32_t i = 0; i < r->count; i++)
    put_json_cell(r, i, &cells[i]);
  nai_json_end(&r->json);
}

static void put_ndjson_row(struct nai_rows *r, const struct nai_value *cells) {
  nai_json_init(&r->json, r->out, false);
  nai_json_begin_object(&r->json, NAI_JSON_INLINE);
  for (uint32_t i = 0; i < r->count; i++) {
    nai_json_key(&r->json, r->columns[i].name);
    put_json_cell(r, i, &cells[i]);
  }
  nai_json_end(&r->json);
  nai_json_finish(&r->json);
  nai_buf_putc(r->out, '\n');
}

static void put_markdown_row(struct nai_rows *r, const struct nai_value *cells) {
  nai_buf_putc(r->out, '|');
  for (uint32_t i = 0; i < r->count; i++) {
    nai_buf_putc(r->out, ' ');
    put_cell(r, r->out, i, &cells[i]);
    nai_buf_puts(r->out, " |");
  }
  nai_buf_putc(r->out, '\n');
}

/* Names, and which columns are numbers: those of a unit; of the others nobody knows yet. */
static void begin_markdown(struct nai_rows *r) {
  nai_buf_putc(r->out, '|');
  for (uint32_t i = 0; i < r->count; i++) {
    nai_buf_putc(r->out, ' ');
    put_text(r, r->out, r->columns[i].name);
    nai_buf_puts(r->out, " |");
  }
  nai_buf_puts(r->out, "\n|");
  for (uint32_t i = 0; i < r->count; i++)
    nai_buf_puts(r->out, r->columns[i].unit == NAI_TEXT || r->columns[i].unit == NAI_UNIT_COUNT ? " --- |" : " ---: |");
  nai_buf_putc(r->out, '\n');
}

static void begin_csv(struct nai_rows *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    nai_buf_puts(r->out, i ? "," : "");
    put_text(r, r->out, r->columns[i].name);
  }
  nai_buf_putc(r->out, '\n');
}

static void nothing(struct nai_rows *r) { (void)r; }

static void end_json(struct nai_rows *r) {
  nai_json_finish(&r->json);
  nai_buf_putc(r->out, '\n');
}

static const struct {
  void (*begin)(struct nai_rows *);
  void (*row)(struct nai_rows *, const struct nai_value *);
  void (*end)(struct nai_rows *);
} formats[NAI_ROWS_FORMATS] = {
    [NAI_ROWS_TABLE] = {begin_table, put_table_row, end_table},
    [NAI_ROWS_CSV] = {begin_csv, put_csv_row, nothing},
    [NAI_ROWS_JSON] = {begin_json, put_json_row, end_json},
    [NAI_ROWS_NDJSON] = {nothing, put_ndjson_row, nothing},
    [NAI_ROWS_MARKDOWN] = {begin_markdown, put_markdown_row, nothing},
};

void nai_rows_begin(struct nai_rows *r, struct nai_buf *out) {
  r->out = out;
  formats[r->format].begin(r);
}

void nai_rows_put(struct nai_rows *r, const struct nai_value *cells) {
  r->rows++;
  formats[r->format].row(r, cells);
}

void nai_rows_end(struct nai_rows *r, bool truncated) {
  if (r->format == NAI_ROWS_JSON) {
    nai_json_end(&r->json);
    nai_json_put_bool(&r->json, "truncated", truncated);
    nai_json_end(&r->json);
  }
  formats[r->format].end(r);
  r->out->oom |= r->scratch.oom;
  nai_buf_free(&r->scratch);
  nai_buf_free(&r->cells);
  free(r->widths);
  free(r->numbers);
}
