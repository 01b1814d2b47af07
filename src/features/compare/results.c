/* Metrics of both sides, judged: the union of all captures' metrics, in the order of their definitions. */
#include "base/strings.h"
#include "base/text.h"
#include "base/sort.h"
#include "features/compare/internal.h"
#include "tables/compared_metrics.h"
#include "tables/compared_values.h"

static const char STEP_TIME[] = "step.time.median";

static bool is(const char *text, const char *word) { return strcmp(text, word) == 0; }

const struct nai_metric_result *nai_comparison_metric(const struct nai_comparison *c, const char *id) {
  for (uint32_t i = 0; i < c->result_count; i++)
    if (is(c->results[i].def.metric, id))
      return &c->results[i];
  return NULL;
}

/* --- finding ---------------------------------------------------------------------------------- */

static int begin_metric(struct nai_metric_result *r, struct nai_comparison *c, struct nai_err *err) {
  for (int s = 0; s < NAI_SIDES; s++) {
    NAI_TRY(NAI_NEW(r->rows[s], &c->arena, c->sides[s].count, err));
    NAI_TRY(NAI_NEW(r->values[s], &c->arena, c->sides[s].count, err));
    for (uint32_t i = 0; i < c->sides[s].count; i++)
      r->rows[s][i] = -1;
  }
  return NAI_OK;
}

/* What budgets name and no capture has: asked for, and missing. What may be absent is not asked for. */
static int add_missing(struct nai_comparison *c, uint32_t *capacity, const struct nai_budget *budget,
                       struct nai_err *err) {
  bool is_known;
  if (nai_comparison_metric(c, budget->id) || budget->missing == NAI_POLICY_PASS)
    return NAI_OK;
  NAI_TRY(nai_budget_is_builtin(&is_known, budget->id, err));
  if (!is_known) /* check_budgets says so */
    return NAI_OK;
  NAI_TRY(NAI_ROOM(c->results, *capacity, c->result_count, &c->arena, err));
  struct nai_metric_result *r = &c->results[c->result_count++];
  NAI_TRY(begin_metric(r, c, err));
  const char *id = nai_arena_printf(&c->arena, "%s", budget->id);
  r->def =
      (struct METRICS_row)NAI_ROW(METRICS, .metric = id, .title = id, .family = "", .unit = nai_budget_unit(budget),
                                  .better = "lower", .kind = "noisy", .gate = "gate", .basis = "total",
                                  .source_table = "", .absent = "error", .needs = "");
  return nai_arena_check(&c->arena, err);
}

/* Whether a metric is of a range whose numbers may be folded: 'blocks.#' for blocks.3 and blocks.22, unless somebody
 * asks for the one. */
static bool may_fold(const struct nai_comparison *c, const struct METRICS_row *def) {
  return !c->options.range_numbers && strncmp(def->metric, "nvtx.", strlen("nvtx.")) == 0 &&
         strpbrk(def->metric, "0123456789") && !nai_budget_of(c->options.budgets, def->metric);
}

static const char *folded(struct nai_comparison *c, const char *text) {
  NAI_SCOPED(nai_buf) out = {0};
  nai_text_fold_digits(&out, text);
  return nai_arena_printf(&c->arena, "%s", nai_buf_str(&out));
}

/* Ids that differ in numbers alone, as one each; what no second one is like keeps its number. */
static int find_alike(struct nai_strings *alike, struct nai_comparison *c, struct nai_err *err) {
  NAI_SCOPED(nai_strings) ids = {0}, once = {0};
  for (struct nai_side_rows rows = nai_all_rows(c->sides, &nai_metrics_schema); nai_next_row(&rows);) {
    struct METRICS_row def = METRICS_at(rows.table, rows.row);
    uint32_t known = ids.count;
    if (!may_fold(c, &def))
      continue;
    nai_strings_add(&ids, def.metric, strlen(def.metric));
    if (ids.count == known)
      continue;
    const char *one = folded(c, def.metric);
    known = once.count;
    if (nai_strings_add(&once, one, strlen(one)) == NAI_NO_STRING ||
        (once.count == known && nai_strings_add(alike, one, strlen(one)) == NAI_NO_STRING))
      return nai_err_nomem(err);
  }
  return nai_arena_check(&c->arena, err);
}

