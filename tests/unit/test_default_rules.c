/* The built-in rules against the tables the program really makes, and rule files of a user on top of them. */
#include "unit.h"

#include "analyses/analysis.h"
#include "tables/findings.h"
#include "trace/ingest.h"
#include "rules/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct nai_schema *catalogue[256];
static size_t catalogue_count;

static int make_catalogue(void **state) {
  (void)state;
  for (size_t i = 0; nai_analyses[i]; i++)
    for (size_t j = 0; nai_analyses[i]->outputs[j]; j++)
      catalogue[catalogue_count++] = nai_analyses[i]->outputs[j];
  for (size_t i = 0; i < NAI_IN_COUNT; i++)
    catalogue[catalogue_count++] = nai_event_tables[i];
  return 0;
}

/* The built-in rules, with `text` as a user's rule file (may be NULL). */
static int load(struct nai_rule_set **out, const char *text, struct nai_err *err) {
  char path[] = "/tmp/nai-rules-XXXXXX";
  const char *paths[] = {path};
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  if (text)
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  int rc = nai_rules_load(out, paths, text != NULL, catalogue, catalogue_count, err);
  unlink(path);
  return rc;
}

static const char *const ids[] = {"no-gpu-activity-recorded",
                                  "nvtx-only",
                                  "program-failed",
                                  "host-set-up-dominates",
                                  "host-before-work",
                                  "cuda-initialization",
                                  "host-after-work",
                                  "pause-dominates",
                                  "one-cold-pass",
                                  "idle-host-code",
                                  "cpu-starved",
                                  "python-gil",
                                  "python-gc",
                                  "idle-wait-per-launch",
                                  "idle-blocking-call",
                                  "idle-queue-drained",
                                  "idle-launch-call",
                                  "idle-module-load",
                                  "pause-module-load",
                                  "allocation-in-steady-state",
                                  "idle-cuda-call",
                                  "launch-bound",
                                  "graph-reinstantiated",
                                  "graph-too-small",
                                  "graph-gaps",
                                  "idle-dependency",
                                  "host-function-stalls",
                                  "idle-page-migration",
                                  "idle-unknown",
                                  "idle-profiler",
                                  "wait-call-site",
                                  "allocation-call-site",
                                  "call-stacks-partial",
                                  "acc-data-each-iteration",
                                  "acc-alloc-each-iteration",
                                  "small-reads",
                                  "slow-opens",
                                  "cold-files",
                                  "acc-implicit-waits",
                                  "mpi-exposed",
                                  "mpi-barriers",
                                  "mpi-small-messages",
                                  "mpi-staged",
                                  "mpi-imbalance",
                                  "gpu-time-sliced",
                                  "exposed-communication",
                                  "fsdp-without-sharding",
                                  "waiting-not-transferring",
                                  "small-collectives",
                                  "low-busbw",
                                  "uneven-busbw",
                                  "serial-comm-stream",
                                  "overlap-costs-compute",
                                  "nccl-init-in-window",
                                  "offload-in-pieces",
                                  "exposed-copy",
                                  "pageable-copies",
                                  "slow-copies",
                                  "overlappable-copies",
                                  "repeated-copies",
                                  "round-trips",
                                  "streamed-weights",
                                  "copies-on-compute-stream",
                                  "tiny-copies",
                                  "few-long-calls",
                                  "uvm-bound",
                                  "uvm-thrash",
                                  "uvm-oversubscribed",
                                  "sm-underfilled",
                                  "tensor-idle",
                                  "memory-bound",
                                  "kernel-bound-by-memory",
                                  "range-bound-by-memory",
                                  "gemm-tensor-low",
                                  "metrics-too-coarse",
                                  "clock-throttle",
                                  "nvlink-idle-in-comm",
                                  "memory-growth",
                                  "peak-near-capacity",
                                  "unfused-elementwise",
                                  "optimizer-small-kernels",
                                  "recomputation",
                                  "casts",
                                  "old-attention-kernel",
                                  "variants-compared",
                                  "dominant-kernel",
                                  "underfilled",
                                  "small-blocks",
                                  "fp32-gemm",
                                  "autotuning-in-window",
                                  "gemm-below-roofline",
                                  "tail-effect",
                                  "register-spill",
                                  "gpu-imbalance",
                                  "shared-gpu",
                                  "data-loader-stall",
                                  "slow-step",
                                  "step-time-variance",
                                  "steps-drift",
                                  "serving-prefill-delays-decode",
                                  "serving-decode-without-graphs",
                                  "serving-graph-padding",
                                  "serving-host-between-steps",
                                  "serving-small-batch",
                                  "serving-collectives",
                                  "sm-partition",
                                  "serving-decode-near-weight-reads",
                                  "serving-recompute",
                                  "serving-no-counts",
                                  "warm-up-in-window",
                                  "ptx-compiled",
                                  "first-use",
                                  "timing-includes-first-use",
                                  "call-rounds",
                                  "host-calls",
                                  "low-nvtx-coverage",
                                  "no-nvtx",
                                  "dense-nvtx",
                                  "graph-envelope-only",
                                  "profiler-overhead",
                                  "trace-health"};
enum { IDS = sizeof ids / sizeof *ids };

TEST(all_findings_are_there_and_documented) {
  struct nai_rule_set *set = NULL;
  struct nai_err err = {0};
  if (load(&set, NULL, &err))
    fail_msg("%s", err.msg);
  assert_int_equal(nai_rules_count(set), IDS);
  const char *root = getenv("NAI_SOURCE_DIR");
  for (size_t i = 0; i < IDS; i++) {
    struct nai_buf text = {0};
    char path[512];
    if (nai_rules_explain(&text, set, ids[i], &err))
      fail_msg("%s", err.msg);
    snprintf(path, sizeof path, "links: docs/root-causes/%s.md\n", ids[i]);
    assert_non_null(strstr(text.data, path));
    snprintf(path, sizeof path, "%s/docs/root-causes/%s.md", root ? root : ".", ids[i]);
    if (root && access(path, R_OK) != 0)
      fail_msg("%s is missing", path);
    nai_buf_free(&text);
  }
  nai_rules_free(set);
}

/* --- Small sets of tables: GPU 3 is active for 100 ms. ---------------------------------------- */

enum { MAX_TABLES = 16 };
struct tables {
  struct nai_table *list[MAX_TABLES];
  size_t count;
};

static struct nai_table *table_of(struct tables *t, const char *name) {
  for (size_t i = 0; i < t->count; i++)
    if (strcmp(t->list[i]->schema->name, name) == 0)
      return t->list[i];
  for (size_t i = 0; i < catalogue_count; i++)
    if (strcmp(catalogue[i]->name, name) == 0)
      assert_int_equal(nai_table_new(&t->list[t->count], catalogue[i], NULL), 0);
  return t->list[t->count++];
}

/* A row of a table from "column=value" words; what has no column fails the test. */
static void add(struct tables *t, const char *name, const char *cells) {
  struct nai_table *table = table_of(t, name);
  int64_t row = nai_table_add_row(table);
  char copy[512], *save = NULL;
  snprintf(copy, sizeof copy, "%s", cells);
  for (char *word = strtok_r(copy, ";", &save); word; word = strtok_r(NULL, ";", &save)) {
    char *equals = strchr(word, '=');
    assert_non_null(equals);
    *equals = '\0';
    int column = nai_schema_column(table->schema, word);
    if (column < 0)
      fail_msg("table %s has no column %s", name, word);
    if (table->schema->columns[column].type == NAI_STR)
      nai_set_str(table, row, column, equals + 1);
    else if (table->schema->columns[column].type == NAI_F64)
      nai_set_f64(table, row, column, strtod(equals + 1, NULL));
    else
      nai_set_i64(table, row, column, strtoll(equals + 1, NULL, 10));
  }
}

static void add_gpu(struct tables *t) {
  add(t, "gpu_active",
      "device_id=3;window_ns=100000000;active_ns=100000000;compute_ns=60000000;compute_pct=60;exposed_comm_ns=0;"
      "exposed_copy_ns=20000000;idle_ns=20000000;pause_ns=0;steady=1;kernel_count=1000;repeated_pct=99");
  add(t, "gpu_utilization",
      "device_id=3;window_ns=100000000;compute_ns=60000000;exposed_comm_ns=0;"
      "exposed_copy_ns=20000000;idle_ns=20000000");
}

struct found {
  struct nai_table *findings, *evidence;
};

static struct found evaluate(struct tables *t, const char *user_rules) {
  struct nai_rule_set *set = NULL;
  struct found found = {0};
  struct nai_err err = {0};
  const struct nai_rules_input input = {.tables = (const struct nai_table *const *)t->list, .table_count = t->count};
  if (load(&set, user_rules, &err) || nai_rules_evaluate(&found.findings, &found.evidence, set, &input, &err))
    fail_msg("%s", err.msg);
  nai_rules_free(set);
  return found;
}

static void release(struct tables *t, struct found *found) {
  for (size_t i = 0; i < t->count; i++)
    nai_table_free(t->list[i]);
  t->count = 0;
  nai_table_free(found->findings);
  nai_table_free(found->evidence);
}

/* "id/severity id/severity ...", without the copies that add_gpu brings. */
static void expect(struct tables *t, const char *user_rules, const char *expected) {
  struct found found = evaluate(t, user_rules);
  struct nai_buf text = {0};
  for (int64_t i = 0; i < found.findings->rows; i++)
    if (strcmp(nai_cell_str(found.findings, i, "id"), "exposed-copy") != 0)
      nai_buf_printf(&text, "%s%s/%s", text.len ? " " : "", nai_cell_str(found.findings, i, "id"),
                     nai_cell_str(found.findings, i, "severity"));
  assert_string_equal(nai_buf_str(&text), expected);
  nai_buf_free(&text);
  release(t, &found);
}

