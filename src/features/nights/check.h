/* What check and bisect share. Internal to src/features/nights. */
#pragma once

#include "features/compare/command.h"

struct nai_check_args {
  struct nai_cmd_compare common;
  const char *baselines[NAI_CMD_MAX_CAPTURES];
  size_t baseline_count;
  const char *store, *suite;
  bool all;
};

/* The row of an option table for baselines, in those fields. */
#define NAI_CHECK_BASELINE_OPTION(list, count)                                                                        \
  NAI_CLI_LIST(texts, list, count, "baseline", "SELECTOR",                                                            \
               "what to compare with: a run, a trace, or a directory of runs; with --store also NAME of a baseline, " \
               "run:ID, last-good or median:N; all words up to the next option",                                      \
               .many = true, .hint = NAI_CLI_DIRECTORY)

/* Compares runs with the baselines of `args`, writes everything, prints. *gate: the outcome. */
NAI_MUST_CHECK int nai_check_runs(struct nai_gate *gate, struct nai_comparison *c, const struct nai_check_args *args,
                                  const char *const *runs, size_t count, struct nai_err *err);
