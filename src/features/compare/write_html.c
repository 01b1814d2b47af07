/* compare.html: the parts that need no script, from the template compare.html, and the data of those that do. */
#include "base/deflate.h"
#include "base/escape.h"
#include "base/fmt.h"
#include "base/fs.h"
#include "base/threads.h"
#include "features/compare/document.h"
#include "features/compare/timeline.h"
#include "features/compare/write.h"
#include "rundir/run.h"
#include "tables/compared_time.h"

enum { SCALE = 1000 };

struct page {
  const struct nai_comparison *c;
  struct nai_pair_timeline timelines[NAI_SIDES];
};

static void page_free(struct page *page) {
  for (int s = 0; s < NAI_SIDES; s++)
    nai_pair_timeline_free(&page->timelines[s]);
}

/* Those that the gate asks about first, then those that differ, then the others. */
static int importance(const struct nai_metric_result *r) {
  enum nai_verdict v = r->judgement.verdict;
  bool differs =
      v == NAI_VERDICT_REGRESSED || v == NAI_VERDICT_CHANGED || v == NAI_VERDICT_SUSPECT || v == NAI_VERDICT_IMPROVED;
  return v == NAI_VERDICT_ERROR ? 3 : (r->gated ? 0 : 2) + (differs ? 0 : 1);
}

static void put_metrics(const struct nai_document *d) {
  struct nai_view *asked = nai_view_put_list(d->root, "metrics"), *others = nai_view_put_list(d->root, "other_metrics");
  struct nai_time_column times[2] = {0}; /* of the two tables */
  struct nai_document table = *d;
  int64_t more = 0;
  for (uint32_t i = 0; i < d->c->result_count; i++)
    nai_document_times(&times[importance(&d->c->results[i]) == 3], &d->c->results[i]);
  for (int level = 0; level < 4; level++)
    for (uint32_t i = 0; i < d->c->result_count; i++) {
      if (importance(&d->c->results[i]) != level)
        continue;
      table.times = &times[level == 3];
      struct nai_view *map = nai_document_metric(&table, level < 3 ? asked : others, &d->c->results[i]);
      if (nai_headline_gives(d->c, &d->c->results[i])) /* said once */
        nai_view_put_text(map, "reason", NULL);
      more += level == 3;
    }
  nai_view_put_int(d->root, "other_metric_count", more);
  nai_view_put_bool(d->root, "any_other_metrics", more > 0);
  nai_view_put_bool(d->root, "any_metric", more < d->c->result_count);
}

/* The parts of the whole as rectangles; both sides on the scale of the longer one. */
static void put_bars(const struct nai_document *d) {
  const struct nai_table *t = d->c->tables[NAI_COMPARED_TIME];
  struct nai_view *bars = nai_view_put_list(d->root, "bars");
  struct COMPARED_TIME_row whole = COMPARED_TIME_at(t, 0);
  double longest = fmax(whole.base_time_ns, whole.new_time_ns);
  for (int s = 0; s < NAI_SIDES && longest > 0; s++) {
    int column = s == NAI_BASE ? COMPARED_TIME_base_time_ns : COMPARED_TIME_new_time_ns;
    struct nai_view *bar = nai_view_add_map(bars), *parts = nai_view_put_list(bar, "parts");
    double x = 0;
    nai_view_put_text(bar, "side", nai_side_names[s]);
    nai_document_amount(bar, "total", "ns", nai_get_f64(t, 0, column), false);
    for (int64_t row = 0; row < t->rows; row++) {
      double width = SCALE * nai_get_f64(t, row, column) / longest;
      if (nai_get_i64(t, row, COMPARED_TIME_depth) != 1)
        continue;
      struct nai_view *part = nai_view_add_map(parts);
      nai_view_put_text(part, "part", nai_get_str(t, row, COMPARED_TIME_part));
      nai_view_put_real(part, "x", x, 3);
      nai_view_put_real(part, "width", width, 3);
      x += width;
    }
  }
}

/* --- a dot per capture, and the way from base to new --------------------------------------------- */

/* Places from 0 to SCALE of numbers between two ends. */
struct axis {
  double low, high;
};

static void widen(struct axis *axis, double value) {
  axis->low = fmin(axis->low, value);
  axis->high = fmax(axis->high, value);
}

