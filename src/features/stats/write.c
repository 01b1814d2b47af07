/* Reports in each format. */
#include "features/stats/request.h"

#include "base/escape.h"
#include "base/text.h"
#include "base/threads.h"
#include "table/json.h"

struct writer {
  struct nai_buf *out;
  const struct nai_stats_column *columns;
  const char *name; /* of the report, as it was asked for */
  bool rule;
  const char *title;
  const struct nai_stats_format *format;
  struct nai_stats_rows *rows;
  const struct nai_stats_scale *scale[NAI_STATS_UNITS];
  struct nai_buf *cell;  /* scratch */
  const struct printed { /* source->texts as csv or tsv has them */
    const char *text;
    size_t len;
  } * texts, *kinds; /* and kinds of rows: of each what columns next to each other show */
  int stretches;     /* of such columns */
  bool old;
};

/* --- cells -------------------------------------------------------------------------------------------- */

static const char *header(struct writer *w, const struct nai_stats_column *column) {
  nai_buf_clear(w->cell);
  nai_buf_puts(w->cell, column->name);
  if (column->unit == NAI_STATS_PLAIN || column->unit == NAI_STATS_ADDRESS || w->format->no_header_unit)
    return nai_buf_str(w->cell);
  nai_buf_puts(w->cell, " (");
  nai_stats_put_unit(w->cell, column->unit, w->scale[column->unit], w->old);
  nai_buf_putc(w->cell, ')');
  return nai_buf_str(w->cell);
}

static bool is_number(const struct nai_stats_cell *cell) {
  return cell->type == NAI_STATS_INT || cell->type == NAI_STATS_REAL;
}

static inline void put_name(struct nai_stats_cell *out, const struct nai_strings *texts, int64_t number, bool empty) {
  const bool known = number >= 0 && number < texts->count;
  *out = (struct nai_stats_cell){.type = known || empty ? NAI_STATS_TEXT : NAI_STATS_MISSING, .text = ""};
  if (known) {
    out->text = nai_strings_get(texts, (uint32_t)number);
    out->number = (uint32_t)number + 1;
  }
}

static inline const int64_t *number_at(const struct nai_stats_column *column, const void *record) {
  return (const int64_t *)((const char *)record + column->at);
}

/* Millions of cells are made: they are filled where they lie. */
static inline void make_cell(struct nai_stats_cell *out, const struct writer *w, const struct nai_stats_column *column,
                             const void *record) {
  const void *member = (const char *)record + column->at;
  out->type = NAI_STATS_MISSING;
  switch (column->shows) {
  case NAI_STATS_SHOWS_INT:
    out->i = *(const int64_t *)member;
    out->type = out->i == NAI_STATS_NULL ? NAI_STATS_MISSING : NAI_STATS_INT;
    return;
  case NAI_STATS_SHOWS_REAL:
    nai_stats_put_real(out, *(const double *)member);
    return;
  case NAI_STATS_SHOWS_ROUNDED:
    nai_stats_put_real(out, nai_stats_round(*(const double *)member));
    return;
  case NAI_STATS_SHOWS_TEXT:
  case NAI_STATS_SHOWS_NAME:
    put_name(out, &w->rows->source->texts, *(const int64_t *)member, column->shows == NAI_STATS_SHOWS_NAME);
    return;
  case NAI_STATS_SHOWS_CELL:
    *out = (struct nai_stats_cell){.type = NAI_STATS_MISSING};
    column->cell(out, w->rows, record, column->at);
  }
}

/* Of a cell that is no number. */
static const char *text_of(const struct writer *w, const struct nai_stats_cell *cell) {
  return cell->type == NAI_STATS_TEXT ? cell->text : w->old && cell->type == NAI_STATS_MISSING ? "None" : "";
}

/* The cell in the writer's buffer; its type. */
static struct nai_stats_cell read_cell(struct writer *w, const struct nai_stats_column *column, const void *record) {
  struct nai_stats_cell cell;
  make_cell(&cell, w, column, record);
  nai_buf_clear(w->cell);
  if (is_number(&cell))
    nai_stats_put_number(w->cell, &cell, w->scale[column->unit]);
  else
    nai_buf_puts(w->cell, text_of(w, &cell));
  return cell;
}

