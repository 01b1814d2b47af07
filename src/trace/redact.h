/* A copy of an export for readers outside: every word of its names that is not public is a token. Public are words that
 * occur in the program's own patterns (kernel classes, workload, phase maps, GPUs, rules/public-words.yaml), names of
 * CUDA and operating system functions, single letters, and digits. Times, sizes, counts, process and thread numbers
 * stay. Left out are binary payloads, UUIDs, texts that name nothing, and facts and messages with other words.
 *
 * Tokens (X1, X2, ...) are those of a map, a CSV file of token and word, so that one word has one token in every export
 * that is redacted with it. The map stays with the owner. */
#pragma once

#include "base/buf.h"
#include "base/strings.h"
#include "trace/trace/trace.h"

struct nai_redaction {
  struct nai_strings known;   /* public words, in lower case */
  struct nai_strings private; /* number i has token X(i+1) */
  bool oom;
};

/* With the words of an earlier map, if there is one at `map`. NAI_EUSAGE for a file that is none. */
NAI_MUST_CHECK int nai_redaction_open(struct nai_redaction *out, const char *map, struct nai_err *err);
void nai_redaction_free(struct nai_redaction *redaction);
/* Writes the copy to `path`, where nothing is. NAI_EINPUT for what cannot be read, NAI_EIO, NAI_ELIMIT. */
NAI_MUST_CHECK int nai_redact_trace(struct nai_redaction *redaction, const struct nai_trace *trace, const char *path,
                                    struct nai_err *err);
/* Writes the map, for its owner's eyes only. */
NAI_MUST_CHECK int nai_redaction_save(const struct nai_redaction *redaction, const char *map, struct nai_err *err);
