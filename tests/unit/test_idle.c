/* Idle gaps by cause against the definition (docs/analyses.md, "Idle gaps") applied to every moment, and each cause
 * alone. */
#include "model_fixture.h"
#include "tier.h"

#include <stdio.h>

/* Random times are multiples of a cell, so that every moment of a trace can be looked at. */
enum { CELL = 10000, CELLS = 1500, MAX_CALLS = 40, MAX_OPS = 16, MAX_OVERHEADS = 8, THREADS = 3, GPUS = 2 };
enum { LATENCY_CELLS = 2, TOLERANCE_CELLS = 2, EFFECT_CELLS = 800, LEAD_CELLS = 200, OWN_CELLS = 50 };

enum kind { LAUNCH, SYNC, MALLOC, MODULE, WAIT_EVENT, COPY, KINDS };
static const char *const names[KINDS] = {"cudaLaunchKernel", "cudaStreamSynchronize", "cudaMallocAsync",
                                         "cuModuleLoadData", "cudaStreamWaitEvent",   "cudaMemcpy"};
enum {
  PROFILER,
  MODULE_LOAD,
  ALLOCATION,
  BLOCKING,
  DRAINED,
  IN_LAUNCH,
  CUDA,
  HOST,
  LATENCY,
  DEPENDENCY,
  MIGRATION,
  UNKNOWN,
  CAUSES
};
static const char *const causes[CAUSES] = {"profiler",       "module_load",    "allocation",     "blocking_call",
                                           "queue_drained",  "in_launch_call", "cuda_call",      "host_code",
                                           "launch_latency", "dependency",     "page_migration", "unknown"};

/* Times in cells; `owns`: bit 0 launched a kernel, bit 1 a copy. */
struct call {
  int start, end, thread, number, owns;
  bool waits;
  enum kind kind;
};
struct op {
  int start, end, gpu, call, migration, copy; /* call: number, -1 none */
};
struct overhead {
  int start, end, thread, kind; /* 0 profiler, 1 flush, 2 loading, 3 unknown, 4 none */
};
struct trace {
  struct call calls[MAX_CALLS];
  struct op ops[MAX_OPS];
  struct overhead overheads[MAX_OVERHEADS];
  int call_count, op_count, overhead_count;
};

/* --- the definition --------------------------------------------------------------------------- */

static int process_of(int thread) { return thread == 2; }
static const struct call *call_of(const struct trace *t, int number) {
  for (int i = 0; i < t->call_count; i++)
    if (t->calls[i].number == number)
      return &t->calls[i];
  return NULL;
}

/* Of the calls of a thread that a predicate picks and that began by `at`, the one that ends last, the earliest of
 * equals. */
static const struct call *latest(const struct trace *t, int thread, int at, int want) {
  const struct call *best = NULL;
  for (int i = 0; i < t->call_count; i++) {
    const struct call *c = &t->calls[i];
    int kind = c->waits ? SYNC : c->kind == MALLOC ? MALLOC : c->kind == MODULE ? MODULE : LAUNCH;
    if (c->thread == thread && c->start <= at && kind == want && (!best || c->end > best->end))
      best = c;
  }
  return best;
}

static bool running(const struct trace *t, int thread, int at, int want) {
  const struct call *c = latest(t, thread, at, want);
  return c && c->end > at;
}

static int overhead_kind(const struct trace *t, const struct overhead *o) {
  if (o->kind != 3)
    return o->kind;
  if ((o->end - o->start) * CELL < 20000)
    return 0;
  const struct call *allocation = latest(t, o->thread, o->start, MALLOC),
                    *other = latest(t, o->thread, o->start, LAUNCH);
  return (allocation && allocation->end >= o->end) || (other && other->end >= o->end && other->owns) ? 2 : 4;
}

/* Overhead of thread at a moment: PROFILER, MODULE_LOAD or -1. */
static int overhead_at(const struct trace *t, int thread, int at) {
  bool profiler = false, loading = false;
  for (int i = 0; i < t->overhead_count; i++) {
    const struct overhead *o = &t->overheads[i];
    int kind = overhead_kind(t, o);
    if (o->start > at || o->end <= at)
      continue;
    profiler |= (kind == 0 && o->thread == thread) || (kind == 1 && process_of(o->thread) == process_of(thread));
    loading |= kind == 2 && o->thread == thread;
  }
  return profiler ? PROFILER : loading ? MODULE_LOAD : -1;
}

/* Whether code is loaded later in the gap, by one of the 16 calls before the launch. */
static bool loads_later(const struct trace *t, const struct call *launch, int from, int at) {
  for (int i = t->call_count - 1, looked = 0; i >= 0; i--) {
    const struct call *c = &t->calls[i];
    if (c->thread != launch->thread || c->start >= launch->start || c->start < from)
      continue;
    if (looked++ == 16)
      return false;
    if (c->kind == MODULE)
      return c->start > at;
  }
  return false;
}

