/* The tables that are made only when asked for: which rows count, schemas of several ages, what is not opened, damage.
 */
#include "model_fixture.h"
#include "sql_export.h"

#include "base/fs.h"
#include "trace/sources/source.h"
#include "tables/callchain_frames.h"
#include "tables/gpu_metric_names.h"
#include "tables/gpu_metric_samples.h"
#include "tables/graph_creation_events.h"
#include "tables/graph_node_events.h"
#include "tables/nvtx_domains.h"
#include "tables/nvtx_events.h"
#include "tables/nvtx_payloads.h"
#include "tables/processes.h"
#include "tables/program_marks.h"
#include "tables/program_outputs.h"
#include "tables/sample_events.h"
#include "tables/sched_events.h"

#include <stdio.h>
#include <unistd.h>

#include <sqlite3.h>

#define PID "(281474976710656 + 10 * 16777216)" /* globalPid of process 10 */
#define CALL                                                                                    \
  "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, \"end\", globalTid, correlationId, nameId);" \
  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(10, 20, " PID " + 11, 1, 1);"

static void extract(struct run *r, enum nai_reader_choice reader, uint64_t tables, bool trim) {
  struct nai_ingest_options options = {
      .threads = 2, .directory = r->dir, .tables = tables, .trim = trim, .trim_start_ns = 100, .trim_end_ns = 200};
  r->rc = nai_trace_open(&r->trace, r->path, &(struct nai_trace_options){.reader = reader}, &r->err);
  if (!r->rc)
    r->rc = nai_probe(&r->in, r->trace, tables, &r->err);
  if (!r->rc)
    r->rc = nai_extract(&r->in, r->trace, &options, &r->err);
}

static void start(struct run *r, const char *sql, uint64_t tables) {
  write_export(r, sql);
  extract(r, NAI_READER_AUTO, tables, false);
  if (r->rc)
    fail_msg("%s", r->err.msg);
}

static int64_t note(const struct run *r, const char *check) {
  const struct nai_table *notes = r->in.tables[NAI_IN_EXTRACT_NOTES];
  int64_t count = 0;
  for (int64_t i = 0; i < notes->rows; i++)
    if (strcmp(nai_get_str(notes, i, PROBE_NOTES_check), check) == 0)
      count += nai_get_i64(notes, i, PROBE_NOTES_count);
  return count;
}

TEST(test_graph_nodes) {
  struct run r;
  const uint64_t both = NAI_IN_BIT(NAI_IN_GRAPH_NODES) | NAI_IN_BIT(NAI_IN_GRAPH_CREATIONS);
  /* Until 2023 CUDA_GRAPH_EVENTS was the table of nodes. */
  start(&r,
        "CREATE TABLE CUDA_GRAPH_EVENTS(start, \"end\", globalTid, nameId, graphNodeId, originalGraphNodeId, graphId);"
        "INSERT INTO CUDA_GRAPH_EVENTS VALUES(1, 2, 1, 1, 7, 5, 3)",
        both);
  assert_int_equal(r.in.tables[NAI_IN_GRAPH_NODES]->rows, 1);
  assert_int_equal(nai_get_i64(r.in.tables[NAI_IN_GRAPH_NODES], 0, GRAPH_NODE_EVENTS_original_graph_node_id), 5);
  assert_int_equal(r.in.tables[NAI_IN_GRAPH_CREATIONS]->rows, 0);
  stop(&r);
  start(&r,
        "CREATE TABLE CUDA_GRAPH_EVENTS(start, \"end\", globalTid, nameId, graphId, graphExecId);"
        "INSERT INTO CUDA_GRAPH_EVENTS VALUES(1, 2, 1, 1, 7, 9)",
        both);
  assert_int_equal(r.in.tables[NAI_IN_GRAPH_NODES]->rows, 0);
  assert_int_equal(nai_get_i64(r.in.tables[NAI_IN_GRAPH_CREATIONS], 0, GRAPH_CREATION_EVENTS_graph_exec_id), 9);
  stop(&r);
}

