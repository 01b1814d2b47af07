/* What every file of unit tests begins with: cmocka, and how unit.c finds the file's tests. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Adds a test to the group NAME of tests/unit/test_NAME.c, or, without a function, what is done before and after the
 * group. */
void unit_add(const char *file, int line, const struct CMUnitTest *test);

#define UNIT_ADD(name, function, setup, teardown)                                               \
  __attribute__((constructor)) static void add_##name(void) {                                   \
    unit_add(__FILE__, __LINE__, &(struct CMUnitTest){#name, function, setup, teardown, NULL}); \
  }

/* A test of the file's group: TEST(name) { ... }. Tests run in the order in which they stand. */
#define TEST(name) TEST_WITH(name, NULL, NULL)
/* A test with what is done before and after it; either may be NULL, and what `setup` stored is `*state`. */
#define TEST_WITH(name, setup, teardown) \
  static void name(void **state);        \
  UNIT_ADD(name, name, setup, teardown)  \
  static void name(__attribute__((unused)) void **state)
/* What is done before the tests of the file, and after them; either may be NULL. */
#define UNIT_FIXTURE(setup, teardown) UNIT_ADD(fixture, NULL, setup, teardown)