static int before_call(const struct trace *t, const struct call *launch, int from, int at) {
  int thread = launch->thread, overhead = overhead_at(t, thread, at);
  return overhead >= 0                    ? overhead
       : running(t, thread, at, SYNC)     ? BLOCKING
       : running(t, thread, at, MALLOC)   ? ALLOCATION
       : running(t, thread, at, MODULE)   ? MODULE_LOAD
       : running(t, thread, at, LAUNCH)   ? CUDA
       : loads_later(t, launch, from, at) ? MODULE_LOAD
                                          : HOST;
}

static int in_call(const struct trace *t, const struct call *c, int at) {
  int overhead = overhead_at(t, c->thread, at);
  return overhead >= 0 ? overhead : c->kind == MALLOC ? ALLOCATION : c->kind == MODULE ? MODULE_LOAD : IN_LAUNCH;
}

static int after_call(const struct trace *t, const struct call *c, int length) {
  if (length <= LATENCY_CELLS)
    return LATENCY;
  int looked = 0; /* calls are in the order of their thread's */
  for (int i = t->call_count - 1; i >= 0; i--) {
    if (t->calls[i].thread != c->thread || t->calls[i].start >= c->start)
      continue;
    if (looked++ == 16)
      break;
    if (t->calls[i].kind == WAIT_EVENT)
      return DEPENDENCY;
    if (t->calls[i].owns)
      break;
  }
  return UNKNOWN;
}

/* Whether a call of the thread, or overhead that it has, begins at a moment: it may be of no length. */
static bool something_begins(const struct trace *t, int thread, int at) {
  bool begins = false;
  for (int i = 0; i < t->call_count; i++)
    begins |= t->calls[i].thread == thread && t->calls[i].start == at;
  for (int i = 0; i < t->overhead_count; i++) {
    const struct overhead *o = &t->overheads[i];
    int kind = overhead_kind(t, o);
    bool mine = o->thread == thread || (kind == 1 && process_of(o->thread) == process_of(thread));
    begins |= mine && kind != 4 && o->start == at;
  }
  return begins;
}

/* Cells of own code around one of them, without a break. */
static int own_cells(const struct trace *t, const struct call *launch, int from, int to, int at) {
  int first = at, end = at + 1;
  while (first > from && !something_begins(t, launch->thread, first) && before_call(t, launch, from, first - 1) == HOST)
    first--;
  while (end < to && end < launch->start && !something_begins(t, launch->thread, end) &&
         before_call(t, launch, from, end) == HOST)
    end++;
  return end - first;
}

struct charge {
  const struct call *wait;
  int left;
};

struct truth {
  int ns[CAUSES], before, in, after; /* cells */
};

static struct truth truth_of(const struct trace *t, struct charge *charge, const struct op *op, int from, int to) {
  struct truth out = {0};
  const struct call *c = op && op->call >= 0 && !op->migration ? call_of(t, op->call) : NULL;
  if (!c) {
    out.ns[op && op->migration ? MIGRATION : UNKNOWN] = to - from;
    return out;
  }
  const struct call *wait = latest(t, c->thread, from, SYNC);
  if (c->start > from && wait && wait->end >= from - TOLERANCE_CELLS && wait->end <= c->start)
    *charge = (struct charge){wait, wait->end - wait->start};
  int returned = c->end > from ? c->end : from;
  for (int at = from; at < to; at++) {
    int cause = at < c->start ? before_call(t, c, from, at)
              : at < c->end   ? in_call(t, c, at)
                              : after_call(t, c, to - (returned > c->start ? returned : c->start));
    const struct call *w = charge->wait;
    bool launching = cause == CUDA && latest(t, c->thread, at, LAUNCH)->owns;
    bool of_wait = cause == HOST ? own_cells(t, c, from, to, at) <= OWN_CELLS : cause == CUDA && !launching;
    if (of_wait && w && w->thread == c->thread && charge->left > 0 && at >= w->end &&
        c->start <= w->end + EFFECT_CELLS) {
      cause = DRAINED;
      charge->left--;
    }
    out.ns[cause]++;
    *(at < c->start ? &out.before : at < c->end ? &out.in : &out.after) += 1;
  }
  return out;
}

/* --- random traces ---------------------------------------------------------------------------- */

static int by_thread_order(const void *pa, const void *pb) {
  const struct call *a = pa, *b = pb;
  if (a->start != b->start)
    return a->start - b->start;
  if (a->end != b->end)
    return b->end - a->end;
  int names_differ = strcmp(names[a->kind], names[b->kind]);
  return names_differ ? names_differ : a->number - b->number;
}

static int by_start(const void *pa, const void *pb) {
  const struct op *a = pa, *b = pb;
  return a->start != b->start ? a->start - b->start : a->copy - b->copy;
}

