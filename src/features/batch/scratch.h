/* Analysing an item on a machine's own disk: the trace is copied there, the finished directory comes back. Internal to
 * src/features/batch. */
#pragma once

#include "base/temporary.h"
#include "features/batch/batch.h"

struct nai_batch_scratch {
  struct nai_temporary directory;
  char trace[PATH_MAX], out[PATH_MAX]; /* "" where the item is analysed in place */
};

/* Copies the trace, where the batch has a scratch directory. One that cannot be read is analysed in place, which then
 * says why; so is one with a WAL or a journal beside it, or one that changes while it is copied. */
NAI_MUST_CHECK int nai_batch_scratch_begin(struct nai_batch_scratch *scratch, const struct nai_batch *batch,
                                           uint32_t item, struct nai_err *err);
/* Brings the result back if it is to be kept, and removes the copies. */
NAI_MUST_CHECK int nai_batch_scratch_end(struct nai_batch_scratch *scratch, const struct nai_batch *batch,
                                         uint32_t item, bool keep, struct nai_err *err);
