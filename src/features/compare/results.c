/* Metrics of both sides, judged: the union of all captures' metrics, in the order of their definitions. */
#include "features/compare/internal.h"

#include "base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char STEP_TIME[] = "step.time.median";

/* One metric in all captures. */
struct found {
  const struct nai_table *table; /* what defines it: the first capture of the new side that has it, else of the base */
  int64_t row;
  bool is_new;
  int64_t *rows[NAI_SIDES]; /* per capture: row in its table, -1: none */
};

struct search {
  struct nai_comparison *c;
  struct nai_strings ids;
  struct found *found;
  uint32_t capacity;
  struct nai_err *err;
};

static const struct nai_table *metrics_of(const struct nai_comparison *c, int side, uint32_t capture) {
  return nai_capture_table(&c->sides[side].captures[capture], "metrics");
}

static const char *text(const struct found *f, const char *column) { return nai_cell_str(f->table, f->row, column); }

/* --- finding ---------------------------------------------------------------------------------- */

static int64_t *no_rows(uint32_t n) {
  int64_t *rows = malloc(((size_t)n + 1) * sizeof *rows);
  for (uint32_t i = 0; rows && i < n; i++)
    rows[i] = -1;
  return rows;
}

static int note_metric(struct search *s, int side, uint32_t capture, const struct nai_table *t, int64_t row) {
  const char *id = nai_cell_str(t, row, "metric");
  uint32_t known = s->ids.count, at = nai_strings_add(&s->ids, id, strlen(id));
  if (at == NAI_NO_STRING || !nai_array_room(&s->found, &s->capacity, at, sizeof *s->found))
    return nai_err_nomem(s->err);
  struct found *f = &s->found[at];
  if (s->ids.count > known) {
    *f = (struct found){.table = t, .row = row};
    for (int i = 0; i < NAI_SIDES; i++)
      f->rows[i] = no_rows(s->c->sides[i].count);
  }
  if (!f->rows[0] || !f->rows[1])
    return nai_err_nomem(s->err);
  if (side == NAI_NEW && !f->is_new) { /* runs of an older program may define a metric otherwise: the newer one holds */
    f->is_new = true;
    f->table = t;
    f->row = row;
  }
  f->rows[side][capture] = row;
  return NAI_OK;
}

static int find_all(struct search *s) {
  int rc = NAI_OK;
  for (int side = 0; !rc && side < NAI_SIDES; side++)
    for (uint32_t i = 0; !rc && i < s->c->sides[side].count; i++) {
      const struct nai_table *t = metrics_of(s->c, side, i);
      for (int64_t row = 0; !rc && t && row < t->rows; row++)
        rc = note_metric(s, side, i, t, row);
    }
  return rc;
}

/* --- judging ---------------------------------------------------------------------------------- */

static void undecided(struct nai_metric_result *r, enum nai_verdict verdict, const char *reason) {
  nai_judge_undecided(&r->judgement, verdict, reason, r->values[NAI_BASE], r->count[NAI_BASE], r->values[NAI_NEW],
                      r->count[NAI_NEW]);
}

/* A hard reason that makes this metric undecidable, NULL for none. */
static const struct nai_check *obstacle(const struct nai_comparison *c, const struct found *f) {
  for (uint32_t i = 0; i < c->check_count; i++) {
    const struct nai_check *check = &c->checks[i];
    if (check->level != NAI_CHECK_HARD)
      continue;
    if (check->scope == NAI_SCOPE_ALL || (check->scope == NAI_SCOPE_STEP && strcmp(text(f, "basis"), "step") == 0) ||
        (check->scope == NAI_SCOPE_CAPABILITY && strcmp(text(f, "needs"), check->capability) == 0))
      return check;
  }
  return NULL;
}

/* The values of a side; a metric that means "nothing to count" where it is absent is 0 there. Returns how many captures
 * have none, and whether all have the basis of the metric. */
