#include "base/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK = 256 * 1024 };

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

int nai_sink_aside(struct nai_file_sink *sink, const char *directory, struct nai_err *err) {
  *sink = (struct nai_file_sink){.sink = {write_file, directory, BLOCK}, .fd = -1};
  if (!directory)
    return NAI_OK;
  sink->text.sink = &sink->sink;
  sink->fd = nai_fs_unnamed(directory);
  return sink->fd < 0 ? nai_err_sys(err, NAI_EIO, errno, "cannot create a scratch file in \"%s\"", directory) : NAI_OK;
}

int nai_sink_read(struct nai_map *map, struct nai_file_sink *sink, struct nai_err *err) {
  nai_buf_flush(&sink->text);
  NAI_TRY(nai_buf_check(&sink->text, err));
  size_t size = nai_buf_position(&sink->text);
  if (!sink->text.sink || !size) {
    *map = (struct nai_map){(const unsigned char *)nai_buf_str(&sink->text), size};
    return NAI_OK;
  }
  void *data = mmap(NULL, size, PROT_READ, MAP_SHARED, sink->fd, 0);
  if (data == MAP_FAILED)
    return nai_err_sys(err, NAI_EIO, errno, "cannot map a scratch file in \"%s\"", sink->sink.path);
  *map = sink->aside = (struct nai_map){data, size};
  return NAI_OK;
}

int nai_sink_finish(struct nai_file_sink *sink, int rc, struct nai_err *err) {
  if (!rc)
    nai_buf_flush(&sink->text);
  if (sink->sink.path && sink->fd >= 0 && close(sink->fd) != 0 && !sink->text.sink_error)
    sink->text.sink_error = errno; /* some file systems tell only now */
  if (!rc)
    rc = nai_buf_check(&sink->text, err);
  nai_buf_free(&sink->text);
  nai_map_close(&sink->aside);
  return rc;
}
