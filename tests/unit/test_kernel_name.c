/* Short kernel names: the names people meet, hostile ones, and sets. */
#include "unit.h"

#include "base/text.h"
#include "table/kernel_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t chars(const char *text) {
  size_t n = 0;
  for (; *text; text++)
    n += ((unsigned char)*text & 0xc0) != 0x80;
  return n;
}

static void expect(const char *name, size_t max, const char *expected) {
  struct nai_buf out = {0};
  nai_kernel_name_short(&out, name, max);
  assert_string_equal(nai_buf_str(&out), expected);
  assert_true(chars(expected) <= max);
  nai_buf_free(&out);
}

TEST(test_pytorch) {
  expect("void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>, std::array<char *, "
         "(unsigned long)1>>(int, T2, T3)",
         72, "vectorized_elementwise_kernel<4, FillFunctor<float>>");
  /* the same as another demangler writes it */
  expect("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> "
         ">(int, "
         "at::native::FillFunctor<float>, std::array<char*, 1ul>)",
         72, "vectorized_elementwise_kernel<4, FillFunctor<float>>");
  expect("void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl_nocast<at::native::"
         "direct_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 3)]::operator ()() const::[lambda() "
         "(instance 12)]::operator ()() const::[lambda(c10::BFloat16) (instance 1)]>(at::TensorIteratorBase &, "
         "const T1 "
         "&)::[lambda(int) (instance 1)]>(int, T3)",
         72, "elementwise_kernel<128, 4, direct_copy_kernel_cuda(BFloat16)>");
  expect("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::"
         "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
         "const::{lambda()#7}::operator()() "
         "const::{lambda(float)#1}>(at::TensorIteratorBase&, int const&)::{lambda(int)#1}>(int, int)",
         72, "elementwise_kernel<128, 2, direct_copy_kernel_cuda(float)>");
  expect("void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, "
         "at::native::func_wrapper_t<float, "
         "at::native::sum_functor<float, float, float>::operator ()(at::TensorIterator &)::[lambda(float, float) "
         "(instance "
         "1)]>, unsigned int, float, (int)4>>(T3)",
         72,
         "reduce_kernel<512, 1, ReduceOp<\xe2\x80\xa6, func_wrapper_t<\xe2\x80\xa6, sum_functor<\xe2\x80\xa6>>, "
         "\xe2\x80\xa6>>");
  expect("void at::native::<unnamed>::CatArrayBatchedCopy_vectorized<at::native::<unnamed>::OpaqueType<(unsigned "
         "int)2>, "
         "unsigned int, (int)2, (int)128, (int)1, (int)16, (int)8>(char *, at::native::<unnamed>::X<T1, T2>, int, T2)",
         80, "CatArrayBatchedCopy_vectorized<OpaqueType<2>, unsigned int, 2, 128, 1, 16, 8>");
  expect("void (anonymous namespace)::softmax_warp_forward<float, float, float, 7, true, false>(float*, float "
         "const*, int)",
         72, "softmax_warp_forward<float, float, float, 7, true, false>");
}

TEST(test_libraries) {
  expect("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)", 72, "ncclDevKernel_SendRecv");
  expect("void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)128, (int)64, (int)4, (bool)0>, (bool)0, "
         "(bool)1>(flash::Flash_fwd_params)",
         72, "flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, 0>, 0, 1>");
  expect("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_64x3_nn_align8>(T1::Params)", 72,
         "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_64x3_nn_align8");
  expect("void vllm::paged_attention_v1_kernel<unsigned short, (int)128, (vllm::Fp8KVCacheDataType)0, "
         "(bool)0>(float *)",
         72, "paged_attention_v1_kernel<unsigned short, 128, 0, 0>");
  expect("void cub::DeviceRadixSortOnesweepKernel<cub::Policy<float, int>::Policy900, (bool)0>(T5 *)", 72,
         "DeviceRadixSortOnesweepKernel<Policy<float, int>::Policy900, 0>");
  /* Nothing to shorten. */
  expect("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", 72, "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN");
  expect("triton_poi_fused_add_mul_0", 72, "triton_poi_fused_add_mul_0");
  expect("_ZN2at6native4copyEv", 72, "_ZN2at6native4copyEv");
  expect("[CUDA memcpy HtoD]", 72, "[CUDA memcpy HtoD]");
  expect("Memcpy HtoD (Pinned -> Device)", 72, "Memcpy HtoD (Pinned -> Device)");
}

