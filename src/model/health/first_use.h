/* What a process pays once. */
#pragma once

#include "model/model.h"

/* Processes and threads pay side by side: times are those of a single call, or unions, unless they say that they are
 * sums. */
struct nai_first_use {
  int64_t contexts;                        /* processes with a long call before their first work: context creation */
  int64_t context_ns;                      /* the longest of these calls */
  const char *context_call;                /* its name, NULL for none */
  int64_t ready_ns;                        /* of it, until the profiler had attached to the context; 0: before it
                                              began, NAI_NULL_I64: not recorded */
  int64_t unrecorded_ns;                   /* without a call, while the profiler attached to a new context; 0: none */
  int64_t loading_rows, loading_rows_ns;   /* records of module and function loading */
  int64_t loading_calls, loading_calls_ns; /* CUDA calls that load modules */
  int64_t slow_launches, slow_launches_ns; /* first launches of a kernel at least 1 ms over its median, and by
                                              how much, summed */
  int64_t total_ns;                        /* union of all of these */
  struct nai_intervals once;               /* that union */
};
NAI_MUST_CHECK int nai_first_use_collect(struct nai_first_use *out, const struct nai_model *model, struct nai_err *err);
void nai_first_use_free(struct nai_first_use *first_use);