static uint32_t read_values(struct nai_metric_result *r, const struct nai_comparison *c, const struct found *f,
                            int side, bool *one_basis) {
  bool zero = strcmp(text(f, "absent"), "zero") == 0;
  uint32_t without = 0;
  for (uint32_t i = 0; i < c->sides[side].count; i++) {
    int64_t row = f->rows[side][i];
    if (row < 0 && !zero) {
      without++;
      continue;
    }
    const struct nai_table *t = metrics_of(c, side, i);
    r->values[side][r->count[side]++] = row < 0 ? 0 : nai_cell_f64(t, row, "value");
    *one_basis &= row < 0 || strcmp(nai_cell_str(t, row, "basis"), text(f, "basis")) == 0;
  }
  return without;
}

static double cell_or_nan(const struct found *f, const char *column) { return nai_cell_f64(f->table, f->row, column); }

/* Catalogue and budgets together; the step time is what %_of_step is of. */
static struct nai_limits limits_of(const struct nai_comparison *c, const struct found *f, double step) {
  const struct nai_budget *own = nai_budget_of(c->options.budgets, text(f, "metric"));
  const char *better = text(f, "better");
  bool given = own && !(isnan(own->relative_pct) && isnan(own->absolute) && isnan(own->of_step_pct));
  double of_step = given ? own->of_step_pct : cell_or_nan(f, "budget_step_pct");
  /* Per second of the window, one part rises when another is saved, and what is exact per step depends in total on the
   * length of the capture; context has no goal: judged only where somebody asks for it. */
  bool exact = strcmp(text(f, "kind"), "exact") == 0;
  bool judged = own || !(strcmp(text(f, "basis"), "second") == 0 || strcmp(text(f, "gate"), "context") == 0 ||
                         (exact && strcmp(text(f, "basis"), "total") == 0));
  struct nai_limits l = {.sign = !judged                       ? 0
                               : strcmp(better, "lower") == 0  ? 1
                               : strcmp(better, "higher") == 0 ? -1
                                                               : 0,
                         .exact = exact,
                         .budget_pct = given ? own->relative_pct : cell_or_nan(f, "budget_pct"),
                         .budget = given ? own->absolute : cell_or_nan(f, "budget"),
                         .noise_pct = cell_or_nan(f, "noise_pct"),
                         .noise = cell_or_nan(f, "noise"),
                         .history_noise = NAN,
                         .limit = own ? own->limit : NAN,
                         .minimum = c->options.budgets ? c->options.budgets->minimum : NAI_MIN_CAPTURES};
  if (!isnan(of_step) && step > 0)
    l.budget = fmax(isnan(l.budget) ? 0 : l.budget, of_step / 100 * step);
  return l;
}

/* A metric that is on one side only, or not in all captures. */
static void one_sided(struct nai_metric_result *r, const struct found *f, uint32_t without) {
  char reason[160];
  if (strcmp(text(f, "absent"), "ignore") == 0) {
    undecided(r, NAI_VERDICT_SKIPPED, r->count[NAI_BASE] ? "only in the base" : "only in the new side");
    return;
  }
  if (!r->count[NAI_BASE] || !r->count[NAI_NEW])
    snprintf(reason, sizeof reason, "the %s has no value of this metric", r->count[NAI_BASE] ? "new side" : "base");
  else
    snprintf(reason, sizeof reason, "%u captures have no value of this metric", without);
  undecided(r, NAI_VERDICT_ERROR, reason);
}

/* Idle and exposed time are what the other parts of a step leave over: kernels that get faster leave more, and nothing
 * is worse while the step takes no longer. A budget of somebody's own is judged as it is. */
