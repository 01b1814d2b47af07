/* What templates see of tables. */
#include "unit.h"

#include "report/report_view.h"
#include "report/output.h"
#include "report/report.h"
#include "columns.h"
#include "tables/capture_time.h"
#include "tables/findings.h"
#include "tables/gpu_active.h"
#include "tables/gpu_utilization.h"
#include "tables/profile_targets.h"

#include <stdio.h>
#include <string.h>

enum { RANGE, KERNEL, PROCESS, TIME, DEVICE };
static const struct nai_column_def columns[] = {
    [RANGE] = NAI_RANGE_NAME_COLUMN("range_name", "a range"),
    [KERNEL] = NAI_KERNEL_NAME_COLUMN("kernel_name", "a kernel"),
    [PROCESS] = NAI_LABEL_COLUMN("process_name", "a process"),
    [TIME] = NAI_TIME_COLUMN("total_time_ns", "a time"),
    [DEVICE] = NAI_DEVICE_COLUMN("a GPU"),
};
static const struct nai_schema schema = NAI_SCHEMA("things", "Things", "A thing", columns);

static const char *text_of(const struct nai_view *map, const char *key) {
  const struct nai_view *text = nai_view_get(map, key, strlen(key));
  assert_non_null(text);
  assert_int_equal(text->kind, NAI_VIEW_TEXT);
  return text->text;
}

static struct nai_table *things(void) {
  static const char *const names[] = {"train::step(3)::forward", "train::step(4)::forward",
                                      "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"};
  struct nai_table *table = NULL;
  assert_int_equal(nai_table_new(&table, &schema, NULL), 0);
  for (int i = 0; i < 3; i++) {
    int64_t row = nai_table_add_row(table);
    nai_set_str(table, row, RANGE, names[i]);
    nai_set_str(table, row, KERNEL, "void at::native::fill_kernel<float>(float *, int)");
    nai_set_str(table, row, PROCESS, names[i]);
    nai_set_i64(table, row, TIME, 136355595);
  }
  assert_int_equal(nai_table_check(table, NULL), 0);
  return table;
}

/* Names of ranges and processes are no C++: what is in brackets tells them apart. */
TEST(test_only_kernel_names_are_shortened) {
  struct nai_table *table = things();
  const struct nai_table *const tables[] = {table};
  const struct nai_report report = {.tables = tables, .table_count = 1, .version = "x", .top = 10};
  struct nai_view *root = nai_report_view(&report, 10, true);
  assert_int_equal(nai_view_check(root, NULL), 0);
  const struct nai_view *all = nai_view_get(root, "tables", 6), *shown = nai_view_get(all, "things", 6);
  const struct nai_view *row = nai_view_get(shown, "rows", 4)->first;
  for (int64_t i = 0; i < 3; i++, row = row->next) {
    assert_string_equal(text_of(row, "range_name_short"), nai_get_str(table, i, RANGE));
    assert_string_equal(text_of(row, "process_name_short"), nai_get_str(table, i, PROCESS));
    assert_string_equal(text_of(row, "kernel_name_short"), "fill_kernel<float>");
    assert_string_equal(text_of(row, "total_time_ms"), "136.4\xc2\xa0ms"); /* by the name that outputs show */
    assert_null(nai_view_get(row, "total_time_ns", 13));
    assert_null(nai_view_get(row, "gpu_label", 9));
  }
  nai_view_free(root);
  nai_table_free(table);
}

