/* Patterns that tell what kind of program a trace shows: its framework, language, libraries (rules/workload.yaml;
 * docs/writing-workload-patterns.md). */
#pragma once

#include "base/err.h"
#include "base/scope.h"
#include "base/strings.h"

/* What a program can be asked about, and what gives it away. */
enum nai_workload_aspect {
  NAI_ASPECT_ENGINE,    /* what it serves or computes with, or the application */
  NAI_ASPECT_STACK,     /* how training is spread over GPUs */
  NAI_ASPECT_FRAMEWORK, /* of computing */
  NAI_ASPECT_ROLE,
  NAI_ASPECT_LANGUAGE,
  NAI_ASPECT_HARNESS,  /* what runs tests or benchmarks */
  NAI_ASPECT_LAUNCHER, /* what started it */
  NAI_ASPECT_PRECISION,
  NAI_ASPECT_COLLECTIVE,
  NAI_ASPECT_RUNTIME,
  NAI_ASPECT_COUNT
};
enum nai_workload_sign {
  NAI_SIGN_KERNELS,   /* kernel names */
  NAI_SIGN_RANGES,    /* canonical NVTX names */
  NAI_SIGN_DOMAINS,   /* NVTX domains */
  NAI_SIGN_THREADS,   /* thread names */
  NAI_SIGN_PROCESSES, /* executables */
  NAI_SIGN_MODULES,   /* libraries seen in callchains */
  NAI_SIGN_CALLS,     /* CUDA API functions */
  NAI_SIGN_MARKS,     /* rows of program_marks: "command pytest" */
  NAI_SIGN_COUNT
};
const char *nai_workload_aspect_name(enum nai_workload_aspect aspect); /* "framework" */
const char *nai_workload_sign_name(enum nai_workload_sign sign);       /* "kernels" */

struct nai_workload_patterns;

/* The built-in patterns; those of the file `user_path` (may be NULL) are tried before them and may add values. */
NAI_MUST_CHECK int nai_workload_patterns_load(struct nai_workload_patterns **out, const char *user_path,
                                              struct nai_err *err);
void nai_workload_patterns_free(struct nai_workload_patterns *patterns);
NAI_OWNER(nai_workload_patterns)
uint64_t nai_workload_patterns_hash(
    const struct nai_workload_patterns *patterns); /* of the texts they were read from */

/* Values are numbered within their aspect, in order of first appearance. */
int nai_workload_value_count(const struct nai_workload_patterns *patterns, enum nai_workload_aspect aspect);
const char *nai_workload_value(const struct nai_workload_patterns *patterns, enum nai_workload_aspect aspect,
                               int value); /* borrowed */
/* The same as it writes itself: "PyTorch"; the value where the file says no name. Borrowed. */
const char *nai_workload_display(const struct nai_workload_patterns *patterns, enum nai_workload_aspect aspect,
                                 int value);
/* The phase map that suits a program with NVTX ranges of these names, NULL: none is known to. Borrowed. */
const char *nai_workload_phase_map(const struct nai_workload_patterns *patterns, const struct nai_strings *ranges);
/* Value of an aspect that a name of this kind is a sign of, or -1: that of the first pattern that matches, of the
 * shared ones those that other values have, too. Safe from several threads. */
int nai_workload_match(const struct nai_workload_patterns *patterns, enum nai_workload_aspect aspect,
                       enum nai_workload_sign sign, bool shared, const char *name);
/* Call once after the last match: NAI_EUSAGE when a regular expression gave up on some name. */
NAI_MUST_CHECK int nai_workload_patterns_check(const struct nai_workload_patterns *patterns, struct nai_err *err);