static double place(const struct axis *axis, double value) {
  double margin = axis->high > axis->low ? 0.04 * (axis->high - axis->low) : 1;
  return SCALE * (value - axis->low + margin) / (axis->high - axis->low + 2 * margin);
}

/* The captures of both sides by the metric that the verdict is about. */
static void put_dots(const struct nai_document *d) {
  const struct nai_metric_result *r = nai_comparison_obstacle(d->c) ? NULL : nai_headline(d->c);
  struct axis axis = {INFINITY, -INFINITY};
  if (!r)
    return;
  struct nai_view *map = nai_view_put_map(d->root, "dots"), *sides = nai_view_put_list(map, "sides");
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < r->count[s]; i++)
      widen(&axis, r->values[s][i]);
  nai_document_text(d, map, "title", r->def.title);
  nai_document_amount(map, "low", r->def.unit, axis.low, false);
  nai_document_amount(map, "high", r->def.unit, axis.high, false);
  for (int s = 0; s < NAI_SIDES; s++) {
    if (!r->count[s])
      continue;
    struct nai_view *side = nai_view_add_map(sides), *list = nai_view_put_list(side, "captures");
    nai_view_put_trusted(side, "side", nai_side_names[s]);
    double median = s == NAI_BASE ? r->judgement.base : r->judgement.candidate;
    nai_document_amount(side, "median", r->def.unit, median, false);
    nai_view_put_real(side, "place", place(&axis, median), 3);
    for (uint32_t i = 0, at = 0; i < d->c->sides[s].count; i++) {
      if (r->rows[s][i] < 0)
        continue;
      struct nai_view *dot = nai_view_add_map(list);
      nai_document_text(d, dot, "label", d->c->sides[s].captures[i].label);
      nai_document_amount(dot, "value", r->def.unit, r->values[s][at], false);
      nai_view_put_real(dot, "x", place(&axis, r->values[s][at++]), 3);
    }
  }
}

static void put_step(struct nai_view *list, const char *title, const struct axis *axis, double from, double to,
                     const char *color, bool sign) {
  struct nai_view *step = nai_view_add_map(list);
  nai_view_put_text(step, "title", title);
  nai_view_put_trusted(step, "color", color);
  nai_view_put_real(step, "x", place(axis, fmin(from, to)), 3);
  nai_view_put_real(step, "width", fmax(2, place(axis, fmax(from, to)) - place(axis, fmin(from, to))), 3);
  nai_document_amount(step, "amount", "ns", sign ? to - from : to, sign);
}

/* From the whole of the base, part by part, to that of the new side. */
static void put_waterfall(const struct nai_document *d) {
  const struct nai_table *t = d->c->tables[NAI_COMPARED_TIME];
  struct COMPARED_TIME_row whole = COMPARED_TIME_at(t, 0);
  struct axis axis = {0, fmax(whole.base_time_ns, whole.new_time_ns)};
  double at = whole.base_time_ns;
  for (int64_t i = 0; i < t->rows; i++)
    if (nai_get_i64(t, i, COMPARED_TIME_depth) == 1)
      widen(&axis, at += nai_get_f64(t, i, COMPARED_TIME_delta_ns));
  if (!nai_comparison_is_whole(d->c) || isnan(whole.delta_ns) || !(fabs(whole.delta_ns) > 0))
    return;
  struct nai_view *list = nai_view_put_list(nai_view_put_map(d->root, "waterfall"), "steps");
  at = whole.base_time_ns;
  put_step(list, "base", &axis, 0, at, "#8a8a8a", false);
  for (int64_t i = 0; i < t->rows; i++) {
    const struct COMPARED_TIME_row part = COMPARED_TIME_at(t, i);
    if (part.depth != 1)
      continue;
    put_step(list, part.title, &axis, at, at + part.delta_ns, part.delta_ns > 0 ? "#c0392b" : "#2b7bb9", true);
    at += part.delta_ns;
  }
  put_step(list, "new", &axis, 0, whole.new_time_ns, "#8a8a8a", false);
}

/* --- data blocks ------------------------------------------------------------------------------ */

static void print_data(struct nai_buf *out, const void *ctx) {
  const struct page *page = ctx;
  struct nai_buf json = {0};
  nai_write_page_data(&json, page->c, page->timelines);
  nai_buf_put_block(out, &json);
}

