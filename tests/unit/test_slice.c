/* A stretch of a run's events: every row that touches it, and nothing else; looked at row by row. */
#include "model_fixture.h"

#include "viewer/slice.h"
#include "tables/nvtx_events.h"
#include "viewer/viewer.h"

#include <stdio.h>

enum { KERNELS = 400 };

static void make(struct fixture *f) {
  fixture_init(f);
  fixture_gpu(f, 0);
  int32_t process = fixture_process(f, 10), thread = fixture_thread(f, process, 10);
  int64_t at = 1000;
  char name[24];
  for (int i = 0; i < KERNELS; i++) {
    int64_t start = at + fixture_random(f, 500), length = 1 + fixture_random(f, 400);
    snprintf(name, sizeof name, "kernel_%d", i % 7);
    fixture_nvtx(f, at - 20, at + 60, thread, i % 3 ? "inner" : "outer", NAI_NVTX_PUSH_POP);
    fixture_api(f, at, at + 30, thread, "cudaLaunchKernel", i + 1);
    fixture_kernel(f, start, start + length, name, 0, process, 7, i + 1);
    at += 700;
  }
  fixture_nvtx(f, 0, at, thread, "whole", NAI_NVTX_PUSH_POP);
}

static bool touches(const struct nai_table *t, int64_t row, int64_t begin, int64_t end) {
  int64_t a = nai_get_i64(t, row, 0), b = nai_get_i64(t, row, 1);
  return a < end && (a >= begin || b > begin);
}

/* The rows of `to` are those of `from` that touch the stretch, cell by cell. */
static void check_rows(const struct nai_table *to, const struct nai_table *from, int64_t begin, int64_t end) {
  int64_t at = 0;
  for (int64_t row = 0; row < from->rows; row++) {
    if (!touches(from, row, begin, end))
      continue;
    assert_true(at < to->rows);
    for (uint32_t c = 0; c < from->schema->column_count; c++) {
      struct nai_value a = nai_table_value(from, row, (int)c), b = nai_table_value(to, at, (int)c);
      assert_int_equal(a.null, b.null);
      if (a.null)
        continue;
      if (from->schema->columns[c].type == NAI_STR)
        assert_string_equal(nai_get_str(from, row, (int)c), nai_get_str(to, at, (int)c));
      else if (from->schema == &nai_nvtx_events_schema && c == NVTX_EVENTS_export_row_offset)
        assert_int_equal(a.i + row, b.i + at); /* the same row of the export */
      else
        assert_int_equal(a.i, b.i);
    }
    at++;
  }
  assert_int_equal(at, to->rows);
}

TEST(test_rows) {
  struct fixture f;
  make(&f);
  for (int i = 0; i < 20; i++) {
    struct nai_slice slice;
    int64_t begin = fixture_random(&f, 200 * 1000), end = begin + fixture_random(&f, 90 * 1000);
    ok(nai_slice_new(&slice, f.in.tables, begin, end, err));
    check_rows(slice.tables[NAI_IN_KERNELS], f.in.tables[NAI_IN_KERNELS], begin, end);
    check_rows(slice.tables[NAI_IN_APIS], f.in.tables[NAI_IN_APIS], begin, end);
    check_rows(slice.tables[NAI_IN_NVTX], f.in.tables[NAI_IN_NVTX], begin, end);
    assert_ptr_equal(slice.tables[NAI_IN_THREADS], f.in.tables[NAI_IN_THREADS]);
    nai_slice_free(&slice);
  }
  fixture_free(&f);
}

static int64_t starts_within(const struct fixture *f, int64_t begin, int64_t end) {
  static const int tables[] = {NAI_IN_KERNELS, NAI_IN_APIS, NAI_IN_NVTX};
  int64_t n = 0;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    for (int64_t row = 0; row < f->in.tables[tables[i]]->rows; row++) {
      int64_t start = nai_get_i64(f->in.tables[tables[i]], row, 0);
      n += start >= begin && start < end;
    }
  return n;
}

/* No more than asked for, and most of it: half as much again on either side would be too much. */
TEST(test_size) {
  struct fixture f;
  make(&f);
  for (int64_t most = 60; most < 1200; most += 60) {
    int64_t begin, end, from = 50 * 1000 + fixture_random(&f, 100 * 1000), to = from + 700;
    ok(nai_slice_find(&begin, &end, f.in.tables, from, to, (uint64_t)most, err));
    assert_true(begin < from && end > to && from - begin == end - to);
    assert_true(starts_within(&f, begin, end) <= most);
    assert_true(starts_within(&f, begin - (from - begin) / 2, end + (from - begin) / 2) > most * 8 / 10);
  }
  int64_t begin, end;
  ok(nai_slice_find(&begin, &end, f.in.tables, 0, 0, 3 * KERNELS + 1, err));
  assert_true(begin == INT64_MIN && end == INT64_MAX);
  struct nai_slice slice;
  ok(nai_slice_new(&slice, f.in.tables, begin, end, err));
  assert_true(slice.whole);
  assert_ptr_equal(slice.tables[NAI_IN_KERNELS], f.in.tables[NAI_IN_KERNELS]);
  nai_slice_free(&slice);
  fixture_free(&f);
}

/* Of a place richer than asked for the beginning is shown. */
TEST(test_crowd) {
  struct fixture f;
  int64_t begin, end;
  make(&f);
  ok(nai_slice_find(&begin, &end, f.in.tables, 70 * 1000, 200 * 1000, 60, err));
  assert_true(begin < 70 * 1000 && end > 70 * 1000);
  assert_in_range(starts_within(&f, begin, end), 20, 60);
  fixture_free(&f);
}

/* A page can be made of a slice, of all events or of fewer: its events are the slice's. */
static void check_page(int page_events) {
  struct fixture f;
  struct nai_slice slice;
  struct nai_table *blocks = NULL;
  struct nai_model m;
  make(&f);
  ok(nai_slice_new(&slice, f.in.tables, 100 * 1000, 140 * 1000, err));
  const struct nai_model_options options = {
      .classes = f.classes, .map_nvtx = true, .page_events = page_events, .worker_count = 1};
  nai_model_open(&m, slice.tables, &options);
  ok(nai_model_build(&m, NAI_VIEWER_PARTS, err));
  ok(nai_viewer_data(&blocks, &m, &(struct nai_viewer_input){0}, err));
  assert_int_equal(m.lanes.total, slice.tables[NAI_IN_KERNELS]->rows + slice.tables[NAI_IN_APIS]->rows +
                                      slice.tables[NAI_IN_NVTX]->rows);
  nai_table_free(blocks);
  nai_model_free(&m);
  nai_slice_free(&slice);
  fixture_free(&f);
}

TEST(test_page) { check_page(1000); }

TEST(test_page_of_fewer_events) { check_page(10); }
