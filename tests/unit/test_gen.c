/* The trace generator, run as a program: what it writes is valid, repeatable and agrees with the
 * truth it states. Sums and joins are recomputed here in SQL. */
#include "unit.h"

#include <fcntl.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 12 };

static const char *generator;
static char directory[128];

/* The names that the generator lists. */
enum { MAX_SCENARIOS = 128 };
static char scenarios[MAX_SCENARIOS][64];
static int scenario_count;
/* Path of a file in the test's directory; valid until the fourth call after this one. */
static const char *in_directory(const char *name) {
  static char paths[4][192];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

/* Runs the generator with arguments up to NULL; returns its exit status. */
static int generate(const char *first, ...) {
  char *arguments[MAX_ARGUMENTS + 2] = {(char *)(uintptr_t)generator, (char *)(uintptr_t)first};
  va_list list;
  va_start(list, first);
  for (int i = 2; i <= MAX_ARGUMENTS; i++) {
    arguments[i] = va_arg(list, char *);
    if (!arguments[i]) {
      break;
    }
  }
  va_end(list);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    int quiet = open("/dev/null", O_WRONLY);
    if (quiet < 0 || dup2(quiet, STDERR_FILENO) < 0 || dup2(quiet, STDOUT_FILENO) < 0) {
      _exit(126);
    }
    execv(generator, arguments);
    _exit(127);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static char *read_whole(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  *size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*size + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, *size, file), *size);
  bytes[*size] = '\0';
  fclose(file);
  return bytes;
}

static bool same_bytes(const char *left, const char *right) {
  size_t left_size, right_size;
  char *a = read_whole(left, &left_size);
  char *b = read_whole(right, &right_size);
  bool same = left_size == right_size && memcmp(a, b, left_size) == 0;
  free(a);
  free(b);
  return same;
}

static sqlite3 *open_trace(const char *name) {
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open_v2(in_directory(name), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
  return db;
}

static int64_t query_int(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) {
    fail_msg("%s: %s", sql, sqlite3_errmsg(db));
  }
  assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
  int64_t value = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return value;
}

static bool has_table(sqlite3 *db, const char *table) {
  char sql[160];
  snprintf(sql, sizeof sql, "SELECT count(*) FROM sqlite_master WHERE name = '%s'", table);
  return query_int(db, sql) > 0;
}

static bool has_column(sqlite3 *db, const char *table, const char *column) {
  char sql[200];
  snprintf(sql, sizeof sql, "SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s'", table, column);
  return query_int(db, sql) > 0;
}

static json_t *load_truth(const char *name) {
  json_error_t error;
  json_t *truth = json_load_file(in_directory(name), 0, &error);
  if (!truth) {
    fail_msg("%s: %s", name, error.text);
  }
  return truth;
}

static int64_t get_int(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_integer(value)) {
    fail_msg("truth lacks %s", key);
  }
  return json_integer_value(value);
}

static double share(const json_t *object, const char *part, const char *whole) {
  return (double)get_int(object, part) / (double)get_int(object, whole);
}

static bool lists(const json_t *array, const char *text) {
  size_t i;
  json_t *item;
  json_array_foreach(array, i, item) {
    if (strcmp(json_string_value(item), text) == 0) {
      return true;
    }
  }
  return false;
}

TEST(test_same_options_same_bytes) {
  for (int i = 0; i < scenario_count; i++) {
    assert_int_equal(generate(scenarios[i], in_directory("a.sqlite"), "--force", "--scale", "0.5", "--truth",
                              in_directory("a.json"), NULL),
                     0);
    assert_int_equal(generate(scenarios[i], in_directory("b.sqlite"), "--force", "--scale", "0.5", "--truth",
                              in_directory("b.json"), NULL),
                     0);
    if (!same_bytes(in_directory("a.sqlite"), in_directory("b.sqlite")) ||
        !same_bytes(in_directory("a.json"), in_directory("b.json"))) {
      fail_msg("%s differs between two runs", scenarios[i]);
    }
  }
}

TEST(test_another_seed_gives_another_trace) {
  assert_int_equal(generate("training", in_directory("a.sqlite"), "--force", NULL), 0);
  assert_int_equal(generate("training", in_directory("b.sqlite"), "--force", "--seed", "2", NULL), 0);
  assert_false(same_bytes(in_directory("a.sqlite"), in_directory("b.sqlite")));
}