static int below(struct fixture *f, int n) { return (int)fixture_random(f, n); }

static void make_calls(struct trace *t, struct fixture *f) {
  t->call_count = 1 + below(f, MAX_CALLS - 1);
  for (int i = 0; i < t->call_count; i++) {
    struct call *c = &t->calls[i];
    *c = (struct call){
        .start = below(f, CELLS), .thread = below(f, THREADS), .number = i, .kind = (enum kind)below(f, KINDS)};
    c->end = c->start + (below(f, 4) ? below(f, 12) : below(f, 300));
  }
}

/* Operations that mostly follow their calls; kernels and copies do not begin at once. */
static void make_ops(struct trace *t, struct fixture *f) {
  t->op_count = 1 + below(f, MAX_OPS - 1);
  for (int i = 0; i < t->op_count; i++) {
    struct op *op = &t->ops[i];
    *op = (struct op){
        .gpu = below(f, GPUS), .call = below(f, 8) ? below(f, t->call_count) : -1, .start = below(f, CELLS)};
    if (op->call >= 0 && below(f, 4))
      op->start = t->calls[op->call].start + below(f, 20);
    op->copy = op->call >= 0 ? t->calls[op->call].kind == COPY : below(f, 2);
    op->migration = op->copy && below(f, 4) == 0;
    op->end = op->start + 1 + (below(f, 3) ? below(f, 10) : below(f, 400));
    for (int k = 0; k < i; k++) /* one order of operations, whatever the ties */
      if (t->ops[k].start == op->start)
        t->op_count = i;
    if (op->call >= 0 && !op->migration && i < t->op_count)
      t->calls[op->call].owns |= 1 + op->copy;
  }
  bool copies = false;
  for (int i = 0; i < t->op_count; i++)
    copies |= t->ops[i].copy;
  for (int i = 0; i < t->call_count; i++) { /* where no copy was recorded, every call that may copy counts */
    struct call *c = &t->calls[i];
    c->waits = c->kind == SYNC || (c->kind == COPY && (!copies || c->owns & 2));
  }
}

static void make_overheads(struct trace *t, struct fixture *f) {
  t->overhead_count = below(f, MAX_OVERHEADS);
  for (int i = 0; i < t->overhead_count; i++) {
    struct overhead *o = &t->overheads[i];
    const struct call *c = &t->calls[below(f, t->call_count)];
    *o = (struct overhead){.start = below(f, 2) ? c->start : below(f, CELLS), .thread = c->thread, .kind = below(f, 5)};
    o->end = o->start + 1 + below(f, 12);
  }
}

static void write_trace(struct fixture *f, const struct trace *t) {
  static const char *const overhead_names[] = {"CUPTI Instrumentation", "CUPTI Buffer flush",
                                               "Runtime Triggered Module Loading", "Unknown", "TLS allocation"};
  int32_t process[2] = {fixture_process(f, 10), fixture_process(f, 20)};
  for (int g = 0; g < GPUS; g++)
    fixture_gpu(f, g);
  for (int i = 0; i < THREADS; i++)
    fixture_thread(f, process[process_of(i)], 10 + i);
  for (int i = 0; i < t->call_count; i++)
    fixture_api(f, (int64_t)t->calls[i].start * CELL, (int64_t)t->calls[i].end * CELL, t->calls[i].thread,
                names[t->calls[i].kind], t->calls[i].number + 1);
  for (int i = 0; i < t->op_count; i++) {
    const struct op *op = &t->ops[i];
    const struct call *c = op->call < 0 ? NULL : call_of(t, op->call);
    int32_t of = process[c ? process_of(c->thread) : 0];
    if (op->copy)
      fixture_memop(f, (int64_t)op->start * CELL, (int64_t)op->end * CELL, NAI_MEMOP_COPY, op->gpu, of, 7, op->call + 1,
                    8, op->migration ? 11 : 1, 0, 2);
    else
      fixture_kernel(f, (int64_t)op->start * CELL, (int64_t)op->end * CELL, "k", op->gpu, of, 7, op->call + 1);
  }
  for (int i = 0; i < t->overhead_count; i++) {
    const struct overhead *o = &t->overheads[i];
    fixture_overhead(f, (int64_t)o->start * CELL, (int64_t)o->end * CELL, o->thread, overhead_names[o->kind],
                     o->kind == 2 ? NAI_OVERHEAD_CUDA : NAI_OVERHEAD_PROFILER);
  }
}