static void excuse_remainder(struct nai_metric_result *r, const struct nai_comparison *c) {
  static const char *const remainders[] = {"gpu.idle.", "gpu.exposed_", "idle."};
  const struct nai_metric_result *step = nai_comparison_metric(c, STEP_TIME);
  struct nai_judgement *j = &r->judgement;
  bool is_one = false;
  for (size_t i = 0; i < sizeof remainders / sizeof *remainders; i++)
    is_one |= strncmp(r->id, remainders[i], strlen(remainders[i])) == 0;
  if (!is_one || strcmp(r->basis, "step") != 0 || nai_budget_of(c->options.budgets, r->id) || !step ||
      !step->judgement.compared || (j->verdict != NAI_VERDICT_REGRESSED && j->verdict != NAI_VERDICT_SUSPECT) ||
      step->judgement.shift.shift > j->budget)
    return;
  j->verdict = NAI_VERDICT_NOTED;
  snprintf(j->reason, sizeof j->reason,
           "other parts of the step got shorter: the step itself does not take that much longer");
}

static int judge(struct nai_metric_result *r, const struct nai_comparison *c, const struct found *f, double step,
                 struct nai_err *err) {
  bool one_basis = true, ignore = strcmp(text(f, "absent"), "ignore") == 0;
  uint32_t without = 0, *n = r->count;
  for (int s = 0; s < NAI_SIDES; s++) {
    r->values[s] = malloc(((size_t)c->sides[s].count + 1) * sizeof *r->values[s]);
    if (!r->values[s])
      return nai_err_nomem(err);
    without += read_values(r, c, f, s, &one_basis);
  }
  struct nai_limits limits = limits_of(c, f, step);
  const struct nai_check *check = c->sides[NAI_BASE].count ? obstacle(c, f) : NULL;
  if (!c->sides[NAI_BASE].count) {
    undecided(r, isnan(limits.limit) || !n[NAI_NEW] ? NAI_VERDICT_SKIPPED : NAI_VERDICT_WITHIN_BUDGET, "");
  } else if (check) {
    undecided(r, NAI_VERDICT_ERROR, nai_check_name(check->code));
  } else if (!n[NAI_BASE] || !n[NAI_NEW] || (without && !ignore)) {
    one_sided(r, f, without);
  } else if (!one_basis) {
    undecided(r, NAI_VERDICT_ERROR, "per step in some captures, per second or in total in others");
  } else {
    if (n[NAI_BASE] >= NAI_NOISE_MIN) /* a history of its own tells the noise */
      limits.history_noise = nai_history_noise(r->values[NAI_BASE], n[NAI_BASE]);
    int rc = nai_judge(&r->judgement, &limits, r->values[NAI_BASE], n[NAI_BASE], r->values[NAI_NEW], n[NAI_NEW], err);
    if (!rc)
      excuse_remainder(r, c);
    return rc;
  }
  /* A limit needs no base: one that lacks the metric, or cannot be compared with, does not lift it. */
  if (one_basis && (!check || check->scope != NAI_SCOPE_ALL))
    nai_judge_limit(&r->judgement, &limits);
  return NAI_OK;
}

static void describe(struct nai_metric_result *r, const struct nai_comparison *c, const struct found *f) {
  const struct nai_budget *own = nai_budget_of(c->options.budgets, text(f, "metric"));
  r->id = text(f, "metric");
  r->title = text(f, "title");
  r->family = text(f, "family");
  r->unit = text(f, "unit");
  r->better = text(f, "better");
  r->kind = text(f, "kind");
  r->gate = text(f, "gate");
  r->basis = text(f, "basis");
  /* What a file of budgets names is asked about; per second and in total, exact metrics are not exact. */
  r->gated = own || strcmp(r->gate, "gate") == 0;
  r->warn_only = own && own->severity != NAI_POLICY_FAIL;
}

/* Median of the base's step time, 0 when unknown. */
static double step_of(const struct search *s) {
  uint32_t at = nai_strings_find(&s->ids, STEP_TIME, strlen(STEP_TIME)), n = 0;
  double values[64];
  for (uint32_t i = 0; at != NAI_NO_STRING && i < s->c->sides[NAI_BASE].count && n < 64; i++)
    if (s->found[at].rows[NAI_BASE][i] >= 0)
      values[n++] = nai_cell_f64(metrics_of(s->c, NAI_BASE, i), s->found[at].rows[NAI_BASE][i], "value");
  return n ? nai_median(values, n) : 0;
}

