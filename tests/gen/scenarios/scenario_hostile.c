/* Names made to break every output format, and rows no reader may count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/scenario.h"

enum { LONG_NAME_BYTES = 40000, TAG_BYTES = 8 };

struct text {
  const char *bytes;
  size_t size;
};
#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

/* Every name ends in a tag `hxNNN`, added below, by which a test finds it after sanitising. */
static const struct text hostile_names[] = {
    TEXT("pipe | and || pipes |"),
    TEXT("back`tick ``double`` ```fence"),
    TEXT("<details><summary>x</summary>"),
    TEXT("</details></table>"),
    TEXT("</script><script>alert(1)</script>"),
    TEXT("<!-- comment"),
    TEXT("--> ]]> end"),
    TEXT("<img src=x onerror=alert(2)>"),
    TEXT("<svg/onload=alert(3)>"),
    TEXT("double\"quote 'single' \\ backslash"),
    TEXT("line\nfeed\n\n# heading"),
    TEXT("carriage\rreturn\r\nboth"),
    TEXT("tab\tand\vvertical\fform"),
    TEXT("nul\0inside"),
    TEXT("invalid \xff\xfe utf8 \xc3( \xe2\x82"),
    TEXT("overlong \xc0\xaf surrogate \xed\xa0\x80 beyond \xf4\x90\x80\x80"),
    TEXT("separators \xe2\x80\xa8 line \xe2\x80\xa9 paragraph"),
    TEXT("escape \x1b[31mred\x1b[0m \x1b[2J"),
    TEXT("osc \x1b]0;title\x07 \x1b]8;;http://example.com\x1b\\link"),
    TEXT("c1 \xc2\x9b"
         "31m \xc2\x85 next"),
    TEXT("bidi \xe2\x80\xae"
         "reversed\xe2\x80\xac \xe2\x81\xa6isolate\xe2\x81\xa9"),
    TEXT("zero\xe2\x80\x8bwidth \xef\xbb\xbf"
         "bom"),
    TEXT("=cmd|'/c calc'!A0"),
    TEXT("+1+1"),
    TEXT("-1-1"),
    TEXT("@user @org/team"),
    TEXT("#1 owner/repo#2 GH-3"),
    TEXT("\t=1+1"),
    TEXT("[link](http://example.com) ![image](http://example.com/x.png)"),
    TEXT("[script](javascript:alert(4)) <javascript:alert(5)>"),
    TEXT("http://example.com/auto www.example.com a@example.com"),
    TEXT("::error file=a,line=1::message"),
    TEXT("::set-output name=x::y"),
    TEXT("~~strike~~ **bold** _under_ :emoji:"),
    TEXT("{{{unescaped}}} {{#section}} {{>partial}}"),
    TEXT("${jndi:ldap://x} %s%n %x $(id) `id`"),
    TEXT("../../etc/passwd"),
    TEXT("kernel<std::pair<int, float>>(T1 *, const char (&)[5])"),
    TEXT("&amp; &lt; &#60; &notanentity;"),
    TEXT("caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x9a\x80"),
    TEXT(" leading and trailing "),
};
enum { NAMES = sizeof hostile_names / sizeof hostile_names[0] };

struct victim {
  struct nai_gen_plan *plan;
  int thread, stream, kernel;
  int64_t global_pid;
};

static void run_named(struct victim *v, const char *bytes, size_t size) {
  int kernel = nai_gen_kernel_bytes(v->plan, bytes, size);
  int range = nai_gen_name_bytes(v->plan, bytes, size);
  struct nai_gen_rng *rng = nai_gen_rng(v->plan);
  nai_gen_push(v->plan, v->thread, range, NULL);
  for (int i = 0; i < 3; i++) {
    nai_gen_launch(v->plan, v->thread, v->stream, kernel, nai_gen_rng_vary(rng, 80000, 30));
  }
  nai_gen_pop(v->plan, v->thread);
}

static void run_hostile_names(struct victim *v) {
  char name[256];
  for (int i = 0; i < NAMES; i++) {
    memcpy(name, hostile_names[i].bytes, hostile_names[i].size);
    snprintf(name + hostile_names[i].size, TAG_BYTES, " hx%03u", (unsigned)i % 1000);
    run_named(v, name, hostile_names[i].size + 6);
  }
}

static void run_long_name(struct victim *v) {
  char *name = malloc(LONG_NAME_BYTES + TAG_BYTES);
  if (!name) {
    return;
  }
  for (size_t i = 0; i < LONG_NAME_BYTES; i++) {
    name[i] = "long<template|"[i % 14];
  }
  snprintf(name + LONG_NAME_BYTES, TAG_BYTES, " hx900");
  run_named(v, name, LONG_NAME_BYTES + 6);
  free(name);
}

