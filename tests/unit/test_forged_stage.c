/* Stage files with correct checksums and numbers out of range: the run takes them for stale and reads the trace again.
 */
#include "unit.h"

#include "generated_trace.h"
#include "base/fs.h"
#include "index/index.h"
#include "pipeline/analyze.h"
#include "pipeline/options.h"
#include "table/set.h"
#include "tables/book.h"
#include "tables/events.h"
#include "tables/index_metrics.h"
#include "tables/metrics.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs the analysis; returns whether extraction was reused. */
static bool run(const char *phase_map, struct nai_buf *summary) {
  const struct nai_options options = {.trace = trace,
                                      .out = out,
                                      .map_nvtx = true,
                                      .keep_stages = true,
                                      .nvtx_coverage_warn_threshold = -1,
                                      .phase_map = phase_map,
                                      .threads = 2};
  struct nai_result result = {0};
  struct nai_err err = {0};
  if (nai_analyze(&result, &options, NULL, &err))
    fail_msg("%s", err.msg);
  bool reused = true;
  for (uint32_t i = 0; i < result.node_count; i++)
    reused &= strcmp(result.nodes[i].name, "extract") != 0 || !result.nodes[i].ran;
  nai_buf_clear(summary);
  nai_buf_puts(summary, nai_buf_str(&result.summary));
  nai_result_free(&result);
  return reused;
}

static const char *stage_file(void) {
  static char path[256];
  snprintf(path, sizeof path, "%s/stages/extract.ntab", out);
  return path;
}

/* The tables of the file of stage extract; the one of that name is put into `named`. */
static size_t open_all(struct nai_table *tables[NAI_IN_COUNT], size_t *named, const char *name) {
  struct nai_table *list = NULL;
  assert_int_equal(nai_table_open(&list, stage_file(), &nai_table_set_schema, NULL), 0);
  size_t count = (size_t)list->rows;
  for (size_t i = 0; i < count; i++) {
    const char *held = nai_get_str(list, (int64_t)i, TABLE_SET_table_name);
    if (strcmp(held, name) == 0)
      *named = i;
    assert_int_equal(
        nai_table_set_open(&tables[i], AT_FDCWD, stage_file(), list, (int64_t)i, nai_book_find_named(held), NULL), 0);
  }
  nai_table_free(list);
  return count;
}

/* Writes the stage's file with one cell of a table changed. */
static void forge(const struct nai_schema *schema, int column, int64_t value) {
  struct nai_table *tables[NAI_IN_COUNT] = {NULL}, *good, *bad = NULL;
  size_t at = NAI_IN_COUNT, count = open_all(tables, &at, schema->name);
  assert_true(at < count);
  good = tables[at];
  assert_true(good->rows > 0);
  assert_int_equal(nai_table_new(&bad, schema, NULL), 0);
  for (int64_t row = 0; row < good->rows; row++) {
    nai_table_add_row(bad);
    for (int c = 0; c < (int)schema->column_count; c++) {
      struct nai_value v = nai_table_value(good, row, c);
      if (v.type == NAI_STR)
        nai_set_str(bad, row, c, v.null ? NULL : v.s);
      else
        nai_set_i64(bad, row, c, v.null ? NAI_NULL_I64 : v.i);
    }
  }
  if (schema->columns[column].type == NAI_STR)
    nai_column_str(bad, column)[0] = (uint32_t)value;
  else
    nai_set_i64(bad, 0, column, value);
  bad->key = good->key;
  tables[at] = bad;
  unlink(stage_file());
  assert_int_equal(nai_table_set_write(tables, count, nai_book_has_named, stage_file(), NULL), 0);
  nai_table_free(good);
  for (size_t i = 0; i < count; i++)
    nai_table_free(tables[i]);
}

