#include "rundir/outdir.h"

#include "base/fs.h"
#include "base/lock.h"
#include "rundir/outdir_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- begin ------------------------------------------------------------------------------------ */

/* In a directory such as /tmp, where only the owner of an entry may rename it. */
static bool is_sticky(const struct nai_outdir *out, int target) {
  struct stat above, st;
  uid_t me = geteuid();
  return me != 0 && fstat(out->parent, &above) == 0 && fstat(target, &st) == 0 && (above.st_mode & S_ISVTX) &&
         above.st_uid != me && st.st_uid != me;
}

/* The target is an earlier run's, whose files go to `ours`, or empty. */
static int check_is_run(struct nai_strings *ours, const struct nai_outdir *out, int target, struct nai_err *err) {
  bool known = false, empty = false;
  int rc = nai_outdir_list(ours, &known, out, target, err);
  if (!rc && !known)
    rc = nai_outdir_is_empty(&empty, target, out->given, err);
  return rc || known || empty ? rc
                              : nai_err_set(err, NAI_EUSAGE,
                                            "%s holds files that are not from an earlier run, or from a version of "
                                            "nsys-ai that kept no list of them; give a new directory, or remove this "
                                            "one if nothing in it is needed; nothing was changed",
                                            out->given);
}

/* Opens the target when it can be replaced; *target is -1 when there is none. With `work` >= 0 links are tried there.
 */
static int open_target(int *target, const struct nai_outdir *out, int work, struct nai_err *err) {
  struct nai_strings ours = {0};
  *target = nai_outdir_open(out->parent, out->name);
  if (*target < 0 && errno == ENOENT)
    return NAI_OK;
  if (*target < 0 && (errno == ENOTDIR || errno == ELOOP))
    return nai_err_set(err, NAI_EUSAGE, "%s is no directory; give the name of a new or earlier artifacts directory",
                       out->given);
  if (*target < 0)
    return nai_err_sys(err, NAI_EIO, errno, "%s", out->given);
  int rc;
  if (nai_outdir_is_mount(out->parent, out->name))
    rc = nai_err_set(err, NAI_EUSAGE, "%s is a mount point, which cannot be replaced; give a directory below it",
                     out->given);
  else if ((rc = check_is_run(&ours, out, *target, err))) {
    /* refused */
  } else if (is_sticky(out, *target))
    rc = nai_err_set(err, NAI_EIO, "%s belongs to another user and cannot be replaced", out->given);
  else
    rc = nai_outdir_check(*target, &ours, work, out->given, err);
  nai_strings_free(&ours);
  if (rc) {
    close(*target);
    *target = -1;
  }
  return rc;
}

static void choose_unique(struct nai_outdir *out) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
  unsigned char random[NAI_OUTDIR_UNIQUE];
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
    memcpy(random, &(uint64_t){(uint64_t)getpid() * 2654435761u}, sizeof random);
  for (int i = 0; i < NAI_OUTDIR_UNIQUE; i++)
    out->unique[i] = letters[random[i] % (sizeof letters - 1)];
  out->unique[NAI_OUTDIR_UNIQUE] = '\0';
}

