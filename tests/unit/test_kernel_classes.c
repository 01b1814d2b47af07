/* Kernel categories of names as real traces have them. */
#include "unit.h"

#include "config/gpu_facts.h"
#include "config/kernel_classes.h"
#include "config/kernel_parts.h"
#include "config/kernel_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
  const char *category, *name;
} kernels[] = {
    /* communication */
    {"communication", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)"},
    {"communication", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)"},
    {"communication", "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)"},
    {"communication", "ncclSymkDevKernel_AllReduce_AGxLLMC_R_sum(ncclSymkDevWorkArgs4K)"},
    {"communication",
     "void vllm::cross_device_reduce_1stage<__nv_bfloat16, (int)8>(vllm::RankData *, vllm::RankSignals)"},
    {"communication",
     "void sglang::cross_device_reduce_2stage<__half, (int)8>(sglang::RankData *, sglang::RankSignals)"},
    {"communication", "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::"
                      "trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, (int)8>(T1)"},
    {"communication", "void tensorrt_llm::kernels::oneShotAllReduceKernel<__nv_bfloat16, (int)8, (bool)0>(T1)"},
    {"communication", "void tensorrt_llm::kernels::twoShotAllReduceKernel<__half, (int)4>(T1)"},
    {"communication",
     "void tensorrt_llm::kernels::reduce_fusion::lamport_style_one_shot_all_reduce_norm_kernel<__half>(T1)"},
    {"communication",
     "void c10d::symmetric_memory::multimem_all_reduce_kernel<c10::BFloat16, (int)16>(T1 *, unsigned long)"},
    {"communication", "void <unnamed>::multimem_all_reduce_kernel<c10::BFloat16, (int)16>(T1 *, unsigned long)"},
    {"communication", "void (anonymous namespace)::two_shot_all_reduce_kernel<float, 16, 8>(float**, float*)"},
    {"communication", "one_shot_all_reduce_kernel"},
    {"communication", "void deep_ep::intranode::dispatch<(int)8, (int)768>(int4 *, float *, int *)"},
    {"communication", "void deep_ep::internode_ll::combine<(bool)0, (int)7168, (int)9>(void *, void *)"},
    {"communication", "void deep_ep::internode::notify_dispatch<(bool)0, (int)4>(const int *, int *)"},
    {"communication", "void userbuffers_fp16_sum_inplace_gpu_rw_ag<(int)2>(int, int, int)"},
    {"communication", "nvshmemi_proxy_barrier_kernel"},
    {"communication", "void moeAllToAllKernel<(int)8>(MoeCommParams)"},
    {"communication", "void my_reduce_scatter<float>(float *, int)"},
    {"communication", "all_gather_into_kernel"},
    /* names that contain such words and are local work */
    {"reduction",
     "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::MeanOps<float, "
     "float, float, float>, unsigned int, float, (int)4, (int)4>>(T3)"},
    {"reduction",
     "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>"
     ", unsigned int, long, (int)4, (int)4>>(T3)"},
    {"reduction", "void cub::CUB_200200_800_NS::DeviceReduceKernel<cub::DeviceReducePolicy<float>>(T1)"},
    {"reduction", "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_3"},
    {"reduction", "triton_per_fused_sum_all_reduce_wait_tensor_4"},
    {"elementwise", "triton_poi_fused_add_all_gather_into_tensor_wait_tensor_2"},
    {"elementwise", "void at::native::_scatter_gather_elementwise_kernel<(int)128, (int)8, at::native::"
                    "_cuda_scatter_gather_internal_kernel<(bool)1, at::native::ReduceAdd>>(int, T3)"},
    {"reduction", "void blockAllReduceSum<float>(float *)"},
    {"routing", "void deep_ep::layout::get_dispatch_layout<(int)256, (int)32, (int)8>(const long *, int *)"},
    {"other", "void my_kernel<AllReduceFunctor>(float *)"},
    /* attention */
    {"attention",
     "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)128, (int)64, (int)4, (bool)0, (bool)0, "
     "cutlass::bfloat16_t>, (bool)0>(flash::Flash_fwd_params)"},
    {"attention", "void flash::flash_fwd_splitkv_combine_kernel<(int)8, (int)2, (bool)1>(flash::Flash_fwd_params)"},
    {"attention",
     "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<(int)64>>(T1)"},
    {"attention",
     "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::Collective>>>(T1)"},
    {"attention", "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel::Params)"},
    {"attention", "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1"},
    {"attention", "void vllm::paged_attention_v2_kernel<unsigned short, unsigned short, (int)128>(float *)"},
    {"attention", "void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<(int)1>>(T1)"},
    {"attention", "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(int)2, (int)4>(T1)"},
    {"attention", "kernel_unified_attention_2d"},
    {"attention", "_fwd_grouped_kernel_stage1"},
    {"attention", "_attn_fwd"},
    {"attention", "void naive_attention<float>(const T1 *, T1 *, int)"},
    /* matrix multiplication and convolution */
    {"gemm", "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN"},
    {"gemm", "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_stage3_warpsize2x2x1_ffma_aligna4"},
    {"gemm", "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn"},
    {"gemm", "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>(T1::Params)"},
    {"gemm", "void cublasLt::splitKreduce_kernel<(int)32, (int)16, int, float, __nv_bfloat16>(T1)"},
    {"gemm", "void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16, float, (int)128>(T1)"},
    {"gemm", "void marlin::Marlin<(long)1125899906909960, (int)256, (int)1>(T1)"},
    {"gemm", "fused_moe_kernel"},
    {"gemm", "triton_tem_fused_addmm_7"},
    {"gemm", "void deep_gemm::sm90_fp8_gemm_1d2d_impl<(unsigned int)0>(T1)"},
    {"convolution", "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32"},
    {"convolution", "void cudnn::winograd_nonfused::winogradForwardData4x4<float>(T1)"},
    {"convolution", "void implicit_convolve_sgemm<float, float, (int)1024, (int)5>(int)"},
    {"convolution", "void at::native::<unnamed>::conv_depthwise2d_forward_kernel<(int)3, float, int>(T1)"},
    /* the rest */
    {"normalization", "void at::native::<unnamed>::vectorized_layer_norm_kernel<float, float, (bool)0>(int, T2)"},
    {"normalization",
     "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, (int)8>(T1 *, T1 *, const T1 *, float, int, int)"},
    {"normalization", "void at::native::<unnamed>::GammaBetaBackwardCUDAKernel_32x32<float, float>(long, long)"},
    {"softmax", "void at::native::<unnamed>::cunn_SoftMaxForward<(int)4, float, float, float>(T4 *, const T2 *, int)"},
    {"softmax", "void <unnamed>::softmax_warp_forward<float, float, float, (int)8, (bool)0, (bool)0>(T2 *)"},
    {"embedding", "void at::native::<unnamed>::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, (int)2>(T1)"},
    {"embedding", "void at::native::<unnamed>::embedding_backward_feature_kernel<float, float, long>(const T3 *)"},
    {"elementwise", "void vllm::rotary_embedding_kernel<c10::BFloat16, (bool)1>(const long *, T1 *, T1 *)"},
    {"optimizer",
     "void at::native::<unnamed>::multi_tensor_apply_kernel<at::native::<unnamed>::"
     "FusedOptimizerTensorListMetadata<(int)4>, at::native::<unnamed>::FusedAdamMathFunctor<float, (int)4>>(T1)"},
    {"copy",
     "void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl_nocast<at::native::"
     "direct_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 3)]>(int, T3)"},
    {"copy", "void at::native::vectorized_elementwise_kernel<(int)8, at::native::bfloat16_copy_kernel_cuda(at::"
             "TensorIteratorBase &)::[lambda(float) (instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)"},
    {"copy",
     "void at::native::<unnamed>::CatArrayBatchedCopy_vectorized<at::native::<unnamed>::OpaqueType<(unsigned int)2>"
     ", unsigned int, (int)2, (int)128, (int)1, (int)16, (int)8>(char *)"},
    {"copy", "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16>(const T1 *, const T1 *, T2 *)"},
    {"elementwise",
     "void at::native::elementwise_kernel<(int)128, (int)2, void at::native::gpu_kernel_impl_nocast<at::native"
     "::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float>>>(T1)>(int, T3)"},
    {"elementwise",
     "void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>>(int, T2, T3)"},
    {"elementwise", "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<c10::BFloat16>, (bool)1>(T1 *)"},
    {"elementwise", "triton_poi_fused_add_mul_0"},
    {"elementwise", "loop_add_fusion_2"},
    {"sorting",
     "void at::native::radixSortKVInPlace<(int)-2, (int)-1, (int)32, (int)32, float, long, unsigned int>(T1)"},
    /* words are whole: no all-reduce, no Adam, no rotation, no top-k, no GEMM */
    {"reduction", "small_reduce_kernel"},
    {"gemm", "zherk_small_reduce_kernel"},
    {"quantization", "void <unnamed>::fast_hadamard_transform_kernel<<unnamed>::FastHadamardKernelTraits<16, 7>>(T1)"},
    {"other", "matrix_properties"},
    {"other", "void tensorflow::SplitOpKernel<float>(T1)"},
    {"other", "void my_kernel<cutlass::bfloat16_t, cublasParams<float>>(T1)"},
    {"embedding", "void fbgemm_gpu::split_embedding_codegen_forward_unweighted_kernel<T1>(T2)"},
    /* names that are cut off, mangled, or of a template that only launches */
    {"communication", "void dpsk::ep::internode::dispatch<false, 4, false, 4>(int4*, float*, lo"},
    {"quantization", "quantize_q8_1(float const*"},
    {"elementwise", "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEEEEvi"},
    {"communication", "_ZN7deep_ep12internode_ll8dispatchILb1ELb0ELi7168EEEvPv"},
    {"state_space",
     "void cutlass::device_kernel<flat::kernel::FlatKernelTmaWarpSpecializedDeltaRule<flat::collective::F"},
    {"convolution",
     "void cutlass::Kernel2<cutlass_80_tensorop_s16816fprop_optimized_f16_128x128_32x5_nhwc_align8>(T1)"},
    {"gemm", "void cutlass::device_kernel<at::cuda::detail::enable_3x_kernel_for_sm9x<cutlass::gemm::kernel::Universal<"
             "T1>>>(T2)"},
    {"attention", "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FwdSm90<flash::Collective>>>(T1)"},
    {"other", "_Z"},
    {"other", "_ZN99999999999999999999"},
    {"other", "void <<<(((::,"},
    {"other", "kernel_cutlass_"},
    {"other", "__omp_offloading"},
    {"other", "void step_a<float>(T1 *, int)"},
    {"other", ""},
};

