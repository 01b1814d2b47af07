/* Kernel names level by level, and matching of two sides: every kernel in one row, every ns counted once. */
#include "unit.h"

#include "features/compare/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void is_key(void (*level)(struct nai_buf *, const char *, size_t), const char *name, const char *want) {
  struct nai_buf out = {0};
  size_t len = strlen(name);
  char *alone = malloc(len + 1); /* a sanitizer sees what is read before or behind it */
  assert_non_null(alone);
  memcpy(alone, name, len + 1);
  level(&out, alone, len);
  if (strcmp(nai_buf_str(&out), want) != 0)
    fail_msg("%s\n  gives %s\n  wants %s", name, nai_buf_str(&out), want);
  free(alone);
  nai_buf_free(&out);
}

static struct nai_arena arena = NAI_ARENA(NULL); /* of the matches of a test */

static int free_matches(void **state) {
  (void)state;
  nai_arena_free(&arena);
  arena = (struct nai_arena)NAI_ARENA(NULL);
  return 0;
}

TEST_WITH(toolchain, NULL, free_matches) {
  static const char *const cases[][2] = {
      {"triton_poi_fused_add_mul_17", "triton_poi_fused_add_mul"},
      {"triton_poi_fused_add_mul_4", "triton_poi_fused_add_mul"},
      {"triton_red_fused__softmax_3", "triton_red_fused__softmax"},
      {"triton_poi_fused_add_c4f3a9b2d1e0_17", "triton_poi_fused_add"},
      {"_layer_norm_fwd_kernel__0d1d2de3de", "_layer_norm_fwd_kernel"},
      {"matmul_kernel_0d1d2d3de4c", "matmul_kernel"},
      {"void f<(int)4, (bool)0>(int)", "f<4,0>(int)"},
      {"f<4, false>(int)", "f<4,0>(int)"},
      {"f<4ul, 16u>(T *)", "f<4,16>(T*)"},
      {"f<(unsigned long)4, 16>(T*)", "f<4,16>(T*)"},
      {"at::native::<unnamed>::g<float>()", "at::native::(anonymous)::g<float>()"},
      {"at::native::(anonymous namespace)::g<float>()", "at::native::(anonymous)::g<float>()"},
      {"f[abi:cxx11](int)", "f(int)"},
      {"f<a<b> >()", "f<a<b>>()"},
      {"kernel_0x7f001234", "kernel_0x7f001234"}, /* inside of a word it may be anything */
      {"ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"},
      {"gemm_d1", "gemm_d1"},
      {"", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    is_key(nai_kernel_key_toolchain, cases[i][0], cases[i][1]);
}

TEST_WITH(tuning, NULL, free_matches) {
  static const char *const cases[][2] = {
      {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", "nvjet_tst_bias_TNN"},
      {"nvjet_tst_96x64_64x10_1x2_h_bz_bias_TNN", "nvjet_tst_bias_TNN"},
      {"nvjet_tst_96x64_64x10_1x2_h_bz_TNN", "nvjet_tst_TNN"},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)", "ncclDevKernel_AllReduce_Sum_bf16"},
      {"ncclDevKernel_AllReduce_Sum_bf16_TREE_LL128(ncclDevKernelArgsStorage<4096>)",
       "ncclDevKernel_AllReduce_Sum_bf16"},
      {"sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel",
       "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_kernel"},
      {"cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8",
       "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_tn"},
      {"ampere_sgemm_128x64_nn", "ampere_sgemm_nn"},
      {"f<4,float>(int, T2)", "f<#,float>"},
      {"g<h<-1>,k[lambda(float) (instance 3)]>(int)", "g<h<#>,k[lambda(float)]>"},
      {"g<{lambda(float)#2}>(int)", "g<{lambda(float)}>"},
      {"float4_copy", "float4_copy"},
      {"f(int)", "f"},
      {"operator()(int)", "operator()(int)"},
      {"f::operator()() const", "f::operator()() const"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    is_key(nai_kernel_key_tuning, cases[i][0], cases[i][1]);
  assert_string_equal(nai_kernel_key_type("nvjet_bf16"), "bf16");
  assert_string_equal(nai_kernel_key_type("vectorized<at::native::f<c10::Half>>"), "f16");
  assert_string_equal(nai_kernel_key_type("nothing"), "");
}

/* --- matching --------------------------------------------------------------------------------- */

static struct nai_kernel_uses uses_of(const struct nai_kernel_use *list, uint32_t count, double steps) {
  return (struct nai_kernel_uses){(struct nai_kernel_use *)list, count, steps};
}

static struct nai_match match(const struct nai_kernel_use *a, uint32_t n, const struct nai_kernel_use *b, uint32_t m) {
  const struct nai_kernel_uses uses[NAI_SIDES] = {uses_of(a, n, 1), uses_of(b, m, 1)};
  struct nai_match out;
  assert_int_equal(nai_match_kernels(&out, uses, NULL, NULL, &arena, NULL), 0);
  return out;
}

static int64_t base_ns(const struct nai_match_row *row) { return row->of[NAI_BASE].ns; }
static int64_t candidate_ns(const struct nai_match_row *row) { return row->of[NAI_CANDIDATE].ns; }
static int64_t delta(const struct nai_match_row *row) { return candidate_ns(row) - base_ns(row); }

/* Each kernel is in one row, and rows add up. */
static void check_closed(const struct nai_match *m, const struct nai_kernel_use *a, uint32_t n,
                         const struct nai_kernel_use *b, uint32_t k) {
  int64_t sums[4] = {0}, want[2] = {0};
  unsigned char *seen = calloc((size_t)n + k + 1, 1);
  for (uint32_t i = 0; i < n; i++)
    want[0] += a[i].ns;
  for (uint32_t i = 0; i < k; i++)
    want[1] += b[i].ns;
  for (uint32_t i = 0; i < m->count; i++) {
    const struct nai_match_row *row = &m->rows[i];
    int64_t own[2] = {0};
    for (int s = 0; s < NAI_SIDES; s++) {
      for (uint32_t j = 0; j < row->of[s].count; j++) {
        uint32_t at = m->members[s][row->of[s].first + j];
        own[s] += (s ? b : a)[at].ns;
        assert_int_equal(seen[(s ? n : 0) + at]++, 0);
      }
      assert_int_equal(own[s], row->of[s].ns);
      sums[s] += row->of[s].ns;
    }
  }
  for (uint32_t i = 0; i < n + k; i++)
    assert_int_equal(seen[i], 1);
  assert_int_equal(sums[0], want[0]);
  assert_int_equal(sums[1], want[1]);
  assert_int_equal(m->ns[NAI_BASE], want[0]);
  assert_int_equal(m->ns[NAI_CANDIDATE], want[1]);
  for (int level = 0; level < NAI_LEVEL_COUNT; level++)
    sums[2] += m->level_ns[level];
  assert_int_equal(sums[2] + m->only_ns, want[0] + want[1]);
  free(seen);
}

static const struct nai_match_row *only_row(const struct nai_match *m) {
  assert_int_equal(m->count, 1);
  return &m->rows[0];
}

#define N(list) ((uint32_t)(sizeof(list) / sizeof *(list)))

TEST_WITH(indices_renumbered, NULL, free_matches) {
  static const struct nai_kernel_use a[] = {{"triton_poi_fused_add_1", "elementwise", "fwd", 10, 100},
                                            {"triton_red_fused_sum_2", "reduction", "fwd", 10, 50}};
  static const struct nai_kernel_use b[] = {{"triton_red_fused_sum_1", "reduction", "fwd", 10, 50},
                                            {"triton_poi_fused_add_7", "elementwise", "fwd", 10, 120}};
  struct nai_match m = match(a, N(a), b, N(b));
  check_closed(&m, a, N(a), b, N(b));
  assert_int_equal(m.count, 2);
  for (uint32_t i = 0; i < 2; i++) {
    assert_int_equal(m.rows[i].state, NAI_MATCH_RENAMED);
    assert_int_equal(m.rows[i].level, NAI_LEVEL_TOOLCHAIN);
  }
  assert_int_equal(delta(&m.rows[0]), 20);
}

/* Two GEMMs of one group: the one with the same name is matched first, only the other is a variant. */
TEST_WITH(retuned, NULL, free_matches) {
  static const struct nai_kernel_use a[] = {{"nvjet_tst_192x192_64x4_2x1_v_bz_bias_TNN", "gemm", "q", 5, 500},
                                            {"nvjet_tst_128x128_64x4_2x1_v_bz_bias_TNN", "gemm", "k", 5, 300}};
  static const struct nai_kernel_use b[] = {{"nvjet_tst_192x192_64x4_2x1_v_bz_bias_TNN", "gemm", "q", 5, 500},
                                            {"nvjet_tst_96x64_64x10_1x2_h_bz_bias_TNN", "gemm", "k", 5, 350}};
  struct nai_match m = match(a, N(a), b, N(b));
  check_closed(&m, a, N(a), b, N(b));
  assert_int_equal(m.count, 2);
  assert_int_equal(m.rows[0].state, NAI_MATCH_KERNEL);
  assert_int_equal(m.rows[1].state, NAI_MATCH_RETUNED);
  assert_int_equal(delta(&m.rows[1]), 50);
}

TEST_WITH(fused, NULL, free_matches) {
  static const struct nai_kernel_use a[] = {{"mul", "elementwise", "act", 10, 100},
                                            {"add", "elementwise", "act", 10, 90},
                                            {"cast", "elementwise", "act", 10, 80}};
  static const struct nai_kernel_use b[] = {{"gelu_fused", "elementwise", "act", 10, 110}};
  struct nai_match m = match(a, N(a), b, N(b));
  check_closed(&m, a, N(a), b, N(b));
  assert_int_equal(only_row(&m)->state, NAI_MATCH_MERGED);
  assert_int_equal(only_row(&m)->level, NAI_LEVEL_PLACE);
  assert_int_equal(delta(only_row(&m)), -160);
  m = match(b, N(b), a, N(a)); /* the other way around */
  assert_int_equal(only_row(&m)->state, NAI_MATCH_SPLIT);
  assert_int_equal(delta(only_row(&m)), 160);
}

/* Without NVTX: by category, only where launches say so. */
TEST_WITH(without_places, NULL, free_matches) {
  static const struct nai_kernel_use a[] = {{"mul", "elementwise", "", 10, 100}, {"add", "elementwise", "", 10, 90}};
  static const struct nai_kernel_use b[] = {{"gelu_fused", "elementwise", "", 10, 110}};
  static const struct nai_kernel_use c[] = {{"other", "elementwise", "", 3, 110}};
  struct nai_match m = match(a, N(a), b, N(b));
  assert_int_equal(only_row(&m)->state, NAI_MATCH_MERGED);
  assert_int_equal(only_row(&m)->level, NAI_LEVEL_CATEGORY);
  m = match(a, N(a), c, N(c));
  check_closed(&m, a, N(a), c, N(c));
  assert_int_equal(m.count, 3); /* only here, only there: nothing is filled up with 0 */
  for (uint32_t i = 0; i < 3; i++)
    assert_true(m.rows[i].state == NAI_MATCH_ONLY_BASE || m.rows[i].state == NAI_MATCH_ONLY_CANDIDATE);
}

TEST_WITH(spelling, NULL, free_matches) {
  static const struct nai_kernel_use a[] = {{"void at::native::<unnamed>::k<(int)4>(int)", "copy", "", 1, 10}};
  static const struct nai_kernel_use b[] = {{"at::native::(anonymous namespace)::k<4>(int)", "copy", "", 1, 10}};
  struct nai_match m = match(a, 1, b, 1);
  assert_int_equal(only_row(&m)->state, NAI_MATCH_RENAMED);
}

/* The same template, two functors: one is slower, and its row alone moves. */
TEST_WITH(functors, NULL, free_matches) {
  static const struct nai_kernel_use a[] = {{"vectorized<4, AddFunctor<float>>(int)", "elementwise", "", 10, 100},
                                            {"vectorized<4, MulFunctor<float>>(int)", "elementwise", "", 10, 100}};
  static const struct nai_kernel_use b[] = {{"vectorized<4, AddFunctor<float>>(int)", "elementwise", "", 10, 100},
                                            {"vectorized<4, MulFunctor<float>>(int)", "elementwise", "", 10, 170}};
  struct nai_match m = match(a, 2, b, 2);
  assert_int_equal(m.count, 2);
  assert_int_equal(delta(&m.rows[0]), 70);
  assert_int_equal(delta(&m.rows[1]), 0);
}

static const char *rename_all(const void *ctx, const char *name) {
  (void)ctx;
  return strncmp(name, "mine_", 5) == 0 ? "mine" : NULL;
}

TEST_WITH(aliases, NULL, free_matches) {
  static const struct nai_kernel_use a[] = {{"mine_v1_zq", "other", "", 1, 10}};
  static const struct nai_kernel_use b[] = {{"mine_w2", "other", "", 7, 70}};
  const struct nai_kernel_uses uses[NAI_SIDES] = {uses_of(a, 1, 1), uses_of(b, 1, 7)};
  struct nai_match m;
  assert_int_equal(nai_match_kernels(&m, uses, rename_all, NULL, &arena, NULL), 0);
  assert_int_equal(only_row(&m)->level, NAI_LEVEL_NAME);
}

/* Kernels whose launches lie before the capture have no path: more of them on one side make no place shorter. */
TEST_WITH(unknown_places, NULL, free_matches) {
  static const struct nai_kernel_use a[] = {{"attend", "attention", "block", 20, 200},
                                            {"attend", "attention", "", 10, 100},
                                            {"gemm", "gemm", "q", 20, 50},
                                            {"gemm", "gemm", "k", 20, 60},
                                            {"norm", "norm", "", 4, 9},
                                            {"rope", "other", "block", 30, 7}};
  static const struct nai_kernel_use b[] = {{"attend", "attention", "block", 26, 260},
                                            {"attend", "attention", "", 3, 30},
                                            {"gemm", "gemm", "q", 20, 55},
                                            {"gemm", "gemm", "k", 20, 66},
                                            {"norm", "norm", "block", 4, 8},
                                            {"rope", "other", "", 30, 7}};
  struct nai_match m = match(a, N(a), b, N(b));
  check_closed(&m, a, N(a), b, N(b));
  assert_int_equal(m.count, 5); /* places of the GEMMs are known, and stay */
  for (uint32_t i = 0; i < m.count; i++) {
    assert_int_equal(m.rows[i].state, NAI_MATCH_KERNEL);
    assert_int_equal(m.rows[i].level, NAI_LEVEL_NAME);
  }
  assert_int_equal(m.rows[0].of[NAI_BASE].launches, 30);
  assert_int_equal(m.rows[0].of[NAI_CANDIDATE].launches, 29);
}

/* As many without a path on both sides: their places are compared. */
TEST_WITH(places_unknown_alike, NULL, free_matches) {
  static const struct nai_kernel_use a[] = {{"k", "other", "p", 20, 200}, {"k", "other", "", 10, 100}};
  static const struct nai_kernel_use b[] = {{"k", "other", "p", 30, 300}, {"k", "other", "", 10, 100}};
  struct nai_match m = match(a, N(a), b, N(b));
  assert_int_equal(m.count, 2);
  assert_int_equal(delta(&m.rows[0]), 100);
}

/* One side runs two variants of what the other does with one: no variant is gone, unless the other's calls stay. */
TEST_WITH(variants_of_one_side, NULL, free_matches) {
  static const struct nai_kernel_use a[] = {{"hist(int *)", "other", "", 11, 8},
                                            {"hist(unsigned int *)", "other", "", 89, 55}};
  static const struct nai_kernel_use b[] = {{"hist(int *)", "other", "", 100, 80}};
  static const struct nai_kernel_use c[] = {{"hist(int *)", "other", "", 11, 8}};
  struct nai_match m = match(a, N(a), b, N(b));
  check_closed(&m, a, N(a), b, N(b));
  assert_int_equal(only_row(&m)->level, NAI_LEVEL_TUNING);
  assert_int_equal(only_row(&m)->state, NAI_MATCH_MERGED);
  m = match(a, N(a), c, N(c));
  assert_int_equal(m.count, 2);
  assert_int_equal(m.rows[0].state, NAI_MATCH_ONLY_BASE);
  assert_false(m.rows[0].is_elsewhere);
}

/* Gone from a place, but not gone. */
TEST_WITH(another_place, NULL, free_matches) {
  static const struct nai_kernel_use a[] = {{"k", "other", "p", 20, 200}, {"k", "other", "q", 10, 100}};
  static const struct nai_kernel_use b[] = {{"k", "other", "p", 20, 200}};
  struct nai_match m = match(a, N(a), b, N(b));
  assert_int_equal(m.count, 2);
  assert_int_equal(m.rows[1].state, NAI_MATCH_ONLY_BASE);
  assert_true(m.rows[1].is_elsewhere);
}

/* --- random sets ------------------------------------------------------------------------------ */

static uint64_t seed;
static uint32_t draw(uint32_t n) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % n;
}

enum { RANDOM_USES = 60, NAME_ROOM = 64 };
struct random_side {
  char names[RANDOM_USES][NAME_ROOM], paths[RANDOM_USES][16];
  struct nai_kernel_use uses[RANDOM_USES];
  uint32_t count;
};

/* Few stems, many variants, so that every level has something to do. */
static void draw_side(struct random_side *side) {
  static const char *const stems[][2] = {{"triton_poi_fused_add_", ""},
                                         {"nvjet_tst_", "x64_64x4_bz_TNN"},
                                         {"k<(int)", ">(int)"},
                                         {"void k<", ">(int)"},
                                         {"ncclDevKernel_AllReduce_bf16_RING_LL", ""},
                                         {"plain", ""}};
  static const char *const categories[] = {"gemm", "elementwise", "communication"};
  side->count = 1 + draw(RANDOM_USES - 1);
  for (uint32_t i = 0; i < side->count; i++) {
    const char *const *stem = stems[draw(6)];
    snprintf(side->names[i], NAME_ROOM, "%s%u%s", stem[0], draw(12), stem[1]);
    if (draw(3))
      snprintf(side->paths[i], 16, "p%u", draw(4));
    else
      side->paths[i][0] = '\0';
    side->uses[i] = (struct nai_kernel_use){side->names[i], categories[draw(3)], side->paths[i], 1 + draw(50),
                                            (int64_t)draw(1000000)};
  }
}

TEST_WITH(totals_conserved, NULL, free_matches) {
  static struct random_side a, b;
  seed = 7;
  for (int round = 0; round < 500; round++) {
    draw_side(&a);
    draw_side(&b);
    struct nai_match m = match(a.uses, a.count, b.uses, b.count), back = match(b.uses, b.count, a.uses, a.count);
    check_closed(&m, a.uses, a.count, b.uses, b.count);
    assert_int_equal(m.count, back.count); /* mirrored */
    for (int level = 0; level < NAI_LEVEL_COUNT; level++)
      assert_int_equal(m.level_ns[level], back.level_ns[level]);
    m = match(a.uses, a.count, a.uses, a.count); /* against itself */
    for (uint32_t i = 0; i < m.count; i++) {
      assert_int_equal(m.rows[i].state, NAI_MATCH_KERNEL);
      assert_int_equal(base_ns(&m.rows[i]), candidate_ns(&m.rows[i]));
    }
  }
}

/* The order of input makes no difference to the rows. */
TEST_WITH(any_order, NULL, free_matches) {
  static struct random_side a, b;
  static struct nai_kernel_use turned[RANDOM_USES];
  seed = 11;
  for (int round = 0; round < 100; round++) {
    draw_side(&a);
    draw_side(&b);
    for (uint32_t i = 0; i < a.count; i++)
      turned[i] = a.uses[a.count - 1 - i];
    struct nai_match m = match(a.uses, a.count, b.uses, b.count), other = match(turned, a.count, b.uses, b.count);
    assert_int_equal(m.count, other.count);
    for (uint32_t i = 0; i < m.count; i++) {
      assert_int_equal(base_ns(&m.rows[i]), base_ns(&other.rows[i]));
      assert_int_equal(candidate_ns(&m.rows[i]), candidate_ns(&other.rows[i]));
      assert_int_equal(m.rows[i].state, other.rows[i].state);
    }
  }
}

TEST_WITH(many_names, NULL, free_matches) {
  enum { COUNT = 100000 };
  char(*names)[24] = malloc(2 * COUNT * sizeof *names);
  struct nai_kernel_use *uses = malloc(2 * COUNT * sizeof *uses);
  for (uint32_t i = 0; i < 2 * COUNT; i++) {
    snprintf(names[i], sizeof names[i], "kernel_%u_x", i < COUNT ? i : i + 50000 - COUNT);
    uses[i] = (struct nai_kernel_use){names[i], "other", "", 1, 1 + i % 7};
  }
  struct nai_match m = match(uses, COUNT, uses + COUNT, COUNT);
  check_closed(&m, uses, COUNT, uses + COUNT, COUNT);
  assert_int_equal(m.count, 150000);
  free(uses);
  free(names);
}
