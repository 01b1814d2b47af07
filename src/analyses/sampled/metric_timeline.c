/* How did what was sampled of a GPU develop? Table gpu_metric_timeline: few enough stretches to draw. */
#include "analyses/analysis.h"
#include "model/sampled/metric_series.h"
#include "tables/gpu_metric_timeline.h"

enum { MAX_STRETCHES = 1000, FEWEST_STRETCHES = 50, ALL_STRETCHES = 30000 };

/* Samples of the stretch that is being walked through. */
struct stretch {
  int64_t number, count;
  double sum, max;
};

/* So long that all metrics can be drawn. */
static int64_t stretch_length(const struct nai_model *m) {
  int64_t stretches = ALL_STRETCHES / m->tables[NAI_IN_GPU_METRICS]->rows;
  stretches = stretches > MAX_STRETCHES ? MAX_STRETCHES : stretches < FEWEST_STRETCHES ? FEWEST_STRETCHES : stretches;
  return (m->window_end - m->window_start) / stretches + 1;
}

static void put_stretch(const struct nai_node_io *io, const struct nai_metric_series *series, const struct stretch *s,
                        int64_t length) {
  int64_t start = io->model->window_start + s->number * length, end = start + length;
  if (s->count)
    NAI_ADD(GPU_METRIC_TIMELINE, io->out[0], .device_id = series->device_id, .metric = series->name,
            .metric_unit = series->unit, .start_ns = start,
            .end_ns = end < io->model->window_end ? end : io->model->window_end, .sample_count = s->count,
            .mean = s->sum / (double)s->count, .max = s->max);
}

static int put_series(void *ctx, const struct nai_metric_series *series, struct nai_err *err) {
  const struct nai_node_io *io = ctx;
  const struct nai_model *m = io->model;
  int64_t length = stretch_length(m);
  struct stretch s = {.number = -1};
  (void)err;
  for (uint32_t i = 0; i < series->count; i++) {
    int64_t number = (series->start[i] - m->window_start) / length;
    double value = series->value[i];
    if (series->start[i] < m->window_start || series->start[i] >= m->window_end)
      continue;
    if (number != s.number) {
      put_stretch(io, series, &s, length);
      s = (struct stretch){.number = number};
    }
    s.max = !s.count || value > s.max ? value : s.max;
    s.sum += value;
    s.count++;
  }
  put_stretch(io, series, &s, length);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  return nai_gpu_series_each(io->model, put_series, (void *)io, err);
}

NAI_ANALYSIS(metric_timeline, .outputs = NAI_SCHEMAS(&nai_gpu_metric_timeline_schema),
             .parts = NAI_PART(SAMPLED) | NAI_PART(GPUS) | NAI_PART(WINDOW), .run = run)