/* However many groups there are, what is not shown is counted. */
TEST(test_groups_are_counted) {
  enum { GROUPS = 2612, TOP = 10 };
  struct nai_table *table = NULL;
  assert_int_equal(nai_table_new(&table, &schema, NULL), 0);
  for (int i = 0; i < 2 * GROUPS; i++) { /* each on two GPUs */
    char name[16];
    int64_t row = nai_table_add_row(table);
    snprintf(name, sizeof name, "k%d", i % GROUPS);
    nai_set_str(table, row, KERNEL, name);
    nai_set_i64(table, row, TIME, 1000000 * (1 + i / GROUPS));
    nai_set_i64(table, row, DEVICE, i / GROUPS);
  }
  assert_int_equal(nai_table_check(table, NULL), 0);
  const struct nai_table *const tables[] = {table};
  const struct nai_report report = {.tables = tables, .table_count = 1, .version = "x", .top = TOP};
  const struct nai_grouping grouping = {
      .name = "things", .table = &schema, .keys = {KERNEL}, .key_count = 1, .total = TIME};
  struct nai_view *root = nai_view_new();
  nai_report_put_groups(root, &report, &grouping, TOP);
  assert_int_equal(nai_view_check(root, NULL), 0);
  const struct nai_view *things = nai_view_get(root, "things", 6), *rows = nai_view_get(things, "rows", 4);
  assert_string_equal(text_of(things, "more"), "2602");
  assert_int_equal(rows->len, TOP);
  assert_string_equal(text_of(rows->first, "gpus"), "0, 1");
  assert_string_equal(text_of(rows->last, "kernel_name"), "k9");
  assert_string_equal(text_of(rows->last, "total_time_ms_span"), "1.00-2.00\xc2\xa0ms");
  nai_view_free(root);
  nai_table_free(table);
}

/* Addresses are whole, whatever their length, and a stored table's text that is no GPU ends the list. */
TEST(test_links_and_gpus_of_findings) {
  char links[2200] = "https://example.org/";
  size_t len = strlen(links);
  for (size_t i = 0; i < 1000; i++)
    memcpy(links + len + 2 * i, "\xc3\xa9", 2);
  memcpy(links + len + 2000, " https://b.org", sizeof " https://b.org");
  struct nai_table *table = NULL;
  assert_int_equal(nai_table_new(&table, &nai_findings_schema, NULL), 0);
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, FINDINGS_id, "a");
  nai_set_str(table, row, FINDINGS_links, links);
  nai_set_str(table, row, FINDINGS_gpus, "0 3 x 4");
  const struct nai_table *const tables[] = {table};
  const struct nai_report report = {.tables = tables, .table_count = 1, .version = "x", .top = 10};
  struct nai_buf text = {0};
  nai_report_json(&text, &report, INT64_MAX);
  assert_int_equal(nai_buf_check(&text, NULL), 0);
  links[len + 2000] = '\0';
  const char *at = strstr(nai_buf_str(&text), links);
  assert_non_null(at);
  assert_int_equal(strncmp(at + len + 2000, "\", \"https://b.org\"]", 18), 0);
  assert_non_null(strstr(nai_buf_str(&text), "\"gpus\": [0, 3]"));
  nai_buf_free(&text);
  nai_table_free(table);
}

/* A finding of the verdict's test; reason and part_of may be "". */
static void add_finding(struct nai_table *table, const char *severity, const char *title, int64_t ms,
                        const char *reason, const char *part_of) {
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, FINDINGS_severity, severity);
  nai_set_str(table, row, FINDINGS_title, title);
  nai_set_str(table, row, FINDINGS_scope, "GPU 0");
  nai_set_i64(table, row, FINDINGS_saving_ns, ms * 1000000);
  nai_set_f64(table, row, FINDINGS_pct_of_active, (double)ms / 10);
  nai_set_str(table, row, FINDINGS_reason, reason);
  nai_set_str(table, row, FINDINGS_part_of, part_of);
  nai_set_str(table, row, FINDINGS_share_of, "active time");
}

/* The verdict of a report of these findings, which are freed. */
static void check_verdict(struct nai_table *findings, enum nai_severity severity, const char *says, const char *never) {
  struct nai_buf text = {0};
  enum nai_severity worst;
  const struct nai_table *const tables[] = {findings};
  const struct nai_report report = {.tables = tables, .table_count = 1, .version = "x", .top = 10};
  nai_report_verdict(&text, &worst, &report);
  assert_int_equal(worst, severity);
  assert_int_equal(strlen(nai_buf_str(&text)), text.len); /* no NUL in it */
  assert_non_null(strstr(nai_buf_str(&text), says));
  if (never)
    assert_null(strstr(nai_buf_str(&text), never));
  nai_buf_free(&text);
  nai_table_free(findings);
}