static void check_gap(const struct nai_table *gaps, int gpu, int from, int to, const struct truth *truth,
                      bool launched) {
  int largest = 0;
  for (int c = 1; c < CAUSES; c++)
    largest = truth->ns[c] > truth->ns[largest] ? c : largest;
  for (int64_t row = 0; row < gaps->rows; row++) {
    if (cell_int(gaps, row, "device_id") != gpu || cell_int(gaps, row, "gap_start_ns") != (int64_t)from * CELL)
      continue;
    assert_int_equal(cell_int(gaps, row, "gap_end_ns"), (int64_t)to * CELL);
    assert_string_equal(cell_text(gaps, row, "cause"), causes[largest]);
    assert_int_equal(cell_int(gaps, row, "cause_ns"), (int64_t)truth->ns[largest] * CELL);
    assert_int_equal(cell_int(gaps, row, "before_call_ns"), launched ? (int64_t)truth->before * CELL : NAI_NULL_I64);
    assert_int_equal(cell_int(gaps, row, "in_call_ns"), launched ? (int64_t)truth->in * CELL : NAI_NULL_I64);
    assert_int_equal(cell_int(gaps, row, "after_call_ns"), launched ? (int64_t)truth->after * CELL : NAI_NULL_I64);
    return;
  }
  fail_msg("no gap at %d", from);
}

/* All gaps of one GPU: adds to sums, returns how many. */
static int check_gpu(const struct nai_table *gaps, const struct trace *t, int gpu, int sums[CAUSES],
                     int parts[CAUSES]) {
  struct op ops[MAX_OPS];
  int n = 0, count = 0;
  for (int i = 0; i < t->op_count; i++)
    if (t->ops[i].gpu == gpu)
      ops[n++] = t->ops[i];
  qsort(ops, (size_t)n, sizeof *ops, by_start);
  struct charge charge = {0};
  for (int i = 1, busy_until = n ? ops[0].end : 0; i < n; i++) {
    const struct call *c = ops[i].call >= 0 && !ops[i].migration ? call_of(t, ops[i].call) : NULL;
    if (ops[i].start > busy_until) {
      struct truth truth = truth_of(t, &charge, &ops[i], busy_until, ops[i].start);
      check_gap(gaps, gpu, busy_until, ops[i].start, &truth, c != NULL);
      for (int k = 0; k < CAUSES; k++) {
        sums[k] += truth.ns[k];
        parts[k] += truth.ns[k] > 0;
      }
      count++;
    }
    if (c && c->end + LEAD_CELLS <= busy_until)
      charge.wait = NULL;
    busy_until = ops[i].end > busy_until ? ops[i].end : busy_until;
  }
  return count;
}

static void check_trace(struct fixture *f, const struct trace *t, int64_t seen[CAUSES]) {
  struct nai_table *gaps = fixture_analyze(f, "idle_gaps", 0), *by_cause = fixture_analyze(f, "idle_gaps", 1),
                   *use = fixture_analyze(f, "utilization", 0);
  int64_t rows = 0, count = 0;
  for (int g = 0; g < GPUS; g++) {
    int sums[CAUSES] = {0}, parts[CAUSES] = {0};
    int64_t idle = 0;
    count += check_gpu(gaps, t, g, sums, parts);
    for (int64_t row = 0; row < by_cause->rows; row++) {
      if (cell_int(by_cause, row, "device_id") != g)
        continue;
      int c = 0;
      while (strcmp(causes[c], cell_text(by_cause, row, "cause")) != 0)
        c++;
      assert_int_equal(cell_int(by_cause, row, "total_ns"), (int64_t)sums[c] * CELL);
      assert_int_equal(cell_int(by_cause, row, "part_count"), parts[c]);
      idle += cell_int(by_cause, row, "total_ns");
      rows++;
    }
    for (int c = 0; c < CAUSES; c++) {
      rows -= sums[c] > 0;
      seen[c] += sums[c];
    }
    for (int64_t row = 0; row < use->rows; row++)
      if (cell_int(use, row, "device_id") == g)
        assert_int_equal(idle, cell_int(use, row, "idle_ns"));
  }
  assert_int_equal(rows, 0);
  assert_int_equal(gaps->rows, count);
  nai_table_free(gaps);
  nai_table_free(by_cause);
  nai_table_free(use);
}

TEST(test_random) {
  int64_t seen[CAUSES] = {0};
  for (int round = 0; round < (in_whole() ? 1500 : in_part() ? 100 : 300); round++) {
    struct fixture f;
    struct trace t = {0};
    fixture_init(&f);
    f.seed = (uint64_t)round * 29 + 5;
    make_calls(&t, &f);
    make_ops(&t, &f);
    make_overheads(&t, &f);
    write_trace(&f, &t);
    qsort(t.calls, (size_t)t.call_count, sizeof *t.calls, by_thread_order);
    fixture_build(&f);
    check_trace(&f, &t, seen);
    fixture_free(&f);
  }
  for (int c = 0; c < CAUSES; c++) /* every cause occurred */
    assert_true(seen[c] > 0);
}

/* --- each cause alone ------------------------------------------------------------------------- */