/* --- rows: printed in parts, side by side ---------------------------------------------------------------- */

typedef void put_row_fn(struct writer *w, const void *ctx, const void *record, uint32_t row);

enum { PART_ROWS = 1024, MOST_THREADS = 8 /* each holds the text of a part */ };
struct parts {
  const struct writer *whole;
  put_row_fn *put;
  const void *ctx;
  pthread_mutex_t lock;
  pthread_cond_t turn_changed;
  int turn; /* of the part whose text is the next */
};

/* Parts begin in their order, so that one whose turn it is not yet waits for one that is being printed. */
static int append_in_turn(struct parts *parts, int part, const struct nai_buf *text, struct nai_err *err) {
  NAI_LOCKED(&parts->lock);
  while (parts->turn != part)
    pthread_cond_wait(&parts->turn_changed, &parts->lock);
  nai_buf_put(parts->whole->out, nai_buf_str(text), text->len);
  parts->turn++;
  pthread_cond_broadcast(&parts->turn_changed);
  return nai_buf_check(parts->whole->out, err);
}

static int put_part(void *ctx, int part, struct nai_err *err) {
  struct parts *parts = ctx;
  NAI_SCOPED(nai_buf) text = {0}, cell = {0};
  NAI_SCOPED(nai_stats_rows) rows = *parts->whole->rows;
  struct writer w = *parts->whole;
  const uint32_t first = (uint32_t)part * PART_ROWS;
  rows.scratch = (struct nai_buf){0};
  rows.stack = (struct nai_stats_stack){0};
  w.cell = &cell;
  w.rows = &rows;
  w.out = &text;
  for (uint32_t row = first; row < rows.count && row - first < PART_ROWS; row++)
    parts->put(&w, parts->ctx, nai_stats_record_of(&rows, row), row);
  int rc = append_in_turn(parts, part, &text, err);
  return text.oom || cell.oom || rows.scratch.oom || rows.stack.text.oom ? nai_err_nomem(err) : rc;
}

static int put_rows(struct writer *w, put_row_fn *put, const void *ctx, struct nai_err *err) {
  struct parts parts = {
      .whole = w, .put = put, .ctx = ctx, .lock = PTHREAD_MUTEX_INITIALIZER, .turn_changed = PTHREAD_COND_INITIALIZER};
  int threads = nai_cpu_count() < MOST_THREADS ? nai_cpu_count() : MOST_THREADS;
  int count = (int)((w->rows->count + (uint64_t)PART_ROWS - 1) / PART_ROWS);
  return nai_parallel(threads, count, put_part, &parts, err);
}

/* --- csv, tsv ----------------------------------------------------------------------------------------- */

static bool is_quoted(const char *text) { return text[strcspn(text, ",\"\n\r")]; }

/* Quotes double, as in RFC 4180. */
static void put_quoted(struct nai_buf *out, const char *text) {
  nai_buf_putc(out, '"');
  for (size_t len; *text; text += len) {
    len = strcspn(text, "\"");
    nai_buf_put(out, text, len);
    if (text[len] == '"')
      nai_buf_puts(out, "\"\""), len++;
  }
  nai_buf_putc(out, '"');
}

/* No text of a trace holds a tab. */
static void put_delimited(struct writer *w, bool tabs, const char *text) {
  if (!tabs && is_quoted(text))
    put_quoted(w->out, text);
  else
    nai_buf_puts(w->out, text);
}

