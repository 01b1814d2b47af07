/* All unit tests in one program, so that they are linked once. A process runs one group: tests may fork, confine
 * themselves or set limits, and what one leaves behind reaches no other group. */
#include "unit.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TESTS = 4000 };

static struct test {
  const char *file;
  int line;
  struct CMUnitTest test; /* without a function: what is done before and after the group */
} tests[MAX_TESTS];
static size_t test_count;

void unit_add(const char *file, int line, const struct CMUnitTest *test) {
  if (test_count == MAX_TESTS)
    abort();
  const char *slash = strrchr(file, '/');
  tests[test_count++] = (struct test){slash ? slash + 1 : file, line, *test};
}

static int by_place(const void *a, const void *b) {
  const struct test *x = a, *y = b;
  int order = strcmp(x->file, y->file);
  return order ? order : x->line - y->line;
}

/* Of test_NAME.c. */
static bool is_of_group(const struct test *test, const char *name) {
  const char *at = test->file + strlen("test_");
  size_t len = strlen(name);
  return strncmp(at, name, len) == 0 && strcmp(at + len, ".c") == 0;
}

static int usage(void) {
  fputs("usage: unit GROUP [TEST], where TEST may have * and ?. Groups:\n", stderr);
  for (size_t i = 0; i < test_count; i++)
    if (i == 0 || strcmp(tests[i].file, tests[i - 1].file) != 0)
      fprintf(stderr, "  %.*s\n", (int)(strlen(tests[i].file) - strlen("test_.c")), tests[i].file + strlen("test_"));
  return 2;
}

static int no_such_test(const char *group, const char *pattern, const struct CMUnitTest *of_group, size_t count) {
  fprintf(stderr, "unit: group %s has no test %s; it has:\n", group, pattern);
  for (size_t i = 0; i < count; i++)
    fprintf(stderr, "  %s\n", of_group[i].name);
  return 2;
}

int main(int argc, char **argv) {
  static struct CMUnitTest of_group[MAX_TESTS];
  struct CMUnitTest fixture = {0};
  size_t count = 0, matches = 0; /* cmocka is content with a pattern that no test has */
  qsort(tests, test_count, sizeof *tests, by_place);
  for (size_t i = 0; argc > 1 && i < test_count; i++)
    if (is_of_group(&tests[i], argv[1]))
      *(tests[i].test.test_func ? &of_group[count++] : &fixture) = tests[i].test;
  if (!count || argc > 3)
    return usage();
  for (size_t i = 0; argc == 3 && i < count; i++)
    matches += fnmatch(argv[2], of_group[i].name, 0) == 0;
  if (argc == 3 && !matches)
    return no_such_test(argv[1], argv[2], of_group, count);
  cmocka_set_test_filter(argc == 3 ? argv[2] : NULL);
  /* By hand as by ctest, which says where things are. */
  setenv("NSYS_AI_GEN", UNIT_GENERATOR, 0);
  setenv("NAI_SOURCE_DIR", UNIT_SOURCE_DIR, 0);
  setenv("NAI_SHARED_DIR", UNIT_SOURCE_DIR "/../shared", 0);
  return _cmocka_run_group_tests(argv[1], of_group, count, fixture.setup_func, fixture.teardown_func);
}
