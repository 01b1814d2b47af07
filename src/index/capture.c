/* What one artifacts directory says, for the index. */
#include "base/strings.h"
#include "base/sort.h"
#include "index/index.h"
#include "rundir/run.h"
#include "table/severity.h"
#include "tables/findings.h"
#include "tables/index_findings.h"
#include "tables/index_kernels.h"
#include "tables/index_metrics.h"
#include "tables/kernel_paths.h"
#include "tables/kernels.h"
#include "tables/metrics.h"
#include "tables/run_info.h"
#include "tables/steps.h"

/* A capture that is added: its tables are the run's, NULL where it has none. */
struct adding {
  struct nai_index *index;
  int64_t row; /* of index.runs */
  int capture;
  const char *path;
  struct nai_run *run;
  struct nai_arena arena;
  int64_t utc_ns;
  const struct nai_table *info, *findings, *kernels, *metrics, *paths, *steps;
};

static void adding_free(struct adding *a) {
  nai_run_close(a->run);
  nai_arena_free(&a->arena);
}

static const char *run_id(const struct adding *a) { return nai_get_str(a->index->runs, a->row, RUNS_run_id); }

static double or_null(double value) { return isfinite(value) ? value : (double)NAN; }

/* --- findings --------------------------------------------------------------------------------- */

/* Of several captures the one with most. */
static void add_count(struct nai_table *runs, int64_t row, int column, int64_t count) {
  if (nai_get_i64(runs, row, column) < count) /* as NULL is */
    nai_set_i64(runs, row, column, count);
}

/* A saving may be of something else than the active time: NaN. */
static double pct_of_active(const struct FINDINGS_row *finding) {
  return strcmp(finding->share_of, "active time") == 0 ? finding->pct_of_active : (double)NAN;
}

/* Of several captures the one with the more severe finding, or the larger share of the capture; no share is less than
 * any. */
static void put_worst(const struct adding *a, const struct FINDINGS_row *finding) {
  struct nai_table *runs = a->index->runs;
  int severity = nai_severity_from_name(finding->severity);
  int earlier = nai_severity_from_name(nai_get_str(runs, a->row, RUNS_severity));
  double pct = finding->pct_of_capture, have = nai_get_f64(runs, a->row, RUNS_pct_of_capture);
  if (severity < earlier || (severity == earlier && !(pct > have || (isnan(have) && !isnan(pct)))))
    return;
  nai_set_str(runs, a->row, RUNS_severity, nai_severity_name(severity));
  nai_set_str(runs, a->row, RUNS_worst_rule, finding->id);
  nai_set_str(runs, a->row, RUNS_worst_title, finding->title);
  nai_set_i64(runs, a->row, RUNS_saving_ns, finding->saving_ns); /* NULL stays NULL */
  nai_set_f64(runs, a->row, RUNS_pct_of_active, pct_of_active(finding));
  nai_set_f64(runs, a->row, RUNS_pct_of_capture, pct);
}

/* Findings come in order of importance; the worst is the first of those most severe. */
static void add_findings(const struct adding *a) {
  static const int columns[] = {RUNS_info, RUNS_low, RUNS_medium, RUNS_high};
  int64_t counts[NAI_SEVERITIES] = {0};
  struct FINDINGS_row worst = {0};
  int highest = -1;
  for (int64_t i = 0; i < a->findings->rows; i++) {
    struct FINDINGS_row f = FINDINGS_at(a->findings, i);
    int severity = nai_severity_from_name(f.severity);
    NAI_ADD(INDEX_FINDINGS, a->index->findings, .run_id = run_id(a), .capture = a->capture, .finding = f.finding,
            .rule = f.id, .severity = f.severity, .scope = f.scope, .title = f.title, .saving_ns = f.saving_ns,
            .pct_of_active = pct_of_active(&f), .path = a->path, .pct_of_capture = f.pct_of_capture);
    if (severity >= 0)
      counts[severity]++;
    if (severity > highest) {
      highest = severity;
      worst = f;
    }
  }
  for (int level = 0; level < NAI_SEVERITIES; level++)
    add_count(a->index->runs, a->row, columns[level], counts[level]);
  if (highest >= 0)
    put_worst(a, &worst);
}