TEST(test_samples) {
  struct run r;
  start(&r,
        CALL "CREATE TABLE SCHED_EVENTS(start, cpu, isSchedIn, globalTid, threadState, threadBlock);"
             "INSERT INTO SCHED_EVENTS VALUES(5, 1, 1, " PID " + 11, 1, 8), (6, 2, 0, " PID " + 99, 2, 8),"
             "(7, 1, NULL, 1, 1, 1), ('x', 1, 1, 1, 1, 1), (NULL, 1, 1, 1, 1, 1), (4611686018427387904, 1, 1, 1, 1, 1);"
             "CREATE TABLE COMPOSITE_EVENTS(id INTEGER PRIMARY KEY, start, cpu, threadState, globalTid, cpuCycles);"
             "INSERT INTO COMPOSITE_EVENTS VALUES(40, 5, 3, 1, " PID " + 11, 1);"
             "INSERT INTO StringIds VALUES(1, 'f'), (2, 'lib' || char(10) || 'c');"
             "CREATE TABLE SAMPLING_CALLCHAINS(id, symbol, module, kernelMode, unresolved, stackDepth);"
             "INSERT INTO SAMPLING_CALLCHAINS VALUES(40, 1, 2, 0, 1, 0), (40, 77, NULL, 0, 0, 1), (41, 1, 2, 0, 0, -1),"
             "('id', 1, 2, 0, 0, 0);",
        NAI_IN_DEFAULT | NAI_IN_BIT(NAI_IN_SCHED) | NAI_IN_BIT(NAI_IN_SAMPLES) | NAI_IN_BIT(NAI_IN_CALLCHAINS));
  const struct nai_table *s = r.in.tables[NAI_IN_SCHED], *f = r.in.tables[NAI_IN_CALLCHAINS];
  assert_int_equal(s->rows, 2);
  assert_int_equal(nai_get_i64(s, 0, SCHED_EVENTS_thread), 0);
  assert_int_equal(nai_get_i64(s, 0, SCHED_EVENTS_thread_block), NAI_NULL_I64); /* says nothing of a thread that runs */
  assert_int_equal(nai_get_i64(s, 1, SCHED_EVENTS_thread), -1);                 /* a witness makes no thread */
  assert_int_equal(nai_get_i64(s, 1, SCHED_EVENTS_thread_block), 8);
  assert_int_equal(r.in.tables[NAI_IN_THREADS]->rows, 1);
  assert_int_equal(note(&r, "rows-without-value"), 3);
  assert_int_equal(note(&r, "rows-with-bad-type"), 1);
  assert_int_equal(note(&r, "rows-without-time"), 1);
  assert_int_equal(note(&r, "rows-out-of-range"), 1);
  assert_int_equal(nai_get_i64(r.in.tables[NAI_IN_SAMPLES], 0, SAMPLE_EVENTS_callchain_id), 40);
  assert_int_equal(f->rows, 2);
  assert_string_equal(nai_get_str(f, 0, CALLCHAIN_FRAMES_module), "lib c");
  assert_string_equal(nai_get_str(f, 1, CALLCHAIN_FRAMES_symbol), "#77");
  assert_true(nai_table_value(f, 1, CALLCHAIN_FRAMES_module).null);
  stop(&r);
}

