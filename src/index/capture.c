/* What one artifacts directory says, for the index. */
#include "index/index.h"

#include "base/strings.h"
#include "table/severity.h"
#include "tables/index_findings.h"
#include "tables/index_kernels.h"
#include "tables/index_metrics.h"
#include "tables/runs.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct adding {
  struct nai_index *index;
  int64_t row;
  int capture;
  const char *path;
};

static const char *run_id(const struct adding *a) { return nai_get_str(a->index->runs, a->row, RUNS_run_id); }

/* --- findings --------------------------------------------------------------------------------- */

static void add_count(struct nai_table *runs, int64_t row, int column, int64_t count) {
  int64_t have = nai_get_i64(runs, row, column);
  if (have == NAI_NULL_I64 || have < count) /* of several captures the one with most */
    nai_set_i64(runs, row, column, count);
}

/* Of several captures the one with the more severe finding, or the larger share of time; no share is less than any. */
static void put_worst(const struct adding *a, const struct nai_table *findings, int64_t i) {
  struct nai_table *runs = a->index->runs;
  int severity = nai_severity_from_name(nai_cell_str(findings, i, "severity"));
  int earlier = nai_severity_from_name(nai_get_str(runs, a->row, RUNS_severity));
  int64_t stake = nai_cell_i64(findings, i, "at_stake_ns");
  double pct = nai_cell_f64(findings, i, "pct_of_active"), have = nai_get_f64(runs, a->row, RUNS_pct_of_active);
  if (severity < earlier || (severity == earlier && !(pct > have || (isnan(have) && !isnan(pct)))))
    return;
  nai_set_str(runs, a->row, RUNS_severity, nai_severity_name(severity));
  nai_set_str(runs, a->row, RUNS_worst_rule, nai_cell_str(findings, i, "id"));
  nai_set_str(runs, a->row, RUNS_worst_title, nai_cell_str(findings, i, "title"));
  nai_set_i64(runs, a->row, RUNS_at_stake_ns, stake); /* NULL stays NULL */
  nai_set_f64(runs, a->row, RUNS_pct_of_active, pct);
}

static void put_finding(const struct adding *a, const struct nai_table *findings, int64_t i) {
  struct nai_table *t = a->index->findings;
  int64_t row = nai_table_add_row(t), stake = nai_cell_i64(findings, i, "at_stake_ns");
  double pct = nai_cell_f64(findings, i, "pct_of_active");
  nai_set_str(t, row, INDEX_FINDINGS_run_id, run_id(a));
  nai_set_i64(t, row, INDEX_FINDINGS_capture, a->capture);
  nai_set_i64(t, row, INDEX_FINDINGS_finding, nai_cell_i64(findings, i, "finding"));
  nai_set_str(t, row, INDEX_FINDINGS_rule, nai_cell_str(findings, i, "id"));
  nai_set_str(t, row, INDEX_FINDINGS_severity, nai_cell_str(findings, i, "severity"));
  nai_set_str(t, row, INDEX_FINDINGS_scope, nai_cell_str(findings, i, "scope"));
  nai_set_str(t, row, INDEX_FINDINGS_title, nai_cell_str(findings, i, "title"));
  if (stake != NAI_NULL_I64)
    nai_set_i64(t, row, INDEX_FINDINGS_at_stake_ns, stake);
  if (!isnan(pct))
    nai_set_f64(t, row, INDEX_FINDINGS_pct_of_active, pct);
  nai_set_str(t, row, INDEX_FINDINGS_path, a->path);
}

/* Findings come in order of importance; the worst is the first of those most severe. */
static void add_findings(const struct adding *a, const struct nai_table *findings) {
  static const int columns[] = {RUNS_info, RUNS_low, RUNS_medium, RUNS_high};
  int64_t counts[NAI_SEVERITIES] = {0}, worst = -1;
  int highest = -1;
  for (int64_t i = 0; i < findings->rows; i++) {
    int severity = nai_severity_from_name(nai_cell_str(findings, i, "severity"));
    put_finding(a, findings, i);
    if (severity >= 0)
      counts[severity]++;
    if (severity > highest) {
      highest = severity;
      worst = i;
    }
  }
  for (int level = 0; level < NAI_SEVERITIES; level++)
    add_count(a->index->runs, a->row, columns[level], counts[level]);
  if (worst >= 0)
    put_worst(a, findings, worst);
}

static void put_real(struct nai_table *t, int64_t row, int column, double value) {
  if (isfinite(value))
    nai_set_f64(t, row, column, value);
}

/* --- kernels ---------------------------------------------------------------------------------- */

/* Rows of table kernels with one name: it has one per GPU. */
struct kernel {
  const char *name;
  int64_t first, count, total; /* first: the row with most time */
};

static int by_name(const void *pa, const void *pb) {
  const struct kernel *a = pa, *b = pb;
  int order = strcmp(a->name, b->name);
  return order ? order : (a->total < b->total) - (a->total > b->total);
}

static int by_time(const void *pa, const void *pb) {
  const struct kernel *a = pa, *b = pb;
  return a->total != b->total ? (a->total < b->total) - (a->total > b->total) : strcmp(a->name, b->name);
}

