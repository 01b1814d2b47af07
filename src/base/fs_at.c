/* Files below a directory that is held open. */
#include "base/fs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory that holds the last component of `path`, to be closed by the caller, and that component. */
static int open_above(const char **name, int directory, const char *path) {
  char part[256];
  int above = openat(directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (const char *slash; above >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
    size_t len = (size_t)(slash - path);
    int next = -1;
    if (len == 0 || len >= sizeof part || (len == 2 && memcmp(path, "..", 2) == 0)) {
      errno = EINVAL;
    } else {
      memcpy(part, path, len);
      part[len] = '\0';
      next = openat(above, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    nai_close_descriptor(&above);
    above = next;
  }
  *name = path;
  return above;
}

static int open_regular_in(int above, const char *name) {
  struct stat st;
  int fd = openat(above, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  int failed = fd < 0 || fstat(fd, &st) != 0 ? errno : S_ISREG(st.st_mode) ? 0 : EINVAL;
  if (!failed)
    return fd;
  nai_close_descriptor(&fd);
  errno = failed;
  return -1;
}

int nai_fs_open_at(int directory, const char *path) {
  const char *name;
  NAI_CLOSED int above = open_above(&name, directory, path);
  return above < 0 ? -1 : open_regular_in(above, name);
}

int nai_fs_read_at(struct nai_buf *out, int directory, const char *path, size_t max, int code, struct nai_err *err) {
  NAI_CLOSED int fd = nai_fs_open_at(directory, path);
  if (fd < 0)
    return nai_err_sys(err, code, errno, "cannot open \"%s\"", path);
  return nai_fs_read_fd(out, fd, path, max, code, err);
}

/* A new file: writing into an old one could write into whatever else it is linked to. */
static int copy_to(int fd, const char *to, struct nai_err *err) {
  unlink(to);
  int copy = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (copy < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot create \"%s\"", to);
  int failed = nai_fs_copy(fd, copy);
  if (close(copy) != 0 && !failed)
    failed = errno;
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", to) : NAI_OK;
}

int nai_fs_link_or_copy_at(int directory, const char *from, const char *to, struct nai_err *err) {
  const char *name;
  NAI_CLOSED int above = open_above(&name, directory, from);
  NAI_CLOSED int fd = above < 0 ? -1 : open_regular_in(above, name);
  if (fd < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot open \"%s\"", from);
  bool linked = linkat(above, name, AT_FDCWD, to, 0) == 0 || errno == EEXIST;
  /* Copied also when the name was given to another file meanwhile. */
  return linked && nai_fs_is_same(fd, AT_FDCWD, to, AT_SYMLINK_NOFOLLOW) ? NAI_OK : copy_to(fd, to, err);
}

bool nai_fs_exists_at(int directory, const char *path) {
  NAI_CLOSED int fd = nai_fs_open_at(directory, path);
  return fd >= 0 || !nai_fs_is_absent(errno);
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

int nai_fs_names(const char ***names, size_t *count, struct nai_arena *arena, int directory, const char *path) {
  NAI_FREED struct dirent **entries = NULL;
  struct nai_err ignored;
  int n = scandirat(directory, path, &entries, is_visible, by_name), failed = n < 0 ? errno : 0;
  *count = n < 0 ? 0 : (size_t)n;
  if (!failed && NAI_NEW(*names, arena, *count, &ignored))
    failed = ENOMEM;
  for (size_t i = 0; i < *count; i++) {
    if (!failed)
      (*names)[i] = nai_arena_printf(arena, "%s", entries[i]->d_name);
    free(entries[i]);
  }
  return !failed && arena->oom ? ENOMEM : failed;
}
