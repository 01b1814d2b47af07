/* Phases against their definition, applied to every nanosecond. */
#include "model_fixture.h"

#include <stdio.h>
#include <unistd.h>

enum { END = 400, PHASES = 3 };
static const char *const names[] = {"a", "b", "c", "plain", "other"}; /* the first three have a phase */
enum { NAMES = sizeof names / sizeof *names };

struct range {
  int64_t start, end;
  int32_t thread;
  int name;
};

/* Whether range b is inside a where both are open: begun later, or listed later of those begun together. */
static bool is_inner(const struct range *a, const struct range *b) {
  if (a->start != b->start)
    return b->start > a->start;
  return a->end != b->end ? b->end < a->end : b->name > a->name; /* equal names are the same phase */
}

static int phase_at(const struct range *ranges, int n, int32_t thread, int64_t t) {
  const struct range *inner = NULL;
  for (int i = 0; i < n; i++)
    if (ranges[i].thread == thread && ranges[i].start <= t && t < ranges[i].end && ranges[i].name < PHASES &&
        (!inner || is_inner(inner, &ranges[i])))
      inner = &ranges[i];
  return inner ? inner->name : -1;
}

/* Phase of a range: its own, or that in which it starts. */
static int phase_of(const struct range *ranges, int n, const struct range *range) {
  const struct range *inner = NULL;
  if (range->name < PHASES)
    return range->name;
  for (int i = 0; i < n; i++) /* those begun before it, as they are listed */
    if (ranges[i].thread == range->thread && ranges[i].start <= range->start && range->start < ranges[i].end &&
        ranges[i].name < PHASES && is_inner(&ranges[i], range) && (!inner || is_inner(inner, &ranges[i])))
      inner = &ranges[i];
  return inner ? inner->name : -1;
}

/* Phases a, b, c of the ranges called so. */
static struct nai_patterns *phase_map;

static int make_map(void **state) {
  (void)state;
  char path[] = "/tmp/nai-phases-XXXXXX";
  static const char text[] = "a: [\"re:^a$\"]\nb: [\"re:^b$\"]\nc: [\"re:^c$\"]\n";
  int fd = mkstemp(path);
  assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
  close(fd);
  ok(nai_phase_map_load(&phase_map, NULL, path, err));
  unlink(path);
  return 0;
}

static int free_map(void **state) {
  (void)state;
  nai_patterns_free(phase_map);
  return 0;
}

static void check_round(uint64_t seed) {
  enum { RANGES = 30, CALLS = 40, THREADS = 3 };
  struct fixture f;
  struct range ranges[RANGES];
  struct nai_phase_sum expected[PHASES] = {0};
  int64_t longest[PHASES] = {-1, -1, -1};
  fixture_init(&f);
  f.m.phases = phase_map;
  f.seed = seed;
  fixture_gpu(&f, 0);
  int32_t process = fixture_process(&f, 10);
  for (int t = 0; t < THREADS; t++)
    fixture_thread(&f, process, 10 + t);
  for (int i = 0; i < RANGES; i++) {
    int64_t start = fixture_random(&f, END / 2), length = fixture_random(&f, fixture_random(&f, 3) ? 20 : END / 2);
    ranges[i] =
        (struct range){start, start + length, (int32_t)fixture_random(&f, THREADS), (int)fixture_random(&f, NAMES)};
    fixture_nvtx(&f, start, start + length, ranges[i].thread, names[ranges[i].name],
                 fixture_random(&f, 2) ? NAI_NVTX_PUSH_POP : NAI_NVTX_START_END);
  }
  for (int i = 0; i < CALLS; i++) {
    int64_t start = fixture_random(&f, END), length = 1 + fixture_random(&f, 9);
    int32_t thread = (int32_t)fixture_random(&f, THREADS);
    int phase = phase_at(ranges, RANGES, thread, start);
    fixture_api(&f, start, start + 1, thread, "cudaLaunchKernel", i + 1);
    fixture_kernel(&f, start + 5, start + 5 + length, "k", 0, process, 7, i + 1);
    if (phase >= 0) {
      expected[phase].kernel_ns += length;
      expected[phase].kernels++;
    }
  }
  for (int32_t thread = 0; thread < THREADS; thread++)
    for (int64_t t = 0; t < END; t++) {
      int phase = phase_at(ranges, RANGES, thread, t);
      if (phase >= 0)
        expected[phase].wall_ns++;
    }
  for (int i = 0; i < RANGES; i++) {
    int phase = phase_of(ranges, RANGES, &ranges[i]);
    int64_t length = ranges[i].end - ranges[i].start;
    if (phase < 0)
      continue;
    expected[phase].ranges++;
    longest[phase] = length > longest[phase] ? length : longest[phase];
  }
  fixture_build(&f);
  const struct nai_phase_sum *sums = f.m.phase_sums;
  for (int p = 0; p < PHASES; p++) {
    assert_int_equal(sums[p].wall_ns, expected[p].wall_ns);
    assert_int_equal(sums[p].kernel_ns, expected[p].kernel_ns);
    assert_int_equal(sums[p].kernels, expected[p].kernels);
    assert_int_equal(sums[p].ranges, expected[p].ranges);
    uint32_t row = sums[p].longest;
    assert_int_equal(row == NAI_NO_ROW ? -1 : nai_at(&f.m.nvtx.end_ns, row) - nai_at(&f.m.nvtx.start_ns, row),
                     longest[p]);
  }
  fixture_free(&f);
}

TEST(test_random) {
  for (uint64_t seed = 1; seed <= 300; seed++)
    check_round(seed);
}

/* A phase given with nvtx.start_range keeps its kernels when they are launched inside ranges that have none. */
TEST(test_start_end_around_operators) {
  struct fixture f;
  fixture_init(&f);
  f.m.phases = phase_map;
  fixture_gpu(&f, 0);
  int32_t process = fixture_process(&f, 10), thread = fixture_thread(&f, process, 10);
  fixture_nvtx(&f, 0, 100, thread, "a", NAI_NVTX_START_END);
  fixture_nvtx(&f, 10, 50, thread, "plain", NAI_NVTX_PUSH_POP);
  fixture_api(&f, 20, 21, thread, "cudaLaunchKernel", 1);
  fixture_kernel(&f, 30, 37, "k", 0, process, 7, 1);
  fixture_build(&f);
  const struct nai_phase_sum *sum = &f.m.phase_sums[0];
  assert_true(sum->wall_ns == 100 && sum->kernel_ns == 7 && sum->kernels == 1 && sum->ranges == 2);
  fixture_free(&f);
}

UNIT_FIXTURE(make_map, free_map)
