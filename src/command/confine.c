/* What a process that reads a trace keeps of its rights. */
#include "base/sandbox.h"
#include "command/command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

void nai_cmd_confine(const char *out, const char *stages) {
  char temporary[PATH_MAX];
  snprintf(temporary, sizeof temporary, "%s/any", nai_temporary_place());
  const char *const writable[] = {temporary, out ? out : temporary, stages ? stages : temporary, NULL};
  nai_sandbox_enter(&(struct nai_sandbox){.writable = writable, .reads_all = true, .readable = -1});
}
