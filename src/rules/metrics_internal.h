/* Compiled metrics. Internal to src/rules. */
#pragma once

#include "rules/internal.h"
#include "rules/metrics.h"

/* What a value is a value of. In this order the first that has one counts. */
enum basis { BASIS_STEP, BASIS_SECOND, BASIS_TOTAL, BASES };

/* Where a metric comes from. */
struct metric_source {
  const struct nai_schema *schema; /* NULL: no such basis */
  struct expression *statement;    /* a row per member, by name: enum metric_column */
  bool each;                       /* a metric for each member of a family */
  bool of_kernels;                 /* these are names of kernels, which titles shorten */
  double scale;                    /* of one unit of the value, to the base unit */
  enum nai_unit unit;              /* base unit */
};
/* The quartiles are NULL where rows have none; the number of rows is that of the GPU with the fewest. */
enum metric_column { METRIC_MEMBER, METRIC_VALUE, METRIC_Q25, METRIC_Q75, METRIC_ROWS };

/* Amounts, NaN where not given: of the value, in its unit, of the step time. */
struct amounts {
  double pct, absolute, step_pct;
};

struct metric {
  const char *id, *title, *needs;
  const struct nai_yaml *doc;
  const struct nai_yaml_node *node;
  bool disabled;
  int64_t definition; /* raised when what it measures changes */
  enum nai_unit unit; /* base unit */
  const char *better, *kind, *gate, *absent;
  struct amounts noise, budget;
  struct metric_source sources[BASES];
};

/* Lies in the arena of its `rules`, which have the documents and what is compiled of them. */
struct nai_metric_set {
  struct nai_rule_set *rules;
  struct metrics LIST_OF(struct metric) metrics;
};

/* metrics_source.c */
NAI_MUST_CHECK int nai_metric_source_compile(struct metric_source *out, struct nai_rule_set *set,
                                             const struct nai_yaml *doc, const struct nai_yaml_node *map,
                                             struct nai_err *err);
