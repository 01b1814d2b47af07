/* What killed runs left beside the artifacts directory. */
#include "rundir/outdir_internal.h"

#include "base/fs.h"

#include <fcntl.h>
#include <sys/stat.h>

/* The next directory of a tag beside the target; its `unique` part is copied. */
static bool next_of(char unique[NAI_OUTDIR_UNIQUE + 1], DIR *parent, const struct nai_outdir *out, const char *tag) {
  char prefix[NAME_MAX + 1];
  nai_outdir_name(prefix, out, tag, "");
  size_t len = strlen(prefix);
  for (struct dirent *e; (e = readdir(parent));) {
    if (strncmp(e->d_name, prefix, len) != 0 || strlen(e->d_name + len) != NAI_OUTDIR_UNIQUE)
      continue;
    memcpy(unique, e->d_name + len, NAI_OUTDIR_UNIQUE + 1);
    return true;
  }
  return false;
}

int nai_outdir_put_back(const struct nai_outdir *out, struct nai_err *err) {
  char unique[NAI_OUTDIR_UNIQUE + 1], name[NAME_MAX + 1], path[PATH_MAX];
  struct stat st;
  if (fstatat(out->parent, out->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
    return NAI_OK;
  NAI_CLOSED_DIR DIR *beside = nai_fs_entries(out->parent, ".");
  if (!beside || !next_of(unique, beside, out, NAI_OUTDIR_ASIDE))
    return NAI_OK;
  nai_outdir_name(name, out, NAI_OUTDIR_ASIDE, unique);
  int failed = nai_outdir_move_free(out, name, out->name);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "%s: the earlier run cannot be put back from \"%s\"", out->given,
                              nai_outdir_beside(path, out, name))
                : NAI_OK;
}

void nai_outdir_note_left(const struct nai_outdir *out, const char *name, const char *left) {
  char path[PATH_MAX];
  nai_outdir_note(
      out,
      "\"%s\", left by an earlier run, holds what nsys-ai did not write or cannot remove: \"%s\"; move it to "
      "where it belongs, then remove the directory",
      nai_outdir_beside(path, out, name), left);
}

/* Removes a leftover unless its owner lives or anybody still reads from it: both hold a lock. */
static void sweep_one(const struct nai_outdir *out, const char *name, int target, bool tell) {
  char left[NAME_MAX + 16];
  NAI_SCOPED(nai_strings) ours = {0};
  NAI_CLOSED int directory = nai_outdir_open(out->parent, name);
  NAI_CLOSED int lock = -1;
  if (directory < 0 || nai_outdir_claim(&lock, directory) != 0 ||
      nai_outdir_list(&ours, NULL, out, directory, NULL) != NAI_OK)
    return;
  if (!nai_outdir_clean(out->parent, name, directory, &ours, target, left, sizeof left) && *left && tell)
    nai_outdir_note_left(out, name, left);
}

/* Under its name such a directory is complete and may be put back, so it gets another one before it is taken apart. */
static void rename_aside(const struct nai_outdir *out) {
  char unique[NAI_OUTDIR_UNIQUE + 1], name[NAME_MAX + 1], aside[NAME_MAX + 1];
  NAI_CLOSED_DIR DIR *beside = nai_fs_entries(out->parent, ".");
  while (beside && next_of(unique, beside, out, NAI_OUTDIR_ASIDE)) {
    nai_outdir_name(aside, out, NAI_OUTDIR_ASIDE, unique);
    nai_outdir_name(name, out, NAI_OUTDIR_WORK, unique);
    nai_outdir_move_free(out, aside, name);
  }
}

void nai_outdir_sweep(const struct nai_outdir *out, bool tell) {
  char unique[NAI_OUTDIR_UNIQUE + 1], name[NAME_MAX + 1];
  NAI_CLOSED int target = nai_outdir_open(out->parent, out->name);
  if (target >= 0)
    rename_aside(out);
  NAI_CLOSED_DIR DIR *beside = nai_fs_entries(out->parent, ".");
  while (beside && next_of(unique, beside, out, NAI_OUTDIR_WORK)) {
    nai_outdir_name(name, out, NAI_OUTDIR_WORK, unique);
    sweep_one(out, name, target, tell);
  }
}
