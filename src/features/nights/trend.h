/* How a store's metrics went: levels, changes of them, where the newest run stands, and creep against a fixed point.
 * One trend per series; a change of environment is another series. */
#pragma once

#include "index/index.h"
#include "features/nights/store.h"
#include "features/nights/changes.h"

enum nai_trend_state {
  NAI_TREND_STEADY,
  NAI_TREND_TOO_SHORT, /* fewer good runs before than a history needs */
  NAI_TREND_GONE,      /* the newest run has other metrics, but no value of this one */
  NAI_TREND_WARN,      /* the newest run is beyond what its history allows */
  NAI_TREND_FAIL,      /* the two newest are */
  NAI_TREND_CREEP,     /* the newest level is twice the budget away from the anchor */
  NAI_TREND_STATES
};
const char *nai_trend_state_name(enum nai_trend_state state);

/* Runs of the series that are good enough to be drawn, in their order: one value per run, the median of its captures.
 */
struct nai_trend_metric {
  const char *metric, *unit, *better, *basis, *gate, *absent; /* of the index */
  int64_t definition;                                         /* of the newest value */
  double *values;
  uint32_t *runs; /* rows of index.runs, ascending in time */
  uint32_t count;
  uint32_t
      defined_from; /* the first value of the newest definition: before it another program measured something else */
  double
      *steps; /* beside `values`, of what the other parts of a step leave over: the step's time, NaN: none; or NULL */
  struct nai_trend_found found;
  struct nai_trend_rule rule;
  double budget_pct, budget; /* of the newest run; NaN: none */
  enum nai_trend_state state;
  bool is_missing;   /* it is gone: absence does not mean 0, and no change that was expected lies between */
  uint32_t since;    /* the first of the newest values that lie beyond their histories, or without one beyond the newest
                        value's; 0: none does */
  bool is_made_up;   /* the newest does, and the step is no longer for it: the state is as if it did not */
  double step_usual; /* where the newest does: the step's time in its history; NaN: unknown */
  double newest, usual;       /* the newest value, NaN: gone; and the median of its history, NaN: too short */
  double limit;               /* how far beyond that median it may lie */
  double anchor, creep_limit; /* of the baseline; NaN: there is none */
};

struct nai_trend_series {
  const char *series, *environment;                                 /* of the index */
  uint32_t run_count, failed_count, undecided_count, ignored_count; /* undecided: by their gate */
  uint32_t first_run, newest_run;                                   /* rows of index.runs; the newest by time */
  uint32_t newest_measured;                                         /* and the newest that is drawn, if any is */
  bool newest_failed;                                               /* it measured nothing */
  const char *moved_to; /* newest environment of the same name, where that has newer runs; NULL: this is it */
  struct nai_trend_metric *metrics; /* by name */
  uint32_t metric_count;
};

struct nai_trend {
  struct nai_arena arena; /* all that is made here */
  const struct nai_index *index;
  struct nai_trend_series *series;
  uint32_t series_count;
  const char *anchor; /* what creep is measured against, NULL: nothing */
};

struct nai_trend_options {
  const char *series;         /* NAME or NAME/ENVIRONMENT; NULL: all */
  const char *const *metrics; /* ids, or beginnings of ids that end in *; none: all that gate */
  size_t metric_count;
  const struct nai_store_baseline *anchor; /* or NULL */
  const char *anchor_name;
};

/* `index` is sorted, runs by series and time, and outlives the trend. NAI_EUSAGE when no series or metric is meant. */
NAI_MUST_CHECK int nai_trend_find(struct nai_trend *out, const struct nai_index *index, const struct nai_store *store,
                                  const struct nai_trend_options *options, struct nai_err *err);
void nai_trend_free(struct nai_trend *trend);

/* Whether two series are of one name, "llama" of "llama/3f2a", in whatever environments. */
bool nai_trend_same_name(const char *a, const char *b);

/* Whether a change is for the worse. More of what a step leaves over is not, while the step takes no longer. */
bool nai_trend_is_worse(const struct nai_trend_metric *metric, const struct nai_change *change);
/* Where what is wrong with the newest run began: `since`, or the newest change for the worse where nothing has begun
 * later. False: nothing is. */
