#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nai_buf_free(struct nai_buf *buf) {
  if (!buf)
    return;
  free(buf->data);
  memset(buf, 0, sizeof *buf);
}

void nai_buf_clear(struct nai_buf *buf) {
  buf->len = 0;
  if (buf->data)
    buf->data[0] = '\0';
}

char *nai_buf_reserve(struct nai_buf *buf, size_t extra) {
  if (buf->oom)
    return NULL;
  if (extra >= buf->capacity - buf->len || !buf->data) {
    size_t want = buf->len + extra + 1;
    size_t capacity = buf->capacity ? buf->capacity : 256;
    while (capacity < want && capacity <= (size_t)1 << 62)
      capacity *= 2;
    char *grown = want < extra ? NULL : realloc(buf->data, capacity);
    if (!grown) {
      buf->oom = true;
      return NULL;
    }
    buf->data = grown;
    buf->capacity = capacity;
  }
  return buf->data + buf->len;
}

void nai_buf_put(struct nai_buf *buf, const void *bytes, size_t len) {
  char *at = nai_buf_reserve(buf, len);
  if (!at)
    return;
  if (len)
    memcpy(at, bytes, len);
  buf->len += len;
  buf->data[buf->len] = '\0';
}

void nai_buf_puts(struct nai_buf *buf, const char *text) { nai_buf_put(buf, text, strlen(text)); }

void nai_buf_putc(struct nai_buf *buf, char c) { nai_buf_put(buf, &c, 1); }

void nai_buf_printf(struct nai_buf *buf, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int need = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  char *at = need < 0 ? NULL : nai_buf_reserve(buf, (size_t)need);
  if (!at)
    return;
  va_start(ap, fmt);
  vsnprintf(at, (size_t)need + 1, fmt, ap);
  va_end(ap);
  buf->len += (size_t)need;
}

const char *nai_buf_str(const struct nai_buf *buf) { return buf->len ? buf->data : ""; }

int nai_buf_check(const struct nai_buf *buf, struct nai_err *err) { return buf->oom ? nai_err_nomem(err) : NAI_OK; }
