/* The graph of dependencies: replayed unchanged it gives the recorded times again, and its path fills the window. What
 * changes give is worked out here by hand, and for random traces by relaxing every dependency until nothing moves. */
#include "model_fixture.h"

#include "model/critical/path.h"
#include "tables/sync_events.h"

enum { US = 1000 };

static void sync_row(struct fixture *f, int64_t start, int64_t end, int64_t process, int64_t stream, int64_t id) {
  CELLS(f->in.tables[NAI_IN_SYNCS], start, end, process, 1, stream, id, 3, NAI_NULL_I64, NAI_NULL_I64);
}

static const uint32_t *order_of(struct fixture *f) {
  uint32_t *order, count;
  ok(nai_dep_order(&order, &count, f->m.dependencies, NULL, &f->m.arena, err));
  assert_int_equal(count, f->m.dependencies->node_count);
  return order;
}

static const int64_t *replay(struct fixture *f, const struct nai_scenario *s) {
  int64_t *moved;
  ok(NAI_NEW(moved, &f->m.arena, f->m.dependencies->node_count, err));
  nai_dep_replay(moved, &f->m, s, order_of(f), f->m.dependencies->node_count);
  return moved;
}

static void check_unchanged(struct fixture *f) {
  const struct nai_dependencies *d = f->m.dependencies;
  const struct nai_scenario unchanged = {0};
  const int64_t *moved = replay(f, &unchanged);
  for (uint32_t i = 0; i < d->node_count; i++)
    assert_int_equal(moved[i], 0);
}

/* Segments share their ends and reach from the last end to the first start. */
static void check_path(struct fixture *f) {
  struct nai_path_scope *scopes;
  uint32_t count;
  ok(nai_path_scopes(&scopes, &count, &f->m, NULL, &f->m.arena, err));
  assert_true(count >= 1);
  struct nai_path path = nai_path_at(&f->m, NULL, NULL, scopes[0].nodes[1], f->m.window_start);
  int64_t at = nai_dep_last_end(&f->m, NULL, f->m.gpu_count);
  int64_t *slack = calloc(f->m.dependencies->node_count, sizeof *slack);
  assert_non_null(slack);
  nai_dep_slack(slack, &f->m, order_of(f));
  for (uint32_t i = 0; i < f->m.dependencies->node_count; i++)
    assert_true(slack[i] >= 0);
  for (struct nai_path_segment s; nai_path_next(&path, &s); at = s.start) {
    assert_int_equal(s.end, at);
    assert_true(s.start < s.end);
    assert_int_equal(slack[s.node], 0);
  }
  assert_int_equal(at, f->m.window_start);
  free(slack);
}

/* k2 on another stream may end until the last operation does. k1 is awaited; unless that is unknown: then it is only
 * ahead of the next one on its stream, by 1 us. */
static void check_slack(struct fixture *f, bool unknown) {
  int64_t slack[12];
  const struct nai_dependencies *d = f->m.dependencies;
  assert_int_equal(d->node_count, 12);
  nai_dep_slack(slack, &f->m, order_of(f));
  for (uint32_t op = 0; op < d->op_count; op++) {
    uint32_t node = nai_node_of_op(d, op) + 1;
    int64_t expected = d->time[node] == 108 * US ? (unknown ? 168 - 1 - 108 : 0) * US : 198 * US - d->time[node];
    assert_int_equal(slack[node], expected);
  }
}

/* launch k1 (100 us), wait for it, 50 us of host code, launch k2 (30 us). */
static void fill_wait(struct fixture *f, bool in_record) {
  int32_t p = fixture_begin(f);
  fixture_api(f, 0, 5 * US, 0, "cudaLaunchKernel", 1);
  fixture_kernel(f, 8 * US, 108 * US, "k1", 0, p, 7, 1);
  fixture_api(f, 6 * US, 110 * US, 0, "cudaStreamSynchronize", 2);
  if (in_record)
    sync_row(f, 6 * US, 110 * US, p, 7, 2);
  fixture_api(f, 160 * US, 165 * US, 0, "cudaLaunchKernel", 3);
  fixture_kernel(f, 168 * US, 198 * US, "k2", 0, p, 7, 3);
  fixture_build(f);
}