/* --- kernels ---------------------------------------------------------------------------------- */

/* A kernel on all GPUs. */
struct kernel {
  const char *name;
  int64_t first, most; /* the row of table kernels with most time, and its time */
  int64_t count, total;
  int64_t rated; /* of total, what the rate is of */
};

struct kernels {
  struct nai_strings names;
  struct kernel *list;
  uint32_t capacity;
};

static void kernels_free(struct kernels *k) { nai_strings_free(&k->names); }

NAI_ORDER_BY(by_time, struct kernel, NAI_SIGN(b->total, a->total), strcmp(a->name, b->name))

/* Table kernels has a row per GPU. */
static int read_kernels(struct kernels *to, struct adding *a, struct nai_err *err) {
  for (int64_t i = 0; i < a->kernels->rows; i++) {
    struct KERNELS_row row = KERNELS_at(a->kernels, i);
    uint32_t at;
    NAI_TRY(nai_strings_put(&at, &to->names, row.kernel_name, err));
    NAI_TRY(NAI_ROOM(to->list, to->capacity, at, &a->arena, err));
    struct kernel *k = &to->list[at];
    if (!k->name || row.total_time_ns > k->most) {
      k->first = i;
      k->most = row.total_time_ns;
    }
    k->name = row.kernel_name;
    k->count += row.call_count;
    k->total += row.total_time_ns;
  }
  return NAI_OK;
}

/* What a capture's length does not change: time per steady step, or, in a capture without, per second. Returns of how
 * many of these. */
static double find_rated(struct kernels *k, const struct adding *a) {
  int64_t window_ns = a->info ? RUN_INFO_at(a->info, 0).window_ns : 0, steady = 0;
  for (int64_t i = 0; a->steps && i < a->steps->rows; i++)
    steady += strcmp(nai_get_str(a->steps, i, STEPS_state), "steady") == 0;
  bool by_step = steady && a->paths;
  for (uint32_t i = 0; !by_step && i < k->names.count; i++)
    k->list[i].rated = k->list[i].total;
  for (int64_t i = 0; by_step && i < a->paths->rows; i++) {
    const char *name = nai_get_str(a->paths, i, KERNEL_PATHS_kernel_name);
    uint32_t at = nai_strings_find(&k->names, name, strlen(name));
    if (at != NAI_NO_STRING)
      k->list[at].rated += nai_get_i64(a->paths, i, KERNEL_PATHS_steady_time_ns);
  }
  return by_step ? (double)steady : window_ns > 0 ? (double)window_ns / 1e9 : (double)NAN;
}

static int add_kernels(struct adding *a, struct nai_err *err) {
  NAI_SCOPED(kernels) kernels = {0};
  NAI_TRY(read_kernels(&kernels, a, err));
  double per = find_rated(&kernels, a);
  uint32_t n = kernels.names.count;
  if (n)
    qsort(kernels.list, n, sizeof *kernels.list, by_time);
  for (uint32_t i = 0; i < n && i < NAI_INDEX_TOP_KERNELS; i++) {
    const struct kernel *k = &kernels.list[i];
    struct KERNELS_row first = KERNELS_at(a->kernels, k->first);
    NAI_ADD(INDEX_KERNELS, a->index->kernels, .run_id = run_id(a), .capture = a->capture, .name = k->name,
            .category = first.category, .kernel_count = k->count, .total_time_ns = k->total,
            .median_ns = first.p50_duration_ns, .rate_ns = or_null((double)k->rated / per));
  }
  return NAI_OK;
}

/* --- metrics ---------------------------------------------------------------------------------- */

static double step_time(const struct nai_table *metrics) {
  int64_t row = nai_find_str(metrics, METRICS_metric, "step.time.median");
  return row < 0 ? NAN : nai_get_f64(metrics, row, METRICS_value);
}

