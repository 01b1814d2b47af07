/* What is where on the screen, and which time is which column. */
#include "features/view/state.h"

struct nai_term_places nai_term_layout(const struct nai_term *v) {
  int label = v->width / 5 + 2;
  label = label < 12 ? 12 : label > 30 ? 30 : label;
  int panel = v->height >= 18 ? NAI_PANEL_ROWS : v->height >= 13 ? 3 : 1;
  struct nai_term_places l = {.label = label,
                              .x = label + 1,
                              .columns = v->width - label - 1,
                              .axis = 1,
                              .y = 2,
                              .rows = v->height - 3 - panel,
                              .panel = v->height - 1 - panel,
                              .panel_rows = panel,
                              .last = v->height - 1};
  return l;
}

/* --- time --------------------------------------------------------------------------------------------- */

/* In logical order each stretch from one event of the selected row to the next has the same width: knots are the
 * window's start, the starts of its events, the window's end. */
struct knots {
  const struct nai_spans *s;
  uint32_t first, count; /* events that start in the window */
};

static bool find_knots(struct knots *k, const struct nai_term *v) {
  const struct nai_row *row = nai_term_row(v);
  if (!v->logical || !row)
    return false;
  k->s = nai_row_spans(&v->scene, row);
  k->first = nai_spans_from(k->s, v->now.start + 1);
  k->count = nai_spans_from(k->s, v->now.end) - k->first;
  return true;
}

static int64_t knot(const struct nai_term *v, const struct knots *k, uint32_t i) {
  return !i ? v->now.start : i <= k->count ? nai_spans_start(k->s, k->first + i - 1) : v->now.end;
}

static int64_t between(int64_t a, int64_t b, int64_t part, int64_t whole) { return a + nai_scale(b - a, part, whole); }

int64_t nai_term_column_time(const struct nai_term *v, int column, int columns) {
  struct knots k;
  if (!find_knots(&k, v))
    return between(v->now.start, v->now.end, column, columns);
  int64_t slots = (int64_t)k.count + 1, at = slots * column;
  if (at < 0 || at >= slots * columns)
    return at < 0 ? v->now.start : v->now.end;
  uint32_t slot = (uint32_t)(at / columns);
  return between(knot(v, &k, slot), knot(v, &k, slot + 1), at % columns, columns);
}

static int64_t logical_column(const struct nai_term *v, const struct knots *k, int64_t t, int columns) {
  if (t < v->now.start || t >= v->now.end)
    return t < v->now.start ? -1 : columns;
  uint32_t slot = nai_spans_from(k->s, t + 1) - k->first; /* of events that start by then */
  int64_t a = knot(v, k, slot), b = knot(v, k, slot + 1), slots = (int64_t)k->count + 1;
  return (slot * (int64_t)columns + (b > a ? between(0, columns, t - a, b - a) : 0)) / slots;
}

int nai_term_time_column(const struct nai_term *v, int64_t t, int columns) {
  struct knots k;
  int64_t column = find_knots(&k, v) ? logical_column(v, &k, t, columns)
                                     : nai_scale(t - v->now.start, columns, v->now.end - v->now.start);
  /* rounding, and columns shorter than a nanosecond: the last column that begins at t or before it */
  while (column >= 0 && column + 1 < columns && nai_term_column_time(v, (int)column + 1, columns) <= t)
    column++;
  enum { FAR = 1000000 };
  return column < -FAR ? -FAR : column > FAR ? FAR : (int)column;
}

/* --- rows --------------------------------------------------------------------------------------------- */

const struct nai_row *nai_term_row(const struct nai_term *v) {
  return v->now.row < v->scene.count ? &v->scene.rows[v->now.row] : NULL;
}

bool nai_term_shows(const struct nai_term *v, uint32_t row) {
  const struct nai_row *r = &v->scene.rows[row];
  return r->depth < v->settings[NAI_SET_DEPTH];
}

int nai_term_row_height(const struct nai_term *v, uint32_t row) {
  const struct nai_row *r = &v->scene.rows[row];
  if (r->kind != NAI_ROW_EVENTS || r->thread >= 0)
    return 1;
  return v->settings[row == v->now.row ? NAI_SET_SELECTED_ROWS : NAI_SET_OTHER_ROWS];
}

uint32_t nai_term_row_at(const struct nai_term *v, int line) {
  uint32_t row = v->top;
  for (int y = 0; row < v->scene.count; row++) {
    if (!nai_term_shows(v, row))
      continue;
    y += nai_term_row_height(v, row);
    if (line < y)
      return row;
  }
  return v->scene.count;
}

uint32_t nai_term_step_row(const struct nai_term *v, uint32_t row, int by) {
  uint32_t at = row;
  while (by > 0 ? at + 1 < v->scene.count : at > 0) {
    at = by > 0 ? at + 1 : at - 1;
    if (nai_term_shows(v, at))
      return at;
  }
  return row;
}

void nai_term_scroll(struct nai_term *v) {
  int rows = nai_term_layout(v).rows;
  if (!v->scene.count)
    return;
  while (!nai_term_shows(v, v->now.row) && v->now.row > 0) /* depth 0 may not be shown either */
    v->now.row--;
  if (v->now.row < v->top)
    v->top = v->now.row;
  for (;;) {
    int y = 0;
    for (uint32_t r = v->top; r <= v->now.row; r++)
      y += nai_term_shows(v, r) ? nai_term_row_height(v, r) : 0;
    if (y <= rows || v->top == v->now.row)
      return;
    v->top++;
  }
}
