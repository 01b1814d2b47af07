/* From call to start, against its definition applied to every moment. */
#include "model_fixture.h"

#include <math.h>

enum { SPAN = 300, MAX_CALLS = 40, MAX_OPS = 60, STREAMS = 3, PROCESSES = 2 };

struct call {
  int start, end;
};
struct op {
  int start, end, process, stream, call;
};

struct truth {
  int64_t count, to_start, in_api, stream_wait, device_wait, gap, starved, negative, leads[MAX_OPS], calls[MAX_OPS],
      floors[MAX_OPS];
  uint32_t floor_count;
};

/* Whether something ran at a moment; of any stream (NULL) or that of an operation. */
static bool busy(const struct op *ops, int n, int at, const struct op *like) {
  for (int i = 0; i < n; i++)
    if (ops[i].start <= at && at < ops[i].end &&
        (!like || (ops[i].process == like->process && ops[i].stream == like->stream)))
      return true;
  return false;
}

static int latest_end(const struct op *ops, int before, const struct op *like) {
  int latest = -1;
  for (int i = 0; i < before; i++)
    if ((!like || (ops[i].process == like->process && ops[i].stream == like->stream)) && ops[i].end > latest)
      latest = ops[i].end;
  return latest;
}

static void add_launch(struct truth *t, const struct op *ops, int n, int i, const struct call *c) {
  const struct op *op = &ops[i];
  int lead = latest_end(ops, i, op) - c->end;
  t->leads[t->count] = lead > 0 ? lead : 0;
  t->starved += lead <= 0;
  t->calls[t->count++] = c->end - c->start;
  t->negative += op->start < c->start;
  if (latest_end(ops, i, NULL) <= c->start && c->start <= op->start)
    t->floors[t->floor_count++] = c->start - op->start;
  for (int at = c->start; at < op->start; at++) {
    t->to_start++;
    *(at < c->end              ? &t->in_api
      : busy(ops, n, at, op)   ? &t->stream_wait
      : busy(ops, n, at, NULL) ? &t->device_wait
                               : &t->gap) += 1;
  }
}

static int by_start(const void *a, const void *b) {
  return ((const struct op *)a)->start - ((const struct op *)b)->start;
}

static void check(const struct nai_table *t, struct truth *truth, int64_t pid) {
  int64_t row = 0;
  while (row < t->rows && cell_int(t, row, "pid") != pid)
    row++;
  assert_int_equal(row<t->rows, truth->count> 0);
  if (row == t->rows)
    return;
  assert_int_equal(cell_int(t, row, "launch_count"), truth->count);
  assert_int_equal(cell_int(t, row, "call_to_start_ns"), truth->to_start);
  assert_int_equal(cell_int(t, row, "in_api_ns"), truth->in_api);
  assert_int_equal(cell_int(t, row, "stream_wait_ns"), truth->stream_wait);
  assert_int_equal(cell_int(t, row, "device_wait_ns"), truth->device_wait);
  assert_int_equal(cell_int(t, row, "gap_after_api_ns"), truth->gap);
  assert_int_equal(cell_int(t, row, "starved_count"), truth->starved);
  assert_int_equal(cell_int(t, row, "negative_latency_count"), truth->negative);
  assert_true(cell_real(t, row, "cpu_lead_p50_ns") == nai_stats_of(truth->leads, (uint32_t)truth->count).p50);
  assert_true(cell_real(t, row, "api_p90_ns") == nai_stats_of(truth->calls, (uint32_t)truth->count).p90);
  double floor = cell_real(t, row, "launch_floor_ns");
  if (truth->floor_count < 20)
    assert_true(isnan(floor));
  else
    assert_true(floor == -nai_stats_of(truth->floors, truth->floor_count).p90);
}