TEST(test_wait_removed) {
  struct fixture f;
  fill_wait(&f, true);
  check_unchanged(&f);
  check_path(&f);
  const uint8_t no_wait[] = {0, 1, 0};
  const int64_t *moved = replay(&f, &(struct nai_scenario){.no_wait = no_wait});
  /* The call takes 2 us from 6 on, the host code 50, the launch 8 us from its call on; by then k1 is still running. */
  const struct nai_dependencies *d = f.m.dependencies;
  assert_int_equal(nai_node_time(d, moved, 4), (6 + 2 + 50) * US);
  assert_int_equal(nai_node_time(d, moved, nai_node_of_op(d, 1)),
                   (108 + 1) * US); /* 1 us from operation to operation */
  assert_int_equal(nai_dep_last_end(&f.m, moved, 0), 139 * US);
  fixture_free(&f);
}

TEST(test_kernel_faster_behind_wait) {
  struct fixture f;
  fill_wait(&f, true);
  const float factors[] = {0.5f, 1};
  const int64_t *moved = replay(&f, &(struct nai_scenario){.op_factor = factors});
  assert_int_equal(nai_dep_last_end(&f.m, moved, 0), (198 - 50) * US);
  fixture_free(&f);
}

/* Without a record nothing says which of two streams a call waits for: what ended just before it returned, or, where
 * nothing did, it keeps its length. */
static void check_wait_without_record(int64_t returns, int64_t end_when_half) {
  struct fixture f;
  int32_t p = fixture_begin(&f);
  fixture_api(&f, 0, 5 * US, 0, "cudaLaunchKernel", 1);
  fixture_kernel(&f, 8 * US, 108 * US, "k1", 0, p, 7, 1);
  fixture_kernel(&f, 8 * US, 20 * US, "k2", 0, p, 8, 9);
  fixture_api(&f, 6 * US, returns, 0, "cudaStreamSynchronize", 2);
  fixture_api(&f, 160 * US, 165 * US, 0, "cudaLaunchKernel", 3);
  fixture_kernel(&f, 168 * US, 198 * US, "k2", 0, p, 7, 3);
  fixture_build(&f);
  check_unchanged(&f);
  bool unknown = end_when_half == 198 * US;
  assert_int_equal(f.m.dependencies->quality.unresolved, unknown);
  assert_int_equal(f.m.dependencies->quality.inferred, !unknown);
  check_slack(&f, unknown);
  const float factors[] = {0.5f, 1, 1};
  const int64_t *moved = replay(&f, &(struct nai_scenario){.op_factor = factors});
  assert_int_equal(nai_dep_last_end(&f.m, moved, 0), end_when_half);
  fixture_free(&f);
}

TEST(test_wait_without_record) {
  check_wait_without_record(110 * US, 148 * US);
  check_wait_without_record(140 * US, 198 * US);
}

/* A blocking copy returns before its recorded end: half the copy is half the call. */
TEST(test_copy_returns_early) {
  struct fixture f;
  int32_t p = fixture_begin(&f);
  fixture_api(&f, 0, 980 * US, 0, "cudaMemcpyAsync", 1);
  fixture_memop(&f, 10 * US, 1010 * US, 0, 0, p, 7, 1, 1 << 20, 1, 0, 2);
  fixture_api(&f, 1000 * US, 1005 * US, 0, "cudaLaunchKernel", 2);
  fixture_kernel(&f, 1011 * US, 1020 * US, "k", 0, p, 7, 2);
  fixture_build(&f);
  check_unchanged(&f);
  const float factors[] = {0.5f, 1};
  const int64_t *moved = replay(&f, &(struct nai_scenario){.op_factor = factors});
  assert_int_equal(nai_node_time(f.m.dependencies, moved, 1), (10 + 485) * US); /* 970 us of the call are copying */
  /* 20 us later the launch, which takes 4 us at least; the kernel runs for 9. */
  assert_int_equal(nai_dep_last_end(&f.m, moved, 0), (495 + 20 + 4 + 9) * US);
  fixture_free(&f);
}

