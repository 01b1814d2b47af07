/* The events of one row of the screen by start, indexed so that drawing costs the same at every zoom: what is asked of
 * a stretch of time takes O(log n), however many events lie in it. Times are ns. Internal to src/features/view. */
#pragma once

#include "model/model.h"

enum { NAI_SPANS_BLOCK = 64, NAI_SPANS_LEVELS = 6 };

struct nai_spans {
  /* rows of an event table in start order, or */
  const struct nai_column *start, *end;
  const uint32_t *rows;
  /* intervals, or the gaps between them (model/idle/idle.h) */
  const struct nai_interval *set;
  const struct nai_gpu *gaps_of;
  uint32_t first_gap; /* its number: one that is empty has no cause */
  uint32_t count;

  int64_t *covered;                   /* per block: time that events before it cover */
  int64_t *reach;                     /* and when the last of them ends */
  int64_t *longest[NAI_SPANS_LEVELS]; /* the longest event of each block, of each block of blocks, ... */
  uint32_t sizes[NAI_SPANS_LEVELS];
  int levels;
};

/* Set the fields above the blank line, the rest zeroed; the columns, rows and intervals are borrowed, the index is the
 * arena's. O(n). */
NAI_MUST_CHECK int nai_spans_index(struct nai_spans *spans, struct nai_arena *arena, struct nai_err *err);

int64_t nai_spans_start(const struct nai_spans *spans, uint32_t i);
int64_t nai_spans_end(const struct nai_spans *spans, uint32_t i); /* not before the start */
/* The first event that starts at t or later; the first of those that end after t, which may lie before it. `count` for
 * none. */
uint32_t nai_spans_from(const struct nai_spans *spans, int64_t t);
uint32_t nai_spans_open(const struct nai_spans *spans, int64_t t);
/* How much of the time before t some event covers: exact, overlaps count once. */
int64_t nai_spans_covered(const struct nai_spans *spans, int64_t t);
/* The first event from i on that takes `ns` or longer; `count` for none. */
uint32_t nai_spans_long(const struct nai_spans *spans, uint32_t i, int64_t ns);
/* The longest of events [i, j), the earliest of equals; `count` for none. */
uint32_t nai_spans_longest(const struct nai_spans *spans, uint32_t i, uint32_t j);
/* The event that is going on at t, the one that began last; `count` for none. An event without length goes on when it
 * starts. */
uint32_t nai_spans_at(const struct nai_spans *spans, int64_t t);