TEST(test_metrics) {
  struct run r;
  start(
      &r,
      "CREATE TABLE GPU_METRICS(timestamp, typeId, metricId, value);"
      "INSERT INTO GPU_METRICS VALUES(-5, 4096, 1, 50), (5, 4097, 1, -3), (6, 4096, 1, 0.5), (7, 4096, NULL, 1), (8, 4096, 2, 9);"
      "CREATE TABLE TARGET_INFO_GPU_METRICS(typeId, sourceId, typeName, metricId, metricName);"
      "INSERT INTO TARGET_INFO_GPU_METRICS VALUES(4096, 1, 'GPU 0', 1, 'SMs Active'), (4097, 1, 'GPU 1', 1, 'other'),"
      "(4098, 1, 'unused', 1, 'unused')",
      NAI_IN_BIT(NAI_IN_GPU_METRIC_SAMPLES));
  const struct nai_table *s = r.in.tables[NAI_IN_GPU_METRIC_SAMPLES], *m = r.in.tables[NAI_IN_GPU_METRICS];
  assert_int_equal(s->rows, 3);
  assert_int_equal(nai_get_i64(s, 0, GPU_METRIC_SAMPLES_time_ns), -5);
  assert_int_equal(m->rows, 3);
  assert_string_equal(nai_get_str(m, nai_get_i64(s, 1, GPU_METRIC_SAMPLES_metric), GPU_METRIC_NAMES_metric_name),
                      "other"); /* by both numbers */
  assert_int_equal(nai_get_i64(m, nai_get_i64(s, 1, GPU_METRIC_SAMPLES_metric), GPU_METRIC_NAMES_gpu_id), 1);
  assert_true(nai_table_value(m, nai_get_i64(s, 2, GPU_METRIC_SAMPLES_metric), GPU_METRIC_NAMES_metric_name).null);
  assert_int_equal(note(&r, "rows-without-value"), 2);
  stop(&r);
}

#define RANGES                                                                                              \
  "CREATE TABLE NVTX_EVENTS(start, \"end\", eventType, globalTid, textId, text, domainId, category, color," \
  " endGlobalTid, jsonTextId, jsonText, uint64Value, doubleValue, binaryData);"                             \
  "CREATE TABLE NVTX_PAYLOAD_SCHEMAS(domainId, schemaId);"

