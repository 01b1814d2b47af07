/* Growable text. Appending never fails on the spot: once out of memory, or once its sink has failed, the buffer stays
 * so (sticky), drops further text, and the caller tests once at the end with nai_buf_check.
 *
 * A buffer with a sink hands its text on as it grows, so that what is printed needs no more memory than a block. Of the
 * text it handed on nothing can be read or taken back; the last NAI_BUF_TAIL bytes appended are always in `data`. */
#pragma once

#include "base/err.h"

enum { NAI_BUF_TAIL = 256 };

/* Takes the text of a buffer. base/sink.h has the one that writes files. */
struct nai_sink {
  int (*write)(struct nai_sink *sink, const void *text, size_t len); /* all of it; 0 or errno */
  const char *path;                                                  /* for messages; NULL is standard output */
  size_t block; /* bytes to gather before they are written; at least NAI_BUF_TAIL */
};

struct nai_buf {
  char *data; /* NUL-terminated whenever len > 0 */
  size_t len, capacity;
  bool oom;
  struct nai_sink *sink; /* NULL: everything stays in `data`; borrowed */
  size_t written;        /* bytes the sink took: they stood in front of data[0] */
  int sink_error;        /* errno of the sink's first failure, else 0 */
};

void nai_buf_free(struct nai_buf *buf);
void nai_buf_clear(struct nai_buf *buf); /* keeps the memory; not for buffers with a sink */
void nai_buf_put_more(struct nai_buf *buf, const void *bytes, size_t len); /* nai_buf_put where there is no room yet */
static inline void nai_buf_put(struct nai_buf *buf, const void *bytes, size_t len) {
  if (len >= buf->capacity - buf->len || buf->oom || buf->sink_error) {
    nai_buf_put_more(buf, bytes, len);
    return;
  }
  if (len)
    memcpy(buf->data + buf->len, bytes, len);
  buf->len += len;
  buf->data[buf->len] = '\0';
}
static inline void nai_buf_puts(struct nai_buf *buf, const char *text) { nai_buf_put(buf, text, strlen(text)); }
void nai_buf_fill(struct nai_buf *buf, char c, size_t count); /* c, count times */
/* Seven bits a byte, the lowest first, all but the last with the top bit set: LEB128, at most 10 bytes. */
void nai_buf_put_varint(struct nai_buf *buf, uint64_t value);
void nai_buf_put_varints(struct nai_buf *buf, const uint64_t *values, size_t count);
void nai_buf_printf(struct nai_buf *buf, const char *fmt, ...) NAI_PRINTF(2, 3);
/* Hands everything to the sink, the tail included. */
void nai_buf_flush(struct nai_buf *buf);
/* The text as a C string, "" when empty. */
const char *nai_buf_str(const struct nai_buf *buf);
/* Bytes appended since the start, those handed on included. */
static inline size_t nai_buf_position(const struct nai_buf *buf) { return buf->written + buf->len; }
/* Whether text is being dropped: loops over many rows end early. */
static inline bool nai_buf_failed(const struct nai_buf *buf) { return buf->oom || buf->sink_error; }
/* Makes room for `extra` more bytes and returns where they go (NULL when that failed); set len yourself. */
bool nai_buf_make_room(struct nai_buf *buf, size_t extra); /* where there is none yet */
static inline char *nai_buf_reserve(struct nai_buf *buf, size_t extra) {
  bool fits = extra < buf->capacity - buf->len && !nai_buf_failed(buf);
  return fits || nai_buf_make_room(buf, extra) ? buf->data + buf->len : NULL;
}
static inline void nai_buf_putc(struct nai_buf *buf, char c) {
  if (nai_buf_failed(buf) || buf->capacity - buf->len < 2) {
    nai_buf_put(buf, &c, 1);
    return;
  }
  buf->data[buf->len++] = c;
  buf->data[buf->len] = '\0';
}
/* 0, NAI_ELIMIT when any append ran out of memory, or NAI_EIO with the cause when the sink failed. */
NAI_MUST_CHECK int nai_buf_check(const struct nai_buf *buf, struct nai_err *err);
