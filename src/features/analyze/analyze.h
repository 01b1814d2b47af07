/* The command line of nsys-ai analyze, and what is printed of a run. Internal to src/features/analyze. */
#pragma once

#include "command/command.h"
#include "pipeline/analyze.h"

struct analyze_args {
  struct nai_options run;
  struct nai_cli_stretch trim;
  int fail_on;        /* a choice of --fail-on, -1: never */
  const char *redact; /* the map; NULL: not asked for */
  bool quiet, verbose, json;
};

/* The summary, as --json and --quiet ask. */
NAI_MUST_CHECK int nai_cmd_analyze_print(const struct analyze_args *args, const struct nai_result *result,
                                         struct nai_err *err);
/* To stderr: what each stage took, and why its nodes ran. */
void nai_cmd_analyze_print_stages(const struct nai_result *result);
/* Makes a --trim that counts from the first event of the trace one of the session's time. */
NAI_MUST_CHECK int nai_cmd_analyze_place_trim(struct nai_options *o, struct nai_err *err);
/* Puts into the error of an empty --trim where the events are that it missed; its status. */
NAI_MUST_CHECK int nai_cmd_analyze_explain_trim(const struct nai_options *o, struct nai_err *err);