static size_t sum_by_name(struct kernel *list, size_t n) {
  size_t kept = 0;
  qsort(list, n, sizeof *list, by_name);
  for (size_t i = 0; i < n; i++) {
    if (kept && strcmp(list[kept - 1].name, list[i].name) == 0) {
      list[kept - 1].count += list[i].count;
      list[kept - 1].total += list[i].total;
    } else {
      list[kept++] = list[i];
    }
  }
  qsort(list, kept, sizeof *list, by_time);
  return kept;
}

/* What a capture's length does not change: time per steady step, or, in a capture without, per second. */
struct rates {
  struct kernel *steady; /* by name; NULL: no steps */
  size_t count;
  double per;
};

static int by_name_only(const void *pa, const void *pb) {
  return strcmp(((const struct kernel *)pa)->name, ((const struct kernel *)pb)->name);
}

static int find_rates(struct rates *out, const struct nai_table *paths, const struct nai_table *steps,
                      int64_t window_ns, struct nai_err *err) {
  int64_t steady = 0;
  for (int64_t i = 0; steps && i < steps->rows; i++)
    steady += strcmp(nai_cell_str(steps, i, "state"), "steady") == 0;
  *out = (struct rates){.per = window_ns > 0 ? (double)window_ns / 1e9 : NAN};
  if (!steady || !paths)
    return NAI_OK;
  out->per = (double)steady;
  if (!(out->steady = malloc(((size_t)paths->rows + 1) * sizeof *out->steady)))
    return nai_err_nomem(err);
  for (int64_t i = 0; i < paths->rows; i++)
    out->steady[i] = (struct kernel){.name = nai_cell_str(paths, i, "kernel_name"),
                                     .total = nai_cell_i64(paths, i, "steady_time_ns")};
  out->count = sum_by_name(out->steady, (size_t)paths->rows);
  qsort(out->steady, out->count, sizeof *out->steady, by_name_only);
  return NAI_OK;
}

static double rate_of(const struct rates *rates, const struct kernel *k) {
  const struct kernel *found = k;
  if (rates->steady)
    found = bsearch(k, rates->steady, rates->count, sizeof *k, by_name_only);
  return (found ? (double)found->total : 0) / rates->per;
}

static void put_kernel(const struct adding *a, const struct nai_table *kernels, const struct kernel *k,
                       const struct rates *rates) {
  struct nai_table *t = a->index->kernels;
  int64_t row = nai_table_add_row(t);
  nai_set_str(t, row, INDEX_KERNELS_run_id, run_id(a));
  nai_set_i64(t, row, INDEX_KERNELS_capture, a->capture);
  nai_set_str(t, row, INDEX_KERNELS_name, k->name);
  nai_set_str(t, row, INDEX_KERNELS_category, nai_cell_str(kernels, k->first, "category"));
  nai_set_i64(t, row, INDEX_KERNELS_kernel_count, k->count);
  nai_set_i64(t, row, INDEX_KERNELS_total_time_ns, k->total);
  nai_set_f64(t, row, INDEX_KERNELS_median_ns, nai_cell_f64(kernels, k->first, "p50_duration_ns"));
  put_real(t, row, INDEX_KERNELS_rate_ns, rate_of(rates, k));
}

static int add_kernels(const struct adding *a, const struct nai_table *kernels, const struct rates *rates,
                       struct nai_err *err) {
  struct kernel *list = malloc(((size_t)kernels->rows + 1) * sizeof *list);
  if (!list)
    return nai_err_nomem(err);
  for (int64_t i = 0; i < kernels->rows; i++)
    list[i] = (struct kernel){nai_cell_str(kernels, i, "kernel_name"), i, nai_cell_i64(kernels, i, "call_count"),
                              nai_cell_i64(kernels, i, "total_time_ns")};
  size_t n = sum_by_name(list, (size_t)kernels->rows);
  for (size_t i = 0; i < n && i < NAI_INDEX_TOP_KERNELS; i++)
    put_kernel(a, kernels, &list[i], rates);
  free(list);
  return NAI_OK;
}

/* --- metrics ---------------------------------------------------------------------------------- */

static double step_time(const struct nai_table *metrics) {
  for (int64_t i = 0; i < metrics->rows; i++)
    if (strcmp(nai_cell_str(metrics, i, "metric"), "step.time.median") == 0)
      return nai_cell_f64(metrics, i, "value");
  return NAN;
}

/* What part of a step a budget is, in the row's unit: of a metric that is usually 0 nothing else is allowed. */
static double budget_of(const struct nai_table *metrics, int64_t row, double step) {
  return fmax(nai_cell_f64(metrics, row, "budget"), nai_cell_f64(metrics, row, "budget_step_pct") / 100 * step);
}

