#include "pipeline/outdir.h"

#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORK_TAG ".nsys-ai-run."

/* Absolute path with links resolved; the last component may not exist yet. */
static char *resolve(const char *path, struct nai_err *err) {
  char *whole = realpath(path, NULL);
  if (whole)
    return whole;
  char *copy = strdup(path), *parent = NULL, *result = NULL;
  if (!copy)
    goto out;
  size_t len = strlen(copy);
  while (len > 1 && copy[len - 1] == '/')
    copy[--len] = '\0';
  char *slash = strrchr(copy, '/');
  const char *name = slash ? slash + 1 : copy;
  if (slash)
    *slash = '\0';
  const char *above = slash ? (*copy ? copy : "/") : ".";
  if (nai_fs_mkdir_all(above, err))
    goto out;
  parent = realpath(above, NULL);
  if (!parent) {
    nai_err_sys(err, NAI_EIO, errno, "cannot resolve \"%s\"", above);
    goto out;
  }
  if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
    nai_err_set(err, NAI_EUSAGE, "--out \"%s\": not a directory name", path);
  else if (asprintf(&result, "%s/%s", strcmp(parent, "/") == 0 ? "" : parent, name) < 0) {
    result = NULL;
    nai_err_nomem(err);
  }
out:
  free(copy);
  free(parent);
  return result;
}

static bool is_empty_dir(const char *path) {
  DIR *dir = opendir(path);
  bool empty = dir != NULL;
  for (struct dirent *e; dir && empty && (e = readdir(dir));)
    empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
  if (dir)
    closedir(dir);
  return empty;
}

static int check_target(struct nai_outdir *out, const char *path, struct nai_err *err) {
  char mark[PATH_MAX];
  struct stat st;
  if (lstat(out->target, &st) != 0) {
    if (errno == ENOENT)
      return NAI_OK;
    return nai_err_sys(err, NAI_EIO, errno, "--out \"%s\"", path);
  }
  if (!S_ISDIR(st.st_mode))
    return nai_err_set(err, NAI_EUSAGE,
                       "--out \"%s\" is no directory; give the name of a new or earlier artifacts directory", path);
  snprintf(mark, sizeof mark, "%s/%s", out->target, NAI_OUTDIR_MARK);
  if (!nai_fs_exists(mark) && !is_empty_dir(out->target))
    return nai_err_set(
        err, NAI_EUSAGE,
        "--out \"%s\" holds files that are not from an earlier run; give a new directory, nothing was changed", path);
  out->exists = true;
  return NAI_OK;
}

/* Removes work directories beside the target whose owner is gone: a live one holds a lock. */
static void sweep(const char *parent, const char *prefix) {
  DIR *dir = opendir(parent);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    char path[PATH_MAX];
    if (strncmp(e->d_name, prefix, strlen(prefix)) != 0 ||
        (size_t)snprintf(path, sizeof path, "%s/%s", parent, e->d_name) >= sizeof path)
      continue;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
      continue;
    struct nai_err ignored;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && nai_fs_remove_tree(path, &ignored) != 0) {
      /* Somebody else's problem then; ours is only tidiness. */
    }
    close(fd);
  }
  if (dir)
    closedir(dir);
}

/* The work directory itself; the parent is locked, so nobody sweeps it before it is locked too. */
static int make_work(struct nai_outdir *out, const char *parent, const char *prefix, const char *path,
                     struct nai_err *err) {
  if (asprintf(&out->work, "%s/%sXXXXXX", strcmp(parent, "/") == 0 ? "" : parent, prefix) < 0) {
    out->work = NULL;
    return nai_err_nomem(err);
  }
  if (!mkdtemp(out->work)) {
    int rc = nai_err_sys(err, NAI_EIO, errno, "cannot create a directory beside \"%s\"", path);
    free(out->work);
    out->work = NULL;
    return rc;
  }
  mode_t mask = umask(0);
  umask(mask);
  chmod(out->work, 0777 & ~mask);
  out->lock = open(out->work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (out->lock >= 0)
    flock(out->lock, LOCK_EX | LOCK_NB);
  return NAI_OK;
}

int nai_outdir_begin(struct nai_outdir *out, const char *path, struct nai_err *err) {
  *out = (struct nai_outdir){.lock = -1, .parent = -1};
  if (strlen(path) > PATH_MAX - 256)
    return nai_err_set(err, NAI_EUSAGE, "--out: the path is too long");
  if (err)
    err->code = NAI_EIO;
  out->target = resolve(path, err);
  if (!out->target)
    return err ? err->code : NAI_EIO;
  int rc = check_target(out, path, err);
  if (rc)
    return rc;
  char *parent = strdup(out->target), prefix[NAME_MAX + 1];
  if (!parent)
    return nai_err_nomem(err);
  char *slash = strrchr(parent, '/');
  /* Long names are cut: the random part tells runs apart. */
  snprintf(prefix, sizeof prefix, ".%.180s" WORK_TAG, slash + 1);
  slash[slash == parent] = '\0';
  out->parent = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (out->parent >= 0)
    flock(out->parent, LOCK_EX);
  sweep(parent, prefix);
  rc = make_work(out, parent, prefix, path, err);
  if (out->parent >= 0)
    flock(out->parent, LOCK_UN);
  free(parent);
  return rc;
}

/* Moves one foreign entry of the old directory into the new one, whose directory is made when it is missing. */
static int keep_entry(const char *old, const char *directory, const char *name, struct nai_err *err) {
  char fresh[PATH_MAX + 8];
  int rc = nai_fs_mkdir(directory, err);
  if (rc)
    return rc;
  if ((size_t)snprintf(fresh, sizeof fresh - 8, "%s/%s", directory, name) >= sizeof fresh - 8)
    return nai_err_set(err, NAI_EIO, "cannot keep \"%s\": the path is too long", name);
  if (nai_fs_exists(fresh))
    memcpy(fresh + strlen(fresh), ".kept", sizeof ".kept");
  return rename(old, fresh) == 0 ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot keep \"%s\"", name);
}

