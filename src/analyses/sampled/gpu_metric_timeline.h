/* Internal to src/analyses. */
#pragma once

#include "model/model.h"
#include "tables/gpu_metric_timeline.h"

/* The samples of one metric of one GPU. */
struct nai_metric_series {
  int32_t device_id;
  const char *name, *unit;
  double scale;         /* of values */
  const uint32_t *rows; /* of gpu_metric_samples, by time */
  uint32_t count;
};

/* Adds the series to `table`, in so many stretches that `series_count` of them can be drawn. */
void nai_gpu_metric_timeline_put(struct nai_table *table, const struct nai_model *model,
                                 const struct nai_metric_series *series, uint32_t series_count);
