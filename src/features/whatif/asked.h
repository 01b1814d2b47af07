/* What of a trace a command is about. Internal to src/features/whatif. */
#pragma once

#include "command/asking.h"
#include "model/critical/path.h"

/* Of commands whose NAI_CLI_ARGS have a member `asked`. */
struct asked {
  int64_t step; /* INT64_MIN: none is asked for */
  struct nai_cli_stretch window;
};
#define ASKED_OPTIONS                                                                                             \
  NAI_CLI_OPTION(int64, asked.step, "step", "N",                                                                  \
                 "of this step, by its number in table steps, or repetition of a unit, from 0", .min = 0,         \
                 .max = INT64_MAX, .otherwise = "all steady ones"),                                               \
      NAI_CLI_OPTION(stretch, asked.window, "window", "START END",                                                \
                     "of the operations inside this stretch, in seconds since session start; +0 +20ms: from the " \
                     "first event on",                                                                            \
                     NAI_CMD_SECONDS, .otherwise = "everything")

/* NULL where all is asked for, else `room`. The run tells when a trace begins. */
NAI_MUST_CHECK int nai_asked_place(const struct nai_path_asked **out, struct nai_path_asked *room, struct asked *asked,
                                   struct nai_run *run, struct nai_err *err);
