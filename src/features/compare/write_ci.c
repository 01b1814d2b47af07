/* Formats that CI systems read: JUnit XML, OpenMetrics text, Bencher's and github-action-benchmark's JSON, GitHub's
 * annotations. */
#include "base/fmt.h"
#include "base/scope.h"
#include "base/strings.h"
#include "base/text.h"
#include "features/compare/write.h"
#include "report/builtin.h"
#include "table/json.h"

/* --- JUnit ------------------------------------------------------------------------------------ */

/* "41.2 ms -> 43.9 ms, regressed, budget 1.2 ms: reason" */
static void put_sentence(struct nai_buf *out, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  nai_put_amount(out, r->def.unit, j->base, false);
  nai_buf_puts(out, " -> ");
  nai_put_amount(out, r->def.unit, j->candidate, false);
  if (!isnan(j->pct))
    nai_put_pct(out, j->pct);
  nai_buf_printf(out, ", %s", nai_verdict_name(j->verdict));
  if (!isnan(j->budget)) {
    nai_buf_puts(out, ", budget ");
    nai_put_amount(out, r->def.unit, j->budget, false);
  }
  if (*j->reason)
    nai_buf_printf(out, ": %s", j->reason);
}

/* Text in XML: clean, so that no character is left that XML forbids. */
static void put_clean(struct nai_view *map, const char *key, const char *text) {
  NAI_SCOPED(nai_buf) clean = {0};
  nai_text_clean(&clean, text, strlen(text));
  nai_view_put_buf(map, key, NAI_TEXT_FOREIGN, &clean);
}

static void put_case(struct nai_view *list, const struct nai_comparison *c, const struct nai_metric_result *r) {
  static const char *const elements[] = {NULL, NULL, "failure", "error", "skipped"};
  enum nai_outcome outcome = nai_gate_outcome(c, r);
  struct nai_view *map = nai_view_add_map(list);
  NAI_SCOPED(nai_buf) text = {0};
  put_sentence(&text, r);
  put_clean(map, "id", r->def.metric);
  put_clean(map, "sentence", nai_buf_str(&text));
  nai_view_inherit(map, &text);
  nai_view_put_trusted(map, "element", elements[outcome]);
  nai_view_put_trusted(map, "type", outcome == NAI_OUTCOME_SKIP ? NULL : nai_verdict_code(r->judgement.verdict));
}

/* What is undecided as a whole has no metric to say so. */
static void put_undecided(struct nai_view *list, const char *reason) {
  struct nai_view *map = nai_view_add_map(list);
  nai_view_put_trusted(map, "id", "comparison");
  nai_view_put_text(map, "sentence", reason);
  nai_view_put_trusted(map, "element", "error");
  nai_view_put_trusted(map, "type", "undecided");
}

void nai_write_junit(struct nai_buf *out, const struct nai_comparison *c, const char *series) {
  static const char *const keys[] = {"passed", "warned", "failures", "errors", "skipped"};
  NAI_OWNED(nai_view) *root = nai_view_new();
  NAI_SCOPED(nai_buf) verdict = {0};
  struct nai_gate gate = nai_gate_of(c);
  struct nai_view *cases = nai_view_put_list(root, "cases");
  struct nai_err err;
  uint32_t tests = 0;
  bool is_undecided = gate.exit == NAI_EXIT_UNDECIDED && !gate.counts[NAI_OUTCOME_UNDECIDED];
  gate.counts[NAI_OUTCOME_UNDECIDED] += is_undecided;
  for (int i = 0; i <= NAI_OUTCOME_SKIP; i++) {
    nai_view_put_int(root, keys[i], gate.counts[i]);
    tests += gate.counts[i];
  }
  nai_view_put_int(root, "tests", tests);
  nai_write_verdict(&verdict, c);
  put_clean(root, "verdict", nai_buf_str(&verdict));
  nai_view_inherit(root, &verdict);
  put_clean(root, "series", series);
  if (is_undecided)
    put_undecided(cases, gate.reason);
  for (uint32_t i = 0; i < c->result_count; i++)
    if (c->results[i].gated)
      put_case(cases, c, &c->results[i]);
  if (nai_builtin_render(out, "compare.junit.xml", root, NAI_ESCAPE_HTML, &err) != NAI_OK)
    out->oom = true; /* nothing else can fail: the template is ours */
}

/* --- OpenMetrics ------------------------------------------------------------------------------ */

static const struct unit {
  const char *unit, *suffix;
  double scale; /* to the base unit */
} units[] = {{"ns", "seconds", 1e-9},         {"bytes", "bytes", 1},
             {"percent", "ratio", 0.01},      {"gb_per_s", "bytes_per_second", 1e9},
             {"per_second", "per_second", 1}, {"count", NULL, 1}};

