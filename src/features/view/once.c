/* All rows at once, as text or as JSON. */
#include "features/view/state.h"

#include "base/fmt.h"
#include "table/json.h"

static int lines_needed(const struct nai_term *v) {
  int lines = 2;
  for (uint32_t r = 0; r < v->scene.count; r++)
    lines += nai_term_shows(v, r) ? nai_term_row_height(v, r) : 0;
  return lines;
}

/* Lines of at most the width, broken between entries, which two blanks part. */
static void put_wrapped(struct nai_buf *out, const char *text, size_t width) {
  size_t at = 0;
  while (*text) {
    size_t len = strcspn(text, "\n");
    const char *gap = strstr(text, "  ");
    len = gap && (size_t)(gap - text) < len ? (size_t)(gap - text) : len;
    if (at && at + 2 + len > width) {
      nai_buf_putc(out, '\n');
      at = 0;
    }
    nai_buf_printf(out, "%s%.*s", at ? "  " : "", (int)len, text);
    at += len + 2;
    text += len;
    if (*text == '\n') {
      nai_buf_putc(out, '\n');
      at = 0;
    }
    text += strspn(text, " \n");
  }
}

static void print_legend(struct nai_buf *out, const struct nai_term *v) {
  NAI_SCOPED(nai_buf) legend = {0};
  nai_draw_legend(&legend);
  put_wrapped(out, nai_buf_str(&legend), (size_t)v->width);
  out->oom |= legend.oom;
}

static void draw_all(struct nai_screen *s, const struct nai_term *v) {
  struct nai_term_places l = nai_term_layout(v);
  struct nai_buf title = {0};
  nai_draw_header(s, v, 0);
  nai_buf_puts(&title, "column ");
  nai_fmt_duration(&title, (double)(v->now.end - v->now.start) / (l.columns > 0 ? l.columns : 1));
  nai_screen_put(s, 1, 0, l.label, nai_buf_str(&title), 0, 0);
  nai_screen_drop(s, &title);
  nai_draw_axis(s, v, 1, l.x, l.columns);
  int y = 2;
  for (uint32_t r = 0; r < v->scene.count && y < s->height; r++) {
    if (!nai_term_shows(v, r))
      continue;
    int rows = nai_term_row_height(v, r);
    nai_screen_put(s, y, 0, l.label, v->scene.rows[r].label, 0, 0);
    nai_draw_row(s, v, r, y, l.x, l.columns, rows > s->height - y ? s->height - y : rows);
    y += rows;
  }
}

static int print_text(struct nai_buf *out, const struct nai_term *v, int height, struct nai_err *err) {
  NAI_SCOPED(nai_screen) s = {0};
  int lines = lines_needed(v);
  NAI_TRY(nai_screen_new(&s, v->width, height > 0 && lines > height ? height : lines, v->options->ascii, err));
  if (v->scene.count) {
    draw_all(&s, v);
    nai_screen_text(out, &s, 0, s.height);
    print_legend(out, v);
  } else {
    nai_buf_puts(out, "The trace has no events to show.\n");
  }
  return nai_buf_check(out, err);
}

int nai_term_print(struct nai_buf *out, struct nai_term *v, int width, int height, struct nai_err *err) {
  int was = v->width;
  v->width = width;
  int rc = print_text(out, v, height, err);
  v->width = was;
  return rc;
}

/* --- JSON --------------------------------------------------------------------------------------------- */

static void put_cells(struct nai_json *json, const struct nai_term *v, const struct nai_row *row, int columns) {
  const struct nai_spans *s = nai_row_spans(&v->scene, row);
  NAI_SCOPED(nai_buf) text = {0};
  nai_json_begin_object(json, NAI_JSON_INLINE);
  nai_json_put_text(json, "row", row->label + (*row->label == ' '));
  nai_json_put_text(json, "gpu",
                    row->gpu == UINT32_MAX ? NULL
                                           : nai_model_gpu_label(v->scene.m, v->scene.m->gpus[row->gpu].device_id));
  nai_json_key(json, "cell_ns");
  nai_fmt_real(&text, (double)(v->now.end - v->now.start) / columns, 3);
  nai_json_decimal(json, nai_buf_str(&text));
  nai_json_put_array(json, "busy_ns", NAI_JSON_INLINE);
  int64_t before = nai_spans_covered(s, nai_term_column_time(v, 0, columns));
  for (int c = 1; c <= columns; c++) {
    int64_t now = nai_spans_covered(s, nai_term_column_time(v, c, columns));
    nai_json_int(json, now - before);
    before = now;
  }
  nai_json_end(json);
  nai_json_end(json);
  json->out->oom |= text.oom;
}

int nai_term_print_json(struct nai_buf *out, struct nai_term *v, int width, struct nai_err *err) {
  struct nai_json json;
  v->width = width;
  int columns = nai_term_layout(v).columns;
  nai_json_open(&json, out, NAI_JSON_LINES);
  nai_json_put_text(&json, "trace", v->options->title);
  nai_json_put_int(&json, "start_ns", v->now.start);
  nai_json_put_int(&json, "end_ns", v->now.end);
  nai_json_put_int(&json, "columns", columns);
  nai_json_put_array(&json, "rows", NAI_JSON_LINES);
  for (uint32_t r = 0; r < v->scene.count; r++)
    if (nai_term_shows(v, r) && v->scene.rows[r].kind != NAI_ROW_WORK)
      put_cells(&json, v, &v->scene.rows[r], columns);
  nai_json_close(&json);
  return nai_buf_check(out, err);
}