static void add_metrics(const struct adding *a, const struct nai_table *metrics) {
  struct nai_table *t = a->index->metrics;
  double step = step_time(metrics);
  struct nai_strings seen = {0};
  for (int64_t i = 0; i < metrics->rows; i++) {
    const char *name = nai_cell_str(metrics, i, "metric");
    uint32_t before = seen.count;
    t->oom |= nai_strings_add(&seen, name, strlen(name)) == NAI_NO_STRING;
    if (seen.count == before) /* the first counts: earlier versions wrote two metrics of one id into one run */
      continue;
    int64_t row = nai_table_add_row(t), n = nai_cell_i64(metrics, i, "n");
    nai_set_str(t, row, INDEX_METRICS_run_id, run_id(a));
    nai_set_i64(t, row, INDEX_METRICS_capture, a->capture);
    nai_set_str(t, row, INDEX_METRICS_metric, name);
    nai_set_str(t, row, INDEX_METRICS_unit, nai_cell_str(metrics, i, "unit"));
    nai_set_str(t, row, INDEX_METRICS_better, nai_cell_str(metrics, i, "better"));
    put_real(t, row, INDEX_METRICS_value, nai_cell_f64(metrics, i, "value"));
    if (n != NAI_NULL_I64)
      nai_set_i64(t, row, INDEX_METRICS_n, n);
    put_real(t, row, INDEX_METRICS_q25, nai_cell_f64(metrics, i, "q25"));
    put_real(t, row, INDEX_METRICS_q75, nai_cell_f64(metrics, i, "q75"));
    nai_set_str(t, row, INDEX_METRICS_basis, nai_cell_str(metrics, i, "basis"));
    nai_set_str(t, row, INDEX_METRICS_kind, nai_cell_str(metrics, i, "kind"));
    nai_set_str(t, row, INDEX_METRICS_gate, nai_cell_str(metrics, i, "gate"));
    put_real(t, row, INDEX_METRICS_noise_pct, nai_cell_f64(metrics, i, "noise_pct"));
    put_real(t, row, INDEX_METRICS_noise, nai_cell_f64(metrics, i, "noise"));
    put_real(t, row, INDEX_METRICS_budget_pct, nai_cell_f64(metrics, i, "budget_pct"));
    put_real(t, row, INDEX_METRICS_budget, budget_of(metrics, i, step));
  }
  nai_strings_free(&seen);
}

/* --- all of it -------------------------------------------------------------------------------- */

enum { INFO, FINDINGS, KERNELS, METRICS, PATHS, STEPS, READ };

/* What the index is made of; the run owns the tables. */
struct capture {
  struct nai_run *run;
  int64_t utc_ns;
  const struct nai_table *tables[READ]; /* NULL: the run has none */
};

static int open_capture(struct capture *c, const char *directory, struct nai_err *err) {
  static const char *const names[READ] = {[INFO] = "run_info",   [FINDINGS] = "findings",  [KERNELS] = "kernels",
                                          [METRICS] = "metrics", [PATHS] = "kernel_paths", [STEPS] = "steps"};
  *c = (struct capture){0};
  int rc = nai_run_open(&c->run, directory, err);
  if (!rc)
    rc = nai_index_utc(&c->utc_ns, c->run, err);
  for (int i = 0; i < READ && !rc; i++)
    rc = nai_run_table_if_any(&c->tables[i], c->run, names[i], NULL, err);
  return rc;
}

static int add_tables(const struct adding *a, const struct nai_table *const tables[READ], struct nai_err *err) {
  struct rates rates = {0};
  const struct nai_table *info = tables[INFO];
  struct nai_table *runs = a->index->runs;
  if (info && !a->capture) {
    nai_set_i64(runs, a->row, RUNS_gpu_count, nai_cell_i64(info, 0, "gpu_count"));
    nai_set_i64(runs, a->row, RUNS_window_ns, nai_cell_i64(info, 0, "window_ns"));
  }
  if (tables[FINDINGS])
    add_findings(a, tables[FINDINGS]);
  if (tables[METRICS])
    add_metrics(a, tables[METRICS]);
  int rc = find_rates(&rates, tables[PATHS], tables[STEPS], info ? nai_cell_i64(info, 0, "window_ns") : 0, err);
  if (!rc && tables[KERNELS])
    rc = add_kernels(a, tables[KERNELS], &rates, err);
  free(rates.steady);
  return rc;
}

int nai_index_check_capture(const char *directory, struct nai_err *err) {
  struct capture capture;
  int rc = open_capture(&capture, directory, err);
  nai_run_close(capture.run);
  return rc;
}

int nai_index_add_capture(struct nai_index *index, int64_t row, int capture, const char *directory, const char *path,
                          struct nai_err *err) {
  const struct adding adding = {index, row, capture, path};
  struct capture c;
  int rc = open_capture(&c, directory, err);
  if (!rc && c.utc_ns != NAI_NULL_I64 && nai_get_i64(index->runs, row, RUNS_utc_ns) == NAI_NULL_I64)
    nai_set_i64(index->runs, row, RUNS_utc_ns, c.utc_ns);
  if (!rc && !*nai_get_str(index->runs, row, RUNS_tool_version) && nai_run_manifest(c.run)->version)
    nai_set_str(index->runs, row, RUNS_tool_version, nai_run_manifest(c.run)->version);
  if (!rc)
    rc = add_tables(&adding, c.tables, err);
  nai_run_close(c.run);
  return rc;
}
