/* Extraction from exports the test writes: which rows count, fallbacks between schemas, trimming, names. */
#include "model_fixture.h"
#include "sql_export.h"

#include "base/fs.h"
#include "tables/api_events.h"
#include "tables/capabilities.h"
#include "tables/kernel_events.h"
#include "tables/memop_events.h"
#include "tables/nvtx_events.h"

#include <stdio.h>
#include <unistd.h>

#include <sqlite3.h>

#define RUNTIME "CUPTI_ACTIVITY_KIND_RUNTIME"
#define KERNEL "CUPTI_ACTIVITY_KIND_KERNEL"
#define PID "(281474976710656 + 10 * 16777216)" /* globalPid of process 10 */

static void start(struct run *r, const char *sql, const struct nai_ingest_options *given) {
  write_export(r, sql);
  struct nai_ingest_options options = given ? *given : (struct nai_ingest_options){0};
  options.threads = options.threads ? options.threads : 2;
  options.directory = r->dir;
  ok(nai_trace_open(&r->trace, r->path, &(struct nai_trace_options){0}, err));
  r->rc = nai_probe(&r->in, r->trace, 0, &r->err);
  if (!r->rc)
    r->rc = nai_extract(&r->in, r->trace, &options, &r->err);
}

static int64_t note(const struct run *r, const char *check) {
  int64_t count = 0;
  static const enum nai_input_table all[] = {NAI_IN_PROBE_NOTES, NAI_IN_EXTRACT_NOTES};
  for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
    const struct nai_table *notes = r->in.tables[all[t]];
    for (int64_t i = 0; notes && i < notes->rows; i++)
      if (strcmp(nai_get_str(notes, i, PROBE_NOTES_check), check) == 0)
        count += nai_get_i64(notes, i, PROBE_NOTES_count);
  }
  return count;
}

static void must(const struct run *r) {
  if (r->rc)
    fail_msg("%s", r->err.msg);
}

TEST(test_rows_that_count) {
  struct run r;
  start(
      &r,
      "INSERT INTO StringIds VALUES(1, 'cudaLaunchKernel_v7000');"
      "CREATE TABLE " RUNTIME "(start, \"end\", globalTid, correlationId, nameId);"
      "INSERT INTO " RUNTIME " VALUES(10, 20, " PID " + 11, 1, 1), (30, 30, " PID " + 11, 2, 1), (0, 5, " PID
      " + 11, 3, 1),"
      "(0, 0, 1, 4, 1), (20, 10, 1, 5, 1), (NULL, 10, 1, 6, 1), (10, NULL, 1, 7, 1), ('10', 20, 1, 8, 1), (10.5, 20, 1, 9, 1),"
      "(10, x'00', 1, 10, 1), (-9223372036854775807 - 1, 5, 1, 11, 1), (5, 9223372036854775807, 1, 12, 1),"
      "(-9223372036854775807 - 1, 9223372036854775807, 1, 13, 1), (-50, -40, " PID " + 11, NULL, 99),"
      "(40, 41, NULL, 'x', NULL)",
      NULL);
  must(&r);
  const struct nai_table *t = r.in.tables[NAI_IN_APIS];
  assert_int_equal(t->rows, 5);
  assert_int_equal(note(&r, "rows-without-time"), 2);
  assert_int_equal(note(&r, "rows-with-bad-type"), 3);
  assert_int_equal(note(&r, "rows-reversed"), 1);
  assert_int_equal(note(&r, "rows-not-collected"), 1);
  assert_int_equal(note(&r, "rows-out-of-range"), 3);
  assert_string_equal(nai_get_str(t, 0, API_EVENTS_name), "cudaLaunchKernel");
  assert_int_equal(nai_get_i64(t, 2, API_EVENTS_start_ns), 0);
  assert_int_equal(nai_get_i64(t, 3, API_EVENTS_start_ns), -50);
  assert_string_equal(nai_get_str(t, 3, API_EVENTS_name), "#99");
  assert_int_equal(nai_get_i64(t, 3, API_EVENTS_correlation_id), NAI_NULL_I64);
  assert_int_equal(nai_get_i64(t, 4, API_EVENTS_correlation_id), NAI_NULL_I64);
  stop(&r);
}

