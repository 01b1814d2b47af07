/* A metric's values as a drawing: what template many/trend.svg needs of it. */
#include "base/fmt.h"
#include "features/compare/stats.h"
#include "features/nights/trend.h"
#include "tables/runs.h"

#include <math.h>

/* As in the template. */
enum { WIDTH = 440, HEIGHT = 130, LEFT = 62, RIGHT = 8, TOP = 8, BOTTOM = 16 };

/* Of what is no spike, which would flatten the rest. */
struct scale {
  uint32_t count;
  double lowest, highest, margin;
};

static struct scale scale_of(const struct nai_trend_metric *m) {
  struct scale s = {m->count, INFINITY, -INFINITY, 0};
  for (uint32_t i = 0; i < m->count; i++)
    if (!m->found.spikes[i]) {
      s.lowest = fmin(s.lowest, m->values[i]);
      s.highest = fmax(s.highest, m->values[i]);
    }
  s.margin = s.highest > s.lowest ? 0.08 * (s.highest - s.lowest) : fmax(0.1 * fabs(s.highest), 1);
  return s;
}

static double x_of(const struct scale *s, double index) {
  return LEFT + (s->count > 1 ? index / (s->count - 1) : 0.5) * (WIDTH - LEFT - RIGHT);
}

/* What lies beyond the scale is drawn at its edge. */
static double y_of(const struct scale *s, double value) {
  double low = s->lowest - s->margin, high = s->highest + s->margin;
  value = fmax(low, fmin(high, value));
  return TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM);
}

static void put_number(struct nai_view *map, const char *key, double value) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_fmt_real(&text, value, 1);
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}

static void put_points(struct nai_view *chart, const struct nai_trend_metric *m, const struct scale *s) {
  NAI_SCOPED(nai_buf) text = {0};
  for (uint32_t i = 0; i < m->count; i++) {
    nai_fmt_real(&text, x_of(s, i), 1);
    nai_buf_putc(&text, ',');
    nai_fmt_real(&text, y_of(s, m->values[i]), 1);
    nai_buf_putc(&text, ' ');
  }
  nai_view_put_buf(chart, "points", NAI_TEXT_TRUSTED, &text);
}

static void add_dot(struct nai_view *list, const char *class, const struct nai_trend_metric *m, uint32_t i,
                    const struct scale *s) {
  struct nai_view *dot = nai_view_add_map(list);
  nai_view_put_trusted(dot, "class", class);
  put_number(dot, "x", x_of(s, i));
  put_number(dot, "y", y_of(s, m->values[i]));
}

static void put_runs(struct nai_view *chart, const struct nai_trend *t, const struct nai_trend_metric *m,
                     const struct scale *s) {
  struct nai_view *notes = nai_view_put_list(chart, "notes"), *dots = nai_view_put_list(chart, "dots");
  for (uint32_t i = 0; i < m->count; i++) {
    const char *note = nai_get_str(t->index->runs, m->runs[i], RUNS_note);
    if (m->found.spikes[i])
      add_dot(dots, "spike", m, i, s);
    if (!*note)
      continue;
    struct nai_view *map = nai_view_add_map(notes);
    nai_view_put_text(map, "note", note);
    put_number(map, "x", x_of(s, i));
  }
  add_dot(dots, "newest", m, m->count - 1, s);
}

static void put_levels(struct nai_view *chart, const struct nai_trend_metric *m, const struct scale *s) {
  struct nai_view *levels = nai_view_put_list(chart, "levels"), *steps = nai_view_put_list(chart, "steps");
  for (uint32_t i = 0; i <= m->found.count; i++) {
    uint32_t first = i ? m->found.changes[i - 1].at : 0;
    uint32_t end = i < m->found.count ? m->found.changes[i].at : m->count;
    struct nai_view *level = nai_view_add_map(levels);
    put_number(level, "from", x_of(s, first));
    put_number(level, "to", x_of(s, end - 1));
    put_number(level, "y", y_of(s, nai_median(m->values + first, end - first)));
    if (!i)
      continue;
    struct nai_view *step = nai_view_add_map(steps);
    nai_view_put_bool(step, "worse", nai_trend_is_worse(m, &m->found.changes[i - 1]));
    put_number(step, "x", x_of(s, first - 0.5));
  }
}

static void add_label(struct nai_view *list, const struct nai_trend_metric *m, double value, const struct scale *s) {
  struct nai_view *label = nai_view_add_map(list);
  nai_index_put_value(label, "value", m->unit, m->basis, value);
  put_number(label, "y", y_of(s, value) + 4);
}

void nai_trend_put_chart(struct nai_view *map, const struct nai_trend *t, const struct nai_trend_metric *m) {
  const struct scale s = scale_of(m);
  struct nai_view *chart = nai_view_put_map(map, "chart"), *labels = nai_view_put_list(chart, "labels");
  put_points(chart, m, &s);
  put_runs(chart, t, m, &s);
  put_levels(chart, m, &s);
  add_label(labels, m, s.highest, &s);
  if (s.lowest < s.highest)
    add_label(labels, m, s.lowest, &s);
}
