/* What the names of API functions and kernels say. */
#include "model/build.h"

#include <string.h>
#include <strings.h>

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
    m->api_class[i] = (uint8_t)nai_api_class_of(nai_strings_get(apis, i));
  return nai_kernel_classes_check(m->classes, err);
}

const struct nai_part_def nai_part_names = {.name = "names",
                                            .tables = NAI_IN(KERNELS) | NAI_IN(APIS),
                                            .config = NAI_CONFIG(KERNEL_CLASSES),
                                            .begin = classify_names};