TEST(test_kernel_names) {
  struct run r;
  start(
      &r,
      "INSERT INTO StringIds VALUES(0, 'GpuMetrics'), (1, 'void full<int>()'), (2, 'full'), (3, '_Z4full'), (5, x'6162');"
      "CREATE TABLE " KERNEL
      "(start, \"end\", deviceId, globalPid, correlationId, demangledName, shortName, mangledName, gridX,"
      " graphNodeId, streamId);"
      "INSERT INTO " KERNEL " VALUES(1, 2, 0, " PID ", 1, 1, 2, 3, 8, 0, 7), (2, 3, 0, " PID
      ", 2, 77, 2, 3, 8, 17179869185, 7),"
      "(3, 4, 0, " PID ", 3, NULL, NULL, 3, 8, NULL, 4294967295), (4, 5, 0, " PID ", 4, 88, 99, 77, 9, NULL, 7),"
      "(5, 6, 2147483647, " PID ", 5, 5, 2, 3, 'x', NULL, 7)",
      NULL);
  must(&r);
  const struct nai_table *t = r.in.tables[NAI_IN_KERNELS];
  const char *const names[] = {"void full<int>()", "full", "_Z4full", "#88", "ab"};
  assert_int_equal(t->rows, 5);
  for (int i = 0; i < 5; i++)
    assert_string_equal(nai_get_str(t, i, KERNEL_EVENTS_name), names[i]);
  assert_int_equal(nai_get_i64(t, 0, KERNEL_EVENTS_graph_id), NAI_NULL_I64);
  assert_int_equal(nai_get_i64(t, 1, KERNEL_EVENTS_graph_id), 4);
  assert_int_equal(nai_get_i64(t, 2, KERNEL_EVENTS_stream_id), NAI_NULL_I64);
  assert_int_equal(nai_get_i64(t, 4, KERNEL_EVENTS_device_id), 0); /* unknown, and its process has one GPU */
  assert_int_equal(r.in.tables[NAI_IN_KERNEL_CONFIGS]->rows, 3);
  stop(&r);
}

TEST(test_old_schema) {
  struct run r;
  /* No globalPid, no demangled name, the older table name. */
  start(
      &r,
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start, \"END\", DeviceID, globalTid, correlationId, name TEXT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES(1, 2, 0, " PID
      " + 12, 1, 'k1'), (3, 4, 0, NULL, 2, 'k2');"
      "CREATE TABLE NVTX_EVENTS(start, \"end\", globalTid, text);"
      "INSERT INTO NVTX_EVENTS VALUES(1, 9, " PID " + 12, 'range'), (5, NULL, " PID " + 12, 'mark')",
      NULL);
  must(&r);
  assert_string_equal(nai_get_str(r.in.tables[NAI_IN_KERNELS], 1, KERNEL_EVENTS_name), "k2");
  assert_int_equal(nai_get_i64(r.in.tables[NAI_IN_KERNELS], 1, KERNEL_EVENTS_process), 0);
  assert_int_equal(r.in.tables[NAI_IN_GPUS]->rows, 1);
  assert_int_equal(nai_get_i64(r.in.tables[NAI_IN_NVTX], 0, NVTX_EVENTS_kind), NAI_NVTX_PUSH_POP);
  assert_int_equal(nai_get_i64(r.in.tables[NAI_IN_NVTX], 1, NVTX_EVENTS_kind), NAI_NVTX_MARK);
  stop(&r);
}

#define NVTX "CREATE TABLE NVTX_EVENTS(start, \"end\", eventType, globalTid, textId, text);"

TEST(test_nvtx) {
  struct run r;
  start(
      &r,
      "INSERT INTO StringIds VALUES(0, 'GpuMetrics'), (1, 'ncclSend'), (2, 'aten::mm, seq = 5, op_id = 9');" NVTX
      "INSERT INTO NVTX_EVENTS VALUES(1, 9, 59, 1, 1, NULL), (2, 8, 70, 1, 2, NULL), (3, 7, 60, 1, NULL, 'a, sizes = [[1]]'),"
      "(4, 6, 71, 1, 99, 'text'), (5, NULL, 34, 1, NULL, 'mark'), (0, NULL, 75, 1, NULL, 'domain'), (0, NULL, 59, 1, NULL, 'open'),"
      "(6, 7, 59, 1, NULL, NULL), (7, 8, 59, 1, 0, 'beside zero'), (8, 9, 59, 1, 0, NULL), (100, 90, 59, 1, NULL, 'bad'),"
      "(0, NULL, 34, 1, NULL, 'mark at zero'), (8, 0, 59, 1, 0, 'open in 2019'), (9, 0, 34, 1, 0, 'mark in 2019')",
      NULL);
  must(&r);
  const struct nai_table *t = r.in.tables[NAI_IN_NVTX];
  const char *const names[] = {"ncclSend", "aten::mm",    "a",          "text",         "mark",         "open",
                               "",         "beside zero", "GpuMetrics", "mark at zero", "open in 2019", "mark in 2019"};
  assert_int_equal(t->rows, 12);
  for (int i = 0; i < 12; i++)
    assert_string_equal(nai_get_str(t, i, NVTX_EVENTS_name), names[i]);
  assert_int_equal(nai_get_i64(t, 10, NVTX_EVENTS_end_ns), 9);
  assert_int_equal(nai_get_i64(t, 5, NVTX_EVENTS_end_ns), 9); /* open: until the last timestamp */
  assert_int_equal(5 + nai_get_i64(t, 5, NVTX_EVENTS_export_row_offset), 7);
  assert_int_equal(note(&r, "open-ranges"), 2);
  assert_int_equal(note(&r, "rows-reversed"), 1);
  assert_int_equal(note(&r, "rows-not-collected"), 0);
  stop(&r);
}

