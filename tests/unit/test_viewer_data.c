/* The data blocks of report.html, decoded as docs/viewer.md says and compared with the model they were made from. */
#include "model_fixture.h"

#include "base/fmt.h"
#include "viewer/viewer.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <zlib.h>

enum { START, DURATION, NAME, LINK, CORR, AUX, COUNT, BUSY, COLUMNS };
static const char *const column_names[COLUMNS] = {"start", "duration", "name", "link", "corr", "aux", "count", "busy"};
static const char *const encodings[COLUMNS] = {"delta",        "varint", "varint", "zigzag_delta",
                                               "zigzag_delta", "varint", "varint", "varint"};

struct page {
  struct nai_table *table;
  json_t *json;
  unsigned char *raw;
  int64_t *values[COLUMNS];
  int64_t events;
};

static int64_t number(const json_t *object, const char *key) {
  const json_t *v = json_object_get(object, key);
  assert_true(json_is_integer(v));
  return json_integer_value(v);
}

static size_t base64(unsigned char *out, const char *text) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t n = 0;
  uint32_t bits = 0;
  int held = 0;
  for (; *text && *text != '='; text++) {
    const char *at = strchr(digits, *text);
    assert_non_null(at);
    bits = bits << 6 | (uint32_t)(at - digits);
    held += 6;
    if (held >= 8)
      out[n++] = (unsigned char)(bits >> (held -= 8));
  }
  return n;
}

/* What was deflated, with nothing around it: its length, which is at most `room`. */
static size_t inflated(unsigned char *out, size_t room, unsigned char *packed, size_t len) {
  z_stream z = {.next_in = packed, .avail_in = (uInt)len, .next_out = out, .avail_out = (uInt)room};
  assert_int_equal(inflateInit2(&z, -15), Z_OK);
  assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
  assert_int_equal(z.avail_in, 0);
  inflateEnd(&z);
  return room - z.avail_out;
}

/* As it is, or deflated. */
static json_t *load_json(const char *text) {
  enum { ROOM = 64 << 20 };
  json_error_t error;
  if (*text == '{')
    return json_loads(text, 0, &error);
  unsigned char *packed = malloc(strlen(text) + 4), *raw = malloc(ROOM);
  size_t size = inflated(raw, ROOM, packed, base64(packed, text));
  json_t *json = json_loadb((const char *)raw, size, 0, &error);
  free(packed);
  free(raw);
  return json;
}

static void decode(struct page *page, struct fixture *f, const struct nai_interval *places, size_t place_count) {
  ok(nai_viewer_data(&page->table, &f->m, &(struct nai_viewer_input){places, place_count, NULL}, err));
  assert_int_equal(page->table->rows, 2);
  page->json = load_json(cell_text(page->table, 0, "text"));
  assert_non_null(page->json);
  page->events = number(page->json, "events");
  assert_int_equal(page->events, number(page->json, "embedded_events"));
  size_t size = (size_t)number(page->json, "raw_bytes");
  const char *text = cell_text(page->table, 1, "text");
  unsigned char *packed = malloc(strlen(text) + 4), *raw = malloc(size + 1);
  assert_int_equal(inflated(raw, size, packed, base64(packed, text)), size);
  free(packed);
  const json_t *columns = json_object_get(page->json, "columns");
  const bool single = json_array_size(columns) == COUNT; /* of pages without aggregates */
  assert_int_equal(json_array_size(columns), single ? COUNT : COLUMNS);
  for (size_t c = COUNT; c < COLUMNS && single; c++) {
    page->values[c] = calloc((size_t)page->events + 1, sizeof(int64_t));
    for (int64_t i = 0; c == COUNT && i < page->events; i++)
      page->values[c][i] = 1;
  }
  for (size_t c = 0; c < json_array_size(columns); c++) {
    const json_t *column = json_array_get(columns, c);
    assert_string_equal(json_string_value(json_object_get(column, "name")), column_names[c]);
    assert_string_equal(json_string_value(json_object_get(column, "encoding")), encodings[c]);
    const unsigned char *at = raw + number(column, "offset"), *end = at + number(column, "bytes");
    page->values[c] = malloc(((size_t)page->events + 1) * sizeof(int64_t));
    int64_t last = 0;
    for (int64_t i = 0; i < page->events; i++) {
      uint64_t v = 0;
      int shift = 0;
      do {
        assert_true(at < end && shift < 63);
        v |= (uint64_t)(*at & 0x7f) << shift;
        shift += 7;
      } while (*at++ & 0x80);
      assert_true(v < (uint64_t)1 << 53);
      if (strcmp(encodings[c], "zigzag_delta") == 0) {
        last += v & 1 ? -(int64_t)((v + 1) / 2) : (int64_t)(v / 2);
        page->values[c][i] = last;
      } else {
        page->values[c][i] = (int64_t)v;
      }
    }
    assert_ptr_equal(at, end);
  }
  const json_t *lanes = json_object_get(page->json, "lanes");
  int64_t first = 0;
  for (size_t l = 0; l < json_array_size(lanes);
       l++) { /* lanes follow each other; starts count from the lane's first */
    const json_t *lane = json_array_get(lanes, l);
    int64_t n = number(lane, "count");
    assert_int_equal(number(lane, "first"), first);
    assert_true(n > 0);
    for (int64_t i = first + 1; i < first + n; i++)
      page->values[START][i] += page->values[START][i - 1];
    first += n;
  }
  assert_int_equal(first, page->events);
  page->raw = raw;
}

