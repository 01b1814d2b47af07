/* All unit tests in one program, so that they are linked once. A process runs one group: tests may fork, confine
 * themselves or set limits, and what one leaves behind reaches no other group. */
#include "unit.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct unit_group *groups; /* in order of their names */

void unit_add(struct unit_group *group) {
  struct unit_group **at = &groups;
  while (*at && strcmp((*at)->name, group->name) < 0)
    at = &(*at)->next;
  group->next = *at;
  *at = group;
}

/* cmocka is content with a pattern that no test has. */
static size_t matches(const struct unit_group *group, const char *pattern) {
  size_t count = 0;
  for (size_t i = 0; i < group->count; i++)
    count += fnmatch(pattern, group->tests[i].name, 0) == 0;
  return count;
}

static int usage(void) {
  fputs("usage: unit GROUP [TEST], where TEST may have * and ?. Groups:\n", stderr);
  for (const struct unit_group *group = groups; group; group = group->next)
    fprintf(stderr, "  %s\n", group->name);
  return 2;
}

int main(int argc, char **argv) {
  const struct unit_group *group = groups;
  while (group && (argc < 2 || strcmp(group->name, argv[1]) != 0))
    group = group->next;
  if (!group || argc > 3)
    return usage();
  if (argc == 3 && !matches(group, argv[2])) {
    fprintf(stderr, "unit: group %s has no test %s; it has:\n", group->name, argv[2]);
    for (size_t i = 0; i < group->count; i++)
      fprintf(stderr, "  %s\n", group->tests[i].name);
    return 2;
  }
  cmocka_set_test_filter(argc == 3 ? argv[2] : NULL);
  /* By hand as by ctest, which says where things are. */
  setenv("NSYS_AI_GEN", UNIT_GENERATOR, 0);
  setenv("NAI_SOURCE_DIR", UNIT_SOURCE_DIR, 0);
  setenv("NAI_SHARED_DIR", UNIT_SOURCE_DIR "/../shared", 0);
  return group->run();
}
