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
  int parent;   /* the directory that holds both; locked while entries in it change hands */
  bool exists;  /* target held an earlier run (or was empty) when this one began */
};

/* Path, relative to an artifacts directory, of the file that marks it as ours. */
#define NAI_OUTDIR_MARK "stages/manifest.json"

/* Makes the work directory and sweeps those that killed runs left behind. Refuses (NAI_EUSAGE) a target that is a file
 * or a directory with files that are not ours; NAI_EIO when it cannot be written. */
NAI_MUST_CHECK int nai_outdir_begin(struct nai_outdir *out, const char *path, struct nai_err *err);
/* Whether `path` (relative) of the earlier run's directory, which now lies at `directory`, was written by that run. */
typedef bool nai_is_ours_fn(void *ctx, const char *directory, const char *path);

/* Swaps the work directory in. Files of the old one that `is_ours` does not
 * know are carried over, under NAME.kept where the new run has a file of that name. Should that fail, the old directory
 * stays where the message says. */
NAI_MUST_CHECK int nai_outdir_commit(struct nai_outdir *out, nai_is_ours_fn *is_ours, void *ctx, struct nai_err *err);
/* Removes what was not committed and frees. Accepts a zeroed struct. */
void nai_outdir_end(struct nai_outdir *out);

#endif
