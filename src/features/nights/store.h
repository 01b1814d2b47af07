/* A store: runs of nights, kept for ever, with what is said about them.
 *
 *   STORE/store.json                       format
 *   STORE/runs/NAME/ENVIRONMENT/ID/        one run: run.json, summary.bin, captures/N (a run in one
 *                                          file, with --keep all its directory)
 *   STORE/baselines/NAME.json              runs by id: a pointer, never a copy
 *   STORE/annotations.csv                  what people know about runs
 *   STORE/index.sqlite .csv .html          derived, when somebody asks: deleting them loses nothing
 *
 * A series is NAME/ENVIRONMENT: what is measured, and a hash of what it ran on. Runs of one series can be compared.
 * Every run is kept, failed or not; what is left out, a baseline decides. Ids and the order of runs come from the
 * captures, never from a clock or from file times. Files appear by renaming; the directory is locked while annotations
 * or the index are written. Adding a run costs what the run costs, whatever else there is: it reads no other run. */
#pragma once

#include "base/strings.h"
#include "index/index.h"
#include "rundir/run.h"

enum { NAI_STORE_MAX_CAPTURES = 64, NAI_STORE_NAME_MAX = 100, NAI_STORE_MAX_LABELS = 32 };

/* A run as run.json has it. */
struct nai_store_run {
  const char *id;
  const char *series;      /* NAME/ENVIRONMENT */
  const char *group;       /* the series that it counts in: its own; of a night in NAME/unknown another one of NAME */
  const char *environment; /* in words: "1 x NVIDIA H100 80GB HBM3; nsys 2026.2" */
  int64_t utc_ns;          /* start of the first capture; NAI_NULL_I64: unknown, such runs come last */
  const char *status;      /* "ok", or why there are no captures: "failed", "damaged" */
  const char *error;       /* "" for none */
  const char *verdict;     /* of a gate: "pass", "fail", "undecided", "error"; "" for none */
  const char *labels;      /* JSON object, "" for none */
  int captures;
  const char *const *traces; /* file names of the captures' traces, "" where it is not known */
  int trace_count;           /* 0: an earlier version wrote the record */
  int64_t bytes;             /* of all traces */
  char record[24];           /* hash of run.json and the run's annotations */
  const char *note;          /* annotations in one line, "" for none */
  bool ignored, expected;    /* annotations ignore; expected-change or environment */
  bool thinned;              /* its captures are gone, its summary stays */
  bool told;                 /* annotations.csv was asked about it */
  bool damaged;              /* run.json cannot be read: `error` says why, id and series are where it lies */
};

struct nai_store {
  struct nai_arena arena;     /* of all texts */
  const char *path;           /* absolute */
  struct nai_store_run *runs; /* that were read: by series, then UTC, then id */
  uint32_t count, capacity;
  uint32_t *by_id; /* their numbers in the order of ids */
};

/* A store of which no run is read yet. With `create` a missing or empty directory becomes one; else NAI_EUSAGE. */
NAI_MUST_CHECK int nai_store_open(struct nai_store *out, const char *path, bool create, struct nai_err *err);
/* Reads the runs of NAME or NAME/ENVIRONMENT, of all series with NULL; once per store. A run whose record cannot be
 * read is a damaged one. */
NAI_MUST_CHECK int nai_store_read(struct nai_store *store, const char *series, struct nai_err *err);
/* Names, NAME/ENVIRONMENT, of all series or of those that are meant, in the order of their names. */
NAI_MUST_CHECK int nai_store_series(struct nai_strings *names, const struct nai_store *store, const char *series,
                                    struct nai_err *err);
/* Reads the runs of that id, in whatever series, unless one was read before. Runs that were found before lie elsewhere
 * then. */
NAI_MUST_CHECK int nai_store_read_id(struct nai_store *store, const char *id, struct nai_err *err);
void nai_store_free(struct nai_store *store);
/* Removes what killed processes left half written: in the whole store, or only where a run is added, removed or told.
 */
void nai_store_sweep(const struct nai_store *store);
void nai_store_sweep_run(const struct nai_store *store, const struct nai_store_run *run);
/* Waits until nobody else changes what is said of runs, or the index; `*lock` is to be closed. NAI_EIO after a minute.
 */
