#include "analyses/launches/overhead_kind.h"

#include "table/events.h"

#include <stdbool.h>
#include <string.h>

static bool begins(const char *name, const char *start) { return strncmp(name, start, strlen(start)) == 0; }

enum nai_overhead_kind nai_overhead_kind_of(int64_t source, int64_t type, const char *name) {
  enum { MODULE_LOAD = 6, LAZY_LOAD = 7 };
  if (source == NAI_OVERHEAD_JIT || strstr(name, "ptxjitcompiler") || strstr(name, "Module Loading") ||
      strstr(name, "Lazy Function Loading"))
    return NAI_OVERHEAD_LOADING;
  if (source == NAI_OVERHEAD_CUDA)
    return type == MODULE_LOAD || type == LAZY_LOAD ? NAI_OVERHEAD_LOADING : NAI_OVERHEAD_OTHER;
  if (begins(name, "TLS allocation") || begins(name, "Chunk Allocation") || begins(name, "dlopen(") ||
      begins(name, "dlclose"))
    return NAI_OVERHEAD_OTHER;
  return strcmp(name, "Unknown") == 0 ? NAI_OVERHEAD_UNNAMED : NAI_OVERHEAD_OF_PROFILER;
}

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
