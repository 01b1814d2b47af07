/* compare.html: the parts that need no script, from the template compare.html, and the data of those that do. */
#include "base/fmt.h"
#include "base/threads.h"
#include "features/compare/document.h"
#include "features/compare/timeline.h"
#include "features/compare/write.h"
#include "tables/compared_time.h"

#include <math.h>
#include <string.h>

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
  bool differs = v == NAI_VERDICT_REGRESSED || v == NAI_VERDICT_CHANGED || v == NAI_VERDICT_SUSPECT ||
                 v == NAI_VERDICT_IMPROVED || (v == NAI_VERDICT_ERROR && r->gated);
  return (r->gated ? 0 : 2) + (differs ? 0 : 1);
}

static void put_metrics(const struct nai_document *d) {
  struct nai_view *asked = nai_view_put_list(d->root, "metrics"), *others = nai_view_put_list(d->root, "other_metrics");
  int64_t more = 0;
  for (int level = 0; level < 4; level++)
    for (uint32_t i = 0; i < d->c->result_count; i++) {
      if (importance(&d->c->results[i]) != level)
        continue;
      nai_document_metric(d, level < 3 ? asked : others, &d->c->results[i]);
      more += level == 3;
    }
  nai_view_put_int(d->root, "other_metric_count", more);
  nai_view_put_bool(d->root, "any_other_metrics", more > 0);
}

static void put_length(struct nai_view *map, const char *key, double length) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_fmt_real(&text, length, 3);
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
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
      put_length(part, "x", x);
      put_length(part, "width", width);
      x += width;
    }
  }
}

/* --- data blocks ------------------------------------------------------------------------------ */

static void print_data(struct nai_buf *out, const void *ctx) {
  const struct page *page = ctx;
  nai_write_page_data(out, page->c, page->timelines);
}

static void put_blocks(struct nai_view *root, const struct page *page) {
  static const char *const names[NAI_SIDES][2] = {{"base_timeline_json", "base_events_b64"},
                                                  {"new_timeline_json", "new_events_b64"}};
  nai_view_put_printed(root, "data_json", print_data, page);
  for (int s = 0; s < NAI_SIDES; s++) {
    const char *json = nai_pair_timeline_block(&page->timelines[s], "timeline_json");
    const char *events = nai_pair_timeline_block(&page->timelines[s], "events_b64");
    nai_view_put_borrowed(root, names[s][0], *json ? json : "null", *json ? strlen(json) : 4);
    nai_view_put_borrowed(root, names[s][1], events, strlen(events));
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

int nai_write_html(struct nai_buf *out, struct nai_err *unread, const struct nai_comparison *c, struct nai_err *err) {
  NAI_SCOPED(page) page = {.c = c};
  NAI_TRY(nai_parallel(NAI_SIDES, NAI_SIDES, make_timeline, &page, err)); /* runs of different sides share nothing */
  tell_unread(unread, &page);
  NAI_SCOPED(nai_document) d = nai_document_new(c, 0, UINT32_MAX);
  nai_view_put_trusted(d.root, "severity", gate_severity(c));
  put_metrics(&d);
  put_bars(&d);
  put_blocks(d.root, &page);
  nai_view_put_asset(d.root, "script", "templates/viewer/dist/compare.js");
  nai_view_put_asset(d.root, "script_sha256_b64", "templates/viewer/dist/compare.js.sha256");
  nai_view_put_asset(d.root, "style", "templates/viewer/dist/compare.css");
  nai_view_put_asset(d.root, "style_sha256_b64", "templates/viewer/dist/compare.css.sha256");
  return nai_builtin_render(out, "compare.html", d.root, NAI_ESCAPE_HTML, err);
}