TEST(classifies_real_names) {
  struct nai_kernel_classes *classes = NULL;
  struct nai_err err = {0};
  int failures = 0;
  assert_int_equal(nai_kernel_classes_load(&classes, NULL, &err), 0);
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    const char *category = nai_kernel_classes_name(classes, nai_kernel_classes_match(classes, kernels[i].name));
    if (strcmp(category, kernels[i].category) != 0) {
      print_error("%s is %s, expected %s\n", kernels[i].name, category, kernels[i].category);
      failures++;
    }
  }
  assert_int_equal(failures, 0);
  assert_int_equal(nai_kernel_classes_check(classes, &err), 0);
  assert_string_equal(nai_kernel_classes_name(classes, nai_kernel_classes_communication(classes)), "communication");
  nai_kernel_classes_free(classes);
}

/* Each rule of the program decides its examples: none is hidden behind another. */
TEST(rules_decide_their_examples) {
  NAI_OWNED(nai_kernel_rules) *rules = NULL;
  NAI_SCOPED(nai_strings) categories = {0};
  struct nai_err err = {0};
  uint64_t hash = 0;
  int failures = 0;
  assert_int_equal(nai_kernel_rules_load(&rules, &hash, "rules/kernel-classes.rules", true, &categories, &err), 0);
  assert_true(nai_kernel_rules_count(rules) > 40);
  for (int i = 0; i < nai_kernel_rules_count(rules); i++) {
    struct nai_kernel_rule rule = nai_kernel_rules_get(rules, i);
    for (uint32_t k = 0; k < rule.example_count; k++) {
      int decides = nai_kernel_rules_match(rules, rule.examples[k].kernel_name);
      if (decides == i)
        continue;
      print_error("kernel-classes.rules:%u: %s is decided by line %u\n", rule.examples[k].line,
                  rule.examples[k].kernel_name, decides < 0 ? 0 : nai_kernel_rules_get(rules, decides).line);
      failures++;
    }
  }
  assert_int_equal(failures, 0);
}

