/* How did what was sampled of a GPU develop? Table gpu_metric_timeline: few enough stretches to draw. */
#include "analyses/sampled/gpu_metric_timeline.h"

#include "tables/gpu_metric_samples.h"
#include "tables/gpu_metric_timeline.h"

enum { MAX_STRETCHES = 1000, FEWEST_STRETCHES = 50, ALL_STRETCHES = 30000 };

/* Samples of the stretch that is being walked through. */
struct stretch {
  int64_t number, count;
  double sum, max;
};

static void put_stretch(struct nai_table *table, const struct nai_model *m, const struct nai_metric_series *series,
                        const struct stretch *s, int64_t length) {
  if (!s->count)
    return;
  int64_t row = nai_table_add_row(table), start = m->window_start + s->number * length, end = start + length;
  nai_set_i64(table, row, GPU_METRIC_TIMELINE_device_id, series->device_id);
  nai_set_str(table, row, GPU_METRIC_TIMELINE_metric, series->name);
  nai_set_str(table, row, GPU_METRIC_TIMELINE_metric_unit, series->unit);
  nai_set_i64(table, row, GPU_METRIC_TIMELINE_start_ns, start);
  nai_set_i64(table, row, GPU_METRIC_TIMELINE_end_ns, end < m->window_end ? end : m->window_end);
  nai_set_i64(table, row, GPU_METRIC_TIMELINE_sample_count, s->count);
  nai_set_f64(table, row, GPU_METRIC_TIMELINE_mean, s->sum / (double)s->count);
  nai_set_f64(table, row, GPU_METRIC_TIMELINE_max, s->max);
}

void nai_gpu_metric_timeline_put(struct nai_table *table, const struct nai_model *m,
                                 const struct nai_metric_series *series, uint32_t series_count) {
  const struct nai_table *samples = m->tables[NAI_IN_GPU_METRIC_SAMPLES];
  int64_t stretches = ALL_STRETCHES / (series_count ? series_count : 1);
  stretches = stretches > MAX_STRETCHES ? MAX_STRETCHES : stretches < FEWEST_STRETCHES ? FEWEST_STRETCHES : stretches;
  int64_t length = (m->window_end - m->window_start) / stretches + 1;
  struct stretch s = {.number = -1};
  for (uint32_t i = 0; i < series->count; i++) {
    int64_t time = nai_get_i64(samples, series->rows[i], GPU_METRIC_SAMPLES_time_ns);
    if (time < m->window_start || time >= m->window_end)
      continue;
    int64_t number = (time - m->window_start) / length;
    if (number != s.number) {
      put_stretch(table, m, series, &s, length);
      s = (struct stretch){.number = number};
    }
    double value = (double)nai_get_i64(samples, series->rows[i], GPU_METRIC_SAMPLES_value) * series->scale;
    s.max = !s.count || value > s.max ? value : s.max;
    s.sum += value;
    s.count++;
  }
  put_stretch(table, m, series, &s, length);
}
