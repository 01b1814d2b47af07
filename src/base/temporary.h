/* What is still being made: files and directories under hidden names, .NAME.RANDOM.nsys-ai-tmp, beside what they are
 * going to be, or below TMPDIR. Files, and the mark that is in directories, are locked while their process lives (a
 * child that it forks keeps the lock): so what killed processes left can be told from what is in use, and both from
 * what is somebody else's. */
#pragma once

#include "base/err.h"

#define NAI_TEMPORARY_SUFFIX ".nsys-ai-tmp"
#define NAI_TEMPORARY_MARK ".nsys-ai-temporary"

struct nai_temporary {
  char path[PATH_MAX]; /* "" when there is none: a zeroed struct */
  int fd;              /* of a file, to write to; of a directory */
  int mark;            /* of the file that marks a directory, else -1 */
};

/* $TMPDIR where that is an absolute path, else /tmp. */
const char *nai_temporary_place(void);
/* A new file beside `path`, which it is going to replace: with the permissions of that file, if there is one. NAI_EIO.
 */
NAI_MUST_CHECK int nai_temporary_file(struct nai_temporary *out, const char *path, struct nai_err *err);
/* A new directory beside `path`, with the usual permissions; or in `place`, for this user alone, after what killed
 * processes of this user left there is removed. NAI_EIO. */
NAI_MUST_CHECK int nai_temporary_beside(struct nai_temporary *out, const char *path, struct nai_err *err);
NAI_MUST_CHECK int nai_temporary_in(struct nai_temporary *out, const char *place, struct nai_err *err);
/* Gives it its name. A file replaces what has that name; a directory only an empty one. On failure (errno) it is still
 * there. 0 or errno. */
NAI_MUST_CHECK int nai_temporary_become(struct nai_temporary *temporary, const char *path);
/* Removes it, with all that it holds; false when something is still there. Accepts a zeroed struct. */
bool nai_temporary_remove(struct nai_temporary *temporary);
/* Removes from a directory what killed processes left: what has such a name, belongs to this user, is locked by nobody
 * and, if it is a directory, has the mark or is empty. Where the file system has no locks nothing is removed. */
void nai_temporary_sweep(const char *directory);
