/* From a compressed export to the export, in a temporary directory: gzip here, zstd by the program of that name. */
#include "command/command.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/program.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK = 1 << 20 };

static const char sqlite_magic[] = "SQLite format 3"; /* with its NUL */

/* What is decompressed goes to a file. It ends early where it is no export, or would fill the disk: what a small file
 * can hold is a thousand times its size. */
struct target {
  struct nai_sink sink;
  struct nai_buf text;
  int fd;
  bool begun, foreign;
};

static int write_export(struct nai_sink *sink, const void *bytes, size_t len) {
  struct target *t = (struct target *)sink; /* its first member */
  if (!t->begun && (len < sizeof sqlite_magic || memcmp(bytes, sqlite_magic, sizeof sqlite_magic) != 0)) {
    t->foreign = true;
    return EINVAL;
  }
  t->begun = true;
  return nai_fs_has_room(t->fd, len) ? nai_fs_write_all(t->fd, bytes, len) : ENOSPC;
}

static enum { NOT_COMPRESSED, GZIP, ZSTD } kind_of(const char *path) {
  unsigned char head[4] = {0};
  NAI_CLOSED int fd = nai_fs_is_regular(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  if (fd < 0 || nai_fs_read_upto(fd, head, sizeof head, 0) != sizeof head)
    return NOT_COMPRESSED;
  return memcmp(head, "\x1f\x8b\x08", 3) == 0 ? GZIP : memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0 ? ZSTD : NOT_COMPRESSED;
}

bool nai_cmd_is_compressed(const char *path) { return kind_of(path) != NOT_COMPRESSED; }

/* What could not be written is known to the text. */
static int gunzip(struct nai_buf *text, const char *path, struct nai_err *err) {
  int n = 1, cause;
  gzFile file = gzopen(path, "rbe");
  if (!file)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot open \"%s\"", path);
  while (n > 0) {
    char *room = nai_buf_reserve(text, BLOCK);
    n = room ? gzread(file, room, BLOCK) : 0;
    text->len += n > 0 ? (size_t)n : 0;
  }
  int why = errno;
  gzerror(file, &cause);
  bool whole = gzclose_r(file) == Z_OK && n == 0; /* Z_BUF_ERROR: it ends in the middle */
  NAI_TRY(nai_memory_check(cause != Z_MEM_ERROR, err));
  if (cause == Z_ERRNO)
    return nai_err_sys(err, NAI_EINPUT, why, "cannot read \"%s\"", path);
  return whole ? NAI_OK : nai_err_damaged(err, "\"%s\" is damaged: it cannot be decompressed", path);
}

static int unzstd(struct nai_buf *text, const char *path, struct nai_err *err) {
  const char *const argv[] = {"zstd", "-dcq", "--", path, NULL};
  int status;
  if (!nai_program_is_there(argv[0]))
    return nai_err_set(err, NAI_EINPUT, "\"%s\" is compressed by zstd, and no program zstd is on PATH", path);
  NAI_TRY(nai_program_run(
      &status, &(struct nai_program){.argv = argv, .output = text, .output_max = SIZE_MAX - BLOCK, .silent = true},
      err));
  return status ? nai_err_damaged(err, "\"%s\" is damaged: zstd cannot decompress it", path) : NAI_OK;
}

/* What went wrong in writing is the cause of what went wrong in reading. */
static int explain(const struct target *t, int rc, const char *path, struct nai_err *err) {
  if (t->text.oom)
    return nai_err_nomem(err);
  if (t->foreign || (!rc && !t->begun))
    return nai_err_set(err, NAI_EINPUT, "what is compressed in \"%s\" is not an SQLite export", path);
  if (t->text.sink_error)
    return nai_err_sys(err, NAI_EIO, t->text.sink_error, "cannot decompress \"%s\" into %s; TMPDIR names another place",
                       path, nai_temporary_place());
  return rc;
}

static int decompress(const char *to, const char *path, struct nai_err *err) {
  NAI_CLOSED int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  struct target t = {.sink = {write_export, to, BLOCK}, .fd = fd};
  if (fd < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot create \"%s\"", to);
  t.text.sink = &t.sink;
  int rc = kind_of(path) == GZIP ? gunzip(&t.text, path, err) : unzstd(&t.text, path, err);
  if (!rc)
    nai_buf_flush(&t.text);
  rc = explain(&t, rc, path, err);
  nai_buf_free(&t.text);
  return rc;
}

/* Name of the export: what is in front of .gz, so that it appears in the outputs. */
static char *export_path(const char *directory, const char *path) {
  const char *name = nai_fs_basename(path), *dot = strrchr(name, '.');
  bool is_suffix = dot && dot > name && (strcmp(dot, ".gz") == 0 || strcmp(dot, ".zst") == 0);
  char *made = NULL;
  return asprintf(&made, "%s/%.*s", directory, is_suffix ? (int)(dot - name) : (int)strlen(name), name) < 0 ? NULL
                                                                                                            : made;
}

int nai_cmd_decompress(struct nai_cmd_export *out, const char *path, struct nai_err *err) {
  NAI_TRY(nai_temporary_in(&out->directory, nai_temporary_place(), err));
  out->path = export_path(out->directory.path, path);
  return out->path ? decompress(out->path, path, err) : nai_err_nomem(err);
}