static void assert_part(const struct nai_kernel_parts *parts, enum nai_kernel_part part, const char *expected) {
  struct nai_kernel_span span = parts->part[part];
  if (span.len != strlen(expected) || (span.len && memcmp(span.text, expected, span.len) != 0))
    fail_msg("%s is \"%.*s\", expected \"%s\"", nai_kernel_part_name(part), (int)span.len, span.text, expected);
}

TEST(names_have_parts) {
  static const struct {
    const char *name, *parts[NAI_KERNEL_PART_COUNT]; /* generator, namespace, name, template, arguments */
  } names[] = {
      {"void at::native::<unnamed>::f<int, (bool)1>(T1 *, int)",
       {"", "at::native::<unnamed>::", "f", "int, (bool)1", "T1 *, int"}},
      {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, a<b>>(c)",
       {"", "internal::gemvx::", "kernel", "int, a<b>", "c"}},
      {"void (anonymous namespace)::g(int)", {"", "(anonymous namespace)::", "g", "", "int"}},
      {"void cutlass::device_kernel<flash::Fwd<cute::C<8>, 5> >(flash::Params)",
       {"", "flash::", "Fwd", "cute::C<8>, 5", "flash::Params"}},
      {"_ZN2at6native6reduceILi512EEEvi", {"", "2at6native", "reduce", "Li512EEEvi", ""}},
      {"triton_poi_fused_add_mul_0", {"triton_poi", "", "fused_add_mul_0", "", ""}},
      {"kernel_cutlass_kernel_RMSNorm_object_at__tensorptr0",
       {"kernel_cutlass", "", "kernel_RMSNorm", "", "_object_at__tensorptr0"}},
      {"loop_add_fusion_1", {"loop", "", "add_fusion_1", "", ""}},
      {"loop_add_1", {"", "", "loop_add_1", "", ""}},
      {"nvkernel__ZN4core5solveEi_F1L6_4", {"nvkernel", "4core", "solve", "", "Ei_F1L6_4"}},
      {"__omp_offloading_10302_5a1b_main_l42", {"__omp_offloading", "", "main_l42", "", ""}},
      {"gmres_459_gpu", {"gpu", "", "gmres_459_gpu", "", ""}},
      {"quantize(float const*", {"", "", "quantize", "", "float const*"}},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct nai_kernel_parts parts = nai_kernel_parts_of(names[i].name);
    for (int p = 0; p < NAI_KERNEL_PART_COUNT; p++)
      assert_part(&parts, (enum nai_kernel_part)p, names[i].parts[p]);
  }
}

