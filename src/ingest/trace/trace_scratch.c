/* The copy of a database and its WAL that is read in their place. It has names while it is read, because SQLite opens
 * files by name; a lock tells the copies of living runs from those that killed ones left. */
#include "base/fs.h"
#include "base/lock.h"
#include "ingest/trace/trace_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "nsys-ai-scratch-"
#define DATABASE "trace.sqlite"
static const char *const files[] = {DATABASE, DATABASE "-wal", DATABASE "-shm", DATABASE "-journal"};

static const char *temporary(void) {
  const char *tmp = getenv("TMPDIR");
  return tmp && *tmp == '/' ? tmp : "/tmp";
}

/* Opens a directory that this user alone can write to. */
static int open_own(int parent, const char *name) {
  struct stat st;
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

static void remove_copy(int parent, const char *name, int directory) {
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    unlinkat(directory, files[i], 0);
  unlinkat(parent, name, AT_REMOVEDIR);
}

void nai_scratch_sweep(void) {
  DIR *tmp = opendir(temporary());
  for (struct dirent *e; tmp && (e = readdir(tmp));) {
    if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) != 0 || strlen(e->d_name) != strlen(PREFIX "XXXXXX"))
      continue;
    int fd = open_own(dirfd(tmp), e->d_name);
    if (fd >= 0 && nai_lock(fd, LOCK_EX, 0, NULL, NULL) == 0)
      remove_copy(dirfd(tmp), e->d_name, fd);
    if (fd >= 0)
      close(fd);
  }
  if (tmp)
    closedir(tmp);
}

static int copy_file(int from, int directory, const char *to) {
  char chunk[65536];
  int failed = 0, fd = openat(directory, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return errno;
  for (off_t at = 0; !failed;) {
    ssize_t n = copy_file_range(from, &at, fd, NULL, 1 << 30, 0); /* shares blocks where the file system can */
    if (n > 0)
      continue;
    if (n == 0 && at > 0)
      break;
    ssize_t got = nai_file_read_at(from, chunk, sizeof chunk, (uint64_t)at);
    if (got <= 0) {
      failed = got < 0 ? errno : 0;
      break;
    }
    for (ssize_t done = 0; done < got && !failed;) {
      ssize_t put = write(fd, chunk + done, (size_t)(got - done));
      if (put < 0 && errno != EINTR)
        failed = errno;
      done += put > 0 ? put : 0;
    }
    at += got;
  }
  if (close(fd) != 0 && !failed)
    failed = errno;
  return failed;
}

/* Creates the directory, sets trace->scratch and locks it. Another run may have swept it before it was locked. */
static int make_directory(struct nai_trace *trace, struct nai_err *err) {
  enum { TRIES = 10 };
  struct stat st;
  for (int i = 0; i < TRIES; i++) {
    free(trace->scratch);
    if (asprintf(&trace->scratch, "%s/" PREFIX "XXXXXX", temporary()) < 0) {
      trace->scratch = NULL;
      return nai_err_nomem(err);
    }
    if (!mkdtemp(trace->scratch)) {
      int rc = nai_err_sys(err, NAI_EIO, errno, "cannot create the temporary directory \"%s\"", trace->scratch);
      free(trace->scratch);
      trace->scratch = NULL;
      return rc;
    }
    trace->scratch_lock = open_own(AT_FDCWD, trace->scratch);
    if (trace->scratch_lock >= 0 && nai_lock(trace->scratch_lock, LOCK_EX, 0, NULL, NULL) != EWOULDBLOCK &&
        stat(trace->scratch, &st) == 0)
      return NAI_OK;
    if (trace->scratch_lock >= 0)
      close(trace->scratch_lock);
    trace->scratch_lock = -1;
  }
  return nai_err_set(err, NAI_EIO, "cannot keep the temporary directory \"%s\"", trace->scratch);
}

int nai_scratch_copy(char **copy, struct nai_trace *trace, const char *wal_path, struct nai_err *err) {
  int rc = make_directory(trace, err);
  if (rc)
    return rc;
  int wal_fd = open(wal_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int failed = wal_fd < 0 ? errno : copy_file(trace->fd, trace->scratch_lock, DATABASE);
  failed = failed ? failed : copy_file(wal_fd, trace->scratch_lock, DATABASE "-wal");
  if (failed)
    rc = nai_err_sys(err, NAI_EIO, failed, "cannot copy the database and its WAL to \"%s\"", trace->scratch);
  else if (asprintf(copy, "%s/" DATABASE, trace->scratch) < 0) {
    *copy = NULL;
    rc = nai_err_nomem(err);
  }
  if (wal_fd >= 0)
    close(wal_fd);
  return rc;
}

void nai_scratch_free(struct nai_trace *trace) {
  if (trace->scratch && trace->scratch_lock >= 0)
    remove_copy(AT_FDCWD, trace->scratch, trace->scratch_lock);
  if (trace->scratch_lock >= 0)
    close(trace->scratch_lock);
  free(trace->scratch);
}
