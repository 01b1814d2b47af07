/* What the checks of capture_health are about. Internal to src/analyses. */
#pragma once

#include "model/health/first_use.h"

/* Times in ns; NAI_NULL_I64 where there is none. */
struct nai_health {
  int64_t capture_ns, begin; /* length of the capture; where the program begins in it */
  bool whole;                /* no event is left out, and no work was launched before the first event */

  int64_t operations, kernels, own_kernels; /* of all GPUs; kernels that are not a runtime's own */
  int64_t launches;                         /* CUDA API calls that launch kernels or graphs */
  int64_t without_launch;                   /* operations whose launching call is missing, but for page migrations */
  bool kernels_lost;                        /* kernels were launched, none of them is in the trace */
  bool host_watched;                        /* OS calls or samples were recorded */
  int64_t ranges;                           /* NVTX */

  int64_t first_call, last_call_end, last_operation_end;
  int64_t profiler_start_ns; /* the profiler's initialisation before the first call, of all processes at once */
  int64_t profiler_ns, profiler_count; /* its rows within the GPUs' window, without what it only looks at */

  /* what speaks against a program having done its work */
  bool no_copy_back, no_release, copy_not_awaited, ended_at_once, wrote_errors;
  int64_t failing_streams; /* outputs with a traceback, a CUDA error or word of a killed program */
  int64_t failed_calls;    /* CUDA calls that returned an error, but for "not ready" */

  int64_t graphs_ns; /* nai_graphs_time */
};
NAI_MUST_CHECK int nai_health_collect(struct nai_health *out, const struct nai_model *model, struct nai_err *err);

/* What a thread times: from an event it records over launches to a second one, until it waits. Times in ns. */
struct nai_timed_sections {
  int64_t count;
  int64_t bent_count; /* those that are foreign time by a tenth or more: paid once, or the profiler's */
  int64_t foreign_ns; /* the most of that in one section; 0 for none */
  int64_t start, end; /* that section */
};
NAI_MUST_CHECK int nai_timed_sections_collect(struct nai_timed_sections *out, const struct nai_model *model,
                                              const struct nai_intervals *once, struct nai_err *err);

/* What a row of overhead_events is, in two questions. */
bool nai_is_loading(const struct nai_model *model, int64_t overhead_row);
bool nai_is_profilers(const struct nai_model *model, int64_t overhead_row);
/* Overhead of some kind inside the GPUs' window: rows, and their time as a union. */
typedef bool nai_overhead_fn(const struct nai_model *model, int64_t overhead_row);
NAI_MUST_CHECK int nai_overhead_in_window(int64_t *ns, int64_t *count, const struct nai_model *model,
                                          nai_overhead_fn *counts, struct nai_err *err);
/* Time in which graphs run that are recorded as envelopes, on whatever GPU. */
NAI_MUST_CHECK int nai_graphs_time(int64_t *ns, const struct nai_model *model, struct nai_err *err);
/* Whether what the CPU did would have been seen: OS calls or samples are in the export. */
bool nai_host_was_watched(const struct nai_model *model);