TEST(test_forged) {
  static const struct {
    const struct nai_schema *schema;
    int column;
    int64_t value;
  } forged[] = {{&nai_kernel_events_schema, KERNEL_EVENTS_process, 1000000},
                {&nai_kernel_events_schema, KERNEL_EVENTS_name, 1000000},
                {&nai_kernel_events_schema, KERNEL_EVENTS_process, -2},
                {&nai_kernel_events_schema, KERNEL_EVENTS_device_id, -1},
                {&nai_memop_events_schema, MEMOP_EVENTS_device_id, -1},
                {&nai_memop_events_schema, MEMOP_EVENTS_bytes, NAI_NULL_I64},
                {&nai_gpus_schema, GPUS_device_id, 1000},
                {&nai_api_events_schema, API_EVENTS_thread, 123456789},
                {&nai_threads_schema, THREADS_process, 77},
                {&nai_kernel_events_schema, KERNEL_EVENTS_name, NAI_NO_STRING},
                {&nai_kernel_events_schema, KERNEL_EVENTS_process, NAI_NULL_I32},
                {&nai_kernel_events_schema, KERNEL_EVENTS_end_ns, -5},
                {&nai_kernel_events_schema, KERNEL_EVENTS_start_ns, INT64_MAX},
                {&nai_memop_events_schema, MEMOP_EVENTS_kind, NAI_NULL_I32},
                {&nai_api_events_schema, API_EVENTS_name, NAI_NO_STRING},
                {&nai_api_events_schema, API_EVENTS_thread, NAI_NULL_I32},
                {&nai_nvtx_events_schema, NVTX_EVENTS_thread, NAI_NULL_I32},
                {&nai_nvtx_events_schema, NVTX_EVENTS_name, NAI_NO_STRING},
                {&nai_nvtx_events_schema, NVTX_EVENTS_start_ns, NAI_NULL_I64}};
  struct nai_buf first = {0}, again = {0};
  assert_false(run(NULL, &first));
  for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
    assert_true(run(i % 2 ? "pytorch-ddp" : NULL, &again)); /* as it is, it is good */
    forge(forged[i].schema, forged[i].column, forged[i].value);
    run(i % 2 ? NULL : "pytorch-ddp", &again); /* another phase map: the analyses run again, on these events */
    assert_string_equal(nai_buf_str(&first), nai_buf_str(&again));
    struct nai_table *tables[NAI_IN_COUNT] = {NULL}; /* and the file is whole again */
    size_t at = 0, count = open_all(tables, &at, forged[i].schema->name);
    struct nai_value v = nai_table_value(tables[at], 0, forged[i].column);
    assert_true(v.null || v.type == NAI_STR || v.i != forged[i].value);
    for (size_t t = 0; t < count; t++)
      nai_table_free(tables[t]);
  }
  nai_buf_free(&first);
  nai_buf_free(&again);
}

/* A run of an earlier version, whose rates per second were called per step: trends go on from it. */
TEST(test_former_metric_ids) {
  enum { MOST = 64 };
  struct nai_table *tables[MOST] = {NULL}, *list = NULL, *former = NULL;
  struct nai_buf summary = {0};
  char path[300];
  run(NULL, &summary);
  nai_buf_free(&summary);
  snprintf(path, sizeof path, "%s/stages/recommend.ntab", out);
  assert_int_equal(nai_table_open(&list, path, &nai_table_set_schema, NULL), 0);
  size_t count = (size_t)list->rows, at = MOST;
  assert_true(count <= MOST);
  for (size_t i = 0; i < count; i++) {
    const char *name = nai_get_str(list, (int64_t)i, TABLE_SET_table_name);
    at = strcmp(name, "metrics") == 0 ? i : at;
    assert_int_equal(nai_table_set_open(&tables[i], AT_FDCWD, path, list, (int64_t)i, nai_book_find_named(name), NULL),
                     0);
  }
  nai_table_free(list);
  assert_true(at < MOST);
  assert_int_equal(nai_table_new(&former, &nai_metrics_schema, NULL), 0);
  NAI_ADD(METRICS, former, .metric = "gpu.idle.per_step", .basis = "second", .value = 5);
  NAI_ADD(METRICS, former, .metric = "gpu.busy.per_step", .basis = "step", .value = 6);
  former->key = tables[at]->key;
  nai_table_free(tables[at]);
  tables[at] = former;
  unlink(path);
  assert_int_equal(nai_table_set_write(tables, count, nai_book_has_named, path, NULL), 0);
  for (size_t i = 0; i < count; i++)
    nai_table_free(tables[i]);

  struct nai_index index = {0};
  assert_int_equal(nai_index_new(&index, NULL), 0);
  int64_t row = nai_index_add(&index, &(struct RUNS_row)NAI_ROW(RUNS, .run_id = "r"));
  assert_int_equal(nai_index_add_capture(&index, row, 0, out, out, NULL), 0);
  assert_int_equal(index.metrics->rows, 2);
  assert_string_equal(nai_get_str(index.metrics, 0, INDEX_METRICS_metric), "gpu.idle.per_second");
  assert_string_equal(nai_get_str(index.metrics, 1, INDEX_METRICS_metric), "gpu.busy.per_step");
  nai_index_free(&index);
}

UNIT_FIXTURE(make_trace, remove_trace)
