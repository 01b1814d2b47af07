#include "features/compare/document.h"

#include "base/fmt.h"
#include "base/text.h"
#include "features/compare/internal.h"
#include "features/compare/write.h"
#include "tables/compared_time.h"

void nai_document_free(struct nai_document *d) { nai_view_free(d->root); }

static void put_cut(struct nai_view *map, const char *key, enum nai_text_kind kind, const char *text, size_t chars) {
  NAI_SCOPED(nai_buf) cut = {0};
  nai_text_cut(&cut, text, strlen(text), chars);
  nai_view_put_buf(map, key, kind, &cut);
}

void nai_document_text(const struct nai_document *d, struct nai_view *map, const char *key, const char *text) {
  if (text && d->chars)
    put_cut(map, key, NAI_TEXT_FOREIGN, text, 3 * d->chars);
  else
    nai_view_put_text(map, key, text);
}

void nai_document_code(const struct nai_document *d, struct nai_view *map, const char *key, const char *text) {
  if (d->chars)
    put_cut(map, key, NAI_TEXT_CODE, text, d->chars);
  else
    nai_view_put_code(map, key, text);
}

static void put_amount(const struct nai_document *d, struct nai_buf *out, const char *unit, double value, bool sign) {
  if (d->times && strcmp(unit, "ns") == 0)
    nai_fmt_time_in(out, d->times, value, sign);
  else
    nai_put_amount(out, unit, value, sign);
}

void nai_document_amount(struct nai_view *map, const char *key, const char *unit, double value, bool sign) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_put_amount(&text, unit, value, sign);
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}

void nai_document_time(struct nai_view *map, const char *key, const struct nai_time_column *column, double ns,
                       bool sign) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_fmt_time_in(&text, column, ns, sign);
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}

static void put_value(const struct nai_document *d, struct nai_view *map, const char *key, const char *unit,
                      double value) {
  NAI_SCOPED(nai_buf) text = {0};
  put_amount(d, &text, unit, value, false);
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}

struct nai_view *nai_document_metric(const struct nai_document *d, struct nai_view *list,
                                     const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  const char *unit = r->def.unit;
  bool is_limited = !isnan(j->limit), is_first = !nai_view_truth(list);
  struct nai_view *map = nai_view_add_map(list);
  NAI_SCOPED(nai_buf) text = {0};
  enum { TOP = 5 }; /* rows that a short document shows unfolded */
  nai_view_put_bool(map, "top", list && list->len <= TOP);
  nai_view_put_bool(map, "sixth", list && list->len == TOP + 1);
  nai_view_put_bool(map, "first", is_first);
  nai_document_text(d, map, "title", r->def.title);
  nai_document_code(d, map, "id", r->def.metric);
  nai_view_put_bool(map, "per_second", strcmp(r->def.basis, "second") == 0 && !strstr(r->def.metric, ".per_second"));
  nai_view_put_bool(map, "gated", r->gated);
  nai_view_put_trusted(map, "code", nai_verdict_code(j->verdict));
  nai_document_text(d, map, "reason", j->reason);
  put_value(d, map, "base", unit, j->base);
  put_value(d, map, "new", unit, j->candidate);
  nai_put_decision(&text, d->c, r);
  nai_view_put_buf(map, "verdict", NAI_TEXT_TRUSTED, &text);
  nai_buf_clear(&text);
  nai_buf_puts(&text, is_limited ? "limit " : "");
  put_amount(d, &text, unit, is_limited ? j->limit : j->verdict == NAI_VERDICT_NOTED ? (double)NAN : j->budget, false);
  nai_view_put_buf(map, "budget", NAI_TEXT_TRUSTED, &text);
  nai_buf_clear(&text);
  put_amount(d, &text, unit, j->compared ? j->shift.shift : (double)NAN, true);
  if (j->compared && !isnan(j->pct) && strcmp(unit, "percent") != 0)
    nai_put_pct(&text, j->pct);
  nai_view_put_buf(map, "difference", NAI_TEXT_TRUSTED, &text);
  nai_buf_clear(&text);
  if (j->compared && isfinite(j->pct))
    nai_fmt_change(&text, j->pct, 1);
  nai_view_put_buf(map, "pct", NAI_TEXT_TRUSTED, &text);
  nai_buf_clear(&text);
  if (j->compared && j->shift.has_ci && strcmp(r->def.kind, "exact") != 0) {
    put_amount(d, &text, unit, j->shift.low, true);
    nai_buf_puts(&text, " ... ");
    put_amount(d, &text, unit, j->shift.high, true);
  }
  nai_view_put_buf(map, "interval", NAI_TEXT_TRUSTED, &text);
  return map;
}

