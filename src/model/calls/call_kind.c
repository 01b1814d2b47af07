#include "model/calls/call_kind.h"

#include "model/build.h"

#include <stdio.h>
#include <string.h>

/* Functions by what their names begin with: what one does to its thread, and what it is for. Of longer and shorter
 * beginnings the longer ones come first. */
static const struct {
  enum nai_api_class class;
  enum nai_call_kind kind;
  const char *const *begins;
} families[] = {
    {NAI_API_OTHER, NAI_CALL_OTHER, NAI_WORDS("cudaLaunchHostFunc", "cuLaunchHostFunc")},
    {NAI_API_OTHER, NAI_CALL_LAUNCH, NAI_WORDS("cudaLaunch", "cuLaunch", "cudaGraphLaunch", "cuGraphLaunch")},
    {NAI_API_ALLOCATION, NAI_CALL_ALLOCATION,
     NAI_WORDS("cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaHostRegister", "cudaHostUnregister", "cuMemAlloc",
               "cuMemFree", "cuMemHostAlloc", "cuMemHostRegister", "cuMemHostUnregister", "cuMemCreate", "cuMemRelease",
               "cuMemMap", "cuMemUnmap", "cuMemSetAccess")},
    {NAI_API_ALLOCATION, NAI_CALL_OTHER,
     NAI_WORDS("cuMemAddressReserve", "cuMemAddressFree", "cuMemPoolTrimTo", "cudaMemPoolTrimTo")},
    {NAI_API_MODULE, NAI_CALL_LOADING,
     NAI_WORDS("cuModuleLoad", "cuModuleGetFunction", "cuLibraryLoad", "cuLibraryGet", "cuKernelGetFunction", "cuLink",
               "cudaLibraryLoad")},
    {NAI_API_MODULE, NAI_CALL_OTHER,
     NAI_WORDS("cuModule", "cuLibrary", "cuKernelGet", "cuFuncLoad", "cuFuncGet", "cudaLibrary",
               "cudaFuncGetAttributes", "cudaModule")},
    {NAI_API_OTHER, NAI_CALL_OTHER, NAI_WORDS("")},
};

static size_t family_of(const char *name) {
  size_t i = 0;
  while (!nai_name_matches(name, NAI_BEGINS, families[i].begins))
    i++;
  return i;
}

enum nai_call_kind nai_call_kind_of(const char *name) { return families[family_of(name)].kind; }

enum nai_api_class nai_api_class_of(const char *name) {
  static const char *const waits[] = {"cudaDeviceSynchronize", "cudaThreadSynchronize",
                                      "cudaStreamSynchronize", "cudaEventSynchronize",
                                      "cuCtxSynchronize",      "cuStreamSynchronize",
                                      "cuEventSynchronize",    NULL};
  static const char *const orders[] = {"cudaStreamWaitEvent", "cuStreamWaitEvent",   "cuStreamWaitValue",
                                       "cuStreamWaitValue32", "cuStreamWaitValue64", NULL};
  static const char *const polls[] = {"cudaEventQuery", "cudaStreamQuery", "cuEventQuery", "cuStreamQuery", NULL};
  char base[64]; /* driver functions may carry a version: cuCtxSynchronize_v2 */
  size_t len = strlen(name), end = len > 3 && name[len - 3] == '_' && name[len - 2] == 'v' ? len - 3 : len;
  snprintf(base, sizeof base, "%.*s", (int)end, name);
  if (nai_name_matches(base, NAI_EQUALS, waits))
    return NAI_API_BLOCKING;
  if (nai_name_matches(base, NAI_EQUALS, orders))
    return NAI_API_ORDERING;
  if (nai_name_matches(base, NAI_EQUALS, polls))
    return NAI_API_POLL;
  if ((strcasestr(name, "memcpy") || strcasestr(name, "memset")) && !strcasestr(name, "async"))
    return NAI_API_BLOCKING_COPY;
  return families[family_of(name)].class;
}
