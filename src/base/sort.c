#include "base/sort.h"

#include "base/spill_array.h"

enum { INSERTION_LIMIT = 48 };

static void insertion_sort(struct nai_key *a, size_t n) {
  for (size_t i = 1; i < n; i++) {
    struct nai_key x = a[i];
    size_t j = i;
    for (; j > 0 && a[j - 1].key > x.key; j--)
      a[j] = a[j - 1];
    a[j] = x;
  }
}

/* What keys are like. */
struct disorder {
  uint64_t differing; /* bits in which not all of them agree */
  size_t descents;    /* keys that are less than the one before */
};

/* Whether nothing is left to do; short lists are sorted at once. */
static bool is_settled(struct disorder *out, struct nai_key *keys, size_t count) {
  *out = (struct disorder){0};
  for (size_t i = 1; i < count; i++) {
    out->differing |= keys[i].key ^ keys[0].key;
    out->descents += keys[i - 1].key > keys[i].key;
  }
  if (out->descents && count <= INSERTION_LIMIT)
    insertion_sort(keys, count);
  return !out->descents || count <= INSERTION_LIMIT;
}

static void radix_sort(struct nai_key *keys, struct nai_key *scratch, size_t count, uint64_t differing) {
  struct nai_key *from = keys, *to = scratch;
  for (int shift = 0; shift < 64; shift += 8) {
    if (!(differing >> shift & 0xff))
      continue;
    size_t starts[256] = {0}, total = 0;
    for (size_t i = 0; i < count; i++)
      starts[from[i].key >> shift & 0xff]++;
    for (int b = 0; b < 256; b++) {
      size_t n = starts[b];
      starts[b] = total;
      total += n;
    }
    for (size_t i = 0; i < count; i++)
      to[starts[from[i].key >> shift & 0xff]++] = from[i];
    struct nai_key *swap = from;
    from = to;
    to = swap;
  }
  if (from != keys)
    memcpy(keys, from, count * sizeof *keys);
}

/* Where the ascending keys from `first` on end. */
static size_t end_of_run(const struct nai_key *keys, size_t first, size_t count) {
  do
    first++;
  while (first < count && keys[first - 1].key <= keys[first].key);
  return first;
}

static bool is_not_above(const void *ctx, size_t i) {
  const struct nai_keys *keys = ctx;
  return keys->v[i].key <= keys->least;
}

/* Sorted lists, one behind the other, that mostly follow each other, or are few: each is merged with those before it.
 * False where that would move more keys than a radix sort does. */
static bool merge_runs(struct nai_key *keys, struct nai_key *scratch, size_t count) {
  size_t left_to_move = 4 * count;
  for (size_t middle = end_of_run(keys, 0, count), end; middle < count; middle = end) {
    const size_t first = nai_search(0, middle, is_not_above, &(struct nai_keys){keys, keys[middle].key});
    const size_t aside = middle - first;
    if (aside > left_to_move)
      return false;
    left_to_move -= aside;
    end = end_of_run(keys, middle, count);
    memcpy(scratch, keys + first, aside * sizeof *keys);
    const struct nai_key *left = scratch, *left_end = scratch + aside, *right = keys + middle, *right_end = keys + end;
    for (struct nai_key *to = keys + first; left < left_end; to++)
      *to = right < right_end && right->key < left->key ? *right++ : *left++;
  }
  return true;
}

static void sort(struct nai_key *keys, struct nai_key *scratch, size_t count, struct disorder disorder) {
  enum { FEW_RUNS = 8, LONG_RUN = 64 };
  if (disorder.descents >= FEW_RUNS + count / LONG_RUN || !merge_runs(keys, scratch, count))
    radix_sort(keys, scratch, count, disorder.differing);
}

void nai_sort_keys_in(struct nai_key *keys, struct nai_key *scratch, size_t count) {
  struct disorder disorder;
  if (!is_settled(&disorder, keys, count))
    sort(keys, scratch, count, disorder);
}

int nai_sort_keys(struct nai_key *keys, size_t count, struct nai_err *err) {
  struct disorder disorder;
  if (is_settled(&disorder, keys, count))
    return NAI_OK;
  void *scratch;
  NAI_TRY(nai_spill_array_new(&scratch, NULL, count * sizeof *keys, count * sizeof *keys, err));
  sort(keys, scratch, count, disorder);
  nai_spill_array_free(scratch);
  return NAI_OK;
}

int nai_sort_keys_by(struct nai_key *keys, size_t count, nai_then_fn *then, const void *ctx, struct nai_err *err) {
  NAI_TRY(nai_sort_keys(keys, count, err));
  for (size_t first = 0, behind; first < count; first = behind) {
    const uint64_t key = keys[first].key;
    for (behind = first + 1; behind < count && keys[behind].key == key;)
      behind++;
    if (behind - first == 1)
      continue;
    for (size_t i = first; i < behind; i++)
      keys[i].key = then(ctx, keys[i].value);
    NAI_TRY(nai_sort_keys(keys + first, behind - first, err));
    for (size_t i = first; i < behind; i++)
      keys[i].key = key;
  }
  return NAI_OK;
}

