/* The launch join and the grouping of rows against searches through all rows. */
#include "model_fixture.h"

/* Earliest call of the process with that correlation id. */
static uint32_t expected_api(const struct nai_model *m, int64_t process, int64_t correlation) {
  uint32_t best = NAI_NO_ROW;
  for (uint32_t i = 0; i < m->apis.n && correlation != 0 && correlation != NAI_NULL_I64 && process >= 0; i++)
    if (nai_at(&m->apis.correlation_id, i) == correlation &&
        m->thread_process[nai_at_i32(&m->apis.thread, i)] == process &&
        (best == NAI_NO_ROW || nai_at(&m->apis.start_ns, i) < nai_at(&m->apis.start_ns, best)))
      best = i;
  return best;
}

static void check(struct fixture *f) {
  fixture_build(f);
  const struct nai_model *m = &f->m;
  for (uint32_t i = 0; i < m->kernels.n; i++)
    assert_int_equal(m->kernel_api[i],
                     expected_api(m, nai_at_i32(&m->kernels.process, i), nai_at(&m->kernels.correlation_id, i)));
  for (uint32_t i = 0; i < m->memops.n; i++) {
    int migration = nai_at_i32(&m->memops.copy_kind, i) >= 11 && nai_at_i32(&m->memops.copy_kind, i) <= 13;
    assert_int_equal(m->memop_api[i], migration ? NAI_NO_ROW
                                                : expected_api(m, nai_at_i32(&m->memops.process, i),
                                                               nai_at(&m->memops.correlation_id, i)));
  }
  for (uint32_t i = 0; i < m->graphs.n; i++)
    assert_int_equal(m->graph_api[i],
                     expected_api(m, nai_at_i32(&m->graphs.process, i), nai_at(&m->graphs.correlation_id, i)));
  for (uint32_t a = 0; a < m->apis.n; a++) {
    int owns = 0;
    for (uint32_t i = 0; i < m->kernels.n; i++)
      owns |= m->kernel_api[i] == a ? 1 << NAI_OP_KERNEL : 0;
    for (uint32_t i = 0; i < m->memops.n; i++)
      owns |=
          m->memop_api[i] == a ? 1 << (nai_at_i32(&m->memops.kind, i) == NAI_MEMOP_SET ? NAI_OP_SET : NAI_OP_COPY) : 0;
    for (uint32_t i = 0; i < m->graphs.n; i++)
      owns |= m->graph_api[i] == a ? 1 << NAI_OP_GRAPH : 0;
    assert_int_equal(m->api_owns[a], owns);
  }
  for (uint32_t t = 0; t < m->thread_count; t++) {
    const struct nai_groups *g = &m->api_by_thread;
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->apis.n; i++)
      n += nai_at_i32(&m->apis.thread, i) == (int32_t)t;
    assert_int_equal(g->first[t + 1] - g->first[t], n);
    for (uint32_t i = g->first[t]; i < g->first[t + 1]; i++) {
      uint32_t a = g->order[i], b = i + 1 < g->first[t + 1] ? g->order[i + 1] : NAI_NO_ROW;
      assert_int_equal(nai_at_i32(&m->apis.thread, a), t);
      if (b == NAI_NO_ROW)
        continue;
      int names = strcmp(nai_model_api_name(m, a), nai_model_api_name(m, b));
      assert_true(
          nai_at(&m->apis.start_ns, a) < nai_at(&m->apis.start_ns, b) ||
          (nai_at(&m->apis.start_ns, a) == nai_at(&m->apis.start_ns, b) &&
           (nai_at(&m->apis.end_ns, a) > nai_at(&m->apis.end_ns, b) ||
            (nai_at(&m->apis.end_ns, a) == nai_at(&m->apis.end_ns, b) && (names < 0 || (names == 0 && a < b))))));
    }
  }
}

static int64_t draw_id(struct fixture *f, int style) {
  static const int64_t odd[] = {0, NAI_NULL_I64, INT64_MAX, INT64_MIN + 1, -1, -5, (int64_t)1 << 40, 4294967295};
  if (fixture_random(f, 12) == 0)
    return style == 2 ? odd[fixture_random(f, 8)] : odd[fixture_random(f, 2)];
  return style == 1 ? fixture_random(f, 1000) * 1000003 : fixture_random(f, 120); /* sparse, or dense with repeats */
}

TEST(test_random) {
  for (int round = 0; round < 300; round++) {
    struct fixture f;
    static const char *const names[] = {"cudaLaunchKernel", "cudaMemcpy", "cuLaunchKernel"};
    fixture_init(&f);
    f.seed = (uint64_t)round + 99;
    fixture_gpu(&f, 0);
    for (int p = 0; p < 3; p++)
      fixture_process(&f, 10 + p);
    for (int t = 0; t < 5; t++)
      fixture_thread(&f, t == 4 ? -1 : t % 3, 20 + t);
    for (int64_t i = fixture_random(&f, 200); i > 0; i--) {
      int64_t start = fixture_random(&f, 50);
      fixture_api(&f, start, start + fixture_random(&f, 3), fixture_random(&f, 5), names[fixture_random(&f, 3)],
                  draw_id(&f, round % 3));
    }
    for (int64_t i = fixture_random(&f, 100); i > 0; i--) {
      int64_t process = fixture_random(&f, 4) - 1;
      fixture_kernel(&f, 60, 61, "k", 0, process, 7, draw_id(&f, round % 3));
      fixture_memop(&f, 60, 61, fixture_random(&f, 2) ? NAI_MEMOP_SET : NAI_MEMOP_COPY, 0, process, 7,
                    draw_id(&f, round % 3), 1, fixture_random(&f, 16), 1, 2);
      fixture_graph(&f, 60, 61, 0, process, 7, draw_id(&f, round % 3));
    }
    check(&f);
    fixture_free(&f);
  }
}

TEST(test_dense) {
  struct fixture f;
  fixture_init(&f);
  fixture_gpu(&f, 0);
  for (int p = 0; p < 2; p++)
    fixture_thread(&f, fixture_process(&f, 10 + p), 1);
  for (int i = 1; i < 400; i++)
    for (int t = 0; t < 2; t++) {
      fixture_api(&f, 10 * i + t, 10 * i + 5, t, "cudaLaunchKernel", i);
      fixture_kernel(&f, 10 * i + 6, 10 * i + 7, "k", 0, t, 7, i);
    }
  check(&f);
  fixture_free(&f);
}
