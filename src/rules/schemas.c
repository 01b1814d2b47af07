#include "rules/rules.h"
#include "table/columns.h"

static const struct nai_column_def findings_columns[] = {
    {"finding", NAI_I64, NAI_ID, "number of the finding, from 1 in order of importance", .key = true},
    NAI_NAME_COLUMN("id", "rule that found it"),
    NAI_LABEL_COLUMN("title", "the finding in one line"),
    NAI_LABEL_COLUMN("severity", "high, medium, low or info"),
    NAI_LABEL_COLUMN("scope", "what it is about: \"GPU 0\", \"GPUs 0-3\", \"process 144\" or \"run\""),
    {"device_id", NAI_I64, NAI_ID, "GPU it is about; the worst of several", .role = NAI_ROLE_DEVICE,
     .refers = "gpus.device_id"},
    NAI_PID_COLUMN("process it is about; the worst of several"),
    NAI_LABEL_COLUMN("gpus", "device ids of all GPUs it is about, the worst first, separated by spaces"),
    NAI_COUNT_COLUMN("gpu_count", "GPUs it is about"),
    {"at_stake_ns", NAI_I64, NAI_NS, "time at stake on the worst GPU: no more than this can be won there",
     .prints = NAI_AS_NS | NAI_AS_MS, .role = NAI_ROLE_METRIC, .better = NAI_BETTER_LOWER},
    {"at_stake_low_ns", NAI_I64, NAI_NS, "what is likely won at least, where the rule can tell",
     .role = NAI_ROLE_METRIC},
    NAI_PCT_COLUMN("pct_of_active", "at_stake_ns, of that GPU's active time (or of what the rule names)",
                   .better = NAI_BETTER_LOWER),
    NAI_LABEL_COLUMN("place", "where in the program, in a few words"),
    NAI_LABEL_COLUMN("reason", "why it is less severe than its price"),
    NAI_LABEL_COLUMN("part_of", "rule whose finding holds the same time: do not add"),
    {"leads", NAI_I32, NAI_ID, "1: says how to read the others, and comes before them", .role = NAI_ROLE_LABEL},
    NAI_LABEL_COLUMN("why", "why it costs time (Markdown)"),
    NAI_LABEL_COLUMN("recommendation", "what to do (Markdown)"),
    NAI_LABEL_COLUMN("verify", "commands that confirm the finding or show that it is gone, one a line"),
    NAI_LABEL_COLUMN("links", "further reading, separated by spaces"),
    NAI_LABEL_COLUMN("share_of",
                     "what pct_of_active is of: active time, or what the rule names; NULL: it does not say"),
};
const struct nai_schema nai_findings_schema =
    NAI_SCHEMA("findings", "Findings", "One row per finding, the most important first", findings_columns);

static const struct nai_column_def evidence_columns[] = {
    {"finding", NAI_I64, NAI_ID, "number of the finding it belongs to", .key = true, .refers = "findings.finding"},
    NAI_LABEL_COLUMN("text", "the fact in one line", .key = true),
    NAI_LABEL_COLUMN("table_name", "table the fact was read from", .key = true),
    {"row", NAI_I64, NAI_ID, "row of that table, from 0", .key = true},
    NAI_START_COLUMN("start_ns", "where on the timeline it begins"),
    NAI_END_COLUMN("end_ns", "where on the timeline it ends"),
    {"device_id", NAI_I64, NAI_ID, "GPU", .role = NAI_ROLE_DEVICE, .refers = "gpus.device_id"},
    NAI_PID_COLUMN("process"),
    NAI_TID_COLUMN("thread"),
    NAI_NAME_COLUMN("name", "what that row is about: usually a kernel, range, API or cause"),
};
const struct nai_schema nai_evidence_schema =
    NAI_SCHEMA("evidence", "Evidence", "One row per fact behind a finding", evidence_columns);
