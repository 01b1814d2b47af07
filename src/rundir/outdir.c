#include "rundir/outdir.h"

#include "base/fs.h"
#include "base/lock.h"
#include "rundir/outdir_internal.h"

#include <fcntl.h>
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
  NAI_TRY(nai_outdir_list(ours, &known, out, target, err));
  if (!known)
    NAI_TRY(nai_outdir_is_empty(&empty, target, out->given, err));
  return known || empty ? NAI_OK
                        : nai_err_set(err, NAI_EUSAGE,
                                      "%s holds files that are not from an earlier run, or from a version of "
                                      "nsys-ai that kept no list of them; give a new directory, or remove this "
                                      "one if nothing in it is needed; nothing was changed",
                                      out->given);
}

/* Whether a target can be replaced. With `work` >= 0 links are tried there. */
static int check_target(const struct nai_outdir *out, int target, int work, struct nai_err *err) {
  NAI_SCOPED(nai_strings) ours = {0};
  if (nai_outdir_is_mount(out->parent, out->name))
    return nai_err_set(err, NAI_EUSAGE, "%s is a mount point, which cannot be replaced; give a directory below it",
                       out->given);
  NAI_TRY(check_is_run(&ours, out, target, err));
  if (is_sticky(out, target))
    return nai_err_set(err, NAI_EIO, "%s belongs to another user and cannot be replaced", out->given);
  return nai_outdir_check(target, &ours, work, out->given, err);
}

