/* What a page of many runs sums up: rules by how often they fire, metrics over all runs, runs by how bad they are. */
#include "index/summary.h"

#include "base/strings.h"
#include "table/severity.h"
#include "tables/index_findings.h"
#include "tables/index_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char nai_index_no_gpu[] = "no-gpu";

bool nai_index_is_analyzed(const char *status) {
  return strcmp(status, "ok") == 0 || strcmp(status, nai_index_no_gpu) == 0;
}

/* Rows of a table in an order. */
static int sort_rows(uint32_t **out, const struct nai_table *t, int (*by)(const void *, const void *, void *),
                     struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, arena, (size_t)t->rows, err));
  for (uint32_t i = 0; i < t->rows; i++)
    (*out)[i] = i;
  qsort_r(*out, (size_t)t->rows, sizeof **out, by, (void *)t);
  return NAI_OK;
}

/* --- rules ------------------------------------------------------------------------------------ */

static void take_finding(struct nai_index_rule *rule, const struct INDEX_FINDINGS_row *finding) {
  int severity = nai_severity_from_name(finding->severity);
  bool worse = severity > rule->severity || (severity == rule->severity && finding->saving_ns > rule->saving_ns);
  /* A run's findings lie side by side. */
  rule->runs += !rule->last_run || strcmp(rule->last_run, finding->run_id) != 0;
  rule->last_run = finding->run_id;
  if (rule->title && !worse)
    return;
  rule->severity = severity;
  rule->saving_ns = finding->saving_ns;
  rule->title = finding->title;
  rule->path = finding->path;
  rule->run = finding->run_id;
}

static int by_weight(const void *pa, const void *pb) {
  const struct nai_index_rule *a = pa, *b = pb;
  if (a->severity != b->severity)
    return b->severity - a->severity;
  return a->runs != b->runs ? (a->runs < b->runs) - (a->runs > b->runs) : strcmp(a->id, b->id);
}

int nai_index_rules(struct nai_index_rule **out, uint32_t *count, const struct nai_index *index,
                    struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_strings) ids = {0};
  uint32_t capacity = 0;
  *out = NULL;
  for (int64_t i = 0; i < index->findings->rows; i++) {
    struct INDEX_FINDINGS_row finding = INDEX_FINDINGS_at(index->findings, i);
    uint32_t known = ids.count, at = nai_strings_add(&ids, finding.rule, strlen(finding.rule));
    if (at == NAI_NO_STRING)
      return nai_err_nomem(err);
    NAI_TRY(NAI_ROOM(*out, capacity, at, arena, err));
    if (ids.count > known)
      (*out)[at] = (struct nai_index_rule){.id = finding.rule, .severity = -1, .saving_ns = NAI_NULL_I64};
    take_finding(&(*out)[at], &finding);
  }
  *count = ids.count;
  if (*count)
    qsort(*out, *count, sizeof **out, by_weight);
  return NAI_OK;
}

/* --- metrics ---------------------------------------------------------------------------------- */

static int compare_metrics(const struct nai_table *t, uint32_t a, uint32_t b) {
  int order = strcmp(nai_get_str(t, a, INDEX_METRICS_metric), nai_get_str(t, b, INDEX_METRICS_metric));
  return order ? order : strcmp(nai_get_str(t, a, INDEX_METRICS_basis), nai_get_str(t, b, INDEX_METRICS_basis));
}

static int by_metric(const void *pa, const void *pb, void *table) {
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  int order = compare_metrics(table, a, b);
  return order ? order : (a > b) - (a < b);
}

static int by_value(const void *pa, const void *pb, void *table) {
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  double x = nai_get_f64(table, a, INDEX_METRICS_value), y = nai_get_f64(table, b, INDEX_METRICS_value);
  return x != y ? (x > y) - (x < y) : (a > b) - (a < b);
}

/* Of the rows of one metric that have a value, in their order. */
static struct nai_index_spread spread_of(uint32_t *rows, uint32_t n, const struct nai_table *t) {
  uint32_t runs = 1;
  for (uint32_t i = 1; i < n; i++) /* a run's captures lie side by side */
    runs +=
        strcmp(nai_get_str(t, rows[i - 1], INDEX_METRICS_run_id), nai_get_str(t, rows[i], INDEX_METRICS_run_id)) != 0;
  qsort_r(rows, n, sizeof *rows, by_value, (void *)t);
  struct INDEX_METRICS_row least = INDEX_METRICS_at(t, rows[0]);
  double low = nai_get_f64(t, rows[(n - 1) / 2], INDEX_METRICS_value);
  double high = nai_get_f64(t, rows[n / 2], INDEX_METRICS_value);
  return (struct nai_index_spread){.metric = least.metric,
                                   .unit = least.unit,
                                   .better = least.better,
                                   .basis = least.basis,
                                   .gate = least.gate,
                                   .runs = runs,
                                   .least = least.value,
                                   .median = low + (high - low) / 2,
                                   .most = nai_get_f64(t, rows[n - 1], INDEX_METRICS_value),
                                   .worst = strcmp(least.better, "higher") == 0 ? rows[0] : rows[n - 1]};
}

int nai_index_spreads(struct nai_index_spread **out, uint32_t *count, const struct nai_index *index,
                      struct nai_arena *arena, struct nai_err *err) {
  const struct nai_table *t = index->metrics;
  uint32_t *rows, *some;
  *count = 0;
  NAI_TRY(sort_rows(&rows, t, by_metric, arena, err));
  NAI_TRY(NAI_NEW(some, arena, (size_t)t->rows, err));
  NAI_TRY(NAI_NEW(*out, arena, (size_t)t->rows, err));
  for (uint32_t i = 0, j; i < t->rows; i = j) {
    uint32_t have = 0;
    for (j = i; j < t->rows && compare_metrics(t, rows[i], rows[j]) == 0; j++)
      if (isfinite(nai_get_f64(t, rows[j], INDEX_METRICS_value)))
        some[have++] = rows[j];
    if (have)
      (*out)[(*count)++] = spread_of(some, have, t);
  }
  return NAI_OK;
}

/* --- runs ------------------------------------------------------------------------------------- */

static double number_or(double value, double otherwise) { return isnan(value) ? otherwise : value; }

static int by_badness(const void *pa, const void *pb, void *table) {
  const struct nai_table *t = table;
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  bool fine_a = nai_index_is_analyzed(nai_get_str(t, a, RUNS_status));
  bool fine_b = nai_index_is_analyzed(nai_get_str(t, b, RUNS_status));
  if (fine_a != fine_b)
    return fine_a - fine_b;
  int order = nai_severity_from_name(nai_get_str(t, b, RUNS_severity)) -
              nai_severity_from_name(nai_get_str(t, a, RUNS_severity));
  if (order)
    return order;
  double x = number_or(nai_get_f64(t, a, RUNS_pct_of_active), -1),
         y = number_or(nai_get_f64(t, b, RUNS_pct_of_active), -1);
  return x != y ? (x < y) - (x > y) : (a > b) - (a < b);
}

int nai_index_order(uint32_t **out, const struct nai_index *index, struct nai_arena *arena, struct nai_err *err) {
  return sort_rows(out, index->runs, by_badness, arena, err);
}