/* Every rule speaks on the least that it needs. */
TEST(each_rule_fires) {
  static const struct {
    const char *expected;
    const char *rows[6][2];
  } cases[] = {
      {"no-gpu-activity-recorded/high call-rounds/info",
       {{"capture_health", "check=gpu_activity_recorded;state=problem"},
        {"call_rounds", "pid=7;kind=wait;round_count=20;launches_per_round=1;total_time_ns=50"},
        {"capture_time", "phase=cuda_calls;part=wait;duration_ns=1000"}}},
      {"no-gpu-activity-recorded/high", /* little of the capture */
       {{"capture_health", "check=gpu_activity_recorded;state=problem"},
        {"call_rounds", "pid=7;kind=wait;round_count=20;launches_per_round=1;total_time_ns=49"},
        {"capture_time", "phase=cuda_calls;part=wait;duration_ns=1000"}}},
      {"no-gpu-activity-recorded/high", {{"capture_health", "check=gpu_activity_recorded;state=problem"}}},
      {"nvtx-only/info", {{"capture_health", "check=cuda_traced;state=problem"}}},
      {"program-failed/high", {{"capture_health", "check=did_its_work;state=problem"}}},
      {"program-failed/medium", {{"capture_health", "check=did_its_work;state=note"}}},
      {"host-set-up-dominates/high",
       {{"capture_health", "check=before_first_cuda_call;state=note;time_ns=900000000;pct_of_capture=90"},
        {"capture_time", "phase=before_cuda;duration_ns=1000000000"}}},
      {"host-set-up-dominates/medium",
       {{"capture_health", "check=before_first_cuda_call;state=note;time_ns=600000000;pct_of_capture=60"},
        {"capture_time", "phase=before_cuda;duration_ns=1000000000"}}},
      {"variants-compared/info",
       {{"repeating_units",
         "pid=7;device_id=3;kernel_count=1;repetitions=50;compute_ns=20;first_kernel=naive;start_ns=0;end_ns=10"},
        {"repeating_units",
         "pid=7;device_id=3;kernel_count=1;repetitions=50;compute_ns=10;first_kernel=tiled;start_ns=10;end_ns=20"},
        {"kernels", "device_id=3;kernel_name=naive;category=gemm"},
        {"kernels", "device_id=3;kernel_name=tiled;category=gemm"}}},
      {"", /* by turns: stages of one computation */
       {{"repeating_units",
         "pid=7;device_id=3;kernel_count=1;repetitions=50;compute_ns=20;first_kernel=naive;start_ns=0;end_ns=10"},
        {"repeating_units",
         "pid=7;device_id=3;kernel_count=1;repetitions=50;compute_ns=10;first_kernel=tiled;start_ns=9;end_ns=20"},
        {"kernels", "device_id=3;kernel_name=naive;category=gemm"},
        {"kernels", "device_id=3;kernel_name=tiled;category=gemm"}}},
      {"", /* of different kinds */
       {{"repeating_units",
         "pid=7;device_id=3;kernel_count=1;repetitions=50;compute_ns=20;first_kernel=naive;start_ns=0;end_ns=10"},
        {"repeating_units",
         "pid=7;device_id=3;kernel_count=1;repetitions=50;compute_ns=10;first_kernel=tiled;start_ns=10;end_ns=20"},
        {"kernels", "device_id=3;kernel_name=naive;category=gemm"},
        {"kernels", "device_id=3;kernel_name=tiled;category=reduction"}}},
      {"host-before-work/low",
       {{"capture_time", "phase=set_up;part=host;duration_ns=200000000"},
        {"gap_activity", "scope=before_work;function=load;function_pct=90;total_ns=200000000"},
        {"capture_time", "phase=gpu;part=compute;duration_ns=800000000"}}},
      {"host-before-work/info", /* nothing tells what fills it */
       {{"capture_time", "phase=set_up;part=host;duration_ns=200000000"},
        {"capture_time", "phase=gpu;part=compute;duration_ns=800000000"}}},
      {"host-before-work/info",
       {{"capture_time", "phase=set_up;part=host;duration_ns=199000000"},
        {"gap_activity", "scope=before_work;function=load;function_pct=90;total_ns=199000000"},
        {"capture_time", "phase=gpu;part=compute;duration_ns=801000000"}}},
      {"cuda-initialization/low", /* most of it is paid once */
       {{"capture_time", "phase=set_up;part=host;duration_ns=49000000"},
        {"capture_time", "phase=set_up;part=first_use;duration_ns=951000000"}}},
      {"host-after-work/low", /* of what is recorded */
       {{"capture_time", "phase=after;part=host;duration_ns=150000000"},
        {"capture_time", "phase=after;part=calls;duration_ns=50000000"},
        {"capture_time", "phase=gpu;part=compute;duration_ns=800000000"},
        {"capture_time", "phase=not_recorded;part=host;duration_ns=8000000000;counted=0"}}},
      {"host-after-work/low", /* besides somebody who types */
       {{"capture_time", "phase=after;part=host;duration_ns=200000000"},
        {"capture_time", "phase=after;part=input;duration_ns=8000000000;counted=0"},
        {"capture_time", "phase=gpu;part=compute;duration_ns=800000000"}}},
      {"host-after-work/info",
       {{"capture_time", "phase=after;part=host;duration_ns=50000000"},
        {"capture_time", "phase=gpu;part=compute;duration_ns=950000000"}}},
      {"", /* the profiler writes what it has */
       {{"capture_time", "phase=after;part=host;duration_ns=49000000"},
        {"capture_time", "phase=after;part=profiler;duration_ns=951000000"}}},
      {"", /* of a capture of a millisecond */
       {{"capture_time", "phase=after;part=host;duration_ns=999999"}}},
      {"pause-dominates/info", {{"gpu_active", "device_id=4;window_ns=100;pause_ns=60;active_ns=40;steady=1"}}},
      {"pause-dominates/low",
       {{"gpu_active", "device_id=4;window_ns=1000;pause_ns=200;active_ns=800;steady=1"},
        {"capture_time", "phase=between;part=host;duration_ns=200"},
        {"capture_time", "phase=gpu;part=compute;duration_ns=800"}}},
      {"pause-dominates/info", /* less than half of the window, but a twentieth of the capture */
       {{"gpu_active", "device_id=4;window_ns=1000;pause_ns=50;active_ns=950;steady=1"},
        {"capture_time", "phase=between;part=host;duration_ns=50"},
        {"capture_time", "phase=gpu;part=compute;duration_ns=950"}}},
      {"",
       {{"gpu_active", "device_id=4;window_ns=1000;pause_ns=49;active_ns=951;steady=1"},
        {"capture_time", "phase=between;part=host;duration_ns=49"},
        {"capture_time", "phase=gpu;part=compute;duration_ns=951"}}},
      /* a saving of little of the capture leads no report as High */
      {"idle-host-code/low",
       {{"idle_causes", "device_id=3;cause=host_code;active_ns=20000000"},
        {"capture_time", "phase=before_cuda;part=host;duration_ns=2000000001"}}},
      {"idle-host-code/high",
       {{"idle_causes", "device_id=3;cause=host_code;active_ns=20000000"},
        {"capture_time", "phase=before_cuda;part=host;duration_ns=2000000000"}}},
      {"one-cold-pass/info", {{"gpu_active", "device_id=4;window_ns=100;pause_ns=0;active_ns=100;steady=0"}}},
      {"timing-includes-first-use/low", {{"capture_health", "check=timed_sections;state=note;count=1"}}},
      {"timing-includes-first-use/info", {{"capture_health", "check=timed_sections;state=note;count=2000"}}},
      {"", /* a framework's events are not for timing */
       {{"capture_health", "check=timed_sections;state=note;count=1"},
        {"workload_evidence", "aspect=framework;value=pytorch;confidence=90"}}},
      {"idle-host-code/medium", {{"idle_causes", "device_id=3;cause=host_code;active_ns=6000000"}}},
      {"idle-host-code/high cpu-starved/medium",
       {{"idle_causes", "device_id=3;cause=host_code;active_ns=20000000"},
        {"gap_activity", "scope=host_code;device_id=3;total_ns=20000000;preempted_ns=9000000;off_cpu_ns=9000000"}}},
      {"idle-host-code/high python-gil/medium python-gc/medium",
       {{"idle_causes", "device_id=3;cause=host_code;active_ns=20000000"},
        {"gap_activity", "scope=host_code;device_id=3;total_ns=20000000;gil_ns=9000000;gc_ns=8900000"}}},
      {"idle-host-code/high", /* too little of it, and a gap that is counted already */
       {{"idle_causes", "device_id=3;cause=host_code;active_ns=20000000"},
        {"gap_activity", "scope=host_code;device_id=3;total_ns=20000000;preempted_ns=3900000;gil_ns=1900000;gc_ns=0"},
        {"gap_activity", "scope=gap;device_id=3;total_ns=20000000;preempted_ns=9000000;gil_ns=9000000;gc_ns=9000000"}}},
      {"idle-wait-per-launch/medium", /* of the wait's part 1 ms is left, too little */
       {{"launch_waits",
         "device_id=3;kind=loop;wait_count=50;idle_ns=9000000;idle_pct=9;in_wait_ns=9000000;call=w;call_ns=9000000"},
        {"idle_causes", "device_id=3;cause=blocking_call;active_ns=10000000"}}},
      {"idle-wait-per-launch/high", /* one loop, not five causes */
       {{"launch_waits", "device_id=3;kind=loop;wait_count=500;launches_per_wait=2;idle_ns=50000000;idle_pct=50;"
                         "in_wait_ns=10000000;in_launch_ns=10000000;allocation_ns=10000000;host_code_ns=10000000;"
                         "latency_ns=10000000;call=w;call_ns=50000000"},
        {"idle_causes", "device_id=3;cause=blocking_call;active_ns=10000000"},
        {"idle_causes", "device_id=3;cause=in_launch_call;active_ns=11000000"},
        {"idle_causes", "device_id=3;cause=allocation;active_ns=11000000"},
        {"idle_causes", "device_id=3;cause=host_code;active_ns=11000000"},
        {"idle_causes", "device_id=3;cause=launch_latency;active_ns=10000000"}}},
      {"idle-blocking-call/medium", /* what waits leave is too little to be a finding */
       {{"launch_waits",
         "device_id=3;kind=wait;wait_count=49;idle_ns=1900000;idle_pct=1.9;in_wait_ns=1900000;call=w;call_ns=1900000"},
        {"idle_causes", "device_id=3;cause=blocking_call;active_ns=10000000"}}},
      {"idle-queue-drained/high", /* most of it was in the wait, which is a fact */
       {{"launch_waits", "device_id=3;kind=wait;wait_count=9;idle_ns=20000000;idle_pct=20;in_wait_ns=11000000;"
                         "behind_wait_ns=9000000;call=w;call_ns=1"}}},
      {"dominant-kernel/medium", /* many passes over a large input */
       {{"profile_targets",
         "device_id=3;kernel_name=k;function=k;category=other;call_count=1;pct_of_device_kernel_time=40;"
         "pct_of_active=40;active_ns=40000000;pass_ns=100000;passes=10"}}},
      {"dominant-kernel/low",
       {{"profile_targets",
         "device_id=3;kernel_name=k;function=k;category=other;call_count=1;pct_of_device_kernel_time=40;"
         "pct_of_active=40;active_ns=40000000;pass_ns=90000;passes=1000"}}},
      {"dominant-kernel/info", /* a library's on tensor cores */
       {{"profile_targets",
         "device_id=3;kernel_name=k;function=k;category=gemm;call_count=1;pct_of_device_kernel_time=90;"
         "pct_of_active=90;active_ns=90000000"},
        {"kernel_shape", "device_id=3;kernel_name=k;tensor_cores=yes"}}},
      {"", /* a GPU that hardly computes */
       {{"profile_targets", "device_id=3;kernel_name=k;function=k;category=other;call_count=1;"
                            "pct_of_device_kernel_time=99;pct_of_active=9;active_ns=9000000"}}},
      {"idle-blocking-call/low", {{"idle_causes", "device_id=3;cause=blocking_call;active_ns=3000000"}}},
      {"idle-queue-drained/medium",
       {{"launch_waits", "device_id=3;kind=wait;wait_count=9;idle_ns=20000000;idle_pct=20;behind_wait_ns=20000000"}}},
      {"idle-launch-call/medium",
       {{"idle_causes", "device_id=3;cause=in_launch_call;active_ns=9000000;active_longest_ns=10000"}}},
      {"idle-launch-call/low",
       {{"idle_causes", "device_id=3;cause=in_launch_call;active_ns=9000000;active_longest_ns=8000000"}}},
      {"idle-module-load/medium", {{"idle_causes", "device_id=3;cause=module_load;active_ns=30000000"}}},
      {"idle-host-code/low", /* a compiler's range */
       {{"idle_causes",
         "device_id=3;cause=host_code;active_ns=60000000;active_what=CompileKernel;active_what_ns=60000000"}}},
      {"pause-module-load/medium",
       {{"active_spans", "device_id=3;kind=pause;cause=module_load;cause_ns=47000000;duration_ns=48000000"}}},
      {"allocation-in-steady-state/medium",
       {{"idle_causes", "device_id=3;cause=allocation;active_ns=18000000;active_count=17"}}},
      {"allocation-in-steady-state/low",
       {{"idle_causes", "device_id=3;cause=allocation;active_ns=18000000;active_count=1"}}},
      {"idle-cuda-call/low", {{"idle_causes", "device_id=3;cause=cuda_call;active_ns=2000000"}}},
      {"launch-bound/medium", {{"idle_causes", "device_id=3;cause=launch_latency;active_ns=12000000"}}},
      {"", {{"idle_causes", "device_id=3;cause=launch_latency;active_ns=4900000"}}},
      {"graph-gaps/low", /* not launch-bound: the same time, but no launches */
       {{"idle_causes", "device_id=3;cause=launch_latency;active_ns=12000000"},
        {"graphs",
         "device_id=3;pid=7;traced_by=node;envelope_ns=50000000;idle_inside_ns=10000000;idle_inside_pct=20"}}},
      {"", {{"graphs", "device_id=3;pid=7;traced_by=node;idle_inside_ns=10000000;idle_inside_pct=9"}}},
      {"graph-reinstantiated/medium",
       {{"graph_calls",
         "device_id=3;pid=7;operation=instantiate;later_count=30;later_per_launch=0.5;later_gpu_idle_ns=9000000"}}},
      {"", /* once for a hundred launches */
       {{"graph_calls",
         "device_id=3;pid=7;operation=instantiate;later_count=30;later_per_launch=0.01;later_gpu_idle_ns=9000000"}}},
      {"graph-too-small/medium",
       {{"graphs", "device_id=3;pid=7;nodes_per_launch=3;launches_per_s=5000;idle_before_ns=9000000"}}},
      {"", {{"graphs", "device_id=3;pid=7;nodes_per_launch=30;launches_per_s=5000;idle_before_ns=9000000"}}},
      {"idle-dependency/medium", {{"idle_causes", "device_id=3;cause=dependency;active_ns=12000000"}}},
      {"host-function-stalls/medium", {{"idle_causes", "device_id=3;cause=host_function;active_ns=12000000"}}},
      {"idle-page-migration/info", {{"idle_causes", "device_id=3;cause=page_migration;active_ns=12000000"}}},
      {"idle-unknown/low", {{"idle_causes", "device_id=3;cause=unknown;active_ns=12000000"}}},
      {"idle-profiler/info", {{"idle_causes", "device_id=3;cause=profiler;active_ns=12000000"}}},
      {"", {{"idle_causes", "device_id=3;cause=host_code;active_ns=1900000"}}},
      {"wait-call-site/medium",
       {{"call_sites", "device_id=3;pid=7;label=f;site_kind=python;wait_idle_ns=6000000;pct_of_wait_idle=50"}}},
      {"", {{"call_sites", "device_id=3;pid=7;label=f;site_kind=python;wait_idle_ns=6000000;pct_of_wait_idle=49"}}},
      {"", {{"call_sites", "device_id=3;pid=7;label=f;site_kind=python;wait_idle_ns=4000000;pct_of_wait_idle=90"}}},
      {"", {{"call_sites", "device_id=3;pid=7;label=f;site_kind=none;wait_idle_ns=9000000;pct_of_wait_idle=90"}}},
      {"allocation-call-site/low",
       {{"call_sites", "device_id=3;pid=7;label=f;site_kind=python;allocation_count=9;allocation_idle_ns=1100000"}}},
      {"", {{"call_sites", "device_id=3;pid=7;label=f;site_kind=none;allocation_count=9;allocation_idle_ns=9000000"}}},
      {"call-stacks-partial/info", {{"call_stack_coverage", "pid=7;gpu_time_with_site_pct=79"}}},
      {"", {{"call_stack_coverage", "pid=7;gpu_time_with_site_pct=80"}}},
      {"acc-data-each-iteration/medium",
       {{"directive_data",
         "device_id=3;variable=u;file=a.f90;line=4;direction=upload;event_count=20;bytes=80;exposed_ns=11000000;"
         "repeated=1"}}},
      {"acc-alloc-each-iteration/medium",
       {{"directive_data",
         "device_id=3;variable=u;file=a.f90;line=4;direction=free;event_count=20;bytes=80;exposed_ns=11000000;"
         "repeated=1"}}},
      {"",
       {{"directive_data", "device_id=3;variable=u;file=a.f90;line=4;event_count=20;exposed_ns=11000000;repeated=0"}}},
      {"", {{"directive_data", "device_id=3;variable=u;event_count=20;bytes=80;exposed_ns=11000000;repeated=1"}}},
      {"small-reads/medium",
       {{"file_access", "device_id=3;pid=7;file=f;group=data;read_count=1000;median_read_bytes=65535;open_count=1;"
                        "launcher_idle_ns=9000000;launcher_idle_pct=9"}}},
      {"",
       {{"file_access", "device_id=3;pid=7;file=f;group=data;read_count=1000;median_read_bytes=65536;open_count=1;"
                        "launcher_idle_ns=9000000;launcher_idle_pct=9"}}},
      {"",
       {{"file_access", "device_id=3;pid=7;file=f;group=code;read_count=1000;median_read_bytes=65535;open_count=100;"
                        "median_open_ns=1000000;launcher_idle_ns=9000000;launcher_idle_pct=9"}}},
      {"slow-opens/medium",
       {{"file_access", "device_id=3;pid=7;file=f;group=data;read_count=0;open_count=100;median_open_ns=1000000;"
                        "launcher_idle_ns=9000000;launcher_idle_pct=9"}}},
      {"",
       {{"file_access", "device_id=3;pid=7;file=f;group=data;read_count=0;open_count=99;median_open_ns=1000000;"
                        "launcher_idle_ns=9000000;launcher_idle_pct=9"}}},
      {"acc-implicit-waits/medium", {{"directive_waits", "device_id=3;pid=7;wait_count=9;idle_ns=9000000;idle_pct=9"}}},
      {"", {{"directive_waits", "device_id=3;pid=7;wait_count=9;idle_ns=4000000;idle_pct=4"}}},
      {"mpi-exposed/medium",
       {{"mpi_processes", "device_id=3;pid=7;mpi_ns=12000000;exposed_ns=11000000;exposed_pct=11"}}},
      {"", {{"mpi_processes", "device_id=3;pid=7;mpi_ns=12000000;exposed_ns=9000000;exposed_pct=9"}}},
      {"mpi-exposed/medium idle-host-code/medium", /* two ranks wait in the same idle time */
       {{"mpi_processes", "device_id=3;pid=7;mpi_ns=12000000;exposed_ns=11000000;exposed_pct=11"},
        {"mpi_processes", "device_id=3;pid=8;mpi_ns=12000000;exposed_ns=11000000;exposed_pct=11"},
        {"idle_causes", "device_id=3;cause=host_code;active_ns=20000000"}}},
      {"mpi-small-messages/info",
       {{"mpi_processes", "device_id=3;pid=7;mpi_ns=6000000;exposed_ns=6000000;exposed_pct=6"},
        {"mpi_sizes", "pid=7;class=p2p;from_bytes=1;below_bytes=1024;call_count=600"},
        {"mpi_sizes", "pid=7;class=post;from_bytes=1024;below_bytes=8192;call_count=400"}}},
      {"",
       {{"mpi_processes", "device_id=3;pid=7;mpi_ns=6000000;exposed_ns=6000000;exposed_pct=6"},
        {"mpi_sizes", "pid=7;class=collective;from_bytes=1;below_bytes=1024;call_count=6000"},
        {"mpi_sizes", "pid=7;class=post;from_bytes=8192;below_bytes=65536;call_count=4000"}}},
      {"mpi-barriers/low",
       {{"mpi_calls",
         "device_id=3;pid=7;class=sync;function=MPI_Barrier;call_count=9;exposed_ns=3000000;exposed_pct=3"}}},
      {"",
       {{"mpi_calls",
         "device_id=3;pid=7;class=sync;function=MPI_Barrier;call_count=9;exposed_ns=3000000;exposed_pct=3"},
        {"mpi_calls", "pid=7;class=rma;function=MPI_Put;call_count=9"}}},
      {"mpi-imbalance/medium",
       {{"mpi_efficiency",
         "process_count=4;max_useful_pid=7;max_useful_ns=60000000;mean_useful_ns=53000000;load_balance_pct=89;"
         "parallel_efficiency_pct=80"}}},
      {"",
       {{"mpi_efficiency",
         "process_count=4;max_useful_pid=7;max_useful_ns=60000000;mean_useful_ns=53000000;load_balance_pct=91;"
         "parallel_efficiency_pct=80"}}},
      {"gpu-time-sliced/medium",
       {{"gpu_residency", "device_id=3;owner=process;pid=7;slice_count=9;kernel_time_ns=90000000;"
                          "kernel_away_ns=6000000;kernel_away_pct=6.7"}}},
      {"",
       {{"gpu_residency", "device_id=3;owner=process;pid=7;slice_count=9;kernel_time_ns=90000000;"
                          "kernel_away_ns=1700000;kernel_away_pct=1.9"}}},
      {"exposed-communication/medium",
       {{"gpu_active",
         "device_id=4;window_ns=100000000;active_ns=100000000;exposed_comm_ns=9000000;pause_ns=0;steady=1"}}},
      {"exposed-communication/high waiting-not-transferring/medium", /* part of the former */
       {{"gpu_active",
         "device_id=4;window_ns=100000000;active_ns=100000000;exposed_comm_ns=30000000;pause_ns=0;steady=1;compute_ns=50000000;idle_ns=20000000"},
        {"comm_ranks",
         "device_id=4;pid=1;kernel_count=9;matched_count=9;matched_ns=20000000;wait_ns=12000000;wait_pct=60;wait_exposed_ns=10000000;waits_for_device_id=5"}}},
      {"exposed-communication/high",
       {{"gpu_active",
         "device_id=4;window_ns=100000000;active_ns=100000000;exposed_comm_ns=30000000;pause_ns=0;steady=1;compute_ns=50000000;idle_ns=20000000"},
        {"comm_ranks",
         "device_id=4;pid=1;kernel_count=9;matched_count=9;matched_ns=20000000;wait_ns=8000000;wait_pct=40;wait_exposed_ns=8000000;waits_for_device_id=5"}}},
      {"exposed-communication/high small-collectives/medium",
       {{"gpu_active",
         "device_id=4;window_ns=100000000;active_ns=100000000;exposed_comm_ns=30000000;pause_ns=0;steady=1;compute_ns=50000000;idle_ns=20000000"},
        {"comm_ops",
         "device_id=4;op=AllReduce;kernel_count=90;total_time_ns=20000000;small_count=60;small_ns=9000000;small_exposed_ns=8000000"}}},
      {"exposed-communication/high", /* a small share */
       {{"gpu_active",
         "device_id=4;window_ns=100000000;active_ns=100000000;exposed_comm_ns=30000000;pause_ns=0;steady=1;compute_ns=50000000;idle_ns=20000000"},
        {"comm_ops",
         "device_id=4;op=AllReduce;kernel_count=90;total_time_ns=20000000;small_count=40;small_ns=9000000;small_exposed_ns=8000000"},
        {"comm_ops",
         "device_id=4;op=AllGather;kernel_count=90;total_time_ns=20000000;small_count=40;small_ns=200000;small_exposed_ns=200000"}}},
      {"exposed-communication/high low-busbw/medium",
       {{"gpu_active",
         "device_id=4;window_ns=100000000;active_ns=100000000;exposed_comm_ns=30000000;pause_ns=0;steady=1;compute_ns=50000000;idle_ns=20000000"},
        {"comm_ops",
         "device_id=4;op=AllReduce;large_count=9;large_matched_count=9;large_busbw_p50=100;link_gb_per_s=450;link_pct=22;large_exposed_ns=9000000"}}},
      {"exposed-communication/high", /* the link can do it: one message in ten comes near its rate */
       {{"gpu_active",
         "device_id=4;window_ns=100000000;active_ns=100000000;exposed_comm_ns=30000000;pause_ns=0;steady=1;compute_ns=50000000;idle_ns=20000000"},
        {"comm_sizes", "device_id=4;op=AllReduce;from_bytes=67108864;kernel_count=9;p90_busbw=400;p10_busbw=80"},
        {"comm_ops",
         "device_id=4;op=AllReduce;large_count=9;large_matched_count=9;large_busbw_p50=100;link_gb_per_s=450;link_pct=22;large_exposed_ns=9000000"}}},
      {"exposed-communication/high", /* waiting included; a link that is not known */
       {{"gpu_active",
         "device_id=4;window_ns=100000000;active_ns=100000000;exposed_comm_ns=30000000;pause_ns=0;steady=1;compute_ns=50000000;idle_ns=20000000"},
        {"comm_ops",
         "device_id=4;op=AllReduce;large_count=9;large_matched_count=0;large_busbw_p50=100;link_gb_per_s=450;link_pct=22;large_exposed_ns=9000000"},
        {"comm_ops",
         "device_id=4;op=Reduce;large_count=9;large_matched_count=9;large_busbw_p50=100;large_exposed_ns=9000000"}}},
      {"exposed-communication/high serial-comm-stream/medium",
       {{"gpu_active",
         "device_id=4;window_ns=100000000;active_ns=100000000;exposed_comm_ns=30000000;pause_ns=0;steady=1;compute_ns=50000000;idle_ns=20000000"},
        {"comm_streams", "device_id=4;pid=1;communicator_count=2;serial_wait_ns=9000000;serial_wait_pct=30"}}},
      {"exposed-communication/high overlap-costs-compute/medium",
       {{"gpu_active",
         "device_id=4;window_ns=100000000;active_ns=100000000;exposed_comm_ns=30000000;pause_ns=0;steady=1;compute_ns=50000000;idle_ns=20000000"},
        {"comm_overlap_cost", "device_id=4;kernel_name=gemm;slowdown_ns=9000000"}}},
      {"exposed-communication/high nccl-init-in-window/medium",
       {{"gpu_active",
         "device_id=4;window_ns=100000000;active_ns=100000000;exposed_comm_ns=30000000;pause_ns=0;steady=1;compute_ns=50000000;idle_ns=20000000"},
        {"comm_ranks", "device_id=4;pid=1;init_count=9;init_ns=150000000;init_idle_ns=9000000"}}},
      {"pageable-copies/medium",
       {{"memory_transfers",
         "device_id=3;copy_kind=1;src_kind_id=0;dst_kind_id=2;pageable_count=2;count=2;total_bytes=8000000;exposed_ns=20000000"},
        {"copy_rates", "device_id=3;copy_kind=1;src_kind_id=0;dst_kind_id=2;at_limit_gain_ns=15000000"}}},
      {"", /* small: their number counts, not their rate */
       {{"memory_transfers",
         "device_id=3;copy_kind=1;pageable_count=2;count=200;total_bytes=8000000;exposed_ns=20000000"}}},
      {"slow-copies/medium",
       {{"copy_rates", "device_id=3;copy_kind=1;src_kind_id=1;dst_kind_id=2;large_count=30;p50_pct_of_limit=20;"
                       "p50_gb_per_s=5;limit_gb_per_s=24;excess_ns=9000000"}}},
      {"", /* pageable: another finding's matter */
       {{"copy_rates", "device_id=3;copy_kind=1;src_kind_id=0;dst_kind_id=2;large_count=30;p50_pct_of_limit=20;"
                       "excess_ns=9000000"}}},
      {"", /* no limit known */
       {{"copy_rates", "device_id=3;copy_kind=1;src_kind_id=1;dst_kind_id=2;large_count=30;p50_gb_per_s=5"}}},
      {"overlappable-copies/medium",
       {{"copy_rates",
         "device_id=3;copy_kind=1;src_kind_id=1;count=30;overlappable_count=30;overlappable_ns=9000000"}}},
      {"round-trips/medium", {{"losses", "device_id=3;what=round_trips;time_ns=9000000;gain_ns=9000000"}}},
      {"streamed-weights/medium",
       {{"losses", "device_id=3;what=streamed_copies;example=Host-to-Device;time_ns=9000000;gain_ns=9000000"}}},
      {"fsdp-without-sharding/info",
       {{"run_info", "gpu_count=2"},
        {"nvtx_ranges", "range_name=FSDP::pre_forward"},
        {"comm_ops", "device_id=3;op=SendRecv"}}},
      {"", /* the other side of it */
       {{"run_info", "gpu_count=2"},
        {"nvtx_ranges", "range_name=FSDP::pre_forward"},
        {"comm_ops", "device_id=3;op=SendRecv"},
        {"comm_ops", "device_id=3;op=AllGather"}}},
#define PIECES "device_id=3;kernel_count=200;active_ns=90000000;compute_ns=2000000"
      {"offload-in-pieces/high", /* beside a GPU with 1000 kernels */
       {{"gpu_active", PIECES},
        {"memory_transfers", "device_id=3;direction=Host-to-Device;count=200;total_time_ns=7000000"},
        {"api_calls", "api_name=cudaMalloc;call_count=700"}}},
      {"", /* from a pool */
       {{"gpu_active", PIECES},
        {"memory_transfers", "device_id=3;direction=Host-to-Device;count=200;total_time_ns=7000000"},
        {"api_calls", "api_name=cudaMallocAsync;call_count=700"}}},
      {"", /* several kernels for each copy */
       {{"gpu_active", PIECES},
        {"memory_transfers", "device_id=3;direction=Host-to-Device;count=50;total_time_ns=7000000"},
        {"api_calls", "api_name=cudaMalloc;call_count=700"}}},
#undef PIECES
      {"repeated-copies/low", {{"losses", "device_id=3;what=repeated_copies;time_ns=9000000;gain_ns=9000000"}}},
      {"copies-on-compute-stream/medium",
       {{"losses", "device_id=3;what=copies_on_compute_stream;time_ns=9000000;count=12"}}},
      {"tiny-copies/low", {{"losses", "device_id=3;what=tiny_copies;time_ns=3000000"}}},
      {"uvm-bound/high", {{"losses", "device_id=3;what=page_migration;time_ns=30000000;pct_of_kind=64"}}},
      {"uvm-bound/medium", /* most of the kernels' time, but kernels take little of the active time */
       {{"losses", "device_id=3;what=page_migration;time_ns=6000000;pct_of_kind=72"}}},
      {"few-long-calls/info", {{"losses", "device_id=3;what=long_calls;time_ns=30000000;gain_ns=29000000"}}},
      {"uvm-bound/high", /* which says why calls are long */
       {{"losses", "device_id=3;what=page_migration;time_ns=30000000;pct_of_kind=64"},
        {"losses", "device_id=3;what=long_calls;time_ns=30000000;gain_ns=29000000"}}},
      {"uvm-bound/high uvm-thrash/medium",
       {{"losses", "device_id=3;what=page_migration;time_ns=30000000;pct_of_kind=64"},
        {"unified_memory", "device_id=3;moves_to_gpu=8;again_ns=25000000"}}},
      {"sm-underfilled/low",
       {{"gpu_metrics",
         "device_id=3;coverage_pct=90;metric=SMs Active [Throughput %];metric_unit=%;during=busy;mean=30"}}},
      {"underfilled/high", /* says the same, and which kernels */
       {{"gpu_metrics",
         "device_id=3;coverage_pct=90;metric=SMs Active [Throughput %];metric_unit=%;during=busy;mean=30"},
        {"losses", "device_id=3;what=underfilled;time_ns=50000000;gain_ns=50000000;pct_of_kind=80"}}},
      {"underfilled/high uvm-bound/medium", /* pages move in a part of the kernel, and more blocks would help the rest
                                             */
       {{"losses", "device_id=3;what=page_migration;time_ns=30000000;pct_of_kind=64"},
        {"losses", "device_id=3;what=underfilled;time_ns=50000000;gain_ns=50000000;pct_of_kind=80"},
        {"kernel_shape", "device_id=3;kernel_name=k;category=other;fill=underfilled;total_time_ns=50000000"},
        {"uvm_kernels", "device_id=3;kernel_name=k;covered_ns=6000000;covered_pct=12"}}},
      {"uvm-bound/high",
       {{"losses", "device_id=3;what=page_migration;time_ns=30000000;pct_of_kind=64"},
        {"losses", "device_id=3;what=underfilled;time_ns=50000000;gain_ns=50000000;pct_of_kind=80"},
        {"kernel_shape", "device_id=3;kernel_name=k;category=other;fill=underfilled;total_time_ns=50000000"},
        {"uvm_kernels", "device_id=3;kernel_name=k;covered_ns=30000000;covered_pct=64"}}},
      {"",
       {{"gpu_metrics",
         "device_id=3;coverage_pct=90;metric=SMs Active [Throughput %];metric_unit=%;during=window;mean=30"}}},
      {"", /* most samples are lost */
       {{"gpu_metrics", "device_id=3;coverage_pct=40;metric=SMs Active [Throughput %];during=busy;mean=30"}}},
      {"tensor-idle/low",
       {{"gpu_metrics",
         "device_id=3;coverage_pct=90;metric=Tensor Active [Throughput %];metric_unit=%;during=gemm_only;mean=20"}}},
      {"memory-bound/info",
       {{"gpu_metrics",
         "device_id=3;coverage_pct=90;metric=DRAM Read + Write Bandwidth [Throughput %];during=compute;mean=80"}}},
      {"kernel-bound-by-memory/info",
       {{"kernel_bounds",
         "device_id=3;kernel_name=k;state=measured;bound_by=memory;dram=80;pct_of_device_kernel_time=60;"
         "category=other;time_ns=9000000"}}},
      {"serving-collectives/info",
       {{"serving_summary",
         "engine=0;kind=decode;steps=100;exposed_comm_pct=20;median_comm_ns=2000;median_period_ns=9000"}}},
      {"", {{"serving_summary", "engine=0;kind=prefill;steps=100;exposed_comm_pct=30"}}},
      {"", {{"serving_summary", "engine=0;kind=decode;steps=100;exposed_comm_pct=19"}}},
      {"sm-partition/info",
       {{"sm_partitions", "device_id=3;pid=7;green_context=2;sm_count=16;sm_pct_of_gpu=12;kernel_count=9"}}},
      {"", {{"sm_partitions", "device_id=3;pid=7;green_context=2;sm_count=16;sm_pct_of_gpu=12;kernel_count=0"}}},
      {"range-bound-by-memory/info",
       {{"range_metrics",
         "device_id=3;range_path=r;metric=DRAM Read Bandwidth [Throughput %];state=measured;mean=40;time_ns=9000000;instance_count=2;sample_count=30"},
        {"range_metrics",
         "device_id=3;range_path=r;metric=DRAM Write Bandwidth [Throughput %];state=measured;mean=20;time_ns=9000000;instance_count=2;sample_count=30"}}},
      {"",
       {{"range_metrics",
         "device_id=3;range_path=r;metric=DRAM Read Bandwidth [Throughput %];state=measured;mean=40;time_ns=9000000;instance_count=2;sample_count=30"},
        {"range_metrics",
         "device_id=3;range_path=r;metric=DRAM Write Bandwidth [Throughput %];state=measured;mean=19;time_ns=9000000;instance_count=2;sample_count=30"}}},
      {"",
       {{"range_metrics",
         "device_id=3;range_path=r;metric=DRAM Read Bandwidth [Throughput %];state=measured;mean=40;time_ns=9000000;instance_count=2;sample_count=30"},
        {"range_metrics",
         "device_id=3;range_path=r;metric=DRAM Write Bandwidth [Throughput %];state=measured;mean=20;time_ns=9000000;instance_count=2;sample_count=30"},
        {"range_metrics",
         "device_id=3;range_path=r;metric=SM Issue [Throughput %];state=measured;mean=61;time_ns=9000000;instance_count=2;sample_count=30"}}},
      {"",
       {{"range_metrics",
         "device_id=3;range_path=r;metric=DRAM Read Bandwidth [Throughput %];state=few;mean=90;time_ns=9000000;instance_count=2;sample_count=30"},
        {"range_metrics",
         "device_id=3;range_path=r;metric=DRAM Write Bandwidth [Throughput %];state=few;mean=0;time_ns=9000000;instance_count=2;sample_count=30"}}},
      {"memory-bound/info", /* says it of all kernels */
       {{"gpu_metrics",
         "device_id=3;coverage_pct=90;metric=DRAM Read + Write Bandwidth [Throughput %];during=compute;mean=80"},
        {"kernel_bounds",
         "device_id=3;kernel_name=k;state=measured;bound_by=memory;dram=80;pct_of_device_kernel_time=90;"
         "category=other;time_ns=9000000"}}},
      {"gemm-tensor-low/low",
       {{"kernel_bounds", "device_id=3;kernel_name=k;state=measured;bound_by=mixed;tensor=29;"
                          "pct_of_device_kernel_time=60;category=gemm;time_ns=9000000"}}},
      {"",
       {{"kernel_bounds", "device_id=3;kernel_name=k;state=measured;bound_by=mixed;tensor=30;"
                          "pct_of_device_kernel_time=60;category=gemm;time_ns=9000000"}}},
      {"metrics-too-coarse/info",
       {{"kernel_bounds",
         "device_id=3;kernel_name=k;state=few;pct_of_device_kernel_time=51;category=gemm;time_ns=9000000"},
        {"kernel_bounds", "device_id=3;kernel_name=l;state=measured;bound_by=mixed;pct_of_device_kernel_time=49;"
                          "category=other;time_ns=8000000"}}},
      {"", /* whose samples they are is not known */
       {{"kernel_bounds",
         "device_id=3;kernel_name=k;state=shared;pct_of_device_kernel_time=99;category=gemm;time_ns=9000000"}}},
      {"clock-throttle/low",
       {{"gpu_metrics",
         "device_id=3;coverage_pct=90;metric=GPC Clock Frequency [MHz];metric_unit=MHz;during=busy;p50=1200;max=1980"}}},
      {"",
       {{"gpu_metrics",
         "device_id=3;coverage_pct=90;metric=GPC Clock Frequency [MHz];metric_unit=MHz;during=busy;p50=1900;max=1980"}}},
      {"nvlink-idle-in-comm/info",
       {{"gpu_metrics",
         "device_id=3;coverage_pct=90;metric=NVLink RX [Throughput %];metric_unit=%;during=exposed_comm;mean=2"},
        {"gpu_metrics",
         "device_id=3;coverage_pct=90;metric=NVLink TX [Throughput %];metric_unit=%;during=exposed_comm;mean=1"}}},
      {"",
       {{"gpu_metrics",
         "device_id=3;coverage_pct=90;metric=NVLink RX [Throughput %];metric_unit=%;during=exposed_comm;mean=2"},
        {"gpu_metrics",
         "device_id=3;coverage_pct=90;metric=NVLink TX [Throughput %];metric_unit=%;during=exposed_comm;mean=40"}}},
      {"memory-growth/medium",
       {{"memory_growth", "pid=7;device_id=3;memory_kind_id=2;steps=20;growth_pct_per_step=2;grew_bytes=80000000"}}},
      {"memory-growth/low",
       {{"memory_growth", "pid=7;device_id=3;memory_kind_id=2;steps=20;growth_pct_per_step=0.2;grew_bytes=80000000"}}},
      {"", {{"memory_growth", "pid=7;device_id=3;memory_kind_id=2;steps=9;growth_pct_per_step=2;grew_bytes=80000000"}}},
      {"",
       {{"memory_growth", "pid=7;device_id=3;memory_kind_id=2;steps=20;growth_pct_per_step=2;grew_bytes=60000000"}}},
      {"peak-near-capacity/info", {{"memory_use", "pid=7;device_id=3;memory_kind_id=2;peak_pct_of_capacity=91"}}},
      {"", {{"memory_use", "pid=7;device_id=3;memory_kind_id=2;peak_pct_of_capacity=89"}}},
      {"", /* takes it in advance */
       {{"memory_use", "pid=7;device_id=3;memory_kind_id=2;peak_pct_of_capacity=91"},
        {"workload_evidence", "aspect=framework;value=jax;confidence=90"}}},
      {"uvm-oversubscribed/high",
       {{"unified_memory", "device_id=3;eviction_bytes=80000000;migrated_bytes=300000000;evicting_ns=25000000"}}},
      {"", /* a little; a small part */
       {{"unified_memory", "device_id=3;eviction_bytes=60000000;migrated_bytes=300000000;evicting_ns=25000000"},
        {"unified_memory", "device_id=4;eviction_bytes=80000000;migrated_bytes=3000000000;evicting_ns=25000000"}}},
      {"", {{"unified_memory", "device_id=3;moves_to_gpu=1.9;again_ns=25000000"}}},
      {"", /* a long kernel that waits little */
       {{"losses", "device_id=3;what=page_migration;time_ns=400000;pct_of_kind=0.4"}}},
      {"unfused-elementwise/high casts/medium",
       {{"losses", "device_id=3;what=unfused;time_ns=30000000;gain_ns=30000000"},
        {"losses", "device_id=3;what=casts;time_ns=28000000;gain_ns=28000000"}}},
#define OPTIMIZER "range_name=Optimizer.step1;count=1;attributed_kernel_count=1000;attributed_kernel_time_ns=6000000"
      {"optimizer-small-kernels/medium", {{"nvtx_ranges", OPTIMIZER}}}, /* no idle time worth a row */
      {"optimizer-small-kernels/high",
       {{"nvtx_ranges", OPTIMIZER},
        {"range_losses", "device_id=3;loss=idle;range_name=Optimizer.step#;time_ns=15000000"}}},
      {"optimizer-small-kernels/medium unfused-elementwise/low", /* 3 ms of these 9 ms are not the optimizer's */
       {{"nvtx_ranges", OPTIMIZER}, {"losses", "device_id=3;what=unfused;time_ns=9000000;gain_ns=9000000"}}},
      {"optimizer-small-kernels/medium", /* all are */
       {{"nvtx_ranges", OPTIMIZER}, {"losses", "device_id=3;what=unfused;time_ns=6000000;gain_ns=6000000"}}},
      {"underfilled/high small-blocks/medium",
       {{"losses", "device_id=3;what=underfilled;time_ns=50000000;gain_ns=50000000;pct_of_kind=80"},
        {"losses", "device_id=3;what=small_blocks;time_ns=40000000;gain_ns=40000000"}}},
      {"", {{"losses", "device_id=3;what=underfilled;time_ns=50000000;gain_ns=50000000;pct_of_kind=9"}}},
      {"old-attention-kernel/medium",
       {{"kernels", "device_id=3;category=attention;kernel_name=flash::flash_fwd_kernel<x>;total_time_ns=50000000"},
        {"kernels", "device_id=3;category=gemm;kernel_name=nvjet_tst"}}},
      {"",
       {{"kernels", "device_id=3;category=attention;kernel_name=flash::flash_fwd_kernel<x>;total_time_ns=50000000"}}},
      {"old-attention-kernel/high", /* one block for each SM of an H100 SXM */
       {{"kernels", "device_id=3;category=attention;kernel_name=flash::flash_fwd_kernel<x>;total_time_ns=50000000"},
        {"kernels", "device_id=3;category=gemm;kernel_name=nvjet_tst_coop"},
        {"kernel_shape", "device_id=3;kernel_name=nvjet_tst_coop;blocks=132"}}},
      {"old-attention-kernel/medium", /* others have more */
       {{"kernels", "device_id=3;category=attention;kernel_name=flash::flash_fwd_kernel<x>;total_time_ns=50000000"},
        {"kernels", "device_id=3;category=gemm;kernel_name=nvjet_tst_coop"},
        {"kernel_shape", "device_id=3;kernel_name=nvjet_tst_coop;blocks=132"},
        {"kernel_shape", "device_id=3;kernel_name=nvjet_tss_coop;blocks=148"}}},
      {"old-attention-kernel/high",
       {{"kernels", "device_id=3;category=attention;kernel_name=flash::flash_fwd_kernel<x>;total_time_ns=50000000"},
        {"gpus", "device_id=3;compute_major=9"}}},
      {"", /* no newer attention kernels run there */
       {{"kernels", "device_id=3;category=attention;kernel_name=flash::flash_fwd_kernel<x>;total_time_ns=50000000"},
        {"gpus", "device_id=3;compute_major=12"}}},
      {"fp32-gemm/high", {{"kernel_shape", "device_id=3;total_time_ns=40000000;tensor_gain_ns=30000000"}}},
      {"", /* a small part of the kernels */
       {{"kernel_shape", "device_id=3;total_time_ns=3000000;tensor_gain_ns=2500000"},
        {"kernel_shape", "device_id=3;total_time_ns=57000000"}}},
      {"autotuning-in-window/info",
       {{"autotuning", "device_id=3;family=a;variant_count=8;kernel_count=24;lost_ns=4000000"}}},
      {"", {{"autotuning", "device_id=3;family=a;variant_count=8;kernel_count=24;lost_ns=2000000"}}},
      {"gemm-below-roofline/medium",
       {{"gemm_shapes",
         "device_id=3;op=aten::mm;count=9;total_time_ns=40000000;pct_of_roofline=30;excess_ns=28000000"}}},
      {"", /* near enough; little time */
       {{"gemm_shapes", "device_id=3;op=aten::mm;count=9;total_time_ns=40000000;pct_of_roofline=60;excess_ns=16000000"},
        {"gemm_shapes", "device_id=3;op=aten::bmm;count=9;total_time_ns=2000000;pct_of_roofline=5;excess_ns=1900000"}}},
      {"tail-effect/low", {{"kernel_shape", "device_id=3;total_time_ns=60000000;tail_loss_ns=9000000"}}},
      {"", {{"kernel_shape", "device_id=3;total_time_ns=60000000;tail_loss_ns=4900000"}}},
      {"register-spill/low", {{"kernel_shape", "device_id=3;total_time_ns=60000000;local_bytes_per_thread=64"}}},
      {"", {{"kernel_shape", "device_id=3;total_time_ns=60000000;local_bytes_per_thread=0"}}},
      {"shared-gpu/info", {{"capture_health", "check=gpus_shared;state=note"}}},
      {"first-use/info", {{"capture_health", "check=first_use;state=note"}}},
      {"ptx-compiled/low first-use/info",
       {{"capture_health", "check=first_use;state=note"},
        {"gap_functions", "layer=samples;function=libnvidia-ptxjitcompiler.so.575;pct=10;time_ns=32000000"},
        {"capture_time", "phase=gpu;duration_ns=1000000000"}}},
      {"first-use/info", /* opened, and hardly used */
       {{"capture_health", "check=first_use;state=note"},
        {"gap_functions", "layer=samples;function=libnvidia-ptxjitcompiler.so.575;pct=9;time_ns=32000000"},
        {"capture_time", "phase=gpu;duration_ns=1000000000"}}},
      {"dense-nvtx/info", {{"capture_health", "check=nvtx_dense;state=note"}}},
      {"profiler-overhead/low", {{"capture_health", "check=profiler;state=note;pct_of_capture=6"}}},
      {"no-gpu-activity-recorded/high host-calls/info",
       {{"capture_health", "check=gpu_activity_recorded;state=problem"},
        {"sync_by_pid", "pid=7;class=blocking;api_name=cudaDeviceSynchronize;pct_of_thread_window=30"}}},
      {"", {{"sync_by_pid", "pid=7;class=blocking;api_name=cudaDeviceSynchronize;pct_of_thread_window=30"}}},
      {"low-nvtx-coverage/low",
       {{"nvtx_coverage",
         "scope=all;range_count=5;kernel_time_ns=1000;attributed_kernel_time_ns=200;without_launch_ns=0"}}},
      {"", /* what runs on from before the capture has no launch in it */
       {{"nvtx_coverage",
         "scope=all;range_count=5;kernel_time_ns=1000;attributed_kernel_time_ns=200;without_launch_ns=750"}}},
      {"no-nvtx/info", {{"run_info", "nvtx_range_count=0;kernel_count=5;gpu_count=1;window_ns=100"}}},
      {"graph-envelope-only/medium", {{"gpu_utilization", "device_id=4;graph_envelope_ns=50;graph_envelope_pct=50"}}},
      {"trace-health/low",
       {{"run_info", "nvtx_range_count=5"}, {"data_quality", "check=dropped;severity=warning;count=3"}}},
      {"", /* what the profiler says of the machine is no defect */
       {{"run_info", "nvtx_range_count=5"}, {"data_quality", "check=diagnostic;severity=error;count=1"}}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tables t = {0};
    add_gpu(&t);
    for (size_t r = 0; r < sizeof cases[i].rows / sizeof *cases[i].rows && cases[i].rows[r][0]; r++)
      add(&t, cases[i].rows[r][0], cases[i].rows[r][1]);
    expect(&t, NULL, cases[i].expected);
  }
}

/* A single cold pass, a camera, a failed program: the same loss is less severe, and the finding says why. */
TEST(reasons_lower_severities) {
  static const struct {
    const char *table, *cells, *expected;
  } cases[] = {
      {"workload_evidence", "aspect=runtime;value=gstreamer;confidence=75", "idle-host-code/info"},
      {"capture_health", "check=did_its_work;state=problem", "program-failed/high idle-host-code/info"},
      {"workload_evidence", "aspect=runtime;value=gstreamer;confidence=25", "idle-host-code/high"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tables t = {0};
    add_gpu(&t);
    add(&t, "idle_causes", "device_id=3;cause=host_code;active_ns=20000000");
    add(&t, cases[i].table, cases[i].cells);
    expect(&t, NULL, cases[i].expected);
  }
}

static const char *const frameworks[] = {"pytorch", "jax", "vllm", "sglang", "cupy", "openacc", "openmp", "tensorrt"};
static const char *const words[][4] = {{"PyTorch", "torch", "DataLoader"},
                                       {"JAX", "jit`"},
                                       {"vLLM", "--enforce-eager"},
                                       {"SGLang"},
                                       {"CuPy", "cupy"},
                                       {"OpenACC"},
                                       {"OpenMP"},
                                       {"TensorRT"}};

/* Everything is lost on one GPU of a program of one framework: no advice is about another one. */
TEST(advice_fits_the_program) {
  static const char *const causes[] = {"host_code",  "blocking_call", "queue_drained",  "in_launch_call", "module_load",
                                       "allocation", "cuda_call",     "launch_latency", "dependency",     "unknown"};
  static const char *const losses[] = {"unfused",     "casts",        "tiny_copies",     "copies_on_compute_stream",
                                       "underfilled", "small_blocks", "repeated_copies", "page_migration"};
  enum { FRAMEWORKS = sizeof frameworks / sizeof *frameworks };
  for (size_t f = 0; f <= FRAMEWORKS; f++) { /* the last: plain CUDA */
    struct tables t = {0};
    char cells[256];
    add_gpu(&t);
    snprintf(cells, sizeof cells, "aspect=framework;value=%s;confidence=90", f < FRAMEWORKS ? frameworks[f] : "cuda");
    add(&t, "workload_evidence", cells);
    add(&t, "memory_transfers",
        "device_id=3;copy_kind=1;pageable_count=2;count=2;total_bytes=8000000;exposed_ns=20000000");
    add(&t, "nvtx_coverage",
        "scope=all;range_count=5;kernel_time_ns=1000;attributed_kernel_time_ns=200;without_launch_ns=0");
    add(&t, "run_info", "nvtx_range_count=0;kernel_count=5;gpu_count=1;window_ns=100");
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
      snprintf(cells, sizeof cells, "device_id=3;cause=%s;active_ns=2000000;total_ns=2000000;part_count=50", causes[i]);
      add(&t, "idle_causes", cells);
    }
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
      snprintf(cells, sizeof cells, "device_id=3;what=%s;time_ns=9000000;gain_ns=9000000;pct_of_kind=50", losses[i]);
      add(&t, "losses", cells);
    }
    struct found found = evaluate(&t, NULL);
    bool own = false, cpp = false;
    assert_true(found.findings->rows > 10);
    for (int64_t row = 0; row < found.findings->rows; row++) {
      const char *advice = nai_cell_str(found.findings, row, "recommendation");
      cpp |= strstr(advice, "In C++") != NULL;
      for (size_t other = 0; other < FRAMEWORKS; other++)
        for (size_t w = 0; w < 4 && words[other][w]; w++) {
          own |= other == f && strstr(advice, words[other][w]);
          if (other != f && strstr(advice, words[other][w]))
            fail_msg("%s: %s for %s", nai_cell_str(found.findings, row, "id"), words[other][w],
                     f < FRAMEWORKS ? frameworks[f] : "plain CUDA");
        }
    }
    if (!(f == FRAMEWORKS ? cpp : own))
      fail_msg("no advice for %s", f < FRAMEWORKS ? frameworks[f] : "plain CUDA");
    release(&t, &found);
  }
}

