#include "features/batch/scratch.h"

#include "base/fs.h"
#include "base/stamp.h"
#include "rundir/publish.h"

#include <fcntl.h>
#include <fts.h>
#include <sys/sendfile.h>
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

/* False unless the copy is the trace. One with a WAL or a journal beside it is not in that file alone, and one that is
 * written to meanwhile may be of two times: read where they are, the reader sees to both. */
static bool copy_trace(const char *from, const char *to) {
  struct nai_stamp before, after;
  return nai_stamp_of(&before, from) == 0 && !before.beside && copy_file(from, to) == 0 &&
         nai_stamp_of(&after, from) == 0 && nai_stamp_equal(&before, &after);
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
  char directory[PATH_MAX];
  *s = (struct nai_batch_scratch){0};
  if (!b->scratch)
    return NAI_OK;
  int rc = nai_temporary_in(&s->directory, b->scratch, err);
  if (rc)
    return nai_err_wrap(err, rc, "--scratch");
  if (!nai_fs_join(directory, sizeof directory, s->directory.path, "trace") ||
      !nai_fs_join(s->trace, sizeof s->trace, directory, nai_fs_basename(i->path)) ||
      !nai_fs_join(s->out, sizeof s->out, s->directory.path, "run"))
    return nai_err_set(err, NAI_EUSAGE, "--scratch: the path is too long");
  NAI_TRY(nai_fs_mkdir(directory, err));
  /* The export of a report is cached by the report's path. */
  const char *suffix = strrchr(i->path, '.');
  if ((suffix && strcmp(suffix, ".nsys-rep") == 0) || !copy_trace(i->path, s->trace))
    *s->trace = '\0';
  return NAI_OK;
}

/* As an analysis puts its directory in place. */
static int put_in_place(const struct nai_batch_scratch *s, const struct nai_batch *b, uint32_t item,
                        struct nai_err *err) {
  static const struct nai_outdir_calls calls = {.list = nai_publish_list, .option = "the directory"};
  char target[PATH_MAX];
  NAI_OWNED(nai_outdir) *out = NULL;
  nai_batch_path(target, sizeof target, b, "items", b->manifest.items[item].id, "");
  NAI_TRY(nai_outdir_begin(&out, target, &calls, err));
  NAI_TRY(copy_tree(s->out, nai_outdir_work(out), err));
  return nai_outdir_commit(out, err);
}

int nai_batch_scratch_end(struct nai_batch_scratch *s, const struct nai_batch *b, uint32_t item, bool keep,
                          struct nai_err *err) {
  int rc = keep && *s->out ? put_in_place(s, b, item, err) : NAI_OK;
  if (!nai_temporary_remove(&s->directory) && !rc)
    rc = nai_err_set(err, NAI_EIO, "--scratch: cannot remove what was copied to \"%s\"", b->scratch);
  *s = (struct nai_batch_scratch){0};
  return rc;
}