static void page_free(struct page *page) {
  for (int c = 0; c < COLUMNS; c++)
    free(page->values[c]);
  json_decref(page->json);
  free(page->raw);
  nai_table_free(page->table);
}

static const char *name_of(const struct page *page, int64_t event) {
  return json_string_value(json_array_get(json_object_get(page->json, "names"), (size_t)page->values[NAME][event]));
}

static int64_t count_sum(const struct page *page) {
  int64_t sum = 0;
  for (int64_t i = 0; i < page->events; i++)
    sum += page->values[COUNT][i];
  return sum;
}

/* The one event of that name. */
static int64_t find(const struct page *page, const char *name) {
  int64_t found = -1;
  for (int64_t i = 0; i < page->events; i++)
    if (strcmp(name_of(page, i), name) == 0) {
      assert_int_equal(found, -1);
      found = i;
    }
  assert_true(found >= 0);
  return found;
}

static void expect(const struct page *page, const char *name, int64_t start, int64_t duration, int64_t corr,
                   int64_t aux) {
  int64_t i = find(page, name);
  assert_int_equal(page->values[START][i], start);
  assert_int_equal(page->values[DURATION][i], duration);
  assert_int_equal(page->values[CORR][i], corr);
  assert_int_equal(page->values[AUX][i], aux);
  assert_int_equal(page->values[COUNT][i], 1);
  assert_int_equal(page->values[BUSY][i], 0);
}

TEST(test_events) {
  struct fixture f;
  struct page page;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 10), thread = fixture_thread(&f, process, 11);
  fixture_gpu(&f, 0);
  fixture_nvtx(&f, -50, 1000, thread, "outer", NAI_NVTX_PUSH_POP);
  fixture_nvtx(&f, 0, 900, thread, "inner", NAI_NVTX_PUSH_POP);
  fixture_nvtx(&f, 5, 6, thread, "async", NAI_NVTX_START_END);
  fixture_nvtx(&f, 7, 7, thread, "mark", NAI_NVTX_MARK);
  fixture_api(&f, 10, 20, thread, "cudaLaunchKernel", 41);
  fixture_api(&f, 30, 60, thread, "cudaMemcpy", 42);
  fixture_api(&f, 70, 80, thread, "cudaStreamSynchronize", 43);
  fixture_api(&f, 81, 82, thread, "cudaEventQuery", INT64_MAX);
  fixture_api(&f, 83, 84, thread, "cudaGraphLaunch", INT64_MIN + 1);
  fixture_kernel(&f, 100, 150, "gemm", 0, process, 7, 41);
  fixture_memop(&f, 200, 230, NAI_MEMOP_COPY, 0, process, 7, 42, 4096, 1, 0, 2);
  fixture_memop(&f, 240, 241, NAI_MEMOP_SET, 0, process, 7, 99, 8, NAI_NULL_I64, NAI_NULL_I64, 2);
  fixture_graph(&f, 300, 400, 0, process, 8, INT64_MIN + 1);
  fixture_build(&f);
  decode(&page, &f, NULL, 0);
  assert_string_equal(json_string_value(json_object_get(page.json, "origin_ns")), "-50");
  assert_int_equal(number(page.json, "end_ns"), 1050);
  assert_int_equal(number(page.json, "total_events"), 12);
  assert_int_equal(page.events, 12);
  expect(&page, "outer", 0, 1050, 1, 0);
  expect(&page, "inner", 50, 900, 2, 1);
  expect(&page, "async", 55, 1, 3, 0);
  expect(&page, "cudaLaunchKernel", 60, 10, 41, 4); /* launched something */
  expect(&page, "cudaMemcpy", 80, 30, 42, 5);
  expect(&page, "cudaStreamSynchronize", 120, 10, 43, 1);
  expect(&page, "cudaEventQuery", 131, 1, 0, 2); /* an id no number of the page can hold */
  expect(&page, "gemm", 150, 50, 41, 1);
  expect(&page, "Host-to-Device", 250, 30, 42, 4096 << 4 | 0);
  expect(&page, "memset", 290, 1, 99, 8 << 4 | 1);
  const json_t *memory = json_object_get(page.json, "memory");
  assert_int_equal(json_array_size(memory), 2);
  assert_string_equal(json_string_value(json_object_get(json_array_get(memory, 0), "from")), "Pageable");
  assert_string_equal(json_string_value(json_object_get(json_array_get(memory, 0), "to")), "Device");
  assert_true(json_is_null(json_object_get(json_array_get(memory, 1), "from")));
  assert_string_equal(json_string_value(json_object_get(json_array_get(memory, 1), "to")), "Device");
  expect(&page, "CUDA graph", 350, 100, 0, 5);
  assert_int_equal(page.values[LINK][find(&page, "gemm")], find(&page, "cudaLaunchKernel") + 1);
  assert_int_equal(page.values[LINK][find(&page, "Host-to-Device")], find(&page, "cudaMemcpy") + 1);
  assert_int_equal(page.values[LINK][find(&page, "CUDA graph")], find(&page, "cudaGraphLaunch") + 1);
  assert_int_equal(page.values[LINK][find(&page, "memset")], 0);
  page_free(&page);
  fixture_free(&f);
}