TEST(test_files_are_intact) {
  for (int i = 0; i < scenario_count; i++) {
    assert_int_equal(generate(scenarios[i], in_directory("a.sqlite"), "--force", NULL), 0);
    sqlite3 *db = open_trace("a.sqlite");
    int64_t intact = query_int(db, "SELECT quick_check = 'ok' FROM pragma_quick_check");
    sqlite3_close(db);
    if (!intact) {
      fail_msg("%s fails quick_check", scenarios[i]);
    }
  }
}

/* Groups of causes that the sweep cannot tell apart: late hosts with and without a drained queue, late starts. */
static int group_of(const char *cause) {
  static const char *const groups[][4] = {{"profiler"},
                                          {"module_load"},
                                          {"allocation"},
                                          {"blocking_call"},
                                          {"queue_drained", "in_launch_call", "cuda_call", "host_code"},
                                          {"launch_latency"},
                                          {"dependency", "unknown", "host_function"}};
  for (int group = 0; group < (int)(sizeof groups / sizeof groups[0]); group++) {
    for (int i = 0; i < 4 && groups[group][i]; i++) {
      if (strcmp(groups[group][i], cause) == 0) {
        return group;
      }
    }
  }
  fail_msg("no such cause: %s", cause);
  return 0;
}

static void check_sweep(const char *scenario, const json_t *told, const json_t *swept) {
  int64_t sums[8] = {0};
  const char *cause;
  json_t *entry;
  json_object_foreach((json_t *)(uintptr_t)told, cause, entry) { sums[group_of(cause)] += get_int(entry, "total_ns"); }
  json_object_foreach((json_t *)(uintptr_t)swept, cause, entry) { sums[group_of(cause)] -= json_integer_value(entry); }
  if (json_object_get(told, "host_function")) { /* the sweep takes it for a wait or a late start */
    sums[6] += sums[3] + sums[5];
    sums[3] = sums[5] = 0;
  }
  for (int group = 0; group < 8; group++) {
    if (sums[group] != 0) {
      fail_msg("%s: planned parts of idle time differ from the swept ones by %lld ns in group %d", scenario,
               (long long)sums[group], group);
    }
  }
}

static void check_gpu(const char *scenario, const json_t *gpu) {
  int64_t parts = get_int(gpu, "compute_ns") + get_int(gpu, "exposed_comm_ns") + get_int(gpu, "exposed_copy_ns") +
                  get_int(gpu, "idle_ns");
  if (parts != get_int(gpu, "window_ns")) {
    fail_msg("%s: the parts of a GPU's window do not add up", scenario);
  }
  const json_t *causes = json_object_get(gpu, "idle_causes");
  const char *cause;
  json_t *entry;
  int64_t idle = 0;
  if (!causes) {
    return;
  }
  json_object_foreach((json_t *)(uintptr_t)causes, cause, entry) { idle += get_int(entry, "total_ns"); }
  if (idle != get_int(gpu, "idle_ns")) {
    fail_msg("%s: idle causes do not add up", scenario);
  }
  const json_t *told = json_object_get(gpu, "idle_parts");
  int64_t planned_ns = 0;
  json_object_foreach((json_t *)(uintptr_t)told, cause, entry) { planned_ns += get_int(entry, "total_ns"); }
  if (told && planned_ns != idle) {
    fail_msg("%s: planned parts of idle time do not add up", scenario);
  }
  if (told) {
    check_sweep(scenario, told, json_object_get(gpu, "idle_sweep"));
  }
  const json_t *planned = json_object_get(gpu, "planned_idle_causes");
  if (planned && !json_equal(planned, causes)) {
    fail_msg("%s: idle causes differ from the plan", scenario);
  }
}

TEST(test_truth_adds_up) {
  for (int i = 0; i < scenario_count; i++) {
    assert_int_equal(generate(scenarios[i], in_directory("a.sqlite"), "--force", "--seed", "11", "--truth",
                              in_directory("a.json"), NULL),
                     0);
    json_t *truth = load_truth("a.json");
    if (json_is_true(json_object_get(truth, "exact"))) {
      size_t index;
      json_t *item;
      int64_t kernel_ns = 0;
      json_array_foreach(json_object_get(truth, "gpus"), index, item) { check_gpu(scenarios[i], item); }
      json_array_foreach(json_object_get(truth, "kernels"), index, item) { kernel_ns += get_int(item, "total_ns"); }
      assert_int_equal(kernel_ns, get_int(truth, "total_kernel_ns"));
      const json_t *nvtx = json_object_get(truth, "nvtx");
      assert_true(get_int(nvtx, "attributed_kernel_ns") <= kernel_ns);
    }
    json_decref(truth);
  }
}