/* Names longer than what is looked at, and of nothing but brackets or edges. */
TEST(any_name_has_a_category) {
  enum { LENGTH = 3 * NAI_KERNEL_WORDS_MAX };
  static const char *const parts[] = {
      "a_", "aB", "<", "(", "a::", "f<int>::", "_ZN", "9a", "1", "reduce_", " ", "\xff"};
  char name[LENGTH + 16];
  struct nai_kernel_classes *classes = NULL;
  struct nai_err err = {0};
  assert_int_equal(nai_kernel_classes_load(&classes, NULL, &err), 0);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    for (int tail = 0; tail < 8; tail++) {
      size_t len = 0;
      for (; len + strlen(parts[i]) < LENGTH; len += strlen(parts[i]))
        memcpy(name + len, parts[i], strlen(parts[i]));
      snprintf(name + len, sizeof name - len, "%.*s", tail, "reduce>)");
      int found = nai_kernel_classes_match(classes, name);
      assert_in_range(found, 0, nai_kernel_classes_count(classes) - 1);
      assert_int_equal(nai_kernel_classes_explain(classes, name).category, found);
    }
  nai_kernel_classes_free(classes);
}

static char *write_file(const char *text) {
  char *path = strdup("/tmp/nai-classes-XXXXXX");
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  return path;
}

