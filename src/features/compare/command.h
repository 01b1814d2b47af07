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

/* Option table rows of struct `args`, whose field `common` is a struct nai_cmd_compare. */
#define NAI_CMD_COMPARE_OPTIONS(args)                                                                            \
  {.name = "out",                                                                                                \
   .letter = 'o',                                                                                                \
   .value = "DIR",                                                                                               \
   .help = "directory for the results, replaced as a whole",                                                     \
   .type = &nai_cli_text,                                                                                        \
   .at = offsetof(args, common.out),                                                                             \
   .otherwise = "artifacts/compare",                                                                             \
   .hint = NAI_CLI_DIRECTORY},                                                                                   \
      {.name = "budgets",                                                                                        \
       .value = "FILE",                                                                                          \
       .help = "YAML: how much worse each metric may get",                                                       \
       .type = &nai_cli_text,                                                                                    \
       .at = offsetof(args, common.budgets),                                                                     \
       .otherwise = "those of the metrics",                                                                      \
       .hint = NAI_CLI_FILE,                                                                                     \
       .suffixes = "yaml yml"},                                                                                  \
      {.name = "kernel-aliases",                                                                                 \
       .value = "FILE",                                                                                          \
       .help = "YAML patterns: kernels that one matches are one, under its name",                                \
       .type = &nai_cli_text,                                                                                    \
       .at = offsetof(args, common.aliases),                                                                     \
       .hint = NAI_CLI_FILE,                                                                                     \
       .suffixes = "yaml yml"},                                                                                  \
      {.name = "range-numbers",                                                                                  \
       .help = "compare NVTX ranges whose names differ in numbers alone one by one",                             \
       .type = &nai_cli_on,                                                                                      \
       .at = offsetof(args, common.range_numbers)},                                                              \
      {.name = "metrics",                                                                                        \
       .value = "FILE",                                                                                          \
       .help = "YAML metrics for traces that are analyzed on the way; repeatable",                               \
       .type = &nai_cli_texts,                                                                                   \
       .at = offsetof(args, common.metrics),                                                                     \
       .count_at = offsetof(args, common.metric_count),                                                          \
       .most = NAI_MAX_RULE_FILES,                                                                               \
       .hint = NAI_CLI_FILE,                                                                                     \
       .suffixes = "yaml yml"},                                                                                  \
      {.name = "allow",                                                                                          \
       .value = "CHECK",                                                                                         \
       .help = "compare although this check fails; repeatable",                                                  \
       .type = &nai_cmd_checks_type,                                                                             \
       .at = offsetof(args, common.allow),                                                                       \
       .count_at = offsetof(args, common.allow_count),                                                           \
       .most = NAI_CHECK_COUNT,                                                                                  \
       .choices = nai_cmd_checks},                                                                               \
      {.name = "series",                                                                                         \
       .value = "NAME",                                                                                          \
       .help = "what CI formats call these runs",                                                                \
       .type = &nai_cli_text,                                                                                    \
       .at = offsetof(args, common.series)},                                                                     \
      {.name = "annotate",                                                                                       \
       .value = "SYSTEM",                                                                                        \
       .help = "print annotations for a CI system; with github also append the summary to $GITHUB_STEP_SUMMARY", \
       .type = &nai_cli_word,                                                                                    \
       .at = offsetof(args, common.annotate),                                                                    \
       .choices = nai_cmd_annotations,                                                                           \
       .otherwise = "none"},                                                                                     \
      {.name = "json",                                                                                           \
       .help = "print one line of JSON that sums up the comparison",                                             \
       .type = &nai_cli_on,                                                                                      \
       .at = offsetof(args, common.json)},                                                                       \
      NAI_CMD_EXPORT_OPTION, {                                                                                   \
    .name = "quiet", .letter = 'q', .help = "print nothing but errors", .type = &nai_cli_on,                     \
    .at = offsetof(args, common.quiet)                                                                           \
  }

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
