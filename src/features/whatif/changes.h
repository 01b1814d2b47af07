/* The changes that a command simulates: those that are asked for, or those that findings name. Internal to
 * src/features/whatif. */
#pragma once

#include "model/critical/whatif.h"

struct nai_run;
enum { NAI_MOST_OF_A_KIND = 8, NAI_MOST_CHANGES = NAI_MOST_OF_A_KIND * NAI_CHANGE_KINDS };

struct nai_changes {
  struct nai_arena arena; /* of their texts, and of the simulation */
  struct nai_change v[NAI_MOST_CHANGES];
  const char *titles[NAI_MOST_CHANGES]; /* of the finding that names it; NULL: asked for */
  int64_t edited[NAI_MOST_CHANGES];
  uint32_t count;
  int64_t most[NAI_MOST_CHANGES]; /* ns that the finding can save; -1: no bound */
  const char *left_out;           /* findings whose change is none of them, as a sentence; NULL: there is none */
};
void nai_changes_free(struct nai_changes *changes);
NAI_MUST_CHECK int nai_changes_add(struct nai_changes *changes, enum nai_change_kind kind, const char *words,
                                   struct nai_err *err);
/* Those that findings name, each once, but for those of the findings `without`. NAI_EUSAGE: one of these is none. */
NAI_MUST_CHECK int nai_changes_of_findings(struct nai_changes *changes, const int64_t *without, size_t without_count,
                                           struct nai_run *run, struct nai_err *err);
/* How much each is about. NAI_EUSAGE: one is about nothing. */
NAI_MUST_CHECK int nai_changes_count(struct nai_changes *changes, const struct nai_whatif *whatif, struct nai_err *err);
/* Drops change i and notes it in left_out (*out: true) where its finding can save much less than the model would. */
NAI_MUST_CHECK int nai_changes_leave_out(bool *out, struct nai_changes *changes, uint32_t i,
                                         const struct nai_whatif *whatif, struct nai_err *err);
void nai_changes_drop(struct nai_changes *changes, uint32_t which);
