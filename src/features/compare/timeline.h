/* One capture of each side as a timeline of compare.html: the one in the middle, around a typical step. */
#pragma once

#include "features/compare/compare.h"

/* Events of a side that the page has: many steps, in a megabyte. */
enum { NAI_PAIR_EVENTS = 100 * 1000 };

struct nai_pair_timeline {
  uint32_t capture;         /* the one with the median step (without steps: window); of two in the middle the first */
  struct nai_table *blocks; /* viewer_data; NULL when there is none */
  char *missing;            /* why there is none, else NULL */
  bool unread;              /* it is there, but reading failed */
  int64_t begin, end;       /* the stretch that is there; INT64_MIN and INT64_MAX for everything */
  int64_t step_start, step_end; /* the typical step on its GPU, or where the GPUs' window begins, twice */
  int32_t device_id;
  int64_t step; /* its number, -1 for none */
};

/* Fills in the timeline of a side that has captures. A run whose event tables are gone has none, and says why. */
NAI_MUST_CHECK int nai_pair_timeline_make(struct nai_pair_timeline *out, const struct nai_comparison *c,
                                          enum nai_side_id side, struct nai_err *err);
void nai_pair_timeline_free(struct nai_pair_timeline *timeline);
/* Text of a block ("timeline_json", "events_b64"), "" when there is none. */
const char *nai_pair_timeline_block(const struct nai_pair_timeline *timeline, const char *name);

/* page_data.c: opens the tables of a run that its timeline shows beside events, so that it is known whether they can be
 * read. */
NAI_MUST_CHECK int nai_page_tables_open(struct nai_run *run, struct nai_err *err);
/* page_data.c: everything else that the page's script reads, as JSON for a script element. */
void nai_write_page_data(struct nai_buf *out, const struct nai_comparison *c,
                         const struct nai_pair_timeline timelines[NAI_SIDES]);
