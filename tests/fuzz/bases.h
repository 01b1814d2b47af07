/* Generated traces that inputs of a few bytes are changes to. */
#pragma once

#include "base/fs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef NAI_FUZZ_GENERATOR
#define NAI_FUZZ_GENERATOR "nsys-ai-gen"
#endif

static inline void bases_must(int rc, const struct nai_err *err) {
  if (!rc)
    return;
  fprintf(stderr, "%s\n", err->msg);
  abort();
}

/* A directory of this process, in memory where the system has such a place; removed when it ends in order. */
static char bases_path[64];
static inline void bases_remove(void) {
  struct nai_err err;
  (void)!nai_fs_remove_tree(bases_path, &err);
}
static inline const char *bases_directory(void) {
  if (*bases_path)
    return bases_path;
  snprintf(bases_path, sizeof bases_path, "%s/nai-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  if (!mkdtemp(bases_path))
    abort();
  atexit(bases_remove);
  return bases_path;
}

/* Generates a trace there; `how`: options of the generator. */
static inline void bases_generate(char path[PATH_MAX], const char *scenario, const char *how) {
  char command[2 * PATH_MAX];
  snprintf(path, PATH_MAX, "%s/%s.sqlite", bases_directory(), scenario);
  snprintf(command, sizeof command, "'%s' %s '%s' %s >/dev/null", NAI_FUZZ_GENERATOR, scenario, path, how);
  if (system(command) != 0) // NOLINT
    abort();
}