/* Opens the target when it can be replaced; *target is -1 when there is none. */
static int open_target(int *target, const struct nai_outdir *out, int work, struct nai_err *err) {
  NAI_CLOSED int there = nai_outdir_open(out->parent, out->name);
  *target = -1;
  if (there < 0 && errno == ENOENT)
    return NAI_OK;
  if (there < 0 && (errno == ENOTDIR || errno == ELOOP))
    return nai_err_set(err, NAI_EUSAGE, "%s is no directory; give the name of a new or earlier artifacts directory",
                       out->given);
  if (there < 0)
    return nai_err_sys(err, NAI_EIO, errno, "%s", out->given);
  NAI_TRY(check_target(out, there, work, err));
  *target = there;
  there = -1;
  return NAI_OK;
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
  const char *work = nai_arena_printf(&out->arena, "%s%s", out->above, name);
  if (out->arena.oom) {
    unlinkat(out->parent, name, AT_REMOVEDIR);
    return nai_err_nomem(err);
  }
  out->work = work;
  out->fresh = nai_outdir_open(out->parent, name);
  NAI_CLOSED int mark =
      out->fresh < 0 ? -1 : openat(out->fresh, NAI_OUTDIR_WORK_MARK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (mark < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot create a file in a directory beside %s", out->given);
  if (nai_lock(out->fresh, LOCK_EX, 0, NULL, NULL) != 0) {
    /* A file system without locks. */
  }
  return NAI_OK;
}

static int begin_locked(struct nai_outdir *out, struct nai_err *err) {
  NAI_CLOSED int again = -1;
  NAI_TRY(nai_outdir_put_back(out, err));
  NAI_TRY(open_target(&out->earlier, out, -1, err));
  if (out->earlier >= 0 && nai_lock(out->earlier, LOCK_SH, 0, NULL, NULL) != 0) {
    /* Then its files may vanish while they are being reused, which is found out and costs some time. */
  }
  nai_outdir_sweep(out, true);
  NAI_TRY(make_work(out, err));
  return open_target(&again, out, out->fresh, err);
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

static int begin(struct nai_outdir *out, const char *path, struct nai_err *err) {
  NAI_TRY(nai_outdir_set_names(out, path, err));
  NAI_TRY(check_apart(out, err));
  NAI_TRY(nai_outdir_open_parent(out, err));
  NAI_TRY(nai_outdir_lock(out, err));
  int rc = begin_locked(out, err);
  nai_unlock(out->parent);
  return rc;
}

int nai_outdir_begin(struct nai_outdir **out, const char *path, const struct nai_outdir_calls *calls,
                     struct nai_err *err) {
  NAI_OWNED(nai_outdir) *made = *out = NULL;
  made = malloc(sizeof *made);
  NAI_TRY(nai_memory_check(made, err));
  *made = (struct nai_outdir){.arena = NAI_ARENA(NULL), .calls = *calls, .earlier = -1, .parent = -1, .fresh = -1};
  if (!made->calls.rename)
    made->calls.rename = renameat2;
  if (!made->calls.option)
    made->calls.option = "--out";
  if (!made->calls.patience_s)
    made->calls.patience_s = NAI_OUTDIR_PATIENCE_S;
  NAI_TRY(begin(made, path, err));
  return NAI_GIVE(out, made);
}

const char *nai_outdir_target(const struct nai_outdir *out) { return out->target; }

const char *nai_outdir_work(const struct nai_outdir *out) { return out->work; }

int nai_outdir_earlier(const struct nai_outdir *out) { return out->earlier; }

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
  if (nai_fs_is_same(old, out->parent, work, AT_SYMLINK_NOFOLLOW))
    return NAI_OK;
  failed = exchange(out, work);
  return failed ? nai_err_sys(err, NAI_EIO, failed,
                              "%s was replaced by another program, and what it put there is now \"%s\"", out->given,
                              out->work)
                : nai_err_set(err, NAI_EIO, "%s was replaced by another program during the run; run again", out->given);
}

/* After the exchange: keeps what the user put into the old directory meanwhile, and removes what is the program's;
 * while anybody still reads from the directory, that is left to a later run. */
static void dismiss(struct nai_outdir *out, int old, const struct nai_strings *ours, const char *work) {
  char left[NAME_MAX + 16];
  NAI_CLOSED int lock = -1;
  nai_close_descriptor(&out->earlier);
  out->earlier = -1;
  nai_outdir_adopt(old, ours, out->fresh);
  nai_unlock(out->fresh);
  if (nai_outdir_claim(&lock, old) != EWOULDBLOCK &&
      !nai_outdir_clean(out->parent, work, old, ours, out->fresh, left, sizeof left) && *left)
    nai_outdir_note_left(out, work, left);
}

static int replace(struct nai_outdir *out, int old, const char *work, struct nai_err *err) {
  NAI_SCOPED(nai_strings) ours = {0};
  NAI_TRY(nai_outdir_list(&ours, NULL, out, old, err));
  NAI_TRY(nai_outdir_link(old, &ours, out->fresh, out->given, err));
  NAI_TRY(exchange_with(out, old, work, err));
  dismiss(out, old, &ours, work);
  return NAI_OK;
}

/* Puts the work directory in the target's place. */
static int put_in_place(struct nai_outdir *out, struct nai_err *err) {
  char work[NAME_MAX + 1];
  NAI_CLOSED int old = -1;
  NAI_TRY(nai_outdir_put_back(out, err));
  NAI_TRY(open_target(&old, out, -1, err));
  nai_outdir_name(work, out, NAI_OUTDIR_WORK, out->unique);
  /* From here on the run's own list says what is its own, so that names of the user's files do not matter. */
  if (unlinkat(out->fresh, NAI_OUTDIR_WORK_MARK, 0) != 0 && errno != ENOENT)
    return nai_err_sys(err, NAI_EIO, errno, "cannot finish \"%s\"", out->work);
  if (old >= 0)
    return replace(out, old, work, err);
  int failed = nai_outdir_move_free(out, work, out->name);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot put %s in place", out->given) : NAI_OK;
}

static int commit_locked(struct nai_outdir *out, struct nai_err *err) {
  NAI_TRY(put_in_place(out, err));
  out->work = NULL;
  nai_unlock(out->fresh);
  nai_outdir_sweep(out, false); /* what runs displaced while others read from it */
  return NAI_OK;
}

int nai_outdir_commit(struct nai_outdir *out, struct nai_err *err) {
  NAI_TRY(nai_outdir_lock(out, err));
  int rc = commit_locked(out, err);
  nai_unlock(out->parent);
  return rc;
}

/* --- end -------------------------------------------------------------------------------------- */

static void discard_work(const struct nai_outdir *out) {
  char work[NAME_MAX + 1], left[NAME_MAX + 16];
  NAI_SCOPED(nai_strings) ours = {0};
  NAI_CLOSED int target = nai_outdir_open(out->parent, out->name);
  nai_outdir_name(work, out, NAI_OUTDIR_WORK, out->unique);
  if (nai_outdir_list(&ours, NULL, out, out->fresh, NULL) == NAI_OK &&
      !nai_outdir_clean(out->parent, work, out->fresh, &ours, target, left, sizeof left) && *left)
    nai_outdir_note_left(out, work, left);
}

void nai_outdir_end(struct nai_outdir *out) {
  if (!out)
    return;
  if (out->work && out->fresh >= 0)
    discard_work(out);
  nai_close_descriptor(&out->earlier);
  nai_close_descriptor(&out->fresh);
  nai_close_descriptor(&out->parent);
  nai_arena_free(&out->arena);
  free(out);
}