TEST(user_patterns_come_first) {
  char *path = write_file("mine: [flash_fwd]\ncommunication: ['re:^my_sync']\n");
  struct nai_kernel_classes *classes = NULL;
  struct nai_err err = {0};
  assert_int_equal(nai_kernel_classes_load(&classes, path, &err), 0);
  assert_string_equal(nai_kernel_classes_name(classes, nai_kernel_classes_match(classes, "void FLASH_FWD_kernel")),
                      "mine");
  assert_int_equal(nai_kernel_classes_match(classes, "my_sync_all"), nai_kernel_classes_communication(classes));
  assert_string_equal(nai_kernel_classes_name(classes, nai_kernel_classes_match(classes, "nvjet_x")), "gemm");
  nai_kernel_classes_free(classes);
  unlink(path);
  free(path);
}

TEST(bad_user_file_is_an_error) {
  char *path = write_file("mine: [1, 're:(']\n");
  struct nai_kernel_classes *classes = NULL;
  struct nai_err err = {0};
  assert_int_equal(nai_kernel_classes_load(&classes, path, &err), NAI_EUSAGE);
  assert_null(classes);
  assert_non_null(strstr(err.msg, ":1:16: bad regular expression: missing closing parenthesis"));
  unlink(path);
  free(path);
}

static struct nai_kernel_classes *load_rules(const char *text, struct nai_err *err) {
  char path[] = "/tmp/nai-classes-XXXXXX.rules";
  struct nai_kernel_classes *classes = NULL;
  int fd = mkstemps(path, (int)strlen(".rules"));
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  int rc = nai_kernel_classes_load(&classes, path, err);
  assert_int_equal(rc, classes ? 0 : NAI_EUSAGE);
  unlink(path);
  return classes;
}

static const char *category(const struct nai_kernel_classes *classes, const char *name) {
  return nai_kernel_classes_name(classes, nai_kernel_classes_match(classes, name));
}

