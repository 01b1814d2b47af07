/* A program whose launching thread reads, waits for a lock and computes between launches, with scheduling, samples and
 * callchains that say so. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

#include <string.h>

enum { PID = 6701, GAPS = 60, CHAIN_READ = 1, PERIOD_NS = 100000 };
#define GLOBAL_TID ((INT64_C(1) << 48) | ((int64_t)PID << 24) | PID)

static int64_t string(struct nai_gen_plan *plan, const char *text) { return nai_gen_string(plan, text, strlen(text)); }

static void add_frame(struct nai_gen_plan *plan, const char *table, int chain, int depth, const char *symbol,
                      const char *module) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, table);
  nai_gen_row_int(&row, "id", chain);
  nai_gen_row_int(&row, "symbol", string(plan, symbol));
  nai_gen_row_int(&row, "module", string(plan, module));
  nai_gen_row_int(&row, "unresolved", symbol[0] == '0');
  nai_gen_row_int(&row, "stackDepth", depth);
  nai_gen_raw_row(plan, &row, NULL);
}

/* The callchain of a sample in a function of the program, or of a read. */
static void add_chain(struct nai_gen_plan *plan, const char *table, int id, const char *inner, const char *outer) {
  static const char libc[] = "/usr/lib/x86_64-linux-gnu/libc.so.6", app[] = "/opt/app/loader";
  add_frame(plan, table, id, 0, inner, inner[0] == '_' ? libc : app);
  add_frame(plan, table, id, 1, outer, app);
}

static void add_switch(struct nai_gen_plan *plan, int64_t time, int cpu, bool in, int state) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "SCHED_EVENTS");
  nai_gen_row_int(&row, "start", time);
  nai_gen_row_int(&row, "cpu", cpu);
  nai_gen_row_int(&row, "isSchedIn", in);
  nai_gen_row_int(&row, "globalTid", GLOBAL_TID);
  nai_gen_row_int(&row, "threadState", state);
  nai_gen_raw_row(plan, &row, NULL);
}

static void add_samples(struct nai_gen_plan *plan, int64_t start, int count, int *id, const char *inner,
                        const char *outer) {
  struct nai_gen_row row;
  for (int i = 0; i < count; i++) {
    add_chain(plan, "SAMPLING_CALLCHAINS", ++*id, inner, outer);
    nai_gen_row_start(&row, "COMPOSITE_EVENTS");
    nai_gen_row_int(&row, "id", *id);
    nai_gen_row_int(&row, "start", start + (int64_t)i * PERIOD_NS);
    nai_gen_row_int(&row, "cpu", 3);
    nai_gen_row_int(&row, "threadState", 1);
    nai_gen_row_int(&row, "globalTid", GLOBAL_TID);
    nai_gen_row_int(&row, "cpuCycles", 1);
    nai_gen_raw_row(plan, &row, NULL);
  }
}

static void fact(struct nai_gen_plan *plan, const char *key, const char *value, int64_t ns, int64_t count) {
  nai_gen_fact(plan, &(struct nai_gen_fact){
                         .table = "gap_functions", .key = key, .value = value, .exact_ns = ns, .count = count});
}

void nai_gen_plan_cpu(struct nai_gen_plan *plan, int64_t target_bytes) {
  enum { COMPUTE_NS = 700000, READ_NS = 250000, LOCK_NS = 350000, LAUNCH_NS = 4000, LATENCY_NS = 2000, WAKE_NS = 1000 };
  static const struct nai_gen_part parts[] = {
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = COMPUTE_NS},
      {.doing = DOING_OS_CALL, .cause = IDLE_HOST_CODE, .ns = READ_NS, .name = "read", .callchain = CHAIN_READ},
      {.doing = DOING_OS_CALL, .cause = IDLE_HOST_CODE, .ns = LOCK_NS, .name = "pthread_mutex_lock"},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = LAUNCH_NS},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = LATENCY_NS}};
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, PID, "loader");
  int samples = 0, kernel = nai_gen_kernel(plan, "void infer<float>(T1 *)", "infer");
  add_chain(plan, "OSRT_CALLCHAINS", CHAIN_READ, "__GI___read", "load_batch(int)");
  add_switch(plan, 1000, 3, true, 1);
  nai_gen_follow(plan, p.thread, p.stream, kernel, 100000);
  for (int i = 0; i < GAPS; i++) {
    int64_t start = nai_gen_gpu_ready(plan, p.stream);
    nai_gen_program_gap(&p, parts, kernel, 1000000);
    /* The first exactly at the beginning. */
    add_samples(plan, start, 4, &samples, "__memcpy_avx_unaligned_erms", "decode(Image const&)");
    add_samples(plan, start + 4 * PERIOD_NS, 3, &samples, "float std::generate<float>(int)", "augment(Image&)");
    int64_t read = start + COMPUTE_NS;
    add_switch(plan, read, 3, false, 2); /* reading it does not run */
    add_switch(plan, read + READ_NS - WAKE_NS, 5, true, 1);
    add_switch(plan, read + READ_NS, 5, false, 1); /* then it could run, and another thread does */
    add_switch(plan, read + READ_NS + LOCK_NS, 3, true, 1);
  }
  nai_gen_synchronize(plan, p.thread, p.stream, API_DEVICE_SYNC, 0);
  add_switch(plan, nai_gen_now(plan, p.thread), 3, false, 2);
  nai_gen_expect_findings(plan, "idle-host-code cpu-starved");
  fact(plan, "read", "io", (int64_t)GAPS * READ_NS, GAPS);
  fact(plan, "pthread_mutex_lock", "lock", (int64_t)GAPS * LOCK_NS, GAPS);
  fact(plan, "decode(Image const&)", NULL, (int64_t)GAPS * 4 * PERIOD_NS, (int64_t)GAPS * 4);
  fact(plan, "augment(Image&)", NULL, (int64_t)GAPS * 3 * PERIOD_NS, (int64_t)GAPS * 3);
  fact(plan, "on_cpu", NULL, (int64_t)GAPS * (COMPUTE_NS + WAKE_NS), 0);
  fact(plan, "off_cpu", NULL, (int64_t)GAPS * (READ_NS + LOCK_NS - WAKE_NS), 0);
}
