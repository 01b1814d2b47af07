/* The whole picture of the timeline. */
#include "features/view/state.h"

#include "base/fmt.h"

/* --- times -------------------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, at least `least`. */
static int64_t step_from(int64_t least) {
  int64_t step = 1;
  while (step < least && step < INT64_MAX / 10)
    step = step * 2 >= least ? step * 2 : step * 5 >= least ? step * 5 : step * 10;
  return step;
}

static void draw_tick(struct nai_screen *s, const struct nai_term *v, int y, int x, int columns, int64_t t,
                      int64_t step, int *free_from) {
  struct nai_buf text = {0};
  int column = nai_term_time_column(v, t, columns);
  if (column < 0 || column >= columns)
    return;
  nai_screen_set(s, y, x + column, s->ascii ? '|' : 0x2502, 0, 0);
  nai_print_tick(&text, v, t, step);
  nai_buf_puts(&text, " s");
  int width = nai_screen_width(s, nai_buf_str(&text));
  int cursor = v->cursor ? nai_term_time_column(v, v->now.at, columns) : -1;
  bool covered = cursor > column && cursor <= column + width;
  if (column >= *free_from && column + 1 + width < columns && !covered) {
    nai_screen_put(s, y, x + column + 1, width, nai_buf_str(&text), 0, 0);
    *free_from = column + width + 3;
  }
  nai_screen_drop(s, &text);
}

/* Ticks at round times; in logical order at every so many columns, whatever the time. */
static void draw_ticks(struct nai_screen *s, const struct nai_term *v, int y, int x, int columns) {
  int64_t length = v->now.end - v->now.start, origin = v->relative ? v->scene.first : 0;
  int64_t step = step_from(length / v->settings[NAI_SET_TICKS] > 0 ? length / v->settings[NAI_SET_TICKS] : 1);
  int free_from = 0;
  if (v->logical) {
    for (int i = 0; i < v->settings[NAI_SET_TICKS]; i++)
      draw_tick(s, v, y, x, columns, nai_term_column_time(v, i * columns / v->settings[NAI_SET_TICKS], columns),
                length / columns, &free_from);
    return;
  }
  int64_t first = (v->now.start - origin) / step * step + origin;
  for (int64_t t = first < v->now.start ? first + step : first; t < v->now.end; t += step)
    draw_tick(s, v, y, x, columns, t, step, &free_from);
}

static void draw_edge(struct nai_screen *s, const struct nai_term *v, int y, int x, int columns, int64_t t,
                      uint32_t glyph) {
  int column = t == INT64_MIN ? -1 : nai_term_time_column(v, t, columns);
  if (column >= 0 && column < columns)
    nai_screen_set(s, y, x + column, glyph, NAI_BOLD, 0);
}

void nai_draw_axis(struct nai_screen *s, const struct nai_term *v, int y, int x, int columns) {
  for (size_t i = 0; i < v->options->place_count; i++)
    draw_edge(s, v, y, x, columns, v->options->places[i].start, '!');
  draw_ticks(s, v, y, x, columns);
  draw_edge(s, v, y, x, columns, v->range_start, '[');
  draw_edge(s, v, y, x, columns, v->range_end, ']');
  draw_edge(s, v, y, x, columns, v->cursor ? v->now.at : INT64_MIN, s->ascii ? 'v' : 0x25bc);
}

/* --- header ------------------------------------------------------------------------------------------- */