static void swap_i64(int64_t *a, int64_t *b) {
  int64_t t = *a;
  *a = *b;
  *b = t;
}

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

int nai_by_i64(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

int nai_by_f64(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

int nai_by_text(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Two values that most likely enclose the k-th of v[lo..hi), close together: from a sorted sample. For short ranges,
 * and where that did not help before (few distinct values), one value. */
static void choose_pivots(int64_t *low, int64_t *high, const int64_t *v, size_t lo, size_t hi, size_t k, bool one,
                          uint64_t *random) {
  enum { SAMPLE = 256, MARGIN = 20, WORTH_SORTING = 32 * SAMPLE };
  if (one || hi - lo <= WORTH_SORTING) {
    *low = *high = v[lo + (size_t)(next_random(random) % (hi - lo))];
    return;
  }
  int64_t sample[SAMPLE];
  for (int i = 0; i < SAMPLE; i++)
    sample[i] = v[lo + (size_t)(next_random(random) % (hi - lo))];
  qsort(sample, SAMPLE, sizeof *sample, nai_by_i64);
  int at = (int)((double)(k - lo) / (double)(hi - lo) * SAMPLE);
  *low = sample[at > MARGIN ? at - MARGIN : 0];
  *high = sample[at + MARGIN < SAMPLE ? at + MARGIN : SAMPLE - 1];
}

void nai_select_i64(int64_t *v, size_t count, size_t k) {
  size_t lo = 0, hi = count;
  /* Pseudo-random with a fixed seed: adversarial input cannot foresee it cheaply, results never depend on it. */
  uint64_t random = 0x9e3779b97f4a7c15u;
  bool one = false;
  while (hi - lo > 1) {
    int64_t low, high;
    size_t before = hi - lo;
    choose_pivots(&low, &high, v, lo, hi, k, one, &random);
    /* Into < low, low..high, > high; runs of equal durations cost one pass. */
    size_t less = lo, i = lo, greater = hi;
    while (i < greater) {
      if (v[i] < low)
        swap_i64(&v[i++], &v[less++]);
      else if (v[i] > high)
        swap_i64(&v[i], &v[--greater]);
      else
        i++;
    }
    if (k < less)
      hi = less;
    else if (k >= greater)
      lo = greater;
    else if (low == high)
      return;
    else {
      lo = less;
      hi = greater;
    }
    one = hi - lo > before / 2;
  }
}

struct nai_rank nai_rank_of(double q, size_t count) {
  double position = q * (double)(count - 1);
  size_t below = (size_t)position;
  if (below >= count - 1)
    return (struct nai_rank){count - 1, 0};
  return (struct nai_rank){below, position - (double)below};
}

double nai_interpolate(int64_t low, int64_t high, double fraction) {
  return fraction > 0 ? (double)low + fraction * (double)((uint64_t)high - (uint64_t)low) : (double)low;
}

/* The quantile, and the rank below it: what lies at higher ranks is not needed for lower quantiles. */
static double quantile_within(int64_t *v, size_t count, size_t limit, double q, size_t *rank) {
  struct nai_rank at = nai_rank_of(q, count);
  *rank = at.below;
  nai_select_i64(v, limit, at.below);
  int64_t next = v[at.below];
  if (at.fraction > 0) {
    next = v[at.below + 1];
    for (size_t i = at.below + 2; i < limit; i++)
      if (v[i] < next)
        next = v[i];
  }
  return nai_interpolate(v[at.below], next, at.fraction);
}

void nai_quantiles_i64(double *out, int64_t *v, size_t count, const double *q, int quantiles) {
  size_t limit = count; /* v[0..limit) are the smallest values */
  for (int i = quantiles - 1; i >= 0; i--) {
    size_t rank = 0;
    out[i] = count ? quantile_within(v, count, limit, q[i], &rank) : NAN;
    /* One rank more stays: a lower quantile may interpolate with it. */
    size_t keep = rank + 2;
    if (count && keep < limit) {
      size_t least = rank + 1;
      for (size_t k = rank + 2; k < limit; k++)
        if (v[k] < v[least])
          least = k;
      swap_i64(&v[rank + 1], &v[least]);
      limit = keep;
    }
  }
}

double nai_quantile_i64(int64_t *v, size_t count, double q) {
  double result;
  nai_quantiles_i64(&result, v, count, &q, 1);
  return result;
}

int64_t nai_median_i64(int64_t *v, size_t count) {
  nai_select_i64(v, count, (count - 1) / 2);
  int64_t low = v[(count - 1) / 2];
  if (count % 2)
    return low;
  nai_select_i64(v, count, count / 2);
  return low + (v[count / 2] - low) / 2;
}
