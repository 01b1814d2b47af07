/* What names of communication kernels say, for every name NCCL's three grammars make and for other libraries' as traces
 * have them; and which kernels with such words in their names are no communication. */
#include "unit.h"

#include "config/kernel_classes.h"

#include <stdio.h>
#include <string.h>

static struct nai_kernel_classes *classes;

static int load(void **state) {
  (void)state;
  return nai_kernel_classes_load(&classes, NULL, NULL);
}

static int unload(void **state) {
  (void)state;
  nai_kernel_classes_free(classes);
  return 0;
}

static const char *text(const char *word) { return word ? word : "-"; }

/* "family op dtype redop" with "entry" and "fused" where they hold. */
static void expect(const char *name, const char *expected) {
  char found[256];
  int category = nai_kernel_classes_match(classes, name);
  if (category != nai_kernel_classes_communication(classes))
    fail_msg("%s is %s", name, nai_kernel_classes_name(classes, category));
  struct nai_comm_name n = nai_comm_names_parse(nai_kernel_classes_comm_names(classes), name);
  snprintf(found, sizeof found, "%s, %s, %s, %s%s%s", text(n.family), text(n.op), text(n.dtype), text(n.redop),
           n.entry ? ", entry" : "", n.fused ? ", fused" : "");
  if (strcmp(found, expected) != 0)
    fail_msg("%s: %s, expected %s", name, found, expected);
}

/* Types by what NCCL calls them in each grammar. */
static const struct {
  const char *new_name, *c_name, *dtype;
} types[] = {{"i8", "int8_t", "int8"},    {"u8", "uint8_t", "int8"},
             {"i32", "int32_t", "int32"}, {"u32", "uint32_t", "int32"},
             {"i64", "int64_t", "int64"}, {"u64", "uint64_t", "int64"},
             {"f16", "half", "f16"},      {"f32", "float", "f32"},
             {"f64", "double", "f64"},    {"bf16", "__nv_bfloat16", "bf16"},
             {"f8e4m3", NULL, "f8e4m3"},  {"f8e5m2", NULL, "f8e5m2"}};
static const char *const reductions[] = {"AllReduce", "Reduce", "ReduceScatter"};
static const char *const redops[] = {"Sum", "Prod", "MinMax", "PreMulSum", "SumPostDiv"};
static const char *const algorithms[] = {"RING", "TREE", "COLLNET_DIRECT", "NVLS"};
static const char *const protocols[] = {"LL", "LL128", "SIMPLE"};
#define COUNT(list) (sizeof(list) / sizeof *(list))

TEST(test_reductions_of_nccl) {
  char name[256], expected[128];
  for (size_t r = 0; r < COUNT(reductions); r++)
    for (size_t o = 0; o < COUNT(redops); o++)
      for (size_t t = 0; t < COUNT(types); t++) {
        snprintf(expected, sizeof expected, "NCCL, %s, %s, -, entry", reductions[r], types[t].dtype);
        for (size_t a = 0; a < 2; a++) {
          snprintf(name, sizeof name, "ncclDevKernel_%s_%s_%s_%s_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
                   reductions[r], redops[o], types[t].new_name, algorithms[a]);
          expect(name, expected);
        }
        for (size_t a = 0; a < COUNT(algorithms) && types[t].c_name; a++)
          for (size_t p = 0; p < COUNT(protocols); p++) {
            snprintf(name, sizeof name, "ncclKernel_%s_%s_%s_%s_%s(ncclDevComm *, unsigned long, ncclWork *)",
                     reductions[r], algorithms[a], protocols[p], redops[o], types[t].c_name);
            expect(name, expected);
          }
        if (strcmp(types[t].new_name, "bf16") == 0 || strncmp(types[t].new_name, "f8", 2) == 0)
          continue;
        snprintf(name, sizeof name, "%s%sRingLLKernel_sum_%s(ncclColl)", "nccl", reductions[r], types[t].new_name);
        expect(name, expected);
      }
}

