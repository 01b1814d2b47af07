#include "base/sink.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK = 256 * 1024, SPOOL_BLOCK = 128 * 1024 };

static int write_file(struct nai_sink *sink, const void *text, size_t len) {
  const struct nai_file_sink *file = (const struct nai_file_sink *)sink; /* its first member */
  return nai_fs_write_all(file->fd, text, len);
}

int nai_sink_create(struct nai_file_sink *sink, const char *path, struct nai_err *err) {
  *sink = (struct nai_file_sink){.sink = {write_file, path, BLOCK}, .text = {.sink = &sink->sink}};
  sink->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return sink->fd < 0 ? nai_err_sys(err, NAI_EIO, errno, "cannot create \"%s\"", path) : NAI_OK;
}

void nai_sink_stdout(struct nai_file_sink *sink) {
  *sink = (struct nai_file_sink){.sink = {write_file, NULL, BLOCK}, .text = {.sink = &sink->sink}, .fd = STDOUT_FILENO};
}

static int write_aside(struct nai_sink *sink, const void *text, size_t len) {
  struct nai_file_sink *file = (struct nai_file_sink *)sink;
  if (file->fd < 0)
    file->fd = nai_fs_unnamed(sink->path);
  return file->fd < 0 ? errno : nai_fs_write_all(file->fd, text, len);
}

void nai_sink_spool(struct nai_file_sink *sink, const char *directory) {
  *sink =
      (struct nai_file_sink){.sink = {write_aside, directory, SPOOL_BLOCK}, .text = {.sink = &sink->sink}, .fd = -1};
}

int nai_sink_aside(struct nai_file_sink *sink, const char *directory, struct nai_err *err) {
  *sink = (struct nai_file_sink){.sink = {write_aside, directory, BLOCK}, .fd = -1};
  if (!directory)
    return NAI_OK;
  sink->text.sink = &sink->sink;
  sink->fd = nai_fs_unnamed(directory);
  return sink->fd < 0 ? nai_err_sys(err, NAI_EIO, errno, "cannot create a scratch file in \"%s\"", directory) : NAI_OK;
}

static void close_file(struct nai_file_sink *sink) {
  if (sink->sink.path && sink->fd >= 0 && close(sink->fd) != 0 && !sink->text.sink_error)
    sink->text.sink_error = errno; /* some file systems tell only now */
  sink->fd = -1;
}

int nai_sink_read(struct nai_map *map, struct nai_file_sink *sink, struct nai_err *err) {
  if (sink->fd >= 0)
    nai_buf_flush(&sink->text);
  NAI_TRY(nai_buf_check(&sink->text, err));
  size_t size = nai_buf_position(&sink->text);
  sink->text.sink = NULL;
  if (sink->fd < 0 || !size) {
    *map = (struct nai_map){(const unsigned char *)nai_buf_str(&sink->text), size};
    return NAI_OK;
  }
  nai_buf_free(&sink->text);
  void *data = mmap(NULL, size, PROT_READ, MAP_SHARED, sink->fd, 0);
  if (data == MAP_FAILED)
    return nai_err_sys(err, NAI_EIO, errno, "cannot map a scratch file in \"%s\"", sink->sink.path);
  close_file(sink); /* the mapping keeps the file; there may be more than a process may have open */
  *map = sink->aside = (struct nai_map){data, size};
  return NAI_OK;
}

int nai_sink_finish(struct nai_file_sink *sink, int rc, struct nai_err *err) {
  if (!rc)
    nai_buf_flush(&sink->text);
  close_file(sink);
  if (!rc)
    rc = nai_buf_check(&sink->text, err);
  nai_file_sink_free(sink);
  return rc;
}

void nai_file_sink_free(struct nai_file_sink *sink) {
  close_file(sink);
  nai_buf_free(&sink->text);
  nai_map_close(&sink->aside);
  sink->sink.path = NULL;
}
