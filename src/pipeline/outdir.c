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
    return nai_err_set(err, NAI_EUSAGE, "--out \"%s\" is no directory; give the name of a new or earlier artifacts directory",
                       path);
  snprintf(mark, sizeof mark, "%s/%s", out->target, NAI_OUTDIR_MARK);
  if (!nai_fs_exists(mark) && !is_empty_dir(out->target))
    return nai_err_set(err, NAI_EUSAGE,
                       "--out \"%s\" holds files that are not from an earlier run; give a new directory, nothing was changed",
                       path);
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

int nai_outdir_begin(struct nai_outdir *out, const char *path, struct nai_err *err) {
  *out = (struct nai_outdir){.lock = -1};
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
  sweep(parent, prefix);
  if (asprintf(&out->work, "%s/%sXXXXXX", strcmp(parent, "/") == 0 ? "" : parent, prefix) < 0) {
    out->work = NULL;
    rc = nai_err_nomem(err);
  } else if (!mkdtemp(out->work)) {
    rc = nai_err_sys(err, NAI_EIO, errno, "cannot create a directory beside \"%s\"", path);
    free(out->work);
    out->work = NULL;
  } else {
    mode_t mask = umask(0);
    umask(mask);
    chmod(out->work, 0777 & ~mask);
    out->lock = open(out->work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->lock >= 0)
      flock(out->lock, LOCK_EX | LOCK_NB);
  }
  free(parent);
  return rc;
}

/* Moves entries of the old directory that are not ours into the new one; goes into directories we made, one level deep. */
static int carry_over(const char *from, const char *to, const char *below, bool (*is_ours)(void *, const char *), void *ctx,
                      struct nai_err *err) {
  DIR *dir = opendir(from);
  int rc = NAI_OK;
  for (struct dirent *e; dir && !rc && (e = readdir(dir));) {
    char path[PATH_MAX], old[PATH_MAX], fresh[PATH_MAX];
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
      continue;
    if ((size_t)snprintf(path, sizeof path, "%s%s", below, e->d_name) >= sizeof path ||
        (size_t)snprintf(old, sizeof old, "%s/%s", from, e->d_name) >= sizeof old ||
        (size_t)snprintf(fresh, sizeof fresh, "%s/%s", to, e->d_name) >= sizeof fresh || is_ours(ctx, path))
      continue;
    if (!*below && (strcmp(path, "tables") == 0 || strcmp(path, "stages") == 0)) {
      char inside[PATH_MAX + 2];
      snprintf(inside, sizeof inside, "%s/", path);
      rc = nai_fs_exists(fresh) ? carry_over(old, fresh, inside, is_ours, ctx, err) : NAI_OK;
    } else if (!nai_fs_exists(fresh) && rename(old, fresh) != 0) {
      rc = nai_err_sys(err, NAI_EIO, errno, "cannot keep \"%s\"", path);
    }
  }
  if (dir)
    closedir(dir);
  return rc;
}

int nai_outdir_commit(struct nai_outdir *out, bool (*is_ours)(void *, const char *), void *ctx, struct nai_err *err) {
  if (renameat2(AT_FDCWD, out->work, AT_FDCWD, out->target, RENAME_NOREPLACE) == 0) {
    free(out->work);
    out->work = NULL;
    return NAI_OK;
  }
  if (errno != EEXIST && errno != ENOTEMPTY)
    return nai_err_sys(err, NAI_EIO, errno, "cannot put \"%s\" in place", out->target);
  if (renameat2(AT_FDCWD, out->work, AT_FDCWD, out->target, RENAME_EXCHANGE) != 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot swap \"%s\" in place", out->target);
  return carry_over(out->work, out->target, "", is_ours, ctx, err);
}

void nai_outdir_end(struct nai_outdir *out) {
  struct nai_err ignored;
  if (out->work && nai_fs_remove_tree(out->work, &ignored) != 0) {
    /* The next run sweeps it. */
  }
  if (out->lock >= 0 && out->target)
    close(out->lock);
  free(out->work);
  free(out->target);
  *out = (struct nai_outdir){.lock = -1};
}
