/* What a page of many runs sums up: rules by how often they fire, metrics over all runs, runs by how bad they are. */
#include "index/index.h"

#include "table/severity.h"
#include "tables/index_findings.h"
#include "tables/index_metrics.h"
#include "tables/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- rules ------------------------------------------------------------------------------------ */

struct sorting {
  const struct nai_table *table;
  int first, second; /* text columns */
};

static int by_two_texts(const void *pa, const void *pb, void *ctx) {
  const struct sorting *s = ctx;
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  int order = strcmp(nai_get_str(s->table, a, s->first), nai_get_str(s->table, b, s->first));
  if (!order)
    order = strcmp(nai_get_str(s->table, a, s->second), nai_get_str(s->table, b, s->second));
  return order ? order : (a > b) - (a < b);
}

/* Rows in order of two text columns; the caller frees it. */
static int sort_rows(uint32_t **out, struct sorting sorting, struct nai_err *err) {
  uint32_t *rows = *out = malloc(((size_t)sorting.table->rows + 1) * sizeof *rows);
  if (!rows)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < sorting.table->rows; i++)
    rows[i] = i;
  qsort_r(rows, (size_t)sorting.table->rows, sizeof *rows, by_two_texts, &sorting);
  return NAI_OK;
}

static void take_finding(struct nai_index_rule *rule, const struct nai_table *t, uint32_t row) {
  int severity = nai_severity_from_name(nai_get_str(t, row, INDEX_FINDINGS_severity));
  int64_t stake = nai_get_i64(t, row, INDEX_FINDINGS_at_stake_ns);
  bool worse = severity > rule->severity || (severity == rule->severity && stake > rule->at_stake_ns);
  if (rule->title && !worse)
    return;
  rule->severity = severity;
  rule->at_stake_ns = stake;
  rule->title = nai_get_str(t, row, INDEX_FINDINGS_title);
  rule->path = nai_get_str(t, row, INDEX_FINDINGS_path);
  rule->run = nai_get_str(t, row, INDEX_FINDINGS_run_id);
}

static int by_weight(const void *pa, const void *pb) {
  const struct nai_index_rule *a = pa, *b = pb;
  if (a->severity != b->severity)
    return b->severity - a->severity;
  return a->runs != b->runs ? (a->runs < b->runs) - (a->runs > b->runs) : strcmp(a->id, b->id);
}

int nai_index_rules(struct nai_index_rule **out, uint32_t *count, const struct nai_index *index, struct nai_err *err) {
  const struct nai_table *t = index->findings;
  uint32_t *rows = NULL, n = 0;
  int rc = sort_rows(&rows, (struct sorting){t, INDEX_FINDINGS_rule, INDEX_FINDINGS_run_id}, err);
  struct nai_index_rule *list = *out = calloc((size_t)t->rows + 1, sizeof *list);
  if (!rc && !list)
    rc = nai_err_nomem(err);
  for (uint32_t i = 0; i < t->rows && !rc; i++) {
    const char *id = nai_get_str(t, rows[i], INDEX_FINDINGS_rule);
    const char *run = nai_get_str(t, rows[i], INDEX_FINDINGS_run_id);
    bool fresh = !n || strcmp(list[n - 1].id, id) != 0;
    if (fresh)
      list[n++] = (struct nai_index_rule){.id = id, .severity = -1, .at_stake_ns = NAI_NULL_I64};
    list[n - 1].runs += fresh || strcmp(nai_get_str(t, rows[i - 1], INDEX_FINDINGS_run_id), run) != 0;
    take_finding(&list[n - 1], t, rows[i]);
  }
  free(rows);
  *count = n;
  if (!rc)
    qsort(list, n, sizeof *list, by_weight);
  return rc;
}

/* --- metrics ---------------------------------------------------------------------------------- */

static int by_value(const void *pa, const void *pb, void *ctx) {
  const struct nai_table *t = ctx;
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  double x = nai_get_f64(t, a, INDEX_METRICS_value), y = nai_get_f64(t, b, INDEX_METRICS_value);
  return x != y ? (x > y) - (x < y) : (a > b) - (a < b);
}