TEST(test_odd_names) {
  static const char *const cases[][2] = {
      {"", ""},
      {"a<b", "a<b"},
      {"((((((", "(((((("},
      {">>>>", ">>>>"},
      {"<unnamed>", "<unnamed>"},
      {"()", "()"},
      {"Foo<int>::operator()(int) const", "Foo<int>"},
      {"foo(int) [clone .kd]", "foo"},
      {"f<(N < 8), -3, 4ul, 'c'>(int)", "f<(N < 8), -3, 4, 'c'>"},
      {"operator<<(int)", "operator<<(int)"},
      {"void f<char *, unsigned long long &, float const*, &ns::g>(int)", "f<char*, unsigned long long&, float*, &g>"},
      {"f<>()", "f"},
      {"f<,>()", "f<>"},
      {"f<a>b<c>()", "f<a>"},
      {"::f(int)", "f"},
      {"f(", "f("},
      {"f<(>)", "f<(>)"},
      {"std::enable_if<(N > 4), void>::type ns::f<int>(int)", "f<int>"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect(cases[i][0], 72, cases[i][1]);
}

/* Names of CPU samples: a return type goes, too. */
TEST(test_functions) {
  static const char *const names[][2] = {
      {"int* load<int>(std::string, int)", "load<int>"},
      {"BackSub()", "BackSub"},
      {"float std::generate_canonical<float, 24ul, std::linear_congruential_engine<unsigned long, 16807ul, 0ul, "
       "2147483647ul> >(std::linear_congruential_engine<unsigned long, 16807ul, 0ul, 2147483647ul>&)",
       "generate_canonical<float, 24, linear_congruential_engine<…>>"},
      {"cudaFree", "cudaFree"},
      {"", ""}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct nai_buf out = {0};
    nai_function_name_short(&out, names[i][0], 60);
    assert_string_equal(nai_buf_str(&out), names[i][1]);
    nai_buf_free(&out);
  }
}

/* As exports have it in shortName. */
TEST(test_base_names) {
  static const char *const names[][2] = {
      {"void cutlass::Kernel<cutlass::gemm::kernel::Gemm<cutlass::Foo<(int)1>, (bool)0>>(T1::Params)", "Kernel"},
      {"void at::native::<unnamed>::vectorized_layer_norm_kernel<float, (bool)0>(int, T2)",
       "vectorized_layer_norm_kernel"},
      {"void thrust::cuda_cub::core::_kernel_agent<thrust::__reduce::ReduceAgent<int *, int>>(int *)", "_kernel_agent"},
      {"tiled_gemm(float *, float *, float *, int)", "tiled_gemm"},
      {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN"},
      {"_ZN7cutlass6KernelIiEEvT_", "_ZN7cutlass6KernelIiEEvT_"},
      {"f<(>)", "f<(>)"},
      {"", ""}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct nai_buf out = {0};
    nai_kernel_base_name(&out, names[i][0]);
    assert_string_equal(nai_buf_str(&out), names[i][1]);
    nai_buf_free(&out);
  }
}

TEST(test_too_long) {
  expect("abcdefghijklmnopqrstuvwxyz", 17, "abcdefgh\xe2\x80\xa6stuvwxyz");
  expect("void ns::abcdefghijklmnopqrstuvwxyz<int>(int)", 17, "abcdefgh\xe2\x80\xa6stuvwxyz");
  expect("void f<abcdefghijklmnopqrstuvwxyz>(int)", 22, "f<abcdefghi\xe2\x80\xa6rstuvwxyz>");
  expect("void kernel<alpha, 1, 2, beta, 3>(int)", 25, "kernel<alpha, \xe2\x80\xa6, beta, 3>");
#define E4 "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
  expect(E4 E4 E4 E4 "\xc3\xa9", 16, E4 E4 "\xe2\x80\xa6" E4 "\xc3\xa9\xc3\xa9\xc3\xa9");
}

static uint32_t random_state = 5;
static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)random_state * n >> 32);
}

