/* The pages of an index: every run in one of them, the worst first, and none left of a longer index. */
#include "unit.h"

#include "base/fs.h"
#include "index/index.h"
#include "tables/index_findings.h"
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

/* Runs first, first + 1, ... below `end` of `runs`: each with a metric and a finding that are alike, the last one
 * failed.
 */
static void fill(struct nai_index *index, int64_t first, int64_t end, int64_t runs) {
  must(nai_index_new(index, &err));
  for (int64_t i = first; i < end; i++) {
    char id[32];
    snprintf(id, sizeof id, "r%05" PRId64, i);
    nai_index_add(index, &(struct RUNS_row)NAI_ROW(RUNS, .run_id = id, .status = i + 1 < runs ? "ok" : "failed"));
    NAI_ADD(INDEX_METRICS, index->metrics, .run_id = id, .capture = 0, .metric = "m", .unit = "ns",
            .value = 7.0 + (double)(i % 3), .basis = "total", .better = "lower");
    NAI_ADD(INDEX_FINDINGS, index->findings, .run_id = id, .capture = 0, .finding = 1, .rule = "rule",
            .severity = "low", .title = id, .saving_ns = 5 + i % 3);
  }
}

static void write_index(const char *directory, int64_t runs) {
  NAI_SCOPED(nai_index) index = {0};
  fill(&index, 0, runs, runs);
  must(nai_index_write(&index, directory, &err));
}

/* The last runs first. */
static void write_pieces(const char *directory, int64_t runs, int64_t piece) {
  NAI_OWNED(nai_index_writer) *writer = NULL;
  must(nai_index_writer_begin(&writer, directory, &err));
  for (int64_t end = runs; end > 0; end -= piece) {
    NAI_SCOPED(nai_index) index = {0};
    fill(&index, end > piece ? end - piece : 0, end, runs);
    must(nai_index_writer_add(writer, &index, &err));
  }
  must(nai_index_writer_finish(writer, NULL, &err));
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

static void remove_index(const char *directory) {
  const char *const files[] = {"index.html", "index.csv", "index.sqlite"};
  char path[PATH_MAX];
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    snprintf(path, sizeof path, "%s/%s", directory, files[i]);
    assert_int_equal(unlink(path), 0);
  }
  assert_int_equal(rmdir(directory), 0);
}

TEST(test_parts) {
  char directory[] = "/tmp/nsys-ai-index-XXXXXX";
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
  remove_index(directory);
}

/* Findings and metrics of all runs, which are the same however runs come. */
static char *summary_of(struct nai_buf *page, const char *directory) {
  assert_true(read_page(page, directory, 0));
  char *begin = strstr(page->data, "<h2>Findings"), *end = begin ? strstr(begin, "<script") : NULL;
  assert_non_null(end);
  *end = '\0';
  return begin;
}

TEST(test_pieces) {
  enum { RUNS = 20 };
  char directory[] = "/tmp/nsys-ai-index-XXXXXX";
  NAI_SCOPED(nai_buf) whole = {0}, pieces = {0};
  assert_non_null(mkdtemp(directory));
  write_index(directory, RUNS);
  const char *expected = summary_of(&whole, directory);
  write_pieces(directory, RUNS, 7);
  assert_int_equal(check_pages(directory, RUNS), 1);
  const char *summary = summary_of(&pieces, directory);
  assert_string_equal(summary, expected);
  assert_non_null(strstr(summary, "r00002")); /* of those with the largest saving the first */
  remove_index(directory);
}
