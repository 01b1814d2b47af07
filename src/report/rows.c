#include "report/rows.h"

#include "base/array.h"
#include "base/fmt.h"
#include "base/text.h"
#include "table/csv.h"
#include "base/escape.h"

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
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (nai_text_ends(name, ends[i].end))
      return ends[i].unit;
  return NAI_UNIT_COUNT;
}

/* Of a computed number for people: six digits tell it, and all that stand in front of the point. */
static void put_rounded(struct nai_buf *out, double value) {
  double size = fabs(value);
  if (isfinite(value))
    nai_buf_printf(out, size >= 999999.5 && size < 1e15 ? "%.0f" : "%.6g", value ? value : 0);
}

static void put_human(struct nai_buf *out, const struct nai_rows_column *column, const struct nai_value *value) {
  enum nai_unit unit = column->unit == NAI_UNIT_COUNT ? guess_unit(column->name) : column->unit;
  if (unit == NAI_UNIT_COUNT && value->type == NAI_F64 && !value->null)
    put_rounded(out, value->f);
  else if (unit == NAI_UNIT_COUNT && !value->null)
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

static bool ends_with(const char *name, size_t len, const char *end) {
  size_t n = strlen(end);
  return len > n && memcmp(name + len - n, end, n) == 0;
}

/* "total_time_ms" as "total time", "kernel_count" as "kernels": the cells have the unit. */
static void put_title(struct nai_buf *out, const char *name) {
  static const struct {
    const char *name, *title;
  } known[] = {{"device_id", "GPU"},
               {"gpu", "GPU"},
               {"gpu_label", "GPU"},
               {"stream_id", "stream"},
               {"context_id", "context"},
               {"pid", "process"},
               {"tid", "thread"},
               {"short_name", "name"},
               {"op", "operation"},
               {"what_ms", "time of it"},
               {"p50_duration_us", "median"},
               {"pct_total_kernel_time", "of kernel time"}};
  static const char *const units[] = {"_ns", "_us", "_ms", "_s", "_pct", "_id"};
  size_t len = strlen(name);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].name, name) == 0) {
      nai_buf_puts(out, known[i].title);
      return;
    }
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (ends_with(name, len, units[i])) {
      len -= strlen(units[i]);
      break;
    }
  bool share = ends_with(name, strlen(name), "_pct"), count = ends_with(name, len, "_count");
  len -= count ? strlen("_count") : 0;
  bool mean = strncmp(name, "avg_", 4) == 0, median = strncmp(name, "p50_", 4) == 0;
  nai_buf_puts(out, mean ? "mean " : median ? "median " : "");
  for (size_t i = mean || median ? 4 : 0; i < len; i++)
    nai_buf_putc(out, name[i] == '_' ? ' ' : name[i]);
  nai_buf_puts(out, count ? name[len - 1] == 's' ? "es" : "s" : share ? " %" : "");
}

/* Keeps the cell that is in `scratch`. */
static void keep_cell(struct nai_rows *r) {
  nai_buf_put(&r->cells, nai_buf_str(&r->scratch), r->scratch.len);
  nai_buf_putc(&r->cells, '\0');
}

static void begin_table(struct nai_rows *r) {
  r->widths = calloc((size_t)r->count + 1, sizeof *r->widths);
  r->numbers = calloc((size_t)r->count + 1, sizeof *r->numbers);
  r->cells.oom |= !r->widths || !r->numbers;
  for (uint32_t i = 0; i < r->count && !r->cells.oom; i++) {
    NAI_SCOPED(nai_buf) title = {0};
    r->numbers[i] = true;
    if (r->titles)
      put_title(&title, r->columns[i].name);
    nai_buf_clear(&r->scratch);
    put_text(r, &r->scratch, r->titles ? nai_buf_str(&title) : r->columns[i].name);
    r->scratch.oom |= title.oom;
    keep_cell(r);
  }
}