/* --- hand-offs between threads ----------------------------------------------------------------- */

/* Thread 0 launches, thread 1 has a part of 200 us in a call, in turn, one round each 900 us. */
enum { ROUND = 900 * US, ALTERNATING = 1, OS_CALLS = 2, WAKES = 4 };

static void fill_turns(struct fixture *f, int rounds, int what) {
  int32_t p = fixture_begin(f);
  fixture_thread(f, p, 11);
  for (int i = 0; i < rounds; i++) {
    int64_t at = i * ROUND, other = what & ALTERNATING ? at : at - 560 * US * (i % 2);
    fixture_api(f, at, at + 10 * US, 0, "cudaLaunchKernel", i + 1);
    fixture_kernel(f, at + 15 * US, at + 20 * US, "k", 0, p, 7, i + 1);
    fixture_api(f, at + 190 * US, at + 200 * US, 0, "cudaGetDevice", 0);
    fixture_api(f, other + 250 * US, other + 260 * US, 1, "cudaGetDevice", 0);
    fixture_api(f, other + 500 * US, other + 700 * US, 1, "cudaMalloc", 0);
    fixture_api(f, other + 790 * US, other + 800 * US, 1, "cudaGetDevice", 0);
    if (what & OS_CALLS)
      fixture_osrt(f, at + 210 * US, at + 880 * US, 0, what & WAKES ? "pthread_cond_wait" : "read", 0);
    if (what & WAKES)
      fixture_osrt(f, at + 810 * US, at + 815 * US, 1, "pthread_cond_signal", 0);
  }
  fixture_build(f);
}

/* Without its call in the middle thread 1 is 200 us faster a round, and thread 0 with it where it waits for that. `own`
 * is what thread 0 does itself in a round. */
static void check_turns(int rounds, int what, int handoffs, int64_t own) {
  enum { MOST = 12 };
  struct fixture f;
  fill_turns(&f, rounds, what);
  check_unchanged(&f);
  check_path(&f);
  assert_int_equal(f.m.dependencies->quality.kinds[NAI_DEP_HANDOFF], handoffs);
  float factors[5 * MOST];
  for (uint32_t i = 0; i < f.m.dependencies->call_count; i++)
    factors[i] = strcmp(nai_model_api_name(&f.m, f.m.dependencies->call_api[i]), "cudaMalloc") == 0 ? 0 : 1;
  const int64_t *moved = replay(&f, &(struct nai_scenario){.call_factor = factors});
  int64_t faster = handoffs ? 200 * US : 0;
  assert_int_equal(nai_dep_last_end(&f.m, moved, 0), (rounds - 1) * (ROUND - faster) + 20 * US);
  uint8_t ahead[5 * MOST];
  memset(ahead, 1, sizeof ahead);
  moved = replay(&f, &(struct nai_scenario){.runs_ahead = ahead});
  assert_int_equal(nai_dep_last_end(&f.m, moved, 0), (rounds - 1) * own + 20 * US);
  fixture_free(&f);
}

TEST(test_threads_that_take_turns) {
  check_turns(12, ALTERNATING, 22, 300 * US);                    /* both ways, but for the first calls */
  check_turns(12, ALTERNATING | OS_CALLS | WAKES, 11, 230 * US); /* only where a wait and a signal tell */
  check_turns(12, ALTERNATING | OS_CALLS, 0, ROUND);             /* thread 0 reads a file */
  check_turns(4, ALTERNATING, 0, ROUND);                         /* too few */
  check_turns(12, 0, 0, ROUND);                                  /* each at its own pace */
}

