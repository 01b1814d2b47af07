#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

int nai_sort_keys(struct nai_key *keys, size_t count, struct nai_err *err) {
  uint64_t differing = 0;
  bool sorted = true;
  for (size_t i = 1; i < count; i++) {
    differing |= keys[i].key ^ keys[0].key;
    sorted &= keys[i - 1].key <= keys[i].key;
  }
  if (sorted)
    return NAI_OK;
  if (count <= INSERTION_LIMIT) {
    insertion_sort(keys, count);
    return NAI_OK;
  }
  struct nai_key *scratch = malloc(count * sizeof *scratch);
  if (!scratch)
    return nai_err_nomem(err);
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
  free(scratch);
  return NAI_OK;
}

static void swap_i64(int64_t *a, int64_t *b) {
  int64_t t = *a;
  *a = *b;
  *b = t;
}

void nai_select_i64(int64_t *v, size_t count, size_t k) {
  size_t lo = 0, hi = count;
  /* A pseudo-random pivot with a fixed seed: adversarial input cannot foresee it cheaply, results never depend on it. */
  uint64_t random = 0x9e3779b97f4a7c15u;
  while (hi - lo > 1) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    int64_t pivot = v[lo + (size_t)((random >> 33) % (hi - lo))];
    /* Three-way partition, so that runs of equal durations cost one pass. */
    size_t less = lo, i = lo, greater = hi;
    while (i < greater) {
      if (v[i] < pivot)
        swap_i64(&v[i++], &v[less++]);
      else if (v[i] > pivot)
        swap_i64(&v[i], &v[--greater]);
      else
        i++;
    }
    if (k < less)
      hi = less;
    else if (k >= greater)
      lo = greater;
    else
      return;
  }
}

double nai_quantile_i64(int64_t *v, size_t count, double q) {
  if (count == 0)
    return NAN;
  double position = q * (double)(count - 1);
  size_t below = (size_t)position;
  if (below >= count - 1)
    below = count - 1;
  nai_select_i64(v, count, below);
  double fraction = position - (double)below;
  if (fraction <= 0 || below + 1 >= count)
    return (double)v[below];
  int64_t next = v[below + 1];
  for (size_t i = below + 2; i < count; i++)
    if (v[i] < next)
      next = v[i];
  return (double)v[below] + fraction * (double)((uint64_t)next - (uint64_t)v[below]);
}
