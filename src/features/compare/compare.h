/* Two sides of captures compared: what is comparable, which metrics differ, where the time went (docs/comparing.md).
 * Everything is read from the tables of runs; nothing here opens a trace. */
#pragma once

#include "config/patterns.h"
#include "features/compare/budgets.h"
#include "features/compare/match.h"
#include "features/compare/verdict.h"
#include "tables/metrics.h"

/* --- comparability ---------------------------------------------------------------------------- */

/* X(code, name as outputs and --allow have it) */
#define NAI_CHECKS(X)                                                                                                \
  X(PROGRAM_FAILED, "program_failed"), X(NO_KERNELS, "no_kernels"), X(SAME_CONTENT, "same_content"),                 \
      X(GPU_MODEL, "gpu_model"), X(GPU_COUNT, "gpu_count"), X(PROCESS_COUNT, "process_count"),                       \
      X(NO_STEPS, "no_steps"), X(STEPS_MISSING, "steps_missing"), X(STEP_METHOD, "step_method"),                     \
      X(FEW_STEPS, "few_steady_steps"), X(GRAPH_MODE, "graph_mode"), X(CAPABILITY, "capability"),                    \
      X(DATA_QUALITY, "data_quality"), X(KERNELS_DIFFER, "kernels_differ"), X(PRODUCT_VERSION, "nsys_version"),      \
      X(DRIVER, "driver"), X(CUDA, "cuda_version"), X(TRACE_METHOD, "cuda_trace"),                                   \
      X(PROFILER_OPTIONS, "profiler_options"), X(CLOCK, "sm_clock"), X(PERIOD, "metrics_period"),                    \
      X(OPTIONS, "options"), X(LAUNCHES, "launches_per_step"), X(BATCH, "batch_differs"), X(DRIFT, "uniform_drift"), \
      X(DEFINITIONS, "definitions")
#define NAI_CHECK_ENUM(id, name) NAI_CHECK_##id
enum nai_check_code { NAI_CHECKS(NAI_CHECK_ENUM), NAI_CHECK_COUNT };
const char *nai_check_name(enum nai_check_code code); /* "same_content"; NULL past the last */
enum nai_check_level { NAI_CHECK_SOFT, NAI_CHECK_HARD };
/* What a hard reason makes undecidable. */
enum nai_check_scope { NAI_SCOPE_ALL, NAI_SCOPE_STEP, NAI_SCOPE_CAPABILITY, NAI_SCOPE_NONE };

/* Texts are literals, of the runs, or the comparison's. */
struct nai_check {
  enum nai_check_code code;
  enum nai_check_level level;
  enum nai_check_scope scope;
  const char *reason, *capability; /* of NAI_SCOPE_CAPABILITY */
  const char *says[NAI_SIDES];     /* NULL: nothing */
};

/* --- metrics ---------------------------------------------------------------------------------- */

struct nai_metric_result {
  struct METRICS_row def;    /* of the first candidate that has it, else of the base; texts are borrowed from the run */
  bool is_candidates;        /* which of the two */
  bool is_folded;            /* of ranges that differ in numbers alone: the median of a capture's */
  int64_t *rows[NAI_SIDES];  /* per capture: its row of table metrics, -1: none */
  double *values[NAI_SIDES]; /* per capture that has one, in order */
  uint32_t count[NAI_SIDES];
  uint32_t defined_differently; /* values of both sides that are left out: they are of another definition */
  struct nai_judgement judgement;
  bool gated, warn_only; /* asked about by the gate; a regression only warns */
  double q; /* p corrected for the number of metrics (Benjamini-Hochberg); NaN: gated, exact, few captures */
};

/* --- kernels ---------------------------------------------------------------------------------- */

/* Launches of one shape, summed over GPUs and captures of a side. Texts are the runs'. */
struct nai_launch_shape {
  const char *kernel, *grid, *block; /* name as demangled; "132x1x1", "": the export does not tell */
  int64_t registers, shared_bytes;   /* per thread; static and dynamic, per block; NAI_NULL_I64: unknown */
  int64_t calls, ns;
  double blocks; /* of all calls; NaN: unknown */
};
struct nai_kernel_shapes {
  const struct nai_launch_shape *list;
  uint32_t count;
};

/* --- all of it -------------------------------------------------------------------------------- */

struct nai_compare_options {
  const struct nai_budgets *budgets;  /* NULL: none */
  uint32_t allow;                     /* bits of codes whose hard reasons become soft */
  const struct nai_patterns *aliases; /* kernels of a class have its name; NULL: none */
  bool range_numbers;                 /* ranges that differ in numbers alone are compared one by one */
};

/* How much of the work of the base a capture of the new side holds, by the calls of most kernels and ranges. */
struct nai_work {
  double factor;    /* 1 where the quartiles do not tell it from that; NaN: it is not one factor, and `why` says so */
  double low, high; /* quartiles */
  const char *why;
  bool relaunched;            /* as many thread blocks in more or fewer launches: factor is 1 */
  double launches[NAI_SIDES]; /* per capture */
  bool same_results;          /* and as many bytes are copied from GPUs to the host */
};

