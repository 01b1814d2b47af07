/* How much did network cards send and receive, and how much of it while GPUs communicated? Table nic_metrics. */
#include "analyses/analysis.h"
#include "model/sampled/metric_series.h"
#include "tables/nic_metric_samples.h"
#include "tables/nic_metrics.h"
#include "tables/steps.h"

enum { CAPTURE, COMMUNICATION, STEADY, CONDITIONS };

struct work {
  const struct nai_node_io *io;
  struct nai_intervals sets[CONDITIONS];
  struct nai_coverage coverage[CONDITIONS];
};

/* All samples' time, and that of exposed communication and of steady steps on any GPU. */
static int find_times(struct work *w, const struct NIC_METRIC_SAMPLES_columns *c, struct nai_err *err) {
  const struct nai_model *m = w->io->model;
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (uint32_t i = 0; i < c->n; i++) {
    first = nai_val(&c->start_ns, i) < first ? nai_val(&c->start_ns, i) : first;
    last = nai_val(&c->end_ns, i) > last ? nai_val(&c->end_ns, i) : last;
  }
  for (int i = 0; i < CONDITIONS; i++)
    w->sets[i].arena = w->io->arena;
  nai_intervals_add(&w->sets[CAPTURE], first, last);
  for (uint32_t g = 0; g < m->gpu_count; g++)
    NAI_TRY(nai_intervals_unite(&w->sets[COMMUNICATION], &m->gpus[g].exposed_communication, err));
  NAI_TRY(nai_steady_windows(&w->sets[STEADY], w->io->in[0], NAI_NULL_I64, err));
  for (int i = 0; i < CONDITIONS; i++) {
    NAI_TRY(nai_memory_check(!w->sets[i].oom, err));
    NAI_TRY(nai_coverage_in(&w->coverage[i], &w->sets[i], w->io->arena, err));
  }
  return NAI_OK;
}

static int put_series(void *ctx, const struct nai_metric_series *s, struct nai_err *err) {
  static const char *const conditions[CONDITIONS] = {"capture", "exposed_comm", "steady_steps"};
  struct work *w = ctx;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(w->io->model->scratch_dir);
  double *room;
  NAI_TRY(NAI_NEW(room, &arena, s->count, err));
  for (int c = 0; c < CONDITIONS; c++) {
    if (c != CAPTURE && !w->sets[c].count)
      continue;
    struct nai_series_sum sum = nai_series_during(s, &w->coverage[c], room);
    struct NIC_METRICS_row row =
        NAI_ROW(NIC_METRICS, .nic = s->card, .port = s->port, .metric = s->name, .metric_unit = s->unit,
                .during = conditions[c], .time_ns = sum.length, .coverage_pct = sum.coverage_pct,
                .sample_count = sum.count, .mean = sum.mean, .p50 = sum.p50, .max = sum.max);
    if (s->bytes) /* GB/s times ns */
      row.total_bytes = sum.weighted < 9e18 && sum.weighted > 0 ? (int64_t)sum.weighted : 0;
    NIC_METRICS_add(w->io->out[0], &row);
  }
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct NIC_METRIC_SAMPLES_columns c = NIC_METRIC_SAMPLES_columns_of(io->model->tables[NAI_IN_NIC_SAMPLES]);
  struct work w = {.io = io};
  if (!c.n)
    return NAI_OK;
  NAI_TRY(find_times(&w, &c, err));
  return nai_card_series_each(io->model, put_series, &w, err);
}

NAI_ANALYSIS(nic_metrics, .outputs = NAI_SCHEMAS(&nai_nic_metrics_schema), .inputs = NAI_SCHEMAS(&nai_steps_schema),
             .parts = NAI_PART(SAMPLED) | NAI_PART(GPUS),
             .tables = NAI_IN(NIC_METRICS) | NAI_IN(NIC_IDS) | NAI_IN(NICS), .run = run)