/* A call waits for what any thread launched. */
TEST(test_wait_for_what_another_thread_launched) {
  struct fixture f;
  int32_t p = fixture_begin(&f);
  fixture_thread(&f, p, 11);
  fixture_api(&f, 0, 5 * US, 1, "cudaLaunchKernel", 1);
  fixture_kernel(&f, 8 * US, 108 * US, "k1", 0, p, 7, 1);
  fixture_api(&f, 6 * US, 110 * US, 0, "cudaDeviceSynchronize", 2);
  fixture_api(&f, 160 * US, 165 * US, 0, "cudaLaunchKernel", 3);
  fixture_kernel(&f, 168 * US, 198 * US, "k2", 0, p, 8, 3);
  fixture_build(&f);
  check_unchanged(&f);
  const float factors[] = {0.5f, 1};
  const int64_t *moved = replay(&f, &(struct nai_scenario){.op_factor = factors});
  assert_int_equal(nai_dep_last_end(&f.m, moved, 0), 148 * US);
  fixture_free(&f);
}

/* A queue has 1024 places: a launch returns once the operation that many before it has started. With kernels of 400 us
 * the host runs ahead of them until then. */
TEST(test_launches_wait_for_a_place) {
  enum { LAUNCHES = 1100, FULL = 1024 };
  struct fixture f;
  int32_t p = fixture_begin(&f);
  for (int i = 0; i < LAUNCHES; i++) {
    int64_t start = i * 20 * US;
    fixture_api(&f, start, start + 5 * US, 0, "cudaLaunchKernel", i + 1);
    fixture_kernel(&f, start + 6 * US, start + 16 * US, "k", 0, p, 7, i + 1);
  }
  fixture_build(&f);
  check_unchanged(&f);
  check_path(&f);
  const struct nai_dependencies *d = f.m.dependencies;
  assert_int_equal(d->quality.kinds[NAI_DEP_QUEUE], LAUNCHES - FULL);
  float *factors = calloc(LAUNCHES, sizeof *factors);
  assert_non_null(factors);
  for (int i = 0; i < LAUNCHES; i++)
    factors[i] = 40;
  const int64_t *moved = replay(&f, &(struct nai_scenario){.op_factor = factors});
  int64_t last_start = nai_node_time(d, moved, nai_node_of_op(d, LAUNCHES - 1 - FULL));
  assert_int_equal(last_start, (6 + (LAUNCHES - 1 - FULL) * 400) * US + (LAUNCHES - 1 - FULL) * d->stream_floor[0]);
  assert_int_equal(nai_node_time(d, moved, 2 * (LAUNCHES - 1) + 1), last_start);
  assert_int_equal(nai_node_time(d, moved, 2 * (FULL - 1) + 1), ((FULL - 1) * 20 + 5) * US); /* the last with a place */
  free(factors);
  fixture_free(&f);
}

/* The GPU's clock is 18 us behind: k2 seems to start before its launch, which comes behind a wait for k1. That was kept
 * off the GPU by k2, so k2 would have to wait for itself. */
TEST(test_circle) {
  struct fixture f;
  int32_t p = fixture_begin(&f);
  fixture_api(&f, 0, 5 * US, 0, "cudaLaunchKernel", 1);
  fixture_kernel(&f, 84 * US, 85 * US, "k1", 0, p, 8, 1);
  fixture_api(&f, 10 * US, 90 * US, 0, "cudaStreamSynchronize", 2);
  sync_row(&f, 10 * US, 90 * US, p, 8, 2);
  fixture_api(&f, 100 * US, 105 * US, 0, "cudaLaunchKernel", 3);
  fixture_kernel(&f, 82 * US, 83 * US, "k2", 0, p, 7, 3);
  fixture_build(&f);
  assert_int_equal(f.m.dependencies->quality.kinds[NAI_DEP_DROPPED], 1);
  check_unchanged(&f);
  fixture_free(&f);
}

/* --- random traces ---------------------------------------------------------------------------- */

enum { CALLS = 120, STREAMS = 3 };

