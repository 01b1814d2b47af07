/* What the names of API functions and kernels say. */
#include "model/build.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool has(const char *name, const char *part) { return strcasestr(name, part) != NULL; }

/* Names are cut at what the functions of a family have in common. */
static bool begins_with_one_of(const char *name, const char *const *list, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strncmp(name, list[i], strlen(list[i])) == 0)
      return true;
  return false;
}

static bool is_allocation(const char *name) {
  static const char *const families[] = {
      "cudaMalloc",          "cudaFree",         "cudaHostAlloc",   "cudaHostRegister",  "cudaHostUnregister",
      "cuMemAlloc",          "cuMemFree",        "cuMemHostAlloc",  "cuMemHostRegister", "cuMemHostUnregister",
      "cuMemCreate",         "cuMemRelease",     "cuMemMap",        "cuMemUnmap",        "cuMemSetAccess",
      "cuMemAddressReserve", "cuMemAddressFree", "cuMemPoolTrimTo", "cudaMemPoolTrimTo"};
  return begins_with_one_of(name, families, sizeof families / sizeof *families);
}

static bool is_module(const char *name) {
  static const char *const families[] = {"cuModule",   "cuLibrary", "cuLink",      "cuKernelGet",
                                         "cuFuncLoad", "cuFuncGet", "cudaLibrary", "cudaFuncGetAttributes",
                                         "cudaModule"};
  return begins_with_one_of(name, families, sizeof families / sizeof *families);
}

static enum nai_api_class classify_api(const char *name) {
  static const char *const waits[] = {"cudaDeviceSynchronize", "cudaThreadSynchronize", "cudaStreamSynchronize",
                                      "cudaEventSynchronize",  "cuCtxSynchronize",      "cuStreamSynchronize",
                                      "cuEventSynchronize"};
  static const char *const orders[] = {"cudaStreamWaitEvent", "cuStreamWaitEvent", "cuStreamWaitValue",
                                       "cuStreamWaitValue32", "cuStreamWaitValue64"};
  static const char *const polls[] = {"cudaEventQuery", "cudaStreamQuery", "cuEventQuery", "cuStreamQuery"};
  /* Driver functions may carry a version: cuCtxSynchronize_v2. */
  size_t len = strlen(name);
  size_t base = len > 3 && name[len - 3] == '_' && name[len - 2] == 'v' ? len - 3 : len;
#define IS_ONE_OF(list)                                   \
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) \
    if (strlen(list[i]) == base && memcmp(list[i], name, base) == 0)
  IS_ONE_OF(waits) return NAI_API_BLOCKING;
  IS_ONE_OF(orders) return NAI_API_ORDERING;
  IS_ONE_OF(polls) return NAI_API_POLL;
#undef IS_ONE_OF
  if ((has(name, "memcpy") || has(name, "memset")) && !has(name, "async"))
    return NAI_API_BLOCKING_COPY;
  return is_allocation(name) ? NAI_API_ALLOCATION : is_module(name) ? NAI_API_MODULE : NAI_API_OTHER;
}

static int classify_names(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  uint32_t kernels = m->tables[NAI_IN_KERNELS]->strings.count, apis = m->tables[NAI_IN_APIS]->strings.count;
  m->kernel_category = calloc((size_t)kernels + 1, sizeof *m->kernel_category);
  m->kernel_communication = calloc((size_t)kernels + 1, sizeof *m->kernel_communication);
  m->api_class = calloc((size_t)apis + 1, 1);
  if (!m->kernel_category || !m->kernel_communication || !m->api_class)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < kernels; i++) {
    m->kernel_category[i] =
        nai_kernel_classes_match(m->classes, nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, i));
    m->kernel_communication[i] = m->kernel_category[i] == nai_kernel_classes_communication(m->classes);
  }
  for (uint32_t i = 0; i < apis; i++)
    m->api_class[i] = (uint8_t)classify_api(nai_strings_get(&m->tables[NAI_IN_APIS]->strings, i));
  return nai_kernel_classes_check(m->classes, err);
}

static void free_names(struct nai_model *m) {
  free(m->api_class);
  free(m->kernel_category);
  free(m->kernel_communication);
}

const struct nai_part_def nai_part_names = {.name = "names",
                                            .tables = NAI_IN(KERNELS) | NAI_IN(APIS),
                                            .config = NAI_CONFIG(KERNEL_CLASSES),
                                            .begin = classify_names,
                                            .free = free_names};
