#include "features/compare/suite.h"

#include "base/fmt.h"
#include "features/compare/document.h"
#include "features/compare/write.h"
#include "rundir/publish.h"
#include "tables/compared_time.h"

void nai_suite_begin(struct nai_suite *s) {
  *s = (struct nai_suite){.root = nai_view_new()};
  s->rows = nai_view_put_list(s->root, "programs");
  nai_json_open(&s->json, &s->text, NAI_JSON_LINES);
  nai_json_put_text(&s->json, "schema_version", "1.0");
  nai_json_put_array(&s->json, "programs", NAI_JSON_LINES);
}

void nai_suite_free(struct nai_suite *s) {
  nai_view_free(s->root);
  nai_json_free(&s->json);
  nai_buf_free(&s->text);
}

int nai_suite_exit(const struct nai_suite *s) {
  return s->exits[NAI_EXIT_FAIL] ? NAI_EXIT_FAIL : s->exits[NAI_EXIT_UNDECIDED] ? NAI_EXIT_UNDECIDED : NAI_EXIT_PASS;
}

/* The change of all programs together, in percent: the geometric mean of their ratios; NaN without any. */
static double mean_pct(const struct nai_suite *s) { return s->ratios ? 100 * (exp(s->log_sum / s->ratios) - 1) : NAN; }

static const char *status_of(int exit) {
  return exit == NAI_EXIT_FAIL ? "fail" : exit == NAI_EXIT_UNDECIDED ? "undecided" : "pass";
}

static void put_json_number(struct nai_json *json, const char *key, double number) {
  nai_json_key(json, key);
  nai_json_value(json, NAI_COUNT, &(struct nai_value){.type = NAI_F64, .f = number, .null = !isfinite(number)});
}

/* --- bars ------------------------------------------------------------------------------------------- */

/* Kinds of kernels keep their colour from bar to bar: by their order here, others share the last one. */
static const char *color_of(const char *part) {
  static const struct {
    const char *part, *color;
  } colors[] = {
      {"compute.gemm", "#3b6fb6"},          {"compute.attention", "#7b4fb0"}, {"compute.elementwise", "#2f9e8f"},
      {"compute.normalization", "#5aa02c"}, {"compute.reduction", "#8a9a2b"}, {"compute.convolution", "#2b8cbe"},
      {"exposed_comm", "#b5651d"},          {"exposed_copy", "#d0569b"},      {"idle", "#9a9a9a"}};
  for (size_t i = 0; i < sizeof colors / sizeof *colors; i++)
    if (strcmp(part, colors[i].part) == 0)
      return colors[i].color;
  return "#c9a227";
}

/* Parts that are not divided, in the order of the table: they add up to the whole. */
static bool is_leaf(const struct COMPARED_TIME_row *row) {
  return strcmp(row->parent, "compute") == 0 ||
         (strcmp(row->parent, "whole") == 0 && strcmp(row->part, "compute") != 0);
}

/* A side as rectangles from left to right; `longest` fills the width. */
static void put_parts(struct nai_view *parts, const struct nai_table *time, int side, double longest) {
  enum { WIDTH = 10000 };
  double at = 0;
  for (int64_t i = 0; i < time->rows; i++) {
    const struct COMPARED_TIME_row row = COMPARED_TIME_at(time, i);
    double ns = side == NAI_BASE ? row.base_time_ns : row.new_time_ns;
    if (!is_leaf(&row) || !(ns > 0))
      continue;
    struct nai_view *part = nai_view_add_map(parts);
    nai_view_put_int(part, "x", (int64_t)(WIDTH * at / longest));
    nai_view_put_int(part, "width", (int64_t)(WIDTH * ns / longest));
    nai_view_put_trusted(part, "color", color_of(row.part));
    nai_view_put_text(part, "title", row.title);
    nai_document_amount(part, "time", "ns", ns, false);
    at += ns;
  }
}

