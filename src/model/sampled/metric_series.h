/* Samples of metrics of GPUs and network cards. Part SAMPLED of the model. Times are ns. */
#pragma once

#include "model/model.h"

struct nai_sampled {
  struct nai_groups gpus; /* rows of gpu_metric_samples by metric, then time */
  uint32_t *cards;        /* rows of nic_metric_samples by card, port, metric, then time */
};

/* The samples of one metric, by time. */
struct nai_metric_series {
  const char *name, *unit;   /* of GPUs "%" or "MHz"; NULL unknown */
  const struct nai_gpu *gpu; /* NULL: of a card */
  int64_t device_id;         /* NULL: of a card */
  const char *card;          /* its name, else its number; NULL: of a GPU */
  int64_t port;              /* of a card */
  bool bytes;                /* what a card sends or receives: values in GB/s */
  uint32_t count;
  int64_t *start, *end; /* what a sample tells of: of a GPU the median distance of samples, of two the earlier one */
  int64_t period;       /* of a GPU: that distance, of two the later one */
  double *value;
};
/* One series after the other. `use` gets each and may keep nothing of it. Left out are metrics of GPUs that did
 * nothing, that are in neither of these units or have one sample, and metrics of cards without a name. */
typedef int nai_series_fn(void *ctx, const struct nai_metric_series *series, struct nai_err *err);
NAI_MUST_CHECK int nai_gpu_series_each(const struct nai_model *model, nai_series_fn *use, void *ctx,
                                       struct nai_err *err);
NAI_MUST_CHECK int nai_card_series_each(const struct nai_model *model, nai_series_fn *use, void *ctx,
                                        struct nai_err *err);

/* What a series says of a set of times. */
struct nai_series_sum {
  int64_t length;        /* of the set */
  int64_t covered;       /* of it: samples tell of */
  double coverage_pct;   /* the same as a share */
  int64_t count;         /* samples that lie in it for the greater part */
  int64_t ns;            /* of samples that lie in it */
  double weighted;       /* values times that */
  double mean, p50, max; /* NaN for fewer than 20 samples */
};
/* p50 stays NaN. */
struct nai_series_sum nai_series_within(const struct nai_metric_series *series, const struct nai_intervals *set);
/* `room` has a cell per sample. Samples of GPUs last for `period`. */
struct nai_series_sum nai_series_during(const struct nai_metric_series *series, struct nai_coverage *set, double *room);

/* Adds a set to another one. */
NAI_MUST_CHECK int nai_intervals_unite(struct nai_intervals *into, const struct nai_intervals *more,
                                       struct nai_err *err);
/* Adds the windows of steady steps on a GPU to an empty set; device_id NULL: on any. */
NAI_MUST_CHECK int nai_steady_windows(struct nai_intervals *out, const struct nai_table *steps, int64_t device_id,
                                      struct nai_err *err);
