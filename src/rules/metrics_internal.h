/* Compiled metrics. Internal to src/rules. */
#pragma once

#include "config/quantity.h"
#include "rules/internal.h"
#include "rules/metrics.h"

/* How the values of several rows become one. */
enum combine { COMBINE_SUM, COMBINE_MEAN, COMBINE_MEDIAN, COMBINE_P90, COMBINE_CV, COMBINE_MAX, COMBINE_MIN, COMBINES };

/* What a value is a value of. In this order the first that has one counts. */
enum basis { BASIS_STEP, BASIS_SECOND, BASIS_TOTAL, BASES };

/* Where a metric comes from. */
struct metric_source {
  struct rule *rule; /* its rows and lookups; owned by the set */
  struct formula value;
  double scale; /* of one unit of the expression, to the base unit */
  enum nai_unit unit;
  enum combine combine; /* rows of one GPU and process, or all rows where `gpus` is not given */
  bool by_gpu;
  enum combine gpus; /* then those of several GPUs */
  int each;          /* text column: a metric for each of its values; -1: none */
  int limit;         /* of a family: the largest ones only; 0: all */
  struct formula by; /* what is large, summed over a member's rows; none: the value */
};

struct metric {
  const char *id, *title, *needs;
  const struct nai_yaml *doc;
  const struct nai_yaml_node *node;
  bool disabled;
  enum nai_unit unit; /* base unit */
  const char *better, *kind, *gate, *absent;
  double noise_pct, noise, budget_pct, budget, budget_step_pct; /* NaN: not given */
  bool has_source[BASES];
  struct metric_source sources[BASES];
};

struct nai_metric_set {
  struct nai_rule_set *rules; /* its pools and documents */
  struct pool metrics;        /* struct metric */
};

extern const char *const nai_metric_basis_names[BASES];
