/* How much a unit test does. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether what is dear is done in part: in the first tier of scripts/test, and up to the second under AddressSanitizer,
 * where it takes five times as long. Without the variable all is done. */
static inline bool in_part(void) {
  const char *tier = getenv("NAI_TEST_TIER");
#ifdef __SANITIZE_ADDRESS__
  return tier && strcmp(tier, "soak") != 0;
#else
  return tier && strcmp(tier, "check") == 0;
#endif
}

/* Whether what is dearest is done: in the last tier, or without the variable. */
static inline bool in_whole(void) {
  const char *tier = getenv("NAI_TEST_TIER");
  return !tier || strcmp(tier, "soak") == 0;
}

/* Ends a test that lacks something, and says what, for the summary of scripts/test. */
#define skip_because(reason)         \
  do {                               \
    printf("skipped: %s\n", reason); \
    skip();                          \
  } while (0)