static int find_metrics(struct nai_comparison *c, struct nai_err *err) {
  NAI_SCOPED(nai_strings) ids = {0}, alike = {0};
  uint32_t capacity = 0;
  NAI_TRY(find_alike(&alike, c, err));
  for (struct nai_side_rows rows = nai_all_rows(c->sides, &nai_metrics_schema); nai_next_row(&rows);) {
    struct METRICS_row def = METRICS_at(rows.table, rows.row);
    if (is(def.basis, "second")) {
      def.metric = nai_metric_id(&c->arena, def.metric, def.basis);
      def.family = nai_metric_id(&c->arena, def.family, def.basis);
    }
    const char *one = may_fold(c, &def) ? folded(c, def.metric) : NULL;
    bool is_folded = one && nai_strings_find(&alike, one, strlen(one)) != NAI_NO_STRING;
    if (is_folded) {
      def.metric = one;
      def.title = folded(c, def.title);
    }
    NAI_TRY(nai_arena_check(&c->arena, err));
    uint32_t at;
    NAI_TRY(nai_strings_put(&at, &ids, def.metric, err));
    NAI_TRY(NAI_ROOM(c->results, capacity, at, &c->arena, err));
    struct nai_metric_result *r = &c->results[at];
    bool is_known = at < c->result_count;
    if (!is_known)
      NAI_TRY(begin_metric(r, c, err));
    /* Runs of an older program may define a metric otherwise: the newer one holds. */
    if (!is_known || (rows.side == NAI_CANDIDATE && !r->is_candidates))
      r->def = def;
    r->is_candidates |= rows.side == NAI_CANDIDATE;
    r->is_folded |= is_folded;
    r->rows[rows.side][rows.capture] = rows.row;
    c->result_count = ids.count;
  }
  for (uint32_t i = 0; c->options.budgets && i < c->options.budgets->count; i++)
    NAI_TRY(add_missing(c, &capacity, &c->options.budgets->list[i], err));
  return NAI_OK;
}

static int refuse_budget(struct nai_comparison *c, const struct nai_budget *budget, struct nai_err *err) {
  const char **ids;
  NAI_TRY(NAI_NEW(ids, &c->arena, c->result_count, err));
  for (uint32_t i = 0; i < c->result_count; i++)
    ids[i] = c->results[i].def.metric;
  return nai_budget_unknown(c->options.budgets, budget, ids, c->result_count, err);
}

/* Every entry of the budgets names a metric and fits its unit. */
static int check_budgets(struct nai_comparison *c, struct nai_err *err) {
  const struct nai_budgets *b = c->options.budgets;
  for (uint32_t i = 0; b && i < b->count; i++) {
    const struct nai_metric_result *r = nai_comparison_metric(c, b->list[i].id);
    if (r)
      NAI_TRY(nai_budget_check(b, &b->list[i], r->def.unit, err));
    else if (b->list[i].missing != NAI_POLICY_PASS)
      return refuse_budget(c, &b->list[i], err);
  }
  return NAI_OK;
}

/* --- judging ---------------------------------------------------------------------------------- */

static void undecided(struct nai_metric_result *r, enum nai_verdict verdict, const char *reason) {
  nai_judge_undecided(&r->judgement, verdict, reason, r->values[NAI_BASE], r->count[NAI_BASE], r->values[NAI_CANDIDATE],
                      r->count[NAI_CANDIDATE]);
}

/* A hard reason that makes this metric undecidable, NULL for none. */
static const struct nai_check *obstacle(const struct nai_comparison *c, const struct nai_metric_result *r) {
  for (uint32_t i = 0; i < c->check_count; i++) {
    const struct nai_check *check = &c->checks[i];
    if (check->level != NAI_CHECK_HARD)
      continue;
    if (check->scope == NAI_SCOPE_ALL || (check->scope == NAI_SCOPE_STEP && is(r->def.basis, "step")) ||
        (check->scope == NAI_SCOPE_CAPABILITY && is(r->def.needs, check->capability)))
      return check;
  }
  return NULL;
}