TEST(test_hostile_names) {
  static const char *const pieces[] = {"<",
                                       ">",
                                       "(",
                                       ")",
                                       "[",
                                       "]",
                                       "{",
                                       "}",
                                       "::",
                                       ",",
                                       " ",
                                       "a",
                                       "int",
                                       "operator",
                                       "[lambda(",
                                       "<unnamed>",
                                       "Kernel<",
                                       "array<",
                                       "const",
                                       "void ",
                                       "(int)4",
                                       "*",
                                       "&",
                                       "\xc3\xa9",
                                       "f<",
                                       ">()",
                                       "-",
                                       "'lambda'",
                                       "::operator()()",
                                       "4ul",
                                       "gpu_kernel_impl<"};
  struct nai_buf name = {0}, out = {0};
  for (int i = 0; i < 200000; i++) {
    nai_buf_clear(&name);
    nai_buf_clear(&out);
    for (uint32_t n = random_below(16); n > 0; n--)
      nai_buf_puts(&name, pieces[random_below(sizeof pieces / sizeof *pieces)]);
    size_t max = 16 + random_below(40);
    nai_kernel_name_short(&out, nai_buf_str(&name), max);
    if (chars(nai_buf_str(&out)) > max || !nai_text_is_clean(nai_buf_str(&out), out.len))
      fail_msg("[%s] became [%s] with %zu", nai_buf_str(&name), nai_buf_str(&out), max);
  }
  /* Long ones: linear time, no recursion. */
  static const char *const repeated[][2] = {
      {"<", ""},        {"f<", ">"},           {"(", ")"},
      {"f(", ")"},      {"a::", ""},           {"Kernel<", ">"},
      {"a,", ""},       {"f<a,", "b>"},        {"f<g(int)::[lambda(int) (instance 1)], ", ">"},
      {"operator", ""}, {"const ", ""},        {"x ", ""},
      {"{", "}"},       {"void f<", ">(int)"}, {"A<int>::", ""},
      {"f<(int)", ">"}, {"f<(a)", ">"},        {"array<", ">"}};
  for (size_t r = 0; r < sizeof repeated / sizeof *repeated; r++)
    for (int wrap = 0; wrap < 2; wrap++) {
      nai_buf_clear(&name);
      nai_buf_clear(&out);
      nai_buf_puts(&name, wrap ? "void k<" : "");
      while (name.len < 400000)
        nai_buf_puts(&name, repeated[r][0]);
      for (size_t n = name.len / strlen(repeated[r][0]); n > 0; n--)
        nai_buf_puts(&name, repeated[r][1]);
      nai_buf_puts(&name, wrap ? ">(int)" : "");
      nai_kernel_name_short(&out, name.data, 60);
      assert_true(chars(nai_buf_str(&out)) <= 60);
    }
  nai_buf_free(&name);
  nai_buf_free(&out);
}

/* --- sets ------------------------------------------------------------------------------------- */

TEST(test_sets) {
  static const char *const names[][2] = {
      {"void f<int>(int)", "f<int> [int]"},
      {"void f<int>(float)", "f<int> [float]"},
      {"void g<int>(int)", "g<int>"},
      {"void a::h<b::C<(int)1>, int, int, int, int, int>(int)", "h<C<1>, int, int, int, int, int>"},
      {"void u<std::array<char *, (unsigned long)2>, (int)4>(T1)", "u<4> [2]"},
      {"void u<std::array<char *, (unsigned long)3>, (int)4>(T1)", "u<4> [3]"},
      {"void e<gpu_kernel_impl_nocast<F>(int)>(int)", "e<F> [gpu_kernel_impl_nocast]"},
      {"void e<gpu_kernel_impl<F>(int)>(int)", "e<F> [gpu_kernel_impl]"},
      {"void f<int>(int)", "f<int> [int]"},
      {"void x::v(int, int, int, int, int, int, int, int, int, A, int)", "v"},
      {"void x::v(long, int, int, int, int, int, int, int, int, B, long)", "v #2"},
  };
  enum { COUNT = sizeof names / sizeof *names };
  const char *list[COUNT];
  for (int round = 0; round < 2; round++) { /* in both directions: the order does not matter */
    char **out = NULL;
    struct nai_err err = {0};
    for (int i = 0; i < COUNT; i++)
      list[i] = names[round ? COUNT - 1 - i : i][0];
    assert_int_equal(nai_kernel_names_short(&out, list, COUNT, 72, &err), 0);
    for (int i = 0; i < COUNT; i++)
      assert_string_equal(out[i], names[round ? COUNT - 1 - i : i][1]);
    free(out);
  }
  char **none = NULL;
  assert_int_equal(nai_kernel_names_short(&none, list, 0, 72, NULL), 0);
  free(none);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

TEST(test_big_sets_are_distinct) {
  enum { COUNT = 30000 };
  char **names = calloc(COUNT, sizeof *names), **out = NULL;
  for (int i = 0; i < COUNT; i++) {
    struct nai_buf name = {0};
    switch (i % 5) {
    case 0: /* differ where the short form drops things */
      nai_buf_printf(&name, "void k<std::array<char *, (int)%d>>(int)", i);
      break;
    case 1: /* differ in two places */
      nai_buf_printf(&name, "void k%d(int%d, long)", i % 7, i);
      break;
    case 2: /* look like numbered ones */
      nai_buf_printf(&name, "k1 #%d", i / 5);
      break;
    case 3: /* too long, differ in the middle */
      nai_buf_printf(&name, "%0100d_%d_%0100d", 7, i, 7);
      break;
    default: /* differ in ever longer arguments */
      nai_buf_printf(&name, "void m<%0*d>(int)", 30 + i % 90, i);
    }
    names[i] = name.data;
  }
  struct nai_err err = {0};
  assert_int_equal(nai_kernel_names_short(&out, (const char *const *)names, COUNT, 48, &err), 0);
  for (int i = 0; i < COUNT; i++)
    assert_true(chars(out[i]) <= 48);
  qsort(out, COUNT, sizeof *out, by_text);
  for (int i = 1; i < COUNT; i++)
    if (strcmp(out[i - 1], out[i]) == 0)
      fail_msg("twice: %s", out[i]);
  free(out);
  for (int i = 0; i < COUNT; i++)
    free(names[i]);
  free(names);
}
