/* Processes, threads and GPUs from the keys of event rows. */
#include "model_fixture.h"

#include "trace/identity.h"
#include "trace/sources/source.h"
#include "tables/gpus.h"
#include "tables/processes.h"
#include "tables/threads.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

struct trace_file {
  char path[64];
  struct nai_trace *trace;
  struct nai_ingest in;
  struct nai_identity identity;
};

static void make(struct trace_file *t, const char *sql) {
  sqlite3 *db;
  *t = (struct trace_file){.path = "/tmp/nai-identity-XXXXXX"};
  close(mkstemp(t->path));
  assert_int_equal(sqlite3_open(t->path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT)", NULL, NULL, NULL),
                   SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  ok(nai_trace_open(&t->trace, t->path, &(struct nai_trace_options){0}, err));
  for (int i = 0; i < NAI_IN_COUNT; i++)
    ok(nai_table_new(&t->in.tables[i], nai_event_tables[i], err));
}

static void drop(struct trace_file *t) {
  nai_identity_free(&t->identity);
  nai_ingest_free(&t->in);
  nai_trace_close(t->trace);
  unlink(t->path);
}

static uint32_t device(struct trace_file *t, int64_t vm, int64_t pid, int64_t ordinal) {
  bool added;
  return nai_keyset_add(&t->identity.devices, vm << 48 | pid << 24 | ordinal, &added);
}

static void resolve(struct trace_file *t) { ok(nai_identity_resolve(&t->identity, &t->in, t->trace, err)); }

static int64_t notes(const struct trace_file *t, const char *check) {
  int64_t n = 0;
  for (int64_t i = 0; i < t->in.tables[NAI_IN_EXTRACT_NOTES]->rows; i++)
    n += strcmp(nai_get_str(t->in.tables[NAI_IN_EXTRACT_NOTES], i, PROBE_NOTES_check), check) == 0;
  return n;
}

TEST(test_one_process_per_ordinal) {
  struct trace_file t;
  make(&t, "SELECT 1");
  uint32_t b = device(&t, 1, 20, 1), a = device(&t, 1, 10, 0);
  resolve(&t);
  assert_int_equal(t.identity.device_id[a], 0);
  assert_int_equal(t.identity.device_id[b], 1);
  assert_int_equal(t.in.tables[NAI_IN_GPUS]->rows, 2);
  assert_int_equal(notes(&t, "gpus-split-by-process"), 0);
  drop(&t);
}

TEST(test_split) {
  struct trace_file t;
  make(&t, "SELECT 1");
  /* Two containers whose processes have the same pid are two processes. */
  uint32_t a = device(&t, 1, 111, 0), b = device(&t, 2, 111, 0), c = device(&t, 2, 112, 0);
  resolve(&t);
  assert_int_equal(t.identity.device_id[a], 0);
  assert_int_equal(t.identity.device_id[b], 1000);
  assert_int_equal(t.identity.device_id[c], 2000);
  assert_int_equal(notes(&t, "gpus-split-by-process"), 1);
  assert_string_equal(nai_get_str(t.in.tables[NAI_IN_GPUS], 1, GPUS_label), "GPU 0 (pid 111)");
  drop(&t);
}

/* Rows without a process belong to the only one there is, and to its GPU. */
TEST(test_missing_process) {
  struct trace_file t;
  make(&t, "SELECT 1");
  uint32_t a = device(&t, 1, 10, 0), b = device(&t, 0, 0, 0), c = device(&t, 1, 10, NAI_DEVICE_UNKNOWN);
  resolve(&t);
  assert_int_equal(t.identity.device_id[a], 0);
  assert_int_equal(t.identity.device_id[b], 0);
  assert_int_equal(t.identity.device_id[c], 0);
  assert_int_equal(t.identity.device_process[b], 0);
  assert_int_equal(t.in.tables[NAI_IN_GPUS]->rows, 1);
  drop(&t);
}

TEST(test_unknown_device_of_many) {
  struct trace_file t;
  make(&t, "SELECT 1");
  device(&t, 1, 10, 0), device(&t, 1, 10, 1);
  uint32_t c = device(&t, 1, 10, NAI_DEVICE_UNKNOWN);
  resolve(&t);
  assert_int_equal(t.identity.device_id[c], -1);
  assert_string_equal(nai_get_str(t.in.tables[NAI_IN_GPUS], 0, GPUS_label), "GPU unknown");
  drop(&t);
}

TEST(test_mapped) {
  struct trace_file t;
  make(&t, "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
           "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(3, 0, 10), (5, 0, 20), (3, 0, 30), (-7, 0, 40), ('x', 0, 40);"
           "CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT, smCount INTEGER);"
           "INSERT INTO TARGET_INFO_GPU VALUES(3, 'three', 11), (5, 'five', 22)");
  uint32_t a = device(&t, 1, 10, 0), b = device(&t, 1, 20, 0), c = device(&t, 1, 30, 0), d = device(&t, 1, 40, 3);
  resolve(&t);
  assert_int_equal(t.identity.device_id[a], 3);
  assert_int_equal(t.identity.device_id[b], 5);
  assert_int_equal(t.identity.device_id[c], 3);
  assert_int_equal(t.identity.device_id[d], 1003); /* GPU 3 is somebody else's ordinal 0 */
  const struct nai_table *gpus = t.in.tables[NAI_IN_GPUS];
  assert_int_equal(gpus->rows, 3);
  assert_string_equal(nai_get_str(gpus, 0, GPUS_gpu_name), "three");
  assert_int_equal(nai_get_i64(gpus, 1, GPUS_sm_count), 22);
  drop(&t);
}

#define GPU_TABLE \
  "CREATE TABLE TARGET_INFO_GPU(id INTEGER, cuDevice INTEGER, name TEXT, smCount INTEGER, clockRate INTEGER);"

/* Numbers of the table are no ordinals; the column cuDevice is. */
TEST(test_by_ordinal) {
  struct trace_file t;
  make(&t, GPU_TABLE
       "INSERT INTO TARGET_INFO_GPU VALUES(3, 2, 'A40', 84, 0), (1, 0, 'A100', 108, 7), (2, 9, 'Display', 0, 0)");
  device(&t, 1, 10, 0), device(&t, 1, 10, 2), device(&t, 1, 10, 5);
  resolve(&t);
  const struct nai_table *gpus = t.in.tables[NAI_IN_GPUS];
  assert_int_equal(gpus->rows, 3);
  assert_string_equal(nai_get_str(gpus, 0, GPUS_gpu_name), "A100");
  assert_string_equal(nai_get_str(gpus, 1, GPUS_gpu_name), "A40");
  assert_string_equal(nai_get_str(gpus, 0, GPUS_identified_by), "ordinal");
  assert_int_equal(nai_get_i64(gpus, 0, GPUS_gpu_id), 1);
  assert_int_equal(nai_get_i64(gpus, 0, GPUS_clock_hz), 7);
  assert_true(nai_table_value(gpus, 1, GPUS_clock_hz).null); /* 0: not known */
  assert_true(nai_table_value(gpus, 2, GPUS_identified_by).null);
  drop(&t);
}

/* Exports that write the same ordinal for all GPUs tell nothing: then by id, where all are of one kind. */
TEST(test_useless_ordinals) {
  struct trace_file t;
  make(&t, GPU_TABLE "INSERT INTO TARGET_INFO_GPU VALUES(0, 0, 'A', 10, 1), (1, 0, 'A', 10, 2)");
  device(&t, 1, 10, 1);
  resolve(&t);
  assert_int_equal(nai_get_i64(t.in.tables[NAI_IN_GPUS], 0, GPUS_clock_hz), 2);
  assert_string_equal(nai_get_str(t.in.tables[NAI_IN_GPUS], 0, GPUS_identified_by), "id");
  drop(&t);
}

/* Several processes on the machine's only GPU use one GPU. */
TEST(test_only_gpu) {
  struct trace_file t;
  make(&t, GPU_TABLE "INSERT INTO TARGET_INFO_GPU VALUES(0, 0, 'A100', 108, 1)");
  uint32_t a = device(&t, 1, 10, 0), b = device(&t, 1, 20, 0), c = device(&t, 1, 30, 1);
  resolve(&t);
  assert_int_equal(t.identity.device_id[a], 0);
  assert_int_equal(t.identity.device_id[b], 0);
  assert_int_equal(t.identity.device_id[c], 1); /* says that there is another */
  assert_string_equal(nai_get_str(t.in.tables[NAI_IN_GPUS], 0, GPUS_identified_by), "only GPU");
  assert_true(nai_table_value(t.in.tables[NAI_IN_GPUS], 0, GPUS_pid).null);
  assert_int_equal(notes(&t, "gpus-split-by-process"), 0);
  drop(&t);
}

/* kHz and kB/s before 2021.3, and a table of the newer name without properties beside it. */
TEST(test_old_gpu) {
  struct trace_file t;
  make(&t, "CREATE TABLE TARGET_INFO_GPU(vmId, deviceId, name); INSERT INTO TARGET_INFO_GPU VALUES(1, 0, 'wrong');"
           "CREATE TABLE TARGET_INFO_CUDA_GPU(deviceId, name, numMultiprocessors, coreClockRate, globalMemoryBandwidth,"
           " computeCapabilityMajor, computeCapabilityMinor);"
           "INSERT INTO TARGET_INFO_CUDA_GPU VALUES(0, 'V100', 80, 1380000, 898048000, 7, 0)");
  device(&t, 1, 10, 0);
  resolve(&t);
  const struct nai_table *gpus = t.in.tables[NAI_IN_GPUS];
  assert_string_equal(nai_get_str(gpus, 0, GPUS_gpu_name), "V100");
  assert_int_equal(nai_get_i64(gpus, 0, GPUS_clock_hz), 1380000000);
  assert_int_equal(nai_get_i64(gpus, 0, GPUS_memory_bytes_per_s), 898048000000);
  assert_int_equal(nai_get_i64(gpus, 0, GPUS_compute_minor), 0);
  assert_true(nai_table_value(gpus, 0, GPUS_gpu_id).null);
  drop(&t);
}

/* Thousands of processes on one ordinal take no time, tens of thousands are refused. */
TEST(test_many) {
  struct trace_file t;
  struct timespec began, ended;
  make(&t, "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90000)"
           " INSERT INTO TARGET_INFO_CUDA_DEVICE SELECT 1, 1, i FROM n");
  for (int64_t i = 1; i <= 4000; i++)
    device(&t, 1, i, 0);
  clock_gettime(CLOCK_MONOTONIC, &began);
  resolve(&t);
  clock_gettime(CLOCK_MONOTONIC, &ended);
  assert_true(ended.tv_sec - began.tv_sec < 5);
  assert_int_equal(t.in.tables[NAI_IN_GPUS]->rows, 4000);
  drop(&t);

  struct nai_err refused = {0};
  make(&t, "SELECT 1");
  for (int64_t i = 1; i <= 60000; i++)
    device(&t, 1, i, 0);
  assert_int_equal(nai_identity_resolve(&t.identity, &t.in, t.trace, &refused), NAI_EINPUT);
  drop(&t);
}

TEST(test_names) {
  struct trace_file t;
  bool added;
  make(&t, "INSERT INTO StringIds VALUES(7, 'worker' || char(10) || 'x');"
           "CREATE TABLE PROCESSES(globalPid INTEGER, name TEXT);"
           "INSERT INTO PROCESSES VALUES(281474976710656 + 10 * 16777216, 'python'), ('text', 'no'), (5, 'other');"
           "CREATE TABLE ThreadNames(globalTid INTEGER, nameId INTEGER);"
           "INSERT INTO ThreadNames VALUES(281474976710656 + 10 * 16777216 + 11, 7), (1, 99)");
  uint32_t index = nai_keyset_add(&t.identity.threads, ((int64_t)1 << 48) + (10 << 24) + 11, &added);
  resolve(&t);
  const struct nai_table *threads = t.in.tables[NAI_IN_THREADS];
  int32_t row = t.identity.thread_row[index];
  assert_string_equal(nai_get_str(threads, row, THREADS_thread_name), "worker x");
  assert_int_equal(nai_get_i64(threads, row, THREADS_pid), 10);
  assert_int_equal(nai_get_i64(threads, row, THREADS_tid), 11);
  assert_string_equal(nai_get_str(t.in.tables[NAI_IN_PROCESSES], 0, PROCESSES_process_name), "python");
  drop(&t);
}
