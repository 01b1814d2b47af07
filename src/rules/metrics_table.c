/* The columns of table metrics. */
#include "rules/metrics.h"
#include "table/columns.h"

static const struct nai_column_def columns[NAI_METRIC_COLUMNS] = {
    [NAI_METRIC_ID] = NAI_NAME_COLUMN("metric", "id of the metric", .key = true),
    [NAI_METRIC_TITLE] = NAI_LABEL_COLUMN("title", "what people call it"),
    [NAI_METRIC_FAMILY] = NAI_LABEL_COLUMN("family", "id with {} for a metric that exists per category, copy or range"),
    [NAI_METRIC_UNIT] = NAI_LABEL_COLUMN("unit", "of value, q25, q75, noise and budget: ns, bytes, count, ..."),
    [NAI_METRIC_BETTER] = NAI_LABEL_COLUMN("better", "lower, higher or either"),
    [NAI_METRIC_KIND] = NAI_LABEL_COLUMN("kind", "exact (a repetition gives the same value) or noisy"),
    [NAI_METRIC_GATE] = NAI_LABEL_COLUMN(
        "gate",
        "gate (a regression fails a check), guard (limits what can be said), context (judged only where a budget names it) or none"),
    [NAI_METRIC_VALUE] = {"value", NAI_F64, NAI_COUNT, "the run's value, in the row's unit", .role = NAI_ROLE_METRIC},
    [NAI_METRIC_N] = NAI_COUNT_COLUMN("n", "rows behind it, on the GPU with the fewest: steps, for a value per step"),
    [NAI_METRIC_Q25] = {"q25", NAI_F64, NAI_COUNT, "first quartile over these rows; nothing for sums",
                        .role = NAI_ROLE_METRIC},
    [NAI_METRIC_Q75] = {"q75", NAI_F64, NAI_COUNT, "third quartile", .role = NAI_ROLE_METRIC},
    [NAI_METRIC_BASIS] = NAI_LABEL_COLUMN("basis", "step, second (of the GPU window) or total: what it is a value of"),
    [NAI_METRIC_SOURCE] = NAI_LABEL_COLUMN("source_table", "table it was read from"),
    [NAI_METRIC_NOISE_PCT] = NAI_PCT_COLUMN("noise_pct", "noise floor, of the value"),
    [NAI_METRIC_NOISE] = {"noise", NAI_F64, NAI_COUNT, "noise floor, in the row's unit", .role = NAI_ROLE_METRIC},
    [NAI_METRIC_BUDGET_PCT] = NAI_PCT_COLUMN("budget_pct", "budget, of the value"),
    [NAI_METRIC_BUDGET] = {"budget", NAI_F64, NAI_COUNT, "budget, in the row's unit", .role = NAI_ROLE_METRIC},
    [NAI_METRIC_BUDGET_STEP_PCT] = NAI_PCT_COLUMN("budget_step_pct", "budget, of the step time"),
    [NAI_METRIC_ABSENT] = NAI_LABEL_COLUMN("absent", "a run without it: error, zero or ignore"),
    [NAI_METRIC_NEEDS] = NAI_LABEL_COLUMN("needs", "capability of the export it needs"),
};
const struct nai_schema nai_metrics_schema =
    NAI_SCHEMA("metrics", "Metrics", "One number by which runs are compared", columns);