/* A GPU with a kernel until 100 us and one that begins at 1,000 us; what happens between is added by each test. */
static void begin(struct fixture *f) {
  int32_t process = fixture_begin(f);
  fixture_thread(f, process, 11);
  fixture_kernel(f, 0, 100000, "first", 0, process, 7, 0);
}

static void launch_second(struct fixture *f, int64_t start, int64_t end) {
  fixture_api(f, start, end, 0, "cudaLaunchKernel", 1);
  fixture_kernel(f, 1000000, 1100000, "second", 0, 0, 7, 1);
}

struct expected {
  const char *cause, *what;
  int64_t ns;
};

/* The rows of idle_causes in their order, and the number of other rows. */
static void expect_causes(struct fixture *f, const struct expected *expected, int count) {
  fixture_build(f);
  struct nai_table *t = fixture_analyze(f, "idle_gaps", 1);
  for (int i = 0; i < count && i < t->rows; i++) {
    assert_string_equal(cell_text(t, i, "cause"), expected[i].cause);
    assert_int_equal(cell_int(t, i, "total_ns"), expected[i].ns);
    const char *what = cell_text(t, i, "what");
    assert_string_equal(what ? what : "", expected[i].what);
  }
  assert_int_equal(t->rows, count);
  nai_table_free(t);
  fixture_free(f);
}
#define EXPECT(f, ...)                                     \
  expect_causes(f, (const struct expected[]){__VA_ARGS__}, \
                sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected))

TEST(test_call_in_flight) {
  struct fixture f;
  begin(&f);
  launch_second(&f, 50000, 990000); /* began before the gap */
  EXPECT(&f, {"in_launch_call", "cudaLaunchKernel", 890000}, {"launch_latency", "", 10000});
}

TEST(test_loading_in_launch) {
  struct fixture f;
  begin(&f);
  launch_second(&f, 150000, 990000);
  fixture_overhead(&f, 200000, 800000, 0, "Runtime Triggered Module Loading", NAI_OVERHEAD_CUDA);
  fixture_overhead(&f, 800000, 850000, 0, "dlopen(libnvidia-ptxjitcompiler.so.1)", NAI_OVERHEAD_PROFILER);
  fixture_overhead(&f, 850000, 950000, 0, "TLS allocation", NAI_OVERHEAD_PROFILER); /* of no account */
  EXPECT(&f, {"module_load", "Runtime Triggered Module Loading", 650000},
         {"in_launch_call", "cudaLaunchKernel", 190000}, {"host_code", "", 50000}, {"launch_latency", "", 10000});
}

TEST(test_unknown_overhead) {
  struct fixture f;
  begin(&f);
  fixture_overhead(&f, 110000, 115000, 0, "Unknown", NAI_OVERHEAD_PROFILER); /* short: bookkeeping */
  fixture_overhead(&f, 120000, 170000, 0, "Unknown", NAI_OVERHEAD_PROFILER); /* long, in no call */
  fixture_overhead(&f, 300000, 900000, 0, "Unknown", NAI_OVERHEAD_PROFILER); /* long, in a launch */
  launch_second(&f, 200000, 1000000);
  EXPECT(&f, {"module_load", "Unknown", 600000}, {"in_launch_call", "cudaLaunchKernel", 200000},
         {"host_code", "", 95000}, {"profiler", "Unknown", 5000});
}

TEST(test_flush_of_another_thread) {
  struct fixture f;
  begin(&f);
  fixture_thread(&f, fixture_process(&f, 20), 12);
  fixture_overhead(&f, 200000, 400000, 1, "CUPTI Buffer flush", NAI_OVERHEAD_PROFILER);
  fixture_overhead(&f, 400000, 500000, 1, "CUPTI Instrumentation", NAI_OVERHEAD_PROFILER); /* not ours */
  fixture_overhead(&f, 500000, 700000, 2, "CUPTI Buffer flush", NAI_OVERHEAD_PROFILER);    /* another process */
  launch_second(&f, 900000, 1000000);
  EXPECT(&f, {"host_code", "", 600000}, {"profiler", "CUPTI Buffer flush", 200000},
         {"in_launch_call", "cudaLaunchKernel", 100000});
}

TEST(test_calls_before) {
  struct fixture f;
  begin(&f);
  fixture_api(&f, 100000, 400000, 0, "cudaMalloc", 2);
  fixture_api(&f, 150000, 250000, 0, "cudaDeviceSynchronize", 3); /* inside it: the wait is what takes the time */
  fixture_api(&f, 400000, 500000, 0, "cuLibraryLoadData", 4);
  fixture_api(&f, 500000, 650000, 0, "cudaEventRecord", 5);
  fixture_api(&f, 100000, 900000, 1, "cudaMalloc", 6); /* on another thread */
  launch_second(&f, 700000, 995000);
  EXPECT(&f, {"in_launch_call", "cudaLaunchKernel", 295000}, {"allocation", "cudaMalloc", 200000},
         {"cuda_call", "cudaEventRecord", 150000}, {"blocking_call", "cudaDeviceSynchronize", 100000},
         {"module_load", "cuLibraryLoadData", 100000}, {"host_code", "", 50000}, {"launch_latency", "", 5000});
}

