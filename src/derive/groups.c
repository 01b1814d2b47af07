#include "derive/model.h"

#include "base/big.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

void nai_groups_free(struct nai_groups *groups) {
  if (!groups)
    return;
  nai_big_free(groups->order);
  free(groups->first);
  *groups = (struct nai_groups){0};
}

static int compare(const void *pa, const void *pb, void *ctx) {
  const struct nai_row_order *o = ctx;
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  if (o->start[a] != o->start[b])
    return o->start[a] < o->start[b] ? -1 : 1;
  if (o->end[a] != o->end[b])
    return o->end[a] > o->end[b] ? -1 : 1;
  if (o->names && o->name[a] != o->name[b])
    return strcmp(nai_strings_get(o->names, o->name[a]), nai_strings_get(o->names, o->name[b]));
  return (a > b) - (a < b);
}

/* Rows of a trace are nearly in start order: an insertion sort that gives up after as many moves as there are rows is
 * mostly enough. Returns whether they are in order. */
static bool insert_stragglers(uint32_t *rows, uint32_t n, const struct nai_row_order *o) {
  uint32_t moves = 0;
  for (uint32_t i = 1; i < n; i++) {
    uint32_t row = rows[i], j = i;
    if (o->start[rows[i - 1]] < o->start[row])
      continue;
    for (; j > 0 && compare(&rows[j - 1], &row, (void *)o) > 0; j--)
      rows[j] = rows[j - 1];
    rows[j] = row;
    moves += i - j;
    if (moves > n)
      return false;
  }
  return true;
}

/* Where the ascending runs of `rows` begin, and n after the last; 0 when there are more than `most`. */
static uint32_t find_runs(uint32_t *begin, uint32_t most, const uint32_t *rows, uint32_t n, const struct nai_row_order *o) {
  uint32_t runs = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (i && compare(&rows[i - 1], &rows[i], (void *)o) < 0)
      continue;
    if (runs == most)
      return 0;
    begin[runs++] = i;
  }
  begin[runs] = n;
  return runs;
}

static void merge(uint32_t *out, const uint32_t *a, const uint32_t *a_end, const uint32_t *b, const uint32_t *b_end,
                  const struct nai_row_order *o) {
  while (a < a_end && b < b_end) {
    bool from_a = o->start[*a] != o->start[*b] ? o->start[*a] < o->start[*b] : compare(a, b, (void *)o) < 0;
    *out++ = from_a ? *a++ : *b++;
  }
  memcpy(out, a, (size_t)(a_end - a) * sizeof *out);
  memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof *out);
}

/* Merges ascending runs by pairs. */
static void merge_runs(uint32_t *rows, uint32_t *scratch, uint32_t *begin, uint32_t runs, const struct nai_row_order *o) {
  uint32_t n = begin[runs], *from = rows, *to = scratch;
  for (; runs > 1; runs = (runs + 1) / 2) {
    for (uint32_t r = 0; r < runs; r += 2) {
      uint32_t middle = begin[r + 1], end = r + 2 <= runs ? begin[r + 2] : middle;
      merge(to + begin[r], from + begin[r], from + middle, from + middle, from + end, o);
      begin[r / 2] = begin[r];
    }
    begin[(runs + 1) / 2] = n;
    uint32_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != rows)
    memcpy(rows, from, (size_t)n * sizeof *rows);
}

static void sort_by_keys(uint32_t *rows, struct nai_key *keys, uint32_t n, const struct nai_row_order *o) {
  for (uint32_t i = 0; i < n; i++)
    keys[i] = (struct nai_key){nai_key_from_i64(o->start[rows[i]]), rows[i]};
  nai_sort_keys_in(keys, keys + n, n);
  for (uint32_t i = 0; i < n; i++)
    rows[i] = keys[i].value;
  for (uint32_t i = 0, j; i < n; i = j) { /* runs of equal starts */
    for (j = i + 1; j < n && o->start[rows[j]] == o->start[rows[i]]; j++)
      ;
    if (j - i > 1)
      qsort_r(rows + i, j - i, sizeof *rows, compare, (void *)o);
  }
}

int nai_rows_sort(uint32_t *rows, uint32_t n, const struct nai_row_order *o, const char *scratch_dir, struct nai_err *err) {
  /* A table that holds one process, GPU or thread after the other is a few ascending runs. */
  enum { MOST_RUNS = 64 };
  uint32_t begin[MOST_RUNS + 1], runs = find_runs(begin, MOST_RUNS, rows, n, o);
  void *scratch;
  if (runs == 1 || n == 0 || (!runs && insert_stragglers(rows, n, o)))
    return NAI_OK;
  int rc = nai_big_new(&scratch, scratch_dir, (size_t)n * (runs ? sizeof *rows : 2 * sizeof(struct nai_key)), err);
  if (rc)
    return rc;
  if (runs)
    merge_runs(rows, scratch, begin, runs, o);
  else
    sort_by_keys(rows, scratch, n, o);
  nai_big_free(scratch);
  return NAI_OK;
}

int nai_groups_collect(struct nai_groups *out, uint32_t n, const int32_t *group, uint32_t groups, const char *scratch_dir,
                       struct nai_err *err) {
  out->groups = groups;
  out->first = calloc((size_t)groups + 2, sizeof *out->first);
  if (!out->first)
    return nai_err_nomem(err);
  void *order;
  int rc = nai_big_new(&order, scratch_dir, ((size_t)n + 1) * sizeof *out->order, err);
  if (rc)
    return rc;
  out->order = order;
  uint32_t *at = out->first + 1; /* counts, then running positions, which end as the next group's start */
  for (uint32_t i = 0; i < n; i++)
    if (!group || group[i] >= 0)
      at[group ? group[i] : 0]++;
  uint32_t total = 0;
  for (uint32_t g = 0; g < groups; g++) {
    uint32_t count = at[g];
    at[g] = total;
    total += count;
  }
  for (uint32_t i = 0; i < n; i++)
    if (!group || group[i] >= 0)
      out->order[at[group ? group[i] : 0]++] = i;
  return NAI_OK;
}

int nai_groups_build(struct nai_groups *out, uint32_t n, const int32_t *group, uint32_t groups,
                     const struct nai_row_order *by, const char *scratch_dir, struct nai_err *err) {
  int rc = nai_groups_collect(out, n, group, groups, scratch_dir, err);
  for (uint32_t g = 0; !rc && g < groups; g++)
    rc = nai_rows_sort(out->order + out->first[g], out->first[g + 1] - out->first[g], by, scratch_dir, err);
  return rc;
}