/* "77.0 %" of the new side's whole. */
static void put_share(struct nai_view *map, const struct nai_table *time, const char *part, double whole) {
  int64_t row = nai_find_str(time, COMPARED_TIME_part, part);
  if (row >= 0 && whole > 0)
    nai_view_put_percent(map, part, 100 * nai_get_f64(time, row, COMPARED_TIME_new_time_ns) / whole);
  else
    nai_view_put_trusted(map, part, "");
}

static void put_time(struct nai_view *map, const struct nai_comparison *c) {
  static const char *const parts[] = {"compute", "exposed_comm", "exposed_copy", "idle"};
  const struct nai_table *time = c->tables[NAI_COMPARED_TIME];
  const struct COMPARED_TIME_row whole = COMPARED_TIME_at(time, 0);
  double longest = 0;
  struct nai_view *bars = nai_view_put_list(map, "bars");
  for (int side = 0; side < NAI_SIDES; side++) { /* of parts that overlap the sum may exceed the whole */
    double sum = 0;
    for (int64_t i = 0; i < time->rows; i++) {
      const struct COMPARED_TIME_row row = COMPARED_TIME_at(time, i);
      sum += is_leaf(&row) ? fmax(0, side == NAI_BASE ? row.base_time_ns : row.new_time_ns) : 0;
    }
    longest = fmax(longest, sum);
  }
  for (int side = 0; side < NAI_SIDES && longest > 0; side++) {
    if (!c->sides[side].count)
      continue;
    struct nai_view *bar = nai_view_add_map(bars);
    nai_view_put_trusted(bar, "side", nai_side_names[side]);
    put_parts(nai_view_put_list(bar, "parts"), time, side, longest);
  }
  if (longest > 0)
    put_parts(nai_view_put_list(map, "legend"), time, NAI_CANDIDATE, longest);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    put_share(map, time, parts[i], whole.new_time_ns);
  nai_document_amount(map, "whole", "ns", whole.new_time_ns, false);
  nai_view_put_trusted(map, "per", nai_comparison_per(c));
}

/* --- rows ------------------------------------------------------------------------------------------- */

static struct nai_view *add_row(struct nai_suite *s, const char *program, int exit, const char *reason) {
  struct nai_view *map = nai_view_add_map(s->rows);
  s->exits[exit]++;
  nai_view_put_text(map, "program", program);
  nai_view_put_trusted(map, "status", status_of(exit));
  nai_view_put_bool(map, "bad", exit != NAI_EXIT_PASS);
  nai_view_put_text(map, "why", reason);
  nai_json_begin_object(&s->json, NAI_JSON_INLINE);
  nai_json_put_text(&s->json, "program", program);
  nai_json_put_text(&s->json, "status", status_of(exit));
  nai_json_put_text(&s->json, "reason", reason);
  return map;
}

/* The metric that a comparison's document begins with. */
static void put_headline(struct nai_suite *s, struct nai_view *map, const struct nai_comparison *c,
                         const struct nai_metric_result *r) {
  NAI_SCOPED(nai_document) d = nai_document_new(c, 0, UINT32_MAX);
  const struct nai_judgement *j = &r->judgement;
  nai_document_metric(&d, nai_view_put_list(map, "headline"), r);
  nai_json_put_text(&s->json, "metric", r->def.metric);
  nai_json_put_text(&s->json, "unit", r->def.unit);
  nai_json_put_text(&s->json, "verdict", nai_verdict_code(j->verdict));
  put_json_number(&s->json, "base", j->base);
  put_json_number(&s->json, "new", j->candidate);
  put_json_number(&s->json, "change_pct", j->compared ? j->pct : (double)NAN);
  if (!j->compared || !(1 + j->pct / 100 > 0))
    return;
  s->log_sum += log(1 + j->pct / 100);
  s->ratios++;
}