/* idle_often: short operations, so that many launches find the GPU idle. */
static void check_random(uint64_t seed, bool idle_often) {
  struct fixture f;
  struct call calls[MAX_CALLS];
  struct op ops[MAX_OPS];
  fixture_init(&f);
  f.seed = seed;
  int32_t processes[PROCESSES], threads[PROCESSES];
  fixture_gpu(&f, 0);
  for (int p = 0; p < PROCESSES; p++)
    threads[p] = fixture_thread(&f, processes[p] = fixture_process(&f, 10 + p), 10 + p);
  int call_count = 1 + (int)fixture_random(&f, MAX_CALLS), op_count = (int)fixture_random(&f, MAX_OPS + 1), n = 0;
  for (int i = 0; i < call_count; i++) {
    calls[i].start = idle_often ? 7 * i : (int)fixture_random(&f, SPAN);
    calls[i].end = calls[i].start + (int)fixture_random(&f, idle_often ? 3 : 20);
    for (int p = 0; p < PROCESSES; p++) /* both processes have calls of every number */
      fixture_api(&f, calls[i].start, calls[i].end, threads[p], "cudaLaunchKernel", i + 1);
  }
  bool taken[2 * SPAN] = {0};
  for (int i = 0; i < op_count; i++) {
    struct op op = {.process = (int)fixture_random(&f, idle_often ? 1 : PROCESSES),
                    .stream = (int)fixture_random(&f, idle_often ? 1 : STREAMS),
                    .call = idle_often ? i % call_count : (int)fixture_random(&f, call_count + 1) - 1};
    op.start = op.call < 0 || fixture_random(&f, 5) == 0
                 ? (int)fixture_random(&f, SPAN)
                 : calls[op.call].start + (int)fixture_random(&f, idle_often ? 4 : 60);
    op.end = op.start + 1 + (int)fixture_random(&f, idle_often ? 2 : 15);
    if (taken[op.start])
      continue; /* operations of one moment would have an order of their own */
    taken[op.start] = true;
    fixture_kernel(&f, op.start, op.end, "k", 0, processes[op.process], op.stream, op.call + 1);
    ops[n++] = op;
  }
  qsort(ops, (size_t)n, sizeof *ops, by_start);
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "launch_breakdown", 0);
  for (int p = 0; p < PROCESSES; p++) {
    struct truth truth = {0};
    bool seen[MAX_CALLS] = {0};
    for (int i = 0; i < n; i++) {
      if (ops[i].process != p || ops[i].call < 0 || seen[ops[i].call])
        continue;
      seen[ops[i].call] = true;
      add_launch(&truth, ops, n, i, &calls[ops[i].call]);
    }
    check(t, &truth, 10 + p);
  }
  nai_table_free(t);
  fixture_free(&f);
}

TEST(test_random) {
  for (int round = 0; round < 600; round++)
    check_random((uint64_t)round * 31 + 3, round % 2);
}

/* Far behind the host: the time from call to start is the queue's, not the launch's. */
TEST(test_queued) {
  struct fixture f;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 10), thread = fixture_thread(&f, process, 10);
  fixture_gpu(&f, 0);
  for (int i = 0; i < 200; i++) {
    fixture_api(&f, 5000 * i, 5000 * i + 4000, thread, "cudaLaunchKernel", i + 1);
    fixture_kernel(&f, 10000 + 101000 * i, 10000 + 101000 * i + 100000, "k", 0, process, 7, i + 1);
  }
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "launch_breakdown", 0);
  int64_t in_api = 200 * 4000, gap = 6000, stream_wait = 0, to_start = 0;
  for (int i = 0; i < 200; i++) {
    to_start += 10000 + 101000 * i - 5000 * i;
    for (int k = 0; k < i; k++) { /* what lay ahead when the call returned */
      int64_t from = 10000 + 101000 * k, to = from + 100000, returned = 5000 * i + 4000;
      stream_wait += to <= returned ? 0 : to - (from > returned ? from : returned);
    }
  }
  gap = to_start - in_api - stream_wait;
  assert_int_equal(cell_int(t, 0, "call_to_start_ns"), to_start);
  assert_int_equal(cell_int(t, 0, "in_api_ns"), in_api);
  assert_int_equal(cell_int(t, 0, "stream_wait_ns"), stream_wait);
  assert_int_equal(cell_int(t, 0, "gap_after_api_ns"), gap);
  assert_int_equal(cell_int(t, 0, "starved_count"), 1); /* the first: all others have it ahead */
  nai_table_free(t);
  fixture_free(&f);
}
