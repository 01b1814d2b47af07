#include "base/fs.h"
#include "trace/trace/trace_internal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct nai_file_stamp stamp_of(const struct stat *st) {
  return (struct nai_file_stamp){.device = st->st_dev,
                                 .inode = st->st_ino,
                                 .size_bytes = (uint64_t)st->st_size,
                                 .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
                                 .ctime_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec};
}

int nai_file_stamp(struct nai_file_stamp *stamp, const char *path, struct nai_err *err) {
  struct stat st;
  *stamp = (struct nai_file_stamp){0};
  if (lstat(path, &st) != 0) /* SQLite follows no links to what lies beside a database, either */
    /* A name that leaves no room for "-journal" has no such file beside it. */
    return errno == ENOENT || errno == ENAMETOOLONG
             ? NAI_OK
             : nai_err_sys(err, NAI_EINPUT, errno, "cannot examine \"%s\"", path);
  if (!S_ISREG(st.st_mode))
    return nai_err_set(err, NAI_EINPUT, "\"%s\" is not a regular file", path);
  *stamp = stamp_of(&st);
  return NAI_OK;
}

bool nai_file_stamp_equal(const struct nai_file_stamp *a, const struct nai_file_stamp *b) {
  return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns;
}

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n > m && strcmp(text + n - m, end) == 0;
}

/* What the first bytes of a file that is no SQLite database look like, for the message. */
static const char *looks_like(const unsigned char *head, size_t len) {
  static const struct {
    const char *magic, *what;
    size_t len;
  } known[] = {{"\x1f\x8b", "a gzip archive: decompress it first", 2},
               {"PK\x03\x04", "a zip archive: extract it first", 4},
               {"\x28\xb5\x2f\xfd", "a zstd archive: decompress it first", 4},
               {"\xfd"
                "7zXZ",
                "an xz archive: decompress it first", 5},
               {"BZh", "a bzip2 archive: decompress it first", 3},
               {"\x7f"
                "ELF",
                "a program", 4},
               {"PAR1", "a Parquet file: give the folder, or export with --type sqlite", 4},
               {"ARROW1", "an Arrow file: export with --type sqlite", 6},
               {"\x89HDF", "an HDF5 file: export with --type sqlite", 4},
               {"** This file contains an SQLite 2", "an SQLite 2 database", 33}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (len >= known[i].len && memcmp(head, known[i].magic, known[i].len) == 0)
      return known[i].what;
  size_t zeros = 0, printable = 0;
  for (size_t i = 0; i < len; i++) {
    zeros += head[i] == 0;
    printable += (head[i] >= 0x20 && head[i] < 0x7f) || head[i] == '\n' || head[i] == '\r' || head[i] == '\t';
  }
  if (zeros == len)
    return "zero bytes only";
  if (printable == len)
    return "text";
  return "unknown binary data";
}

/* Appends a word of a shell command. */
static void put_shell_word(struct nai_buf *out, const char *word, size_t len) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%";
  if (len && word[0] != '-' && strspn(word, plain) >= len) {
    nai_buf_put(out, word, len);
    return;
  }
  nai_buf_puts(out, word[0] == '-' ? "./'" : "'");
  for (size_t i = 0; i < len; i++) {
    if (word[i] == '\'')
      nai_buf_puts(out, "'\\'");
    nai_buf_putc(out, word[i]);
  }
  nai_buf_putc(out, '\'');
}

/* Of a capture that nsys did not make into a report, as where its host directory is not installed. */
static int refuse_stream(const char *path, struct nai_err *err) {
  NAI_SCOPED(nai_buf) word = {0};
  put_shell_word(&word, path, strlen(path));
  NAI_TRY(nai_buf_check(&word, err));
  return nai_err_set(err, NAI_EINPUT,
                     "\"%s\" is the raw stream of a capture, not a report; make one with QdstrmImporter -i %s (in the "
                     "host directory of Nsight Systems), and give nsys-ai that",
                     path, word.data);
}