static const struct nai_table *metrics_of(const struct nai_comparison *c, int side, uint32_t capture) {
  return nai_capture_table(&c->sides[side].captures[capture], &nai_metrics_schema);
}

/* What a value is of: programs that gave no number had the first definition. */
static int64_t definition_of(const struct METRICS_row *row) {
  return row->definition == NAI_NULL_I64 ? 1 : row->definition;
}

bool nai_capture_is_outdated(const struct nai_comparison *c, const struct nai_capture *capture) {
  const struct nai_table *metrics = nai_capture_table(capture, &nai_metrics_schema);
  for (struct nai_side_rows r = nai_all_rows(c->sides, &nai_metrics_schema); nai_next_row(&r);) {
    struct METRICS_row other = METRICS_at(r.table, r.row);
    for (int64_t row = 0; row < metrics->rows && definition_of(&other) > 1; row++) {
      struct METRICS_row m = METRICS_at(metrics, row);
      if (definition_of(&m) < definition_of(&other) && is(m.metric, other.metric))
        return true;
    }
  }
  return false;
}

/* The median of a capture's ranges that are folded into one metric. */
static double median_of_alike(const struct nai_metric_result *r, const struct nai_table *metrics) {
  double values[64];
  size_t n = 0;
  for (int64_t row = 0; row < metrics->rows && n < sizeof values / sizeof *values; row++) {
    struct METRICS_row m = METRICS_at(metrics, row);
    NAI_SCOPED(nai_buf) one = {0};
    nai_text_fold_digits(&one, m.metric);
    if (is(nai_buf_str(&one), r->def.metric) && definition_of(&m) == definition_of(&r->def))
      values[n++] = m.value;
  }
  return nai_median(values, n);
}

/* The values of a side; a metric that means "nothing to count" where it is absent is 0 there, and values of another
 * definition are none. Returns how many captures have none, and whether all have the basis of the metric. */
static uint32_t read_values(struct nai_metric_result *r, const struct nai_comparison *c, int side, bool *one_basis) {
  bool zero = is(r->def.absent, "zero");
  uint32_t without = 0;
  for (uint32_t i = 0; i < c->sides[side].count; i++) {
    int64_t row = r->rows[side][i];
    if (row < 0 && !zero) {
      without++;
      continue;
    }
    if (row < 0) {
      r->values[side][r->count[side]++] = 0;
      continue;
    }
    struct METRICS_row m = METRICS_at(metrics_of(c, side, i), row);
    if (definition_of(&m) != definition_of(&r->def)) {
      r->rows[side][i] = -1;
      r->defined_differently++;
      continue;
    }
    r->values[side][r->count[side]++] = r->is_folded ? median_of_alike(r, metrics_of(c, side, i)) : m.value;
    *one_basis &= is(m.basis, r->def.basis);
  }
  return without;
}

/* Per second of the window, one part rises when another is saved, and what is exact per step depends in total on the
 * length of the capture; context has no goal: judged only where somebody asks for it. */
static bool is_judged(const struct METRICS_row *def) {
  return !is(def->basis, "second") && !is(def->gate, "context") && !(is(def->kind, "exact") && is(def->basis, "total"));
}

/* Catalogue and budgets together; the step time is what %_of_step is of. */
static struct nai_limits limits_of(const struct nai_comparison *c, const struct METRICS_row *def, double step) {
  const struct nai_budget *own = nai_budget_of(c->options.budgets, def->metric);
  bool given = own && !(isnan(own->relative_pct) && isnan(own->absolute) && isnan(own->of_step_pct));
  double of_step = given ? own->of_step_pct : def->budget_step_pct;
  struct nai_limits l = {.sign = !own && !is_judged(def)   ? 0
                               : is(def->better, "lower")  ? 1
                               : is(def->better, "higher") ? -1
                                                           : 0,
                         .exact = is(def->kind, "exact"),
                         .budget_pct = given ? own->relative_pct : def->budget_pct,
                         .budget = given ? own->absolute : def->budget,
                         .noise_pct = def->noise_pct,
                         .noise = def->noise,
                         .limit = own ? own->limit : NAN,
                         .minimum = c->options.budgets ? c->options.budgets->minimum : NAI_MIN_CAPTURES};
  if (!isnan(of_step) && step > 0)
    l.budget = fmax(isnan(l.budget) ? 0 : l.budget, of_step / 100 * step);
  return l;
}