static void put_blocks(struct nai_view *root, const struct page *page) {
  static const char *const names[NAI_SIDES][2] = {{"base_timeline_json", "base_events_b64"},
                                                  {"new_timeline_json", "new_events_b64"}};
  nai_view_put_printed(root, "data_json", print_data, page);
  for (int s = 0; s < NAI_SIDES; s++) {
    static const char *const blocks[] = {"timeline_json", "events_b64"};
    for (int i = 0; i < 2; i++) {
      const char *text = nai_pair_timeline_block(&page->timelines[s], blocks[i]);
      nai_view_put_borrowed(root, names[s][i], text, strlen(text));
    }
  }
}

/* The colour of the verdict beside its words. */
static const char *gate_severity(const struct nai_comparison *c) {
  int exit = nai_gate_of(c).exit;
  return exit == NAI_EXIT_FAIL ? "high" : exit == NAI_EXIT_PASS ? "low" : "medium";
}

static int make_timeline(void *ctx, int side, struct nai_err *err) {
  struct page *page = ctx;
  if (!page->c->sides[side].count)
    return NAI_OK;
  return nai_pair_timeline_make(&page->timelines[side], page->c, (enum nai_side_id)side, err);
}

static void tell_unread(struct nai_err *unread, const struct page *page) {
  for (int s = 0; s < NAI_SIDES; s++)
    if (page->timelines[s].unread)
      nai_err_set(unread, NAI_EIO, "compare.html lacks the timeline of the %s side: %s", nai_side_names[s],
                  page->timelines[s].missing);
}

/* The captures of both sides, those that have a report with a link to it. */
static int put_reports(const struct nai_document *d, const char *directory, struct nai_err *unread,
                       struct nai_err *err) {
  struct nai_view *sides = nai_view_put_list(d->root, "sides");
  for (int s = 0; s < NAI_SIDES; s++) {
    struct nai_view *side = nai_view_add_map(sides), *list = nai_view_put_list(side, "captures");
    nai_view_put_trusted(side, "side", nai_side_names[s]);
    for (uint32_t i = 0; i < d->c->sides[s].count; i++) {
      const struct nai_capture *capture = &d->c->sides[s].captures[i];
      struct nai_view *map = nai_view_add_map(list);
      char report[PATH_MAX], path[PATH_MAX];
      NAI_SCOPED(nai_buf) link = {0};
      nai_document_code(d, map, "label", capture->label);
      if (!directory || !nai_run_find_report(report, "", nai_run_path(capture->run), unread))
        continue;
      NAI_TRY(nai_fs_relative(path, sizeof path, directory, report, err));
      nai_escape_url(&link, path, strlen(path));
      nai_view_put_buf(map, "href", NAI_TEXT_FOREIGN, &link);
    }
  }
  return NAI_OK;
}

int nai_write_html(struct nai_buf *out, struct nai_err *unread, const struct nai_comparison *c, const char *directory,
                   struct nai_err *err) {
  NAI_SCOPED(page) page = {.c = c};
  NAI_TRY(nai_parallel(NAI_SIDES, NAI_SIDES, make_timeline, &page, err)); /* runs of different sides share nothing */
  tell_unread(unread, &page);
  NAI_SCOPED(nai_document) d = nai_document_new(c, 0, UINT32_MAX);
  nai_view_put_trusted(d.root, "severity", gate_severity(c));
  put_metrics(&d);
  nai_document_undecided(&d);
  nai_document_beside(&d);
  put_bars(&d);
  NAI_TRY(put_reports(&d, directory, unread, err));
  put_dots(&d);
  put_waterfall(&d);
  put_blocks(d.root, &page);
  nai_view_put_asset(d.root, "script", "templates/viewer/dist/compare.js");
  nai_view_put_asset(d.root, "script_sha256_b64", "templates/viewer/dist/compare.js.sha256");
  nai_view_put_asset(d.root, "style", "templates/viewer/dist/compare.css");
  nai_view_put_asset(d.root, "style_sha256_b64", "templates/viewer/dist/compare.css.sha256");
  return nai_builtin_render(out, "compare.html", d.root, NAI_ESCAPE_HTML, err);
}
