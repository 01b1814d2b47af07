/* The pages of an index: every run in one of them, the worst first, and none left of a longer index. */
#include "unit.h"

#include "base/fs.h"
#include "index/index.h"
#include "tables/index_metrics.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IN_A_PART = 1000 };

static struct nai_err err;

static void must(int rc) {
  if (rc)
    print_error("%s\n", err.msg);
  assert_int_equal(rc, 0);
}

/* Runs r00000, r00001, ...: each with a metric, the last one failed. */
static void write_index(const char *directory, int64_t runs) {
  NAI_SCOPED(nai_index) index = {0};
  must(nai_index_new(&index, &err));
  for (int64_t i = 0; i < runs; i++) {
    char id[32];
    snprintf(id, sizeof id, "r%05" PRId64, i);
    nai_index_add(&index, &(struct RUNS_row)NAI_ROW(RUNS, .run_id = id, .status = i + 1 < runs ? "ok" : "failed"));
    NAI_ADD(INDEX_METRICS, index.metrics, .run_id = id, .capture = 0, .metric = "m", .unit = "ns", .value = 7.0,
            .basis = "total");
  }
  must(nai_index_write(&index, directory, &err));
}

static bool read_page(struct nai_buf *out, const char *directory, int64_t part) {
  char name[NAI_INDEX_PAGE_NAME], path[PATH_MAX];
  nai_index_page_name(name, part);
  snprintf(path, sizeof path, "%s/%s", directory, name);
  if (!nai_fs_exists(path))
    return false;
  must(nai_fs_read(out, path, 64 << 20, NAI_EINPUT, &err));
  return true;
}

static int64_t count(const char *text, const char *what) {
  int64_t n = 0;
  for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
    n++;
  return n;
}

/* How many parts there are; each has its runs, their values, and leads to the others. */
static int64_t check_pages(const char *directory, int64_t runs) {
  int64_t part = 0, rows = 0;
  for (;; part++) {
    NAI_SCOPED(nai_buf) page = {0};
    if (!read_page(&page, directory, part))
      break;
    int64_t left = runs - part * IN_A_PART, here = left < IN_A_PART ? left : IN_A_PART;
    const char *text = nai_buf_str(&page);
    assert_int_equal(count(text, "<tr data-id="), here);
    assert_int_equal(count(text, "[\"m\""), here);
    assert_int_equal(count(text, "<h2>Findings"), part == 0);
    assert_int_equal(count(text, "href=\"index"), runs > IN_A_PART ? (runs - 1) / IN_A_PART : 0);
    rows += here;
  }
  assert_int_equal(rows, runs);
  return part;
}

static void test_parts(void **state) {
  (void)state;
  char directory[] = "/tmp/nsys-ai-index-XXXXXX", path[PATH_MAX];
  static const struct {
    int64_t runs, parts;
  } cases[] = {{2 * IN_A_PART + 1, 3}, {2 * IN_A_PART, 2}, {4 * IN_A_PART, 4}, {IN_A_PART, 1}};
  assert_non_null(mkdtemp(directory));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    NAI_SCOPED(nai_buf) first = {0};
    write_index(directory, cases[i].runs);
    assert_int_equal(check_pages(directory, cases[i].runs), cases[i].parts);
    assert_true(read_page(&first, directory, 0));
    assert_int_equal(count(nai_buf_str(&first), "class=\"failed\""), 1); /* the last run is the worst */
  }
  const char *const files[] = {"index.html", "index.csv", "index.sqlite"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    snprintf(path, sizeof path, "%s/%s", directory, files[i]);
    assert_int_equal(unlink(path), 0);
  }
  assert_int_equal(rmdir(directory), 0);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts)};

UNIT_GROUP(index_pages, NULL, NULL)
