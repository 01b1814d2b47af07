/* A metric's values as a drawing: what template many/trend.svg needs of it. */
#include "base/fmt.h"
#include "features/compare/stats.h"
#include "features/nights/trend.h"
#include "rundir/run.h"
#include "tables/runs.h"

/* As in the template. */
enum { WIDTH = 440, HEIGHT = 144, LEFT = 62, RIGHT = 8, TOP = 8, BOTTOM = 30 };

struct scale {
  uint32_t count;
  double lowest, highest, margin;
};

void nai_trend_put_href(struct nai_view *map, const struct nai_trend *t, const char *links, uint32_t run) {
  char report[PATH_MAX];
  NAI_SCOPED(nai_buf) link = {0};
  struct nai_err unread = {0};
  bool has = nai_run_find_report(report, t->index->directory, nai_get_str(t->index->runs, run, RUNS_path), &unread);
  nai_view_lacks(map, &unread);
  if (!has)
    return;
  nai_buf_printf(&link, "%s/%s", links ? links : "", report);
  nai_view_put_buf(map, "href", NAI_TEXT_FOREIGN, &link);
}

/* How far the newest run might go: NaN where nothing says. */
static double threshold_of(const struct nai_trend_metric *m) {
  return m->usual + (strcmp(m->better, "higher") == 0 ? -m->limit : m->limit);
}

