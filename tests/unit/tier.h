/* How much a unit test does. */
#ifndef NAI_TESTS_TIER_H
#define NAI_TESTS_TIER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* scripts/test, the first of its tiers: what is dear is done in part. Without the variable all is done. */
static inline bool first_tier(void) {
  const char *tier = getenv("NAI_TEST_TIER");
  return tier && strcmp(tier, "check") == 0;
}

/* Ends a test that lacks something, and says what, for the summary of scripts/test. */
#define skip_because(reason)         \
  do {                               \
    printf("skipped: %s\n", reason); \
    skip();                          \
  } while (0)

#endif
