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

struct order {
  const int64_t *start, *end;
  const uint32_t *name;
  const struct nai_strings *names;
};

static int compare(const void *pa, const void *pb, void *ctx) {
  const struct order *o = ctx;
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
static bool insert_stragglers(uint32_t *rows, uint32_t n, const struct order *o) {
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

static int order_rows(uint32_t *rows, uint32_t n, const struct order *o, struct nai_err *err) {
  if (insert_stragglers(rows, n, o))
    return NAI_OK;
  struct nai_key *keys = malloc((size_t)n * sizeof *keys);
  if (!keys)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < n; i++)
    keys[i] = (struct nai_key){nai_key_from_i64(o->start[rows[i]]), rows[i]};
  int rc = nai_sort_keys(keys, n, err);
  for (uint32_t i = 0; !rc && i < n; i++)
    rows[i] = keys[i].value;
  free(keys);
  for (uint32_t i = 0, j; !rc && i < n; i = j) { /* runs of equal starts */
    for (j = i + 1; j < n && o->start[rows[j]] == o->start[rows[i]]; j++)
      ;
    if (j - i > 1)
      qsort_r(rows + i, j - i, sizeof *rows, compare, (void *)o);
  }
  return rc;
}

int nai_groups_build(struct nai_groups *out, uint32_t n, const int32_t *group, uint32_t groups, const int64_t *start,
                     const int64_t *end, const uint32_t *name, const struct nai_strings *names,
                     const char *scratch_dir, struct nai_err *err) {
  out->groups = groups;
  out->first = calloc((size_t)groups + 2, sizeof *out->first);
  if (!out->first)
    return nai_err_nomem(err);
  out->order = nai_big_new(scratch_dir, ((size_t)n + 1) * sizeof *out->order, err);
  if (!out->order)
    return NAI_ELIMIT;
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
  struct order o = {start, end, name, names};
  int rc = NAI_OK;
  for (uint32_t g = 0; !rc && g < groups; g++)
    rc = order_rows(out->order + out->first[g], out->first[g + 1] - out->first[g], &o, err);
  return rc;
}
