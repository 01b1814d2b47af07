/* What calls to the CUDA API are, by their names as CUPTI has them. */
#include "cupti_callbacks.h"
#include "unit.h"

#include "model/calls/call_class.h"

#include <string.h>

TEST(every_function_is_listed) {
  int failures = 0;
  for (size_t i = 0; i < sizeof cupti_callbacks / sizeof *cupti_callbacks; i++)
    if (!nai_call_is_known(cupti_callbacks[i])) {
      print_error("%s has no class\n", cupti_callbacks[i]);
      failures++;
    }
  assert_int_equal(failures, 0);
  assert_false(nai_call_is_known(""));
  assert_false(nai_call_is_known("cuda"));
  assert_false(nai_call_is_known("GpuMetrics"));
}

/* What names say that were not looked at one by one: whatever launches says so, and so on. */
TEST(words_agree_with_classes) {
  static const struct {
    const char *word, *unless;
    enum nai_call_class class;
  } words[] = {{"cudaLaunch", "HostFunc", NAI_CALL_CLASS_LAUNCH},
               {"cuLaunch", "HostFunc", NAI_CALL_CLASS_LAUNCH},
               {"cudaMalloc", NULL, NAI_CALL_CLASS_ALLOCATION},
               {"cuMemAlloc", NULL, NAI_CALL_CLASS_ALLOCATION},
               {"cudaFree", NULL, NAI_CALL_CLASS_FREE},
               {"cuMemFree", NULL, NAI_CALL_CLASS_FREE},
               {"cudaMemcpy", "Async", NAI_CALL_CLASS_BLOCKING_COPY},
               {"cuMemcpy", "Async", NAI_CALL_CLASS_BLOCKING_COPY},
               {"cudaMemset", "Async", NAI_CALL_CLASS_BLOCKING_COPY},
               {"cuMemset", "Async", NAI_CALL_CLASS_BLOCKING_COPY},
               {"cuModuleLoad", NULL, NAI_CALL_CLASS_LOADING},
               {"cudaGraphAdd", NULL, NAI_CALL_CLASS_GRAPH},
               {"cuGraphExec", NULL, NAI_CALL_CLASS_GRAPH},
               {"cudaGraphics", NULL, NAI_CALL_CLASS_INTEROP}};
  for (size_t i = 0; i < sizeof cupti_callbacks / sizeof *cupti_callbacks; i++)
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
      const char *name = cupti_callbacks[i];
      bool holds = strncmp(name, words[w].word, strlen(words[w].word)) == 0;
      if (holds && !(words[w].unless && strstr(name, words[w].unless)) && nai_call_class_of(name) != words[w].class)
        fail_msg("%s has class %d, expected %d", name, nai_call_class_of(name), words[w].class);
    }
}

TEST(forms_of_a_name_are_one) {
  static const struct {
    const char *name;
    enum nai_call_class class;
  } names[] = {
      {"__cudaLaunchKernel", NAI_CALL_CLASS_LAUNCH},
      {"__cudaLaunchKernel_ptsz_v13000", NAI_CALL_CLASS_LAUNCH},
      {"cudaLaunchKernelExC_ptsz", NAI_CALL_CLASS_LAUNCH},
      {"cudaGraphLaunch_v10000", NAI_CALL_CLASS_GRAPH_LAUNCH},
      {"cudaLaunchHostFunc_ptsz", NAI_CALL_CLASS_HOST_FUNCTION},
      {"cuMemAlloc_v2", NAI_CALL_CLASS_ALLOCATION},
      {"cu64MemAlloc", NAI_CALL_CLASS_ALLOCATION},
      {"cudaStreamGetCaptureInfo_v2_v11030", NAI_CALL_CLASS_CAPTURE},
      {"cudaStreamIsCapturing", NAI_CALL_CLASS_OTHER},
      {"cuStreamWaitValue32_v2_ptsz", NAI_CALL_CLASS_ORDERING},
      {"cuMemcpyHtoDAsync_v2_ptsz", NAI_CALL_CLASS_COPY},
      {"cudaMemcpyBatchAsync", NAI_CALL_CLASS_COPY},
      {"cudaGraphAddMemcpyNode", NAI_CALL_CLASS_GRAPH}, /* copies nothing yet */
      {"cudaGraphicsMapResources", NAI_CALL_CLASS_INTEROP},
      {"cuCtxSynchronize_v2", NAI_CALL_CLASS_BLOCKING},
      {"cuModuleGetLoadingMode", NAI_CALL_CLASS_MODULE},
      {"cudaMemPoolTrimTo", NAI_CALL_CLASS_ADDRESS},
      /* of later versions: by the longest name that is listed */
      {"cudaLaunchKernelFuture_v15000", NAI_CALL_CLASS_LAUNCH},
      {"cudaMemcpyFutureAsync", NAI_CALL_CLASS_COPY},
      {"cudaMemcpyFuture", NAI_CALL_CLASS_BLOCKING_COPY},
      /* no functions */
      {"", NAI_CALL_CLASS_OTHER},
      {"_", NAI_CALL_CLASS_OTHER},
      {"_v2", NAI_CALL_CLASS_OTHER},
      {"cu64", NAI_CALL_CLASS_OTHER},
      {"GpuMetrics", NAI_CALL_CLASS_OTHER},
      {"cudaxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
       "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_v2",
       NAI_CALL_CLASS_OTHER},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (nai_call_class_of(names[i].name) != names[i].class)
      fail_msg("%s has class %d, expected %d", names[i].name, nai_call_class_of(names[i].name), names[i].class);
  assert_int_equal(nai_call_kind_of("__cudaLaunchKernel"), NAI_CALL_LAUNCH);
  assert_int_equal(nai_call_kind_of("cudaFreeAsync"), NAI_CALL_ALLOCATION);
}
