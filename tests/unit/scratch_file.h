/* A file for a group of tests to write, `path`, in a directory of its own. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[64];

static int make_path(void **state) {
  static char directory[] = "/tmp/nai-readers-XXXXXX";
  *state = mkdtemp(directory);
  snprintf(path, sizeof path, "%s/db.sqlite", directory);
  return *state ? 0 : -1;
}

static int remove_path(void **state) {
  unlink(path);
  return rmdir(*state);
}