static void put_delimited_cell(struct writer *w, bool tabs, const struct nai_stats_column *c, const void *record) {
  struct nai_stats_cell cell;
  if (c->shows == NAI_STATS_SHOWS_INT && !w->scale[c->unit] && *number_at(c, record) != NAI_STATS_NULL) {
    nai_stats_put_digits(w->out, *number_at(c, record)); /* most cells of long reports */
    return;
  }
  make_cell(&cell, w, c, record);
  if (is_number(&cell))
    nai_stats_put_number(w->out, &cell, w->scale[c->unit]);
  else if (cell.type == NAI_STATS_TEXT && cell.number && w->texts)
    nai_buf_put(w->out, w->texts[cell.number - 1].text, w->texts[cell.number - 1].len);
  else
    put_delimited(w, tabs, text_of(w, &cell));
}

/* The columns of a row's kind from `c` on; the last of them. */
static const struct nai_stats_column *put_of_kind(struct writer *w, bool tabs, const struct nai_stats_column *c,
                                                  const void *record) {
  put_delimited_cell(w, tabs, c, record);
  while (c[1].of_kind) {
    nai_buf_putc(w->out, tabs ? '\t' : ',');
    put_delimited_cell(w, tabs, ++c, record);
  }
  return c;
}

static void put_delimited_row(struct writer *w, const void *ctx, const void *record, uint32_t row) {
  const bool tabs = *(const bool *)ctx;
  const struct printed *of_kind = NULL;
  (void)row;
  if (w->kinds)
    of_kind = w->kinds + *(const int64_t *)((const char *)record + w->rows->kind_at) * w->stretches;
  for (const struct nai_stats_column *c = w->columns; c->name; c++) {
    if (c != w->columns)
      nai_buf_putc(w->out, tabs ? '\t' : ',');
    if (!c->of_kind || !of_kind) {
      put_delimited_cell(w, tabs, c, record);
      continue;
    }
    nai_buf_put(w->out, of_kind->text, of_kind->len);
    of_kind++;
    while (c[1].of_kind)
      c++;
  }
  nai_buf_putc(w->out, '\n');
}

/* Texts that many rows have are quoted once. */
static int print_texts(struct writer *w, bool tabs, struct nai_err *err) {
  struct nai_arena *arena = &w->rows->source->arena;
  const struct nai_strings *texts = &w->rows->source->texts;
  struct printed *printed;
  if (texts->count > w->rows->count)
    return NAI_OK;
  NAI_TRY(NAI_NEW(printed, arena, texts->count, err));
  for (uint32_t t = 0; t < texts->count; t++) {
    printed[t] = (struct printed){nai_strings_get(texts, t), nai_strings_len(texts, t)};
    if (tabs || !is_quoted(printed[t].text))
      continue;
    nai_buf_clear(w->cell);
    put_quoted(w->cell, printed[t].text);
    printed[t] = (struct printed){nai_arena_printf(arena, "%s", nai_buf_str(w->cell)), w->cell->len};
  }
  w->texts = printed;
  NAI_TRY(nai_buf_check(w->cell, err));
  return nai_arena_check(arena, err);
}

/* So are the columns of each kind of rows. */
static int print_kinds(struct writer *w, bool tabs, struct nai_err *err) {
  struct nai_arena *arena = &w->rows->source->arena;
  struct nai_buf *const out = w->out;
  struct printed *printed;
  for (const struct nai_stats_column *c = w->columns; c->name; c++)
    w->stretches += c->of_kind && !(c > w->columns && c[-1].of_kind);
  if (!w->stretches || !w->rows->kind_count)
    return NAI_OK;
  NAI_TRY(NAI_NEW(printed, arena, (size_t)w->rows->kind_count * (size_t)w->stretches, err));
  w->kinds = printed;
  w->out = w->cell;
  for (uint32_t kind = 0; kind < w->rows->kind_count; kind++) {
    const void *record = nai_stats_record_of(w->rows, w->rows->kinds[kind]);
    for (const struct nai_stats_column *c = w->columns; c->name; c++) {
      if (!c->of_kind)
        continue;
      nai_buf_clear(w->cell);
      c = put_of_kind(w, tabs, c, record);
      *printed++ = (struct printed){nai_arena_printf(arena, "%s", nai_buf_str(w->cell)), w->cell->len};
    }
  }
  w->out = out;
  NAI_TRY(nai_buf_check(w->cell, err));
  return nai_arena_check(arena, err);
}