static void put_table_row(struct nai_rows *r, const struct nai_value *cells) {
  for (uint32_t i = 0; i < r->count && !r->cells.oom; i++) {
    nai_buf_clear(&r->scratch);
    put_cell(r, &r->scratch, i, &cells[i]);
    r->numbers[i] &= !is_text(&cells[i]);
    int chars = (int)nai_text_chars(nai_buf_str(&r->scratch), r->scratch.len);
    r->widths[i] = chars > r->widths[i] ? chars : r->widths[i];
    keep_cell(r);
  }
}

/* The longest word of a header. */
static int longest_word(const char *title) {
  int most = 0;
  for (size_t n; *title; title += n) {
    title += strspn(title, " ");
    n = strcspn(title, " ");
    int chars = (int)nai_text_chars(title, n);
    most = chars > most ? chars : most;
  }
  return most;
}

/* Bytes of a header's next line, in `width` characters; a word that is longer stays whole. */
static size_t line_of(const char *title, int width) {
  size_t end = strcspn(title, " ");
  for (size_t next; title[end]; end = next) {
    next = end + 1 + strcspn(title + end + 1, " ");
    if ((int)nai_text_chars(title, next) > width)
      break;
  }
  return end;
}

/* Its lines at that width. */
static int lines_of(const char *title, int width) {
  int lines = 0;
  for (; *title; lines++) {
    title += line_of(title, width);
    title += *title == ' ';
  }
  return lines;
}

static int table_width(const struct nai_rows *r) {
  int sum = r->shown ? 2 * (int)(r->shown - 1) : 0;
  for (uint32_t i = 0; i < r->shown; i++)
    sum += r->widths[i];
  return sum;
}

/* Makes columns as wide as cells and headers need, and narrower where the terminal is: headers break first, then texts
 * give way, the widest first, then the last columns. */
static void set_widths(struct nai_rows *r) {
  enum { LEAST = 12 };
  NAI_FREED int *body = calloc((size_t)r->count + 1, sizeof *body);
  r->cells.oom |= !body;
  const char *at = nai_buf_str(&r->cells);
  for (int pass = 0; pass < 2 && !r->cells.oom && (pass == 0 || (r->width && table_width(r) > r->width)); pass++) {
    const char *title = at;
    for (uint32_t i = 0; i < r->count; i++, title += strlen(title) + 1) {
      if (pass == 0)
        body[i] = r->widths[i];
      int head = pass ? longest_word(title) : (int)nai_text_chars(title, strlen(title));
      r->widths[i] = head > body[i] ? head : body[i];
    }
  }
  if (body)
    memcpy(body, r->widths, r->count * sizeof *body);
  while (!r->cells.oom && r->width && table_width(r) > r->width) {
    uint32_t widest = r->shown;
    for (uint32_t i = 0; i < r->shown; i++)
      if (!r->numbers[i] && r->widths[i] > LEAST && (widest == r->shown || r->widths[i] > r->widths[widest]))
        widest = i;
    if (widest < r->shown)
      r->widths[widest]--;
    else if (r->shown <= 1)
      return;
    else if (r->shown--) /* the others have its room */
      memcpy(r->widths, body, r->count * sizeof *body);
  }
}

/* Bytes of the first `chars` characters. */
static size_t bytes_of(const char *text, size_t len, int chars) {
  size_t end = 0;
  for (; chars > 0 && end < len; chars--)
    do
      end++;
    while (end < len && ((unsigned char)text[end] & 0xc0) == 0x80);
  return end;
}

/* Its begin and its end, `head` and what is left of the width. */
static void put_shortened(struct nai_buf *out, const char *text, size_t len, int width, int head) {
  int chars = (int)nai_text_chars(text, len), tail = width - head - 1;
  size_t end = bytes_of(text, len, chars - tail);
  nai_buf_put(out, text, bytes_of(text, len, head));
  nai_buf_puts(out, "\xe2\x80\xa6");
  nai_buf_put(out, text + end, len - end);
}

