/* compare.html: the parts that need no script, from the template compare.html, and the data of those that do. */
#include "features/compare/internal.h"
#include "features/compare/timeline.h"
#include "features/compare/write.h"

#include "base/assets.h"
#include "base/fmt.h"
#include "base/threads.h"
#include "report/mustache.h"
#include "tables/compared_time.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SCALE = 1000 };

static int load(struct nai_buf *text, void *ctx, const char *name, struct nai_err *err) {
  char path[128];
  (void)ctx;
  snprintf(path, sizeof path, "templates/%.80s.mustache", name);
  const struct nai_asset *asset = nai_asset_find(path);
  if (!asset)
    return nai_err_set(err, NAI_EUSAGE, "there is no template \"%s\"", name);
  nai_buf_put(text, asset->data, (size_t)(asset->end - asset->data));
  return nai_buf_check(text, err);
}

/* Puts what was printed, and empties the buffer. */
static void put_printed(struct nai_view *map, const char *key, struct nai_buf *text) {
  nai_view_put_text(map, key, nai_buf_str(text));
  nai_view_inherit(map, text);
  nai_buf_clear(text);
}

static void put_amount(struct nai_view *map, const char *key, const char *unit, double value, bool sign) {
  struct nai_buf text = {0};
  nai_put_amount(&text, unit, value, sign);
  put_printed(map, key, &text);
  nai_buf_free(&text);
}

static void put_captures(struct nai_view *root, const struct nai_comparison *c) {
  static const char *const keys[] = {"base_captures", "new_captures"};
  for (int s = 0; s < NAI_SIDES; s++) {
    struct nai_view *list = nai_view_put_list(root, keys[s]);
    for (uint32_t i = 0; i < c->sides[s].count; i++)
      nai_view_add_text(list, c->sides[s].captures[i].label);
  }
}

static void put_checks(struct nai_view *root, const struct nai_comparison *c) {
  nai_view_put_bool(root, "any_checks", c->check_count > 0);
  struct nai_view *list = nai_view_put_list(root, "checks");
  for (uint32_t i = 0; i < c->check_count; i++) {
    const struct nai_check *check = &c->checks[i];
    struct nai_view *map = nai_view_add_map(list);
    nai_view_put_text(map, "level", nai_check_word(check));
    nai_view_put_text(map, "check", nai_check_name(check->code));
    nai_view_put_text(map, "reason", check->reason);
    nai_view_put_text(map, "base", check->base);
    nai_view_put_text(map, "new", check->fresh);
    nai_view_put_bool(map, "any_side", check->base || check->fresh);
    nai_view_put_bool(map, "both_sides", check->base && check->fresh);
  }
}

static void put_metric(struct nai_view *list, const struct nai_comparison *c, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  struct nai_view *map = nai_view_add_map(list);
  struct nai_buf text = {0};
  nai_view_put_text(map, "title", r->title);
  nai_view_put_text(map, "id", r->id);
  nai_view_put_bool(map, "gated", r->gated);
  nai_view_put_text(map, "code", nai_verdict_code(j->verdict));
  nai_view_put_text(map, "reason", j->reason);
  put_amount(map, "base", r->unit, j->base, false);
  put_amount(map, "new", r->unit, j->fresh, false);
  nai_put_decision(&text, c, r);
  put_printed(map, "verdict", &text);
  nai_put_allowed(&text, r);
  put_printed(map, "budget", &text);
  nai_put_amount(&text, r->unit, j->compared ? j->shift.shift : NAN, true);
  if (j->compared && !isnan(j->pct) && strcmp(r->unit, "percent") != 0)
    nai_put_pct(&text, j->pct);
  put_printed(map, "difference", &text);
  if (j->compared && j->shift.has_ci && strcmp(r->kind, "exact") != 0) {
    nai_put_amount(&text, r->unit, j->shift.low, true);
    nai_buf_puts(&text, " ... ");
    nai_put_amount(&text, r->unit, j->shift.high, true);
  }
  put_printed(map, "interval", &text);
  nai_buf_free(&text);
}

/* Those that the gate asks about first, then those that differ, then the others. */
static int importance(const struct nai_metric_result *r) {
  enum nai_verdict v = r->judgement.verdict;
  bool differs = v == NAI_VERDICT_REGRESSED || v == NAI_VERDICT_CHANGED || v == NAI_VERDICT_SUSPECT ||
                 v == NAI_VERDICT_IMPROVED || (v == NAI_VERDICT_ERROR && r->gated);
  return (r->gated ? 0 : 2) + (differs ? 0 : 1);
}

static void put_metrics(struct nai_view *root, const struct nai_comparison *c) {
  struct nai_view *asked = nai_view_put_list(root, "metrics"), *others = nai_view_put_list(root, "other_metrics");
  int64_t more = 0;
  for (int level = 0; level < 4; level++)
    for (uint32_t i = 0; i < c->result_count; i++) {
      if (importance(&c->results[i]) != level)
        continue;
      put_metric(level < 3 ? asked : others, c, &c->results[i]);
      more += level == 3;
    }
  nai_view_put_int(root, "other_metric_count", more);
  nai_view_put_bool(root, "any_other_metrics", more > 0);
}

