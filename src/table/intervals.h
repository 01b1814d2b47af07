/* Sets of disjoint half-open time intervals, kept in ascending order. Operations are linear in their inputs unless
 * said. */
#pragma once

#include "base/arena.h"

struct nai_interval {
  int64_t start, end; /* ns, start < end */
};

struct nai_intervals {
  struct nai_interval *v;
  size_t count, capacity;
  bool oom;                /* sticky */
  struct nai_arena *arena; /* that v is from; NULL: from malloc, for nai_intervals_free */
};

void nai_intervals_free(struct nai_intervals *set);
/* Adds [start, end) where start is not before the start of any interval added earlier: touching and overlapping ones
 * merge, empty ones are ignored. Returns true when a new interval began. */
bool nai_intervals_grow(struct nai_intervals *set); /* for one more; false where that cannot be */
static inline bool nai_intervals_add(struct nai_intervals *set, int64_t start, int64_t end) {
  if (start >= end || set->oom)
    return false;
  if (set->count && start <= set->v[set->count - 1].end) {
    if (end > set->v[set->count - 1].end)
      set->v[set->count - 1].end = end;
    return false;
  }
  if (set->count == set->capacity && !nai_intervals_grow(set))
    return false;
  set->v[set->count++] = (struct nai_interval){start, end};
  return true;
}
/* Makes room for so many intervals if it can: what stays unused is never touched, and growing step by step is not
 * needed. */
void nai_intervals_reserve(struct nai_intervals *set, size_t count);
/* out = a union b, a minus b, a intersected with b. `out` is empty at first and none of the inputs. */
void nai_intervals_union(struct nai_intervals *out, const struct nai_intervals *a, const struct nai_intervals *b);
void nai_intervals_subtract(struct nai_intervals *out, const struct nai_intervals *a, const struct nai_intervals *b);
void nai_intervals_intersect(struct nai_intervals *out, const struct nai_intervals *a, const struct nai_intervals *b);
/* Sum of lengths, ns. */
int64_t nai_intervals_total_ns(const struct nai_intervals *set);
/* Intervals in any order, overlapping or not, as a set; and the time that they cover, ns. Both reorder v and take
 * O(n log n). */
void nai_intervals_gather(struct nai_intervals *out, struct nai_interval *v, size_t count);
NAI_MUST_CHECK int nai_intervals_union_ns(int64_t *ns, struct nai_interval *v, size_t count, struct nai_err *err);
/* How much of [a, b) the set covers, ns. */
int64_t nai_intervals_overlap_ns(const struct nai_intervals *set, int64_t a, int64_t b);
/* First interval that ends after t (count when there is none). O(log n). */
size_t nai_intervals_after(const struct nai_intervals *set, int64_t t);

/* Answers "how much of [a, b) does the set cover", amortised O(1) where both ascend, else O(log n). */
struct nai_coverage {
  const struct nai_intervals *set; /* borrowed, and stays as it is */
  const struct nai_interval *first, *end;
  int64_t *before;                      /* per interval, and for the end: covered time in front of it; the arena's */
  const struct nai_interval *from, *to; /* the first ones that end after the moments asked for last */
};
NAI_MUST_CHECK int nai_coverage_in(struct nai_coverage *out, const struct nai_intervals *set, struct nai_arena *arena,
                                   struct nai_err *err);
int64_t nai_coverage_overlap_ns(struct nai_coverage *coverage, int64_t a, int64_t b);
