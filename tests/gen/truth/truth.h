/* The known answers of a planned trace, as JSON. docs/generator.md describes the format. */
#pragma once

#include "gen/base.h"

struct nai_gen_plan;

struct nai_gen_truth_options {
  const char *scenario;
  uint64_t seed;
  bool replace; /* overwrite an existing file */
};

/* Checks that `path` can be written without harm, before the trace is generated. */
int nai_gen_truth_check(const char *path, bool replace, struct nai_gen_err *err);
/* Writes the truth of a plan whose events have all been written. */
int nai_gen_truth_write(const struct nai_gen_plan *plan, const char *path, const struct nai_gen_truth_options *options,
                        struct nai_gen_err *err);
