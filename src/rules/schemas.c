#include "rules/rules.h"

static const struct nai_column_def findings_columns[] = {
    {"finding", NAI_I64, NAI_ID, "number of the finding, from 0 in order of importance", NULL},
    {"id", NAI_STR, NAI_TEXT, "rule that found it", NULL},
    {"title", NAI_STR, NAI_TEXT, "the finding in one line", NULL},
    {"severity", NAI_STR, NAI_TEXT, "high, medium, low or info", NULL},
    {"scope", NAI_STR, NAI_TEXT, "what it is about: \"GPU 0\", \"GPUs 0-3\", \"process 144\" or \"run\"", NULL},
    {"device_id", NAI_I64, NAI_ID, "GPU it is about; the worst of several", NULL},
    {"pid", NAI_I64, NAI_ID, "process it is about; the worst of several", NULL},
    {"impact_ns", NAI_I64, NAI_NS, "time at stake, an upper bound of what fixing it can save", NULL},
    {"why", NAI_STR, NAI_TEXT, "why it costs time (Markdown)", NULL},
    {"recommendation", NAI_STR, NAI_TEXT, "what to do (Markdown)", NULL},
    {"verify", NAI_STR, NAI_TEXT, "commands that confirm the finding or show that it is gone, one a line", NULL},
    {"links", NAI_STR, NAI_TEXT, "further reading, separated by spaces", NULL},
};
const struct nai_schema nai_findings_schema =
    NAI_SCHEMA("findings", "Findings", "One row per finding, the most important first", findings_columns);

static const struct nai_column_def evidence_columns[] = {
    {"finding", NAI_I64, NAI_ID, "finding it belongs to", NULL},
    {"text", NAI_STR, NAI_TEXT, "the fact in one line", NULL},
    {"table_name", NAI_STR, NAI_TEXT, "table the fact was read from", NULL},
    {"row", NAI_I64, NAI_ID, "row of that table, from 0", NULL},
    {"start_ns", NAI_I64, NAI_TIMESTAMP_NS, "where on the timeline it begins", NULL},
    {"end_ns", NAI_I64, NAI_TIMESTAMP_NS, "where on the timeline it ends", NULL},
    {"device_id", NAI_I64, NAI_ID, "GPU", NULL},
    {"pid", NAI_I64, NAI_ID, "process", NULL},
    {"tid", NAI_I64, NAI_ID, "thread", NULL},
    {"name", NAI_STR, NAI_TEXT, "first text of that row: usually the kernel, range, API or cause", NULL},
};
const struct nai_schema nai_evidence_schema =
    NAI_SCHEMA("evidence", "Evidence", "One row per fact behind a finding", evidence_columns);