/* The reader of "15 %" asks what the larger idle time is: the verdict says why that comes second. */
TEST(test_verdict_says_what_larger_loss_was_rated_lower) {
  struct nai_table *table = NULL;
  assert_int_equal(nai_table_new(&table, &nai_findings_schema, NULL), 0);
  add_finding(table, "low", "Few blocks", 151, "", "");
  add_finding(table, "info", "Idle in host code", 493, "an input sets the pace", "");
  add_finding(table, "info", "Within the first", 700, "a part", "few-blocks");
  add_finding(table, "info", "Nothing was lowered here", 800, "", "");
  check_verdict(table, NAI_SEVERITY_LOW,
                "Few blocks, potential saving 151.0 ms (15.1 % of active time) on GPU 0. An input "
                "sets the pace: idle in host code 49.3 %, likely no loss.",
                NULL);
}

/* A simulation put it behind a smaller bound of the same severity. */
TEST(test_verdict_says_what_a_simulation_put_behind) {
  static const char reason[] = "likely less than 4 % of a step in a simulation";
  struct nai_table *table = NULL;
  assert_int_equal(nai_table_new(&table, &nai_findings_schema, NULL), 0);
  add_finding(table, "low", "Few blocks", 36, "", "");
  add_finding(table, "low", "GPU starved", 78, reason, "");
  add_finding(table, "info", "Less severe", 90, reason, "");
  for (int64_t i = 1; i < 3; i++)
    nai_set_str(table, i, FINDINGS_simulated_state, "within_error");
  check_verdict(table, NAI_SEVERITY_LOW,
                "Larger but less certain: GPU starved (7.8 %; likely less than 4 % of a step in a simulation).",
                "ess severe");
}

TEST(test_verdict_names_a_loss_once) {
  struct nai_table *table = NULL;
  assert_int_equal(nai_table_new(&table, &nai_findings_schema, NULL), 0);
  add_finding(table, "high", "Few blocks", 328, "", "");
  add_finding(table, "medium", "A pause", 478, "paid once", "");
  check_verdict(table, NAI_SEVERITY_HIGH, "; also a pause (47.8 %, uncertain).", "Larger but");
}

/* A stored table may lack a title: the sentence goes on. */
TEST(test_verdict_without_a_title) {
  struct nai_table *table = NULL;
  assert_int_equal(nai_table_new(&table, &nai_findings_schema, NULL), 0);
  add_finding(table, "high", "Few blocks", 151, "", "");
  add_finding(table, "high", "", 100, "", "");
  check_verdict(table, NAI_SEVERITY_HIGH, "; then  (10.0 %).", NULL);
}

/* The verdict of a capture of 1 s in which the profiler takes 400 ms and a GPU `gpu_ms`, nearly all of it in one
 * kernel. */
