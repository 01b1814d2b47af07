/* What the names of API functions and kernels say. */
#include "model/build.h"
#include "model/calls/call_kind.h"

#include <stdio.h>
#include <string.h>

bool nai_name_matches(const char *name, enum nai_match how, const char *const *words) {
  for (const char *word; (word = *words); words++)
    if (how == NAI_EQUALS            ? strcmp(name, word) == 0
        : how == NAI_BEGINS          ? strncmp(name, word, strlen(word)) == 0
        : how == NAI_BEGINS_ANY_CASE ? strncasecmp(name, word, strlen(word)) == 0
        : how == NAI_HOLDS           ? strstr(name, word) != NULL
                                     : strcasestr(name, word) != NULL)
      return true;
  return false;
}

/* --- API functions ---------------------------------------------------------------------------- */

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

static enum nai_api_class api_class_of(const char *name) {
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

/* --- the part --------------------------------------------------------------------------------- */

static int classify_names(struct nai_model *m, struct nai_err *err) {
  const struct nai_strings *kernels = &m->tables[NAI_IN_KERNELS]->strings, *apis = &m->tables[NAI_IN_APIS]->strings;
  NAI_TRY(NAI_NEW(m->kernel_category, &m->arena, kernels->count, err));
  NAI_TRY(NAI_NEW(m->kernel_communication, &m->arena, kernels->count, err));
  NAI_TRY(NAI_NEW(m->api_class, &m->arena, apis->count, err));
  for (uint32_t i = 0; i < kernels->count; i++) {
    m->kernel_category[i] = nai_kernel_classes_match(m->classes, nai_strings_get(kernels, i));
    m->kernel_communication[i] = m->kernel_category[i] == nai_kernel_classes_communication(m->classes);
  }
  for (uint32_t i = 0; i < apis->count; i++)
    m->api_class[i] = (uint8_t)api_class_of(nai_strings_get(apis, i));
  return nai_kernel_classes_check(m->classes, err);
}

const struct nai_part_def nai_part_names = {.name = "names",
                                            .tables = NAI_IN(KERNELS) | NAI_IN(APIS),
                                            .config = NAI_CONFIG(KERNEL_CLASSES),
                                            .begin = classify_names};
