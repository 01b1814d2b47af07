/* Samples of metrics of GPUs and network cards, for the tables about them. Internal to src/analyses. */
#pragma once

#include "model/model.h"

/* --- GPUs: rows of gpu_metric_samples --- */

/* "%" or "MHz"; NULL for metrics of other units, which are of another scale or count something. What is called MHz is
 * Hz. */
const char *nai_metric_unit(const char *metric_name);
/* The GPU that a metric is of: by its number, else the only one. NULL: none, or it did nothing. */
const struct nai_gpu *nai_metric_gpu(const struct nai_model *model, int64_t gpu_id);

/* --- network cards: rows of nic_samples --- */

void nai_nic_put_card(struct nai_table *table, int64_t row, int column, const struct nai_model *model,
                      int64_t global_id);
/* Row of nic_metrics that names a metric, -1 for none. */
int64_t nai_nic_metric_row(const struct nai_model *model, int64_t list, int64_t index);
/* Unit and factor of values: what is in bytes is a rate in bytes per ms, shown in GB/s. NULL unknown. */
const char *nai_nic_unit(double *scale, const char *metric_name, const char *unit);
/* For qsort_r over rows of the table `samples`: by card, port, metric, time. */
int nai_nic_compare(const void *a, const void *b, void *samples);
bool nai_nic_same(const struct nai_table *samples, uint32_t a, uint32_t b); /* card, port and metric */

/* --- samples of one metric, by time --- */

struct nai_series {
  const char *name, *unit;
  int32_t device; /* -1: of a card */
  int64_t card, port;
  uint32_t count;
  int64_t *start, *end;
  double *value;
};
void nai_series_free(struct nai_series *series);
/* One series after the other, GPUs first. `use` gets each and may keep nothing of it; series without a known unit, or
 * whose distance is unknown, are left out. */
typedef int nai_series_fn(void *ctx, const struct nai_series *series, struct nai_err *err);
NAI_MUST_CHECK int nai_series_each(const struct nai_model *model, nai_series_fn *use, void *ctx, struct nai_err *err);

/* What a series says of a set of times. */
struct nai_series_sum {
  double weighted, max;
  int64_t ns, covered; /* of samples; of the set */
  uint32_t count;      /* samples that lie in it for the greater part */
};
struct nai_series_sum nai_series_within(const struct nai_series *series, const struct nai_intervals *set);

/* Adds the windows of steady steps of a GPU (table steps, may be NULL). */
void nai_add_steady(struct nai_intervals *set, const struct nai_table *steps, int32_t device);
