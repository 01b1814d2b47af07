/* Gives up rights that a process does not need any more, so that a defect in reading hostile data has little to work
 * with: Landlock for files, seccomp for the rest. What the kernel does not offer is left out without a word: nothing
 * depends on it. Costs some 100 us, and cannot be undone; children inherit it. To be entered before threads are
 * started. */
#pragma once

#include "base/std.h"

/* What remains. Files that are open already stay so. */
struct nai_sandbox {
  const char *const *writable; /* paths, ends with NULL: files below the directories they lie in may be made and removed
                                  (below the nearest one that exists); NULL: nothing may be written */
  bool reads_all;              /* files anywhere may be read; else only those below `readable` */
  int readable;                /* a directory that is open, or -1 */
};

/* No other program is started, no socket opened, no other process looked into; files as said. */
void nai_sandbox_enter(const struct nai_sandbox *sandbox);