/* Waits behind which the GPU has no work are numbered by place, as table launch_waits has them. */
TEST(test_waits_by_place) {
  enum { US = 1000, ROUND = 300 * US, WAIT = 1, LAUNCH = 4, WAIT_SHIFT = 3 };
  struct fixture f;
  struct page page;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 10), thread = fixture_thread(&f, process, 11);
  fixture_gpu(&f, 0);
  for (int i = 0; i < 6; i++) { /* three rounds in a range, three outside of it; behind the last one comes nothing */
    int64_t at = (int64_t)i * ROUND;
    if (i < 3)
      fixture_nvtx(&f, at, at + 200 * US, thread, "train", NAI_NVTX_PUSH_POP);
    fixture_api(&f, at + 10 * US, at + 20 * US, thread, "cudaLaunchKernel", 100 + i);
    fixture_api(&f, at + 30 * US, at + 130 * US, thread, "cudaStreamSynchronize", 200 + i);
    fixture_kernel(&f, at + 25 * US, at + 125 * US, "gemm", 0, process, 7, 100 + i);
  }
  fixture_build(&f);
  decode(&page, &f, NULL, 0);
  const json_t *waits = json_object_get(page.json, "waits");
  assert_int_equal(json_array_size(waits), 2);
  for (size_t i = 0; i < 2; i++) {
    const json_t *wait = json_array_get(waits, i);
    assert_int_equal(number(wait, "before"), 0);
    assert_int_equal(number(wait, "gpu"), 0);
    assert_string_equal(json_string_value(json_object_get(wait, "place")), i ? "" : "train");
  }
  for (int64_t i = 0, calls = 0; i < page.events; i++) {
    const bool sync = strcmp(name_of(&page, i), "cudaStreamSynchronize") == 0;
    if (strcmp(name_of(&page, i), "cudaLaunchKernel") == 0)
      assert_int_equal(page.values[AUX][i], LAUNCH);
    if (sync)
      assert_int_equal(page.values[AUX][i], WAIT | (calls < 3 ? 1 : calls < 5 ? 2 : 0) << WAIT_SHIFT);
    calls += sync;
  }
  page_free(&page);
  fixture_free(&f);
}

TEST(test_empty) {
  struct fixture f;
  struct page page;
  fixture_init(&f);
  fixture_build(&f);
  decode(&page, &f, NULL, 0);
  assert_int_equal(page.events, 0);
  page_free(&page);
  fixture_free(&f);
}