static int add_metrics(struct adding *a, struct nai_err *err) {
  NAI_SCOPED(nai_strings) seen = {0};
  double step = step_time(a->metrics);
  for (int64_t i = 0; i < a->metrics->rows; i++) {
    struct METRICS_row m = METRICS_at(a->metrics, i);
    if (strcmp(m.basis, "second") == 0) /* earlier versions called it per step */
      m.metric = nai_metric_id(&a->arena, m.metric, m.basis);
    NAI_TRY(nai_arena_check(&a->arena, err));
    uint32_t before = seen.count;
    NAI_TRY(nai_strings_put(NULL, &seen, m.metric, err));
    if (seen.count == before) /* the first counts: earlier versions wrote two metrics of one id into one run */
      continue;
    /* What part of a step a budget is, too: of a metric that is usually 0 nothing else is allowed. */
    double budget = fmax(m.budget, m.budget_step_pct / 100 * step);
    NAI_ADD(INDEX_METRICS, a->index->metrics, .run_id = run_id(a), .capture = a->capture, .metric = m.metric,
            .unit = m.unit, .better = m.better, .value = or_null(m.value), .n = m.n, .q25 = or_null(m.q25),
            .q75 = or_null(m.q75), .basis = m.basis, .kind = m.kind, .gate = m.gate, .noise_pct = or_null(m.noise_pct),
            .noise = or_null(m.noise), .budget_pct = or_null(m.budget_pct), .budget = or_null(budget),
            .definition = m.definition, .absent = m.absent);
  }
  return NAI_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int open_capture(struct adding *a, const char *directory, struct nai_err *err) {
  const struct {
    const struct nai_table **table;
    const struct nai_schema *schema;
  } read[] = {{&a->info, &nai_run_info_schema},      {&a->findings, &nai_findings_schema},
              {&a->kernels, &nai_kernels_schema},    {&a->metrics, &nai_metrics_schema},
              {&a->paths, &nai_kernel_paths_schema}, {&a->steps, &nai_steps_schema}};
  NAI_TRY(nai_run_open(&a->run, directory, err));
  NAI_TRY(nai_index_utc(&a->utc_ns, a->run, err));
  for (size_t i = 0; i < sizeof read / sizeof *read; i++)
    NAI_TRY(nai_run_table_if_any(read[i].table, a->run, read[i].schema->name, read[i].schema, err));
  return NAI_OK;
}

int nai_index_check_capture(const char *directory, struct nai_err *err) {
  NAI_SCOPED(adding) a = {.arena = NAI_ARENA(NULL)};
  return open_capture(&a, directory, err);
}

int nai_index_add_capture(struct nai_index *index, int64_t row, int capture, const char *directory, const char *path,
                          struct nai_err *err) {
  struct nai_table *runs = index->runs;
  NAI_SCOPED(adding) a = {.index = index, .row = row, .capture = capture, .path = path, .arena = NAI_ARENA(NULL)};
  NAI_TRY(open_capture(&a, directory, err));
  if (a.utc_ns != NAI_NULL_I64 && nai_get_i64(runs, row, RUNS_utc_ns) == NAI_NULL_I64)
    nai_set_i64(runs, row, RUNS_utc_ns, a.utc_ns);
  if (!*nai_get_str(runs, row, RUNS_tool_version) && nai_run_manifest(a.run)->version)
    nai_set_str(runs, row, RUNS_tool_version, nai_run_manifest(a.run)->version);
  if (a.info && !capture) {
    struct RUN_INFO_row info = RUN_INFO_at(a.info, 0);
    nai_set_i64(runs, row, RUNS_gpu_count, info.gpu_count);
    nai_set_i64(runs, row, RUNS_window_ns, info.window_ns);
  }
  if (a.findings)
    add_findings(&a);
  if (a.metrics)
    NAI_TRY(add_metrics(&a, err));
  return a.kernels ? add_kernels(&a, err) : NAI_OK;
}