/* The same facts from the rows, by SQL. */
TEST(test_truth_agrees_with_rows) {
  static const char *const exact[] = {"inference", "training",   "copy-bound",  "host-bound", "healthy",
                                      "nvtx-mix",  "shared-gpu", "graphs-node", "neglected",  "bench"};
  for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
    assert_int_equal(generate(exact[i], in_directory("a.sqlite"), "--force", "--truth", in_directory("a.json"),
                              "--seed", "5", NULL),
                     0);
    json_t *truth = load_truth("a.json");
    sqlite3 *db = open_trace("a.sqlite");
    const json_t *join = json_object_get(truth, "join");
    assert_int_equal(query_int(db, "SELECT sum(\"end\" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL"),
                     get_int(truth, "total_kernel_ns"));
    assert_int_equal(query_int(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), get_int(join, "kernels"));
    assert_int_equal(query_int(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k"
                                   " JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId"
                                   " AND r.globalTid & -16777216 = k.globalPid"),
                     get_int(join, "joined"));
    assert_int_equal(query_int(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k"
                                   " JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId"
                                   " AND r.globalTid & -16777216 = k.globalPid WHERE r.start > k.start"),
                     0);
    const json_t *pairs = json_object_get(join, "false_pairs_by_correlation_alone");
    if (pairs) {
      assert_int_equal(query_int(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k"
                                     " JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId"
                                     " AND r.globalTid & -16777216 <> k.globalPid"),
                       json_integer_value(pairs));
    }
    sqlite3_close(db);
    json_decref(truth);
  }
}

struct column_rule {
  const char *table, *column; /* NULL column: the table itself */
  int first, last;
};

TEST(test_schema_generations) {
  static const int years[] = {2019, 2021, 2024, 2026};
  static const struct column_rule rules[] = {{"META_DATA_EXPORT", NULL, 2024, 2026},
                                             {"EXPORT_META_DATA", NULL, 2021, 2021},
                                             {"ENUM_CUDA_MEMCPY_OPER", NULL, 2024, 2026},
                                             {"TARGET_INFO_CUDA_GPU", NULL, 2019, 2021},
                                             {"TARGET_INFO_GPU", NULL, 2024, 2026},
                                             {"TARGET_INFO_CUDA_DEVICE", NULL, 2026, 2026},
                                             {"CUPTI_ACTIVITY_KIND_RUNTIME", "eventClass", 2021, 2026},
                                             {"CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid", 2019, 2026},
                                             {"CUPTI_ACTIVITY_KIND_KERNEL", "demangledName", 2019, 2026},
                                             {"CUPTI_ACTIVITY_KIND_KERNEL", "mangledName", 2024, 2026},
                                             {"CUPTI_ACTIVITY_KIND_KERNEL", "greenContextId", 2024, 2026},
                                             {"CUPTI_ACTIVITY_KIND_KERNEL", "graphId", 2026, 2026},
                                             {"CUPTI_ACTIVITY_KIND_KERNEL", "tensorSizeMinusOneElements", 2026, 2026},
                                             {"CUPTI_ACTIVITY_KIND_MEMCPY", "copyCount", 2026, 2026},
                                             {"NVTX_EVENTS", "textId", 2019, 2026},
                                             {"NVTX_EVENTS", "binaryData", 2024, 2026}};
  for (size_t y = 0; y < sizeof years / sizeof years[0]; y++) {
    char year[8];
    snprintf(year, sizeof year, "%d", years[y]);
    assert_int_equal(generate("training", in_directory("a.sqlite"), "--force", "--schema", year, NULL), 0);
    sqlite3 *db = open_trace("a.sqlite");
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
      const struct column_rule *rule = &rules[i];
      bool expected = years[y] >= rule->first && years[y] <= rule->last;
      bool found = rule->column ? has_column(db, rule->table, rule->column) : has_table(db, rule->table);
      if (found != expected) {
        fail_msg("%d: %s.%s is %s", years[y], rule->table, rule->column ? rule->column : "*",
                 found ? "present" : "missing");
      }
    }
    int64_t nullable = query_int(db, "SELECT count(*) FROM pragma_table_info('NVTX_EVENTS') WHERE \"notnull\" = 0");
    assert_true((nullable == 0) == (years[y] == 2019));
    sqlite3_close(db);
  }
}