/* More streams than lanes: kernels and copies share lanes of their own kind. */
TEST(test_many_streams) {
  enum { N = 3000 };
  struct fixture f;
  struct page page;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 10);
  fixture_gpu(&f, 0);
  for (int i = 0; i < N; i++) {
    fixture_kernel(&f, 10 * i, 10 * i + 5, "k", 0, process, i, i + 1);
    fixture_memop(&f, 10 * i + 5, 10 * i + 8, NAI_MEMOP_COPY, 0, process, i, N + i, 77, 2, 2, 1);
  }
  fixture_build(&f);
  decode(&page, &f, NULL, 0);
  assert_int_equal(count_sum(&page), 2 * N);
  const json_t *lanes = json_object_get(page.json, "lanes");
  assert_true(json_array_size(lanes) <= 520);
  for (size_t l = 0; l < json_array_size(lanes); l++) {
    const json_t *lane = json_array_get(lanes, l);
    int copy = strcmp(json_string_value(json_object_get(lane, "kind")), "copy") == 0;
    for (int64_t i = number(lane, "first"); i < number(lane, "first") + number(lane, "count"); i++) {
      assert_string_equal(name_of(&page, i), copy ? "Device-to-Host" : "k");
      assert_int_equal(page.values[DURATION][i], copy ? 3 : 5);
    }
  }
  page_free(&page);
  fixture_free(&f);
}

static uint64_t varint(const unsigned char **at) {
  uint64_t v = 0;
  int shift = 0;
  do {
    v |= (uint64_t)(**at & 0x7f) << shift;
    shift += 7;
  } while (*(*at)++ & 0x80);
  return v;
}

/* Time and number of events of all series of a kind, and of one name (NULL: of any). */
static void sum_series(int64_t *ns, int64_t *count, const struct page *page, const char *kind, const char *name) {
  const json_t *series = json_object_get(page->json, "series"), *sums = json_object_get(page->json, "sums");
  const unsigned char *at = page->raw + number(sums, "offset"), *end = at + number(sums, "bytes");
  int64_t bins = number(json_object_get(page->json, "grid"), "bins");
  *ns = *count = 0;
  for (size_t i = 0; i < json_array_size(series); i++) {
    const json_t *one = json_array_get(series, i);
    const json_t *text = json_array_get(json_object_get(page->json, "names"), (size_t)number(one, "name"));
    bool wanted = strcmp(json_string_value(json_object_get(one, "kind")), kind) == 0 &&
                  (!name || strcmp(json_string_value(text), name) == 0);
    int64_t bin = -1;
    for (int64_t entry = 0; entry < number(one, "entries"); entry++) {
      bin += 1 + (int64_t)varint(&at);
      assert_true(bin < bins);
      int64_t time = (int64_t)varint(&at), events = (int64_t)varint(&at);
      varint(&at);
      *ns += wanted ? time : 0;
      *count += wanted ? events : 0;
    }
  }
  assert_ptr_equal(at, end);
}

static void expect_series(const struct page *page, const char *kind, const char *name, int64_t ns, int64_t count) {
  int64_t got_ns, got_count;
  sum_series(&got_ns, &got_count, page, kind, name);
  assert_int_equal(got_ns, ns);
  assert_int_equal(got_count, count);
}