NAI_MUST_CHECK int nai_store_lock(int *lock, const struct nai_store *store, struct nai_err *err);
/* NULL when none of those that were read has that id. */
const struct nai_store_run *nai_store_find(const struct nai_store *store, const char *id);
/* Directory of a run, or of one of its captures (-1: the run). NAI_EUSAGE when the name is too long. */
NAI_MUST_CHECK int nai_store_directory(char out[PATH_MAX], const struct nai_store *store,
                                       const struct nai_store_run *run, int capture, struct nai_err *err);
bool nai_store_is_good(const struct nai_store_run *run);
/* Whether a series is meant by NAME or NAME/ENVIRONMENT; NULL means all. */
bool nai_store_matches(const char *series, const char *wanted);

/* Forgets the runs that lack one of these labels, "KEY=VALUE". NAI_EUSAGE when it is no label, or none is left. */
NAI_MUST_CHECK int nai_store_keep_labelled(struct nai_store *store, const char *const *labels, size_t count,
                                           struct nai_err *err);

/* --- adding ------------------------------------------------------------------------------------- */

struct nai_store_add {
  struct nai_run *const *captures; /* opened */
  int capture_count;               /* 0: a run that failed before there was one */
  const char *name;                /* of the series; NULL: "default" */
  const char *id;                  /* NULL: made from the captures */
  int64_t utc_ns;                  /* NAI_NULL_I64: that of the first capture */
  const char *error;               /* why it failed; NULL: it did not */
  uint64_t refused;                /* hash of traces that could not be read; 0: none */
  const char *verdict;             /* or NULL */
  const char *environment;         /* what else it ran on, in words; or NULL */
  const char *const *labels;       /* "KEY=VALUE" */
  size_t label_count;
  bool whole;         /* captures as directories, not each in one file */
  const char *commit; /* label commit where `labels` has none, if it is a hash; or NULL */
};
enum nai_store_added {
  NAI_STORE_NEW,
  NAI_STORE_SAME, /* it is there already */
  NAI_STORE_TOLD  /* so it is, and its verdict or labels are those of this call now */
};
/* Adds a run and appends its id; needs no runs that were read, and forgets those. The same run again is fine; another
 * one of that id, or the same as of another series, is NAI_EUSAGE, and so is a run without anything that tells it from
 * others: captures, traces, time or id. A capture that could not be compared is NAI_EINPUT, and so is a run that is
 * there and cannot be any more. */
NAI_MUST_CHECK int nai_store_add(struct nai_buf *id, enum nai_store_added *added, struct nai_store *store,
                                 const struct nai_store_add *run, struct nai_err *err);
/* What a capture ran on, appended: GPU models and their number, processes, the release of Nsight Systems, and `more`
 * (or NULL). Captures with other words belong to other series. */
NAI_MUST_CHECK int nai_store_environment(struct nai_buf *out, struct nai_run *run, const char *more,
                                         struct nai_err *err);

/* --- removing ----------------------------------------------------------------------------------- */

/* Removes runs, all or, where one may not go, none: NAI_EUSAGE for what a baseline names, with what history begins, or
 * whose directory holds files that are not the store's. */
NAI_MUST_CHECK int nai_store_remove(struct nai_store *store, const char *const *ids, size_t count, struct nai_err *err);

/* --- saying ------------------------------------------------------------------------------------- */

/* `kind` is expected-change, ignore or environment. */
NAI_MUST_CHECK int nai_store_annotate(struct nai_store *store, const char *id, const char *kind, const char *text,
                                      struct nai_err *err);
const char *nai_store_kind(size_t index); /* NULL past the last */
/* Points a baseline at runs. */
NAI_MUST_CHECK int nai_store_set_baseline(const struct nai_store *store, const char *name, const char *const *ids,
                                          size_t count, const char *reason, struct nai_err *err);
/* A baseline's runs; NAI_EUSAGE when there is none of that name. */
struct nai_store_baseline {
  struct nai_strings ids;
  char *reason;
};
NAI_MUST_CHECK int nai_store_baseline(struct nai_store_baseline *out, const struct nai_store *store, const char *name,
                                      struct nai_err *err);
