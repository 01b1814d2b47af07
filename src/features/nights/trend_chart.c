/* A metric's values as a drawing. */
#include "base/escape.h"
#include "base/fmt.h"
#include "features/compare/stats.h"
#include "features/nights/trend.h"
#include "tables/runs.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 440, HEIGHT = 130, LEFT = 62, RIGHT = 8, TOP = 8, BOTTOM = 16 };

struct scale {
  uint32_t count;
  double low, high;
};

static double x_of(const struct scale *s, double index) {
  return LEFT + (s->count > 1 ? index / (s->count - 1) : 0.5) * (WIDTH - LEFT - RIGHT);
}

/* What lies beyond the scale is drawn at its edge. */
static double y_of(const struct scale *s, double value) {
  value = fmax(s->low, fmin(s->high, value));
  return TOP + (s->high - value) / (s->high - s->low) * (HEIGHT - TOP - BOTTOM);
}

static struct scale scale_of(const struct nai_trend_metric *m) {
  struct scale s = {m->count, INFINITY, -INFINITY};
  for (uint32_t i = 0; i < m->count; i++)
    if (!m->found.spikes[i]) { /* which would flatten the rest */
      s.low = fmin(s.low, m->values[i]);
      s.high = fmax(s.high, m->values[i]);
    }
  double margin = s.high > s.low ? 0.08 * (s.high - s.low) : fmax(0.1 * fabs(s.high), 1);
  s.low -= margin;
  s.high += margin;
  return s;
}

static void put_number(struct nai_buf *out, double value) { nai_fmt_real(out, value, 1); }

static void put_vertical(struct nai_buf *out, const char *class, double x) {
  nai_buf_printf(out, "<line class=\"%s\" x1=\"", class);
  put_number(out, x);
  nai_buf_puts(out, "\" x2=\"");
  put_number(out, x);
  nai_buf_printf(out, "\" y1=\"%d\" y2=\"%d\"", TOP, HEIGHT - BOTTOM);
}

static void put_title(struct nai_buf *out, const char *text) {
  nai_buf_puts(out, "><title>");
  nai_escape_html(out, text, strlen(text));
  nai_buf_puts(out, "</title></line>");
}

static void put_line(struct nai_buf *out, const struct nai_trend_metric *m, const struct scale *s) {
  nai_buf_puts(out, "<polyline class=\"line\" points=\"");
  for (uint32_t i = 0; i < m->count; i++) {
    put_number(out, x_of(s, i));
    nai_buf_putc(out, ',');
    put_number(out, y_of(s, m->values[i]));
    nai_buf_putc(out, ' ');
  }
  nai_buf_puts(out, "\"/>");
}

static void put_levels(struct nai_buf *out, const struct nai_trend_metric *m, const struct scale *s) {
  for (uint32_t i = 0; i <= m->found.count; i++) {
    uint32_t first = i ? m->found.changes[i - 1].at : 0;
    uint32_t end = i < m->found.count ? m->found.changes[i].at : m->count;
    double y = y_of(s, nai_median(m->values + first, end - first));
    nai_buf_puts(out, "<line class=\"level\" x1=\"");
    put_number(out, x_of(s, first));
    nai_buf_puts(out, "\" x2=\"");
    put_number(out, x_of(s, end - 1));
    nai_buf_puts(out, "\" y1=\"");
    put_number(out, y);
    nai_buf_puts(out, "\" y2=\"");
    put_number(out, y);
    nai_buf_puts(out, "\"/>");
  }
}

static void put_circle(struct nai_buf *out, const char *class, double x, double y) {
  nai_buf_printf(out, "<circle class=\"%s\" r=\"3\" cx=\"", class);
  put_number(out, x);
  nai_buf_puts(out, "\" cy=\"");
  put_number(out, y);
  nai_buf_puts(out, "\"/>");
}

static void put_label(struct nai_buf *out, const struct nai_trend_metric *m, double value, double y) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_index_print_value(&text, m->unit, m->basis, value);
  nai_buf_printf(out, "<text x=\"%d\" text-anchor=\"end\" y=\"", LEFT - 4);
  put_number(out, y);
  nai_buf_puts(out, "\">");
  nai_escape_html(out, nai_buf_str(&text), text.len);
  nai_buf_puts(out, "</text>");
  out->oom |= text.oom;
}

void nai_trend_chart(struct nai_buf *out, const struct nai_trend *t, const struct nai_trend_metric *m) {
  const struct scale s = scale_of(m);
  double highest = -INFINITY, lowest = INFINITY; /* of what is no spike */
  nai_buf_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\">", WIDTH, HEIGHT);
  for (uint32_t i = 0; i < m->count; i++) {
    const char *note = nai_get_str(t->index->runs, m->runs[i], RUNS_note);
    if (!m->found.spikes[i]) {
      highest = fmax(highest, m->values[i]);
      lowest = fmin(lowest, m->values[i]);
    }
    if (*note) {
      put_vertical(out, "note", x_of(&s, i));
      put_title(out, note);
    }
  }
  put_line(out, m, &s);
  put_levels(out, m, &s);
  for (uint32_t i = 0; i < m->found.count; i++) {
    bool worse = nai_trend_is_worse(m, &m->found.changes[i]);
    put_vertical(out, worse ? "change" : "change better", x_of(&s, m->found.changes[i].at - 0.5));
    nai_buf_puts(out, "/>");
  }
  for (uint32_t i = 0; i < m->count; i++)
    if (m->found.spikes[i])
      put_circle(out, "spike", x_of(&s, i), y_of(&s, m->values[i]));
  put_circle(out, "newest", x_of(&s, m->count - 1), y_of(&s, m->values[m->count - 1]));
  put_label(out, m, highest, y_of(&s, highest) + 4);
  if (lowest < highest)
    put_label(out, m, lowest, y_of(&s, lowest) + 4);
  nai_buf_puts(out, "</svg>");
}