/* The text, which is part of the table's cells, cut in its middle; elsewhere if another one of its column looks like
 * that then: kernels may have both ends in common. */
static void put_cut(struct nai_rows *r, uint32_t column, const char *text, size_t len) {
  const int width = r->widths[column], heads[] = {width / 2, width - 1, width * 3 / 4, width / 4};
  size_t at = r->out->len;
  for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) {
    r->out->len = at;
    put_shortened(r->out, text, len, width, heads[k]);
    if (r->out->oom)
      return;
    nai_buf_clear(&r->scratch);
    nai_buf_printf(&r->scratch, "%" PRIu32 " %s", column, r->out->data + at);
    const uint32_t before = r->cut.count;
    const uint32_t id = nai_strings_add(&r->cut, nai_buf_str(&r->scratch), r->scratch.len);
    r->cells.oom |= id == NAI_NO_STRING || r->scratch.oom ||
                    (id == r->capacity && !nai_array_room(&r->whole, &r->capacity, id, sizeof *r->whole));
    if (r->cells.oom)
      return;
    if (id == before)
      r->whole[id] = text;
    if (strlen(r->whole[id]) == len && memcmp(r->whole[id], text, len) == 0)
      return;
  }
  r->out->len = at; /* there are too many */
  put_shortened(r->out, text, len, width, heads[0]);
}

/* A cell in its column; behind the last text there are no blanks. */
static void put_padded(struct nai_rows *r, uint32_t i, const char *text, size_t len) {
  if (i >= r->shown)
    return;
  int chars = (int)nai_text_chars(text, len), pad = chars < r->widths[i] ? r->widths[i] - chars : 0;
  nai_buf_printf(r->out, "%*s", (i ? 2 : 0) + (r->numbers[i] ? pad : 0), "");
  if (r->numbers[i] || !r->width || chars <= r->widths[i])
    nai_buf_put(r->out, text, len);
  else
    put_cut(r, i, text, len);
  if (!r->numbers[i] && i + 1 < r->shown)
    nai_buf_printf(r->out, "%*s", pad, "");
}

/* The headers, each in as many lines as it needs, above the first row. */
static const char *put_titles(struct nai_rows *r, const char *titles) {
  const char *title = titles;
  int lines = 1;
  for (uint32_t i = 0; i < r->shown; i++, title += strlen(title) + 1)
    lines = lines_of(title, r->widths[i]) > lines ? lines_of(title, r->widths[i]) : lines;
  for (int line = 0; line < lines; line++) {
    size_t start = r->out->len;
    title = titles;
    for (uint32_t i = 0; i < r->count; i++, title += strlen(title) + 1) {
      const char *part = title;
      int skip = line - (lines - lines_of(title, r->widths[i]));
      for (; skip > 0; skip--) {
        part += line_of(part, r->widths[i]);
        part += *part == ' ';
      }
      put_padded(r, i, part, skip < 0 ? 0 : line_of(part, r->widths[i]));
    }
    while (r->out->len > start && r->out->data[r->out->len - 1] == ' ')
      r->out->len--;
    nai_buf_putc(r->out, '\n');
  }
  return title;
}

/* Which columns do not fit. */
static void put_left_out(struct nai_rows *r) {
  const char *title = nai_buf_str(&r->cells);
  if (r->cells.oom || r->shown == r->count)
    return;
  NAI_SCOPED(nai_buf) line = {0};
  for (uint32_t i = 0; i < r->count; i++, title += strlen(title) + 1)
    if (i >= r->shown)
      nai_buf_printf(&line, "%s%s", i == r->shown ? "not shown, too wide: " : ", ", title);
  nai_text_wrap(r->out, nai_buf_str(&line), line.len, 2, r->width);
  r->out->oom |= line.oom;
}