/* --- many metrics ----------------------------------------------------------------------------- */

enum { FEWEST_FOR_Q = 6 }; /* captures of each side: with fewer, p cannot become small enough */

static bool is_explored(const struct nai_metric_result *r) {
  enum nai_verdict v = r->judgement.verdict;
  return !r->gated && strcmp(r->kind, "noisy") == 0 && r->count[NAI_BASE] >= FEWEST_FOR_Q &&
         r->count[NAI_NEW] >= FEWEST_FOR_Q && v != NAI_VERDICT_ERROR && v != NAI_VERDICT_SKIPPED;
}

static int by_p(const void *a, const void *b) {
  double x = (*(struct nai_metric_result *const *)a)->judgement.shift.p,
         y = (*(struct nai_metric_result *const *)b)->judgement.shift.p;
  return (x > y) - (x < y);
}

/* Benjamini-Hochberg over the metrics that nobody asked about: the share of false ones among those as small. */
static int correct_for_many(struct nai_comparison *c, struct nai_err *err) {
  struct nai_metric_result **list = calloc((size_t)c->result_count + 1, sizeof(struct nai_metric_result *));
  size_t n = 0;
  double least = 1;
  if (!list)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < c->result_count; i++) {
    c->results[i].q = NAN;
    if (is_explored(&c->results[i]))
      list[n++] = &c->results[i];
  }
  qsort(list, n, sizeof(struct nai_metric_result *), by_p);
  for (size_t i = n; i-- > 0;) {
    least = fmin(least, list[i]->judgement.shift.p * (double)n / (double)(i + 1));
    list[i]->q = least;
  }
  free(list);
  return NAI_OK;
}

/* Every entry of the budgets names a metric and fits its unit. */
static int check_budgets(const struct search *s) {
  const struct nai_budgets *b = s->c->options.budgets;
  int rc = NAI_OK;
  for (uint32_t i = 0; !rc && b && i < b->count; i++) {
    uint32_t at = nai_strings_find(&s->ids, b->list[i].id, strlen(b->list[i].id));
    if (at != NAI_NO_STRING) {
      rc = nai_budget_check(b, &b->list[i], text(&s->found[at], "unit"), s->err);
      continue;
    }
    if (b->list[i].missing == NAI_POLICY_PASS)
      continue;
    const char **ids = malloc(((size_t)s->ids.count + 1) * sizeof *ids);
    if (!ids)
      return nai_err_nomem(s->err);
    for (uint32_t j = 0; j < s->ids.count; j++)
      ids[j] = nai_strings_get(&s->ids, j);
    rc = nai_budget_unknown(b, &b->list[i], ids, s->ids.count, s->err);
    free(ids);
  }
  return rc;
}

int nai_results_find(struct nai_comparison *c, struct nai_err *err) {
  struct search s = {.c = c, .err = err};
  int rc = find_all(&s);
  if (!rc)
    rc = check_budgets(&s);
  c->results = rc ? NULL : calloc((size_t)s.ids.count + 1, sizeof *c->results);
  if (!rc && !c->results)
    rc = nai_err_nomem(err);
  double step = rc ? 0 : step_of(&s);
  for (uint32_t i = 0; !rc && i < s.ids.count; i++) {
    describe(&c->results[c->result_count++], c, &s.found[i]);
    rc = judge(&c->results[i], c, &s.found[i], step, err);
  }
  if (!rc)
    rc = correct_for_many(c, err);
  for (uint32_t i = 0; s.found && i < s.ids.count && i < s.capacity; i++) {
    free(s.found[i].rows[0]);
    free(s.found[i].rows[1]);
  }
  free(s.found);
  nai_strings_free(&s.ids);
  return rc;
}
