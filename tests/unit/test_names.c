/* Names on their way into the tables: canonical forms, missing texts, cleaning, length. */
#include "model_fixture.h"

#include "trace/names.h"

#include <stdio.h>

static const char *canonical(struct nai_part *p, const char *text, enum nai_name_kind kind) {
  return nai_strings_get(&p->names, nai_name_by_text(p, text, strlen(text), kind));
}

static void part_free(struct nai_part *p) {
  nai_strings_free(&p->names);
  nai_strings_free(&p->raw);
  nai_strings_free(&p->sizes);
  nai_keyset_free(&p->name_ids);
  nai_arena_free(&p->reading);
  nai_arena_free(&p->arena);
}

TEST(test_api) {
  static const char *const cases[][2] = {{"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
                                         {"cudaLaunchKernelExC_v11060", "cudaLaunchKernelExC"},
                                         {"cudaMemcpyAsync_ptsz_v7000", "cudaMemcpyAsync"},
                                         {"cudaMemcpy_ptds_v7000", "cudaMemcpy"},
                                         {"cudaStreamGetCaptureInfo_v2_v11030", "cudaStreamGetCaptureInfo_v2"},
                                         {"cuMemcpyHtoD_v2", "cuMemcpyHtoD_v2"},
                                         {"cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD_v2"},
                                         {"cuLaunchKernel_ptsz", "cuLaunchKernel"},
                                         {"x_v123", "x_v123"},
                                         {"x_v123456", "x_v123456"},
                                         {"_v7000", "_v7000"},
                                         {"_ptsz", "_ptsz"},
                                         {"", ""},
                                         {"7000", "7000"},
                                         {"a_v7000_v7000", "a_v7000"}};
  struct nai_part p = {0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(canonical(&p, cases[i][0], NAI_NAME_API), cases[i][1]);
  part_free(&p);
}

static uint32_t range_name(struct nai_part *p, const char *text, struct nai_suffix *suffix) {
  *suffix = NAI_NO_SUFFIX;
  return nai_range_by_text(suffix, p, text, strlen(text));
}

TEST(test_suffix) {
  static const struct {
    const char *text;
    int64_t seq;
    const char *sizes;
    bool lost;
  } cases[] = {
      {"aten::mm", NAI_NULL_I64, NULL, false},
      {"aten::mm, seq = 5", 5, NULL, false},
      {"aten::mm, op_id = 0", NAI_NULL_I64, NULL, false},
      {"f(a, b), seq = 12, op_id = 34, sizes = [[8, 16], []], input_op_ids = [(1,0)]", 12, "[[8, 16], []]", true},
      {"a, sizes = [], op_id = 7", NAI_NULL_I64, "[]", true},
      {"a, sizes = [[1, 2]", NAI_NULL_I64, NULL, true},
      {"a, sizes = x", NAI_NULL_I64, NULL, true},
      {"a, seq = 999999999999999999", 999999999999999999, NULL, false},
      {"a, seq = 9999999999999999999, op_id = 3", NAI_NULL_I64, NULL, true},
      {"a, seq = -1, op_id = 3", NAI_NULL_I64, NULL, true},
      {"a, seq = 0", 0, NULL, false},
      {"a, seq = 1234567", 1234567, NULL, false},
      {"a, seq = 12345678, op_id = 12345678, sizes = [1]", 12345678, "[1]",
       false}, /* a word of digits, and a digit more */
      {"a, seq = 123456789, op_id = 1234567890123456789, sizes = [2]", 123456789, "[2]", true},
      {"a, seq = 987654321012345678, op_id = 3", 987654321012345678, NULL, false},
      {"a, seq = 1234567890123456789, op_id = 3, sizes = [3]", NAI_NULL_I64, "[3]", true},
      {"a, seq = 17x, op_id = 3, sizes = [4]", 17, NULL, true},
      {"a, op_id = 17/, sizes = [5]", NAI_NULL_I64, NULL, true},
      {"a, op_id = 17:, sizes = [6]", NAI_NULL_I64, NULL, true},
      {"a, seq = 1, seq = 2", 2, NULL, true},
      {"a, other = 1, seq = 2", 2, NULL, false},
      {"a, sizes = [[1]]\n", NAI_NULL_I64, "[[1]]", true},
      {"a, sizes = [[\n]]", NAI_NULL_I64, NULL, true},
      {"a, op_id = 07", NAI_NULL_I64, NULL, true},
      {"a, op_id = 7, op_id = 7", NAI_NULL_I64, NULL, true},
      {"a, seq = 5, ", 5, NULL, true},
      {"a, seq = 5, op_id = 7, sizes = [[2, 3]]", 5, "[[2, 3]]", false},
  };
  struct nai_part p = {0};
  struct nai_suffix suffix;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    range_name(&p, cases[i].text, &suffix);
    assert_int_equal(suffix.seq, cases[i].seq);
    assert_int_equal(suffix.lost, cases[i].lost);
    assert_int_equal(suffix.sizes == NAI_NO_STRING, cases[i].sizes == NULL);
    if (cases[i].sizes)
      assert_string_equal(nai_strings_get(&p.sizes, suffix.sizes), cases[i].sizes);
  }
  part_free(&p);
}

/* Texts of sizes beyond the limit are not kept, and it is said that they are not. */
TEST(test_many_sizes) {
  struct nai_part p = {0};
  struct nai_suffix suffix;
  char text[64];
  for (int i = 0; i < NAI_MAX_SIZES + 100; i++) {
    assert_int_equal(p.too_many_sizes, i > NAI_MAX_SIZES);
    snprintf(text, sizeof text, "a, sizes = [[%d]]", i);
    range_name(&p, text, &suffix);
  }
  assert_int_equal(p.sizes.count, NAI_MAX_SIZES + 1);
  assert_false(p.oom);
  part_free(&p);
}

TEST(test_nvtx) {
  static const char *const cases[][2] = {{"aten::mm, seq = 5, op_id = 9", "aten::mm"},
                                         {"aten::mm, op_id = 9", "aten::mm"},
                                         {"aten::mm, sizes = [[1, 2]]", "aten::mm"},
                                         {"f(a, b), seq = 1", "f(a, b)"},
                                         {"a,seq = 1", "a,seq = 1"},
                                         {"a, seq=1", "a, seq=1"},
                                         {"a, ", "a, "},
                                         {"a,", "a,"},
                                         {", seq = 1", ""},
                                         {",, op_id = 1", ","},
                                         {"a, seq =", "a, seq ="}};
  struct nai_part p = {0};
  struct nai_suffix suffix;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(nai_strings_get(&p.names, range_name(&p, cases[i][0], &suffix)), cases[i][1]);
  /* Texts that are unique per call are kept once. */
  uint32_t before = p.raw.count;
  for (int i = 0; i < 1000; i++) {
    char text[64];
    snprintf(text, sizeof text, "aten::add, op_id = %d", i);
    range_name(&p, text, &suffix);
  }
  assert_int_equal(p.raw.count, before + 1);
  part_free(&p);
}

TEST(test_hostile) {
  struct nai_part p = {0};
  assert_string_equal(canonical(&p, "a\nb\tc", NAI_NAME_PLAIN), "a b c");
  uint32_t nul = nai_name_by_text(&p, "a\0b", 3, NAI_NAME_PLAIN);
  assert_true(strlen(nai_strings_get(&p.names, nul)) > 1);
  assert_string_equal(nai_strings_get(&p.names, nai_name_missing(&p, -1)), "#-1");
  /* Long names keep their beginning and stay different. */
  char *a = malloc(100001), *b = malloc(100001);
  memset(a, 'x', 100000), memset(b, 'x', 100000);
  a[100000] = b[100000] = '\0';
  b[99999] = 'y';
  uint32_t first = nai_name_by_text(&p, a, 100000, NAI_NAME_PLAIN),
           second = nai_name_by_text(&p, b, 100000, NAI_NAME_PLAIN);
  assert_int_not_equal(first, second);
  assert_true(nai_strings_len(&p.names, first) < 9000);
  assert_int_equal(first, nai_name_by_text(&p, a, 100000, NAI_NAME_PLAIN));
  free(a);
  free(b);
  part_free(&p);
}
