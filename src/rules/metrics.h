/* Metrics: numbers by which runs are compared, defined in YAML (metrics/default.yaml, docs/writing-metrics.md) with the
 * expressions of rules, and evaluated to the table `metrics` of each run. Whoever compares runs reads only that table.
 */
#pragma once

#include "base/err.h"
#include "table/table.h"
#include "tables/metrics.h"

struct nai_metric_set;

/* Compiles the built-in metrics (asset metrics/default.yaml), then each file of `paths`, which adds metrics, replaces
 * those with the same id, and switches some off (`disabled: true`). NAI_EUSAGE with file:line:column. The schemas are
 * borrowed and outlive the set. */
NAI_MUST_CHECK int nai_metrics_load(struct nai_metric_set **out, const char *const *paths, size_t path_count,
                                    const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err);
/* One document from memory, without the built-in one. */
NAI_MUST_CHECK int nai_metrics_parse(struct nai_metric_set **out, const char *file, const char *text, size_t len,
                                     const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err);
void nai_metrics_free(struct nai_metric_set *set);
uint64_t nai_metrics_hash(const struct nai_metric_set *set); /* of the texts */

/* Evaluates all metrics over a run's tables (ends with NULL); a table that is absent or has no rows gives nothing. The
 * result is the caller's: ordered as defined, members of a family by name. */
NAI_MUST_CHECK int nai_metrics_evaluate(struct nai_table **out, const struct nai_metric_set *set,
                                        const struct nai_table *const *tables, struct nai_err *err);