bool nai_trend_begin(struct nai_change *begin, const struct nai_trend_metric *metric);
/* Of a metric whose newest value is made up for: "grew because gpu.compute.per_step shrank (6.26 ms to 1.09 ms); the
 * step did not change (40.1 ms to 40.0 ms)". */
void nai_trend_put_made_up(struct nai_buf *out, const struct nai_trend_series *series,
                           const struct nai_trend_metric *metric);
/* Rows of index.runs before and after a change. */
uint32_t nai_trend_good_run(const struct nai_trend_metric *metric, const struct nai_change *change);
uint32_t nai_trend_bad_run(const struct nai_trend_metric *metric, const struct nai_change *change);
/* Whether a gated metric is in state fail or creep. */
bool nai_trend_has_failed(const struct nai_trend *trend);
/* Whether one of its newest run's metrics gates; captures without steps have none that does. */
bool nai_trend_gates(const struct nai_trend_series *series);
/* Whether a gated metric is missing that may not be. */
bool nai_trend_is_lost(const struct nai_trend_metric *metric);
/* Whether the newest run measured nothing, or lacks a metric that is lost. */
bool nai_trend_is_unknown(const struct nai_trend_series *series);
/* Whether a series is, or there is none that gates. */
bool nai_trend_is_undecided(const struct nai_trend *trend);
/* Whether a gated metric is held against anything at all: in a young store none is. */
bool nai_trend_is_judged(const struct nai_trend *trend);
/* Puts what is not judged and why, for template many/trend_unjudged.txt: newest runs that measured nothing, series that
 * go on in another environment, series in which nothing gates, metrics that are missing, and how many have too short a
 * history. */
void nai_trend_put_unjudged(struct nai_view *view, const struct nai_trend *trend);

/* What else changed when a metric did: other metrics of the series whose changes lie within one run of this one; each
 * once. Tells how many were put into `out`, which has room for `room`. */
uint32_t nai_trend_moved(const struct nai_trend_metric **out, uint32_t room, const struct nai_trend_series *series,
                         const struct nai_trend_metric *metric, const struct nai_change *change);
/* And kernels whose time differs between the runs before and after, by at least 2 % of all kernel time; with a change
 * for the worse those that got slower come first, else those that got faster, the largest differences first. */
struct nai_trend_kernel {
  const char *name;     /* of the index */
  double before, after; /* ns per GPU and steady step (without steps, per second), medians of up to four runs; 0: the
                           kernel was not among the 50 largest */
};
enum { NAI_TREND_MAX_KERNELS = 5 };
NAI_MUST_CHECK int nai_trend_kernels(struct nai_trend_kernel out[NAI_TREND_MAX_KERNELS], uint32_t *count,
                                     const struct nai_trend *trend, const struct nai_trend_metric *metric,
                                     const struct nai_change *change, struct nai_err *err);

/* Puts what draws a metric's values (template many/trend.svg): by run, with days, levels between changes, changes,
 * spikes, annotated runs, what the newest may be, and the anchor. */
void nai_trend_put_chart(struct nai_view *map, const struct nai_trend *trend, const struct nai_trend_metric *metric,
                         const char *links);
/* Puts a link to a run's report, nothing where there is none; `run` is a row of index.runs. */
void nai_trend_put_href(struct nai_view *map, const struct nai_trend *trend, const char *links, uint32_t run);
/* Puts labels as people say them: {"commit": "1a2b"} is commit: 1a2b. */
void nai_trend_put_labels(struct nai_view *map, const char *json);
/* Exchanges a directory for one with trend.json (docs/trend.schema.json), trend.md and trend.html (rundir/publish.h);
 * `links` is where the store lies from there. */
NAI_MUST_CHECK int nai_trend_write(const struct nai_trend *trend, const char *directory, const char *links,
                                   void (*note)(const char *line), struct nai_err *err);
/* Appends trend.html, or with NULL for `links` trend.md, without drawings and links. */
NAI_MUST_CHECK int nai_trend_print(struct nai_buf *out, const struct nai_trend *trend, const char *links,
                                   struct nai_err *err);
/* Adds all changes to a table of nai_changes_schema. */
NAI_MUST_CHECK int nai_trend_add_changes(struct nai_table *to, const struct nai_trend *trend, struct nai_err *err);
