/* What is known of the place that is selected: the event, its launch, its ranges, findings, the cell. */
#include "features/view/state.h"

#include "base/fmt.h"

struct panel {
  struct nai_screen *screen;
  const struct nai_term *v;
  int y, end;
};

static void put_line(struct panel *p, struct nai_buf *text, uint8_t attributes) {
  if (p->y < p->end && text->len)
    nai_screen_put(p->screen, p->y++, 0, p->screen->width, nai_buf_str(text), attributes, 0);
  nai_buf_clear(text);
}

static void print_stretch(struct nai_buf *out, const struct nai_term *v, int64_t start, int64_t end) {
  int64_t origin = v->relative ? v->scene.first : 0;
  nai_fmt_scaled(out, start - origin, 9);
  nai_buf_puts(out, " - ");
  nai_fmt_scaled(out, end - origin, 9);
  nai_buf_puts(out, " s  ");
  nai_fmt_duration(out, (double)(end - start));
}

static void put_event(struct panel *p, const struct nai_row *row, uint32_t event) {
  const struct nai_scene *scene = &p->v->scene;
  const struct nai_spans *s = nai_row_spans(scene, row);
  int64_t start = nai_spans_start(s, event);
  NAI_SCOPED(nai_buf) text = {0};
  nai_buf_puts(&text, row->kind == NAI_ROW_GAPS ? "idle: " : "");
  nai_event_name(&text, scene, row, event, p->v->full_names);
  put_line(p, &text, NAI_BOLD);
  print_stretch(&text, p->v, start, nai_spans_end(s, event));
  nai_buf_puts(&text, "  ");
  nai_event_facts(&text, scene, row, event);
  put_line(p, &text, 0);
  uint32_t call = nai_event_call(scene, row, event);
  if (call != NAI_NO_ROW) {
    int64_t began = nai_at(&scene->m->apis.start_ns, call);
    nai_buf_printf(&text, "launched by %s at ", nai_model_api_name(scene->m, call));
    nai_print_time(&text, p->v, began);
    nai_buf_puts(&text, ", ");
    nai_fmt_duration(&text, (double)(start - began));
    nai_buf_puts(&text, " before it began");
    put_line(p, &text, 0);
  }
  nai_buf_puts(&text, "in ");
  nai_event_path(&text, scene, row, event);
  if (text.len > 3)
    put_line(p, &text, 0);
}

/* Nothing is going on: what comes next. */
static void put_nothing(struct panel *p, const struct nai_row *row) {
  const struct nai_spans *s = nai_row_spans(&p->v->scene, row);
  uint32_t next = nai_spans_from(s, p->v->now.at);
  NAI_SCOPED(nai_buf) text = {0};
  nai_buf_puts(&text, "nothing at ");
  nai_print_time(&text, p->v, p->v->now.at);
  if (next < s->count) {
    nai_buf_puts(&text, "; in ");
    nai_fmt_duration(&text, (double)(nai_spans_start(s, next) - p->v->now.at));
    nai_buf_puts(&text, ": ");
    nai_event_name(&text, &p->v->scene, row, next, p->v->full_names);
  }
  put_line(p, &text, NAI_BOLD);
}

/* What the cell under the cursor holds. */
static void put_cell(struct panel *p, const struct nai_row *row) {
  const struct nai_term *v = p->v;
  const struct nai_spans *s = nai_row_spans(&v->scene, row);
  int columns = nai_term_layout(v).columns, column = nai_term_time_column(v, v->now.at, columns);
  int64_t a = nai_term_column_time(v, column, columns), b = nai_term_column_time(v, column + 1, columns);
  uint32_t first = nai_spans_from(s, a), end = nai_spans_from(s, b);
  NAI_SCOPED(nai_buf) text = {0};
  nai_buf_puts(&text, "column of ");
  nai_fmt_duration(&text, (double)(b - a));
  if (b > a) {
    nai_buf_puts(&text, row->kind == NAI_ROW_GAPS ? ": idle " : ": busy ");
    nai_fmt_percent(&text, 100.0 * (double)(nai_spans_covered(s, b) - nai_spans_covered(s, a)) / (double)(b - a));
  }
  nai_buf_puts(&text, ", ");
  nai_fmt_count(&text, end - first);
  nai_buf_puts(&text, end - first == 1 ? " event begins" : " events begin");
  if (end - first > 1 && row->kind == NAI_ROW_EVENTS) {
    uint32_t longest = nai_spans_longest(s, first, end);
    nai_buf_puts(&text, ", longest ");
    nai_fmt_duration(&text, (double)(nai_spans_end(s, longest) - nai_spans_start(s, longest)));
    nai_buf_puts(&text, ": ");
    nai_event_name(&text, &v->scene, row, longest, false);
  }
  put_line(p, &text, 0);
}

/* Findings that cite something here: of this GPU or process, or of none. */
static bool is_here(const struct nai_term *v, const struct nai_row *row, const struct nai_term_place *place) {
  const struct nai_model *m = v->scene.m;
  if (v->now.at < place->start || v->now.at >= place->end)
    return false;
  if (row->thread < 0)
    return place->device == NAI_NULL_I64 || place->device == m->gpus[row->gpu].device_id;
  return place->pid == NAI_NULL_I64 || place->pid == nai_model_pid(m, row->process);
}

static void put_finding(struct panel *p, const struct nai_term_place *place) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_buf_printf(&text, "! %s: %s: %s", place->severity, place->title, place->text);
  put_line(p, &text, 0);
}

/* The one that was jumped to first; a finding may cite several things here, of which the first is shown. */
static void put_findings(struct panel *p, const struct nai_row *row) {
  const struct nai_term *v = p->v;
  const struct nai_term_place *places = v->options->places, *jumped = v->place ? &places[v->place - 1] : NULL;
  uint32_t shown = UINT32_MAX;
  jumped = jumped && is_here(v, row, jumped) ? jumped : NULL;
  if (jumped)
    put_finding(p, jumped);
  for (size_t i = 0; i < v->options->place_count && p->y < p->end; i++) {
    bool other = places[i].finding != shown && (!jumped || places[i].finding != jumped->finding);
    if (!other || !is_here(v, row, &places[i]))
      continue;
    put_finding(p, &places[i]);
    shown = places[i].finding;
  }
}

static void put_range(struct panel *p) {
  const struct nai_term *v = p->v;
  NAI_SCOPED(nai_buf) text = {0};
  if (v->range_start == INT64_MIN || v->range_end == INT64_MIN)
    return;
  nai_buf_puts(&text, "range ");
  print_stretch(&text, v, v->range_start, v->range_end);
  put_line(p, &text, 0);
}

void nai_draw_panel(struct nai_screen *screen, const struct nai_term *v, int y, int rows) {
  struct panel p = {screen, v, y, y + rows};
  const struct nai_row *row = nai_term_row(v);
  uint32_t event = nai_term_event(v);
  if (!row)
    return;
  if (event < nai_row_spans(&v->scene, row)->count && row->kind != NAI_ROW_BUSY && row->kind != NAI_ROW_WORK)
    put_event(&p, row, event);
  else if (row->kind != NAI_ROW_BUSY && row->kind != NAI_ROW_WORK)
    put_nothing(&p, row);
  put_cell(&p, row);
  put_range(&p);
  put_findings(&p, row);
}
