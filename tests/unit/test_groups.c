/* Rows in order: every shape of input against a plain sort. */
#include "model_fixture.h"

enum { MOST = 300000 };

struct rows {
  int64_t *start, *end;
  uint32_t *name, n;
  struct nai_strings names;
};

static const struct rows *sorted_rows;

static int compare(const void *pa, const void *pb) {
  const struct rows *r = sorted_rows;
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  if (r->start[a] != r->start[b])
    return r->start[a] < r->start[b] ? -1 : 1;
  if (r->end[a] != r->end[b])
    return r->end[a] > r->end[b] ? -1 : 1;
  int c = strcmp(nai_strings_get(&r->names, r->name[a]), nai_strings_get(&r->names, r->name[b]));
  return c ? c : a < b ? -1 : 1;
}

/* Fills rows of one shape. */
static void fill(struct rows *r, struct fixture *f, int shape) {
  for (uint32_t i = 0; i < r->n; i++) {
    int64_t at;
    switch (shape) {
    case 0: /* in order */
      at = i;
      break;
    case 1: /* backwards */
      at = (int64_t)r->n - i;
      break;
    case 2: /* one process after the other, each in order */
      at = i % (r->n / 5 + 1);
      break;
    case 3: /* nearly in order */
      at = i * 10 + fixture_random(f, 400);
      break;
    case 4: /* random */
      at = fixture_random(f, INT32_MAX);
      break;
    case 5: /* few starts */
      at = fixture_random(f, 50);
      break;
    default: /* nearly in order within a few processes, with stragglers */
      at = i % (r->n / 3 + 1) + (fixture_random(f, 1000) ? fixture_random(f, 5) : fixture_random(f, r->n));
    }
    r->start[i] = at - 1000;
    r->end[i] = r->start[i] + fixture_random(f, 3);
    r->name[i] = (uint32_t)fixture_random(f, 3);
  }
}

TEST(test_shapes) {
  static const uint32_t sizes[] = {0, 1, 2, 3, 100, 65535, 65536, 65537, 140000, MOST};
  struct fixture f = {.seed = 5};
  struct rows r = {.start = malloc(MOST * 8), .end = malloc(MOST * 8), .name = malloc((MOST + 1) * 4)};
  uint32_t *got = malloc(MOST * 4), *expected = malloc(MOST * 4);
  assert_true(r.start && r.end && r.name && got && expected);
  static const char *const names[] = {"b", "a", "c"}; /* not in the order of their texts */
  for (int i = 0; i < 3; i++)
    assert_int_equal(nai_strings_add(&r.names, names[i], 1), i);
  sorted_rows = &r;
  for (int shape = 0; shape < 7; shape++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      r.n = sizes[s];
      fill(&r, &f, shape);
      for (uint32_t i = 0; i < r.n; i++)
        got[i] = expected[i] = i;
      const struct nai_row_order by = {nai_column_of(NAI_I64, r.start, 8, 0), nai_column_of(NAI_I64, r.end, 8, 0),
                                       nai_column_of_u32(r.name), &r.names};
      ok(nai_rows_sort(got, r.n, &by, NULL, err));
      qsort(expected, r.n, sizeof *expected, compare);
      assert_memory_equal(got, expected, r.n * sizeof *got);
    }
  nai_strings_free(&r.names);
  free(r.start);
  free(r.end);
  free(r.name);
  free(got);
  free(expected);
}

TEST(test_groups) {
  static const int32_t group[] = {2, -1, 0, 2, 0, 2, -1, 3, 0};
  static const uint32_t expected[] = {2, 4, 0, 3, 5, 7}; /* groups 0, 2 and 3; rows of group -1 are left out */
  struct nai_groups g = {0};
  struct nai_arena arena = NAI_ARENA(NULL);
  struct nai_column column = nai_column_of_i32(group);
  ok(nai_groups_collect(&g, 8, &column, 4, &arena, err));
  assert_memory_equal(g.order, expected, sizeof expected);
  static const uint32_t first[] = {0, 2, 2, 5, 6};
  assert_memory_equal(g.first, first, sizeof first);
  nai_arena_free(&arena);
}

/* By several columns, against comparing all pairs: in order, and rows that agree stay as they were. */
TEST(test_arranging) {
  enum { ROWS = 500, COLUMNS = 3 };
  struct fixture f = {.seed = 8};
  int32_t *cells[COLUMNS];
  struct nai_column columns[COLUMNS];
  const struct nai_column *keys[COLUMNS];
  uint32_t rows[ROWS], place[ROWS];
  struct nai_err err;
  for (int c = 0; c < COLUMNS; c++) {
    cells[c] = nai_cells_new(ROWS, sizeof *cells[c]);
    assert_non_null(cells[c]);
    columns[c] = nai_column_of_i32(cells[c]);
    keys[c] = &columns[c];
  }
  for (uint32_t i = 0; i < ROWS; i++) {
    cells[0][i] = i % 7 ? (int32_t)fixture_random(&f, 3) - 1 : NAI_NULL_I32;
    cells[1][i] = (int32_t)fixture_random(&f, 2) * 70000;
    cells[2][i] = (int32_t)fixture_random(&f, 4);
    rows[i] = ROWS - 1 - i;
    place[rows[i]] = i;
  }
  assert_int_equal(nai_rows_arrange(rows, ROWS, keys, COLUMNS, &err), NAI_OK);
  for (uint32_t i = 0; i < ROWS; i++)
    for (uint32_t j = i + 1; j < ROWS; j++) {
      uint32_t a = rows[i], b = rows[j];
      int c = 0;
      while (c < COLUMNS && cells[c][a] == cells[c][b])
        c++;
      assert_true(c < COLUMNS ? cells[c][a] < cells[c][b] : place[a] < place[b]);
    }
  for (int c = 0; c < COLUMNS; c++)
    free(cells[c]);
}