TEST(test_after_call) {
  struct fixture f;
  begin(&f);
  launch_second(&f, 90000, 95000);
  EXPECT(&f, {"unknown", "after the call returned", 900000});
  begin(&f);
  fixture_api(&f, 80000, 85000, 0, "cudaStreamWaitEvent", 2);
  launch_second(&f, 90000, 95000);
  EXPECT(&f, {"dependency", "cudaStreamWaitEvent", 900000});
  begin(&f); /* that wait is another launch's */
  fixture_api(&f, 80000, 85000, 0, "cudaStreamWaitEvent", 2);
  fixture_api(&f, 86000, 87000, 0, "cudaLaunchKernel", 3);
  fixture_kernel(&f, 95000, 100000, "between", 0, 0, 7, 3);
  launch_second(&f, 90000, 95000);
  EXPECT(&f, {"unknown", "after the call returned", 900000});
}

/* Where launches take 40 us at best, 80 us after a call are launch latency. */
TEST(test_launch_floor) {
  struct fixture f;
  int32_t process = fixture_begin(&f);
  for (int i = 0; i < 25; i++) {
    int64_t t = i * 1000000;
    fixture_api(&f, t, t + 5000, 0, "cudaLaunchKernel", i + 1);
    fixture_kernel(&f, t + 40000 + (i == 24 ? 20000 : 0), t + 1000000, "k", 0, process, 7, i + 1);
  }
  EXPECT(&f, {"launch_latency", "", 23 * 35000 + 55000}, {"in_launch_call", "cudaLaunchKernel", 24 * 5000});
}

/* Where they take 300 us at best, what lies behind a call is something else that is not recorded. */
TEST(test_no_slow_launch) {
  struct fixture f;
  int32_t process = fixture_begin(&f);
  for (int i = 0; i < 25; i++) {
    int64_t t = i * 1000000;
    fixture_api(&f, t, t + 5000, 0, "cudaLaunchKernel", i + 1);
    fixture_kernel(&f, t + (i == 24 ? 90000 : 300000), t + 1000000, "k", 0, process, 7, i + 1);
  }
  EXPECT(&f, {"unknown", "after the call returned", 23 * 295000}, {"in_launch_call", "cudaLaunchKernel", 24 * 5000},
         {"launch_latency", "", 85000});
}

TEST(test_no_launch) {
  struct fixture f;
  begin(&f);
  fixture_kernel(&f, 300000, 400000, "unlaunched", 0, 0, 7, 0);
  fixture_memop(&f, 500000, 600000, NAI_MEMOP_COPY, 0, 0, 0, 0, 4096, 12, 4, 2);
  EXPECT(&f, {"unknown", "launch not in the trace", 200000}, {"page_migration", "Unified Device-to-Host", 100000});
}

/* A blocking copy that ends a gap is that call's, not host code. */
TEST(test_copy_ends_gap) {
  struct fixture f;
  begin(&f);
  fixture_api(&f, 50000, 400000, 0, "cudaMemcpy", 1);
  fixture_memop(&f, 300000, 390000, NAI_MEMOP_COPY, 0, 0, 7, 1, 4096, 2, 2, 0);
  EXPECT(&f, {"in_launch_call", "cudaMemcpy", 200000});
}

TEST(test_what_host_did) {
  struct fixture f;
  begin(&f);
  fixture_nvtx(&f, 0, 2000000, 0, "step", NAI_NVTX_PUSH_POP);
  fixture_nvtx(&f, 300000, 900000, 0, "load", NAI_NVTX_PUSH_POP);
  launch_second(&f, 1000000, 1000000);
  EXPECT(&f, {"host_code", "load", 900000});
  begin(&f);
  fixture_nvtx(&f, 0, 2000000, 0, "step", NAI_NVTX_PUSH_POP);
  fixture_osrt(&f, 50000, 800000, 0, "poll", 0);
  fixture_osrt(&f, 300000, 790000, 0, "read", 1); /* inside it */
  launch_second(&f, 1000000, 1000000);
  EXPECT(&f, {"host_code", "poll", 900000});
}

/* Own code before a load compiles what is loaded, whatever calls lie between; behind it, and before a mere lookup, it
 * is the program's. */