/* One absurd but legal time must not make sums of open ranges overflow. */
TEST(test_open_ranges_sum) {
  struct run r;
  start(&r,
        NVTX "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
             " INSERT INTO NVTX_EVENTS SELECT i, NULL, 59, 1, NULL, 'open' FROM n;"
             "INSERT INTO NVTX_EVENTS VALUES(1152921504606846975, 1152921504606846976, 59, 1, NULL, 'late')",
        NULL);
  assert_int_equal(r.rc, NAI_EINPUT);
  stop(&r);
}

TEST(test_sizes) {
  struct run r;
#define MEMCPY \
  "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, \"end\", deviceId, globalPid, bytes, copyKind, srcKind, dstKind);"
  start(&r,
        MEMCPY "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1, 2, 0, " PID ", 100, 1, 0, 2), (2, 3, 0, " PID
               ", -5, 99, -1, NULL),"
               "(3, 4, 0, " PID ", 9223372036854775807, 8, 2, 2), (4, 5, 0, " PID ", 'many', 8, 2, 2), (5, 6, 0, " PID
               ", NULL, 8, 2, 2)",
        NULL);
  must(&r);
  assert_int_equal(note(&r, "bad-sizes"), 3);
  assert_int_equal(nai_get_i64(r.in.tables[NAI_IN_MEMOPS], 0, MEMOP_EVENTS_bytes), 100);
  assert_int_equal(nai_get_i64(r.in.tables[NAI_IN_MEMOPS], 2, MEMOP_EVENTS_bytes), 0);
  stop(&r);
  start(&r,
        MEMCPY "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)"
               " INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT i, i + 1, 0, " PID ", 1125899906842624, 1, 0, 2 FROM n",
        NULL);
  assert_int_equal(r.rc, NAI_EINPUT); /* 9000 PiB do not fit int64 sums */
  stop(&r);
  start(&r,
        "CREATE TABLE MPI_COLLECTIVES_EVENTS(start, \"end\", globalTid, textId, size, recvSize);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)"
        " INSERT INTO MPI_COLLECTIVES_EVENTS SELECT i, i + 1, 1, 1, 1, 1125899906842624 FROM n",
        &(struct nai_ingest_options){.tables = NAI_IN_ALL});
  assert_int_equal(r.rc, NAI_EINPUT); /* neither do messages of that size */
  stop(&r);
  start(&r,
        "CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS(start, \"end\", globalPid, deviceId, address, numberOfPageFaults);"
        "INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES(1, 2, " PID ", 0, 4096, 9223372036854775807), (2, 3, " PID
        ", 0, 4096, 9223372036854775807), (3, 4, " PID ", 0, 4096, 7)",
        &(struct nai_ingest_options){.tables = NAI_IN_ALL});
  must(&r);
  const struct nai_table *faults = r.in.tables[NAI_IN_UM_FAULTS];
  assert_int_equal(faults->rows, 3); /* so many faults are none that anybody could add up */
  assert_true(nai_get_i64(faults, 0, UM_FAULT_EVENTS_faults) == NAI_NULL_I64);
  assert_int_equal(nai_get_i64(faults, 2, UM_FAULT_EVENTS_faults), 7);
  stop(&r);
}

