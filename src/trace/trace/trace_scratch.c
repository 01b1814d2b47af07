/* The copy of a database and its WAL that is read in their place. It has names while it is read, because SQLite opens
 * files by name. */
#include "base/fs.h"
#include "trace/trace/trace_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DATABASE "trace.sqlite"

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

int nai_scratch_copy(char **copy, struct nai_trace *trace, const char *wal_path, struct nai_err *err) {
  int rc = nai_temporary_in(&trace->scratch, nai_temporary_place(), err);
  if (rc)
    return rc;
  int wal_fd = open(wal_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int failed = wal_fd < 0 ? errno : copy_file(trace->fd, trace->scratch.fd, DATABASE);
  failed = failed ? failed : copy_file(wal_fd, trace->scratch.fd, DATABASE "-wal");
  if (failed)
    rc = nai_err_sys(err, NAI_EIO, failed, "cannot copy the database and its WAL to \"%s\"", trace->scratch.path);
  else if (asprintf(copy, "%s/" DATABASE, trace->scratch.path) < 0) {
    *copy = NULL;
    rc = nai_err_nomem(err);
  }
  if (wal_fd >= 0)
    close(wal_fd);
  return rc;
}