TEST(test_nvtx) {
  struct run r;
  start(
      &r,
      RANGES
      "INSERT INTO StringIds VALUES(1, 'NCCL'), (2, 'a, seq = 4, op_id = 2, sizes = [[2, 3]]'), (3, '{\"x\":1}');"
      "INSERT INTO NVTX_EVENTS(start, \"end\", eventType, globalTid, textId, text, domainId, category, color, endGlobalTid)"
      " VALUES(0, NULL, 75, " PID " + 1, 1, NULL, 3, NULL, NULL, NULL), (0, NULL, 75, " PID
      " + 2, NULL, 'again', 3, 0, 0, 0),"
      "(1, 9, 59, " PID " + 1, 2, NULL, 3, 6, 4294901760, NULL), (2, 8, 60, " PID " + 1, NULL, 'b', 0, NULL, NULL, " PID
      " + 2),"
      "(3, 4, 59, 1, NULL, 'c, sizes = [[2, 3]]', 3, 'x', NULL, NULL);"
      "INSERT INTO NVTX_EVENTS(start, eventType, globalTid, domainId, jsonTextId, uint64Value, doubleValue, binaryData) VALUES"
      "(5, 34, 1, 3, NULL, NULL, NULL, x'00ff10'), (6, 34, 1, 3, 3, NULL, NULL, NULL), (7, 34, 1, 3, NULL, 12, NULL, NULL),"
      "(8, 34, 1, 3, NULL, NULL, 0.5, NULL), (9, 34, 1, 3, NULL, NULL, NULL, zeroblob(5000))",
      NAI_IN_BIT(NAI_IN_NVTX) | NAI_IN_BIT(NAI_IN_NVTX_PAYLOADS));
  const struct nai_table *n = r.in.tables[NAI_IN_NVTX], *d = r.in.tables[NAI_IN_NVTX_DOMAINS],
                         *p = r.in.tables[NAI_IN_NVTX_PAYLOADS];
  assert_int_equal(n->rows, 8);
  assert_int_equal(nai_get_i64(n, 0, NVTX_EVENTS_seq), 4);
  assert_int_equal(nai_get_i64(n, 0, NVTX_EVENTS_category), 6);
  assert_int_equal(nai_get_i64(n, 0, NVTX_EVENTS_color), 4294901760);
  assert_string_equal(nai_get_str(d, nai_get_i64(n, 0, NVTX_EVENTS_domain), NVTX_DOMAINS_name),
                      "NCCL"); /* the first name counts */
  assert_true(nai_table_value(d, nai_get_i64(n, 1, NVTX_EVENTS_domain), NVTX_DOMAINS_name).null);
  assert_int_not_equal(nai_get_i64(n, 2, NVTX_EVENTS_domain),
                       nai_get_i64(n, 0, NVTX_EVENTS_domain)); /* another process's domain 3 */
  assert_true(nai_table_value(n, 0, NVTX_EVENTS_end_thread).null);
  assert_int_equal(nai_get_i64(n, 1, NVTX_EVENTS_end_thread), nai_get_i64(n, 0, NVTX_EVENTS_thread) + 1);
  assert_int_equal(r.in.tables[NAI_IN_NVTX_SIZES]->rows, 1);
  assert_int_equal(nai_get_i64(n, 2, NVTX_EVENTS_sizes), 0);
  assert_int_equal(p->rows, 5);
  assert_string_equal(nai_get_str(p, 0, NVTX_PAYLOADS_blob), "00ff10");
  assert_int_equal(nai_get_i64(p, 0, NVTX_PAYLOADS_export_row), 6);
  assert_string_equal(nai_get_str(p, 1, NVTX_PAYLOADS_json), "{\"x\":1}");
  assert_int_equal(nai_get_i64(p, 2, NVTX_PAYLOADS_integer), 12);
  assert_int_equal(nai_get_i64(p, 3, NVTX_PAYLOADS_kind), NAI_PAYLOAD_REAL);
  assert_int_equal(nai_get_i64(p, 4, NVTX_PAYLOADS_blob_bytes), 5000);
  assert_true(nai_table_value(p, 4, NVTX_PAYLOADS_blob).null);
  assert_int_equal(note(&r, "long-payloads"), 1);
  stop(&r);
}

/* More different sizes than are kept leave the column out, the same for any number of threads. */
TEST(test_many_sizes) {
  struct run r;
  start(
      &r,
      RANGES
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000) INSERT INTO NVTX_EVENTS(start,"
      " \"end\", eventType, globalTid, text) SELECT i, i, 59, 1, 'a, seq = ' || i || ', sizes = [[' || i || ']]' FROM n",
      NAI_IN_BIT(NAI_IN_NVTX));
  assert_int_equal(r.in.tables[NAI_IN_NVTX_SIZES]->rows, 0);
  assert_int_equal(nai_get_i64(r.in.tables[NAI_IN_NVTX], 5999, NVTX_EVENTS_seq), 6000);
  assert_true(nai_table_value(r.in.tables[NAI_IN_NVTX], 0, NVTX_EVENTS_sizes).null);
  assert_int_equal(note(&r, "sizes-left-out"), NAI_MAX_SIZES);
  stop(&r);
}

/* A table nobody asks for is not even looked at: this one could not be read. */
TEST(test_not_opened) {
  struct run r;
  start(&r, CALL "CREATE TABLE real_one(start, cpu, isSchedIn); CREATE VIEW SCHED_EVENTS AS SELECT * FROM real_one;",
        0);
  assert_int_equal(r.in.tables[NAI_IN_APIS]->rows, 1);
  assert_null(r.in.tables[NAI_IN_SCHED]);
  assert_int_equal(r.in.tables[NAI_IN_READERS]->rows, 1);
  nai_ingest_free(&r.in);
  nai_trace_close(r.trace);
  r.trace = NULL;
  extract(&r, NAI_READER_AUTO, NAI_IN_BIT(NAI_IN_SCHED), false);
  assert_int_equal(r.rc, NAI_EINPUT);
  stop(&r);
}

