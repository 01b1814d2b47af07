/* gzip as it goes. */
#include "features/export/export.h"

#include <zlib.h>

enum { BLOCK = 256 * 1024, LEVEL = 6, GZIP = 16 };

static int deflate_some(struct nai_gzip *gzip, const void *bytes, size_t len, int flush) {
  z_stream *z = gzip->stream;
  z->next_in = (Bytef *)(uintptr_t)bytes;
  z->avail_in = (uInt)len;
  do {
    char *room = nai_buf_reserve(gzip->into, BLOCK);
    if (!room)
      return gzip->into->sink_error ? gzip->into->sink_error : ENOMEM;
    z->next_out = (Bytef *)room;
    z->avail_out = BLOCK;
    deflate(z, flush); /* fails for a damaged state only */
    gzip->into->len += BLOCK - z->avail_out;
  } while (!z->avail_out);
  return nai_buf_failed(gzip->into) ? (gzip->into->oom ? ENOMEM : gzip->into->sink_error) : 0;
}

static int write_gzip(struct nai_sink *sink, const void *text, size_t len) {
  struct nai_gzip *gzip = (struct nai_gzip *)sink; /* its first member */
  for (size_t at = 0, part; at < len; at += part) {
    part = len - at < (size_t)1 << 30 ? len - at : (size_t)1 << 30; /* zlib counts in 32 bits */
    int error = deflate_some(gzip, (const char *)text + at, part, Z_NO_FLUSH);
    if (error)
      return error;
  }
  return 0;
}

int nai_gzip_open(struct nai_gzip *gzip, struct nai_buf *into, struct nai_err *err) {
  z_stream *z = calloc(1, sizeof *z);
  *gzip = (struct nai_gzip){
      .sink = {write_gzip, into->sink ? into->sink->path : NULL, BLOCK}, .text = {.sink = &gzip->sink}, .into = into};
  if (!z || deflateInit2(z, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    free(z);
    return nai_err_nomem(err);
  }
  gzip->stream = z;
  return NAI_OK;
}

int nai_gzip_close(struct nai_gzip *gzip, int rc, struct nai_err *err) {
  if (!rc) {
    nai_buf_flush(&gzip->text);
    rc = nai_buf_check(&gzip->text, err);
  }
  if (!rc && deflate_some(gzip, NULL, 0, Z_FINISH) != 0)
    rc = nai_buf_check(gzip->into, err);
  if (gzip->stream)
    deflateEnd(gzip->stream);
  free(gzip->stream);
  nai_buf_free(&gzip->text);
  return rc;
}

int nai_gzip_all(struct nai_buf *out, const void *bytes, size_t len, struct nai_err *err) {
  struct nai_gzip gzip;
  NAI_TRY(nai_gzip_open(&gzip, out, err));
  nai_buf_put(&gzip.text, bytes, len);
  return nai_gzip_close(&gzip, NAI_OK, err);
}