/* Of the threshold, and of what is no spike, which would flatten the rest. */
static struct scale scale_of(const struct nai_trend_metric *m) {
  struct scale s = {m->count, fmin(INFINITY, threshold_of(m)), fmax(-INFINITY, threshold_of(m)), 0};
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

/* "2026-01-05", "" where it is not known. */
static void put_day(struct nai_buf *out, int64_t utc_ns) {
  char text[32];
  struct tm day;
  time_t seconds = utc_ns / 1000000000;
  if (utc_ns != NAI_NULL_I64 && gmtime_r(&seconds, &day) && strftime(text, sizeof text, "%Y-%m-%d", &day))
    nai_buf_puts(out, text);
}

/* Labels as people say them: {"commit": "1a2b"} is commit: 1a2b. */
static void put_labels(struct nai_buf *out, const char *json) {
  for (; *json; json++)
    if (!strchr("{}\"", *json))
      nai_buf_putc(out, *json);
}

/* What is known of a run, for who points at it. */
static void put_title(struct nai_view *dot, const struct nai_trend *t, const struct nai_trend_metric *m, uint32_t i) {
  const struct RUNS_row run = RUNS_at(t->index->runs, m->runs[i]);
  NAI_SCOPED(nai_buf) day = {0}, labels = {0};
  put_day(&day, run.utc_ns);
  put_labels(&labels, run.labels_json);
  nai_view_put_text(dot, "id", run.run_id);
  nai_view_put_text(dot, "verdict", run.verdict);
  nai_view_put_text(dot, "note", run.note);
  nai_view_put_buf(dot, "day", NAI_TEXT_TRUSTED, &day);
  nai_view_put_buf(dot, "labels", NAI_TEXT_FOREIGN, &labels);
  nai_index_put_value(dot, "value", m->unit, m->basis, m->values[i]);
}

/* Every run is a dot, which leads to its report. */
static void put_runs(struct nai_view *chart, const struct nai_trend *t, const struct nai_trend_metric *m,
                     const char *links, const struct scale *s) {
  struct nai_view *dots = nai_view_put_list(chart, "dots"), *notes = nai_view_put_list(chart, "notes");
  for (uint32_t i = 0; i < m->count; i++) {
    struct nai_view *dot = nai_view_add_map(dots);
    nai_view_put_trusted(dot, "class", m->found.spikes[i] ? "spike" : i + 1 == m->count ? "newest" : "run");
    nai_view_put_real(dot, "x", x_of(s, i), 1);
    nai_view_put_real(dot, "y", y_of(s, m->values[i]), 1);
    put_title(dot, t, m, i);
    nai_trend_put_href(dot, t, links, m->runs[i]);
    const char *note = nai_get_str(t->index->runs, m->runs[i], RUNS_note);
    if (!*note)
      continue;
    struct nai_view *map = nai_view_add_map(notes);
    nai_view_put_text(map, "note", note);
    nai_view_put_real(map, "x", x_of(s, i), 1);
  }
}

/* The days of the first run, the newest, and of one in the middle where there is room. */
static void put_days(struct nai_view *chart, const struct nai_trend *t, const struct nai_trend_metric *m,
                     const struct scale *s) {
  static const char *const anchors[] = {"start", "middle", "end"};
  struct nai_view *days = nai_view_put_list(chart, "days");
  for (uint32_t k = 0; k < 3; k++) {
    uint32_t i = k * (m->count - 1) / 2;
    if ((k == 1 && m->count < 5) || (k == 2 && m->count < 2))
      continue;
    NAI_SCOPED(nai_buf) text = {0};
    struct nai_view *day = nai_view_add_map(days);
    put_day(&text, nai_get_i64(t->index->runs, m->runs[i], RUNS_utc_ns));
    nai_view_put_buf(day, "day", NAI_TEXT_TRUSTED, &text);
    nai_view_put_trusted(day, "anchor", anchors[k]);
    nai_view_put_real(day, "x", x_of(s, i), 1);
  }
}

/* From what is usual to where the newest run fails; the anchor. */
static void put_limits(struct nai_view *chart, const struct nai_trend_metric *m, const struct scale *s) {
  double threshold = threshold_of(m);
  if (!isnan(threshold)) {
    struct nai_view *band = nai_view_put_map(chart, "band");
    double a = y_of(s, m->usual), b = y_of(s, threshold);
    nai_view_put_real(band, "y", fmin(a, b), 1);
    nai_view_put_real(band, "height", fabs(a - b), 1);
    nai_view_put_real(band, "edge", b, 1);
    nai_index_put_value(band, "threshold", m->unit, m->basis, threshold);
  }
  if (isnan(m->anchor))
    return;
  struct nai_view *anchor = nai_view_put_map(chart, "anchor_line");
  nai_view_put_real(anchor, "y", y_of(s, m->anchor), 1);
  nai_index_put_value(anchor, "anchor", m->unit, m->basis, m->anchor);
}

static void put_levels(struct nai_view *chart, const struct nai_trend *t, const struct nai_trend_metric *m,
                       const struct scale *s) {
  struct nai_view *levels = nai_view_put_list(chart, "levels"), *steps = nai_view_put_list(chart, "steps");
  for (uint32_t i = 0; i <= m->found.count; i++) {
    uint32_t first = i ? m->found.changes[i - 1].at : m->defined_from;
    uint32_t end = i < m->found.count ? m->found.changes[i].at : m->count;
    struct nai_view *level = nai_view_add_map(levels);
    nai_view_put_real(level, "from", x_of(s, first), 1);
    nai_view_put_real(level, "to", x_of(s, end - 1), 1);
    nai_view_put_real(level, "y", y_of(s, nai_median(m->values + first, end - first)), 1);
    if (!i)
      continue;
    struct nai_view *step = nai_view_add_map(steps);
    nai_view_put_bool(step, "worse", nai_trend_is_worse(m, &m->found.changes[i - 1]));
    nai_view_put_real(step, "x", x_of(s, first - 0.5), 1);
    put_title(step, t, m, first);
  }
}

/* Where another program began to measure: what is before is not compared with. */
static void put_definition(struct nai_view *chart, const struct nai_trend *t, const struct nai_trend_metric *m,
                           const struct scale *s) {
  if (!m->defined_from)
    return;
  struct nai_view *map = nai_view_put_map(chart, "definition");
  nai_view_put_real(map, "x", x_of(s, m->defined_from - 0.5), 1);
  nai_view_put_text(map, "version", nai_get_str(t->index->runs, m->runs[m->defined_from], RUNS_tool_version));
}

static void add_label(struct nai_view *list, const struct nai_trend_metric *m, double value, const struct scale *s) {
  struct nai_view *label = nai_view_add_map(list);
  nai_index_put_value(label, "value", m->unit, m->basis, value);
  nai_view_put_real(label, "y", y_of(s, value) + 4, 1);
}

void nai_trend_put_chart(struct nai_view *map, const struct nai_trend *t, const struct nai_trend_metric *m,
                         const char *links) {
  const struct scale s = scale_of(m);
  struct nai_view *chart = nai_view_put_map(map, "chart"), *labels = nai_view_put_list(chart, "labels");
  nai_view_put_real(chart, "radius", fmax(1, fmin(3, 150.0 / m->count)), 1);
  put_points(chart, m, &s);
  put_runs(chart, t, m, links, &s);
  put_days(chart, t, m, &s);
  put_limits(chart, m, &s);
  put_levels(chart, t, m, &s);
  put_definition(chart, t, m, &s);
  add_label(labels, m, s.highest, &s);
  if (s.lowest < s.highest)
    add_label(labels, m, s.lowest, &s);
}