TEST(test_compiled_before_loaded) {
  struct fixture f;
  begin(&f);
  fixture_api(&f, 500000, 510000, 0, "cudaGetDevice", 8);
  fixture_api(&f, 700000, 720000, 0, "cuModuleLoadDataEx", 9);
  launch_second(&f, 1000000, 1000000);
  EXPECT(&f, {"module_load", "cuModuleLoadDataEx", 610000}, {"host_code", "", 280000},
         {"cuda_call", "cudaGetDevice", 10000});
  begin(&f);
  fixture_api(&f, 700000, 720000, 0, "cuLibraryGetKernel", 9);
  launch_second(&f, 1000000, 1000000);
  EXPECT(&f, {"host_code", "", 880000}, {"module_load", "cuLibraryGetKernel", 20000});
}

/* --- waits that drain the queue --------------------------------------------------------------- */

enum { MS = 1000000 };

/* Calls of no length, between which a thread has no more than half a millisecond of code of its own. */
static void busy(struct fixture *f, int64_t start, int64_t end) {
  for (int64_t t = start; t < end; t += MS / 2)
    fixture_api(f, t, t, 0, "cudaGetLastError", 0);
}

/* A wait of 10 ms that ends with the queue, then two gaps of 1 ms in which the host is late; `ahead`: how long before
 * the first of them ends the kernel between them was launched. */
static void drain(struct fixture *f, int64_t wait_start, int64_t kernel_between) {
  int32_t process = fixture_begin(f);
  fixture_nvtx(f, 0, 20 * MS, 0, "block", NAI_NVTX_PUSH_POP);
  fixture_nvtx(f, 0, 15 * MS, 0, "item", NAI_NVTX_PUSH_POP);
  fixture_kernel(f, 0, 10 * MS, "long", 0, process, 7, 0);
  fixture_api(f, wait_start, 10 * MS, 0, "cudaStreamSynchronize", 1);
  busy(f, 10 * MS, 11 * MS);
  fixture_api(f, 11 * MS, 11 * MS + 1000, 0, "cudaLaunchKernel", 2);
  fixture_kernel(f, 11 * MS + 1000, 11 * MS + kernel_between, "a", 0, process, 7, 2);
  fixture_api(f, 11 * MS + 2000, 11 * MS + 3000, 0, "cudaLaunchKernel", 3);
  fixture_kernel(f, 11 * MS + kernel_between, 11 * MS + kernel_between + 1000, "b", 0, process, 7, 3);
  busy(f, 11 * MS + kernel_between + 1000, 12 * MS + kernel_between + 1000);
  fixture_api(f, 12 * MS + kernel_between + 1000, 12 * MS + kernel_between + 2000, 0, "cudaLaunchKernel", 4);
  fixture_kernel(f, 12 * MS + kernel_between + 2000, 30 * MS, "c", 0, process, 7, 4);
}

TEST(test_drained) {
  struct fixture f;
  drain(&f, 0, 1 * MS); /* b was launched 1 ms ahead: the CPU hardly leads */
  EXPECT(&f, {"queue_drained", "cudaStreamSynchronize in block > item", 2 * MS},
         {"in_launch_call", "cudaLaunchKernel", 2000});
  drain(&f, 0, 3 * MS); /* 3 ms ahead: what follows has other reasons */
  EXPECT(&f, {"host_code", "item", 1 * MS}, {"queue_drained", "cudaStreamSynchronize in block > item", 1 * MS},
         {"in_launch_call", "cudaLaunchKernel", 2000});
  drain(&f, 10 * MS - 1500000, 1 * MS); /* no more can be won than the wait took */
  EXPECT(&f, {"queue_drained", "cudaStreamSynchronize in block > item", 1500000}, {"host_code", "item", 500000},
         {"in_launch_call", "cudaLaunchKernel", 2000});
}

/* Of two gaps behind a wait that with 0.6 ms of code without a call is the code's, and the other still the wait's. */
TEST(test_own_code_behind_a_wait) {
  struct fixture f;
  int32_t process = fixture_begin(&f);
  fixture_kernel(&f, 0, 10 * MS, "long", 0, process, 7, 0);
  fixture_api(&f, 0, 10 * MS, 0, "cudaStreamSynchronize", 1);
  fixture_api(&f, 10 * MS + 600000, 10 * MS + 610000, 0, "cudaLaunchKernel", 2);
  fixture_kernel(&f, 10 * MS + 610000, 10 * MS + 700000, "a", 0, process, 7, 2);
  fixture_api(&f, 11 * MS, 11 * MS + 10000, 0, "cudaLaunchKernel", 3);
  fixture_kernel(&f, 11 * MS + 10000, 12 * MS, "b", 0, process, 7, 3);
  EXPECT(&f, {"host_code", "", 600000}, {"queue_drained", "cudaStreamSynchronize", 300000},
         {"in_launch_call", "cudaLaunchKernel", 20000});
}

