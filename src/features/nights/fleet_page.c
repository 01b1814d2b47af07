/* fleet.csv, fleet.prom, fleet.md, fleet.html, and what the terminal says. */
#include "base/fmt.h"
#include "features/compare/write.h"
#include "features/nights/fleet.h"
#include "rundir/publish.h"
#include "table/csv.h"
#include "tables/fleet.h"

enum { WIDTH = 120, HEIGHT = 24, MARGIN = 2 }; /* of a sparkline, as in the template */

static void put_pct(struct nai_view *map, const char *key, double pct) {
  NAI_SCOPED(nai_buf) text = {0};
  if (!isfinite(pct))
    return;
  nai_buf_puts(&text, pct < 0 ? "-" : "+");
  nai_fmt_percent(&text, fabs(pct));
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}

static void put_day(struct nai_view *map, const char *key, int64_t utc_ns) {
  char text[32];
  struct tm day;
  time_t seconds = utc_ns / 1000000000;
  if (utc_ns != NAI_NULL_I64 && gmtime_r(&seconds, &day) && strftime(text, sizeof text, "%Y-%m-%d", &day))
    nai_view_put_trusted(map, key, text);
}

static void put_sparkline(struct nai_view *map, const struct nai_fleet_row *row) {
  NAI_SCOPED(nai_buf) points = {0};
  double low = INFINITY, high = -INFINITY;
  for (uint32_t i = 0; i < row->value_count; i++) {
    low = fmin(low, row->values[i]);
    high = fmax(high, row->values[i]);
  }
  for (uint32_t i = 0; i < row->value_count; i++) {
    double x = row->value_count > 1 ? (double)i / (row->value_count - 1) : 1;
    double y = high > low ? (high - row->values[i]) / (high - low) : 0.5;
    nai_fmt_real(&points, MARGIN + x * (WIDTH - 2 * MARGIN), 1);
    nai_buf_putc(&points, ',');
    nai_fmt_real(&points, MARGIN + y * (HEIGHT - 2 * MARGIN), 1);
    nai_buf_putc(&points, ' ');
  }
  nai_view_put_buf(map, "points", NAI_TEXT_TRUSTED, &points);
}

static void put_row(struct nai_view *list, const struct nai_fleet_row *from, const char *links) {
  struct FLEET_row row = FLEET_at(from->row, 0);
  struct nai_view *map = nai_view_add_map(list);
  NAI_SCOPED(nai_buf) href = {0};
  nai_view_put_text(map, "series", row.series);
  nai_view_put_text(map, "environment", row.environment);
  nai_view_put_int(map, "runs", row.run_count);
  nai_view_put_int(map, "failed", row.failed_count);
  nai_view_put_trusted(map, "state", *row.state ? row.state : "no metrics");
  nai_view_put_bool(map, "bad", from->rank < 4);
  nai_view_put_text(map, "metric", row.metric);
  nai_index_put_value(map, "newest", row.unit, row.basis, row.newest);
  nai_index_put_value(map, "usual", row.unit, row.basis, row.usual);
  put_pct(map, "pct", row.usual != 0 ? 100 * (row.newest - row.usual) / fabs(row.usual) : (double)NAN);
  put_sparkline(map, from);
  nai_view_put_text(map, "changed_metric", row.changed_metric);
  put_pct(map, "changed_pct", row.changed_pct);
  nai_view_put_bool(map, "worse", row.worse == 1);
  nai_view_put_text(map, "changed_run", row.changed_run);
  nai_trend_put_labels(map, row.changed_labels_json);
  nai_view_put_text(map, "newest_run", row.newest_run);
  put_day(map, "day", row.newest_utc_ns);
  nai_view_put_text(map, "status", *row.newest_verdict ? row.newest_verdict : row.newest_status);
  if (links && *from->report)
    nai_buf_printf(&href, "%s/%s", links, from->report);
  nai_view_put_buf(map, "href", NAI_TEXT_FOREIGN, &href);
}

/* `links` is NULL in texts. With `only_bad` only rows that ask for attention. */
static struct nai_view *view_of(const struct nai_fleet *fleet, const char *links, bool only_bad) {
  struct nai_view *view = nai_view_new(), *list = nai_view_put_list(view, "rows");
  uint32_t bad = 0, count = 0;
  for (uint32_t i = 0; i < fleet->count && fleet->rows[i].row; i++, count++) {
    bad += fleet->rows[i].rank < 4;
    if (!only_bad || fleet->rows[i].rank < 4)
      put_row(list, &fleet->rows[i], links);
  }
  nai_view_put_int(view, "count", count);
  nai_view_put_int(view, "bad_count", bad);
  nai_view_put_bool(view, "any_bad", bad > 0);
  return view;
}

int nai_fleet_print(struct nai_buf *out, const struct nai_fleet *fleet, const char *directory, struct nai_err *err) {
  NAI_OWNED(nai_view) *view = view_of(fleet, NULL, true);
  nai_view_put_text(view, "out", directory);
  return nai_index_render(out, "fleet.txt", view, NAI_ESCAPE_TERMINAL, err);
}

