/* Where answers go: standard output or a file. */
#include "command/command.h"

#include "base/fs.h"
#include "base/sink.h"
#include "rundir/run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* What a command wrote says so, with the size and time that it had then: changed since, it is somebody's own. */
static const char mark_name[] = "user.nsys-ai.written";

enum { MARK_SIZE = 80 };
static void make_mark(char mark[MARK_SIZE], const struct stat *st) {
  snprintf(mark, MARK_SIZE, "%lld %lld.%09ld", (long long)st->st_size, (long long)st->st_mtim.tv_sec,
           st->st_mtim.tv_nsec);
}

static bool is_marked(const char *path, const struct stat *st) {
  char want[MARK_SIZE], got[MARK_SIZE];
  ssize_t length = getxattr(path, mark_name, got, sizeof got - 1);
  got[length > 0 ? length : 0] = '\0';
  make_mark(want, st);
  return length > 0 && strcmp(want, got) == 0;
}

/* 0 or errno. */
static int mark(const char *path) {
  struct stat st;
  char text[MARK_SIZE];
  if (stat(path, &st) != 0)
    return errno;
  make_mark(text, &st);
  setxattr(path, mark_name, text, strlen(text), 0); /* without marks there: the next one to write here keeps the file */
  return 0;
}

static bool is_same(const struct stat *there, const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && st.st_dev == there->st_dev && st.st_ino == there->st_ino;
}

/* Whether `path` is one of the files that the run in `directory` lists. */
static bool is_of_run(const char *path, const char *directory, struct nai_err *err) {
  NAI_FREED char *whole = realpath(directory, NULL);
  size_t length = whole ? strlen(whole) : 0;
  NAI_OWNED(nai_run) *run = NULL;
  return whole && strncmp(path, whole, length) == 0 && path[length] == '/' &&
         nai_run_open(&run, whole, err) == NAI_OK && nai_manifest_lists(nai_run_manifest(run), path + length + 1);
}

/* Refuses what a command could not mean to replace: what it reads, and traces. `there`: what `path` is now. */
static int check_place(const char *path, const struct stat *there, const char *source, struct nai_err *err) {
  static const char *const beside[] = {"", "-wal", "-shm", "-journal"};
  char other[PATH_MAX];
  struct nai_err ignored;
  for (size_t i = 0; source && i < sizeof beside / sizeof *beside; i++)
    if ((size_t)snprintf(other, sizeof other, "%s%s", source, beside[i]) < sizeof other && is_same(there, other))
      return nai_err_set(err, NAI_EUSAGE, "--out \"%s\" is what is read; give another name", path);
  if (nai_cmd_is_trace(path))
    return nai_err_set(err, NAI_EUSAGE, "--out \"%s\" is a trace; give another name", path);
  if (source && nai_fs_is_dir(source) && is_of_run(path, source, &ignored))
    return nai_err_set(err, NAI_EUSAGE, "--out \"%s\" is a file of the run; give another name", path);
  return NAI_OK;
}

int nai_cmd_output_open(struct nai_cmd_output *output, const char *path, const char *source, struct nai_err *err) {
  struct stat there;
  *output = (struct nai_cmd_output){0};
  if (!path || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
    nai_sink_stdout(&output->sink);
    return NAI_OK;
  }
  bool exists = stat(path, &there) == 0;
  if (exists && (S_ISDIR(there.st_mode) || S_ISBLK(there.st_mode)))
    return nai_err_set(err, NAI_EIO, "cannot write \"%s\": it is a %s", path,
                       S_ISDIR(there.st_mode) ? "directory" : "disk");
  if (exists && !S_ISREG(there.st_mode)) /* a pipe, a terminal: never to be replaced */
    return nai_sink_create(&output->sink, path, err);
  if (exists ? !realpath(path, output->path) /* a link stays, what it leads to is replaced */
             : snprintf(output->path, sizeof output->path, "%s", path) >= (int)sizeof output->path) {
    *output->path = 0;
    return nai_err_sys(err, NAI_EIO, ENAMETOOLONG, "cannot write \"%s\"", path);
  }
  if (exists)
    NAI_TRY(check_place(output->path, &there, source, err));
  NAI_TRY(nai_temporary_file(&output->part, output->path, err));
  int rc = nai_sink_create(&output->sink, output->part.path, err);
  if (rc)
    nai_temporary_remove(&output->part);
  return rc;
}

/* Gives what is there the name NAME.kept (or NAME.kept.2, ...), beside the one that it has. 0, or errno and no name. */
static int keep(char kept[PATH_MAX], const char *path) {
  enum { MOST = 10000 };
  for (int n = 1; n < MOST; n++) {
    if ((n == 1 ? snprintf(kept, PATH_MAX, "%s.kept", path) : snprintf(kept, PATH_MAX, "%s.kept.%d", path, n)) >=
        PATH_MAX) {
      errno = ENAMETOOLONG;
      break;
    }
    if (link(path, kept) == 0 || ((errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS) &&
                                  renameat2(AT_FDCWD, path, AT_FDCWD, kept, RENAME_NOREPLACE) == 0))
      return 0;
    if (errno != EEXIST)
      break;
  }
  *kept = '\0';
  return errno;
}

/* Takes that name back: the answer could not be put in place. */
static void unkeep(const char *kept, const char *path) {
  struct stat st;
  if (stat(kept, &st) == 0 && is_same(&st, path))
    unlink(kept);
  else if (renameat2(AT_FDCWD, kept, AT_FDCWD, path, RENAME_NOREPLACE) != 0)
    return; /* somebody's new file is there: both stay */
}

/* The file may have come, or changed, since the command began. */
static int put_in_place(struct nai_cmd_output *output, struct nai_err *err) {
  char kept[PATH_MAX] = "";
  struct stat there;
  int failed = mark(output->part.path);
  if (!failed && lstat(output->path, &there) != 0)
    failed = errno == ENOENT ? 0 : errno;
  else if (!failed && !is_marked(output->path, &there))
    failed = keep(kept, output->path);
  if (!failed)
    failed = nai_temporary_become(&output->part, output->path);
  if (failed && *kept)
    unkeep(kept, output->path);
  if (failed)
    return nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", output->path);
  if (*kept)
    fprintf(stderr, "nsys-ai: what \"%s\" was, which nsys-ai did not write, is now \"%s\"\n", output->path, kept);
  return NAI_OK;
}

int nai_cmd_output_close(struct nai_cmd_output *output, int rc, struct nai_err *err) {
  if (rc) { /* half an answer would look like one */
    nai_buf_free(&output->sink.text);
    output->sink.text = (struct nai_buf){.sink = &output->sink.sink};
  }
  rc = nai_sink_finish(&output->sink, rc, err);
  if (*output->path && !rc)
    rc = put_in_place(output, err);
  nai_temporary_remove(&output->part);
  return rc;
}
