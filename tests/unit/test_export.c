/* Rows of events that overlap, and gzip. */
#include "unit.h"

#include "features/export/timeline.h"

#include <stdlib.h>

/* Against the definition: the first row whose events all end at or before the start. */
TEST(rows_as_defined) {
  enum { EVENTS = 3000 };
  static int64_t row_end[EVENTS];
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_layout layout = {.arena = &arena};
  struct nai_err err;
  uint32_t rows = 0, row;
  uint64_t random = 7;
  int64_t start = 0;
  for (int i = 0; i < EVENTS; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    start += (int64_t)(random >> 60);
    int64_t end = start + (int64_t)(random >> 33) % (i % 50 ? 60 : 3000);
    uint32_t want = 0;
    while (want < rows && row_end[want] > start)
      want++;
    rows += want == rows;
    row_end[want] = end;
    assert_int_equal(nai_layout_place(&row, &layout, start, end, &err), NAI_OK);
    assert_int_equal(row, want);
  }
  assert_int_equal(layout.rows, rows);
  assert_true(rows > 5);
}

static int full(struct nai_sink *sink, const void *text, size_t len) {
  (void)sink, (void)text, (void)len;
  return 28; /* ENOSPC */
}

TEST(gzip_reports_a_full_disk) {
  struct nai_sink sink = {full, "x", 4096};
  struct nai_buf into = {.sink = &sink};
  struct nai_gzip gzip;
  struct nai_err err;
  assert_int_equal(nai_gzip_open(&gzip, &into, &err), NAI_OK);
  for (uint64_t i = 1; i < 2000000; i++)
    nai_buf_printf(&gzip.text, "%llx", (unsigned long long)(i * 0x9e3779b97f4a7c15u));
  assert_int_equal(nai_gzip_close(&gzip, NAI_OK, &err), NAI_EIO);
  nai_buf_free(&into);
}

TEST(gzip_of_nothing) {
  struct nai_buf into = {0};
  struct nai_gzip gzip;
  struct nai_err err;
  assert_int_equal(nai_gzip_open(&gzip, &into, &err), NAI_OK);
  assert_int_equal(nai_gzip_close(&gzip, NAI_OK, &err), NAI_OK);
  assert_int_equal(into.len, 20);
  nai_buf_free(&into);
}