void nai_suite_add(struct nai_suite *s, const char *program, const struct nai_comparison *c,
                   const struct nai_gate *gate) {
  const struct nai_metric_result *headline = nai_comparison_obstacle(c) ? NULL : nai_headline(c);
  NAI_SCOPED(nai_buf) verdict = {0};
  nai_write_verdict(&verdict, c);
  struct nai_view *map = add_row(s, program, gate->exit, gate->reason);
  nai_view_put_buf(map, "verdict", NAI_TEXT_FOREIGN, &verdict);
  nai_view_put_bool(map, "has_files", true);
  nai_view_put_int(map, "failed", gate->counts[NAI_OUTCOME_FAIL]);
  nai_view_put_int(map, "base_count", c->sides[NAI_BASE].count);
  nai_view_put_int(map, "new_count", c->sides[NAI_CANDIDATE].count);
  nai_json_put_text(&s->json, "sentence", nai_buf_str(&verdict));
  nai_json_put_int(&s->json, "base_captures", c->sides[NAI_BASE].count);
  nai_json_put_int(&s->json, "new_captures", c->sides[NAI_CANDIDATE].count);
  if (headline)
    put_headline(s, map, c, headline);
  put_time(map, c);
  nai_json_end(&s->json);
  s->text.oom |= verdict.oom;
}

void nai_suite_add_undecided(struct nai_suite *s, const char *program, const char *reason) {
  add_row(s, program, NAI_EXIT_UNDECIDED, reason);
  nai_json_end(&s->json);
}

/* --- writing ---------------------------------------------------------------------------------------- */

static void sum_up(struct nai_suite *s) {
  NAI_SCOPED(nai_buf) text = {0};
  double pct = mean_pct(s);
  uint32_t count = s->exits[NAI_EXIT_PASS] + s->exits[NAI_EXIT_FAIL] + s->exits[NAI_EXIT_UNDECIDED];
  if (!isnan(pct))
    nai_fmt_change(&text, pct, 1);
  nai_view_put_buf(s->root, "mean", NAI_TEXT_TRUSTED, &text);
  nai_view_put_int(s->root, "ratios", s->ratios);
  nai_view_put_int(s->root, "count", count);
  nai_view_put_int(s->root, "failed_count", s->exits[NAI_EXIT_FAIL]);
  nai_view_put_int(s->root, "undecided_count", s->exits[NAI_EXIT_UNDECIDED]);
  nai_view_put_bool(s->root, "any_failed", s->exits[NAI_EXIT_FAIL] > 0);
  nai_view_put_bool(s->root, "any_undecided", s->exits[NAI_EXIT_UNDECIDED] > 0);
  nai_view_put_text(s->root, "version", NAI_VERSION);
  nai_view_put_asset(s->root, "shell", "templates/many/shell.js");
  nai_view_put_asset(s->root, "shell_sha256", "templates/many/shell.js.sha256");
  nai_view_put_asset(s->root, "style", "templates/many/page.css");
  nai_view_put_asset(s->root, "style_sha256", "templates/many/page.css.sha256");
  nai_json_end(&s->json);
  nai_json_put_text(&s->json, "status", status_of(nai_suite_exit(s)));
  nai_json_put_int(&s->json, "exit", nai_suite_exit(s));
  put_json_number(&s->json, "geometric_mean_pct", pct);
  nai_json_close(&s->json);
  s->text.oom |= text.oom;
}

int nai_suite_publish(struct nai_suite *s, struct nai_buf *markdown, struct nai_buf *terminal, const char *directory,
                      void (*note)(const char *line), struct nai_err *err) {
  NAI_SCOPED(nai_publication) p = {0};
  NAI_SCOPED(nai_buf) html = {0};
  sum_up(s);
  NAI_TRY(nai_builtin_render(markdown, "many/suite.md", s->root, NAI_ESCAPE_MARKDOWN, err));
  NAI_TRY(nai_builtin_render(terminal, "many/suite.txt", s->root, NAI_ESCAPE_TERMINAL, err));
  NAI_TRY(nai_builtin_render(&html, "many/suite.html", s->root, NAI_ESCAPE_HTML, err));
  NAI_TRY(nai_publish_begin(&p, directory, "suite.json", note, err));
  NAI_TRY(nai_publish_file(&p, "suite.md", markdown, err));
  NAI_TRY(nai_publish_file(&p, "suite.html", &html, err));
  NAI_TRY(nai_publish_file(&p, "suite.json", &s->text, err));
  return nai_publish_commit(&p, err);
}
