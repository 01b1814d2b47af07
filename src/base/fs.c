#include "base/fs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A device that fails is no mistake in what was asked for. */
static int code_of(int failed, int code) { return failed == EIO && code == NAI_EUSAGE ? NAI_EIO : code; }

/* -1 where it failed. O_NONBLOCK: opening a FIFO must not hang; the type check below refuses it. */
static int open_regular(const char *path) {
  for (;;) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 || errno != EINTR)
      return fd;
  }
}

int nai_fs_read_fd(struct nai_buf *out, int fd, const char *path, size_t max, int code, struct nai_err *err) {
  enum { CHUNK = 65536 };
  for (size_t total = 0; total <= max;) {
    char *at = nai_buf_reserve(out, CHUNK);
    NAI_TRY(nai_memory_check(at, err));
    ssize_t n = read(fd, at, CHUNK);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return nai_err_sys(err, code_of(errno, code), errno, "cannot read \"%s\"", path);
    if (n == 0)
      return NAI_OK;
    out->len += (size_t)n;
    out->data[out->len] = '\0';
    total += (size_t)n;
  }
  return nai_err_set(err, code, "\"%s\" is larger than the limit of %zu bytes", path, max);
}

int nai_fs_read(struct nai_buf *out, const char *path, size_t max, int code, struct nai_err *err) {
  struct stat st;
  NAI_CLOSED int fd = open_regular(path);
  if (fd < 0)
    return nai_err_sys(err, code_of(errno, code), errno, "cannot open \"%s\"", path);
  if (fstat(fd, &st) != 0)
    return nai_err_sys(err, code_of(errno, code), errno, "cannot examine \"%s\"", path);
  if (!S_ISREG(st.st_mode))
    return nai_err_set(err, code, "\"%s\" is not a regular file", path);
  return nai_fs_read_fd(out, fd, path, max, code, err);
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

ssize_t nai_fs_read_upto(int fd, void *data, size_t len, uint64_t at) {
  size_t done = 0;
  while (done < len) {
    ssize_t n = pread(fd, (char *)data + done, len - done, (off_t)(at + done));
    if (n < 0 && errno != EINTR)
      return -1;
    if (n == 0)
      break;
    done += n > 0 ? (size_t)n : 0;
  }
  return (ssize_t)done;
}

int nai_fs_copy(int from, int to) {
  char chunk[65536];
  for (off_t at = 0;;) {
    ssize_t n = copy_file_range(from, &at, to, NULL, 1 << 30, 0); /* shares blocks where the file system can */
    if (n > 0)
      continue;
    if (n == 0 && at > 0)
      return 0;
    ssize_t got = nai_fs_read_upto(from, chunk, sizeof chunk, (uint64_t)at);
    int failed = got < 0 ? errno : nai_fs_write_all(to, chunk, (size_t)got);
    if (failed || got == 0)
      return failed;
    at += got;
  }
}

int nai_fs_reserve(int fd, uint64_t bytes) {
  int failed;
  do {
    failed = posix_fallocate(fd, 0, (off_t)bytes);
  } while (failed == EINTR);
  return failed;
}

bool nai_fs_has_room(int fd, uint64_t bytes) {
  enum { PART = 16 };
  static const uint64_t most = (uint64_t)256 << 20;
  struct statvfs disk;
  if (fstatvfs(fd, &disk) != 0)
    return true;
  uint64_t part = (uint64_t)disk.f_blocks * disk.f_frsize / PART;
  return (uint64_t)disk.f_bavail * disk.f_frsize >= bytes + (part < most ? part : most);
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
  NAI_FREED char *copy = strdup(path);
  NAI_TRY(nai_memory_check(copy, err));
  for (char *slash = *copy ? strchr(copy + 1, '/') : NULL; slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    NAI_TRY(nai_fs_mkdir(copy, err));
    *slash = '/';
  }
  return nai_fs_mkdir(path, err);
}

/* Removes the entries of a directory depth first with an explicit stack: names in a tree are not ours to trust. 0 or
 * errno. */
static int remove_entries(const char *top) {
  enum { MAX_DEPTH = 64 };
  DIR *stack[MAX_DEPTH];
  char names[MAX_DEPTH][256];
  int depth = 0, failed = 0;
  stack[0] = nai_fs_entries(AT_FDCWD, top);
  if (!stack[0])
    return errno;
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
    DIR *inner = depth + 1 < MAX_DEPTH ? nai_fs_entries(dir, entry->d_name) : NULL;
    if (!inner) {
      failed = errno == ENOENT ? failed : errno;
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
  int failed = remove_entries(path);
  if (!failed && rmdir(path) != 0)
    failed = errno;
  return failed && failed != ENOENT ? nai_err_sys(err, NAI_EIO, failed, "cannot remove \"%s\"", path) : NAI_OK;
}

bool nai_fs_is_absent(int failed) {
  return failed == ENOENT || failed == ENOTDIR || failed == ELOOP || failed == EINVAL;
}

bool nai_fs_is_unread(const struct nai_err *failure) { return failure->errnum && !nai_fs_is_absent(failure->errnum); }

bool nai_fs_exists(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0 || (!nai_fs_is_absent(errno) && errno != ENAMETOOLONG);
}

bool nai_fs_is_dir(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool nai_fs_is_regular(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool nai_fs_is_same(int fd, int directory, const char *path, int flags) {
  struct stat a, b;
  return fstat(fd, &a) == 0 && fstatat(directory, path, &b, flags) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool nai_fs_join(char *out, size_t size, const char *directory, const char *name) {
  int n = snprintf(out, size, "%s/%s", directory, name);
  return n >= 0 && (size_t)n < size;
}

/* From the root on, with links resolved as far as the path is there. False with errno set. */
static bool resolve(char out[PATH_MAX], const char *path) {
  char there[PATH_MAX], whole[PATH_MAX];
  size_t len = strlen(path);
  errno = ENAMETOOLONG;
  if (len >= sizeof there)
    return false;
  while (len > 1 && path[len - 1] == '/')
    len--;
  for (size_t end = len;;) {
    snprintf(there, sizeof there, "%.*s", (int)end, path);
    errno = 0;
    if (realpath(end ? there : path[0] == '/' ? "/" : ".", whole)) {
      errno = ENAMETOOLONG;
      return (size_t)snprintf(out, PATH_MAX, "%s%s%.*s", strcmp(whole, "/") == 0 ? "" : whole,
                              end < len && path[end] != '/' ? "/" : "", (int)(len - end), path + end) < PATH_MAX;
    }
    if (!end || (errno != ENOENT && errno != ENOTDIR))
      return false;
    while (end && path[end - 1] != '/')
      end--;
    end -= end > 0;
  }
}

int nai_fs_relative(char *out, size_t size, const char *directory, const char *path, struct nai_err *err) {
  char from[PATH_MAX], to[PATH_MAX];
  size_t same = 0, used = 0;
  if (!resolve(from, directory) || !resolve(to, path))
    return nai_err_set(err, NAI_EIO, "the way from \"%s\" to \"%s\" cannot be found: %s", directory, path,
                       strerror(errno));
  for (size_t i = 0; from[i] == to[i] || !from[i] || !to[i]; i++) { /* the components that both begin with */
    if ((!from[i] || from[i] == '/') && (!to[i] || to[i] == '/'))
      same = i;
    if (!from[i] || !to[i])
      break;
  }
  out[0] = '\0';
  for (const char *c = from + same; *c && used < size; c++)
    if (*c == '/' && c[1])
      used += (size_t)snprintf(out + used, size - used, "../");
  const char *rest = to + same + (to[same] == '/');
  used += used < size ? (size_t)snprintf(out + used, size - used, "%s", *rest ? rest : used ? "" : ".") : 0;
  return used < size ? NAI_OK
                     : nai_err_set(err, NAI_EIO, "the way from \"%s\" to \"%s\" cannot be found: %s", directory, path,
                                   strerror(ENAMETOOLONG));
}

const char *nai_fs_basename(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void nai_close_descriptor(const int *fd) {
  int kept = errno;
  if (*fd >= 0)
    close(*fd);
  errno = kept;
}

void nai_close_directory(DIR *const *directory) {
  int kept = errno;
  if (*directory)
    closedir(*directory);
  errno = kept;
}

DIR *nai_fs_entries(int directory, const char *name) {
  int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
  if (!entries)
    nai_close_descriptor(&fd);
  return entries;
}

void nai_map_close(struct nai_map *map) {
  if (map && map->data)
    munmap((void *)map->data, map->size);
  if (map)
    *map = (struct nai_map){0};
}