static int put_table(struct nai_buf *out, const struct nai_fleet *fleet, struct nai_err *err) {
  NAI_OWNED(nai_table) *table = NULL;
  NAI_TRY(nai_table_new(&table, &nai_fleet_schema, err));
  for (uint32_t i = 0; i < fleet->count && fleet->rows[i].row; i++) {
    struct FLEET_row row = FLEET_at(fleet->rows[i].row, 0);
    FLEET_add(table, &row);
  }
  NAI_TRY(nai_table_check(table, err));
  nai_csv_table(out, table);
  return nai_buf_check(out, err);
}

/* What a series has a number of, and whether that is of its worst metric, which is a label then. */
enum gauge { RUNS_COUNT, RUNS_FAILED, STATE, RATIO, NEWEST, GAUGES };
static const struct {
  const char *name, *unit;
  bool of_metric;
} gauges[GAUGES] = {[RUNS_COUNT] = {"nsys_ai_series_runs", NULL, false},
                    [RUNS_FAILED] = {"nsys_ai_series_failed_runs", NULL, false},
                    [STATE] = {"nsys_ai_series_state", NULL, true},
                    [RATIO] = {"nsys_ai_series_newest_ratio", "ratio", true},
                    [NEWEST] = {"nsys_ai_series_newest_timestamp_seconds", "seconds", false}};

/* NaN: there is none. */
static double value_of(const struct FLEET_row *row, enum gauge gauge) {
  int64_t seconds = row->newest_utc_ns / 1000000000;
  const double values[GAUGES] = {[RUNS_COUNT] = (double)row->run_count,
                                 [RUNS_FAILED] = (double)row->failed_count,
                                 [STATE] = *row->state ? 1 : (double)NAN,
                                 [RATIO] = row->usual != 0 ? row->newest / row->usual : (double)NAN,
                                 [NEWEST] = row->newest_utc_ns == NAI_NULL_I64 ? (double)NAN : (double)seconds};
  return values[gauge];
}

static void put_sample(struct nai_buf *out, const struct FLEET_row *row, enum gauge gauge) {
  double value = value_of(row, gauge);
  if (!isfinite(value))
    return;
  nai_buf_printf(out, "%s{series=\"", gauges[gauge].name);
  nai_put_openmetrics_label(out, row->series);
  if (gauges[gauge].of_metric) {
    nai_buf_puts(out, "\",metric=\"");
    nai_put_openmetrics_label(out, row->metric);
  }
  if (gauge == STATE) {
    nai_buf_puts(out, "\",state=\"");
    nai_put_openmetrics_label(out, row->state);
  }
  nai_buf_puts(out, "\"} ");
  nai_put_openmetrics_value(out, value);
  nai_buf_putc(out, '\n');
}

/* Samples of one name stand together. */
static int put_openmetrics(struct nai_buf *out, const struct nai_fleet *fleet, struct nai_err *err) {
  for (enum gauge gauge = 0; gauge < GAUGES; gauge++) {
    nai_buf_printf(out, "# TYPE %s gauge\n", gauges[gauge].name);
    if (gauges[gauge].unit)
      nai_buf_printf(out, "# UNIT %s %s\n", gauges[gauge].name, gauges[gauge].unit);
    for (uint32_t i = 0; i < fleet->count && fleet->rows[i].row; i++) {
      struct FLEET_row row = FLEET_at(fleet->rows[i].row, 0);
      put_sample(out, &row, gauge);
    }
  }
  nai_buf_puts(out, "# EOF\n");
  return nai_buf_check(out, err);
}

static int publish_page(struct nai_publication *p, const struct nai_fleet *fleet, const char *file, const char *links,
                        enum nai_escape_mode mode, struct nai_err *err) {
  NAI_OWNED(nai_view) *view = view_of(fleet, links, false);
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(nai_index_render(&text, file, view, mode, err));
  return nai_publish_file(p, file, &text, err);
}

int nai_fleet_write(const struct nai_fleet *fleet, const char *directory, const char *links,
                    void (*note)(const char *line), struct nai_err *err) {
  NAI_SCOPED(nai_publication) p = {0};
  NAI_SCOPED(nai_buf) csv = {0}, prom = {0};
  NAI_TRY(nai_publish_begin(&p, directory, "fleet.csv", note, err));
  NAI_TRY(put_table(&csv, fleet, err));
  NAI_TRY(nai_publish_file(&p, "fleet.csv", &csv, err));
  NAI_TRY(put_openmetrics(&prom, fleet, err));
  NAI_TRY(nai_publish_file(&p, "fleet.prom", &prom, err));
  NAI_TRY(publish_page(&p, fleet, "fleet.md", NULL, NAI_ESCAPE_MARKDOWN, err));
  NAI_TRY(publish_page(&p, fleet, "fleet.html", links, NAI_ESCAPE_HTML, err));
  return nai_publish_commit(&p, err);
}