TEST(test_trim) {
  struct run r;
  start(
      &r,
      "CREATE TABLE SCHED_EVENTS(start, cpu, isSchedIn, globalTid); INSERT INTO SCHED_EVENTS VALUES(99, 0, 1, 1), (100, 1, 1, 1),"
      "(199, 2, 1, 1), (200, 3, 1, 1)",
      NAI_IN_BIT(NAI_IN_SCHED));
  assert_int_equal(r.in.tables[NAI_IN_SCHED]->rows, 4);
  nai_ingest_free(&r.in);
  nai_trace_close(r.trace);
  r.trace = NULL;
  extract(&r, NAI_READER_AUTO, NAI_IN_BIT(NAI_IN_SCHED), true);
  assert_int_equal(r.in.tables[NAI_IN_SCHED]->rows, 2);
  assert_int_equal(nai_get_i64(r.in.tables[NAI_IN_SCHED], 0, SCHED_EVENTS_cpu), 1);
  stop(&r);
}

TEST(test_output) {
  struct run r;
  start(&r,
        "INSERT INTO StringIds VALUES(1, '/tmp/pid_7_stdout.log'), (2, 'mirrors'), (3, 'x/stderr.log'), (4, 'CANARY'),"
        "(5, 'Job FAILED'); CREATE TABLE ProcessStreams(globalPid, filenameId, contentId);"
        "INSERT INTO ProcessStreams VALUES(" PID ", 1, 2), (" PID ", 3, 4), (NULL, 9, 5), (NULL, NULL, NULL)",
        NAI_IN_BIT(NAI_IN_PROGRAM_OUTPUTS));
  const struct nai_table *t = r.in.tables[NAI_IN_PROGRAM_OUTPUTS];
  static const int expected[][2] = {{1, 7}, {2, 6}, {0, 10}, {0, 0}}; /* stream, bytes */
  assert_int_equal(t->rows, 4);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(nai_get_i64(t, i, PROGRAM_OUTPUTS_stream), expected[i][0]);
    assert_int_equal(nai_get_i64(t, i, PROGRAM_OUTPUTS_size_bytes), expected[i][1]);
  }
  stop(&r);
}

/* "source mark" of every row, in their order. */
static const char *marks_of(const struct run *r) {
  static char text[1000];
  const struct nai_table *t = r->in.tables[NAI_IN_PROGRAM_MARKS];
  text[0] = '\0';
  for (int64_t i = 0; i < t->rows; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %s", i ? ", " : "",
             nai_get_str(t, i, PROGRAM_MARKS_source), nai_get_str(t, i, PROGRAM_MARKS_mark));
  return text;
}

/* The words of a command line, behind the command; a secret in each place must not be kept. */
static void expect_command(const char *const *words, const char *expected) {
  char sql[2000] = "CREATE TABLE META_DATA_CAPTURE(name TEXT, value TEXT);"
                   "INSERT INTO META_DATA_CAPTURE VALUES('PROCESS_0:ENVIRONMENT_VARIABLE', 'X=\"--gtest_CANARY\"'),"
                   "('PROCESS_0:WORKING_DIR', '/home/CANARY/pytest')";
  struct run r;
  for (int i = 0; words[i]; i++) {
    char name[40] = "COMMAND";
    if (i)
      snprintf(name, sizeof name, "ARGUMENT_%d", i - 1);
    snprintf(sql + strlen(sql), sizeof sql - strlen(sql), ", ('PROCESS_0:%s', '%s')", name, words[i]);
  }
  start(&r, sql, NAI_IN_BIT(NAI_IN_PROGRAM_MARKS));
  assert_string_equal(marks_of(&r), expected);
  stop(&r);
}