/* The beginning of what a check says: of a side the first capture, the first reason. */
static void put_reason(struct nai_view *map, const char *key, const char *says) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_buf_printf(&text, "%.*s", says ? (int)strcspn(says, ";") : 0, says ? says : "");
  nai_view_put_buf(map, key, NAI_TEXT_FOREIGN, &text);
}

void nai_document_times(struct nai_time_column *times, const struct nai_metric_result *r) {
  if (strcmp(r->def.unit, "ns") == 0) {
    nai_time_column_add(times, r->judgement.base);
    nai_time_column_add(times, r->judgement.candidate);
  }
}

void nai_document_undecided(const struct nai_document *d) {
  struct nai_view *lists = nai_view_put_list(d->root, "not_compared"), *ids = NULL;
  const char *reason = NULL;
  for (uint32_t i = 0, n = 0; i < d->c->result_count && n < d->rows && !nai_comparison_obstacle(d->c); i++) {
    const struct nai_metric_result *r = &d->c->results[i];
    if (!r->gated || r->judgement.verdict != NAI_VERDICT_ERROR)
      continue;
    if (!reason || strcmp(reason, r->judgement.reason) != 0) { /* metrics of one reason follow each other */
      struct nai_view *map = nai_view_add_map(lists);
      reason = r->judgement.reason;
      put_reason(map, "reason", reason); /* advice stands with the check */
      ids = nai_view_put_list(map, "ids");
    }
    bool is_first = !nai_view_truth(ids);
    struct nai_view *id = nai_view_add_map(ids);
    nai_view_put_bool(id, "first", is_first);
    nai_document_code(d, id, "id", r->def.metric);
    n++;
  }
  nai_view_put_bool(d->root, "any_not_compared", nai_view_truth(lists));
}

/* --- the verdict ------------------------------------------------------------------------------ */

/* "+6.6" of a percentage, or an amount with its unit. */
static void put_difference(struct nai_view *map, const char *key, const char *unit, bool relative, double value) {
  NAI_SCOPED(nai_buf) text = {0};
  if (relative) {
    nai_fmt_change(&text, value, fabs(value) < 10 ? 1 : 0);
    text.len -= strlen(" %"); /* the sentence has it */
  } else {
    nai_put_amount(&text, unit, value, true);
  }
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}

/* By how much the headline differs, and how sure that is. */
static void put_doubt(struct nai_view *root, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  const char *unit = r->def.unit;
  bool relative = !isnan(j->pct) && strcmp(unit, "percent") != 0;
  double scale = relative ? 100 / fabs(j->base) : 1;
  struct nai_view *doubt = nai_view_put_map(root, "doubt");
  put_difference(doubt, "change", unit, relative, relative ? j->pct : j->shift.shift);
  nai_view_put_bool(doubt, "relative", relative);
  nai_view_put_int(doubt, "base_count", r->count[NAI_BASE]);
  nai_view_put_int(doubt, "new_count", r->count[NAI_CANDIDATE]);
  if (!j->shift.has_ci || strcmp(r->def.kind, "exact") == 0)
    return;
  put_difference(doubt, "low", unit, relative, j->shift.low * scale);
  put_difference(doubt, "high", unit, relative, j->shift.high * scale);
}

/* Other gated metrics that got worse. */
static void put_worse(const struct nai_document *d, const struct nai_metric_result *head) {
  enum { NAMED = 4 };
  struct nai_view *list = nai_view_put_list(d->root, "worse");
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->c->result_count; i++) {
    const struct nai_metric_result *r = &d->c->results[i];
    if (r == head || !r->gated ||
        (r->judgement.verdict != NAI_VERDICT_REGRESSED && r->judgement.verdict != NAI_VERDICT_CHANGED))
      continue;
    if (n++ >= NAMED)
      continue;
    struct nai_view *map = nai_view_add_map(list);
    nai_view_put_bool(map, "first", n == 1);
    nai_view_put_text(map, "id", r->def.metric);
  }
  nai_view_put_bool(d->root, "any_worse", n > 0);
  nai_view_put_bool(d->root, "one_worse", n == 1);
  nai_view_put_bool(d->root, "more_worse", n > NAMED);
  nai_view_put_int(d->root, "worse_count", n);
}

