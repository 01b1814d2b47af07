/* The artifacts directory: everything is written beside it and swapped in as a whole, so that a reader sees the old run
 * or the new one, never a mixture. What the program did not write is never deleted and never lies in a temporary place
 * only; docs/architecture.md says how. */
#pragma once

#include "base/scope.h"
#include "base/strings.h"
#include "rundir/manifest.h"

/* What the directory asks of its user. */
struct nai_outdir_calls {
  /* Whether `directory` (an open one) is one of this program's, and the paths, relative to it, of the files that the
   * run in it wrote, as far as that can be told. Regular files of these names are ours where a run gives files such
   * names, everything else is somebody else's. */
  int (*list)(struct nai_strings *files, bool *known, int directory, struct nai_err *err);
  /* One line for the user: somebody is waited for, something was left somewhere. May be NULL. */
  void (*note)(const char *line);
  /* renameat2, or what a test puts in its place; NULL = renameat2. */
  int (*rename)(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
  int patience_s;                 /* how long to wait for the parent's lock; 0 = a minute */
  const char *option;             /* what names the directory on the command line, for messages; NULL = --out */
  const struct nai_outdir *apart; /* another that is being written: neither may be or hold the other; may be NULL */
};

/* Makes the work directory, and first puts back or sweeps away what killed runs left. Refuses (NAI_EUSAGE) a target
 * that could not be replaced in the end: a file, a mount point, a directory that is not from an earlier run or that
 * holds something which cannot be hard-linked; NAI_EIO when the place cannot be written. */
NAI_MUST_CHECK int nai_outdir_begin(struct nai_outdir **out, const char *path, const struct nai_outdir_calls *calls,
                                    struct nai_err *err);
/* Looks at the target again and swaps the work directory in, which must hold NAI_MANIFEST_PATH by then. Files of the
 * old one that are not ours are in both directories from before the swap; under NAME.kept where the new run has a file
 * of that name. Permissions stay as they were. On failure the target is as it was. */
NAI_MUST_CHECK int nai_outdir_commit(struct nai_outdir *out, struct nai_err *err);
/* Removes what was not committed and frees. Accepts NULL. */
void nai_outdir_end(struct nai_outdir *out);
NAI_OWNER_BY(nai_outdir, nai_outdir_end)

/* The artifacts directory, links resolved; and where this run writes. */
const char *nai_outdir_target(const struct nai_outdir *out);
const char *nai_outdir_work(const struct nai_outdir *out);
/* What the target was when this run began, empty or an earlier run's: open, and locked against removal until commit or
 * end; -1: there was none. It stays valid when another run replaces the directory: read what is reused through it,
 * never by path. */
int nai_outdir_earlier(const struct nai_outdir *out);

/* Whether an analysis gives files such names (relative to the artifacts directory): 1 or 0; -1 when memory ran out.
 * Lists of files may be forged: they make a file of any other name nobody's to remove. */
int nai_outdir_is_of_run(const char *path);

/* Who reads a run keeps its files from being removed when another run takes its place. The lock is on stages/, not on
 * the run's directory: that one is locked by whoever writes a directory beneath it, and must not wait for readers.
 * LOCK_SH to read the run in `directory`, LOCK_EX to remove its files; nobody is waited for. `*lock` is to be closed if
 * it is not -1. 0, EWOULDBLOCK when somebody holds it, ENOENT without stages/, or another errno where there are no
 * locks. */
int nai_stages_lock(int *lock, int directory, int operation);