/* The clock of GPU 1 is `shift` ahead of the host's. */
static void fill_random(struct fixture *f, uint64_t seed, int64_t shift) {
  int32_t p = fixture_begin(f);
  int64_t host[2] = {100 * US, 100 * US}, busy[STREAMS] = {0};
  f->seed = seed;
  fixture_gpu(f, 1);
  fixture_thread(f, p, 11);
  for (int i = 1; i <= CALLS; i++) {
    int thread = (int)fixture_random(f, 2), stream = (int)fixture_random(f, STREAMS);
    int64_t start = host[thread] + fixture_random(f, 60 * US), end = start + 1 + fixture_random(f, 9 * US);
    if (fixture_random(f, 5) == 0) { /* a wait */
      end = busy[stream] > start ? busy[stream] + fixture_random(f, 6 * US) : end;
      fixture_api(f, start, end, thread, "cudaStreamSynchronize", i);
      sync_row(f, start, end, p, stream, i);
    } else {
      int64_t run = end + fixture_random(f, 30 * US) - 5 * US;
      run = run > busy[stream] ? run : busy[stream] + fixture_random(f, 2 * US);
      busy[stream] = run + fixture_random(f, 100 * US);
      fixture_api(f, start, end, thread, "cudaLaunchKernel", i);
      fixture_kernel(f, run + shift * (stream % 2), busy[stream] + shift * (stream % 2), "k", stream % 2, p, stream, i);
    }
    host[thread] = end;
  }
  fixture_build(f);
}

static bool depends(const struct nai_dependencies *d, const struct nai_scenario *s, uint32_t node) {
  struct nai_dep plain[NAI_PLAIN_DEPS];
  const struct nai_dep_list deps = nai_deps_of(d, node, plain);
  int64_t weight;
  for (const struct nai_dep *dep = deps.v; dep < deps.end; dep++)
    if (nai_dep_weight(&weight, d, s, node, dep))
      return true;
  return false;
}

/* Longest paths by relaxing, without an order. */
static void relax(int64_t *times, const struct nai_dependencies *d, const struct nai_scenario *s) {
  struct nai_dep plain[NAI_PLAIN_DEPS];
  bool moved = true;
  for (uint32_t i = 0; i < d->node_count; i++)
    times[i] = depends(d, s, i) ? INT64_MIN / 2 : d->time[i];
  while (moved) {
    moved = false;
    for (uint32_t i = 0; i < d->node_count; i++) {
      const struct nai_dep_list deps = nai_deps_of(d, i, plain);
      for (const struct nai_dep *dep = deps.v; dep < deps.end; dep++) {
        int64_t weight;
        if (!nai_dep_weight(&weight, d, s, i, dep) || times[dep->from] + weight <= times[i])
          continue;
        times[i] = times[dep->from] + weight;
        moved = true;
      }
    }
  }
}

static void check_scenario(struct fixture *f, const struct nai_scenario *s) {
  const struct nai_dependencies *d = f->m.dependencies;
  const int64_t *moved = replay(f, s);
  int64_t *truth;
  ok(NAI_NEW(truth, &f->m.arena, d->node_count, err));
  relax(truth, d, s);
  for (uint32_t i = 0; i < d->node_count; i++) {
    assert_int_equal(d->time[i] + moved[i], truth[i]);
    assert_true(moved[i] <= 0); /* nothing gets later when things get shorter */
  }
}

TEST(test_random) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    struct fixture f;
    fill_random(&f, seed, ((int64_t)(seed % 3) - 1) * 15 * US);
    check_unchanged(&f);
    check_path(&f);
    float factors[CALLS];
    uint8_t no_wait[CALLS];
    for (int i = 0; i < CALLS; i++) {
      factors[i] = (float)fixture_random(&f, 5) / 4;
      no_wait[i] = fixture_random(&f, 2) == 1;
    }
    check_scenario(&f, &(struct nai_scenario){.op_factor = factors});
    check_scenario(&f, &(struct nai_scenario){.no_wait = no_wait});
    check_scenario(&f, &(struct nai_scenario){.op_factor = factors, .no_wait = no_wait, .host_change = -0.5});
    fixture_free(&f);
  }
}