static void put_headline(const struct nai_document *d, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  enum nai_verdict v = j->verdict;
  nai_document_metric(d, nai_view_put_list(d->root, "headline"), r);
  nai_view_put_bool(d->root, "has_base", d->c->sides[NAI_BASE].count > 0);
  nai_view_put_trusted(d->root, "words", nai_verdict_name(v));
  nai_view_put_bool(d->root, "says_why", nai_says_why(v));
  nai_view_put_bool(d->root, "limited", !isnan(j->limit));
  nai_view_put_bool(d->root, "budgeted", isnan(j->limit) && !isnan(j->budget) && v != NAI_VERDICT_NOTED);
  nai_view_put_bool(d->root, "raised", j->budget_below_noise);
  if (j->compared)
    put_doubt(d->root, r);
  put_worse(d, r);
}

/* "10": by how many percent a factor is more or less than 1. */
static void put_percent(struct nai_view *map, const char *key, double factor) {
  double pct = 100 * fabs(factor - 1);
  nai_view_put_real(map, key, pct, pct < 10 ? 1 : 0);
}

/* How much work was done in which time, and what that makes of the time for the same work. */
static void put_work(struct nai_view *root, const struct nai_comparison *c) {
  const double same = 0.02, least = 0.0005,
               least_times = 2; /* windows that differ by less are of one length; what is shown as 0.0 % */
  double base = nai_gpu_longest_mean(c, NAI_BASE), candidate = nai_gpu_longest_mean(c, NAI_CANDIDATE);
  double longer = candidate / c->work.factor / base;
  struct nai_view *work = nai_view_put_map(root, "work");
  const double *launches = c->work.launches;
  if (c->work.relaunched) {
    struct nai_view *map = nai_view_put_map(work, "relaunched");
    nai_view_put_int(map, "base_launches", (int64_t)round(launches[NAI_BASE]));
    nai_view_put_int(map, "new_launches", (int64_t)round(launches[NAI_CANDIDATE]));
    nai_view_put_bool(map, "fewer", launches[NAI_CANDIDATE] < launches[NAI_BASE]);
    nai_view_put_bool(map, "same_results", c->work.same_results);
  }
  nai_view_put_bool(work, "less", c->work.factor < 1);
  nai_view_put_bool(work, "more", c->work.factor > 1);
  nai_view_put_bool(work, "all_equal",
                    !c->work.relaunched && c->work.high <= c->work.low && fabs(c->work.low - 1) <= 0);
  put_percent(work, "by", c->work.factor);
  nai_view_put_real(work, "factor", c->work.factor, 2);
  nai_view_put_real(work, "low", c->work.low, 2);
  nai_view_put_real(work, "high", c->work.high, 2);
  nai_view_put_bool(work, "same_time", fabs(candidate - base) < same * base);
  nai_document_amount(work, "base", "ns", base, false);
  nai_document_amount(work, "new", "ns", candidate, false);
  nai_view_put_bool(work, "as_long", fabs(longer - 1) < least);
  nai_view_put_bool(work, "longer", longer >= 1);
  put_percent(work, "longer_by", longer);
  if (fmax(longer, 1 / longer) >= least_times) /* "10.7 times as fast" where "91 % less" is hard to read */
    nai_view_put_real(work, "times", fmax(longer, 1 / longer), 1);
  nai_view_put_bool(work, "active", c->by_active);
  nai_view_put_int(work, "base_count", c->sides[NAI_BASE].count);
  nai_view_put_int(work, "new_count", c->sides[NAI_CANDIDATE].count);
}