/* A metric that is on one side only, or not in all captures. */
static void one_sided(struct nai_metric_result *r, const struct nai_comparison *c, uint32_t without) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  char reason[160];
  const char *rate = nai_metric_id(&arena, r->def.metric, "second");
  bool in_base = r->count[NAI_BASE] > 0;
  if (is(r->def.absent, "ignore")) {
    undecided(r, NAI_VERDICT_SKIPPED, in_base ? "only in the base" : "only in the new side");
    return;
  }
  if (!in_base && !r->count[NAI_CANDIDATE] && rate != r->def.metric && nai_comparison_metric(c, rate))
    snprintf(reason, sizeof reason, "no capture has steps: it is %s", rate);
  else if (!in_base && !r->count[NAI_CANDIDATE])
    snprintf(reason, sizeof reason, "no capture has a value of this metric");
  else if (!in_base || !r->count[NAI_CANDIDATE])
    snprintf(reason, sizeof reason, "the %s has no value of this metric", in_base ? "new side" : "base");
  else
    snprintf(reason, sizeof reason, "%u captures have no value of this metric", without);
  undecided(r, NAI_VERDICT_ERROR, reason);
}

bool nai_metric_is_remainder(const char *metric, const char *basis) {
  return is(basis, "step") && nai_text_begins(metric, NAI_WORDS("gpu.idle.", "gpu.exposed_", "idle."));
}

/* Idle and exposed time are what the other parts of a step leave over: kernels that get faster leave more, and nothing
 * is worse while the step takes no longer. A budget of somebody's own is judged as it is. */
static void excuse_remainder(struct nai_metric_result *r, const struct nai_comparison *c) {
  const struct nai_metric_result *step = nai_comparison_metric(c, STEP_TIME);
  struct nai_judgement *j = &r->judgement;
  if (!nai_metric_is_remainder(r->def.metric, r->def.basis) || nai_budget_of(c->options.budgets, r->def.metric) ||
      !step || !step->judgement.compared ||
      (j->verdict != NAI_VERDICT_REGRESSED && j->verdict != NAI_VERDICT_SUSPECT) ||
      step->judgement.shift.shift > j->budget)
    return;
  j->verdict = NAI_VERDICT_NOTED;
  snprintf(j->reason, sizeof j->reason,
           "other parts of the step got shorter: the step itself does not take that much longer");
}

/* Where the sides do different work, a range may hold more of it. */
static void excuse_range(struct nai_metric_result *r, const struct nai_comparison *c) {
  struct nai_judgement *j = &r->judgement;
  if (c->by_step || c->unit || fabs(c->work.factor - 1) <= 0 || strncmp(r->def.metric, "nvtx.", strlen("nvtx.")) != 0 ||
      (j->verdict != NAI_VERDICT_REGRESSED && j->verdict != NAI_VERDICT_SUSPECT) ||
      nai_budget_of(c->options.budgets, r->def.metric))
    return;
  j->verdict = NAI_VERDICT_NOTED;
  snprintf(j->reason, sizeof j->reason, "the sides do different work, and a range may hold more of it");
}

/* Where as much work is launched in more or fewer parts, a call holds less or more of it. */
static void excuse_call(struct nai_metric_result *r, const struct nai_comparison *c) {
  struct nai_judgement *j = &r->judgement;
  if (!c->work.relaunched || strncmp(r->def.metric, "kernel.", strlen("kernel.")) != 0 ||
      (j->verdict != NAI_VERDICT_REGRESSED && j->verdict != NAI_VERDICT_SUSPECT) ||
      nai_budget_of(c->options.budgets, r->def.metric))
    return;
  j->verdict = NAI_VERDICT_NOTED;
  snprintf(j->reason, sizeof j->reason, "launched differently: a call holds %s of the work",
           c->work.launches[NAI_CANDIDATE] < c->work.launches[NAI_BASE] ? "more" : "less");
}

