/* Stage files with correct checksums and numbers out of range: the run takes them for stale and reads the trace again.
 */
#include "unit.h"

#include "generated_trace.h"
#include "base/fs.h"
#include "pipeline/analyze.h"
#include "pipeline/options.h"
#include "table/table.h"
#include "tables/events.h"

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
  if (nai_analyze(&result, &options, NULL, NULL, &err))
    fail_msg("%s", err.msg);
  bool reused = true;
  for (uint32_t i = 0; i < result.node_count; i++)
    reused &= strcmp(result.nodes[i].name, "extract") != 0 || !result.nodes[i].ran;
  nai_buf_clear(summary);
  nai_buf_puts(summary, nai_buf_str(&result.summary));
  nai_result_free(&result);
  return reused;
}

/* Copies the table file with one cell changed. */
static void forge(const struct nai_schema *schema, int column, int64_t value) {
  char path[256];
  struct nai_table *good = NULL, *bad = NULL;
  snprintf(path, sizeof path, "%s/stages/%s.ntab", out, schema->name);
  assert_int_equal(nai_table_open(&good, path, schema, NULL), 0);
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
  unlink(path);
  assert_int_equal(nai_table_write(bad, path, good->key, NULL), 0);
  nai_table_free(good);
  nai_table_free(bad);
}

TEST(test_forged) {
  static const struct {
    const struct nai_schema *schema;
    int column;
    int64_t value;
  } forged[] = {{&nai_kernel_events_schema, KERNEL_EVENTS_process, 1000000},
                {&nai_kernel_events_schema, KERNEL_EVENTS_name, 1000000},
                {&nai_kernel_events_schema, KERNEL_EVENTS_process, -2},
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
    struct nai_table *table = NULL; /* and the file is whole again */
    char path[256];
    snprintf(path, sizeof path, "%s/stages/%s.ntab", out, forged[i].schema->name);
    assert_int_equal(nai_table_open(&table, path, forged[i].schema, NULL), 0);
    struct nai_value v = nai_table_value(table, 0, forged[i].column);
    assert_true(v.null || v.type == NAI_STR || v.i != forged[i].value);
    nai_table_free(table);
  }
  nai_buf_free(&first);
  nai_buf_free(&again);
}

UNIT_FIXTURE(make_trace, remove_trace)