/* The parts of the whole as rectangles; both sides on the scale of the longer one. */
static void put_bars(struct nai_view *root, const struct nai_comparison *c) {
  static const char *const sides[] = {"base", "new"};
  const struct nai_table *t = c->tables[NAI_COMPARED_TIME];
  struct nai_view *bars = nai_view_put_list(root, "bars");
  double longest =
      t->rows ? fmax(nai_get_f64(t, 0, COMPARED_TIME_base_time_ns), nai_get_f64(t, 0, COMPARED_TIME_new_time_ns)) : 0;
  for (int s = 0; s < NAI_SIDES && longest > 0; s++) {
    int column = s == NAI_BASE ? COMPARED_TIME_base_time_ns : COMPARED_TIME_new_time_ns;
    struct nai_view *bar = nai_view_add_map(bars), *parts = nai_view_put_list(bar, "parts");
    struct nai_buf text = {0};
    double x = 0;
    nai_view_put_text(bar, "side", sides[s]);
    put_amount(bar, "total", "ns", nai_get_f64(t, 0, column), false);
    for (int64_t row = 0; row < t->rows; row++) {
      double width = SCALE * nai_get_f64(t, row, column) / longest;
      if (nai_get_i64(t, row, COMPARED_TIME_depth) != 1)
        continue;
      struct nai_view *part = nai_view_add_map(parts);
      nai_view_put_text(part, "part", nai_get_str(t, row, COMPARED_TIME_part));
      nai_fmt_real(&text, x, 3);
      put_printed(part, "x", &text);
      nai_fmt_real(&text, width, 3);
      put_printed(part, "width", &text);
      x += width;
    }
    nai_buf_free(&text);
  }
}

static void put_time(struct nai_view *root, const struct nai_comparison *c) {
  const struct nai_table *t = c->tables[NAI_COMPARED_TIME];
  struct nai_view *list = nai_view_put_list(root, "time");
  for (int64_t row = 0; row < t->rows; row++) {
    struct nai_view *map = nai_view_add_map(list);
    struct nai_buf pct = {0};
    if (isnan(nai_get_f64(t, row, COMPARED_TIME_delta_pct_of_whole)))
      nai_buf_puts(&pct, "-");
    else
      nai_fmt_change(&pct, nai_get_f64(t, row, COMPARED_TIME_delta_pct_of_whole), 2);
    nai_view_put_int(map, "depth", nai_get_i64(t, row, COMPARED_TIME_depth));
    nai_view_put_text(map, "title", nai_get_str(t, row, COMPARED_TIME_title));
    put_amount(map, "base", "ns", nai_get_f64(t, row, COMPARED_TIME_base_time_ns), false);
    put_amount(map, "new", "ns", nai_get_f64(t, row, COMPARED_TIME_new_time_ns), false);
    put_amount(map, "difference", "ns", nai_get_f64(t, row, COMPARED_TIME_delta_ns), true);
    nai_view_put_text(map, "pct", nai_buf_str(&pct));
    nai_view_inherit(map, &pct);
    nai_buf_free(&pct);
  }
}

/* --- data blocks ------------------------------------------------------------------------------ */

struct page {
  const struct nai_comparison *c;
  struct nai_pair_timeline timelines[NAI_SIDES];
};

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

static void put_asset(struct nai_view *root, const char *key, const char *path) {
  const struct nai_asset *asset = nai_asset_find(path);
  nai_view_put_borrowed(root, key, asset ? asset->data : "", asset ? (size_t)(asset->end - asset->data) : 0);
}

/* The colour of the verdict beside its words. */
static const char *gate_severity(const struct nai_comparison *c) {
  int exit = nai_gate_of(c).exit;
  return exit == NAI_EXIT_FAIL ? "high" : exit == NAI_EXIT_PASS ? "low" : "medium";
}

static int render(struct nai_buf *out, const struct page *page, struct nai_err *err) {
  const struct nai_comparison *c = page->c;
  struct nai_templates *templates = NULL;
  struct nai_view *root = nai_view_new();
  struct nai_buf verdict = {0};
  nai_write_verdict(&verdict, c);
  put_printed(root, "verdict", &verdict);
  nai_buf_free(&verdict);
  nai_view_put_text(root, "severity", gate_severity(c));
  nai_view_put_bool(root, "both", c->sides[NAI_BASE].count && c->sides[NAI_NEW].count);
  nai_view_put_text(root, "per", c->by_step ? "steady step" : "run");
  put_captures(root, c);
  put_checks(root, c);
  put_metrics(root, c);
  put_bars(root, c);
  put_time(root, c);
  put_blocks(root, page);
  put_asset(root, "script", "templates/viewer/dist/compare.js");
  put_asset(root, "script_sha256_b64", "templates/viewer/dist/compare.js.sha256");
  put_asset(root, "style", "templates/viewer/dist/compare.css");
  put_asset(root, "style_sha256_b64", "templates/viewer/dist/compare.css.sha256");
  int rc = nai_view_check(root, err);
  if (!rc)
    rc = nai_templates_new(&templates, load, NULL, err);
  if (!rc)
    rc = nai_mustache_render(out, templates, "compare.html", root, NAI_ESCAPE_HTML, err);
  nai_templates_free(templates);
  nai_view_free(root);
  return rc ? rc : nai_buf_check(out, err);
}

static int make_timeline(void *ctx, int side, struct nai_err *err) {
  struct page *page = ctx;
  if (!page->c->sides[side].count)
    return NAI_OK;
  return nai_pair_timeline_make(&page->timelines[side], page->c, (enum nai_side_id)side, err);
}

int nai_write_html(struct nai_buf *out, const struct nai_comparison *c, struct nai_err *err) {
  struct page page = {.c = c};
  int rc = nai_parallel(NAI_SIDES, NAI_SIDES, make_timeline, &page, err); /* runs of different sides share nothing */
  if (!rc)
    rc = render(out, &page, err);
  for (int s = 0; s < NAI_SIDES; s++)
    nai_pair_timeline_free(&page.timelines[s]);
  return rc;
}
