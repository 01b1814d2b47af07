/* The cells of one row: how busy it is then, and blocks for events that are wide enough. */
#include "features/view/state.h"

#include "base/fmt.h"

enum { BLOCK_COLUMNS = 3, LEVELS = 8 };

/* A row as it is drawn. */
struct strip {
  struct nai_screen *screen;
  const struct nai_term *v;
  const struct nai_row *row;
  const struct nai_spans *s;
  int y, x, columns, height;
};

static uint32_t level_glyph(const struct nai_screen *s, int level) {
  return s->ascii ? (uint32_t) " .:-=+*#%"[level] : level ? 0x2580u + (uint32_t)level : ' ';
}

static uint8_t color_of(const struct nai_term *v, int category) {
  int color = v->options->color && category ? 1 + (category + 1) % (NAI_COLORS - 1) : 0;
  return (uint8_t)color;
}

/* 0 for nothing at all, else 1 .. most. */
static int level_of(int64_t busy, int64_t cell, int most) {
  if (busy <= 0)
    return 0;
  int64_t level = 1 + nai_scale(busy, most, cell > 0 ? cell : 1);
  return level > most ? most : (int)level;
}

/* --- cells -------------------------------------------------------------------------------------------- */

/* The event that takes most of [a, b): the longest of those that begin in it, or the one that goes on when it begins.
 */
static uint32_t main_event(const struct nai_spans *s, int64_t a, int64_t b) {
  uint32_t going = nai_spans_at(s, a), begun = nai_spans_longest(s, nai_spans_from(s, a), nai_spans_from(s, b));
  if (going >= s->count || begun >= s->count)
    return going < s->count ? going : begun;
  int64_t until = nai_spans_end(s, going), start = nai_spans_start(s, begun), end = nai_spans_end(s, begun);
  return (end < b ? end : b) - start > (until < b ? until : b) - a ? begun : going;
}

static void draw_level(const struct strip *t, int column, int level, uint8_t color) {
  for (int line = 0; line < t->height; line++) {
    int part = level - LEVELS * (t->height - 1 - line);
    part = part < 0 ? 0 : part > LEVELS ? LEVELS : part;
    nai_screen_set(t->screen, t->y + line, t->x + column, level_glyph(t->screen, part), 0, color);
  }
}

static void draw_busy_cell(const struct strip *t, int column, int64_t a, int64_t b, int64_t busy) {
  int category = 0;
  if (a == b) /* shorter than a nanosecond */
    busy = nai_spans_at(t->s, a) < t->s->count;
  if (busy && t->v->options->color && t->row->kind == NAI_ROW_EVENTS) {
    uint32_t event = main_event(t->s, a, b);
    category = event < t->s->count ? nai_event_category(&t->v->scene, t->row, event) : 0;
  }
  draw_level(t, column, level_of(busy, b - a, LEVELS * t->height), color_of(t->v, category));
}

/* C computation, X communication, M copies, . nothing: the largest part. */
static void draw_work_cell(const struct strip *t, int column, int64_t a, int64_t b, int64_t busy) {
  const struct nai_bands *bands = &t->v->scene.bands[t->row->gpu];
  int64_t comm = nai_spans_covered(&bands->communication, b) - nai_spans_covered(&bands->communication, a);
  int64_t copy = nai_spans_covered(&bands->copy, b) - nai_spans_covered(&bands->copy, a);
  const int64_t parts[] = {busy - comm - copy, comm, copy, b - a - busy};
  int largest = 0;
  for (int i = 1; i < 4; i++)
    largest = parts[i] > parts[largest] ? i : largest;
  if (a == b)
    return;
  static const uint8_t colors[] = {2, 5, 3, 0};
  nai_screen_set(t->screen, t->y, t->x + column, (uint32_t) "CXM."[largest], 0,
                 t -> v -> options -> color ? colors[largest] : 0);
}

/* The cause of the longest gap, where an eighth of the cell or more is idle. */
static void draw_gap_cell(const struct strip *t, int column, int64_t a, int64_t b, int64_t idle) {
  uint32_t gap = main_event(t->s, a, b);
  if (b > a && idle > 0 && idle >= (b - a) / LEVELS && gap < t->s->count)
    nai_screen_set(t->screen, t->y, t->x + column, (uint32_t)nai_cause_letter(&t->v->scene, t->row->gpu, gap), 0, 0);
}

