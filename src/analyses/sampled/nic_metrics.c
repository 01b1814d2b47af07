/* How much did network cards send and receive, and how much of it while GPUs communicated? Table nic_metrics. */
#include "analyses/analysis.h"
#include "analyses/sampled/series.h"
#include "base/array.h"
#include "base/sort.h"
#include "tables/nic_metric_names.h"
#include "tables/nic_metric_samples.h"
#include "tables/nic_metrics.h"
#include "tables/steps.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST = 20, CAPTURE = 0, COMMUNICATION, STEPS, CONDITIONS };

/* Samples of one metric of one port. */
struct series {
  const struct nai_model *m;
  const uint32_t *rows;
  uint32_t count;
  double scale;
  const char *unit;
};

static int64_t cell(const struct series *s, uint32_t i, int column) {
  return nai_get_i64(s->m->tables[NAI_IN_NIC_SAMPLES], s->rows[i], column);
}

/* --- rows ------------------------------------------------------------------------------------- */

static int compare_reals(const void *pa, const void *pb) {
  double a = *(const double *)pa, b = *(const double *)pb;
  return (a > b) - (a < b);
}

static void put_row(struct nai_table *table, const struct series *s, int64_t name, const char *during,
                    struct nai_coverage *coverage, double *room) {
  const struct nai_table *names = s->m->tables[NAI_IN_NIC_METRICS];
  double weighted = 0;
  int64_t ns = 0, length = nai_intervals_total_ns(coverage->set), count = 0, until = INT64_MIN, covered = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    int64_t start = cell(s, i, NIC_METRIC_SAMPLES_start_ns), end = cell(s, i, NIC_METRIC_SAMPLES_end_ns),
            from = start > until ? start : until;
    int64_t part = nai_coverage_overlap_ns(coverage, start, end);
    double value = (double)cell(s, i, NIC_METRIC_SAMPLES_value) * s->scale;
    ns += part;
    weighted += value * (double)part;
    covered += from < end ? nai_coverage_overlap_ns(coverage, from, end) : 0;
    until = end > until ? end : until;
    if (2 * part > end - start)
      room[count++] = value;
  }
  int64_t row = nai_table_add_row(table);
  nai_nic_put_card(table, row, NIC_METRICS_nic, s->m, cell(s, 0, NIC_METRIC_SAMPLES_global_id));
  nai_set_i64(table, row, NIC_METRICS_port, cell(s, 0, NIC_METRIC_SAMPLES_port));
  nai_set_str(table, row, NIC_METRICS_metric, nai_get_str(names, name, NIC_METRIC_NAMES_metric_name));
  nai_set_str(table, row, NIC_METRICS_metric_unit, s->unit);
  nai_set_str(table, row, NIC_METRICS_during, during);
  nai_set_i64(table, row, NIC_METRICS_time_ns, length);
  nai_set_f64(table, row, NIC_METRICS_coverage_pct, nai_percent((double)covered, (double)length));
  nai_set_i64(table, row, NIC_METRICS_sample_count, count);
  if (s->scale != 1)
    nai_set_i64(table, row, NIC_METRICS_total_bytes,
                weighted < 9e18 && weighted > 0 ? (int64_t)weighted : 0); /* GB/s times ns */
  if (count < FEWEST)
    return;
  qsort(room, (size_t)count, sizeof *room, compare_reals);
  nai_set_f64(table, row, NIC_METRICS_mean, weighted / (double)ns);
  nai_set_f64(table, row, NIC_METRICS_p50, room[(count - 1) / 2]);
  nai_set_f64(table, row, NIC_METRICS_max, room[count - 1]);
}

/* All samples' time, and that of exposed communication and of steady steps on any GPU. */
static int find_times(struct nai_intervals sets[CONDITIONS], const struct nai_model *m, const struct nai_table *steps,
                      struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_NIC_SAMPLES];
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t start = nai_get_i64(t, i, NIC_METRIC_SAMPLES_start_ns), end = nai_get_i64(t, i, NIC_METRIC_SAMPLES_end_ns);
    first = start < first ? start : first;
    last = end > last ? end : last;
  }
  nai_intervals_add(&sets[CAPTURE], first, last);
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    struct nai_intervals both = {0};
    nai_intervals_union(&both, &sets[COMMUNICATION], &m->gpus[g].exposed_communication);
    nai_intervals_free(&sets[COMMUNICATION]);
    sets[COMMUNICATION] = both;
  }
  for (uint32_t g = 0; g < m->gpu_count; g++)
    nai_add_steady(&sets[STEPS], steps, m->gpus[g].device_id);
  return sets[CAPTURE].oom || sets[COMMUNICATION].oom || sets[STEPS].oom ? nai_err_nomem(err) : NAI_OK;
}

static void put_series(struct nai_table *table, struct series *s, struct nai_coverage coverage[CONDITIONS],
                       double *room) {
  const struct nai_table *names = s->m->tables[NAI_IN_NIC_METRICS];
  int64_t name =
      nai_nic_metric_row(s->m, cell(s, 0, NIC_METRIC_SAMPLES_list_id), cell(s, 0, NIC_METRIC_SAMPLES_metric_index));
  if (name < 0)
    return;
  s->unit = nai_nic_unit(&s->scale, nai_get_str(names, name, NIC_METRIC_NAMES_metric_name),
                         nai_get_str(names, name, NIC_METRIC_NAMES_metric_unit));
  put_row(table, s, name, "capture", &coverage[CAPTURE], room);
  if (coverage[COMMUNICATION].set->count)
    put_row(table, s, name, "exposed_comm", &coverage[COMMUNICATION], room);
  if (coverage[STEPS].set->count)
    put_row(table, s, name, "steady_steps", &coverage[STEPS], room);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_table *t = m->tables[NAI_IN_NIC_SAMPLES];
  uint32_t n = (uint32_t)t->rows;
  struct nai_intervals sets[CONDITIONS] = {0};
  struct nai_coverage coverage[CONDITIONS] = {0};
  if (!n)
    return NAI_OK;
  uint32_t *rows = malloc((size_t)n * sizeof *rows);
  double *room = malloc((size_t)n * sizeof *room);
  int rc = rows && room ? find_times(sets, m, io->in ? io->in[0] : NULL, err) : nai_err_nomem(err);
  for (int c = 0; !rc && c < CONDITIONS; c++)
    rc = nai_coverage_new(&coverage[c], &sets[c], err);
  for (uint32_t i = 0; !rc && i < n; i++)
    rows[i] = i;
  if (!rc)
    qsort_r(rows, n, sizeof *rows, nai_nic_compare, (void *)t);
  for (uint32_t i = 0, end; !rc && i < n; i = end) {
    for (end = i + 1; end < n && nai_nic_same(t, rows[i], rows[end]); end++)
      ;
    struct series s = {.m = m, .rows = rows + i, .count = end - i};
    put_series(io->out[0], &s, coverage, room);
  }
  for (int c = 0; c < CONDITIONS; c++) {
    nai_coverage_free(&coverage[c]);
    nai_intervals_free(&sets[c]);
  }
  free(rows);
  free(room);
  return rc;
}

NAI_ANALYSIS(nic_metrics, .outputs = NAI_SCHEMAS(&nai_nic_metrics_schema), .inputs = NAI_SCHEMAS(&nai_steps_schema),
             .parts = NAI_PART(GPUS),
             .tables = NAI_IN(NIC_SAMPLES) | NAI_IN(NIC_METRICS) | NAI_IN(NIC_IDS) | NAI_IN(NICS) | NAI_IN(GPUS),
             .run = run)