/* Of captures that are no repetitions of one program the one that is unlike all others. */
static void name_odd_capture(struct nai_metric_result *r, const struct nai_comparison *c) {
  struct nai_judgement *j = &r->judgement;
  for (int s = 0; s < NAI_SIDES; s++) {
    const struct nai_side *side = &c->sides[s];
    double usual = nai_median(r->values[s], r->count[s]);
    uint32_t odd = 0, count = 0;
    for (uint32_t i = 0; i < r->count[s]; i++)
      if (fabs(r->values[s][i] - usual) > 1e-12 * fabs(usual)) {
        odd = i;
        count++;
      }
    if (!count)
      continue;
    if (count == 1 && r->count[s] > 2 && r->count[s] == side->count)
      snprintf(j->reason, sizeof j->reason,
               "of the %s side %s alone differs in an exact metric: it is no repetition of the same program",
               nai_side_names[s], side->captures[odd].label);
    return;
  }
}

static int judge_both(struct nai_metric_result *r, const struct nai_comparison *c, const struct nai_limits *limits,
                      struct nai_err *err) {
  NAI_TRY(nai_judge(&r->judgement, limits, r->values[NAI_BASE], r->count[NAI_BASE], r->values[NAI_CANDIDATE],
                    r->count[NAI_CANDIDATE], err));
  if (limits->exact && r->judgement.verdict == NAI_VERDICT_ERROR)
    name_odd_capture(r, c);
  excuse_remainder(r, c);
  excuse_range(r, c);
  excuse_call(r, c);
  return NAI_OK;
}

static int judge(struct nai_metric_result *r, const struct nai_comparison *c, double step, struct nai_err *err) {
  const struct nai_budget *own = nai_budget_of(c->options.budgets, r->def.metric);
  bool one_basis = true;
  uint32_t without = 0;
  /* What a file of budgets names is asked about. */
  r->gated = own || is(r->def.gate, "gate");
  r->warn_only = own && own->severity != NAI_POLICY_FAIL;
  for (int s = 0; s < NAI_SIDES; s++)
    without += read_values(r, c, s, &one_basis);
  struct nai_limits limits = limits_of(c, &r->def, step);
  bool has_base = c->sides[NAI_BASE].count > 0;
  const struct nai_check *check = has_base ? obstacle(c, r) : NULL;
  if (!has_base)
    undecided(r, isnan(limits.limit) || !r->count[NAI_CANDIDATE] ? NAI_VERDICT_SKIPPED : NAI_VERDICT_WITHIN_BUDGET, "");
  else if (check)
    undecided(r, NAI_VERDICT_ERROR, check->reason);
  else if (r->defined_differently && (!r->count[NAI_BASE] || !r->count[NAI_CANDIDATE]))
    undecided(r, NAI_VERDICT_SKIPPED, "defined differently by the programs that analyzed the two sides");
  else if (!r->count[NAI_BASE] || !r->count[NAI_CANDIDATE] || (without && !is(r->def.absent, "ignore")))
    one_sided(r, c, without);
  else if (!one_basis)
    undecided(r, NAI_VERDICT_ERROR, "per step in some captures, per second or in total in others");
  else
    return judge_both(r, c, &limits, err);
  /* A limit needs no base: one that lacks the metric, or cannot be compared with, does not lift it. */
  if (one_basis && (!check || check->scope != NAI_SCOPE_ALL))
    nai_judge_limit(&r->judgement, &limits);
  return NAI_OK;
}

/* Median of the base's step time, 0 when unknown. */
static double base_step(const struct nai_comparison *c) {
  const struct nai_metric_result *r = nai_comparison_metric(c, STEP_TIME);
  double values[64];
  uint32_t n = 0;
  for (uint32_t i = 0; r && i < c->sides[NAI_BASE].count && n < 64; i++)
    if (r->rows[NAI_BASE][i] >= 0)
      values[n++] = nai_get_f64(metrics_of(c, NAI_BASE, i), r->rows[NAI_BASE][i], METRICS_value);
  return n ? nai_median(values, n) : 0;
}

