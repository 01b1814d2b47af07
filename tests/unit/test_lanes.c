/* Lanes: every event is in one lane, that of its place, in start order. */
#include "model_fixture.h"

#include <stdio.h>

enum { EVENTS = 4000, STREAMS = 700, OWN_LANES = 512 };

static const struct nai_column *column(const struct nai_model *m, const struct nai_lane *lane, char which) {
  switch (lane->kind) {
  case NAI_LANE_KERNEL:
    return which == 'd' ? &m->kernels.device_id : which == 'p' ? &m->kernels.process : &m->kernels.stream_id;
  case NAI_LANE_COPY:
  case NAI_LANE_SET:
    return which == 'd' ? &m->memops.device_id : which == 'p' ? &m->memops.process : &m->memops.stream_id;
  case NAI_LANE_GRAPH:
    return which == 'd' ? &m->graphs.device_id : which == 'p' ? &m->graphs.process : &m->graphs.stream_id;
  default:
    return NULL;
  }
}

static void check_place(const struct nai_model *m, const struct nai_lane *lane, uint32_t row) {
  const struct nai_column *device = column(m, lane, 'd');
  if (lane->gpu >= 0) {
    assert_int_equal(nai_at_i32(device, row), lane->gpu);
    assert_int_equal(lane->thread, -1);
    if (lane->process >= 0) { /* not a shared one */
      assert_int_equal(nai_at_i32(column(m, lane, 'p'), row), lane->process);
      assert_int_equal(nai_at_i32(column(m, lane, 's'), row), lane->stream);
    }
  } else {
    assert_int_equal(nai_at_i32(lane->kind == NAI_LANE_API ? &m->apis.thread : &m->nvtx.thread, row), lane->thread);
    assert_int_equal(lane->process, m->thread_process[lane->thread]);
  }
  if (lane->kind == NAI_LANE_COPY || lane->kind == NAI_LANE_SET)
    assert_int_equal(nai_at_i32(&m->memops.kind, row), lane->kind == NAI_LANE_SET ? NAI_MEMOP_SET : NAI_MEMOP_COPY);
  if (lane->kind == NAI_LANE_NVTX || lane->kind == NAI_LANE_NVTX_ASYNC)
    assert_int_equal(nai_at_i32(&m->nvtx.kind, row),
                     lane->kind == NAI_LANE_NVTX ? NAI_NVTX_PUSH_POP : NAI_NVTX_START_END);
}

/* seen[row of the lane's table] is set; fails when it was. */
static void check_lane(const struct nai_model *m, const struct nai_lane *lane, bool *seen) {
  const struct nai_column *start, *end;
  nai_lane_times(&start, &end, m, lane->kind);
  assert_true(lane->count > 0);
  for (uint32_t i = 0; i < lane->count; i++) {
    uint32_t row = lane->rows[i];
    assert_false(seen[row]);
    seen[row] = true;
    check_place(m, lane, row);
    if (i)
      assert_true(nai_at(start, lane->rows[i - 1]) <= nai_at(start, row));
  }
}

static void check_lanes(const struct nai_model *m) {
  enum { KERNELS, MEMOPS, GRAPHS, CALLS, RANGES, TABLES };
  static const int table_of[] = {
      [NAI_LANE_API] = CALLS,    [NAI_LANE_KERNEL] = KERNELS, [NAI_LANE_COPY] = MEMOPS,      [NAI_LANE_SET] = MEMOPS,
      [NAI_LANE_GRAPH] = GRAPHS, [NAI_LANE_NVTX] = RANGES,    [NAI_LANE_NVTX_ASYNC] = RANGES};
  static bool seen[TABLES][EVENTS];
  uint64_t total = 0, marks = 0;
  memset(seen, 0, sizeof seen);
  for (uint32_t i = 0; i < m->lanes.count; i++) {
    check_lane(m, &m->lanes.v[i], seen[table_of[m->lanes.v[i].kind]]);
    total += m->lanes.v[i].count;
  }
  for (uint32_t i = 0; i < m->nvtx.n; i++)
    marks += nai_at_i32(&m->nvtx.kind, i) == NAI_NVTX_MARK;
  assert_int_equal(total, m->lanes.total);
  assert_int_equal(total, m->kernels.n + m->memops.n + m->graphs.n + m->apis.n + m->nvtx.n - marks);
}

static void fill(struct fixture *f, int threads, int streams) {
  static const int kinds[] = {NAI_NVTX_PUSH_POP, NAI_NVTX_PUSH_POP, NAI_NVTX_START_END, NAI_NVTX_MARK};
  for (int t = 0; t < threads; t++)
    fixture_thread(f, fixture_process(f, 10 + t), 100 + t);
  fixture_gpu(f, 0);
  fixture_gpu(f, 1);
  for (int i = 0; i < EVENTS; i++) {
    int64_t at = fixture_random(f, 100000), gpu = fixture_random(f, 2), stream = fixture_random(f, streams);
    int64_t thread = fixture_random(f, threads);
    switch (fixture_random(f, 5)) {
    case 0:
      fixture_kernel(f, at, at + 3, "k", gpu, thread, stream, i);
      break;
    case 1:
      fixture_memop(f, at, at + 3, fixture_random(f, 2) ? NAI_MEMOP_COPY : NAI_MEMOP_SET, gpu, thread, stream, i, 1, 1,
                    0, 2);
      break;
    case 2:
      fixture_graph(f, at, at + 3, gpu, thread, stream, i);
      break;
    case 3:
      fixture_api(f, at, at + 1, thread, "cudaLaunchKernel", i);
      break;
    default: /* of the last thread push/pop ranges only */
      fixture_nvtx(f, at, at + 5, thread, "r", thread == threads - 1 ? NAI_NVTX_PUSH_POP : kinds[fixture_random(f, 4)]);
    }
  }
}

TEST(test_every_event) {
  struct fixture f;
  fixture_init(&f);
  fill(&f, 3, 4);
  fixture_build(&f);
  check_lanes(&f.m);
  int kinds[NAI_LANE_NVTX_ASYNC + 1] = {0};
  for (uint32_t i = 0; i < f.m.lanes.count; i++)
    kinds[f.m.lanes.v[i].kind]++;
  assert_int_equal(kinds[NAI_LANE_API], 3);
  assert_int_equal(kinds[NAI_LANE_KERNEL], 2 * 3 * 4);
  assert_int_equal(kinds[NAI_LANE_NVTX], 3);
  assert_int_equal(kinds[NAI_LANE_NVTX_ASYNC], 2);
  fixture_free(&f);
}

/* Streams beyond the first ones share a lane per kind. */
TEST(test_many_streams) {
  struct fixture f;
  fixture_init(&f);
  fill(&f, 2, STREAMS);
  fixture_build(&f);
  check_lanes(&f.m);
  for (uint32_t g = 0; g < 2; g++) {
    int own = 0, shared = 0;
    for (uint32_t i = 0; i < f.m.lanes.count; i++)
      if (f.m.lanes.v[i].gpu == (int32_t)g)
        *(f.m.lanes.v[i].process < 0 ? &shared : &own) += 1;
    assert_int_equal(own, OWN_LANES);
    assert_true(shared > 0 && shared <= 4);
  }
  fixture_free(&f);
}

TEST(test_nothing) {
  struct fixture f;
  fixture_init(&f);
  fixture_build(&f);
  assert_int_equal(f.m.lanes.count, 0);
  assert_int_equal(f.m.lanes.total, 0);
  fixture_free(&f);
}
