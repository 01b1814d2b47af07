/* What a page of many runs sums up, found while indexes of some of them pass by. Internal to src/index. */
#pragma once

#include "base/arena.h"
#include "base/strings.h"
#include "index/index.h"

/* A rule, and the runs it found something in; by severity, then by number of runs. */
struct nai_index_rule {
  const char *id, *title; /* the title of its worst finding */
  int severity;
  uint32_t runs;
  int64_t saving_ns; /* the most in one run, NAI_NULL_I64: no saving */
  const char *path;  /* of that run's report */
  const char *run;
};

/* A metric over all runs, by name and by what it is a value of. */
struct nai_index_spread {
  const char *metric, *unit, *better, *basis, *gate;
  uint32_t runs;              /* that have a value, in one capture or several */
  double least, median, most; /* over all captures */
  const char *worst;          /* the run with the worst value */
};

/* A run, and how bad it is; the worst first: those that failed, then by severity and share of the capture, or by saving
 * where that is not known. */
struct nai_index_entry {
  const char *run;
  uint32_t row; /* in the order in which they passed by */
  bool analyzed;
  int severity;      /* -1: none */
  double pct;        /* saving of its worst finding, of the capture; -1: none */
  int64_t saving_ns; /* NAI_NULL_I64: none */
};

/* Zeroed to begin with. */
struct nai_index_sums {
  struct nai_arena arena;    /* of all arrays */
  struct nai_strings texts;  /* of all texts */
  struct nai_strings ids;    /* of rules */
  struct nai_strings series; /* "METRIC\nBASIS" */
  struct nai_index_summed_rule *summed_rules;
  struct nai_index_summed_metric *summed_metrics;
  uint32_t *runs; /* text of each entry */
  uint32_t rule_capacity, metric_capacity, entry_capacity, run_capacity;
  /* What is asked for. */
  struct nai_index_rule *rules;
  struct nai_index_spread *spreads;
  struct nai_index_entry *entries;
  uint32_t rule_count, spread_count, entry_count;
  int64_t ok, failed; /* runs of status ok; runs that were not analyzed */
  bool has_series, has_verdict;
};

/* Adds what a sorted index says of its runs, which are others than before. */
NAI_MUST_CHECK int nai_index_sums_add(struct nai_index_sums *sums, const struct nai_index *index, struct nai_err *err);
/* Makes what is asked for; nothing is added any more. */
NAI_MUST_CHECK int nai_index_sums_finish(struct nai_index_sums *sums, struct nai_err *err);
void nai_index_sums_free(struct nai_index_sums *sums);

/* A part of index.html, from 0: some entries, and an index of these runs alone, in that order. page.c. */
struct nai_index_part {
  const struct nai_index_sums *sums;
  const struct nai_index_entry *entries;
  const struct nai_index *index;
  int64_t number, count;
};
NAI_MUST_CHECK int nai_index_print_part(struct nai_buf *out, const struct nai_index_part *part, struct nai_err *err);