/* The work directory; the parent is locked, so nobody sweeps it before it is marked and locked too. */
static int make_work(struct nai_outdir *out, struct nai_err *err) {
  enum { TRIES = 100 };
  char name[NAME_MAX + 1];
  int failed = EEXIST;
  for (int i = 0; i < TRIES && failed == EEXIST; i++) {
    choose_unique(out);
    nai_outdir_name(name, out, NAI_OUTDIR_WORK, out->unique);
    failed = mkdirat(out->parent, name, 0777) == 0 ? 0 : errno;
  }
  if (failed)
    return nai_err_sys(err, NAI_EIO, failed, "cannot create a directory beside %s", out->given);
  if (asprintf(&out->work, "%.*s%s", (int)(out->name - out->target), out->target, name) < 0) {
    out->work = NULL;
    unlinkat(out->parent, name, AT_REMOVEDIR);
    return nai_err_nomem(err);
  }
  out->fresh = nai_outdir_open(out->parent, name);
  int mark =
      out->fresh < 0 ? -1 : openat(out->fresh, NAI_OUTDIR_WORK_MARK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (mark < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot create a file in a directory beside %s", out->given);
  close(mark);
  if (nai_lock(out->fresh, LOCK_EX, 0, NULL, NULL) != 0) {
    /* A file system without locks. */
  }
  return NAI_OK;
}

static int begin_locked(struct nai_outdir *out, struct nai_err *err) {
  int again, rc = nai_outdir_put_back(out, err);
  if (!rc)
    rc = open_target(&out->earlier, out, -1, err);
  if (rc)
    return rc;
  out->exists = out->earlier >= 0;
  if (out->exists && nai_lock(out->earlier, LOCK_SH, 0, NULL, NULL) != 0) {
    /* Then its files may vanish while they are being reused, which is found out and costs some time. */
  }
  nai_outdir_sweep(out, true);
  rc = make_work(out, err);
  if (!rc)
    rc = open_target(&again, out, out->fresh, err);
  if (!rc && again >= 0)
    close(again);
  return rc;
}

/* Each is replaced as a whole, so one in the other would be gone or come back. */
static int check_apart(const struct nai_outdir *out, struct nai_err *err) {
  if (!out->calls.apart)
    return NAI_OK;
  const char *a = out->target, *b = out->calls.apart->target;
  size_t length_a = strlen(a), length_b = strlen(b), shorter = length_a < length_b ? length_a : length_b;
  const char *longer = length_a < length_b ? b : a;
  if (strncmp(a, b, shorter) != 0 || (longer[shorter] && longer[shorter] != '/'))
    return NAI_OK;
  return nai_err_set(err, NAI_EUSAGE, "%s and %s: neither may be or hold the other", out->given,
                     out->calls.apart->given);
}

int nai_outdir_begin(struct nai_outdir *out, const char *path, const struct nai_outdir_calls *calls,
                     struct nai_err *err) {
  *out = (struct nai_outdir){.earlier = -1, .parent = -1, .fresh = -1, .calls = *calls};
  if (!out->calls.rename)
    out->calls.rename = renameat2;
  if (!out->calls.option)
    out->calls.option = "--out";
  if (!out->calls.patience_s)
    out->calls.patience_s = NAI_OUTDIR_PATIENCE_S;
  int rc = nai_outdir_set_names(out, path, err);
  if (!rc)
    rc = check_apart(out, err);
  if (!rc)
    rc = nai_outdir_open_parent(out, err);
  if (!rc)
    rc = nai_outdir_lock(out, err);
  if (rc)
    return rc;
  rc = begin_locked(out, err);
  nai_unlock(out->parent);
  return rc;
}

/* --- commit ----------------------------------------------------------------------------------- */

/* Where two directories cannot be exchanged in one step. A run killed between the renames has the next one put the
 * earlier directory back. Returns 0 or errno; then everything is as it was, or lies where put_back finds it. */
static int exchange_in_steps(const struct nai_outdir *out, const char *work) {
  char aside[NAME_MAX + 1];
  nai_outdir_name(aside, out, NAI_OUTDIR_ASIDE, out->unique);
  int failed = nai_outdir_move_free(out, out->name, aside);
  if (failed)
    return failed;
  failed = nai_outdir_move_free(out, work, out->name);
  if (!failed)
    return nai_outdir_move_free(out, aside, work);
  if (nai_outdir_move_free(out, aside, out->name) != 0)
    nai_outdir_note(out, "the earlier run of %s waits beside it to be put back by the next run", out->given);
  return failed;
}

static int exchange(const struct nai_outdir *out, const char *work) {
  int failed = nai_outdir_move(out, work, out->name, RENAME_EXCHANGE);
  return nai_outdir_cannot(failed) ? exchange_in_steps(out, work) : failed;
}

/* Exchanges with the directory that was looked at: somebody may have put another one in its place since. */
static int exchange_with(const struct nai_outdir *out, int old, const char *work, struct nai_err *err) {
  int failed = exchange(out, work);
  if (failed)
    return nai_err_sys(err, NAI_EIO, failed, "cannot put the new run in the place of %s", out->given);
  if (nai_outdir_same(old, out->parent, work))
    return NAI_OK;
  failed = exchange(out, work);
  return failed ? nai_err_sys(err, NAI_EIO, failed,
                              "%s was replaced by another program, and what it put there is now \"%s\"", out->given,
                              out->work)
                : nai_err_set(err, NAI_EIO, "%s was replaced by another program meanwhile; run again", out->given);
}

/* After the exchange: keeps what the user put into the old directory meanwhile, and removes what is the program's;
 * while anybody still reads from the directory, that is left to a later run. */
static void dismiss(struct nai_outdir *out, int old, const struct nai_strings *ours, const char *work) {
  char left[NAME_MAX + 16];
  int lock;
  if (out->earlier >= 0)
    close(out->earlier);
  out->earlier = -1;
  nai_outdir_adopt(old, ours, out->fresh);
  nai_unlock(out->fresh);
  if (nai_outdir_claim(&lock, old) != EWOULDBLOCK &&
      !nai_outdir_clean(out->parent, work, old, ours, out->fresh, left, sizeof left) && *left)
    nai_outdir_note_left(out, work, left);
  if (lock >= 0)
    close(lock);
}

static int replace(struct nai_outdir *out, int old, const char *work, struct nai_err *err) {
  struct nai_strings ours = {0};
  int rc = nai_outdir_list(&ours, NULL, out, old, err);
  if (!rc)
    rc = nai_outdir_link(old, &ours, out->fresh, out->given, err);
  if (!rc)
    rc = exchange_with(out, old, work, err);
  if (!rc)
    dismiss(out, old, &ours, work);
  nai_strings_free(&ours);
  return rc;
}

static int commit_locked(struct nai_outdir *out, struct nai_err *err) {
  char work[NAME_MAX + 1];
  int old = -1, rc = nai_outdir_put_back(out, err);
  if (!rc)
    rc = open_target(&old, out, -1, err);
  if (rc)
    return rc;
  nai_outdir_name(work, out, NAI_OUTDIR_WORK, out->unique);
  /* From here on the run's own list says what is its own, so that names of the user's files do not matter. */
  if (unlinkat(out->fresh, NAI_OUTDIR_WORK_MARK, 0) != 0 && errno != ENOENT)
    rc = nai_err_sys(err, NAI_EIO, errno, "cannot finish \"%s\"", out->work);
  else if (old >= 0)
    rc = replace(out, old, work, err);
  else {
    int failed = nai_outdir_move_free(out, work, out->name);
    rc = failed ? nai_err_sys(err, NAI_EIO, failed, "cannot put %s in place", out->given) : NAI_OK;
  }
  if (old >= 0)
    close(old);
  return rc;
}

int nai_outdir_commit(struct nai_outdir *out, struct nai_err *err) {
  int rc = nai_outdir_lock(out, err);
  if (rc)
    return rc;
  rc = commit_locked(out, err);
  if (!rc) {
    free(out->work);
    out->work = NULL;
    nai_unlock(out->fresh);
    nai_outdir_sweep(out, false); /* what runs displaced while others read from it */
  }
  nai_unlock(out->parent);
  return rc;
}

/* --- end -------------------------------------------------------------------------------------- */

static void discard_work(const struct nai_outdir *out) {
  char work[NAME_MAX + 1], left[NAME_MAX + 16];
  struct nai_strings ours = {0};
  nai_outdir_name(work, out, NAI_OUTDIR_WORK, out->unique);
  int target = nai_outdir_open(out->parent, out->name);
  if (nai_outdir_list(&ours, NULL, out, out->fresh, NULL) == NAI_OK &&
      !nai_outdir_clean(out->parent, work, out->fresh, &ours, target, left, sizeof left) && *left)
    nai_outdir_note_left(out, work, left);
  nai_strings_free(&ours);
  if (target >= 0)
    close(target);
}

void nai_outdir_end(struct nai_outdir *out) {
  if (!out->given)
    return;
  if (out->work && out->fresh >= 0)
    discard_work(out);
  if (out->earlier >= 0)
    close(out->earlier);
  if (out->fresh >= 0)
    close(out->fresh);
  if (out->parent >= 0)
    close(out->parent);
  free(out->work);
  free(out->target);
  free(out->given);
  *out = (struct nai_outdir){.earlier = -1, .parent = -1, .fresh = -1};
}
