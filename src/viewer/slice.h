/* A stretch of a run's events as tables of their own, from which a small model can be built: what a page shows of a run
 * that is too long to be shown as a whole. */
#pragma once

#include "model/model.h"

struct nai_slice {
  struct nai_table *tables[NAI_IN_COUNT]; /* those of events are owned, the others the run's */
  bool whole;                             /* nothing was left out: all are the run's own tables */
};

/* The longest stretch around [from, to) in which at most `most` events start (about as many in very long runs), as long
 * before `from` as after `to`: *begin and *end are its edges, INT64_MIN and INT64_MAX when it is everything. Where more
 * events start in the place itself, the stretch lies around `from`. */
NAI_MUST_CHECK int nai_slice_find(int64_t *begin, int64_t *end, struct nai_table *const tables[NAI_IN_COUNT],
                                  int64_t from, int64_t to, uint64_t most, struct nai_err *err);
/* The events that touch [begin, end). */
NAI_MUST_CHECK int nai_slice_new(struct nai_slice *out, struct nai_table *const tables[NAI_IN_COUNT], int64_t begin,
                                 int64_t end, struct nai_err *err);
/* The same of another table with times, by the names of their columns; without such columns no rows. It borrows the
 * table's schema. */
NAI_MUST_CHECK int nai_slice_rows(struct nai_table **out, const struct nai_table *table, const char *start,
                                  const char *end, int64_t from, int64_t to, struct nai_err *err);
void nai_slice_free(struct nai_slice *slice);