static void check_course(int64_t gpu_ms, const char *place, const char *says) {
  struct nai_table *tables[5] = {NULL};
  const struct nai_schema *const schemas[] = {&nai_findings_schema, &nai_capture_time_schema, &nai_gpu_active_schema,
                                              &nai_gpu_utilization_schema, &nai_profile_targets_schema};
  for (int i = 0; i < 5; i++)
    assert_int_equal(nai_table_new(&tables[i], schemas[i], NULL), 0);
  add_finding(tables[0], "high", "Few blocks", 20, "", "");
  nai_set_str(tables[0], 0, FINDINGS_place, place);
  nai_set_f64(tables[0], 0, FINDINGS_pct_of_active, 25);
  nai_set_f64(tables[0], 0, FINDINGS_pct_of_capture, 2);
  nai_set_i64(tables[0], 0, FINDINGS_gpu_count, 1);
  nai_set_str(tables[0], 0, FINDINGS_change, "");
  add_finding(tables[0], "low", "Dominant kernel", 0, "", "");
  nai_set_str(tables[0], 1, FINDINGS_id, "dominant-kernel");
  nai_set_str(tables[0], 1, FINDINGS_place, "render");
  NAI_ADD(CAPTURE_TIME, tables[1], .phase = "before_cuda", .part = "profiler", .duration_ns = 400000000);
  NAI_ADD(CAPTURE_TIME, tables[1], .phase = "gpu", .part = "compute", .duration_ns = gpu_ms * 1000000);
  NAI_ADD(CAPTURE_TIME, tables[1], .phase = "after", .part = "host", .duration_ns = (600 - gpu_ms) * 1000000);
  NAI_ADD(GPU_ACTIVE, tables[2], .active_ns = gpu_ms * 1000000, .compute_pct = 98.5, .idle_pct = 1.5);
  NAI_ADD(GPU_UTILIZATION, tables[3], .window_ns = gpu_ms * 1000000);
  NAI_ADD(PROFILE_TARGETS, tables[4], .kernel_name = "render(int)", .function = "render", .pct_of_active = 90);
  const struct nai_report report = {
      .tables = (const struct nai_table *const *)tables, .table_count = 5, .version = "x", .top = 10};
  struct nai_buf text = {0};
  enum nai_severity worst;
  nai_report_verdict(&text, &worst, &report);
  assert_string_equal(nai_buf_str(&text), says);
  nai_buf_free(&text);
  for (int i = 0; i < 5; i++)
    nai_table_free(tables[i]);
}

/* The kernel that takes the time is named once; shares are of the active time, or where that is little of the capture.
 */
TEST(test_verdict_names_what_takes_the_time) {
  check_course(
      200, "render",
      "1 GPU, active for 200.0 ms of 1.00 s (400.0 ms before CUDA (profiler), 400.0 ms afterwards): 98.5 % "
      "compute (render 90.0 %), 1.5 % idle. Few blocks, potential saving 20.0 ms (25.0 %, 2.0 % of the capture).");
  check_course(
      200, "main_loop",
      "1 GPU, active for 200.0 ms of 1.00 s (400.0 ms before CUDA (profiler), 400.0 ms afterwards): 98.5 % "
      "compute (render 90.0 %), 1.5 % idle. Few blocks (main_loop), potential saving 20.0 ms (25.0 %, 2.0 % of "
      "the capture).");
  check_course(
      40, "render",
      "1.00 s: 400.0 ms before CUDA (profiler), 40.0 ms active (busy 40.0 ms), 560.0 ms afterwards. Few blocks "
      "(render), potential saving 20.0 ms (2.0 % of the capture).");
}

/* Names may be sentences, and every part may have something to say. */
TEST(test_verdict_is_short) {
  static const char sentence[] =
      "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h i j k l m n o p q r s";
  for (int named = 0; named < 2; named++) {
    struct nai_table *table = NULL;
    assert_int_equal(nai_table_new(&table, &nai_findings_schema, NULL), 0);
    add_finding(table, "high", named ? sentence : "Few blocks in kernels", 151, "", "");
    add_finding(table, "high", sentence, 120, "", "");
    add_finding(table, "info", "Idle in host code", 493, sentence, "");
    nai_set_str(table, 0, FINDINGS_place, sentence);
    struct nai_buf text = {0};
    enum nai_severity worst;
    const struct nai_table *const tables[] = {table};
    const struct nai_report report = {.tables = tables, .table_count = 1, .version = "x", .top = 10};
    nai_report_verdict(&text, &worst, &report);
    int words = 0;
    for (char *word = strtok(text.data, " "); word; word = strtok(NULL, " "))
      words++;
    assert_in_range(words, 10, 45);
    nai_buf_free(&text);
    nai_table_free(table);
  }
}