/* Moves entries of the old directory that are not ours into the new one; goes into directories we made, one level deep.
 */
static int carry_over(const char *from, const char *to, const char *below, nai_is_ours_fn *is_ours, void *ctx,
                      const char *top, struct nai_err *err) {
  DIR *dir = opendir(from);
  int rc = dir ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot look through \"%s\"", from);
  for (struct dirent *e; !rc && (e = readdir(dir));) {
    char path[PATH_MAX], old[PATH_MAX], inside[PATH_MAX];
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
      continue;
    if ((size_t)snprintf(path, sizeof path, "%s%s", below, e->d_name) >= sizeof path ||
        (size_t)snprintf(old, sizeof old, "%s/%s", from, e->d_name) >= sizeof old ||
        (size_t)snprintf(inside, sizeof inside, "%s/%s", to, e->d_name) >= sizeof inside)
      rc = nai_err_set(err, NAI_EIO, "cannot keep \"%s\": the path is too long", e->d_name);
    else if (is_ours(ctx, top, path))
      continue;
    else if (!*below && (strcmp(path, "tables") == 0 || strcmp(path, "stages") == 0) && nai_fs_is_dir(old))
      rc = carry_over(old, inside, strcmp(path, "tables") == 0 ? "tables/" : "stages/", is_ours, ctx, top, err);
    else
      rc = keep_entry(old, to, e->d_name, err);
  }
  if (dir)
    closedir(dir);
  return rc;
}

/* Exchanges the work directory with the target; in two steps on file systems that cannot do it in one. */
static int exchange(const struct nai_outdir *out) {
  if (renameat2(AT_FDCWD, out->work, AT_FDCWD, out->target, RENAME_EXCHANGE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return errno;
  char aside[PATH_MAX];
  if ((size_t)snprintf(aside, sizeof aside, "%s.old", out->work) >= sizeof aside)
    return ENAMETOOLONG;
  if (rename(out->target, aside) != 0 || rename(out->work, out->target) != 0 || rename(aside, out->work) != 0)
    return errno;
  return 0;
}

static int put_in_place(struct nai_outdir *out, nai_is_ours_fn *is_ours, void *ctx, struct nai_err *err) {
  if (!nai_fs_exists(out->target)) {
    if (rename(out->work, out->target) != 0)
      return nai_err_sys(err, NAI_EIO, errno, "cannot put \"%s\" in place", out->target);
    free(out->work);
    out->work = NULL;
    return NAI_OK;
  }
  int failed = exchange(out);
  if (failed)
    return nai_err_sys(err, NAI_EIO, failed, "cannot swap \"%s\" in place", out->target);
  int rc = carry_over(out->work, out->target, "", is_ours, ctx, out->work, err);
  if (rc) {
    nai_err_wrap(err, rc, "the new run is in place, but the earlier one's directory is left at \"%s\"", out->work);
    free(out->work);
    out->work = NULL;
    return rc;
  }
  struct nai_err ignored;
  if (nai_fs_remove_tree(out->work, &ignored) != 0) {
    /* The next run sweeps it. */
  }
  free(out->work);
  out->work = NULL;
  return NAI_OK;
}

int nai_outdir_commit(struct nai_outdir *out, nai_is_ours_fn *is_ours, void *ctx, struct nai_err *err) {
  /* Several runs may finish at once: one after the other, so that none sweeps what another still looks through. */
  if (out->parent >= 0)
    flock(out->parent, LOCK_EX);
  int rc = put_in_place(out, is_ours, ctx, err);
  if (out->parent >= 0)
    flock(out->parent, LOCK_UN);
  return rc;
}

void nai_outdir_end(struct nai_outdir *out) {
  struct nai_err ignored;
  if (out->work && nai_fs_remove_tree(out->work, &ignored) != 0) {
    /* The next run sweeps it. */
  }
  if (out->target && out->lock >= 0)
    close(out->lock);
  if (out->target && out->parent >= 0)
    close(out->parent);
  free(out->work);
  free(out->target);
  *out = (struct nai_outdir){.lock = -1, .parent = -1};
}