static int write_delimited(struct writer *w, bool tabs, struct nai_err *err) {
  NAI_TRY(print_texts(w, tabs, err));
  NAI_TRY(print_kinds(w, tabs, err));
  for (const struct nai_stats_column *c = w->columns; c->name && !w->format->no_header; c++) {
    nai_buf_puts(w->out, c == w->columns ? "" : tabs ? "\t" : ",");
    put_delimited(w, tabs, header(w, c));
  }
  nai_buf_puts(w->out, w->format->no_header ? "" : "\n");
  return put_rows(w, put_delimited_row, &tabs, err);
}

/* --- json --------------------------------------------------------------------------------------------- */

static void put_json(struct writer *w, const char *text) {
  struct nai_json json;
  nai_json_init(&json, w->out, false);
  nai_json_text(&json, text);
  nai_json_finish(&json);
}

static void put_json_row(struct writer *w, const void *ctx, const void *record, uint32_t row) {
  (void)ctx;
  nai_buf_puts(w->out, "  {\n");
  for (const struct nai_stats_column *c = w->columns; c->name; c++) {
    nai_buf_puts(w->out, "    ");
    put_json(w, header(w, c));
    nai_buf_puts(w->out, ": ");
    struct nai_stats_cell cell = read_cell(w, c, record);
    if (is_number(&cell) && c->unit != NAI_STATS_ADDRESS)
      nai_buf_puts(w->out, nai_buf_str(w->cell));
    else
      put_json(w, nai_buf_str(w->cell));
    nai_buf_puts(w->out, c[1].name ? ",\n" : "\n");
  }
  nai_buf_puts(w->out, row + 1 < w->rows->count ? "  },\n" : "  }\n");
}

static int write_json(struct writer *w, struct nai_err *err) {
  nai_buf_puts(w->out, "[\n");
  NAI_TRY(put_rows(w, put_json_row, NULL, err));
  nai_buf_puts(w->out, "]\n");
  return NAI_OK;
}

/* --- html --------------------------------------------------------------------------------------------- */

static void put_html(struct writer *w, const char *tag, const char *text) {
  nai_buf_printf(w->out, "      <%s>", tag);
  nai_escape_html(w->out, text, strlen(text));
  nai_buf_printf(w->out, "</%s>\n", tag);
}

static void put_html_row(struct writer *w, const void *ctx, const void *record, uint32_t row) {
  (void)ctx, (void)row;
  nai_buf_puts(w->out, "    <tr>\n");
  for (const struct nai_stats_column *c = w->columns; c->name; c++) {
    read_cell(w, c, record);
    put_html(w, "td", nai_buf_str(w->cell));
  }
  nai_buf_puts(w->out, "    </tr>\n");
}

static int write_html(struct writer *w, struct nai_err *err) {
  nai_buf_puts(w->out, "<table>\n");
  if (!w->format->no_header) {
    nai_buf_puts(w->out, "  <thead>\n    <tr>\n");
    for (const struct nai_stats_column *c = w->columns; c->name; c++)
      put_html(w, "th", header(w, c));
    nai_buf_puts(w->out, "    </tr>\n  </thead>\n");
  }
  nai_buf_puts(w->out, "  <tbody>\n");
  NAI_TRY(put_rows(w, put_html_row, NULL, err));
  nai_buf_puts(w->out, "  </tbody>\n</table>\n");
  return NAI_OK;
}

static int write_document(struct writer *w, struct nai_err *err) {
  const char *title = w->format->title ? w->format->title : "Nsight Systems Stats Output";
  nai_buf_puts(w->out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"UTF-8\">\n  <title>");
  nai_escape_html(w->out, title, strlen(title));
  nai_buf_puts(w->out, "</title>\n");
  if (w->format->css) {
    nai_buf_puts(w->out, "  <link rel=\"stylesheet\" href=\"");
    nai_escape_html(w->out, w->format->css, strlen(w->format->css));
    nai_buf_puts(w->out, "\">\n");
  }
  nai_buf_printf(w->out, "</head>\n<body>\n<h1>%s (%s)</h1>\n", w->title, w->name);
  NAI_TRY(write_html(w, err));
  nai_buf_puts(w->out, "</body>\n</html>\n");
  return NAI_OK;
}

