/* The dictionary of 64-bit keys against a linear search, and with keys made to collide. */
#include "model_fixture.h"

#include "base/keyset.h"

#include <time.h>

TEST(test_random) {
  struct fixture f = {.seed = 3};
  struct nai_keyset set = {0};
  int64_t known[500];
  uint32_t count = 0;
  for (int i = 0; i < 20000; i++) {
    int64_t key = fixture_random(&f, 500) << fixture_random(&f, 2) * 50;
    uint32_t at = 0;
    bool added;
    while (at < count && known[at] != key)
      at++;
    assert_int_equal(nai_keyset_find(&set, key), at < count ? at : UINT32_MAX);
    if (at == 500)
      continue;
    assert_int_equal(nai_keyset_add(&set, key, &added), at);
    assert_int_equal(added, at == count);
    if (at == count)
      known[count++] = key;
  }
  nai_keyset_free(&set);
}

TEST(test_extremes) {
  struct nai_keyset set = {0};
  bool added;
  assert_int_equal(nai_keyset_find(&set, 0), UINT32_MAX);
  const int64_t keys[] = {0, -1, INT64_MIN, INT64_MAX, 1};
  for (uint32_t i = 0; i < 5; i++)
    assert_int_equal(nai_keyset_add(&set, keys[i], &added), i);
  for (uint32_t i = 0; i < 5; i++)
    assert_int_equal(nai_keyset_find(&set, keys[i]), i);
  nai_keyset_free(&set);
  nai_keyset_free(NULL);
}

/* Keys that differ in a few bits only, wherever those lie, do not pile up. */
TEST(test_shifted) {
  struct timespec began, ended;
  clock_gettime(CLOCK_MONOTONIC, &began);
  for (int shift = 0; shift <= 44; shift += 4) {
    struct nai_keyset set = {0};
    bool added;
    for (int64_t i = 0; i < 100000; i++)
      nai_keyset_add(&set, (int64_t)((uint64_t)i << shift), &added);
    assert_int_equal(set.count, 100000);
    nai_keyset_free(&set);
  }
  clock_gettime(CLOCK_MONOTONIC, &ended);
  assert_true(ended.tv_sec - began.tv_sec < 10);
}