TEST(test_moves_of_nccl) {
  expect("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
         "NCCL, AllGather, -, -, entry");
  expect("ncclDevKernel_AllGatherV_RING_LL(ncclDevKernelArgs4K)", "NCCL, AllGather, -, -, entry");
  expect("ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgs4K)", "NCCL, Broadcast, -, -, entry");
  expect("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)", "NCCL, SendRecv, -, -, entry");
  expect("ncclDevKernel_Generic(ncclDevKernelArgsStorage<(unsigned long)4096>)", "NCCL, -, -, -, entry");
  /* The type in these names is that of a byte, whatever is sent. */
  expect("ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm *, unsigned long, ncclWork *)",
         "NCCL, AllGather, -, -, entry");
  expect("ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)", "NCCL, Broadcast, -, -, entry");
  expect("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "NCCL, SendRecv, -, -, entry");
  expect("ncclAllGatherRingKernel_copy_i8(ncclColl)", "NCCL, AllGather, -, -, entry");
  expect("ncclBroadcastRingLLKernel_copy_i8(ncclColl)", "NCCL, Broadcast, -, -, entry");
}

TEST(test_symmetric_kernels_say_what_they_do) {
  expect("ncclSymkDevKernel_AllReduce_AGxLLMC_R_sum_bf16(ncclSymkDevWorkArgs4K)",
         "NCCL symmetric, AllReduce, bf16, sum");
  expect("ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_f32(ncclSymDevArgs)", "NCCL symmetric, AllReduce, f32, sum");
  expect("ncclSymkDevKernel_ReduceScatter_LDMC_sum_f16(ncclSymkDevWorkArgs4K)",
         "NCCL symmetric, ReduceScatter, f16, sum");
  expect("ncclSymkDevKernel_AllGather_STMC(ncclSymkDevWorkArgs4K)", "NCCL symmetric, AllGather, -, -");
  expect("ncclSymkDevKernel_AllGather_RailRing_LsaSTMC(ncclSymkDevWorkArgs4K)", "NCCL symmetric, AllGather, -, -");
}

TEST(test_other_libraries) {
  expect("void vllm::cross_device_reduce_1stage<__nv_bfloat16, (int)8>(vllm::RankData *)",
         "vLLM or SGLang, AllReduce, bf16, sum");
  expect("void sglang::cross_device_reduce_2stage<__half, (int)8>(sglang::RankData *)",
         "vLLM or SGLang, AllReduce, f16, sum");
  expect("void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::"
         "trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, (int)8>(T1)",
         "TensorRT-LLM or FlashInfer, AllReduce, bf16, -, fused");
  expect("void tensorrt_llm::kernels::oneShotAllReduceKernel<__nv_bfloat16, (int)8, (bool)0>(T1)",
         "TensorRT-LLM or FlashInfer, AllReduce, bf16, -");
  expect("void tensorrt_llm::kernels::lowPrecisionTwoShotAllReduceKernel<__half, (int)4>(T1)",
         "TensorRT-LLM or FlashInfer, AllReduce, f16, -");
  expect("void tensorrt_llm::kernels::ar_fusion::moe::moereduce_allreduce_fusion_kernel_oneshot_lamport<(int)1>(T1)",
         "TensorRT-LLM or FlashInfer, AllReduce, -, -, fused");
  expect("void <unnamed>::multimem_all_reduce_kernel<c10::BFloat16, (int)16>(T1 *, unsigned long)",
         "PyTorch symmetric memory, AllReduce, bf16, -");
  expect("void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<float, 16, 8>(float**)",
         "PyTorch symmetric memory, AllReduce, f32, -");
  expect("void <unnamed>::multimem_one_shot_all_reduce_kernel<float, (int)16>(T1 *)",
         "PyTorch symmetric memory, AllReduce, f32, -");
  expect("void userbuffers_fp16_sum_inplace_gpu_mc<(int)2>(int, int, int)", "Transformer Engine, AllReduce, f16, sum");
  expect("void userbuffers_fp16_sum_inplace_gpu_rw_ag<(int)2>(int, int)", "Transformer Engine, AllGather, f16, -");
  expect("void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<(int)2>(int)", "Transformer Engine, ReduceScatter, f16, sum");
  expect("kuserbuffers_pushsend(int *, int *)", "Transformer Engine, SendRecv, -, -");
  expect("void deep_ep::intranode::dispatch<(int)8, (int)768>(int4 *, float *, int *)", "DeepEP, Dispatch, -, -");
  expect("void deep_ep::legacy::internode_ll::combine<(bool)0, (int)7168>(void *)", "DeepEP, Combine, -, -");
  expect("void deep_ep::internode::notify_dispatch<(bool)0, (int)4>(const int *, int *)", "DeepEP, Control, -, -");
  expect("void deep_ep::intranode::cached_notify_combine<(int)8>(void **)", "DeepEP, Control, -, -");
  expect("void deep_ep::intranode::barrier<(int)8>(int **, int)", "DeepEP, Control, -, -");
  expect("nvshmemi_proxy_barrier_kernel", "NVSHMEM, Control, -, -");
  expect("void moeAllToAllKernel<(int)8>(MoeCommParams)", "-, AllToAll, -, -");
}

TEST(test_words_that_mean_something_else) {
  static const char *const names[] = {
      "triton_poi_fused_all_reduce_lift_fresh_0",
      "nccl_preprocess_helper",
      "void BlockReduceAllReduceKernel<float>(float *)",
      "void cub::DeviceReduceKernel<cub::DeviceReducePolicy<float>>(T1)",
      "void warp_allreduce<float>(float *)",
      "void at::native::vectorized_elementwise_kernel<(int)4, ncclish::AllReduceFunctor>(int, T2)",
      "void cutlass::Kernel<flux::GemmReduceScatter>(T1)",
  };
  for (size_t i = 0; i < COUNT(names); i++)
    if (nai_kernel_classes_match(classes, names[i]) == nai_kernel_classes_communication(classes))
      fail_msg("%s is communication", names[i]);
}

TEST(test_links) {
  const struct nai_comm_names *names = nai_kernel_classes_comm_names(classes);
  assert_true(nai_comm_names_link(names, "NVIDIA H100 80GB HBM3") == 450);
  assert_true(nai_comm_names_link(names, "NVIDIA H200") == 450);
  assert_true(nai_comm_names_link(names, "NVIDIA B200") == 900);
  assert_true(nai_comm_names_link(names, "NVIDIA A100-SXM4-80GB") == 300);
  /* PCIe boards may have a bridge or not. */
  assert_true(nai_comm_names_link(names, "NVIDIA H100 PCIe") == 0);
  assert_true(nai_comm_names_link(names, "NVIDIA A100-PCIE-40GB") == 0);
  assert_true(nai_comm_names_link(names, "NVIDIA GeForce RTX 4090") == 0);
}

UNIT_FIXTURE(load, unload)
