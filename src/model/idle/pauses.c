#include "model/idle/pauses.h"

#include "base/sort.h"

#include <stdlib.h>

enum { MIN_PAUSE_NS = 1000 * 1000, TIMES_OTHERS = 10, PART_OF_WINDOW = 10 };

int64_t nai_intervals_overlap_ns(const struct nai_intervals *set, int64_t a, int64_t b) {
  int64_t total = 0;
  for (size_t i = nai_intervals_after(set, a); i < set->count && set->v[i].start < b; i++) {
    int64_t start = set->v[i].start > a ? set->v[i].start : a, end = set->v[i].end < b ? set->v[i].end : b;
    total += end > start ? end - start : 0;
  }
  return total;
}

/* Gap number i: before interval i of the union, or behind the last. Those at the edges are there only where operations
 * of zero length stretch the window. */
static struct nai_interval gap_at(const struct nai_gpu *gpu, size_t i) {
  const struct nai_intervals *all = &gpu->all;
  return (struct nai_interval){i ? all->v[i - 1].end : gpu->window_start,
                               i < all->count ? all->v[i].start : gpu->window_end};
}

/* The 99th percentile of the first `count` lengths, which ascend in key order. */
static double p99(const struct nai_key *by_length, size_t count) {
  struct nai_rank rank = nai_rank_of(0.99, count);
  int64_t low = (int64_t)by_length[rank.below].key;
  return nai_interpolate(low, rank.fraction > 0 ? (int64_t)by_length[rank.below + 1].key : low, rank.fraction);
}

/* Number of pauses: they are the longest gaps, the last ones of `by_length`. */
static size_t count_pauses(const struct nai_key *by_length, size_t gaps, int64_t window) {
  size_t pauses = 0;
  while (gaps - pauses > 1) { /* the only gap has no others to differ from */
    size_t others = gaps - pauses - 1;
    int64_t length = (int64_t)by_length[others].key;
    if (length < MIN_PAUSE_NS || length < window / PART_OF_WINDOW ||
        (double)length < TIMES_OTHERS * p99(by_length, others))
      break;
    window -= length;
    pauses++;
  }
  return pauses;
}

static int compare_starts(const void *pa, const void *pb) {
  const struct nai_span *a = pa, *b = pb;
  return (a->start > b->start) - (a->start < b->start);
}

/* Puts the pauses, of any order, at odd places and the work around them at even ones. */
static void arrange(struct nai_span *spans, size_t pauses, const struct nai_gpu *gpu) {
  qsort(spans, pauses, sizeof *spans, compare_starts);
  for (size_t i = pauses; i-- > 0;)
    spans[2 * i + 1] = spans[i];
  for (size_t i = 0; i <= pauses; i++)
    spans[2 * i] = (struct nai_span){i ? spans[2 * i - 1].end : gpu->window_start,
                                     i < pauses ? spans[2 * i + 1].start : gpu->window_end, false};
}

int nai_spans_find(struct nai_span **spans, uint32_t *count, const struct nai_gpu *gpu, struct nai_err *err) {
  size_t gaps = 0;
  *spans = NULL;
  *count = 0;
  if (!gpu->op_count)
    return NAI_OK;
  struct nai_key *by_length = malloc((gpu->all.count + 2) * sizeof *by_length);
  int rc = by_length ? NAI_OK : nai_err_nomem(err);
  int64_t longest = 0, window = gpu->window_end - gpu->window_start;
  for (size_t i = 0; !rc && i <= gpu->all.count; i++) {
    struct nai_interval gap = gap_at(gpu, i);
    if (gap.end <= gap.start)
      continue;
    longest = gap.end - gap.start > longest ? gap.end - gap.start : longest;
    by_length[gaps++] = (struct nai_key){(uint64_t)(gap.end - gap.start), (uint32_t)i};
  }
  bool any = longest >= MIN_PAUSE_NS && longest >= window / PART_OF_WINDOW; /* mostly not: nothing need be sorted */
  if (!rc && any)
    rc = nai_sort_keys(by_length, gaps, err);
  size_t pauses = rc || !any ? 0 : count_pauses(by_length, gaps, window);
  *spans = rc ? NULL : malloc((2 * pauses + 1) * sizeof **spans);
  if (!rc && !*spans)
    rc = nai_err_nomem(err);
  for (size_t i = 0; !rc && i < pauses; i++) {
    struct nai_interval gap = gap_at(gpu, by_length[gaps - 1 - i].value);
    (*spans)[i] = (struct nai_span){gap.start, gap.end, true};
  }
  if (!rc) {
    arrange(*spans, pauses, gpu);
    *count = (uint32_t)(2 * pauses + 1);
  }
  free(by_length);
  return rc;
}
