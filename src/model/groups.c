#include "model/groups.h"

#include "base/sort.h"

/* --- order ------------------------------------------------------------------------------------ */

static int compare(const void *pa, const void *pb, void *ctx) {
  const struct nai_row_order *o = ctx;
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  int64_t start_a = nai_val(&o->start, a), start_b = nai_val(&o->start, b);
  if (start_a != start_b)
    return start_a < start_b ? -1 : 1;
  int64_t end_a = nai_val(&o->end, a), end_b = nai_val(&o->end, b);
  if (end_a != end_b)
    return end_a > end_b ? -1 : 1;
  uint32_t name_a = o->names ? nai_val_text(&o->name, a) : 0, name_b = o->names ? nai_val_text(&o->name, b) : 0;
  if (name_a != name_b)
    return strcmp(nai_strings_get(o->names, name_a), nai_strings_get(o->names, name_b));
  return (a > b) - (a < b);
}

/* A merge sort for rows of a trace, which are a few ascending runs, one per process, GPU or thread, or nearly in order:
 * runs are taken as they are, what has none is sorted in blocks, and merging leaves alone what is in order already. */
enum { BLOCK_ROWS = 1 << 16 };

struct sorting {
  uint32_t *rows, n;
  const struct nai_row_order *by;
  uint32_t *ends, runs;  /* where each run ends; a run has BLOCK_ROWS rows or more, except for the last */
  struct nai_key *keys;  /* of a block, and as many to sort them with; made when first needed */
  uint32_t *aside, room; /* a run's rows while it is merged */
  struct nai_arena *arena;
};

static uint32_t run_from(const struct sorting *s, uint32_t first) {
  const struct nai_column start = s->by->start;
  int64_t before = nai_val(&start, s->rows[first]);
  for (uint32_t end = first + 1; end < s->n; end++) {
    int64_t at = nai_val(&start, s->rows[end]);
    if (at < before || (at == before && compare(&s->rows[end - 1], &s->rows[end], (void *)s->by) > 0))
      return end;
    before = at;
  }
  return s->n;
}

static int sort_block(struct sorting *s, uint32_t first, uint32_t end, struct nai_err *err) {
  const struct nai_column start = s->by->start;
  uint32_t *rows = s->rows + first, n = end - first;
  if (!s->keys)
    NAI_TRY(NAI_NEW_UNSET(s->keys, s->arena, 2 * (size_t)(s->n < BLOCK_ROWS ? s->n : BLOCK_ROWS), err));
  struct nai_key *keys = s->keys;
  for (uint32_t i = 0; i < n; i++)
    keys[i] = (struct nai_key){nai_key_from_i64(nai_val(&start, rows[i])), rows[i]};
  nai_sort_keys_in(keys, keys + n, n);
  for (uint32_t i = 0; i < n; i++)
    rows[i] = keys[i].value;
  for (uint32_t i = 0, j; i < n; i = j) { /* equal starts */
    for (j = i + 1; j < n && keys[j].key == keys[i].key; j++)
      ;
    if (j - i > 1)
      qsort_r(rows + i, j - i, sizeof *rows, compare, (void *)s->by);
  }
  return NAI_OK;
}

static int find_runs(struct sorting *s, struct nai_err *err) {
  NAI_TRY(NAI_NEW(s->ends, s->arena, s->n / BLOCK_ROWS + 2, err));
  for (uint32_t first = 0, end; first < s->n; first = end) {
    end = run_from(s, first);
    if (end - first < BLOCK_ROWS && end < s->n) {
      end = s->n - first < BLOCK_ROWS ? s->n : first + BLOCK_ROWS;
      NAI_TRY(sort_block(s, first, end, err));
    }
    s->ends[s->runs++] = end;
  }
  return NAI_OK;
}

struct row_place {
  const struct sorting *sorting;
  uint32_t row;
};

static bool row_before(const void *ctx, size_t i) {
  const struct row_place *place = ctx;
  return compare(&place->sorting->rows[i], &place->row, (void *)place->sorting->by) < 0;
}

/* First of the ascending rows first .. end - 1 that comes after `row`. */
static uint32_t first_after(const struct sorting *s, uint32_t first, uint32_t end, uint32_t row) {
  return (uint32_t)nai_search(first, end, row_before, &(struct row_place){s, row});
}

static int put_aside(struct sorting *s, const uint32_t *rows, uint32_t n, struct nai_err *err) {
  if (n > s->room) {
    NAI_TRY(nai_arena_resize(&s->aside, s->arena, (size_t)s->room * sizeof *rows, (size_t)n * sizeof *rows, err));
    s->room = n;
  }
  memcpy(s->aside, rows, (size_t)n * sizeof *rows);
  return NAI_OK;
}