TEST(test_old_schema_is_refused_where_it_cannot_express) {
  assert_int_equal(generate("graphs", in_directory("old.sqlite"), "--schema", "2019", NULL), 2);
  assert_int_not_equal(access(in_directory("old.sqlite"), F_OK), 0);
}

TEST(test_shuffling_changes_order_only) {
  assert_int_equal(generate("training", in_directory("a.sqlite"), "--force", "--truth", in_directory("a.json"), NULL),
                   0);
  assert_int_equal(generate("training", in_directory("b.sqlite"), "--force", "--shuffle", "--truth",
                            in_directory("b.json"), NULL),
                   0);
  assert_true(same_bytes(in_directory("a.json"), in_directory("b.json")));
  const char *const unsorted = "SELECT count(*) FROM NVTX_EVENTS a JOIN NVTX_EVENTS b"
                               " ON b.rowid = a.rowid + 1 WHERE b.start < a.start";
  const char *const content = "SELECT sum(start * 31 + \"end\" * 7 + correlationId)"
                              " FROM CUPTI_ACTIVITY_KIND_KERNEL";
  sqlite3 *ordered = open_trace("a.sqlite");
  sqlite3 *shuffled = open_trace("b.sqlite");
  assert_int_equal(query_int(ordered, unsorted), 0);
  assert_true(query_int(shuffled, unsorted) > 100);
  assert_int_equal(query_int(ordered, content), query_int(shuffled, content));
  sqlite3_close(ordered);
  sqlite3_close(shuffled);
}

TEST(test_scenarios_keep_their_promises) {
  for (int seed = 1; seed <= 5; seed++) {
    char text[16];
    snprintf(text, sizeof text, "%d", seed);
    const char *json = in_directory("a.json");
    assert_int_equal(generate("inference", in_directory("a.sqlite"), "--force", "--seed", text, "--truth", json, NULL),
                     0);
    json_t *truth = load_truth("a.json");
    const json_t *gpu = json_array_get(json_object_get(truth, "gpus"), 0);
    const json_t *launch = json_object_get(gpu, "launch");
    assert_true(json_real_value(json_object_get(launch, "kernels_per_s")) >= 50000);
    assert_true(json_real_value(json_object_get(launch, "p50_kernel_ns")) <= 10000);
    assert_true(share(gpu, "idle_ns", "window_ns") < 0.2);
    json_decref(truth);

    assert_int_equal(generate("copy-bound", in_directory("a.sqlite"), "--force", "--seed", text, "--truth", json, NULL),
                     0);
    truth = load_truth("a.json");
    gpu = json_array_get(json_object_get(truth, "gpus"), 0);
    assert_true(share(gpu, "exposed_copy_ns", "window_ns") >= 0.4);
    assert_true(share(gpu, "kernel_busy_ns", "kernel_window_ns") < 0.05);
    assert_true(lists(json_object_get(json_object_get(truth, "findings"), "must_fire"), "exposed-copy"));
    json_decref(truth);

    assert_int_equal(generate("training", in_directory("a.sqlite"), "--force", "--seed", text, "--truth", json, NULL),
                     0);
    truth = load_truth("a.json");
    gpu = json_array_get(json_object_get(truth, "gpus"), 1);
    assert_true(share(gpu, "exposed_comm_ns", "window_ns") >= 0.1);
    assert_true(share(gpu, "comm_hidden_ns", "comm_ns") > 0.3);
    json_decref(truth);
  }
}

TEST(test_secrets_are_planted_but_never_in_the_truth) {
  size_t size;
  assert_int_equal(generate("hostile", in_directory("a.sqlite"), "--force", "--truth", in_directory("a.json"), NULL),
                   0);
  char *truth = read_whole(in_directory("a.json"), &size);
  assert_null(strstr(truth, "CANARY_SECRET"));
  free(truth);
  sqlite3 *db = open_trace("a.sqlite");
  assert_true(query_int(db, "SELECT count(*) FROM META_DATA_CAPTURE"
                            " WHERE value LIKE '%CANARY_SECRET%'") > 5);
  assert_true(query_int(db, "SELECT count(*) FROM ProcessStreams p JOIN StringIds s"
                            " ON s.id = p.contentId WHERE s.value LIKE '%CANARY_SECRET%'") > 0);
  sqlite3_close(db);
}