static void end_table(struct nai_rows *r) {
  if (!r->rows && r->none) {
    nai_text_wrap(r->out, r->none, strlen(r->none), 0, r->width);
    return;
  }
  r->shown = r->count;
  set_widths(r);
  const char *at = r->cells.oom ? "" : put_titles(r, nai_buf_str(&r->cells));
  for (int64_t row = 0; row < r->rows && !r->cells.oom; row++) {
    for (uint32_t i = 0; i < r->count; i++, at += strlen(at) + 1)
      put_padded(r, i, at, strlen(at));
    nai_buf_putc(r->out, '\n');
  }
  put_left_out(r);
  r->out->oom |= r->cells.oom;
}

/* --- the others ------------------------------------------------------------------------------------ */

/* A line of CSV or Markdown: names of columns, or the cells of a row. */
static void put_line(struct nai_rows *r, const struct nai_value *cells) {
  bool markdown = r->format == NAI_ROWS_MARKDOWN;
  nai_buf_puts(r->out, markdown ? "|" : "");
  for (uint32_t i = 0; i < r->count; i++) {
    nai_buf_puts(r->out, markdown ? " " : i ? "," : "");
    if (cells)
      put_cell(r, r->out, i, &cells[i]);
    else
      put_text(r, r->out, r->columns[i].name);
    nai_buf_puts(r->out, markdown ? " |" : "");
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
  nai_json_open(&r->json, r->out, NAI_JSON_LINES);
  if (r->title)
    nai_json_put_text(&r->json, "title", r->title);
  nai_json_put_array(&r->json, "columns", NAI_JSON_LINES);
  for (uint32_t i = 0; i < r->count; i++) {
    nai_json_begin_object(&r->json, NAI_JSON_INLINE);
    nai_json_put_text(&r->json, "name", r->columns[i].name);
    nai_json_put_text(&r->json, "unit", r->columns[i].unit < NAI_UNIT_COUNT ? nai_unit_name(r->columns[i].unit) : NULL);
    nai_json_end(&r->json);
  }
  nai_json_end(&r->json);
  nai_json_put_array(&r->json, "rows", NAI_JSON_LINES);
}

static void put_json_row(struct nai_rows *r, const struct nai_value *cells) {
  nai_json_begin_array(&r->json, NAI_JSON_INLINE);
  for (uint32_t i = 0; i < r->count; i++)
    put_json_cell(r, i, &cells[i]);
  nai_json_end(&r->json);
}

static void put_ndjson_row(struct nai_rows *r, const struct nai_value *cells) {
  nai_json_open(&r->json, r->out, NAI_JSON_INLINE);
  for (uint32_t i = 0; i < r->count; i++) {
    nai_json_key(&r->json, r->columns[i].name);
    put_json_cell(r, i, &cells[i]);
  }
  nai_json_close(&r->json);
}

static void begin_csv(struct nai_rows *r) { put_line(r, NULL); }

/* Names, and which columns are numbers: those of a unit; of the others nobody knows yet. */
static void begin_markdown(struct nai_rows *r) {
  put_line(r, NULL);
  nai_buf_putc(r->out, '|');
  for (uint32_t i = 0; i < r->count; i++)
    nai_buf_puts(r->out, r->columns[i].unit == NAI_TEXT || r->columns[i].unit == NAI_UNIT_COUNT ? " --- |" : " ---: |");
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
    [NAI_ROWS_TABLE] = {begin_table, put_table_row, end_table}, [NAI_ROWS_CSV] = {begin_csv, put_line, nothing},
    [NAI_ROWS_JSON] = {begin_json, put_json_row, end_json},     [NAI_ROWS_NDJSON] = {nothing, put_ndjson_row, nothing},
    [NAI_ROWS_MARKDOWN] = {begin_markdown, put_line, nothing},
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
  free(r->whole);
  nai_strings_free(&r->cut);
  free(r->numbers);
}