/* --- many metrics ----------------------------------------------------------------------------- */

enum { MIN_FOR_Q = 6 }; /* captures of each side: with fewer, p cannot become small enough */

static bool is_explored(const struct nai_metric_result *r) {
  enum nai_verdict v = r->judgement.verdict;
  return !r->gated && is(r->def.kind, "noisy") && r->count[NAI_BASE] >= MIN_FOR_Q &&
         r->count[NAI_CANDIDATE] >= MIN_FOR_Q && v != NAI_VERDICT_ERROR && v != NAI_VERDICT_SKIPPED;
}

NAI_ORDER_BY(by_p, struct nai_metric_result *const, NAI_SIGN((*a)->judgement.shift.p, (*b)->judgement.shift.p))

/* Benjamini-Hochberg over the metrics that nobody asked about: the share of false ones among those as small. */
static int correct_for_many(struct nai_comparison *c, struct nai_err *err) {
  struct nai_metric_result **list;
  size_t n = 0;
  double least = 1;
  NAI_TRY(NAI_NEW(list, &c->arena, c->result_count, err));
  for (uint32_t i = 0; i < c->result_count; i++) {
    c->results[i].q = NAN;
    if (is_explored(&c->results[i]))
      list[n++] = &c->results[i];
  }
  qsort(list, n, sizeof *list, by_p);
  for (size_t i = n; i-- > 0;) {
    least = fmin(least, list[i]->judgement.shift.p * (double)n / (double)(i + 1));
    list[i]->q = least;
  }
  return NAI_OK;
}

int nai_results_find(struct nai_comparison *c, struct nai_err *err) {
  NAI_TRY(find_metrics(c, err));
  NAI_TRY(check_budgets(c, err));
  double step = base_step(c);
  for (uint32_t i = 0; i < c->result_count; i++)
    NAI_TRY(judge(&c->results[i], c, step, err));
  NAI_TRY(nai_check_definitions(c, err));
  return correct_for_many(c, err);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* NaN is NULL. */
static double or_null(double value) { return isfinite(value) ? value : (double)NAN; }

int nai_fill_metrics(struct nai_table *out, const struct nai_comparison *c, struct nai_err *err) {
  (void)err;
  for (uint32_t i = 0; i < c->result_count; i++) {
    const struct nai_metric_result *r = &c->results[i];
    const struct nai_judgement *j = &r->judgement;
    struct COMPARED_METRICS_row row =
        NAI_ROW(COMPARED_METRICS, .metric = r->def.metric, .title = r->def.title, .unit = r->def.unit,
                .better = r->def.better, .kind = r->def.kind, .basis = r->def.basis, .gated = r->gated,
                .base_captures = r->count[NAI_BASE], .new_captures = r->count[NAI_CANDIDATE],
                .base_median = or_null(j->base), .new_median = or_null(j->candidate),
                .verdict = nai_verdict_name(j->verdict), .reason = *j->reason ? j->reason : NULL,
                .budget = or_null(j->budget), .noise = or_null(j->floor));
    if (j->compared) {
      row.shift = or_null(j->shift.shift);
      row.shift_pct = or_null(j->pct);
      row.p = or_null(j->shift.p);
      row.q = or_null(r->q);
      row.cliff_delta = or_null(j->shift.cliff);
    }
    if (j->compared && j->shift.has_ci) {
      row.ci_low = or_null(j->shift.low);
      row.ci_high = or_null(j->shift.high);
    }
    COMPARED_METRICS_add(out, &row);
  }
  return NAI_OK;
}

int nai_fill_values(struct nai_table *out, const struct nai_comparison *c, struct nai_err *err) {
  (void)err;
  for (struct nai_side_rows r = nai_all_rows(c->sides, &nai_metrics_schema); nai_next_row(&r);) {
    struct METRICS_row m = METRICS_at(r.table, r.row);
    NAI_ADD(COMPARED_VALUES, out, .side = nai_side_names[r.side], .capture = c->sides[r.side].captures[r.capture].label,
            .metric = m.metric, .unit = m.unit, .better = m.better, .value = or_null(m.value));
  }
  return NAI_OK;
}
