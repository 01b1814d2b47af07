/* The artifacts directory: everything is written beside it and swapped in as a whole, so that a reader sees the old run
 * or the new one, never a mixture. */
#ifndef NAI_PIPELINE_OUTDIR_H
#define NAI_PIPELINE_OUTDIR_H

#include "base/err.h"

#include <stdbool.h>

struct nai_outdir {
  char *target; /* the artifacts directory, links resolved */
  char *work;   /* where this run writes */
  int lock;     /* held on `work` while this run lives */
  bool exists;  /* target held an earlier run (or was empty) when this one began */
};

/* Path, relative to an artifacts directory, of the file that marks it as ours. */
#define NAI_OUTDIR_MARK "stages/manifest.json"

/* Makes the work directory and sweeps those that killed runs left behind. Refuses (NAI_EUSAGE) a target that is a file or a
 * directory with files that are not ours; NAI_EIO when it cannot be written. */
NAI_MUST_CHECK int nai_outdir_begin(struct nai_outdir *out, const char *path, struct nai_err *err);
/* Swaps the work directory in. `is_ours` tells whether a path relative to the old directory was written by us: other files
 * are carried over. */
NAI_MUST_CHECK int nai_outdir_commit(struct nai_outdir *out, bool (*is_ours)(void *ctx, const char *path), void *ctx,
                                     struct nai_err *err);
/* Removes what was not committed and frees. Accepts a zeroed struct. */
void nai_outdir_end(struct nai_outdir *out);

#endif