TEST(test_trim) {
  struct run r;
  const struct nai_ingest_options trim = {.trim = true, .trim_start_ns = 100, .trim_end_ns = 200};
  start(&r,
        "CREATE TABLE " RUNTIME "(start, \"end\", globalTid, correlationId, nameId);"
        "INSERT INTO " RUNTIME
        " VALUES(10, 99, 1, 1, 1), (10, 100, 1, 2, 1), (50, 150, 1, 3, 1), (100, 200, 1, 4, 1), (150, 250, 1, 5, 1),"
        "(200, 300, 1, 6, 1), (50, 300, 1, 7, 1), (100, 100, 1, 8, 1), (200, 200, 1, 9, 1), (199, 199, 1, 10, 1);" NVTX
        "INSERT INTO NVTX_EVENTS VALUES(50, NULL, 59, 1, NULL, 'open before'), (120, NULL, 59, 1, NULL, 'open in'),"
        "(220, NULL, 59, 1, NULL, 'open after')",
        &trim);
  must(&r);
  const struct nai_table *t = r.in.tables[NAI_IN_APIS], *n = r.in.tables[NAI_IN_NVTX];
  const int64_t expected[][3] = {{100, 150, 3}, {100, 200, 4}, {150, 200, 5},
                                 {100, 200, 7}, {100, 100, 8}, {199, 199, 10}};
  assert_int_equal(t->rows, 6);
  for (int i = 0; i < 6; i++) {
    assert_int_equal(nai_get_i64(t, i, API_EVENTS_start_ns), expected[i][0]);
    assert_int_equal(nai_get_i64(t, i, API_EVENTS_end_ns), expected[i][1]);
    assert_int_equal(nai_get_i64(t, i, API_EVENTS_correlation_id), expected[i][2]);
  }
  assert_int_equal(n->rows, 2);
  assert_int_equal(nai_get_i64(n, 0, NVTX_EVENTS_start_ns), 100);
  assert_int_equal(nai_get_i64(n, 0, NVTX_EVENTS_end_ns), 200);
  assert_int_equal(nai_get_i64(n, 1, NVTX_EVENTS_end_ns), 200);
  assert_int_equal(note(&r, "clipped-rows"), 4);
  stop(&r);
}

TEST(test_normalised_times) {
  struct run r;
#define NORMALISED                                                                                                                    \
  "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT); INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PARAM_TIME_NORMALIZE', 'true');" \
  "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs); CREATE TABLE " RUNTIME                                                    \
  "(start, \"end\", globalTid, correlationId, nameId);"
  start(&r,
        NORMALISED "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1700000000000000000);"
                   "INSERT INTO " RUNTIME " VALUES(1700000000000000500, 1700000000000000600, 1, 1, 1)",
        NULL);
  must(&r);
  assert_int_equal(nai_get_i64(r.in.tables[NAI_IN_APIS], 0, API_EVENTS_start_ns), 500);
  stop(&r);
  start(&r,
        NORMALISED "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(9223372036854775807);"
                   "INSERT INTO " RUNTIME " VALUES(-2305843009213693952, -2305843009213693951, 1, 1, 1)",
        NULL);
  must(&r);
  assert_int_equal(nai_get_i64(r.in.tables[NAI_IN_APIS], 0, API_EVENTS_start_ns), -2305843009213693952);
  stop(&r);
}

TEST(test_gpu_filter) {
  struct run r;
  const int64_t one[] = {1}, nine[] = {9};
#define TWO_GPUS                                                                                    \
  "CREATE TABLE " KERNEL "(start, \"end\", deviceId, globalPid, correlationId, shortName);"         \
  "INSERT INTO " KERNEL " VALUES(1, 2, 0, " PID ", 1, 1), (2, 3, 1, " PID ", 2, 1), (3, 4, 0, " PID \
  ", 3, 1), (4, 5, 1, " PID ", 4, 1)"
  start(&r, TWO_GPUS, &(struct nai_ingest_options){.gpus = one, .gpu_count = 1});
  must(&r);
  assert_int_equal(r.in.tables[NAI_IN_KERNELS]->rows, 2);
  assert_int_equal(nai_get_i64(r.in.tables[NAI_IN_KERNELS], 1, KERNEL_EVENTS_correlation_id), 4);
  assert_int_equal(r.in.tables[NAI_IN_GPUS]->rows, 1);
  stop(&r);
  start(&r, TWO_GPUS, &(struct nai_ingest_options){.gpus = nine, .gpu_count = 1});
  assert_int_equal(r.rc, NAI_EUSAGE);
  assert_non_null(strstr(r.err.msg, "it has: 0, 1"));
  stop(&r);
}