/* What the program itself calls its work, where it names it. */
static void put_outer(struct nai_view *root, const struct nai_comparison *c) {
  enum { CHARS = 80 };
  const struct nai_outer_range *range = &c->outer;
  NAI_SCOPED(nai_buf) name = {0};
  if (!range->name)
    return;
  struct nai_view *outer = nai_view_put_map(root, "outer");
  nai_text_cut(&name, range->name, strlen(range->name), CHARS);
  nai_view_put_buf(outer, "name", NAI_TEXT_FOREIGN, &name);
  nai_view_put_bool(outer, "once", fabs(range->count - 1) <= 0);
  nai_view_put_real(outer, "count", range->count, 0);
  nai_document_amount(outer, "base", "ns", range->ns[NAI_BASE], false);
  nai_document_amount(outer, "new", "ns", range->ns[NAI_CANDIDATE], false);
  put_difference(outer, "change", "ns", true, 100 * (range->ns[NAI_CANDIDATE] / range->ns[NAI_BASE] - 1));
  nai_view_put_int(outer, "base_count", c->sides[NAI_BASE].count);
  nai_view_put_int(outer, "new_count", c->sides[NAI_CANDIDATE].count);
  const double least = 0.02; /* of the range: what may tell another story */
  if (range->loading[NAI_BASE] < least * range->ns[NAI_BASE] &&
      range->loading[NAI_CANDIDATE] < least * range->ns[NAI_CANDIDATE])
    return;
  struct nai_view *loading = nai_view_put_map(outer, "loading");
  nai_document_amount(loading, "base", "ns", range->loading[NAI_BASE], false);
  nai_document_amount(loading, "new", "ns", range->loading[NAI_CANDIDATE], false);
  nai_document_amount(loading, "base_without", "ns", range->ns[NAI_BASE] - range->loading[NAI_BASE], false);
  nai_document_amount(loading, "new_without", "ns", range->ns[NAI_CANDIDATE] - range->loading[NAI_CANDIDATE], false);
}

/* A program that failed is named first: what its capture holds may be short for that. */
static void put_failures(struct nai_view *root, const struct nai_comparison *c) {
  for (uint32_t i = 0; i < c->check_count; i++) {
    const struct nai_check *check = &c->checks[i];
    if (check->code != NAI_CHECK_PROGRAM_FAILED)
      continue;
    struct nai_view *failed = nai_view_put_map(root, "failed");
    put_reason(failed, "base", check->says[NAI_BASE]);
    put_reason(failed, "new", check->says[NAI_CANDIDATE]);
    nai_view_put_bool(failed, "both", check->says[NAI_BASE] && check->says[NAI_CANDIDATE]);
  }
}

void nai_write_verdict(struct nai_buf *out, const struct nai_comparison *c) {
  NAI_SCOPED(nai_document) d = {c, nai_view_new(), 0, UINT32_MAX};
  const struct nai_check *obstacle = nai_comparison_obstacle(c);
  const struct nai_metric_result *head = nai_headline(c);
  struct nai_err err;
  put_failures(d.root, c);
  if (obstacle) {
    nai_view_put_bool(d.root, "obstacle", true);
    nai_view_put_text(d.root, "reason", obstacle->reason);
  } else if (head) {
    put_headline(&d, head);
  } else {
    put_outer(d.root, c);
    if (!isnan(c->work.factor))
      put_work(d.root, c);
  }
  nai_view_put_trusted(d.root, "why_no_work", c->work.why);
  nai_view_put_trusted(d.root, "advice", nai_steps_advice(c));
  nai_view_put_bool(d.root, "any_metrics", c->result_count > 0);
  if (nai_builtin_render(out, "compare.verdict", d.root, NAI_ESCAPE_NONE, &err) != NAI_OK)
    out->oom = true; /* nothing else can fail: the template is ours */
}

/* --- what every format shows ------------------------------------------------------------------ */

static void put_verdict(const struct nai_document *d) {
  enum { MAX_CHARS = 1000 }; /* sentences, in which a name may be of any length */
  NAI_SCOPED(nai_buf) text = {0};
  nai_write_verdict(&text, d->c);
  put_cut(d->root, "verdict", NAI_TEXT_FOREIGN, nai_buf_str(&text), d->chars ? MAX_CHARS : text.len);
  nai_view_inherit(d->root, &text);
}

static void put_captures(const struct nai_document *d) {
  static const struct {
    const char *list, *more;
  } keys[] = {{"base_captures", "more_base_captures"}, {"new_captures", "more_new_captures"}};
  enum { MAX_CAPTURES = 20 }; /* where names are cut */
  for (int s = 0; s < NAI_SIDES; s++) {
    struct nai_view *list = nai_view_put_list(d->root, keys[s].list);
    uint32_t most = d->chars && d->rows > MAX_CAPTURES ? MAX_CAPTURES : d->rows;
    for (uint32_t i = 0; i < d->c->sides[s].count && i < most; i++) {
      struct nai_view *capture = nai_view_add_map(list);
      nai_document_code(d, capture, "label", d->c->sides[s].captures[i].label);
      nai_view_put_bool(capture, "first", i == 0);
    }
    nai_view_put_bool(d->root, keys[s].more, d->c->sides[s].count > most);
  }
}