static const struct unit *unit_of(const struct nai_metric_result *r) {
  size_t last = sizeof units / sizeof *units - 1;
  for (size_t i = 0; i < last; i++)
    if (strcmp(units[i].unit, r->def.unit) == 0)
      return &units[i];
  return &units[last];
}

/* The part of the id that {} of the family stands for; nothing for a metric of its own. */
static void member_of(struct nai_buf *out, const struct nai_metric_result *r) {
  const char *hole = strstr(r->def.family, "{}");
  size_t before = hole ? (size_t)(hole - r->def.family) : 0, after = hole ? strlen(hole + 2) : 0,
         len = strlen(r->def.metric);
  if (hole && len >= before + after)
    nai_buf_put(out, r->def.metric + before, len - before - after);
}

/* "nsys_ai_step_time_median_seconds" */
static void series_name(struct nai_buf *out, const struct nai_metric_result *r) {
  const char *id = *r->def.family ? r->def.family : r->def.metric, *suffix = unit_of(r)->suffix;
  nai_buf_puts(out, "nsys_ai");
  for (bool gap = true; *id; id++) {
    bool plain = isalnum((unsigned char)*id);
    if (plain && gap)
      nai_buf_putc(out, '_');
    if (plain)
      nai_buf_putc(out, *id);
    gap = !plain;
  }
  if (suffix)
    nai_buf_printf(out, "_%s", suffix);
}

void nai_put_openmetrics_label(struct nai_buf *out, const char *text) {
  NAI_SCOPED(nai_buf) clean = {0};
  nai_text_clean(&clean, text, strlen(text));
  for (const char *p = nai_buf_str(&clean); *p; p++) {
    if (*p == '\\' || *p == '"')
      nai_buf_putc(out, '\\');
    nai_buf_putc(out, *p);
  }
  out->oom |= clean.oom;
}

void nai_put_openmetrics_value(struct nai_buf *out, double value) {
  if (value >= 0 ? value < 1e15 && floor(value) >= value : value > -1e15 && floor(value) >= value)
    nai_fmt_real(out, value, 0);
  else
    nai_fmt_real(out, value, 12);
}

/* `told`: by its id, since its name is that of another metric, too. */
static void put_sample(struct nai_buf *out, const char *name, const struct nai_metric_result *r, bool told,
                       const char *series) {
  NAI_SCOPED(nai_buf) member = {0};
  member_of(&member, r);
  nai_buf_printf(out, "%s{series=\"", name);
  nai_put_openmetrics_label(out, series);
  nai_buf_puts(out, "\",per=\"");
  nai_put_openmetrics_label(out, r->def.basis);
  if (told) {
    nai_buf_puts(out, "\",metric=\"");
    nai_put_openmetrics_label(out, r->def.metric);
  }
  if (member.len) {
    nai_buf_puts(out, "\",member=\"");
    nai_put_openmetrics_label(out, nai_buf_str(&member));
  }
  nai_buf_puts(out, "\"} ");
  nai_put_openmetrics_value(out, r->judgement.candidate * unit_of(r)->scale);
  nai_buf_putc(out, '\n');
  out->oom |= member.oom;
}

static bool has_value(const struct nai_metric_result *r) {
  return r->count[NAI_CANDIDATE] && !isnan(r->judgement.candidate);
}

/* The samples of one name stand together, whatever the order of metrics. */
static void put_family(struct nai_buf *out, const struct nai_comparison *c, uint32_t first, const char *name,
                       const char *series) {
  const char *suffix = unit_of(&c->results[first])->suffix;
  NAI_SCOPED(nai_buf) other = {0};
  nai_buf_printf(out, "# TYPE %s gauge\n", name);
  if (suffix)
    nai_buf_printf(out, "# UNIT %s %s\n", name, suffix);
  for (uint32_t i = first; i < c->result_count; i++) {
    nai_buf_clear(&other);
    series_name(&other, &c->results[i]);
    bool own = i == first ||
               (*c->results[i].def.family && strcmp(c->results[i].def.family, c->results[first].def.family) == 0);
    if (has_value(&c->results[i]) && strcmp(nai_buf_str(&other), name) == 0)
      put_sample(out, name, &c->results[i], !own, series);
  }
  out->oom |= other.oom;
}

void nai_write_prometheus(struct nai_buf *out, const struct nai_comparison *c, const char *series) {
  NAI_SCOPED(nai_strings) names = {0};
  NAI_SCOPED(nai_buf) name = {0};
  for (uint32_t i = 0; i < c->result_count; i++) {
    if (!has_value(&c->results[i]))
      continue;
    nai_buf_clear(&name);
    series_name(&name, &c->results[i]);
    uint32_t known = names.count;
    if (nai_strings_add(&names, nai_buf_str(&name), name.len) == NAI_NO_STRING)
      out->oom = true;
    if (names.count > known)
      put_family(out, c, i, nai_buf_str(&name), series);
  }
  nai_buf_puts(out, "# EOF\n");
  out->oom |= name.oom;
}

