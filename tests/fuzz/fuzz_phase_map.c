/* Any bytes as a phase map, matched against names; the input's own text is one of them. */
#include "config/patterns.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct nai_yaml *doc = NULL;
  struct nai_patterns *set = NULL;
  struct nai_err err = {0};
  char *name = malloc(size + 1);
  if (!name)
    return 0;
  memcpy(name, data, size);
  name[size] = '\0';
  int rc = nai_yaml_parse(&doc, "fuzz.yaml", name, size, &err);
  if (!rc)
    rc = nai_patterns_new(&set, &err);
  if (!rc)
    rc = nai_patterns_add(set, doc, &err);
  if (rc && (rc != err.code || !*err.msg))
    abort(); /* every failure says why */
  const char *const names[] = {name, "", "execute_context_0(0)_generation_2(2)", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                               "\xff\xfe"};
  for (size_t i = 0; !rc && i < sizeof names / sizeof *names; i++) {
    int class = nai_patterns_match(set, names[i]);
    if (class < -1 || class >= nai_patterns_class_count(set))
      abort();
  }
  if (!rc)
    (void)!nai_patterns_check(set, &err);
  nai_patterns_free(set);
  nai_yaml_free(doc);
  free(name);
  return 0;
}
