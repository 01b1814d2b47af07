/* What an index has of one run, as bytes: whole, damaged, forged, and of a program with other columns. */
#include "unit.h"

#include "base/hash.h"
#include "index/index.h"
#include "tables/index_findings.h"
#include "tables/index_kernels.h"
#include "tables/index_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODY = 16 }; /* behind magic and hash */

static struct nai_err err;

static void must(int rc) {
  if (rc)
    print_error("%s\n", err.msg);
  assert_int_equal(rc, 0);
}

static void add_metric(struct nai_index *index, const char *id, double value) {
  NAI_ADD(INDEX_METRICS, index->metrics, .run_id = "r", .capture = 0, .metric = id, .unit = "ns", .value = value,
          .n = -5, .basis = "");
}

static void fill(struct nai_index *index) {
  must(nai_index_new(index, &err));
  nai_index_add(index, &(struct RUNS_row)NAI_ROW(RUNS, .run_id = "r", .status = "of the capture", .utc_ns = -1,
                                                 .tool_version = "1.2", .window_ns = INT64_MAX));
  add_metric(index, "b", 2.5);
  add_metric(index, "a", (double)NAN);
  NAI_ADD(INDEX_KERNELS, index->kernels, .run_id = "r", .capture = 0, .name = "k<\xc3\xa4>", .kernel_count = 3);
}

static void pack(struct nai_buf *out) {
  NAI_SCOPED(nai_index) index = {0};
  fill(&index);
  must(nai_index_pack(out, &index, &err));
}

/* Into an index that knows the run's status already, and has another run. */
static bool unpack(struct nai_index *index, const struct nai_buf *bytes) {
  bool taken;
  must(nai_index_new(index, &err));
  nai_index_add(index, &(struct RUNS_row)NAI_ROW(RUNS, .run_id = "other"));
  add_metric(index, "of another", 1);
  int64_t row = nai_index_add(index, &(struct RUNS_row)NAI_ROW(RUNS, .run_id = "mine", .status = "ok"));
  must(nai_index_unpack(&taken, index, row, bytes, &err));
  return taken;
}

static void sign(struct nai_buf *bytes) {
  uint64_t hash = nai_hash_bytes(0, bytes->data + BODY, bytes->len - BODY);
  memcpy(bytes->data + 8, &hash, sizeof hash);
}

TEST(test_whole) {
  NAI_SCOPED(nai_buf) bytes = {0}, again = {0};
  NAI_SCOPED(nai_index) index = {0};
  pack(&bytes);
  pack(&again);
  assert_int_equal(bytes.len, again.len);
  assert_memory_equal(bytes.data, again.data, bytes.len);
  assert_true(unpack(&index, &bytes));
  assert_int_equal(index.runs->rows, 2);
  struct RUNS_row run = RUNS_at(index.runs, 1);
  assert_string_equal(run.run_id, "mine");
  assert_string_equal(run.status, "ok"); /* what was known stays */
  assert_string_equal(run.tool_version, "1.2");
  assert_true(run.utc_ns == -1 && run.window_ns == INT64_MAX && run.gpu_count == NAI_NULL_I64);
  assert_int_equal(index.metrics->rows, 3);
  struct INDEX_METRICS_row a = INDEX_METRICS_at(index.metrics, 1), b = INDEX_METRICS_at(index.metrics, 2);
  assert_string_equal(a.metric, "a");
  assert_true(isnan(a.value) && b.value == 2.5 && b.n == -5);
  assert_string_equal(b.run_id, "mine");
  assert_true(nai_table_value(index.metrics, 2, INDEX_METRICS_gate).null);
  assert_string_equal(nai_get_str(index.kernels, 0, INDEX_KERNELS_name), "k<\xc3\xa4>");
  assert_int_equal(index.findings->rows, 0);
}

static void check_refused(const struct nai_buf *bytes) {
  NAI_SCOPED(nai_index) index = {0};
  assert_false(unpack(&index, bytes));
  assert_true(index.metrics->rows == 1 && !index.findings->rows && !index.kernels->rows);
  assert_true(nai_get_i64(index.runs, 1, RUNS_window_ns) == NAI_NULL_I64);
}

TEST(test_damaged) {
  NAI_SCOPED(nai_buf) bytes = {0};
  pack(&bytes);
  for (size_t i = 0; i < bytes.len; i++) {
    struct nai_buf shorter = {.data = bytes.data, .len = i};
    check_refused(&shorter);
    bytes.data[i] ^= 1;
    check_refused(&bytes);
    bytes.data[i] ^= 1;
  }
}

/* Whole, but cut or changed by somebody who knows the hash: refused, or taken as it is; never read beyond its end. */
TEST(test_forged) {
  NAI_SCOPED(nai_buf) bytes = {0};
  pack(&bytes);
  for (size_t n = bytes.len - 1; n > BODY; n--) {
    char *exact = malloc(n);
    assert_non_null(exact);
    memcpy(exact, bytes.data, n);
    struct nai_buf shorter = {.data = exact, .len = n};
    sign(&shorter);
    check_refused(&shorter);
    free(exact);
  }
  for (size_t i = BODY; i < bytes.len; i++)
    for (int bit = 0; bit < 8; bit++) {
      NAI_SCOPED(nai_index) index = {0};
      bytes.data[i] ^= (char)(1 << bit);
      sign(&bytes);
      if (!unpack(&index, &bytes))
        assert_int_equal(index.metrics->rows, 1);
      else
        must(nai_index_sort(&index, &err));
      bytes.data[i] ^= (char)(1 << bit);
    }
}

/* A row that is there twice would count twice. */
TEST(test_twice) {
  NAI_SCOPED(nai_index) index = {0};
  NAI_SCOPED(nai_buf) bytes = {0};
  fill(&index);
  add_metric(&index, "b", 7);
  must(nai_index_pack(&bytes, &index, &err));
  check_refused(&bytes);
}

/* Another version's columns: those of a name and type that we know are taken, the others left out. */
TEST(test_other_columns) {
  NAI_SCOPED(nai_buf) bytes = {0};
  NAI_SCOPED(nai_index) index = {0};
  pack(&bytes);
  char *unit = memmem(bytes.data, bytes.len, "\x04unit", 5), *value = memmem(bytes.data, bytes.len, "\x05value", 6);
  assert_true(unit && value);
  unit[1] = 'X';
  sign(&bytes);
  assert_true(unpack(&index, &bytes));
  assert_true(nai_table_value(index.metrics, 2, INDEX_METRICS_unit).null);
  assert_true(nai_get_f64(index.metrics, 2, INDEX_METRICS_value) == 2.5);
}
