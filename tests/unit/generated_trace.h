/* A generated trace for a group of tests: `trace`, and `out` for its artifacts, in a directory of their own. Included
 * after unit.h. */
#pragma once

#include "base/fs.h"

#include <stdio.h>
#include <stdlib.h>

static char directory[] = "/tmp/nai-trace-XXXXXX";
static char trace[64], out[64];

static int make_trace(void **state) {
  (void)state;
  const char *generator = getenv("NSYS_AI_GEN");
  char command[512];
  if (!generator || !mkdtemp(directory))
    return -1;
  snprintf(trace, sizeof trace, "%s/t.sqlite", directory);
  snprintf(out, sizeof out, "%s/out", directory);
  snprintf(command, sizeof command, "'%s' training '%s' >/dev/null", generator, trace);
  return system(command) == 0 ? 0 : -1; // NOLINT
}

static int remove_trace(void **state) {
  (void)state;
  return nai_fs_remove_tree(directory, NULL);
}
