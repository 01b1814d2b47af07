/* The copy of a database and its WAL that is read in their place. It has names while it is read, because SQLite opens
 * files by name. */
#include "base/fs.h"
#include "trace/trace/trace_internal.h"

#include <fcntl.h>
#include <unistd.h>

#define DATABASE "trace.sqlite"

/* 0 or errno. */
static int copy_file(int from, int directory, const char *to) {
  int fd = openat(directory, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return errno;
  int failed = nai_fs_copy(from, fd);
  return close(fd) != 0 && !failed ? errno : failed;
}

int nai_scratch_copy(const char **copy, struct nai_trace *trace, const char *wal_path, struct nai_err *err) {
  NAI_TRY(nai_temporary_in(&trace->scratch, nai_temporary_place(), err));
  NAI_CLOSED int wal_fd = open(wal_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  int failed = wal_fd < 0 ? errno : copy_file(trace->fd, trace->scratch.fd, DATABASE);
  failed = failed ? failed : copy_file(wal_fd, trace->scratch.fd, DATABASE "-wal");
  if (failed)
    return nai_err_sys(err, NAI_EIO, failed, "cannot copy the database and its WAL to \"%s\"", trace->scratch.path);
  *copy = nai_arena_printf(&trace->arena, "%s/" DATABASE, trace->scratch.path);
  return nai_arena_check(&trace->arena, err);
}
