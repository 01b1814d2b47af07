#include "base/temporary.h"

#include "base/fs.h"
#include "base/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANDOM_DIGITS = 16, LOCK_S = 10, TRIES = 10 };

const char *nai_temporary_place(void) {
  const char *place = getenv("TMPDIR");
  return place && *place == '/' ? place : "/tmp";
}

static const struct nai_temporary none = {.fd = -1, .mark = -1};

/* --- making ----------------------------------------------------------------------------------- */

/* A long name is cut: the hidden one must not be too long where the name itself is not. */
static bool choose_name(struct nai_temporary *t, const char *directory, int directory_length, const char *name) {
  enum { MAX_OF_NAME = 200 };
  uint64_t random = (uint64_t)getpid(); /* of this machine only: others may share the directory */
  if (getentropy(&random, sizeof random) != 0)
    random = (uint64_t)getpid();
  return (size_t)snprintf(t->path, sizeof t->path, "%.*s.%.*s.%0*" PRIx64 NAI_TEMPORARY_SUFFIX, directory_length,
                          directory, MAX_OF_NAME, name, RANDOM_DIGITS, random) < sizeof t->path;
}

static bool is_still(int fd, const char *path) { return nai_fs_is_same(fd, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW); }

/* Between its creation and its lock somebody who sweeps may have taken it for a leftover: then false. */
static bool hold(const struct nai_temporary *t) {
  if (nai_lock(t->mark >= 0 ? t->mark : t->fd, LOCK_EX, LOCK_S, NULL, NULL) != 0) {
    /* Where there are no locks nobody sweeps. */
  }
  return is_still(t->fd, t->path);
}

static void forget(struct nai_temporary *t) {
  if (*t->path && t->fd >= 0)
    close(t->fd);
  if (*t->path && t->mark >= 0)
    close(t->mark);
  *t = none;
}

/* What replaces a file is for the same readers. Where this user may not say so, it is as any new file. */
static void take_permissions(int fd, const char *path) {
  struct stat there, made;
  if (stat(path, &there) != 0 || !S_ISREG(there.st_mode) || fstat(fd, &made) != 0)
    return;
  if ((there.st_uid != made.st_uid || there.st_gid != made.st_gid) && fchown(fd, there.st_uid, there.st_gid) != 0)
    there.st_mode &= 0700;
  if (fchmod(fd, there.st_mode & 0777) != 0)
    return;
}

/* 0 or errno; EAGAIN: the name was taken, or it was swept before it was locked. */
static int make_file(struct nai_temporary *t) {
  t->fd = open(t->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (t->fd < 0)
    return errno == EEXIST ? EAGAIN : errno;
  if (hold(t))
    return 0;
  unlink(t->path); /* if it is there still */
  forget(t);
  return EAGAIN;
}

int nai_temporary_file(struct nai_temporary *t, const char *path, struct nai_err *err) {
  const char *name = nai_fs_basename(path);
  int failed = EAGAIN;
  for (int i = 0; i < TRIES && failed == EAGAIN; i++) {
    *t = none;
    failed = choose_name(t, path, (int)(name - path), name) ? make_file(t) : ENAMETOOLONG;
  }
  if (!failed) {
    take_permissions(t->fd, path);
    return NAI_OK;
  }
  *t = none;
  return nai_err_sys(err, NAI_EIO, failed == EAGAIN ? EEXIST : failed, "cannot write \"%s\"", path);
}

/* 0 or errno; EAGAIN: it was swept before it was locked. */
static int make_directory(struct nai_temporary *t, mode_t mode) {
  if (mkdir(t->path, mode) != 0)
    return errno == EEXIST ? EAGAIN : errno;
  t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (t->fd >= 0)
    t->mark = openat(t->fd, NAI_TEMPORARY_MARK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (t->fd < 0 || t->mark < 0)
    return errno == ENOENT ? EAGAIN : errno;
  return hold(t) ? 0 : EAGAIN;
}

/* Of what could not be held: what was made of it, if it is there still. */
static void abandon(struct nai_temporary *t) {
  if (t->mark >= 0)
    unlinkat(t->fd, NAI_TEMPORARY_MARK, 0);
  if (t->fd >= 0)
    rmdir(t->path);
  forget(t);
}

static int new_directory(struct nai_temporary *t, const char *directory, int directory_length, const char *name,
                         mode_t mode, const char *advice, struct nai_err *err) {
  int failed = EAGAIN;
  for (int i = 0; i < TRIES && failed == EAGAIN; i++) {
    *t = none;
    failed = choose_name(t, directory, directory_length, name) ? make_directory(t, mode) : ENAMETOOLONG;
    if (failed)
      abandon(t);
  }
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot create a temporary directory in \"%.*s\"%s",
                              directory_length ? directory_length : 1, directory_length ? directory : ".", advice)
                : NAI_OK;
}

int nai_temporary_beside(struct nai_temporary *t, const char *path, struct nai_err *err) {
  const char *name = nai_fs_basename(path);
  return new_directory(t, path, (int)(name - path), name, 0777, "", err);
}

int nai_temporary_in(struct nai_temporary *t, const char *place, struct nai_err *err) {
  char directory[PATH_MAX];
  *t = none;
  if ((size_t)snprintf(directory, sizeof directory, "%s/", place) >= sizeof directory)
    return nai_err_sys(err, NAI_EIO, ENAMETOOLONG, "cannot create a temporary directory in \"%s\"", place);
  nai_temporary_sweep(place);
  const char *advice = strcmp(place, nai_temporary_place()) == 0 ? " (TMPDIR can name another)" : "";
  return new_directory(t, directory, (int)strlen(directory), "nsys-ai", 0700, advice, err);
}

/* --- ending ----------------------------------------------------------------------------------- */

int nai_temporary_become(struct nai_temporary *t, const char *path) {
  int flushed = dup(t->fd); /* some file systems tell of a full disk when a file is closed, which would end the lock */
  if (flushed < 0 || close(flushed) != 0 || rename(t->path, path) != 0)
    return errno;
  unlinkat(t->fd, NAI_TEMPORARY_MARK, 0); /* of a directory; of use only under its former name */
  forget(t);
  return 0;
}

/* The mark goes last: who is killed before leaves what the next one knows for a leftover. */
static bool remove_marked(const char *path, int fd) {
  char inside[PATH_MAX];
  struct nai_err ignored;
  NAI_CLOSED_DIR DIR *directory = opendir(path);
  if (!directory)
    return errno == ENOENT;
  for (const struct dirent *e; (e = readdir(directory));) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || strcmp(e->d_name, NAI_TEMPORARY_MARK) == 0)
      continue;
    if (!nai_fs_join(inside, sizeof inside, path, e->d_name) || nai_fs_remove_tree(inside, &ignored) != NAI_OK)
      return false;
  }
  unlinkat(fd, NAI_TEMPORARY_MARK, 0);
  return rmdir(path) == 0 || errno == ENOENT;
}