TEST(test_empty_has_every_table_and_no_row) {
  assert_int_equal(generate("empty", in_directory("a.sqlite"), "--force", NULL), 0);
  sqlite3 *db = open_trace("a.sqlite");
  sqlite3_stmt *tables = NULL;
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT name FROM sqlite_master", -1, &tables, NULL), SQLITE_OK);
  int count = 0;
  while (sqlite3_step(tables) == SQLITE_ROW) {
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%s\"", sqlite3_column_text(tables, 0));
    assert_int_equal(query_int(db, sql), 0);
    count++;
  }
  assert_true(count > 25);
  sqlite3_finalize(tables);
  sqlite3_close(db);
}

TEST(test_size_is_reached) {
  struct stat status;
  assert_int_equal(generate("bench", in_directory("a.sqlite"), "--force", "--size", "3M", NULL), 0);
  assert_int_equal(stat(in_directory("a.sqlite"), &status), 0);
  assert_true(status.st_size >= 3 << 20 && status.st_size < 6 << 20);
}

TEST(test_existing_files_are_kept) {
  assert_int_equal(generate("minimal", in_directory("kept.sqlite"), NULL), 0);
  assert_int_equal(generate("minimal", in_directory("kept.sqlite"), NULL), 2);
  assert_int_equal(generate("minimal", in_directory("kept.sqlite"), "--force", NULL), 0);
}

TEST(test_usage_errors) {
  const char *path = in_directory("never.sqlite");
  assert_int_equal(generate("no-such-scenario", path, NULL), 2);
  assert_int_equal(generate("inference", NULL), 2);
  assert_int_equal(generate("inference", path, "--schema", "2020", NULL), 2);
  assert_int_equal(generate("inference", path, "--scale", "0", NULL), 2);
  assert_int_equal(generate("inference", path, "--scale", "nan", NULL), 2);
  assert_int_equal(generate("inference", path, "--size", "1M", NULL), 2);
  assert_int_equal(generate("bench", path, "--size", "1T", NULL), 2);
  assert_int_equal(generate("inference", path, "--seed", "-1", NULL), 2);
  assert_int_equal(generate("inference", path, "--truth", path, NULL), 2);
  assert_int_equal(generate("inference", path, "--unknown", NULL), 2);
  assert_int_equal(generate("inference", "/nonexistent/directory/x.sqlite", NULL), 5);
  assert_int_not_equal(access(path, F_OK), 0);
  assert_int_equal(generate("--help", NULL), 0);
  assert_int_equal(generate("--version", NULL), 0);
  assert_int_equal(generate("list", NULL), 0);
}

/* "  NAME  SUMMARY", a line each. */
static int read_scenarios(void **state) {
  char command[512], line[512];
  (void)state;
  snprintf(command, sizeof command, "\"%s\" list", generator);
  FILE *list = popen(command, "r");
  if (!list) {
    return 1;
  }
  while (scenario_count < MAX_SCENARIOS && fgets(line, sizeof line, list) &&
         sscanf(line, " %63s", scenarios[scenario_count]) == 1) {
    scenario_count++;
  }
  pclose(list);
  return scenario_count > 40 && scenario_count < MAX_SCENARIOS ? 0 : 1;
}

static int open_directory(void **state) {
  const char *parent = getenv("TMPDIR");
  generator = getenv("NSYS_AI_GEN");
  snprintf(directory, sizeof directory, "%s/nsys-ai-gen-XXXXXX", parent && *parent ? parent : "/tmp");
  return generator && mkdtemp(directory) ? read_scenarios(state) : -1;
}

/* Removes what the tests leave behind; anything else, such as a temporary file, is a failure. */
static int close_directory(void **state) {
  static const char *const files[] = {"a.sqlite", "a.json", "b.sqlite", "b.json", "kept.sqlite"};
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    unlink(in_directory(files[i]));
  }
  return rmdir(directory);
}

UNIT_FIXTURE(open_directory, close_directory)