void nai_store_baseline_free(struct nai_store_baseline *baseline);
/* Names of all baselines, in their order. */
NAI_MUST_CHECK int nai_store_baselines(struct nai_strings *names, const struct nai_store *store, struct nai_err *err);

/* --- selecting ---------------------------------------------------------------------------------- */

/* The captures that a selector stands for. */
struct nai_store_selection {
  struct nai_strings directories; /* artifacts directories */
  struct nai_strings left_out;    /* for people, a line each: good runs that cannot be read, or compared by the step */
};
/* What is to be compared with them, for last-good and median:N. */
struct nai_store_judged {
  const char *series;          /* NAME or NAME/ENVIRONMENT; NULL where the store has one */
  struct nai_run *const *runs; /* runs of the store with a capture of theirs are left out; of several series, the one in
                                  their environment is meant */
  size_t count;
};
/* NAME (a baseline), run:ID, last-good or median:N; the latter two are of the runs that were read, the others are read
 * where they were not. Good runs are those that did not fail, that passed their
 * gate or had none, and that no annotation ignores; none from before the last change that was expected, none of unknown
 * time where one of known time is found, and none that cannot be read, where another can. Where steps were found
 * otherwise in less than half of the newest N than in what is judged, older runs take the place of these. NAI_EUSAGE
 * when the selector stands for nothing, NAI_EINPUT when only for what cannot be read. */
NAI_MUST_CHECK int nai_store_select(struct nai_store_selection *out, struct nai_store *store, const char *selector,
                                    const struct nai_store_judged *judged, struct nai_err *err);
/* The captures of one run of the store at `path`. */
NAI_MUST_CHECK int nai_store_select_run(struct nai_store_selection *out, const char *path, const char *id,
                                        struct nai_err *err);
/* Whether a selector can stand for something in the store, of whatever series: a mistyped one is NAI_EUSAGE. */
NAI_MUST_CHECK int nai_store_check_selector(struct nai_store *store, const char *selector, struct nai_err *err);
void nai_store_selection_free(struct nai_store_selection *selection);

/* --- the index ---------------------------------------------------------------------------------- */

/* What becomes of a run's summary that is missing or damaged, and how much of one that is there is wanted. */
enum nai_store_summaries {
  NAI_STORE_READ,
  NAI_STORE_KEEP,   /* it is written */
  NAI_STORE_METRICS /* neither findings nor kernels are wanted */
};
/* Fills an index with the runs that were read: from their summaries, and where one is missing or damaged from their
 * captures. A capture that cannot be read makes its run a failed one. */
NAI_MUST_CHECK int nai_store_index(struct nai_index *out, const struct nai_store *store, enum nai_store_summaries how,
                                   struct nai_err *err);

/* --- upgrading ---------------------------------------------------------------------------------- */

struct nai_store_upgrading {
  const char *const *metrics; /* files that define metrics, as runs were analyzed with */
  size_t metric_count;
  bool dry_run;
  /* Of each run that is analyzed again, or `why_not`; not of those that this program analyzed so. */
  void (*tell)(void *ctx, const struct nai_store_run *run, const char *why_not);
  void *ctx;
};
/* Analyzes captures again, of the runs that were read, that another version of this program analyzed. */
NAI_MUST_CHECK int nai_store_upgrade(const struct nai_store *store, const struct nai_store_upgrading *how,
                                     struct nai_err *err);

/* --- retention ---------------------------------------------------------------------------------- */

struct nai_store_pruning {
  int64_t keep_days;                 /* before the newest run of the store */
  int64_t weekly_days, monthly_days; /* up to that age one good run a week, then one a month, keeps its captures, of
                                        each series; both negative: all do */
  const struct nai_strings
      *keep, /* ids of runs to keep whole, beside those of baselines and those that failed; or NULL */
      *near; /* and of runs that keep their captures; or NULL */
  bool dry_run;
  /* Of each run that is pruned; `thinned` says why its captures go, NULL: they stay. */
  void (*tell)(void *ctx, const struct nai_store_run *run, int64_t bytes, const char *thinned);
  void *ctx;
};
/* Packs the directories of old runs, each into one file, or removes them. What the index is made of stays for ever. */
NAI_MUST_CHECK int nai_store_prune(const struct nai_store *store, const struct nai_store_pruning *how,
                                   struct nai_err *err);