TEST(test_marks_of_commands) {
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
  expect_command(WORDS("/home/CANARY/bin/python3.11", "-u", "/home/CANARY/train_gpt.py", "--token=CANARY", "pytest"),
                 "command python, command name of training");
  expect_command(WORDS("python", "-m", "pytest", "-k", "CANARY", "test_CANARY.py"), "command python, command pytest");
  expect_command(WORDS("mpirun", "-n", "4", "-x", "KEY=/test_CANARY", "./nvfuser_tests", "--gtest_filter=CANARY*"),
                 "command mpirun, command name of a test, flag gtest");
  expect_command(WORDS("./a.out", "/data/test_CANARY", "bench_CANARY"), "");
  expect_command(WORDS("python", "-c", "import pytest", "test_x.py"), "command python");
  expect_command(WORDS("./testqo", "test"), "");
}

/* Lines of output and names of kernels without rows; with rows these say more. */
TEST(test_marks_of_texts) {
  static const char texts[] =
      "INSERT INTO StringIds VALUES(1, 'stdout.log'), (2, 'token CANARY' || char(10) || 'Running main() from CANARY' ||"
      " char(10) || 'CANARY QUDA 1.1.0 (git x)'), (3, '_ZN4quda8Kernel3DINS_CANARY'), (4, 'a line with _ZN2at6native'),"
      " (5, 'cupy_fill'); CREATE TABLE ProcessStreams(globalPid, filenameId, contentId);"
      "INSERT INTO ProcessStreams VALUES(" PID ", 1, 2);";
  struct run r;
  start(&r, texts, NAI_IN_BIT(NAI_IN_PROGRAM_MARKS));
  assert_string_equal(marks_of(&r), "output gtest, name quda, name cupy");
  stop(&r);
  char sql[2000];
  snprintf(sql, sizeof sql, "%sCREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", demangledName);%s", texts,
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1, 2, 3);");
  start(&r, sql, NAI_IN_BIT(NAI_IN_PROGRAM_MARKS));
  assert_string_equal(marks_of(&r), "output gtest");
  stop(&r);
}