/* --- column, table ------------------------------------------------------------------------------------ */

struct layout {
  bool table;
  int width[NAI_STATS_MAX_SHOWN];
  bool right[NAI_STATS_MAX_SHOWN]; /* numbers */
};

static int chars(const char *text) { return (int)nai_text_chars(text, strlen(text)); }

/* The width that was asked for, of the c-th column that is shown. */
static int asked_width(const struct nai_stats_format *format, int c) {
  for (int i = 0; i < format->width_count; i++)
    if (format->width[i] && c-- == 0)
      return format->width[i];
  return -1;
}

/* By the first rows. What the first one holds tells whether the column has numbers. */
static void measure(struct layout *layout, struct writer *w) {
  const struct nai_stats_column *columns = w->columns;
  uint32_t lines = w->format->auto_lines ? (uint32_t)w->format->auto_lines : UINT32_MAX;
  for (int c = 0; columns[c].name; c++) {
    layout->width[c] = w->format->no_header ? 1 : chars(header(w, &columns[c]));
    for (uint32_t row = 0; row < w->rows->count && row < lines; row++) {
      struct nai_stats_cell cell = read_cell(w, &columns[c], nai_stats_record_of(w->rows, row));
      if (row == 0)
        layout->right[c] = is_number(&cell) || cell.type == NAI_STATS_BLANK;
      int width = chars(nai_buf_str(w->cell));
      layout->width[c] = width > layout->width[c] ? width : layout->width[c];
    }
    if (w->format->max_width && layout->width[c] > w->format->max_width)
      layout->width[c] = w->format->max_width;
    if (asked_width(w->format, c) > 0)
      layout->width[c] = asked_width(w->format, c);
  }
}

static void put_blanks(struct nai_buf *out, char what, int count) {
  nai_buf_fill(out, what, count > 0 ? (size_t)count : 0);
}

enum side { LEFT, RIGHT, MIDDLE };

/* A text in a field; one that is too long ends in three dots of one character. */
static void put_field(struct nai_buf *out, const struct nai_buf *cell, int width, enum side side) {
  const char *text = nai_buf_str(cell), *end = text;
  int spare = width - (int)nai_text_chars(text, cell->len);
  int left = spare < 0 || side == LEFT ? 0 : side == RIGHT ? spare : spare / 2;
  put_blanks(out, ' ', left);
  if (spare >= 0) {
    nai_buf_put(out, text, cell->len);
    put_blanks(out, ' ', spare - left);
    return;
  }
  for (int c = 0; c < width - 1; c++)
    do
      end++;
    while ((*end & 0xC0) == 0x80); /* the rest of a character */
  nai_buf_put(out, text, (size_t)(end - text));
  nai_buf_puts(out, "\xe2\x80\xa6");
}

static void put_rule(struct writer *w, const struct layout *layout) {
  const bool table = layout->table;
  nai_buf_puts(w->out, table ? "+" : "");
  for (int c = 0; w->columns[c].name; c++) {
    nai_buf_puts(w->out, table ? "-" : c ? "  " : " ");
    put_blanks(w->out, '-', layout->width[c]);
    nai_buf_puts(w->out, table ? "-+" : "");
  }
  nai_buf_putc(w->out, '\n');
}

static void put_separated(struct writer *w, bool table, int c, int width, enum side side) {
  nai_buf_puts(w->out, table ? c ? " " : "| " : c ? "  " : " ");
  put_field(w->out, w->cell, width, side);
  nai_buf_puts(w->out, table ? " |" : "");
}

static void put_columns_row(struct writer *w, const void *ctx, const void *record, uint32_t row) {
  const struct layout *layout = ctx;
  (void)row;
  for (int c = 0; w->columns[c].name; c++) {
    read_cell(w, &w->columns[c], record);
    put_separated(w, layout->table, c, layout->width[c], layout->right[c] ? RIGHT : LEFT);
  }
  nai_buf_putc(w->out, '\n');
}