/* What was recorded in some captures only and no metric needs is one caveat. */
static bool is_unneeded(const struct nai_check *check) {
  return check->code == NAI_CHECK_CAPABILITY && check->level == NAI_CHECK_SOFT;
}

static void put_unneeded(struct nai_view *map, const struct nai_comparison *c) {
  NAI_SCOPED(nai_buf) text = {0};
  for (uint32_t i = 0; i < c->check_count; i++)
    if (is_unneeded(&c->checks[i]))
      nai_buf_printf(&text, "%s\"%s\"", text.len ? ", " : "recorded in some captures only: ", c->checks[i].capability);
  nai_view_put_buf(map, "reason", NAI_TEXT_FOREIGN, &text);
}

static void put_checks(const struct nai_document *d) {
  const struct nai_comparison *c = d->c;
  bool any_unneeded = false;
  struct nai_view *list = nai_view_put_list(d->root, "checks");
  nai_view_put_bool(d->root, "any_checks", c->check_count > 0);
  for (uint32_t i = 0; i < c->check_count && i < d->rows; i++) {
    const struct nai_check *check = &c->checks[i];
    const char *base = check->says[NAI_BASE], *candidate = check->says[NAI_CANDIDATE];
    if (any_unneeded && is_unneeded(check))
      continue;
    struct nai_view *map = nai_view_add_map(list);
    nai_view_put_bool(map, "hard", check->level == NAI_CHECK_HARD);
    nai_view_put_trusted(map, "level", nai_check_word(check));
    nai_view_put_trusted(map, "check", nai_check_name(check->code));
    if (is_unneeded(check)) {
      any_unneeded = true;
      put_unneeded(map, c);
      continue;
    }
    nai_document_text(d, map, "reason", check->reason);
    nai_document_text(d, map, "base", base);
    nai_document_text(d, map, "new", candidate);
    nai_view_put_bool(map, "any_side", base || candidate);
    nai_view_put_bool(map, "both_sides", base && candidate);
  }
}

static void put_time(const struct nai_document *d) {
  static const char *const indents[] = {"", "&nbsp;&nbsp;&nbsp;", "&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;"};
  const struct nai_table *t = d->c->tables[NAI_COMPARED_TIME];
  struct nai_view *list = nai_view_put_list(d->root, "time");
  struct nai_time_column times = {0}; /* and of their differences */
  for (int64_t i = 0; i < t->rows && i < d->rows; i++) {
    struct COMPARED_TIME_row part = COMPARED_TIME_at(t, i);
    nai_time_column_add(&times, part.base_time_ns);
    nai_time_column_add(&times, part.new_time_ns);
  }
  for (int64_t i = 0; i < t->rows && i < d->rows; i++) {
    struct COMPARED_TIME_row part = COMPARED_TIME_at(t, i);
    struct nai_view *map = nai_view_add_map(list);
    NAI_SCOPED(nai_buf) pct = {0};
    if (isnan(part.delta_pct_of_whole))
      nai_buf_puts(&pct, "-");
    else
      nai_fmt_change(&pct, part.delta_pct_of_whole, 2);
    nai_view_put_int(map, "depth", part.depth);
    nai_view_put_trusted(map, "indent", indents[part.depth]);
    nai_document_text(d, map, "title", part.title);
    nai_view_put_bool(map, "any", part.base_sum_ns || part.new_sum_ns);
    nai_document_time(map, "base", &times, part.base_time_ns, false);
    nai_document_time(map, "new", &times, part.new_time_ns, false);
    nai_document_time(map, "difference", &times, part.delta_ns, true);
    nai_view_put_buf(map, "pct", NAI_TEXT_TRUSTED, &pct);
  }
}

struct nai_document nai_document_new(const struct nai_comparison *c, size_t chars, uint32_t rows) {
  struct nai_document d = {c, nai_view_new(), chars, rows};
  nai_view_put_bool(d.root, "both", nai_comparison_is_whole(c));
  nai_view_put_bool(d.root, "by_run", c->by_step || !nai_comparison_has_basis(c));
  nai_view_put_trusted(d.root, "per", c->by_step ? "steady step" : nai_comparison_per(c));
  put_verdict(&d);
  put_captures(&d);
  put_checks(&d);
  put_time(&d);
  return d;
}
