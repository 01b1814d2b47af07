/* Other programs. Words go to them as they are, never through a shell. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct nai_program {
  const char *const *argv; /* ends with NULL; the first is looked for on PATH unless it has a slash */
  const char *input;       /* for its standard input; NULL: this program's own */
  struct nai_buf *output;  /* what it prints is put behind; NULL: it is dropped */
  size_t output_max;       /* bytes; more is NAI_ELIMIT */
  bool silent;             /* its messages are dropped, too */
};

enum { NAI_PROGRAM_SIGNAL = 128 }; /* that and the signal's number: how a shell says it */

/* Runs it to its end; *status is what it ended with. An error of the system where it cannot be started. */
NAI_MUST_CHECK int nai_program_run(int *status, const struct nai_program *program, struct nai_err *err);
/* The file of that name on PATH that can be run; false when there is none. */
bool nai_program_find(char out[PATH_MAX], const char *name);
bool nai_program_is_there(const char *name);
