/* Searching, sorting and selection by integers. */
#pragma once

#include "base/err.h"

/* Number of the first of `first` .. `end` - 1 for which `before` is false, `end` when there is none; it must be true of
 * those in front of that one, and false of those behind. O(log n). Hot loops may have their own. */
static inline size_t nai_search(size_t first, size_t end, bool (*before)(const void *ctx, size_t i), const void *ctx) {
  while (first < end) {
    size_t middle = first + (end - first) / 2;
    if (before(ctx, middle))
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* The same, in few steps where that is near `first`. */
static inline size_t nai_search_near(size_t first, size_t end, bool (*before)(const void *ctx, size_t i),
                                     const void *ctx) {
  size_t behind = first;
  for (size_t step = 1; behind < end && before(ctx, behind); step *= 2) {
    first = behind + 1;
    behind = end - behind > step ? behind + step : end;
  }
  return nai_search(first, behind, before, ctx);
}

struct nai_records {
  const unsigned char *bytes;
  size_t record_bytes, offset;
  int64_t least;
};
static inline bool nai_record_before(const void *ctx, size_t i) {
  const struct nai_records *r = ctx;
  int64_t value;
  memcpy(&value, r->bytes + i * r->record_bytes + r->offset, sizeof value);
  return value < r->least;
}

/* Of `count` records of `record_bytes` each, in ascending order of the int64_t that is `offset` bytes into each: number
 * of the first one that has no less than `least`, `count` when all have less. O(log n). */
static inline size_t nai_bisect(const void *records, size_t count, size_t record_bytes, size_t offset, int64_t least) {
  struct nai_records r = {records, record_bytes, offset, least};
  return nai_search(0, count, nai_record_before, &r);
}

/* For qsort, by one key after the other: return NAI_COMPARE({b->ns, a->ns}, {a->gpu, b->gpu}); */
#define NAI_COMPARE(...) \
  nai_compare_keys((const int64_t[][2]){__VA_ARGS__}, sizeof((const int64_t[][2]){__VA_ARGS__}) / sizeof(int64_t[2]))
static inline int nai_compare_keys(const int64_t (*keys)[2], size_t count) {
  size_t i = 0;
  while (i + 1 < count && keys[i][0] == keys[i][1])
    i++;
  return (keys[i][0] > keys[i][1]) - (keys[i][0] < keys[i][1]);
}

/* Defines name, for qsort: by one key after the other of structs a and b.
 * NAI_ORDER(by_time, struct span, {b->ns, a->ns}, {a->gpu, b->gpu}) */
#define NAI_ORDER(name, type, ...)                       \
  static int name(const void *left, const void *right) { \
    const type *a = left, *b = right;                    \
    return NAI_COMPARE(__VA_ARGS__);                     \
  }
/* The same by keys of any kind, each compared already: NAI_ORDER_BY(by_size, struct file, NAI_SIGN(b->share, a->share),
 * strcmp(a->name, b->name)) */
#define NAI_SIGN(x, y) (((x) > (y)) - ((x) < (y)))
#define NAI_ORDER_BY(name, type, ...)                            \
  static int name(const void *left, const void *right) {         \
    const type *a = left;                                        \
    const type *b = right;                                       \
    const int orders[] = {__VA_ARGS__};                          \
    size_t i = 0;                                                \
    while (i + 1 < sizeof orders / sizeof *orders && !orders[i]) \
      i++;                                                       \
    return orders[i];                                            \
  }
/* Ascending, for qsort: of int64_t, of double, of const char *. */
int nai_by_i64(const void *left, const void *right);
int nai_by_f64(const void *left, const void *right);
int nai_by_text(const void *left, const void *right);

struct nai_key {
  uint64_t key;
  uint32_t value; /* usually a row number */
};

/* Maps int64 to uint64 so that unsigned order is signed order. */
static inline uint64_t nai_key_from_i64(int64_t v) { return (uint64_t)v ^ ((uint64_t)1 << 63); }
static inline int64_t nai_key_to_i64(uint64_t key) { return (int64_t)(key ^ ((uint64_t)1 << 63)); }

struct nai_keys {
  const struct nai_key *v;
  uint64_t least;
};
static inline bool nai_key_before(const void *ctx, size_t i) {
  const struct nai_keys *keys = ctx;
  return keys->v[i].key < keys->least;
}

/* Number of the first of ascending keys that is no less than `least`, `count` when all are less. O(log n). */
static inline size_t nai_keys_from(const struct nai_key *keys, size_t count, uint64_t least) {
  return nai_search(0, count, nai_key_before, &(struct nai_keys){keys, least});
}

/* Stable ascending sort by key: nothing to do for sorted input, insertion sort when short, long sorted lists in a row
 * are merged, else LSD radix sort that skips bytes all keys share. */
NAI_MUST_CHECK int nai_sort_keys(struct nai_key *keys, size_t count, struct nai_err *err);
/* By key, then by what `then` says of values: stable, too. Keys stay. */
typedef uint64_t nai_then_fn(const void *ctx, uint32_t value);
NAI_MUST_CHECK int nai_sort_keys_by(struct nai_key *keys, size_t count, nai_then_fn *then, const void *ctx,
                                    struct nai_err *err);
/* nai_sort_keys with `scratch`, room for `count` keys, from the caller: nothing can fail. */
void nai_sort_keys_in(struct nai_key *keys, struct nai_key *scratch, size_t count);

/* Reorders v so that v[k] is the k-th smallest, smaller ones before it, larger ones after it. Expected O(count). */
void nai_select_i64(int64_t *v, size_t count, size_t k);

/* Where quantile q (0..1) of `count` (> 0) values lies: between rank `below` and the next, by linear interpolation
 * between closest ranks, position q*(count-1). The next rank is needed where fraction > 0. */
struct nai_rank {
  size_t below;
  double fraction;
};
struct nai_rank nai_rank_of(double q, size_t count);
/* The quantile, from the values at rank below and the next. */
double nai_interpolate(int64_t low, int64_t high, double fraction);

/* out[i] = quantile q[i]; q ascends. Each by linear interpolation between closest ranks, position q*(count-1). Reorders
 * v. NaN when empty. */
void nai_quantiles_i64(double *out, int64_t *v, size_t count, const double *q, int quantiles);

/* Quantile q (0..1) by linear interpolation between closest ranks, position q*(count-1). Reorders v. NaN when empty. */
double nai_quantile_i64(int64_t *v, size_t count, double q);

/* The median, of an even number the middle of the middle two, rounded down; count > 0. Reorders v. */
int64_t nai_median_i64(int64_t *v, size_t count);
