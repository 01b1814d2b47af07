#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int write_new(const char *path, const void *data, size_t len) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return errno;
  int failed = nai_fs_write_all(fd, data, len);
  if (close(fd) != 0 && !failed)
    failed = errno;
  return failed;
}

bool nai_fs_join(char *out, size_t size, const char *directory, const char *name) {
  int n = snprintf(out, size, "%s/%s", directory, name);
  return n >= 0 && (size_t)n < size;
}

bool nai_fs_aside(char *out, size_t size, const char *path) {
  const char *name = nai_fs_basename(path);
  uint64_t unique = (uint64_t)getpid(); /* of this machine only: others may share the directory */
  if (getentropy(&unique, sizeof unique) != 0)
    unique = (uint64_t)getpid();
  return (size_t)snprintf(out, size, "%.*s.%s.%016" PRIx64 NAI_FS_ASIDE, (int)(name - path), path, name, unique) < size;
}

int nai_fs_replace(const char *path, const void *data, size_t len, struct nai_err *err) {
  char aside[PATH_MAX];
  if (!nai_fs_aside(aside, sizeof aside, path))
    return nai_err_sys(err, NAI_EIO, ENAMETOOLONG, "cannot write \"%s\"", path);
  int failed = write_new(aside, data, len);
  if (!failed && rename(aside, path) != 0)
    failed = errno;
  if (failed)
    unlink(aside);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", path) : NAI_OK;
}

static bool is_aside(const char *name) {
  size_t n = strlen(name), m = strlen(NAI_FS_ASIDE);
  return name[0] == '.' && n > m && strcmp(name + n - m, NAI_FS_ASIDE) == 0;
}

void nai_fs_sweep(const char *path, int64_t seconds) {
  DIR *directory = opendir(path);
  char whole[PATH_MAX];
  struct nai_err ignored;
  struct stat st;
  if (!directory)
    return;
  int64_t newest = (int64_t)time(NULL) - seconds;
  for (const struct dirent *e; (e = readdir(directory));)
    if (is_aside(e->d_name) && nai_fs_join(whole, sizeof whole, path, e->d_name) && lstat(whole, &st) == 0 &&
        (int64_t)st.st_mtime <= newest && nai_fs_remove_tree(whole, &ignored) != NAI_OK)
      continue;
  closedir(directory);
}