/* --- JSON of benchmark trackers --------------------------------------------------------------- */

static void put_decimal(struct nai_json *json, const char *key, double value) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_put_openmetrics_value(&text, value);
  nai_json_key(json, key);
  nai_json_decimal(json, nai_buf_str(&text));
  json->out->oom |= text.oom;
}

static void extremes(double *low, double *high, const struct nai_metric_result *r) {
  *low = *high = r->values[NAI_CANDIDATE][0];
  for (uint32_t i = 1; i < r->count[NAI_CANDIDATE]; i++) {
    *low = fmin(*low, r->values[NAI_CANDIDATE][i]);
    *high = fmax(*high, r->values[NAI_CANDIDATE][i]);
  }
}

void nai_write_bmf(struct nai_buf *out, const struct nai_comparison *c, const char *series) {
  struct nai_json json;
  nai_json_open(&json, out, NAI_JSON_LINES);
  nai_json_put_object(&json, series, NAI_JSON_LINES);
  for (uint32_t i = 0; i < c->result_count; i++) {
    const struct nai_metric_result *r = &c->results[i];
    double low, high;
    if (!has_value(r))
      continue;
    extremes(&low, &high, r);
    nai_json_put_object(&json, r->def.metric, NAI_JSON_INLINE);
    put_decimal(&json, "value", r->judgement.candidate);
    put_decimal(&json, "lower_value", low);
    put_decimal(&json, "upper_value", high);
    nai_json_end(&json);
  }
  nai_json_close(&json);
}

void nai_write_benchmark(struct nai_buf *out, const struct nai_comparison *c, const char *series, bool bigger) {
  struct nai_json json;
  NAI_SCOPED(nai_buf) name = {0};
  nai_json_init(&json, out, false);
  nai_json_begin_array(&json, NAI_JSON_LINES);
  for (uint32_t i = 0; i < c->result_count; i++) {
    const struct nai_metric_result *r = &c->results[i];
    double low, high;
    if (!has_value(r) || strcmp(r->def.better, bigger ? "higher" : "lower") != 0)
      continue;
    extremes(&low, &high, r);
    nai_buf_clear(&name);
    nai_buf_printf(&name, "%s/%s", series, r->def.metric);
    nai_json_begin_object(&json, NAI_JSON_INLINE);
    nai_json_put_text(&json, "name", nai_buf_str(&name));
    nai_json_put_text(&json, "unit", r->def.unit);
    put_decimal(&json, "value", r->judgement.candidate);
    nai_buf_clear(&name);
    nai_put_openmetrics_value(&name, high - low);
    nai_json_put_text(&json, "range", nai_buf_str(&name));
    nai_json_end(&json);
  }
  nai_json_close(&json);
  out->oom |= name.oom;
}

/* --- annotations ------------------------------------------------------------------------------ */

/* Of a workflow command; properties end at ':' and ','. */
static void put_command_text(struct nai_buf *out, const char *text, bool property) {
  for (; *text; text++) {
    bool special = *text == '%' || *text == '\r' || *text == '\n' || (property && (*text == ':' || *text == ','));
    if (special)
      nai_buf_printf(out, "%%%02X", (unsigned)(unsigned char)*text);
    else
      nai_buf_putc(out, *text);
  }
}

void nai_write_annotations(struct nai_buf *out, const struct nai_comparison *c) {
  enum { MAX_ANNOTATIONS = 10 };
  static const char *const kinds[] = {NULL, "warning", "error", "error", NULL};
  int put = 0;
  for (int pass = NAI_OUTCOME_UNDECIDED; pass >= NAI_OUTCOME_WARN; pass--) {
    int outcome = pass == NAI_OUTCOME_UNDECIDED ? NAI_OUTCOME_FAIL
                : pass == NAI_OUTCOME_FAIL      ? NAI_OUTCOME_UNDECIDED
                                                : pass;
    for (uint32_t i = 0; i < c->result_count && put < MAX_ANNOTATIONS; i++) {
      const struct nai_metric_result *r = &c->results[i];
      NAI_SCOPED(nai_buf) text = {0}, clean = {0};
      if (!r->gated || (int)nai_gate_outcome(c, r) != outcome)
        continue;
      put_sentence(&text, r);
      nai_text_clean(&clean, nai_buf_str(&text), text.len);
      nai_buf_printf(out, "::%s title=", kinds[outcome]);
      put_command_text(out, r->def.metric, true);
      nai_buf_puts(out, "::");
      put_command_text(out, nai_buf_str(&clean), false);
      nai_buf_putc(out, '\n');
      put++;
      out->oom |= text.oom || clean.oom;
    }
  }
}