bool nai_temporary_remove(struct nai_temporary *t) {
  struct nai_err ignored;
  bool gone =
      !*t->path || (t->mark >= 0 ? remove_marked(t->path, t->fd) : nai_fs_remove_tree(t->path, &ignored) == NAI_OK);
  forget(t);
  return gone;
}

int nai_fs_replace(const char *path, const void *data, size_t len, struct nai_err *err) {
  struct nai_temporary aside;
  NAI_TRY(nai_temporary_file(&aside, path, err));
  int failed = nai_fs_write_all(aside.fd, data, len);
  if (!failed)
    failed = nai_temporary_become(&aside, path);
  if (failed)
    nai_temporary_remove(&aside);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", path) : NAI_OK;
}

/* --- sweeping --------------------------------------------------------------------------------- */

/* .NAME.RANDOM.nsys-ai-tmp */
static bool has_name(const char *name) {
  size_t n = strlen(name), m = strlen(NAI_TEMPORARY_SUFFIX);
  if (name[0] != '.' || n < m + RANDOM_DIGITS + 2 || strcmp(name + n - m, NAI_TEMPORARY_SUFFIX) != 0)
    return false;
  const char *random = name + n - m - RANDOM_DIGITS;
  return random[-1] == '.' && strspn(random, "0123456789abcdef") == RANDOM_DIGITS;
}

/* A directory without a mark was killed before it had one, or is somebody else's: then it is not empty. */
static void sweep_directory(const char *path, int fd) {
  NAI_CLOSED int mark = openat(fd, NAI_TEMPORARY_MARK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (mark < 0)
    rmdir(path);
  else if (nai_lock(mark, LOCK_EX, 0, NULL, NULL) == 0 && is_still(fd, path) && !remove_marked(path, fd)) {
    /* It stays: it harms nobody. */
  }
}

static void sweep_one(const char *directory, const char *name) {
  char path[PATH_MAX];
  struct stat st;
  if (!nai_fs_join(path, sizeof path, directory, name))
    return;
  NAI_CLOSED int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &st) != 0 || st.st_uid != geteuid()) /* somebody else's */
    return;
  if (S_ISDIR(st.st_mode))
    sweep_directory(path, fd);
  else if (S_ISREG(st.st_mode) && nai_lock(fd, LOCK_EX, 0, NULL, NULL) == 0 && is_still(fd, path))
    unlink(path);
}

void nai_temporary_sweep(const char *path) {
  NAI_CLOSED_DIR DIR *directory = opendir(path);
  for (const struct dirent *e; directory && (e = readdir(directory));)
    if (has_name(e->d_name))
      sweep_one(path, e->d_name);
}