/* The longest NVTX range that captures have equally often, in which most of the kernel time of both sides was launched,
 * and which lasts at least half as long as the GPUs are active: what the program itself calls its work. Per capture. */
struct nai_outer_range {
  const char *name; /* NULL: there is none */
  double count, ns[NAI_SIDES];
  double loading[NAI_SIDES]; /* the longest pause of a GPU for loading a module in the longest of them, ns */
};

enum nai_comparison_table {
  NAI_COMPARED_METRICS,
  NAI_COMPARED_VALUES,
  NAI_COMPARED_CHECKS,
  NAI_COMPARED_TIME,
  NAI_COMPARED_KERNELS,
  NAI_COMPARED_RANGES,
  NAI_COMPARED_PHASES,
  NAI_COMPARED_COPIES,
  NAI_COMPARED_FINDINGS,
  NAI_COMPARED_TREE,
  NAI_COMPARED_COUNT
};

/* NAI_COMPARISON to begin with. */
struct nai_comparison {
  struct nai_arena arena; /* all that is made here */
  struct nai_side sides[NAI_SIDES];
  struct nai_compare_options options;
  bool by_step;         /* sums below are per GPU and steady step */
  bool by_active;       /* else of active time, not of windows */
  int64_t unit;         /* else per GPU and repetition of the unit of so many kernels */
  struct nai_work work; /* else per GPU and as much work as a run of the base does; factor NaN: per GPU and run */
  struct nai_outer_range outer;
  double divisor[NAI_SIDES]; /* how many of these the sums are of; 0: none */
  struct nai_check *checks;
  uint32_t check_count, check_capacity;
  struct nai_metric_result *results; /* in the order of their definitions */
  uint32_t result_count;
  struct nai_kernel_uses uses[NAI_SIDES];
  struct nai_kernel_shapes shapes[NAI_SIDES]; /* of all kernels, each kernel's with the longest first */
  struct nai_match match;
  struct nai_table *tables[NAI_COMPARED_COUNT]; /* for outputs */
};
#define NAI_COMPARISON \
  { .arena = NAI_ARENA(NULL) }

/* Takes an open run into a side; the run is freed with the comparison, also on failure. NAI_EINPUT for a run without
 * the table of metrics. `path` names the run. */
NAI_MUST_CHECK int nai_comparison_add(struct nai_comparison *c, enum nai_side_id side, struct nai_run *run,
                                      const char *path, struct nai_err *err);
/* Whether a metric of a capture is of an older definition than another capture's. */
bool nai_capture_is_outdated(const struct nai_comparison *c, const struct nai_capture *capture);
/* Compares. A side may be empty: then only fixed limits are looked at. */
NAI_MUST_CHECK int nai_compare(struct nai_comparison *c, const struct nai_compare_options *options,
                               struct nai_err *err);
void nai_comparison_free(struct nai_comparison *c);

/* Whether both sides have captures. */
bool nai_comparison_is_whole(const struct nai_comparison *c);
/* Whether times of both sides are of the same work. */
bool nai_comparison_has_basis(const struct nai_comparison *c);
/* What sums are per, beside a GPU: "step", "repetition", "run of the base's work" or "run". */
const char *nai_comparison_per(const struct nai_comparison *c);
/* What sums over a side are divided by, at least 1. */
double nai_comparison_divisor(const struct nai_comparison *c, int side);
/* What sums without steps are of: gpu_active, or gpu_utilization where a run lacks that. */
enum nai_gpu_time {
  NAI_GPU_WHOLE,
  NAI_GPU_COMPUTE,
  NAI_GPU_EXPOSED_COMM,
  NAI_GPU_EXPOSED_COPY,
  NAI_GPU_IDLE,
  NAI_GPU_TIMES
};
int64_t nai_gpu_time(const struct nai_comparison *c, int side, enum nai_gpu_time part); /* of all GPUs, ns */
bool nai_gpu_active_is_known(const struct nai_comparison *c);
/* Of a capture as its report's first line has it: the longest of its GPUs, ns; idle in percent, from GPU to GPU. */
double nai_gpu_longest(const struct nai_comparison *c, int side, uint32_t capture);
double nai_gpu_longest_mean(const struct nai_comparison *c, int side); /* over its captures */
struct nai_gpu_share {
  double low, high; /* infinite without GPUs */
};
struct nai_gpu_share nai_gpu_idle_pct(const struct nai_comparison *c, int side, uint32_t capture);
/* Whether a metric is what the other parts of a step leave over: idle time, exposed communication and copies. */
bool nai_metric_is_remainder(const char *metric, const char *basis);
/* A result by the id of its metric, NULL when there is none. */
const struct nai_metric_result *nai_comparison_metric(const struct nai_comparison *c, const char *id);
/* The first hard reason against comparing at all, NULL when there is none. */
const struct nai_check *nai_comparison_obstacle(const struct nai_comparison *c);