static int write_columns(struct writer *w, bool table, struct nai_err *err) {
  struct layout layout = {.table = table};
  measure(&layout, w);
  if (table)
    put_rule(w, &layout);
  for (int c = 0; w->columns[c].name && !w->format->no_header; c++) {
    header(w, &w->columns[c]);
    put_separated(w, table, c, layout.width[c], MIDDLE);
  }
  if (!w->format->no_header) {
    nai_buf_putc(w->out, '\n');
    put_rule(w, &layout);
  }
  NAI_TRY(put_rows(w, put_columns_row, &layout, err));
  if (table)
    put_rule(w, &layout);
  return NAI_OK;
}

static int write_titled(struct writer *w, bool table, struct nai_err *err) {
  nai_buf_printf(w->out, "\n ** %s (%s):\n\n", w->title, w->name);
  if (w->rows->count)
    return write_columns(w, table, err);
  nai_buf_puts(w->out, w->rule ? "No such problem was found.\n" : "The report has no rows.\n");
  return NAI_OK;
}

/* --- all ---------------------------------------------------------------------------------------------- */

static int write_kind(struct writer *w, struct nai_err *err) {
  switch (w->format->kind) {
  case NAI_STATS_CSV:
  case NAI_STATS_TSV:
    return w->rows->count ? write_delimited(w, w->format->kind == NAI_STATS_TSV, err) : NAI_OK;
  case NAI_STATS_JSON:
    return write_json(w, err);
  case NAI_STATS_HTABLE:
    return write_html(w, err);
  case NAI_STATS_HDOC:
    return write_document(w, err);
  default:
    return write_titled(w, w->format->kind == NAI_STATS_TABLE, err);
  }
}

/* Those of the report that were asked for. */
static int choose_columns(struct nai_stats_column shown[NAI_STATS_MAX_SHOWN + 1], const struct nai_stats_report *report,
                          const struct nai_stats_rows *rows, const struct nai_stats_format *format, bool old,
                          struct nai_err *err) {
  const struct nai_stats_column *own = old && report->old_columns ? report->old_columns : report->columns;
  int count = 0, place = 0;
  for (const struct nai_stats_column *c = rows->columns ? rows->columns : own; c->name; c++) {
    if (c->quartile && !rows->quartiles)
      continue;
    int width = place < format->width_count ? format->width[place] : -1;
    place++;
    if (!width)
      continue;
    if (count == NAI_STATS_MAX_SHOWN)
      return nai_err_set(err, NAI_EUSAGE, "report %s has more than %d columns", report->name, NAI_STATS_MAX_SHOWN);
    shown[count++] = *c;
  }
  return NAI_OK;
}

int nai_stats_write(struct nai_buf *out, const struct nai_stats_report *report, const struct nai_stats_options *options,
                    struct nai_stats_rows *rows, const struct nai_stats_format *format, struct nai_err *err) {
  struct nai_stats_column columns[NAI_STATS_MAX_SHOWN + 1] = {0};
  NAI_SCOPED(nai_buf) cell = {0};
  NAI_TRY(choose_columns(columns, report, rows, format, options->old, err));
  struct writer w = {.out = out,
                     .columns = columns,
                     .name = options->old ? report->old : report->name,
                     .title = report->title,
                     .rule = report->advice != NULL,
                     .format = format,
                     .rows = rows,
                     .cell = &cell,
                     .old = options->old};
  for (int unit = 0; unit < NAI_STATS_UNITS && !format->no_conversion; unit++)
    w.scale[unit] = format->scale[unit] ? format->scale[unit] : nai_stats_scale_default((enum nai_stats_unit)unit);
  NAI_TRY(write_kind(&w, err));
  nai_buf_putc(out, '\n');
  return cell.oom || rows->scratch.oom || rows->stack.text.oom ? nai_err_nomem(err) : nai_buf_check(out, err);
}