TEST(test_missing_columns) {
  struct run r;
  start(&r, "CREATE TABLE " KERNEL "(start, deviceId); CREATE TABLE NVTX_EVENTS(start, \"end\", text)", NULL);
  must(&r);
  assert_int_equal(r.in.tables[NAI_IN_KERNELS]->rows, 0);
  const struct nai_table *c = r.in.tables[NAI_IN_CAPABILITIES];
  int64_t row = row_where(c, "capability", "kernels");
  assert_int_equal(nai_get_i64(c, row, CAPABILITIES_available), 0);
  assert_non_null(strstr(nai_get_str(c, row, CAPABILITIES_detail), "no column \"end\""));
  stop(&r);
}

TEST(test_diagnostics) {
  struct run r;
  start(
      &r,
      "CREATE TABLE DIAGNOSTIC_EVENT(severity, text);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
      " INSERT INTO DIAGNOSTIC_EVENT SELECT 1, 'fine' FROM n;"
      "INSERT INTO DIAGNOSTIC_EVENT VALUES(2, 'lost events'), (2, 'lost events'), (3, 'lost events'), (4, 'verbose'), ('2', 'x');"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
      " INSERT INTO DIAGNOSTIC_EVENT SELECT 2, 'number ' || i FROM n",
      NULL);
  must(&r);
  const struct nai_table *notes = r.in.tables[NAI_IN_PROBE_NOTES];
  assert_int_equal(note(&r, "diagnostic"), 503);
  int64_t lost = row_where(notes, "detail", "lost events"); /* the error, then the warnings: in the order of texts */
  assert_int_equal(cell_int(notes, lost, "count"), 1);
  while (strcmp(cell_text(notes, ++lost, "detail"), "lost events") != 0)
    assert_string_equal(cell_text(notes, lost, "severity"), "warning");
  assert_int_equal(cell_int(notes, lost, "count"), 2);
  assert_true(notes->rows < 110);
  stop(&r);
}

/* Exports without that table keep the texts behind all others. */
TEST(test_messages) {
  struct run r;
  start(
      &r,
      "INSERT INTO StringIds VALUES(0, 'Could not parse my file'), (1, 'Profiling has started.'), (2, 'Unable to sample'),"
      "(3, 'Process was launched, see /home/me'), (4, 'Could not parse 2 CUPTI activity records.'), (5, 'Profiling has stopped.')",
      NULL);
  must(&r);
  const struct nai_table *notes = r.in.tables[NAI_IN_PROBE_NOTES];
  assert_int_equal(note(&r, "diagnostic"), 2);
  for (int64_t row = row_where(notes, "check", "diagnostic"); row < notes->rows; row++)
    if (strcmp(cell_text(notes, row, "check"), "diagnostic") == 0) {
      assert_string_equal(cell_text(notes, row, "severity"), "warning");
      assert_true(strcmp(cell_text(notes, row, "detail"), "Unable to sample") == 0 ||
                  strcmp(cell_text(notes, row, "detail"), "Could not parse 2 CUPTI activity records.") == 0);
    }
  stop(&r);
}

/* Any number of threads gives the same tables. */
TEST(test_threads) {
  static const char sql[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
                            " INSERT INTO StringIds SELECT i, 'cudaApi' || (i % 50) || '_v7000' FROM n;"
                            "CREATE TABLE " RUNTIME "(start, \"end\", globalTid, correlationId, nameId);"
                            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
                            " INSERT INTO " RUNTIME " SELECT i * 7, i * 7 + i % 3 - (i % 11 = 0) * 9, " PID
                            " + i % 5, i, i * 31 % 300 + 1 FROM n";
  struct run one, four;
  start(&one, sql, &(struct nai_ingest_options){.threads = 1});
  start(&four, sql, &(struct nai_ingest_options){.threads = 4});
  must(&one), must(&four);
  const struct nai_table *a = one.in.tables[NAI_IN_APIS], *b = four.in.tables[NAI_IN_APIS];
  assert_int_equal(a->rows, b->rows);
  assert_int_equal(a->rows, 20000 - 20000 / 11);
  for (int64_t i = 0; i < a->rows; i++) {
    for (int c = API_EVENTS_start_ns; c <= API_EVENTS_correlation_id; c++)
      if (c != API_EVENTS_name)
        assert_int_equal(nai_get_i64(a, i, c), nai_get_i64(b, i, c));
    assert_string_equal(nai_get_str(a, i, API_EVENTS_name), nai_get_str(b, i, API_EVENTS_name));
    int64_t row = nai_get_i64(a, i, API_EVENTS_correlation_id);
    char name[32];
    snprintf(name, sizeof name, "cudaApi%d", (int)((row * 31 % 300 + 1) % 50));
    assert_string_equal(nai_get_str(a, i, API_EVENTS_name), name);
  }
  stop(&one), stop(&four);
}