void nai_draw_header(struct nai_screen *s, const struct nai_term *v, int y) {
  const struct nai_model *m = v->scene.m;
  const struct nai_row *row = nai_term_row(v);
  struct nai_buf text = {0};
  nai_screen_fill(s, y, 0, s->width, NAI_REVERSE);
  nai_buf_puts(&text, v->options->title);
  if (row && row->gpu != UINT32_MAX && v->cursor && !v->in_tree)
    nai_buf_printf(&text, "  %s", nai_model_gpu_label(m, m->gpus[row->gpu].device_id));
  if (!v->in_tree) {
    nai_buf_puts(&text, "  ");
    nai_print_time(&text, v, v->now.start);
    nai_buf_puts(&text, " + ");
    nai_fmt_duration(&text, (double)(v->now.end - v->now.start));
  }
  if (v->in_tree)
    nai_buf_puts(&text, "  ranges of all threads, by kernel time");
  if (v->in_tree && v->tree.filter)
    nai_buf_printf(&text, "  /%s", v->tree.filter);
  if (!v->in_tree && nai_scene_filtered(&v->scene)) {
    nai_buf_printf(&text, "  /%s", v->scene.filter.text ? v->scene.filter.text : "");
    if (v->scene.filter.min_ns)
      nai_buf_printf(&text, " >= %d \u00b5s", v->settings[NAI_SET_MIN_US]);
    nai_buf_puts(&text, ": ");
    nai_fmt_count(&text, (int64_t)v->scene.matches);
    nai_buf_puts(&text, v->scene.matches == 1 ? " operation" : " operations");
  }
  nai_buf_printf(&text, "  %zu finding%s", v->options->finding_count, v->options->finding_count == 1 ? "" : "s");
  nai_screen_put(s, y, 0, s->width, nai_buf_str(&text), NAI_REVERSE | NAI_BOLD, 0);
  nai_screen_drop(s, &text);
}

/* --- the rows, the last line -------------------------------------------------------------------------- */

static void draw_rows(struct nai_screen *s, const struct nai_term *v, const struct nai_term_places *l) {
  int y = 0;
  for (uint32_t r = v->top; r < v->scene.count && y < l->rows; r++) {
    if (!nai_term_shows(v, r))
      continue;
    int height = nai_term_row_height(v, r);
    height = height > l->rows - y ? l->rows - y : height;
    uint8_t selected = r == v->now.row ? NAI_REVERSE : 0;
    nai_screen_fill(s, l->y + y, 0, l->label, selected);
    nai_screen_put(s, l->y + y, 0, l->label, v->scene.rows[r].label, selected, 0);
    nai_draw_row(s, v, r, l->y + y, l->x, l->columns, height);
    y += height;
  }
  if (!v->scene.count)
    nai_screen_put(s, l->y, 0, s->width, "The trace has no events to show.", 0, 0);
}

static const char *prompt_label(const struct nai_term *v) {
  switch (v->prompt.key) {
  case '/':
  case 'F':
    return v->in_tree ? "ranges with: " : "kernels with: ";
  case 'm':
    return "shortest, in us: ";
  case 'g':
    return v->relative ? "go to second, since the begin: " : "go to second: ";
  default:
    return "write to file: ";
  }
}

static void draw_last(struct nai_screen *s, const struct nai_term *v, int y) {
  if (v->prompt.key) {
    int at = nai_screen_put(s, y, 0, s->width, prompt_label(v), NAI_BOLD, 0);
    at += nai_screen_put(s, y, at, s->width - at - 1, v->prompt.text, 0, 0);
    nai_screen_set(s, y, at, ' ', NAI_REVERSE, 0);
  } else if (v->message.len) {
    nai_screen_put(s, y, 0, s->width, nai_buf_str(&v->message), NAI_BOLD, 0);
  } else {
    nai_screen_put(s, y, 0, s->width,
                   v->in_tree ? "Up Down select  Enter open  v timeline  / filter  ? explain  H keys  q quit"
                              : "+ - zoom  Tab next  / filter  ! finding  ? explain  v tree  h keys  q quit",
                   NAI_DIM, 0);
  }
}

int nai_term_draw(struct nai_screen *s, struct nai_term *v, struct nai_err *err) {
  NAI_TRY(nai_screen_new(s, v->width, v->height, v->options->ascii, err));
  if (v->width < NAI_MIN_WIDTH || v->height < NAI_MIN_HEIGHT) {
    NAI_SCOPED(nai_buf) line = {0};
    nai_buf_printf(&line, "too small: %dx%d of %dx%d; q quits", v->width, v->height, NAI_MIN_WIDTH, NAI_MIN_HEIGHT);
    nai_screen_put(s, 0, 0, s->width, nai_buf_str(&line), 0, 0);
    return NAI_OK;
  }
  struct nai_term_places l = nai_term_layout(v);
  nai_draw_header(s, v, 0);
  if (v->in_tree) {
    nai_draw_tree(s, v, 1, v->height - 2);
  } else {
    nai_draw_axis(s, v, l.axis, l.x, l.columns);
    draw_rows(s, v, &l);
    nai_draw_panel(s, v, l.panel, l.panel_rows);
  }
  nai_overlay_draw(s, v);
  draw_last(s, v, l.last);
  return NAI_OK;
}