enum defect { END_BEFORE_START, END_MISSING, ALL_ZERO, TEXT_TIME, REAL_TIME, BLOB_TIME, DEFECTS };
static const char *const reasons[DEFECTS] = {"end_before_start", "missing_time",   "zero_times",
                                             "not_an_integer",   "not_an_integer", "not_an_integer"};

static void set_times(struct nai_gen_row *row, enum defect defect) {
  const int64_t start = 1000500000;
  nai_gen_row_int(row, "start", start);
  nai_gen_row_int(row, "end", start + 1000);
  switch (defect) {
  case END_BEFORE_START:
    nai_gen_row_int(row, "end", start - 1);
    break;
  case END_MISSING:
    nai_gen_row_null(row, "end");
    break;
  case ALL_ZERO:
    nai_gen_row_int(row, "start", 0);
    nai_gen_row_int(row, "end", 0);
    break;
  case TEXT_TIME:
    nai_gen_row_text(row, "start", "soon");
    break;
  case REAL_TIME:
    nai_gen_row_real(row, "end", 1000500000.5);
    break;
  case BLOB_TIME:
    nai_gen_row_blob(row, "start", "\x01\x02\x03", 3);
    break;
  case DEFECTS:
    break;
  }
}

static void start_activity(const struct victim *v, struct nai_gen_row *row, const char *table) {
  nai_gen_row_start(row, table);
  row->zeroed = true;
  nai_gen_row_int(row, "contextId", 1);
  nai_gen_row_int(row, "streamId", 7);
  nai_gen_row_int(row, "correlationId", 900000);
  nai_gen_row_int(row, "globalPid", v->global_pid);
}

static void start_call(const struct victim *v, struct nai_gen_row *row) {
  nai_gen_row_start(row, "CUPTI_ACTIVITY_KIND_RUNTIME");
  nai_gen_row_int(row, "eventClass", 0);
  nai_gen_row_int(row, "globalTid", v->global_pid | 1234);
  nai_gen_row_int(row, "correlationId", 900001);
  nai_gen_row_int(row, "nameId", 0);
  nai_gen_row_int(row, "returnValue", 0);
}

static void start_range(const struct victim *v, struct nai_gen_row *row) {
  nai_gen_row_start(row, "NVTX_EVENTS");
  nai_gen_row_int(row, "eventType", 59);
  nai_gen_row_text(row, "text", "never counted");
  nai_gen_row_int(row, "globalTid", v->global_pid | 1234);
  nai_gen_row_int(row, "domainId", 0);
}

static void add_defective_rows(struct victim *v) {
  static const char *const activities[] = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                           "CUPTI_ACTIVITY_KIND_MEMSET"};
  struct nai_gen_row row;
  for (enum defect defect = 0; defect < DEFECTS; defect++) {
    for (size_t i = 0; i < sizeof activities / sizeof activities[0]; i++) {
      start_activity(v, &row, activities[i]);
      set_times(&row, defect);
      nai_gen_raw_row(v->plan, &row, reasons[defect]);
    }
    start_call(v, &row);
    set_times(&row, defect);
    nai_gen_raw_row(v->plan, &row, reasons[defect]);
    if (defect != END_MISSING) { /* a range without an end is open, not defective */
      start_range(v, &row);
      set_times(&row, defect);
      nai_gen_raw_row(v->plan, &row, reasons[defect]);
    }
  }
}

/* Odd but countable: unknown enumerators, missing string ids, a kernel of no length. */
static void add_odd_rows(struct victim *v) {
  const struct nai_gen_copy strange = {99, 42, 77, 4096, 15000, false};
  nai_gen_copy(v->plan, v->thread, v->stream, &strange);
  nai_gen_launch(v->plan, v->thread, v->stream, nai_gen_kernel_missing(v->plan, 987654321), 70000);
  int64_t start = nai_gen_now(v->plan, v->thread) + 20000;
  nai_gen_launch_at(v->plan, v->thread, v->stream, v->kernel, start, 90000);
  nai_gen_orphan(v->plan, v->stream, v->kernel, start + 40000, 0);
  nai_gen_hold(v->plan, v->stream, start + 90000);
}

