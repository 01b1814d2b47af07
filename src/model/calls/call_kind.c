#include "model/calls/call_kind.h"

#include "model/build.h"

#include <string.h>
#include <strings.h>

/* Functions by what their names begin with: what one does to its thread, and what it is for. Longer beginnings come
 * first where one begins another. */
static const struct {
  const char *begins;
  enum nai_api_class class;
  enum nai_call_kind kind;
} families[] = {
    {"cudaLaunchHostFunc", NAI_API_OTHER, NAI_CALL_OTHER},
    {"cuLaunchHostFunc", NAI_API_OTHER, NAI_CALL_OTHER},
    {"cudaLaunch", NAI_API_OTHER, NAI_CALL_LAUNCH},
    {"cuLaunch", NAI_API_OTHER, NAI_CALL_LAUNCH},
    {"cudaGraphLaunch", NAI_API_OTHER, NAI_CALL_LAUNCH},
    {"cuGraphLaunch", NAI_API_OTHER, NAI_CALL_LAUNCH},
    {"cudaMalloc", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cudaFree", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cudaHostAlloc", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cudaHostRegister", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cudaHostUnregister", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cudaMemPoolTrimTo", NAI_API_ALLOCATION, NAI_CALL_OTHER},
    {"cuMemAlloc", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cuMemFree", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cuMemHostAlloc", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cuMemHostRegister", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cuMemHostUnregister", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cuMemCreate", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cuMemRelease", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cuMemMap", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cuMemUnmap", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cuMemSetAccess", NAI_API_ALLOCATION, NAI_CALL_ALLOCATION},
    {"cuMemAddressReserve", NAI_API_ALLOCATION, NAI_CALL_OTHER},
    {"cuMemAddressFree", NAI_API_ALLOCATION, NAI_CALL_OTHER},
    {"cuMemPoolTrimTo", NAI_API_ALLOCATION, NAI_CALL_OTHER},
    {"cuModuleLoad", NAI_API_MODULE, NAI_CALL_LOADING},
    {"cuModuleGetFunction", NAI_API_MODULE, NAI_CALL_LOADING},
    {"cuModule", NAI_API_MODULE, NAI_CALL_OTHER},
    {"cuLibraryLoad", NAI_API_MODULE, NAI_CALL_LOADING},
    {"cuLibraryGet", NAI_API_MODULE, NAI_CALL_LOADING},
    {"cuLibrary", NAI_API_MODULE, NAI_CALL_OTHER},
    {"cuKernelGetFunction", NAI_API_MODULE, NAI_CALL_LOADING},
    {"cuKernelGet", NAI_API_MODULE, NAI_CALL_OTHER},
    {"cuLink", NAI_API_MODULE, NAI_CALL_LOADING},
    {"cuFuncLoad", NAI_API_MODULE, NAI_CALL_OTHER},
    {"cuFuncGet", NAI_API_MODULE, NAI_CALL_OTHER},
    {"cudaLibraryLoad", NAI_API_MODULE, NAI_CALL_LOADING},
    {"cudaLibrary", NAI_API_MODULE, NAI_CALL_OTHER},
    {"cudaFuncGetAttributes", NAI_API_MODULE, NAI_CALL_OTHER},
    {"cudaModule", NAI_API_MODULE, NAI_CALL_OTHER},
};
enum { FAMILIES = sizeof families / sizeof *families };

static size_t family_of(const char *name) {
  size_t i = 0;
  while (i < FAMILIES && strncmp(name, families[i].begins, strlen(families[i].begins)) != 0)
    i++;
  return i;
}

enum nai_call_kind nai_call_kind_of(const char *name) {
  size_t family = family_of(name);
  return family < FAMILIES ? families[family].kind : NAI_CALL_OTHER;
}

enum nai_api_class nai_api_class_of(const char *name) {
  static const struct {
    const char *name;
    enum nai_api_class class;
  } known[] = {
      {"cudaDeviceSynchronize", NAI_API_BLOCKING},
      {"cudaThreadSynchronize", NAI_API_BLOCKING},
      {"cudaStreamSynchronize", NAI_API_BLOCKING},
      {"cudaEventSynchronize", NAI_API_BLOCKING},
      {"cuCtxSynchronize", NAI_API_BLOCKING},
      {"cuStreamSynchronize", NAI_API_BLOCKING},
      {"cuEventSynchronize", NAI_API_BLOCKING},
      {"cudaStreamWaitEvent", NAI_API_ORDERING},
      {"cuStreamWaitEvent", NAI_API_ORDERING},
      {"cuStreamWaitValue", NAI_API_ORDERING},
      {"cuStreamWaitValue32", NAI_API_ORDERING},
      {"cuStreamWaitValue64", NAI_API_ORDERING},
      {"cudaEventQuery", NAI_API_POLL},
      {"cudaStreamQuery", NAI_API_POLL},
      {"cuEventQuery", NAI_API_POLL},
      {"cuStreamQuery", NAI_API_POLL},
  };
  size_t len = strlen(name), family = family_of(name);
  size_t base = len > 3 && name[len - 3] == '_' && name[len - 2] == 'v' ? len - 3 : len; /* cuCtxSynchronize_v2 */
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strlen(known[i].name) == base && memcmp(known[i].name, name, base) == 0)
      return known[i].class;
  if ((strcasestr(name, "memcpy") || strcasestr(name, "memset")) && !strcasestr(name, "async"))
    return NAI_API_BLOCKING_COPY;
  return family < FAMILIES ? families[family].class : NAI_API_OTHER;
}
