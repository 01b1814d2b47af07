/* What a page of many runs sums up. Arrays are the arena's; texts are the index's. Internal to src/index. */
#pragma once

#include "base/arena.h"
#include "index/index.h"

/* A rule, and the runs it found something in; by severity, then by number of runs. */
struct nai_index_rule {
  const char *id, *title; /* the title of its worst finding */
  int severity;
  uint32_t runs;
  int64_t saving_ns; /* the most in one run, NAI_NULL_I64: no saving */
  const char *path;  /* of that run's report */
  const char *run, *last_run;
};
NAI_MUST_CHECK int nai_index_rules(struct nai_index_rule **out, uint32_t *count, const struct nai_index *index,
                                   struct nai_arena *arena, struct nai_err *err);
/* A metric over all runs, by name and by what it is a value of. */
struct nai_index_spread {
  const char *metric, *unit, *better, *basis, *gate;
  uint32_t runs;              /* that have a value, in one capture or several */
  double least, median, most; /* over all captures */
  int64_t worst;              /* row of table metrics */
};
NAI_MUST_CHECK int nai_index_spreads(struct nai_index_spread **out, uint32_t *count, const struct nai_index *index,
                                     struct nai_arena *arena, struct nai_err *err);
/* Rows of runs, the worst first: those that failed, then by severity and share of time. */
NAI_MUST_CHECK int nai_index_order(uint32_t **out, const struct nai_index *index, struct nai_arena *arena,
                                   struct nai_err *err);
