#include "batch/scratch.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0 or errno. */
static int copy_file(const char *from, const char *to) {
  int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK), failed = 0;
  if (in < 0)
    return errno;
  int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (out < 0)
    failed = errno;
  while (!failed) {
    ssize_t n = sendfile(out, in, NULL, 1 << 30);
    if (n == 0)
      break;
    if (n < 0 && errno != EINTR)
      failed = errno;
  }
  if (out >= 0 && close(out) != 0 && !failed)
    failed = errno;
  close(in);
  return failed;
}

/* A run's directory: files, tables/ and stages/. */
static int copy_tree(const char *from, const char *to, struct nai_err *err) {
  char *const roots[] = {(char *)from, NULL};
  char path[PATH_MAX];
  FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  int rc = walk ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot read \"%s\"", from);
  for (FTSENT *e; !rc && (e = fts_read(walk));) {
    int failed = 0;
    snprintf(path, sizeof path, "%s%s", to, e->fts_path + strlen(from));
    if (e->fts_info == FTS_D)
      rc = nai_fs_mkdir(path, err);
    else if (e->fts_info == FTS_F)
      failed = copy_file(e->fts_path, path);
    if (failed)
      rc = nai_err_sys(err, NAI_EIO, failed, "cannot copy to \"%s\"", path);
  }
  if (walk)
    fts_close(walk);
  return rc;
}

int nai_batch_scratch_begin(struct nai_batch_scratch *s, const struct nai_batch *b, uint32_t item,
                            struct nai_err *err) {
  const struct nai_batch_item *i = &b->manifest.items[item];
  *s = (struct nai_batch_scratch){0};
  if (!b->scratch)
    return NAI_OK;
  if (asprintf(&s->directory, "%s/nsys-ai-batch.XXXXXX", b->scratch) < 0)
    s->directory = NULL;
  if (!s->directory || !mkdtemp(s->directory))
    return nai_err_sys(err, NAI_EIO, errno, "--scratch: cannot create a directory in \"%s\"", b->scratch);
  if (asprintf(&s->trace, "%s/%s", s->directory, nai_fs_basename(i->path)) < 0)
    s->trace = NULL;
  if (asprintf(&s->out, "%s/%s", s->directory, i->id) < 0)
    s->out = NULL;
  if (!s->trace || !s->out)
    return nai_err_nomem(err);
  if (copy_file(i->path, s->trace) != 0) {
    free(s->trace);
    s->trace = NULL;
  }
  return NAI_OK;
}

/* A directory cannot take the place of one that has files, so that one steps aside first. */
static int put_in_place(const struct nai_batch_scratch *s, const struct nai_batch *b, uint32_t item,
                        struct nai_err *err) {
  char target[PATH_MAX], fresh[PATH_MAX], old[PATH_MAX];
  nai_batch_path(target, sizeof target, b, "items", b->manifest.items[item].id, "");
  if (!nai_fs_aside(fresh, sizeof fresh, target) || !nai_fs_aside(old, sizeof old, target))
    return nai_err_set(err, NAI_EIO, "the name \"%s\" is too long", target);
  int rc = copy_tree(s->out, fresh, err);
  if (!rc && rename(target, old) != 0 && errno != ENOENT)
    rc = nai_err_sys(err, NAI_EIO, errno, "cannot rename \"%s\"", target);
  if (!rc && rename(fresh, target) != 0)
    rc = nai_err_sys(err, NAI_EIO, errno, "cannot rename \"%s\"", fresh);
  struct nai_err ignored;
  if (nai_fs_remove_tree(old, &ignored) != NAI_OK || nai_fs_remove_tree(fresh, &ignored) != NAI_OK)
    rc = rc ? rc : nai_err_set(err, NAI_EIO, "%s", ignored.msg);
  return rc;
}

int nai_batch_scratch_end(struct nai_batch_scratch *s, const struct nai_batch *b, uint32_t item, bool keep,
                          struct nai_err *err) {
  struct nai_err ignored;
  int rc = keep && s->out ? put_in_place(s, b, item, err) : NAI_OK;
  if (s->directory && nai_fs_remove_tree(s->directory, &ignored) != NAI_OK && !rc)
    rc = nai_err_set(err, NAI_EIO, "%s", ignored.msg);
  free(s->directory);
  free(s->trace);
  free(s->out);
  *s = (struct nai_batch_scratch){0};
  return rc;
}
