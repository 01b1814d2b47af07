#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A device that fails is no mistake in what was asked for. */
static int code_of(int failed, int code) { return failed == EIO && code == NAI_EUSAGE ? NAI_EIO : code; }

/* O_NONBLOCK: opening a FIFO must not hang; the type check below refuses it. */
static int open_regular(int *fd, struct stat *st, const char *path, int code, struct nai_err *err) {
  do
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  while (*fd < 0 && errno == EINTR);
  if (*fd < 0)
    return nai_err_sys(err, code_of(errno, code), errno, "cannot open \"%s\"", path);
  if (fstat(*fd, st) != 0) {
    code = nai_err_sys(err, code_of(errno, code), errno, "cannot examine \"%s\"", path);
  } else if (!S_ISREG(st->st_mode)) {
    code = nai_err_set(err, code, "\"%s\" is not a regular file", path);
  } else {
    return NAI_OK;
  }
  close(*fd);
  *fd = -1;
  return code;
}

int nai_fs_read_fd(struct nai_buf *out, int fd, const char *path, size_t max, int code, struct nai_err *err) {
  int rc = NAI_OK;
  size_t total = 0;
  for (;;) {
    char *at = nai_buf_reserve(out, 65536);
    if (!at) {
      rc = nai_err_nomem(err);
      break;
    }
    ssize_t n = read(fd, at, 65536);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      rc = nai_err_sys(err, code_of(errno, code), errno, "cannot read \"%s\"", path);
    if (n <= 0)
      break;
    out->len += (size_t)n;
    out->data[out->len] = '\0';
    total += (size_t)n;
    if (total > max) {
      rc = nai_err_set(err, code, "\"%s\" is larger than the limit of %zu bytes", path, max);
      break;
    }
  }
  return rc;
}

int nai_fs_read(struct nai_buf *out, const char *path, size_t max, int code, struct nai_err *err) {
  int fd;
  struct stat st;
  int rc = open_regular(&fd, &st, path, code, err);
  if (rc)
    return rc;
  rc = nai_fs_read_fd(out, fd, path, max, code, err);
  close(fd);
  return rc;
}

int nai_fs_write_at(int fd, const void *data, size_t len, uint64_t at) {
  for (const char *from = data; len;) {
    ssize_t n = pwrite(fd, from, len, (off_t)at);
    if (n < 0 && errno != EINTR)
      return errno;
    if (n > 0) {
      from += n;
      len -= (size_t)n;
      at += (uint64_t)n;
    }
  }
  return 0;
}

int nai_fs_reserve(int fd, uint64_t bytes) {
  int failed;
  do {
    failed = posix_fallocate(fd, 0, (off_t)bytes);
  } while (failed == EINTR);
  return failed;
}

int nai_fs_unnamed(const char *directory) {
  int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
    return fd;
  char path[PATH_MAX]; /* a file system without unnamed files */
  snprintf(path, sizeof path, "%s/.scratch-XXXXXX", directory);
  fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0)
    unlink(path);
  return fd;
}

int nai_fs_write_all(int fd, const void *data, size_t len) {
  for (const char *from = data; len;) {
    ssize_t n = write(fd, from, len);
    if (n < 0 && errno != EINTR)
      return errno;
    if (n > 0) {
      from += n;
      len -= (size_t)n;
    }
  }
  return 0;
}

int nai_fs_write(const char *path, const void *data, size_t len, struct nai_err *err) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot create \"%s\"", path);
  int failed = nai_fs_write_all(fd, data, len);
  if (close(fd) != 0 && !failed)
    failed = errno;
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", path) : NAI_OK;
}

int nai_fs_mkdir(const char *path, struct nai_err *err) {
  if (mkdir(path, 0777) == 0 || (errno == EEXIST && nai_fs_is_dir(path)))
    return NAI_OK;
  return nai_err_sys(err, NAI_EIO, errno, "cannot create directory \"%s\"", path);
}

int nai_fs_mkdir_all(const char *path, struct nai_err *err) {
  char *copy = strdup(path);
  if (!copy)
    return nai_err_nomem(err);
  int rc = NAI_OK;
  for (char *slash = *copy ? strchr(copy + 1, '/') : NULL; slash && !rc; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    rc = nai_fs_mkdir(copy, err);
    *slash = '/';
  }
  free(copy);
  return rc ? rc : nai_fs_mkdir(path, err);
}

/* Removes the entries of the directory `fd` depth first with an explicit stack: names in a tree are not ours to trust.
 */
static int remove_entries(int top) {
  enum { MAX_DEPTH = 64 };
  DIR *stack[MAX_DEPTH];
  char names[MAX_DEPTH][256];
  int depth = 0, failed = 0;
  stack[0] = fdopendir(top);
  if (!stack[0]) {
    failed = errno;
    close(top);
    return failed;
  }
  while (depth >= 0) {
    struct dirent *entry = readdir(stack[depth]);
    int dir = dirfd(stack[depth]);
    if (!entry) {
      closedir(stack[depth--]);
      if (depth >= 0 && unlinkat(dirfd(stack[depth]), names[depth], AT_REMOVEDIR) != 0 && errno != ENOENT)
        failed = errno;
      continue;
    }
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
      continue;
    if (unlinkat(dir, entry->d_name, 0) == 0 || errno == ENOENT) /* somebody else was quicker */
      continue;
    int fd = depth + 1 < MAX_DEPTH ? openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    DIR *inner = fd >= 0 ? fdopendir(fd) : NULL;
    if (!inner) {
      failed = errno == ENOENT ? failed : errno;
      if (fd >= 0)
        close(fd);
      continue;
    }
    memcpy(names[depth], entry->d_name, strlen(entry->d_name) + 1);
    stack[++depth] = inner;
  }
  return failed;
}

int nai_fs_remove_tree(const char *path, struct nai_err *err) {
  if (unlink(path) == 0 || errno == ENOENT)
    return NAI_OK;
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  int failed = fd < 0 ? errno : remove_entries(fd);
  if (!failed && rmdir(path) != 0)
    failed = errno;
  return failed && failed != ENOENT ? nai_err_sys(err, NAI_EIO, failed, "cannot remove \"%s\"", path) : NAI_OK;
}

bool nai_fs_exists(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0 || (!nai_fs_is_absent(errno) && errno != ENAMETOOLONG);
}

bool nai_fs_is_dir(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

const char *nai_fs_basename(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void nai_map_close(struct nai_map *map) {
  if (map && map->data)
    munmap((void *)map->data, map->size);
  if (map)
    *map = (struct nai_map){0};
}