/* A copy that waits for 50 ms and returns 3 us after the GPU, then a launch so long after it. */
static int32_t drain_by_copy(struct fixture *f, int64_t host_ns) {
  int32_t process = fixture_begin(f);
  int64_t waited = 50 * MS + 3000, launched = waited + host_ns;
  fixture_kernel(f, 0, 50 * MS, "long", 0, process, 7, 0);
  fixture_api(f, 0, waited, 0, "cudaMemcpy", 1);
  fixture_memop(f, 49 * MS, 50 * MS, NAI_MEMOP_COPY, 0, process, 7, 1, 8, 2, 2, 0);
  busy(f, waited, launched);
  fixture_api(f, launched, launched, 0, "cudaLaunchKernel", 2);
  fixture_kernel(f, launched, launched + 1 * MS, "late", 0, process, 7, 2);
  return process;
}

/* A launch more than 8 ms after the wait is late for what the host did meanwhile, and for nothing else. */
/* 1.2 ms of a gap behind a wait in a launch call whose kernel has long run: that call's, not the wait's. */
TEST(test_stalled_launch_behind_a_wait) {
  struct fixture f;
  int32_t process = fixture_begin(&f);
  fixture_kernel(&f, 0, 10 * MS, "long", 0, process, 7, 0);
  fixture_api(&f, 0, 10 * MS, 0, "cudaStreamSynchronize", 1);
  fixture_api(&f, 10 * MS + 50000, 11 * MS + 300000, 0, "cudaLaunchKernel", 2);
  fixture_kernel(&f, 10 * MS + 60000, 10 * MS + 100000, "a", 0, process, 7, 2);
  fixture_api(&f, 11 * MS + 400000, 11 * MS + 410000, 0, "cudaLaunchKernel", 3);
  fixture_kernel(&f, 11 * MS + 410000, 30 * MS, "b", 0, process, 7, 3);
  EXPECT(&f, {"cuda_call", "cudaLaunchKernel", 1200000}, {"queue_drained", "cudaStreamSynchronize", 150000},
         {"in_launch_call", "cudaLaunchKernel", 20000});
}

TEST(test_drained_long_ago) {
  struct fixture f;
  drain_by_copy(&f, 8 * MS);
  EXPECT(&f, {"queue_drained", "cudaMemcpy", 8 * MS}, {"blocking_call", "cudaMemcpy", 3000});
  drain_by_copy(&f, 8 * MS + 1);
  EXPECT(&f, {"host_code", "", 8 * MS + 1}, {"blocking_call", "cudaMemcpy", 3000});
  int32_t process = drain_by_copy(&f, 2 * MS); /* of two launches only the first comes in time */
  fixture_api(&f, 61 * MS, 61 * MS, 0, "cudaLaunchKernel", 3);
  fixture_kernel(&f, 61 * MS, 62 * MS, "later", 0, process, 7, 3);
  EXPECT(&f, {"host_code", "", 8 * MS - 3000}, {"queue_drained", "cudaMemcpy", 2 * MS},
         {"blocking_call", "cudaMemcpy", 3000});
}

/* --- patterns --------------------------------------------------------------------------------- */

TEST(test_patterns) {
  struct fixture f;
  int32_t process = fixture_begin(&f);
  for (int i = 0; i < 9; i++) {
    int64_t t = i * 100000;
    fixture_nvtx(&f, t, t + 1000, 0, "step", NAI_NVTX_PUSH_POP);
    fixture_api(&f, t, t + 500, 0, "cudaLaunchKernel", i + 1);
    fixture_kernel(&f, t + 1000, t + 90000 - 10000 * (i == 4), i % 3 ? "a" : "b", 0, process, 7, i + 1);
  }
  fixture_kernel(&f, 893000, 894000, "near", 0, process, 7, 0); /* too near to count */
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "idle_patterns", 0);
  assert_int_equal(t->rows, 2);
  assert_string_equal(cell_text(t, 0, "next_op"), "a");
  assert_string_equal(cell_text(t, 0, "cause"), "host_code");
  assert_string_equal(cell_text(t, 0, "launch_api"), "cudaLaunchKernel");
  assert_string_equal(cell_text(t, 0, "nvtx_range"), "step");
  assert_int_equal(cell_int(t, 0, "gap_count"), 6);
  assert_int_equal(cell_int(t, 0, "total_ns"), 5 * 11000 + 21000);
  assert_int_equal(cell_int(t, 0, "cause_ns"), 5 * 10000 + 20000); /* without the launch */
  assert_true(cell_real(t, 0, "median_ns") == 11000);
  assert_int_equal(cell_int(t, 0, "longest_ns"), 21000);
  assert_int_equal(cell_int(t, 0, "longest_start_ns"), 480000);
  assert_int_equal(cell_int(t, 0, "longest_end_ns"), 501000);
  assert_int_equal(cell_int(t, 1, "gap_count"), 2);
  nai_table_free(t);
  fixture_free(&f);
}
