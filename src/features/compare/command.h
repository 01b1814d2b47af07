/* What the commands compare and check share. */
#pragma once

#include "command/command.h"
#include "features/compare/suite.h"
#include "features/compare/write.h"
#include "pipeline/options.h"

enum { NAI_CMD_MAX_CAPTURES = 256 };

/* Formats beside compare.md, compare.json and tables/. */
enum nai_cmd_format { NAI_FORMAT_JUNIT, NAI_FORMAT_PROM, NAI_FORMAT_BMF, NAI_FORMAT_GHA, NAI_FORMAT_COUNT };

/* Options that both commands have. */
struct nai_cmd_compare {
  const char *out, *budgets, *series, *annotate, *aliases;
  const char *allow[NAI_CHECK_COUNT];
  size_t allow_count;
  const char *metrics[NAI_MAX_RULE_FILES];
  size_t metric_count;
  bool quiet, json, range_numbers;
  unsigned formats;        /* bits of enum nai_cmd_format */
  struct nai_suite *suite; /* gets a row, of the program `series`; or NULL */
};

/* Option table rows of a command whose NAI_CLI_ARGS has a field `in`, a struct nai_cmd_compare. */
#define NAI_CMD_COMPARE_OPTIONS(in)                                                                                    \
  NAI_CLI_OPTION(text, in.out, "out", "DIR", "directory for the results, replaced as a whole", .letter = 'o',          \
                 .otherwise = "artifacts/compare", .hint = NAI_CLI_DIRECTORY),                                         \
      NAI_CLI_OPTION(text, in.budgets, "budgets", "FILE", "YAML: how much worse each metric may get",                  \
                     .otherwise = "those of the metrics", NAI_CLI_FILES("yaml yml")),                                  \
      NAI_CLI_OPTION(text, in.aliases, "kernel-aliases", "FILE",                                                       \
                     "YAML patterns: kernels that one matches are one, under its name", NAI_CLI_FILES("yaml yml")),    \
      NAI_CLI_SWITCH(on, in.range_numbers, "range-numbers",                                                            \
                     "compare NVTX ranges whose names differ in numbers alone one by one"),                            \
      NAI_CLI_LIST(texts, in.metrics, in.metric_count, "metrics", "FILE",                                              \
                   "YAML metrics for traces that are analyzed on the way; repeatable", NAI_CLI_FILES("yaml yml")),     \
      NAI_CLI_OTHER(nai_cmd_checks_type, "allow", "CHECK", "compare although this check fails; repeatable",            \
                    .at = offsetof(NAI_CLI_ARGS, in.allow), .count_at = offsetof(NAI_CLI_ARGS, in.allow_count),        \
                    .most = NAI_CHECK_COUNT, .choices = nai_cmd_checks),                                               \
      NAI_CLI_OPTION(text, in.series, "series", "NAME", "what CI formats call these runs"),                            \
      NAI_CLI_OPTION(word, in.annotate, "annotate", "SYSTEM",                                                          \
                     "print annotations for a CI system; with github also append the summary to $GITHUB_STEP_SUMMARY", \
                     .choices = nai_cmd_annotations, .otherwise = "none"),                                             \
      NAI_CLI_SWITCH(on, in.json, "json", "print one line of JSON that sums up the comparison"),                       \
      NAI_CMD_EXPORT_OPTION, NAI_CLI_SWITCH(on, in.quiet, "quiet", "print nothing but errors", .letter = 'q')

extern const struct nai_cli_type nai_cmd_checks_type;
nai_cli_choices_fn nai_cmd_checks, nai_cmd_annotations;

/* Opens a run or a trace for a side. */
NAI_MUST_CHECK int nai_cmd_add_side(struct nai_comparison *c, enum nai_side_id side, const char *path,
                                    const struct nai_cmd_compare *args, struct nai_err *err);
/* Appends a document to what $GITHUB_STEP_SUMMARY names, if that is set. */
NAI_MUST_CHECK int nai_cmd_append_summary(const struct nai_buf *markdown, struct nai_err *err);
/* Compares, writes everything, prints. *gate: the outcome. */
NAI_MUST_CHECK int nai_cmd_compare_run(struct nai_gate *gate, struct nai_comparison *c,
                                       const struct nai_cmd_compare *args, struct nai_err *err);
