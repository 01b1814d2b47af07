/* Operands of a command line as files: a file, a directory, a pattern that the shell left alone. */
#include "features/batch/internal.h"

#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <glob.h>
#include <string.h>

static bool is_trace_name(const char *name) {
  static const char *const suffixes[] = {".sqlite", ".nsys-rep"};
  size_t n = strlen(name);
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    size_t m = strlen(suffixes[i]);
    if (n > m && strcmp(name + n - m, suffixes[i]) == 0)
      return true;
  }
  return false;
}

/* Hidden files and directories are left out. */
static int add_directory(struct nai_batch_manifest *m, const char *path, struct nai_err *err) {
  char *const roots[] = {(char *)path, NULL};
  FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  int rc = NAI_OK;
  if (!walk)
    return nai_err_sys(err, NAI_EUSAGE, errno, "cannot read the directory \"%s\"", path);
  for (FTSENT *e; !rc && (e = fts_read(walk));) {
    if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR)
      rc = nai_err_sys(err, NAI_EUSAGE, e->fts_errno, "cannot read the directory \"%s\"", e->fts_path);
    else if (e->fts_info == FTS_D && e->fts_level > 0 && e->fts_name[0] == '.')
      fts_set(walk, e, FTS_SKIP);
    else if ((e->fts_info == FTS_F || e->fts_info == FTS_SL) && e->fts_name[0] != '.' && is_trace_name(e->fts_name))
      rc = nai_batch_add(m, NULL, e->fts_path, "", err);
  }
  fts_close(walk);
  return rc;
}

static int add_any(struct nai_batch_manifest *m, const char *path, struct nai_err *err) {
  return nai_fs_is_dir(path) ? add_directory(m, path, err) : nai_batch_add(m, NULL, path, "", err);
}

int nai_batch_expand(struct nai_batch_manifest *m, const char *input, struct nai_err *err) {
  glob_t found = {0};
  int rc = NAI_OK;
  if (nai_fs_exists(input) || !strpbrk(input, "*?["))
    return add_any(m, input, err);
  int failed = glob(input, GLOB_NOSORT, NULL, &found);
  if (failed == GLOB_NOMATCH)
    rc = nai_err_set(err, NAI_EUSAGE, "no file matches \"%s\"", input);
  else if (failed)
    rc = nai_err_set(err, NAI_EUSAGE, "cannot expand \"%s\"", input);
  for (size_t i = 0; i < found.gl_pathc && !rc; i++)
    rc = add_any(m, found.gl_pathv[i], err);
  globfree(&found);
  return rc;
}