/* Lines of failed programs, and lines that only look like it. */
TEST(test_marks_of_failures) {
  static const struct {
    const char *line, *mark; /* "": no failure */
  } cases[] = {
      {"fopen: No such file or directory", "missing file"},
      {"./a.out: error while loading shared libraries: libx.so.1: cannot open shared object file", "missing file"},
      {"CUDA error at main.cu:12: an illegal memory access was encountered", "illegal memory access"},
      {"GPUassert: invalid device function kernel.cu 7", "CUDA error"},
      {"main: main.cpp:7: int main(): Assertion `n > 0'' failed.", "assertion failed"},
      {"cudaMalloc failed: out of memory", "out of memory"},
      {"[host:123] *** Process received signal ***", "killed by a signal"},
      {"mpirun noticed that process rank 1 exited on signal 9 (Killed).", "killed by a signal"},
      {"Segmentation fault (core dumped)", "segmentation fault"},
      {"Killed", "killed by a signal"},
      {"MPI_ABORT was invoked on rank 0", "MPI abort"},
      {"*** An error occurred in MPI_Init", "MPI abort"},
      {"[  FAILED  ] FusionTest.Add (12 ms)", "failed tests"},
      {"===== 1 failed, 3 passed in 2.1s =====", "failed tests"},
      {"Verification: FAILED", "failed tests"},
      {"terminate called after throwing an instance of ''std::runtime_error''", "uncaught exception"},
      {"ERROR: LoadError: UndefVarError: x not defined", "uncaught exception"},
      {"SyntaxError: invalid syntax", "uncaught exception"},
      {"Traceback (most recent call last):", "traceback"},
      {"FATAL ERROR: no input", "fatal error"},
      {"ERROR: bad option", "error message"},
      {"Program returned with CUDA_ERROR_NOT_FOUND", "CUDA error"},
      {"MPI_Init done, mirrors and terrors", ""},
      {"0 failed, 12 passed", ""},
      {"max error: 1.2e-7, cumm_abs_error: 0.08", ""},
      {"Mean absolute error = 0.00", ""},
      {"|N - Tr[Ainv2 * AMat]| = 7.23048e-11", ""},
      {"[       OK ] FailureTest.NothingFails (3 ms)", ""},
      {"DeprecationWarning: use build_serialized_network instead.", ""},
      {"Test PASSED, no errors found", ""},
      {"killed 3 idle workers", ""},
      {"non-fatal error ignored", ""},
      {"loss 2.3 error_rate 0.4", ""},
      {"cudaGetLastError: no error", ""},
      {"CUDA error: no error", ""},
      {"cublas status: no errors", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char sql[1000], expected[100] = "";
    struct run r;
    snprintf(sql, sizeof sql,
             "INSERT INTO StringIds VALUES(1, 'stderr.log'), (2, 'CANARY' || char(13) || '%s' || char(10) || 'end');"
             "CREATE TABLE ProcessStreams(globalPid, filenameId, contentId);"
             "INSERT INTO ProcessStreams VALUES(" PID ", 1, 2)",
             cases[i].line);
    start(&r, sql, NAI_IN_BIT(NAI_IN_PROGRAM_MARKS));
    if (*cases[i].mark)
      snprintf(expected, sizeof expected, "failure %s", cases[i].mark);
    const char *said = strstr(marks_of(&r), "failure "); /* behind what else the line says */
    if (strcmp(said ? said : "", expected) != 0)
      fail_msg("%s: %s, not %s", cases[i].line, marks_of(&r), expected);
    for (int64_t row = 0; row < r.in.tables[NAI_IN_PROGRAM_MARKS]->rows; row++) /* nobody asked for it */
      assert_string_equal(nai_get_str(r.in.tables[NAI_IN_PROGRAM_MARKS], row, PROGRAM_MARKS_line), "");
    stop(&r);
  }
}

/* A process is its file's name: where that lies and what it was called with stay in the export. */
TEST(test_process_names) {
  static const char *const names[][2] = {{"/home/CANARY/venv/bin/python3", "python3"},
                                         {"./a.out", "a.out"},
                                         {"VLLM::Worker_TP0", "VLLM::Worker_TP0"},
                                         {"C:\\CANARY\\app.exe", "app.exe"},
                                         {"python /home/x/train.py --token=CANARY/secret", "python"},
                                         {"/home/CANARY/", ""}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char sql[1000];
    struct run r;
    snprintf(sql, sizeof sql,
             CALL "CREATE TABLE PROCESSES(globalPid, pid, name); INSERT INTO PROCESSES VALUES(" PID ", 10, '%s')",
             names[i][0]);
    start(&r, sql, 0);
    assert_string_equal(nai_get_str(r.in.tables[NAI_IN_PROCESSES], 0, PROCESSES_process_name), names[i][1]);
    stop(&r);
  }
}

static void damage(const char *path, const char *content, size_t len, unsigned seed) {
  char *bytes = malloc(len);
  memcpy(bytes, content, len);
  for (int i = 0; i < 2; i++) {
    seed = seed * 1103515245 + 12345;
    bytes[100 + (size_t)(seed >> 4) % (len - 100)] ^= (char)(1 << (seed >> 28 & 7));
  }
  FILE *file = fopen(path, "wb");
  assert_int_equal(fwrite(bytes, 1, len, file), len);
  fclose(file);
  free(bytes);
}

/* How many tables were left out as damaged. */
static int64_t left_out(const struct run *r) {
  const struct nai_table *notes = r->rc ? NULL : r->in.tables[NAI_IN_EXTRACT_NOTES];
  int64_t count = 0;
  for (int64_t i = 0; notes && i < notes->rows; i++)
    count += strcmp(nai_get_str(notes, i, PROBE_NOTES_check), NAI_CHECK_DAMAGE) == 0;
  return count;
}

/* Damaged exports give an error or tables, the same ones with either reader unless only one had to look at the damage.
 */
TEST(test_damage) {
  struct run r;
  char content[400000];
  int both = 0, noticed = 0;
  start(&r,
        CALL RANGES
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) INSERT INTO NVTX_EVENTS"
        " SELECT i, i + 5, 59, i, NULL, 'x' || i, i % 3, 1, 2, 3, NULL, '{}', i, NULL, zeroblob(i % 40) FROM n;"
        "CREATE TABLE SCHED_EVENTS(start, cpu, isSchedIn, globalTid);"
        "INSERT INTO SCHED_EVENTS SELECT start, 1, 1, globalTid FROM NVTX_EVENTS;"
        "CREATE TABLE GPU_METRICS(timestamp, typeId, metricId, value);"
        "INSERT INTO GPU_METRICS SELECT start, 1, 2, start FROM NVTX_EVENTS;",
        NAI_IN_ALL);
  FILE *file = fopen(r.path, "rb");
  size_t len = fread(content, 1, sizeof content, file);
  fclose(file);
  assert_true(len < sizeof content);
  stop(&r);
  for (unsigned seed = 1; seed <= 150; seed++) {
    struct run a = {.dir = "/tmp/nai-evidence-XXXXXX"}, b;
    assert_non_null(mkdtemp(a.dir));
    snprintf(a.path, sizeof a.path, "%s/t.sqlite", a.dir);
    damage(a.path, content, len, seed);
    b = a;
    extract(&a, NAI_READER_DIRECT, NAI_IN_ALL, false);
    extract(&b, NAI_READER_SQLITE, NAI_IN_ALL, false);
    bool same = !a.rc && !b.rc && left_out(&a) == left_out(&b);
    for (int t = 0; same && t < NAI_IN_COUNT; t++)
      assert_int_equal(a.in.tables[t]->rows, b.in.tables[t]->rows);
    both += same;
    noticed += a.rc || b.rc || left_out(&a) || left_out(&b);
    assert_true(!a.rc || a.err.msg[0]);
    nai_ingest_free(&b.in);
    nai_trace_close(b.trace);
    stop(&a);
  }
  print_message("both read %d, damage noticed in %d\n", both, noticed);
  assert_true(both > 10 && noticed > 10);
}

