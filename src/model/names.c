/* What the names of API functions and kernels say. */
#include "model/build.h"
#include "model/calls/call_class.h"

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

/* What a function does to its thread. */
static enum nai_api_class api_class_of(const char *name) {
  switch (nai_call_class_of(name)) {
  case NAI_CALL_CLASS_BLOCKING:
    return NAI_API_BLOCKING;
  case NAI_CALL_CLASS_BLOCKING_COPY:
    return NAI_API_BLOCKING_COPY;
  case NAI_CALL_CLASS_ORDERING:
    return NAI_API_ORDERING;
  case NAI_CALL_CLASS_POLL:
    return NAI_API_POLL;
  case NAI_CALL_CLASS_ALLOCATION:
  case NAI_CALL_CLASS_FREE:
  case NAI_CALL_CLASS_ADDRESS:
    return NAI_API_ALLOCATION;
  case NAI_CALL_CLASS_LOADING:
  case NAI_CALL_CLASS_MODULE:
    return NAI_API_MODULE;
  default:
    return NAI_API_OTHER;
  }
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