/* Beyond the limit: counts still add up, everything in a detail window is an event of its own, blocks stay short. */
static void aggregated(int map_nvtx) {
  enum { N = 1600000, PERIOD = 1000 };
  struct fixture f;
  struct page page;
  fixture_init(&f);
  f.m.map_nvtx = map_nvtx;
  f.m.page_events = 300000;
  int32_t process = fixture_process(&f, 10), thread = fixture_thread(&f, process, 11);
  fixture_gpu(&f, 0);
  for (int64_t i = 0; i < 10000; i++) { /* start-up of the host, long before the GPU does anything */
    int64_t before = -50000LL * PERIOD * 10;
    fixture_api(&f, before + i * 50000, before + i * 50000 + 900, thread, "cudaMalloc", 10000000 + i);
  }
  for (int64_t i = 0; i < N / 2; i++) {
    fixture_api(&f, i * PERIOD, i * PERIOD + 300, thread, "cudaLaunchKernel", i + 1);
    fixture_nvtx(&f, i * PERIOD, i * PERIOD + 900, thread, i % 2 ? "odd" : "even", NAI_NVTX_PUSH_POP);
    fixture_nvtx(&f, i * PERIOD + 10, i * PERIOD + 20, thread, "deep", NAI_NVTX_PUSH_POP);
  }
  for (int64_t i = 0; i < 1000; i++)
    fixture_kernel(&f, i * PERIOD * 700, i * PERIOD * 700 + 50, "k", 0, process, 7, i + 1);
  fixture_build(&f);
  const struct nai_interval places[] = {{400000000, 400100000}};
  decode(&page, &f, places, 1);
  assert_true(json_is_true(json_object_get(page.json, "aggregated")));
  assert_int_equal(number(page.json, "total_events"), N / 2 * 3 + 11000);
  int64_t merged = 0;
  for (int64_t i = 0; i < page.events; i++)
    merged += page.values[COUNT][i] > 1 ? page.values[COUNT][i] : 0;
  NAI_SCOPED(nai_buf) said = {0};
  nai_buf_putc(&said, '(');
  nai_fmt_count(&said, merged);
  nai_buf_puts(&said, " of 2,411,000)");
  const char *note = json_string_value(json_object_get(page.json, "note"));
  assert_true(note && strstr(note, nai_buf_str(&said)));
  assert_int_equal(count_sum(&page), N / 2 * 3 + 11000);
  assert_true(page.events < 300000);
  int64_t origin = -50000LL * PERIOD * 10, inside = 0;
  for (int64_t i = 0; i < page.events; i++) {
    int64_t start = page.values[START][i] + origin;
    assert_true(page.values[BUSY][i] <= page.values[DURATION][i]);
    assert_true(page.values[DURATION][i] <= 2000000); /* the span's 16,000th, more or less */
    if (start < 400000000 || start >= 400100000)
      continue;
    assert_int_equal(page.values[COUNT][i], 1);
    inside++;
  }
  assert_int_equal(inside, 100 * 3);
  expect_series(&page, "kernel", "k", 1000 * 50, 1000);
  expect_series(&page, "call", "cudaLaunchKernel", N / 2 * 300LL, N / 2);
  expect_series(&page, "call", "cudaMalloc", 10000 * 900, 10000);
  expect_series(&page, "launch", NULL, 1000 * 300, 1000);
  int64_t counted = 0;
  const json_t *counts = json_object_get(page.json, "name_count");
  for (size_t i = 0; i < json_array_size(counts); i++)
    counted += json_integer_value(json_array_get(counts, i));
  assert_int_equal(counted, N / 2 * 3 + 11000);
  page_free(&page);
  fixture_free(&f);
}

TEST(test_aggregated) { aggregated(true); }

TEST(test_aggregated_unmapped) { aggregated(false); }

/* A range's depth is looked up, not counted: 100,000 levels with an event each take no time. */
TEST(test_deep) {
  enum { DEPTH = 100000 };
  struct fixture f;
  struct page page;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 10), thread = fixture_thread(&f, process, 11);
  for (int i = 0; i < DEPTH; i++)
    fixture_nvtx(&f, i, 3 * DEPTH - i, thread, "same", NAI_NVTX_PUSH_POP);
  fixture_build(&f);
  decode(&page, &f, NULL, 0);
  for (int64_t i = 0; i < DEPTH; i++)
    assert_int_equal(page.values[AUX][i], i < 255 ? i : 255);
  page_free(&page);
  fixture_free(&f);
}

/* Names can take more room than events: then the page is aggregated, and says how many it does not have. */
TEST(test_many_names) {
  enum { N = 50000 };
  struct fixture f;
  struct page page;
  char name[160];
  fixture_init(&f);
  int32_t process = fixture_process(&f, 10), thread = fixture_thread(&f, process, 11);
  uint64_t noise = 1;
  for (int64_t i = 0; i < N; i++) {
    for (int at = 0; at < 144; at += 16) /* which deflating leaves long */
      snprintf(name + at, sizeof name - (size_t)at, "%016" PRIx64, noise = noise * 6364136223846793005U + 1);
    fixture_nvtx(&f, i * 1000, i * 1000 + 900, thread, name, NAI_NVTX_PUSH_POP);
  }
  fixture_build(&f);
  decode(&page, &f, NULL, 0);
  assert_true(json_is_true(json_object_get(page.json, "aggregated")));
  assert_int_equal(count_sum(&page), N);
  int64_t listed = (int64_t)json_array_size(json_object_get(page.json, "names")),
          left_out = number(page.json, "names_left_out");
  assert_true(listed + left_out >= N && left_out > 0);
  assert_true(strlen(cell_text(page.table, 0, "text")) + strlen(cell_text(page.table, 1, "text")) <=
              NAI_VIEWER_MAX_BYTES);
  NAI_SCOPED(nai_buf) said = {0};
  nai_fmt_count(&said, left_out);
  nai_buf_puts(&said, " more names are not on the page");
  assert_non_null(strstr(json_string_value(json_object_get(page.json, "note")), nai_buf_str(&said)));
  page_free(&page);
  fixture_free(&f);
}