static void open_victim(struct victim *v, struct nai_gen_plan *plan) {
  const int pid = 1234;
  v->plan = plan;
  int process = nai_gen_process(plan, pid, "py|thon</script>`3` @user =1 hx800");
  v->thread = nai_gen_thread(plan, process, pid, "thread\n|<b>\x1b[31m hx801");
  v->stream = nai_gen_stream(plan, nai_gen_context(plan, process, 0, 1, nai_gen_gpu(plan, 0)), 7);
  v->kernel = nai_gen_kernel(plan, "plain_kernel", NULL);
  v->global_pid = (INT64_C(1) << 48) | ((int64_t)pid << 24);
  nai_gen_domain(plan, v->thread, 4, "domain|</script> hx802");
  nai_gen_diagnostic(plan, 2, "warning <b>bold</b> | pipe ::error:: @user hx803");
}

void nai_gen_plan_hostile(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct victim v;
  open_victim(&v, plan);
  for (int round = 0; round < nai_gen_scaled(plan, 2); round++) {
    run_hostile_names(&v);
    run_long_name(&v);
    nai_gen_synchronize(plan, v.thread, v.stream, API_STREAM_SYNC, 0);
  }
  add_odd_rows(&v);
  add_defective_rows(&v);
  nai_gen_expect_findings(plan, "trace-health");
  nai_gen_expect_no_findings(plan, "launch-bound exposed-copy");
  nai_gen_caveat(plan, "rows-dropped");
}

static void add_value(struct victim *v, const char *table, const char *column, int64_t value) {
  struct nai_gen_row row;
  start_activity(v, &row, table);
  nai_gen_row_int(&row, "start", 1000600000);
  nai_gen_row_int(&row, "end", 1000601000);
  nai_gen_row_int(&row, column, value);
  nai_gen_raw_row(v->plan, &row, NULL);
}

static void add_interval(struct victim *v, const char *table, int64_t start, int64_t end) {
  struct nai_gen_row row;
  start_activity(v, &row, table);
  nai_gen_row_int(&row, "start", start);
  nai_gen_row_int(&row, "end", end);
  nai_gen_raw_row(v->plan, &row, NULL);
}

static void add_text_values(struct victim *v) {
  static const char *const columns[] = {"deviceId", "streamId", "correlationId", "globalPid", "demangledName", "gridX"};
  struct nai_gen_row row;
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
    start_activity(v, &row, "CUPTI_ACTIVITY_KIND_KERNEL");
    nai_gen_row_int(&row, "start", 1000700000);
    nai_gen_row_int(&row, "end", 1000701000);
    if (i % 3 == 0) {
      nai_gen_row_text(&row, columns[i], "not a number");
    } else if (i % 3 == 1) {
      nai_gen_row_real(&row, columns[i], 1e300);
    } else {
      nai_gen_row_blob(&row, columns[i], "\0\xff", 2);
    }
    nai_gen_raw_row(v->plan, &row, NULL);
  }
}

void nai_gen_plan_hostile_values(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  static const char *const tables[] = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                       "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
  struct victim v;
  open_victim(&v, plan);
  nai_gen_odd_labels(plan);
  for (int i = 0; i < nai_gen_scaled(plan, 50); i++) {
    nai_gen_launch(plan, v.thread, v.stream, v.kernel, 50000);
  }
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    add_interval(&v, tables[i], INT64_MIN, INT64_MAX);
    add_interval(&v, tables[i], INT64_MIN, INT64_MIN + 5);
    add_interval(&v, tables[i], INT64_MAX - 5, INT64_MAX);
    add_interval(&v, tables[i], -5000, -10);
    add_interval(&v, tables[i], -5, 5);
    add_value(&v, tables[i], "deviceId", INT64_MAX);
    add_value(&v, tables[i], "deviceId", -1);
    add_value(&v, tables[i], "streamId", INT64_MIN);
    add_value(&v, tables[i], "correlationId", INT64_MIN);
    add_value(&v, tables[i], "globalPid", -1);
  }
  add_value(&v, "CUPTI_ACTIVITY_KIND_MEMCPY", "bytes", INT64_MAX);
  add_value(&v, "CUPTI_ACTIVITY_KIND_MEMCPY", "bytes", -1);
  add_value(&v, "CUPTI_ACTIVITY_KIND_MEMCPY", "copyKind", INT64_MIN);
  add_value(&v, "CUPTI_ACTIVITY_KIND_KERNEL", "demangledName", INT64_MAX);
  add_value(&v, "CUPTI_ACTIVITY_KIND_KERNEL", "demangledName", -1);
  add_text_values(&v);
  nai_gen_inexact(plan);
  nai_gen_expect_findings(plan, "trace-health");
}