TEST(patterns_match_whole_words) {
  struct nai_err err = {0};
  NAI_OWNED(nai_kernel_classes) *classes = load_rules("# mine\n"
                                                      "a\n  name walk_by\n\n"
                                                      "b\n  name top*\n  name ^first last$\n"
                                                      "c\n  namespace lib\n  template fn\n"
                                                      "d\n  name *ish\n  path in::side\r\n",
                                                      &err);
  static const struct {
    const char *category, *name;
  } names[] = {{"a", "myWalkByKernel"},
               {"a", "WALKBY"},
               {"other", "sidewalk_by"},
               {"other", "walkbyer"},
               {"b", "my_topmost"},
               {"other", "stopped"},
               {"b", "first_of_all"},
               {"other", "at_first"},
               {"b", "the_last"},
               {"other", "last_but_one"},
               {"c", "lib::f<x::Fn<int>>(int)"},
               {"other", "lib::f<int>(Fn)"},
               {"other", "fn<lib::x>()"},
               {"other", "in::side(int)"},
               {"d", "in::side::greenish(int)"},
               {"other", "in::side::ishmael"},
               {"other", "in::side::wi_sh"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(category(classes, names[i].name), names[i].category) != 0)
      fail_msg("%s is %s, expected %s", names[i].name, category(classes, names[i].name), names[i].category);
}

TEST(mistakes_in_rules_are_told) {
  static const struct {
    const char *text, *message;
  } wrong[] = {
      {"", ": no rules"},
      {"  name x\n", ":1: a rule begins with its category"},
      {"a\n", ":1: a rule without patterns"},
      {"a\n  source x\nb\n  name y\n", ":1: a rule without patterns"},
      {"a\n  nam x\n", ":2: \"nam\" is none of source"},
      {"a\n  name\n", ":2: nothing behind \"name\""},
      {"a\n  name a*b\n", ":2: \"a*b\": * ^ $ stand before or behind words"},
      {"a\n  name **\n", ":2: \"**\": * ^ $ stand"},
      {"a\n  name b\x01\n", ":2: invisible characters, or no UTF-8"},
      {"a\xff\n  name b\n", ":1: invisible characters, or no UTF-8"},
      {"a\n\tname\tb \tc*d\n", ":2: \"c*d\": * ^ $ stand"},
      {"a\n  name _\n", ":2: no word in \"_\""},
      {"a\n  name aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
       ":2: a pattern of more than 64 characters"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct nai_err err = {0};
    assert_null(load_rules(wrong[i].text, &err));
    if (!strstr(err.msg, wrong[i].message))
      fail_msg("\"%s\" does not say \"%s\"", err.msg, wrong[i].message);
  }
}

/* Names as PyTorch's kernels have them: one type, computing in another, converting, and no elementwise kernel. */
TEST(elementwise_kernels_tell_the_type_of_values) {
  static const struct {
    int dtype;
    const char *name;
  } cases[] = {
      {NAI_DTYPE_FP32, "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>, "
                       "std::array<char *, (unsigned long)3>>(int, T2, T3)"},
      {NAI_DTYPE_BF16, "void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl_nocast<"
                       "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
                       "at::native::binary_internal::MulFunctor<float>>>(at::TensorIteratorBase &)>(int, T3)"},
      {NAI_DTYPE_FP16,
       "void at::native::vectorized_elementwise_kernel<(int)8, at::native::GeluCUDAKernelImpl("
       "at::TensorIteratorBase &)::[lambda(c10::Half) (instance 1)], std::array<char *, 2>>(int, T2, T3)"},
      {-1, "void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl<"
           "at::native::CUDAFunctor_add<float>>(at::TensorIteratorBase &)>(int, T3)"},
      {-1, "void at::native::unrolled_elementwise_kernel<at::native::CUDAFunctor_add<float>, std::array<char *, 3>, "
           "(int)4, at::native::memory::LoadWithCast<(int)2>>(int, T1, T2)"},
      {-1, "void at::native::vectorized_elementwise_kernel<(int)8, at::native::bfloat16_copy_kernel_cuda("
           "at::TensorIteratorBase &)::[lambda(float) (instance 1)], std::array<char *, 2>>(int, T2, T3)"},
      {-1, "void at::native::vectorized_elementwise_kernel<(int)4, at::native::BinaryFunctor<c10::BFloat16, float, "
           "float, at::native::AddFunctor<float>>>(int, T2, T3)"},
      {-1, "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float>>(T3)"}};
  struct nai_kernel_classes *classes = NULL;
  struct nai_err err = {0};
  assert_int_equal(nai_kernel_classes_load(&classes, NULL, &err), 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (nai_kernel_classes_value_dtype(classes, cases[i].name) != cases[i].dtype)
      fail_msg("%s", cases[i].name);
  nai_kernel_classes_free(classes);
}
