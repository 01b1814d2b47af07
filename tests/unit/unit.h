/* What every file of unit tests begins with: cmocka, and how unit.c finds the file's tests. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct unit_group {
  const char *name;
  const struct CMUnitTest *tests;
  size_t count;
  int (*run)(void);
  struct unit_group *next;
};

void unit_add(struct unit_group *group);

/* Ends a file: its array `tests` is the group NAME of tests/unit/test_NAME.c. `setup` and `teardown`, of the group, may
 * be NULL. */
#define UNIT_GROUP(group, setup, teardown)                                                           \
  static int run_group(void) { return cmocka_run_group_tests_name(#group, tests, setup, teardown); } \
  __attribute__((constructor)) static void add_group(void) {                                         \
    static struct unit_group self = {#group, tests, sizeof tests / sizeof *tests, run_group, NULL};  \
    unit_add(&self);                                                                                 \
  }