static int refuse_foreign(const char *path, const unsigned char *head, size_t len, struct nai_err *err) {
  if (ends_with(path, ".qdstrm"))
    return refuse_stream(path, err);
  const char *suffix = ends_with(path, ".nsys-rep") ? ".nsys-rep" : ends_with(path, ".qdrep") ? ".qdrep" : NULL;
  if (!suffix)
    return nai_err_set(err, NAI_EINPUT, "\"%s\" is not an SQLite database; it looks like %s", path,
                       looks_like(head, len));
  NAI_SCOPED(nai_buf) command = {0}, output = {0};
  nai_buf_put(&output, path, strlen(path) - strlen(suffix));
  nai_buf_puts(&output, ".sqlite");
  nai_buf_puts(&command, "nsys export --type sqlite --output ");
  put_shell_word(&command, nai_buf_str(&output), output.len);
  nai_buf_putc(&command, ' ');
  put_shell_word(&command, path, strlen(path));
  NAI_TRY(nai_buf_check(&command, err));
  return nai_err_set(err, NAI_EINPUT, "\"%s\" is an Nsight Systems report, not its SQLite export; create that with: %s",
                     path, command.data);
}

static uint32_t big_endian(const unsigned char *p, int bytes) {
  uint32_t v = 0;
  for (int i = 0; i < bytes; i++)
    v = v << 8 | p[i];
  return v;
}

static int read_header(struct nai_sqlite_header *header, const unsigned char *head, uint64_t size_bytes,
                       const char *path, struct nai_err *err) {
  uint32_t page_size = big_endian(head + 16, 2);
  page_size = page_size == 1 ? 65536 : page_size;
  *header = (struct nai_sqlite_header){.page_size = page_size,
                                       .reserved_bytes = head[20],
                                       .page_count = big_endian(head + 28, 4),
                                       .encoding = big_endian(head + 56, 4),
                                       .wal = head[18] == 2 || head[19] == 2};
  if (page_size < 512 || page_size > 65536 || (page_size & (page_size - 1)) || page_size - head[20] < 480)
    return nai_err_set(err, NAI_EINPUT, "\"%s\" is damaged: its header gives a page size of %u bytes", path, page_size);
  uint64_t file_pages = size_bytes / page_size;
  if (!header->page_count || memcmp(head + 24, head + 92, 4) != 0) /* written by an SQLite that left the count stale */
    header->page_count = file_pages > UINT32_MAX - 1 ? UINT32_MAX - 1 : (uint32_t)file_pages;
  return NAI_OK;
}

int nai_file_open(int *out, struct nai_file_stamp *stamp, struct nai_sqlite_header *header, const char *path,
                  struct nai_err *err) {
  unsigned char head[NAI_SQLITE_HEADER_BYTES];
  struct stat st;
  /* O_NONBLOCK: a FIFO must not hang the program */
  NAI_CLOSED int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 && strstr(path, "://"))
    return nai_err_set(err, NAI_EINPUT, "\"%s\" is an address: download the trace and name the file", path);
  if (fd < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot open \"%s\"", path);
  if (fstat(fd, &st) != 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot examine \"%s\"", path);
  if (!S_ISREG(st.st_mode))
    return nai_err_set(err, NAI_EINPUT, S_ISDIR(st.st_mode) ? "\"%s\" is a directory" : "\"%s\" is not a regular file",
                       path);
  ssize_t n = nai_fs_read_upto(fd, head, sizeof head, 0);
  if (n < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot read \"%s\"", path);
  if (n == 0)
    return nai_err_set(err, NAI_EINPUT, "\"%s\" is empty", path);
  if (n < 16 || memcmp(head, "SQLite format 3", 16) != 0)
    return refuse_foreign(path, head, (size_t)n, err);
  if (n < NAI_SQLITE_HEADER_BYTES)
    return nai_err_set(err, NAI_EINPUT, "\"%s\" is damaged: only the first %zd bytes of an SQLite database", path, n);
  *stamp = stamp_of(&st);
  NAI_TRY(read_header(header, head, stamp->size_bytes, path, err));
  *out = fd;
  fd = -1;
  return NAI_OK;
}