/* Every table has one source, every dictionary column one that is of its type. */
TEST(test_catalogue) {
  for (int s = 0; s < nai_source_count; s++) {
    const struct nai_source *source = nai_sources[s];
    const struct nai_schema *schema = nai_event_tables[source->table];
    assert_in_range(schema->column_count, 1, NAI_MAX_EVENT_COLUMNS);
    for (const struct nai_feed *feed = source->feeds; feed->row; feed++)
      assert_in_range(feed->field_count, 1, NAI_MAX_FIELDS);
    for (uint32_t c = 0; c < schema->column_count; c++)
      assert_int_equal(schema->columns[c].type == NAI_STR, nai_dictionary_of(source, (int)c) == NAI_NAMES);
    for (int other = 0; other < s; other++)
      assert_int_not_equal(nai_sources[other]->table, source->table);
    if (source->records)
      assert_true(source->brings & NAI_IN_BIT(source->records));
  }
  for (int t = 0; t < NAI_IN_COUNT; t++)
    assert_non_null(nai_event_tables[t]);
  assert_true(NAI_IN_DEFAULT & NAI_IN_BIT(NAI_IN_OSRT));
  assert_false(NAI_IN_DEFAULT & (NAI_IN_BIT(NAI_IN_CUDA_EVENTS) | NAI_IN_BIT(NAI_IN_GPU_METRICS)));
  assert_int_equal(nai_ingest_closure(NAI_IN_BIT(NAI_IN_KERNELS)) & NAI_IN_BIT(NAI_IN_KERNEL_CONFIGS),
                   NAI_IN_BIT(NAI_IN_KERNEL_CONFIGS));
}