/* Of the rows of one metric that have a value, in their order. */
static struct nai_index_spread spread_of(uint32_t *rows, uint32_t n, const struct nai_table *t) {
  uint32_t runs = 1;
  for (uint32_t i = 1; i < n; i++) /* a run's captures lie side by side */
    runs +=
        strcmp(nai_get_str(t, rows[i - 1], INDEX_METRICS_run_id), nai_get_str(t, rows[i], INDEX_METRICS_run_id)) != 0;
  qsort_r(rows, n, sizeof *rows, by_value, (void *)t);
  double low = nai_get_f64(t, rows[(n - 1) / 2], INDEX_METRICS_value);
  double high = nai_get_f64(t, rows[n / 2], INDEX_METRICS_value);
  const char *better = nai_get_str(t, rows[0], INDEX_METRICS_better);
  return (struct nai_index_spread){.metric = nai_get_str(t, rows[0], INDEX_METRICS_metric),
                                   .unit = nai_get_str(t, rows[0], INDEX_METRICS_unit),
                                   .better = better,
                                   .basis = nai_get_str(t, rows[0], INDEX_METRICS_basis),
                                   .gate = nai_get_str(t, rows[0], INDEX_METRICS_gate),
                                   .runs = runs,
                                   .least = nai_get_f64(t, rows[0], INDEX_METRICS_value),
                                   .median = low + (high - low) / 2,
                                   .most = nai_get_f64(t, rows[n - 1], INDEX_METRICS_value),
                                   .worst = strcmp(better, "higher") == 0 ? rows[0] : rows[n - 1]};
}

static bool is_same_metric(const struct nai_table *t, uint32_t a, uint32_t b) {
  return strcmp(nai_get_str(t, a, INDEX_METRICS_metric), nai_get_str(t, b, INDEX_METRICS_metric)) == 0 &&
         strcmp(nai_get_str(t, a, INDEX_METRICS_basis), nai_get_str(t, b, INDEX_METRICS_basis)) == 0;
}

int nai_index_spreads(struct nai_index_spread **out, uint32_t *count, const struct nai_index *index,
                      struct nai_err *err) {
  const struct nai_table *t = index->metrics;
  uint32_t *rows = NULL, *some = malloc(((size_t)t->rows + 1) * sizeof *some), n = 0;
  int rc = sort_rows(&rows, (struct sorting){t, INDEX_METRICS_metric, INDEX_METRICS_basis}, err);
  struct nai_index_spread *list = *out = calloc((size_t)t->rows + 1, sizeof *list);
  if (!rc && (!list || !some))
    rc = nai_err_nomem(err);
  for (uint32_t i = 0, j; !rc && i < t->rows; i = j) {
    uint32_t have = 0;
    for (j = i; j < t->rows && is_same_metric(t, rows[i], rows[j]); j++)
      if (isfinite(nai_get_f64(t, rows[j], INDEX_METRICS_value)))
        some[have++] = rows[j];
    if (have)
      list[n++] = spread_of(some, have, t);
  }
  free(rows);
  free(some);
  *count = n;
  return rc;
}

/* --- runs ------------------------------------------------------------------------------------- */

static double number_or(double value, double otherwise) { return isnan(value) ? otherwise : value; }

static int by_badness(const void *pa, const void *pb, void *ctx) {
  const struct nai_table *t = ctx;
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  bool fine_a = strcmp(nai_get_str(t, a, RUNS_status), "ok") == 0;
  bool fine_b = strcmp(nai_get_str(t, b, RUNS_status), "ok") == 0;
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

int nai_index_order(uint32_t **out, const struct nai_index *index, struct nai_err *err) {
  uint32_t *rows = *out = malloc(((size_t)index->runs->rows + 1) * sizeof *rows);
  if (!rows)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < index->runs->rows; i++)
    rows[i] = i;
  qsort_r(rows, (size_t)index->runs->rows, sizeof *rows, by_badness, index->runs);
  return NAI_OK;
}