/* Merges the runs first .. middle - 1 and middle .. end - 1. The shorter one goes aside. */
static int merge(struct sorting *s, uint32_t first, uint32_t middle, uint32_t end, struct nai_err *err) {
  uint32_t *rows = s->rows;
  first = first_after(s, first, middle, rows[middle]);
  if (first == middle)
    return NAI_OK;
  end = first_after(s, middle, end, rows[middle - 1]);
  uint32_t left = middle - first, right = end - middle;
  NAI_TRY(put_aside(s, rows + (left < right ? first : middle), left < right ? left : right, err));
  const uint32_t *aside = s->aside;
  if (left < right) {
    for (uint32_t to = first, i = 0, j = middle; i < left; to++)
      rows[to] = j < end && compare(&rows[j], &aside[i], (void *)s->by) < 0 ? rows[j++] : aside[i++];
  } else {
    for (uint32_t to = end, i = middle, j = right; j > 0;)
      rows[--to] = i > first && compare(&aside[j - 1], &rows[i - 1], (void *)s->by) < 0 ? rows[--i] : aside[--j];
  }
  return NAI_OK;
}

static int merge_runs(struct sorting *s, struct nai_err *err) {
  for (; s->runs > 1; s->runs = (s->runs + 1) / 2)
    for (uint32_t r = 0; r < s->runs; r += 2) {
      uint32_t first = r ? s->ends[r - 1] : 0, last = r + 1 < s->runs ? r + 1 : r;
      if (last > r)
        NAI_TRY(merge(s, first, s->ends[r], s->ends[last], err));
      s->ends[r / 2] = s->ends[last];
    }
  return NAI_OK;
}

int nai_rows_sort(uint32_t *rows, uint32_t n, const struct nai_row_order *by, const char *scratch_dir,
                  struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(scratch_dir);
  struct sorting s = {.rows = rows, .n = n, .by = by, .arena = &arena};
  NAI_TRY(find_runs(&s, err));
  return merge_runs(&s, err);
}

int nai_rows_arrange(uint32_t *rows, uint32_t n, const struct nai_column *const *columns, int count,
                     struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_key *keys;
  NAI_TRY(NAI_NEW_UNSET(keys, &arena, 2 * (size_t)n, err));
  for (uint32_t i = 0; i < n; i++)
    keys[i].value = rows[i];
  while (count-- > 0) {
    for (uint32_t i = 0; i < n; i++)
      keys[i].key = nai_key_from_i64(nai_at(columns[count], keys[i].value));
    nai_sort_keys_in(keys, keys + n, n);
  }
  for (uint32_t i = 0; i < n; i++)
    rows[i] = keys[i].value;
  return NAI_OK;
}

static bool agree(const struct nai_column *const *columns, int count, uint32_t a, uint32_t b) {
  for (int c = 0; c < count; c++)
    if (nai_cell_at(columns[c], a) != nai_cell_at(columns[c], b))
      return false;
  return true;
}

uint32_t nai_rows_run(const uint32_t *rows, uint32_t first, uint32_t n, const struct nai_column *const *columns,
                      int count) {
  uint32_t end = first + 1;
  while (end < n && agree(columns, count, rows[first], rows[end]))
    end++;
  return end;
}

/* --- groups ----------------------------------------------------------------------------------- */

int nai_groups_collect(struct nai_groups *out, uint32_t n, const struct nai_column *group, uint32_t groups,
                       struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_arena) room = NAI_ARENA(arena->directory);
  int32_t *of; /* per row */
  out->groups = groups;
  NAI_TRY(NAI_NEW_UNSET(of, &room, n, err));
  NAI_TRY(NAI_NEW(out->first, arena, (size_t)groups + 2, err));
  NAI_TRY(NAI_NEW(out->order, arena, n, err));
  uint32_t *rows = out->order;
  uint32_t *at = out->first + 1; /* counts, then running positions, which end as the next group's start */
  const struct nai_column cells = *group;
  for (uint32_t i = 0; i < n; i++) {
    int32_t g = of[i] = nai_at_i32(&cells, i);
    if (g >= 0)
      at[g]++;
  }
  uint32_t total = 0;
  for (uint32_t g = 0; g < groups; g++) {
    uint32_t count = at[g];
    at[g] = total;
    total += count;
  }
  for (uint32_t i = 0; i < n; i++)
    if (of[i] >= 0)
      rows[at[of[i]]++] = i;
  return NAI_OK;
}

int nai_groups_build(struct nai_groups *out, uint32_t n, const struct nai_column *group, uint32_t groups,
                     const struct nai_row_order *by, struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(nai_groups_collect(out, n, group, groups, arena, err));
  for (uint32_t g = 0; g < groups; g++)
    NAI_TRY(nai_rows_sort(out->order + out->first[g], out->first[g + 1] - out->first[g], by, arena->directory, err));
  return NAI_OK;
}

struct rows_from {
  const uint32_t *order;
  const struct nai_column *column;
  int64_t t;
};

static bool value_before(const void *ctx, size_t i) {
  const struct rows_from *from = ctx;
  return nai_at(from->column, from->order ? from->order[i] : (uint32_t)i) < from->t;
}

uint32_t nai_rows_from(const uint32_t *order, uint32_t first, uint32_t last, const struct nai_column *column,
                       int64_t t) {
  return (uint32_t)nai_search(first, last, value_before, &(struct rows_from){order, column, t});
}