/* All advice on a slow copy to a program that `cells` describe, one row each. */
static void expect_advice(const char *const *cells, const char *word, bool there) {
  struct tables t = {0};
  add_gpu(&t);
  for (; *cells; cells++)
    add(&t, "workload_evidence", *cells);
  add(&t, "memory_transfers",
      "device_id=3;copy_kind=1;src_kind=Pageable;pageable_count=20;count=20;total_bytes=8000000;exposed_ns=20000000");
  add(&t, "copy_rates", "device_id=3;copy_kind=1;src_kind=Pageable;at_limit_gain_ns=9000000");
  add(&t, "idle_causes", "device_id=3;cause=allocation;active_ns=20000000;active_count=9");
  struct found found = evaluate(&t, NULL);
  bool seen = false;
  for (int64_t row = 0; row < found.findings->rows; row++)
    seen |= strstr(nai_cell_str(found.findings, row, "recommendation"), word) != NULL;
  assert_true(found.findings->rows > 1);
  if (seen != there)
    fail_msg("\"%s\" is %s there", word, seen ? "" : "not");
  release(&t, &found);
}

/* What PyTorch does at a wait is told by its place; to others none of it is said. */
TEST(advice_names_what_waits) {
  static const struct {
    const char *framework, *place, *word;
  } cases[] = {{"pytorch", "train > aten::item", "reads a scalar there"},
               {"pytorch", "aten::to > aten::copy_", "copies a small tensor to the GPU there"},
               {"pytorch", "train", "set_sync_debug_mode"},
               {"cuda", "aten::item", "Remove the wait"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tables t = {0};
    char cells[256];
    add_gpu(&t);
    snprintf(cells, sizeof cells, "aspect=framework;value=%s;confidence=90", cases[i].framework);
    add(&t, "workload_evidence", cells);
    snprintf(cells, sizeof cells,
             "device_id=3;kind=wait;place=%s;call=cudaStreamSynchronize;idle_ns=9000000;idle_pct=9", cases[i].place);
    add(&t, "launch_waits", cells);
    struct found found = evaluate(&t, NULL);
    const char *advice = "";
    for (int64_t row = 0; row < found.findings->rows; row++)
      if (strcmp(nai_cell_str(found.findings, row, "id"), "idle-queue-drained") == 0)
        advice = nai_cell_str(found.findings, row, "recommendation");
    if (!strstr(advice, cases[i].word))
      fail_msg("%s: %s", cases[i].place, advice);
    for (size_t other = 0; other < 2; other++)
      assert_true(other == i || !strstr(advice, cases[other].word));
    release(&t, &found);
  }
}

TEST(code_that_is_named_need_not_be_found) {
  static const char *const cells[] = {"device_id=3;cause=host_code;active_ns=30000000",
                                      "device_id=3;cause=host_code;active_ns=30000000;active_what=f;active_what_ns=3"};
  for (size_t named = 0; named < 2; named++) {
    struct tables t = {0};
    add_gpu(&t);
    add(&t, "idle_causes", cells[named]);
    struct found found = evaluate(&t, NULL);
    bool asked = false;
    for (int64_t row = 0; row < found.findings->rows; row++)
      asked |= strstr(nai_cell_str(found.findings, row, "recommendation"), "Find the code") != NULL;
    assert_int_equal(asked, !named);
    release(&t, &found);
  }
}

/* What a rule finds in these rows: a column of it, and its saving in ns. */
static void expect_said(const char *id, const char *const (*rows)[2], const char *column, const char *word,
                        bool there) {
  struct tables t = {0};
  add_gpu(&t);
  for (; (*rows)[0]; rows++)
    add(&t, (*rows)[0], (*rows)[1]);
  struct found found = evaluate(&t, NULL);
  char said[4096] = "";
  for (int64_t row = 0; row < found.findings->rows; row++)
    if (strcmp(nai_cell_str(found.findings, row, "id"), id) == 0)
      snprintf(said, sizeof said, "%s; %" PRId64 " ns", nai_cell_str(found.findings, row, column),
               nai_get_i64(found.findings, row, FINDINGS_saving_ns));
  if ((strstr(said, word) != NULL) != there)
    fail_msg("%s: %s", id, said);
  release(&t, &found);
}

/* The first allocation of many that took long is paid once, whatever is done about the others. */
TEST(the_first_allocation_is_no_saving) {
  static const char *const once[][2] = {
      {"idle_causes", "device_id=3;cause=allocation;active_ns=18000000;active_count=18;active_longest_ns=9000000;"
                      "active_longest_start_ns=100"},
      {"gpu_idle_gaps", "device_id=3;cause=allocation;gap_start_ns=50;gap_end_ns=13000000"},
      {"gpu_idle_gaps", "device_id=3;cause=allocation;gap_start_ns=20000000;gap_end_ns=21000000"},
      {"gpu_idle_gaps", "device_id=4;cause=allocation;gap_start_ns=10;gap_end_ns=1000000"},
      {0}};
  static const char *const later[][2] = {
      {"idle_causes", "device_id=3;cause=allocation;active_ns=18000000;active_count=18;active_longest_ns=9000000;"
                      "active_longest_start_ns=20000100"},
      {"gpu_idle_gaps", "device_id=3;cause=allocation;gap_start_ns=50;gap_end_ns=1000000"},
      {"gpu_idle_gaps", "device_id=3;cause=allocation;gap_start_ns=20000000;gap_end_ns=33000000"},
      {0}};
  static const char *const alike[][2] = {
      {"idle_causes", "device_id=3;cause=allocation;active_ns=18000000;active_count=18;active_longest_ns=2000000;"
                      "active_longest_start_ns=100"},
      {"gpu_idle_gaps", "device_id=3;cause=allocation;gap_start_ns=50;gap_end_ns=3000000"},
      {0}};
  expect_said("allocation-in-steady-state", once, "place", "; 9000000 ns", true);
  expect_said("allocation-in-steady-state", once, "change", "Malloc", false);
  expect_said("allocation-in-steady-state", later, "place", "; 18000000 ns", true);
  expect_said("allocation-in-steady-state", later, "change", "Malloc", true);
  expect_said("allocation-in-steady-state", alike, "place", "; 18000000 ns", true);
}

/* What the driver compiled, it says by being found at it. */
TEST(a_compiler_at_work_is_no_guess) {
#define PAUSE "active_spans", "device_id=3;kind=pause;cause=module_load;cause_ns=47000000;duration_ns=48000000"
#define CHIP "gpus", "device_id=3;compute_major=7;compute_minor=5"
#define COMPILER "gap_functions", "layer=samples;function=libnvidia-ptxjitcompiler.so.575;pct=82"
  static const char *const found[][2] = {{PAUSE}, {CHIP}, {COMPILER}, {0}};
  static const char *const guessed[][2] = {{PAUSE}, {CHIP}, {0}};
  static const char *const unknown[][2] = {{PAUSE}, {COMPILER}, {0}};
  expect_said("pause-module-load", found, "recommendation", "arch=compute_75,code=sm_75", true);
  expect_said("pause-module-load", found, "recommendation", "Check for PTX", false);
  expect_said("pause-module-load", guessed, "recommendation", "Check for PTX", true);
  expect_said("pause-module-load", unknown, "recommendation", "Check for PTX", true);
}

/* Samples in what optimized code does not call, a twentieth of them or more. */
TEST(a_debug_build_is_told_by_its_samples) {
#define SET_UP "capture_health", "check=before_first_cuda_call;state=note;time_ns=900000000;pct_of_capture=90"
#define WHOLE "capture_time", "phase=before_cuda;duration_ns=1000000000"
  static const char *const debug[][2] = {
      {SET_UP},
      {WHOLE},
      {"cpu_threads", "pid=1;tid=2;sample_count=200;not_inlined_samples=10;not_inlined_function=std::fabs"},
      {0}};
  static const char *const optimized[][2] = {
      {SET_UP},
      {WHOLE},
      {"cpu_threads", "pid=1;tid=2;sample_count=201;not_inlined_samples=10;not_inlined_function=std::fabs"},
      {0}};
  static const char *const few[][2] = {
      {SET_UP},
      {WHOLE},
      {"cpu_threads", "pid=1;tid=2;sample_count=20;not_inlined_samples=9;not_inlined_function=std::fabs"},
      {0}};
  expect_said("host-set-up-dominates", debug, "recommendation", "`-O2`", true);
  expect_said("host-set-up-dominates", debug, "place", "debug build", true);
  expect_said("host-set-up-dominates", optimized, "recommendation", "`-O2`", false);
  expect_said("host-set-up-dominates", few, "recommendation", "`-O2`", false);
}

/* PyTorch in a C++ program is no Python, a Python program no C++, and not everyone has a data loader. */
TEST(advice_fits_the_language) {
#define TORCH "aspect=framework;value=pytorch;confidence=90"
#define PYTHON "aspect=language;value=python;confidence=90"
  static const char *const cpp[] = {TORCH, "aspect=language;value=c++;confidence=75", NULL};
  static const char *const python[] = {PYTHON, "aspect=framework;value=unknown;confidence=0", NULL};
  static const char *const torch[] = {TORCH, PYTHON, NULL};
  static const char *const loader[] = {TORCH, PYTHON, "aspect=runtime;value=dataloader;confidence=75", NULL};
  expect_advice(cpp, "PyTorch", false);
  expect_advice(cpp, "In C++", true);
  expect_advice(python, "In C++", false);
  expect_advice(torch, "PyTorch", true);
  expect_advice(torch, "DataLoader", false);
  expect_advice(loader, "DataLoader", true);
}

/* The advice on pinning says what pageable copies save, and nothing of a link that nobody knows. */
TEST(pinning_saves_what_pageable_copies_lose) {
  static const struct {
    const char *rate, *advice;
  } cases[] = {{"src_kind=Pageable;limit_gb_per_s=24;at_limit_gain_ns=9000000", "saves up to 9.00 ms"},
               {"src_kind=Pageable;at_limit_gain_ns=9000000", "copies get faster"},
               {"src_kind=Pageable;limit_gb_per_s=24;at_limit_gain_ns=900000", NULL},
               {"src_kind=Pageable;limit_gb_per_s=24;at_limit_gain_ns=9000000;count=4", NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tables t = {0};
    char cells[256];
    add_gpu(&t);
    const char *count = strstr(cases[i].rate, "count=4"); /* so few that none may be used again */
    add(&t, "memory_transfers",
        count ? "device_id=3;copy_kind=1;src_kind=Pageable;count=4;exposed_ns=20000000"
              : "device_id=3;copy_kind=1;src_kind=Pageable;count=20;exposed_ns=20000000");
    add(&t, "copy_rates", "device_id=3;copy_kind=2;src_kind=Pinned;limit_gb_per_s=24;at_limit_gain_ns=8000000");
    snprintf(cells, sizeof cells, "device_id=3;copy_kind=1;%s", cases[i].rate);
    add(&t, "copy_rates", cells);
    struct found found = evaluate(&t, NULL);
    const char *advice = nai_cell_str(found.findings, 0, "recommendation");
    const char *pin = strstr(advice, "**Pin**");
    if (cases[i].advice ? !pin || !strstr(pin, cases[i].advice) : pin != NULL)
      fail_msg("%s: %s", cases[i].rate, advice);
    release(&t, &found);
  }
}

TEST(ranks_of_one_gpu_share_its_idle_time) {
  struct tables t = {0};
  add_gpu(&t);
  add(&t, "mpi_processes", "device_id=3;pid=7;mpi_ns=12000000;exposed_ns=8000000;exposed_pct=10");
  add(&t, "mpi_processes", "device_id=3;pid=8;mpi_ns=12000000;exposed_ns=9000000;exposed_pct=10");
  struct found found = evaluate(&t, NULL);
  int64_t most = 0;
  for (int64_t row = 0; row < found.findings->rows; row++)
    if (strcmp(nai_cell_str(found.findings, row, "id"), "mpi-exposed") == 0)
      most += nai_cell(found.findings, row, "saving_ns").i;
  assert_int_equal(most, 9000000);
  release(&t, &found);
}

TEST(user_files_change_the_rules) {
  static const struct {
    const char *rules, *expected;
  } cases[] = {
      {"parameters: {severity_high_pct: 30}\n", "idle-host-code/medium"},
      {"rules: [{id: idle-host-code, disabled: true}]\n", ""},
      {"rules: [{id: idle-host-code, title: t, why: w, recommendation: r, table: idle_causes, severity: info}]\n",
       "idle-host-code/info"},
      {"rules: [{id: mine, title: t, why: w, recommendation: r, table: gpu_utilization, severity: low, lower: [], saving: idle_ms, "
       "where: 100 * compute_ms / window_ms > param.mine, unless: idle-host-code}]\nparameters: {mine: 50}\n",
       "idle-host-code/high"},
      {"lower: []\n", "idle-host-code/high"},
      {"lower: [{to: low, reason: r}]\n", "idle-host-code/low"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tables t = {0};
    add_gpu(&t);
    add(&t, "idle_causes", "device_id=3;cause=host_code;active_ns=20000000");
    expect(&t, cases[i].rules, cases[i].expected);
  }
}

TEST(mistakes_name_the_users_file) {
  struct nai_rule_set *set = NULL;
  struct nai_err err = {0};
  assert_int_equal(load(&set, "rules: [{id: idle-host-cod, disabled: true}]\n", &err), NAI_EUSAGE);
  assert_non_null(strstr(err.msg, ":1:14: unknown rule \"idle-host-cod\"; did you mean \"idle-host-code\"?"));
  assert_int_equal(load(&set, "rules: [{id: x, table: gpu_utilisation}]\n", &err), NAI_EUSAGE);
  assert_non_null(strstr(err.msg, ":1:24: unknown table \"gpu_utilisation\"; did you mean \"gpu_utilization\"?"));
  assert_null(set);
}

UNIT_FIXTURE(make_catalogue, NULL)