static void draw_cells(const struct strip *t) {
  int64_t a = nai_term_column_time(t->v, 0, t->columns), before = nai_spans_covered(t->s, a);
  for (int c = 0; c < t->columns; c++) {
    int64_t b = nai_term_column_time(t->v, c + 1, t->columns), after = nai_spans_covered(t->s, b);
    if (t->row->kind == NAI_ROW_WORK)
      draw_work_cell(t, c, a, b, after - before);
    else if (t->row->kind == NAI_ROW_GAPS)
      draw_gap_cell(t, c, a, b, after - before);
    else
      draw_busy_cell(t, c, a, b, after - before);
    a = b;
    before = after;
  }
}

/* --- blocks ------------------------------------------------------------------------------------------- */

/* "[name---1.2 ms]"; an edge that lies outside of the window is open. */
static void draw_block(const struct strip *t, int from, int to, uint32_t event, uint8_t attributes) {
  struct nai_buf name = {0}, length = {0};
  struct nai_screen *screen = t->screen;
  uint8_t color = color_of(t->v, nai_event_category(&t->v->scene, t->row, event));
  int left = from < 0 ? 0 : from, right = to > t->columns ? t->columns : to, inner = right - left - 2;
  uint32_t fill = screen->ascii ? '-' : 0x2500;
  nai_event_name(&name, &t->v->scene, t->row, event, t->v->full_names);
  nai_fmt_duration(&length, (double)(nai_spans_end(t->s, event) - nai_spans_start(t->s, event)));
  for (int c = left; c < right; c++)
    for (int line = 0; line < t->height; line++)
      nai_screen_set(screen, t->y + line, t->x + c, line ? level_glyph(screen, LEVELS) : fill, line ? 0 : attributes,
                     color);
  nai_screen_set(screen, t->y, t->x + left, from < 0 ? '<' : '[', attributes, color);
  nai_screen_set(screen, t->y, t->x + right - 1, to > t->columns ? '>' : ']', attributes, color);
  int width = nai_screen_width(screen, nai_buf_str(&length));
  bool both = nai_screen_width(screen, nai_buf_str(&name)) + 1 + width <= inner || inner >= 3 * width;
  nai_screen_put(screen, t->y, t->x + left + 1, both ? inner - width - 1 : inner, nai_buf_str(&name), attributes,
                 color);
  if (both)
    nai_screen_put(screen, t->y, t->x + right - 1 - width, width, nai_buf_str(&length), attributes, color);
  nai_screen_drop(screen, &name);
  nai_screen_drop(screen, &length);
}

static void draw_blocks(const struct strip *t) {
  const struct nai_term *v = t->v;
  int64_t start = v->now.start, end = v->now.end;
  int64_t least = v->logical ? 0 : (end - start) / t->columns * BLOCK_COLUMNS;
  uint32_t selected = v->cursor && t->row == nai_term_row(v) ? nai_term_event(v) : t->s->count;
  uint32_t i = nai_spans_open(t->s, start);
  if (v->logical && nai_spans_from(t->s, end) - i > (uint32_t)t->columns)
    return;
  for (int drawn = 0; drawn < 2 * t->columns; drawn++, i++) { /* where they overlap, there may be any number */
    i = nai_spans_long(t->s, i, least);
    if (i >= t->s->count || nai_spans_start(t->s, i) >= end)
      return;
    int64_t a = nai_spans_start(t->s, i), b = nai_spans_end(t->s, i);
    int from = nai_term_time_column(v, a, t->columns), to = nai_term_time_column(v, b - 1, t->columns) + 1;
    from = a < start ? -1 : from;
    to = b > end ? t->columns + 1 : to;
    bool wide = (to > t->columns ? t->columns : to) - (from < 0 ? 0 : from) >= BLOCK_COLUMNS;
    if (b > start && wide)
      draw_block(t, from, to, i,
                 (uint8_t)((v->options->color ? NAI_REVERSE : 0) ^ (i == selected ? NAI_REVERSE | NAI_BOLD : 0)));
  }
}

void nai_draw_row(struct nai_screen *screen, const struct nai_term *v, uint32_t r, int y, int x, int columns,
                  int height) {
  const struct nai_row *row = &v->scene.rows[r];
  const struct strip t = {screen, v, row, nai_row_spans(&v->scene, row), y, x, columns, height};
  draw_cells(&t);
  if (row->kind == NAI_ROW_EVENTS || row->kind == NAI_ROW_GAPS)
    draw_blocks(&t);
  int cursor = v->cursor ? nai_term_time_column(v, v->now.at, columns) : -1;
  for (int line = 0; line < height && cursor >= 0 && cursor < columns; line++) {
    struct nai_glyph *cell = nai_screen_cell(screen, y + line, x + cursor);
    if (cell && cell->character == ' ' && !cell->attributes)
      cell->character = screen->ascii ? '|' : 0x2502;
    else if (cell)
      cell->attributes ^= NAI_REVERSE;
  }
}
