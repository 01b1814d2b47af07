#include "model/calls/call_kind.h"

#include <stdbool.h>
#include <string.h>

static bool begins(const char *name, const char *start) { return strncmp(name, start, strlen(start)) == 0; }

enum nai_call_kind nai_call_kind_of(const char *name) {
  static const struct {
    const char *start;
    enum nai_call_kind kind;
  } kinds[] = {
      {"cudaLaunchHostFunc", NAI_CALL_OTHER},
      {"cuLaunchHostFunc", NAI_CALL_OTHER},
      {"cudaLaunch", NAI_CALL_LAUNCH},
      {"cuLaunch", NAI_CALL_LAUNCH},
      {"cudaGraphLaunch", NAI_CALL_LAUNCH},
      {"cuGraphLaunch", NAI_CALL_LAUNCH},
      {"cudaMalloc", NAI_CALL_ALLOCATION},
      {"cudaFree", NAI_CALL_ALLOCATION},
      {"cudaHostAlloc", NAI_CALL_ALLOCATION},
      {"cudaHostRegister", NAI_CALL_ALLOCATION},
      {"cudaHostUnregister", NAI_CALL_ALLOCATION},
      {"cuMemAlloc", NAI_CALL_ALLOCATION},
      {"cuMemFree", NAI_CALL_ALLOCATION},
      {"cuMemHostAlloc", NAI_CALL_ALLOCATION},
      {"cuMemHostRegister", NAI_CALL_ALLOCATION},
      {"cuMemHostUnregister", NAI_CALL_ALLOCATION},
      {"cuMemCreate", NAI_CALL_ALLOCATION},
      {"cuMemRelease", NAI_CALL_ALLOCATION},
      {"cuMemMap", NAI_CALL_ALLOCATION},
      {"cuMemUnmap", NAI_CALL_ALLOCATION},
      {"cuMemSetAccess", NAI_CALL_ALLOCATION},
      {"cuModuleLoad", NAI_CALL_LOADING},
      {"cuModuleGetFunction", NAI_CALL_LOADING},
      {"cuLibraryLoad", NAI_CALL_LOADING},
      {"cuLibraryGet", NAI_CALL_LOADING},
      {"cuKernelGetFunction", NAI_CALL_LOADING},
      {"cuLink", NAI_CALL_LOADING},
      {"cudaLibraryLoad", NAI_CALL_LOADING},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (begins(name, kinds[i].start))
      return kinds[i].kind;
  return NAI_CALL_OTHER;
}
