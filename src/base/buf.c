#include "base/buf.h"

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

static void write_out(struct nai_buf *buf, const char *text, size_t len) {
  if (!len || nai_buf_failed(buf))
    return;
  buf->sink_error = buf->sink->write(buf->sink, text, len);
  buf->written += len;
}

/* Hands all but the last `keep` bytes to the sink. */
static void hand_on(struct nai_buf *buf, size_t keep) {
  if (buf->len <= keep)
    return;
  size_t len = buf->len - keep;
  write_out(buf, buf->data, len);
  memmove(buf->data, buf->data + len, keep);
  buf->data[keep] = '\0';
  buf->len = keep;
}

void nai_buf_flush(struct nai_buf *buf) {
  if (buf->sink)
    hand_on(buf, 0);
}

bool nai_buf_make_room(struct nai_buf *buf, size_t extra) {
  if (nai_buf_failed(buf))
    return false;
  if (buf->sink && (extra > buf->sink->block || buf->len + extra > buf->sink->block))
    hand_on(buf, NAI_BUF_TAIL);
  if (nai_buf_failed(buf))
    return false;
  size_t want = buf->len + extra + 1;
  size_t capacity = buf->capacity ? buf->capacity : 256;
  while (capacity < want && capacity <= (size_t)1 << 62)
    capacity *= 2;
  if (want > extra && capacity == buf->capacity)
    return true;
  char *grown = want <= extra ? NULL : realloc(buf->data, capacity);
  buf->oom = !grown;
  if (!grown)
    return false;
  buf->data = grown;
  buf->capacity = capacity;
  return true;
}

void nai_buf_put_more(struct nai_buf *buf, const void *bytes, size_t len) {
  if (buf->sink && len > buf->sink->block) { /* no need to copy what goes on at once */
    hand_on(buf, 0);
    write_out(buf, bytes, len - NAI_BUF_TAIL);
    bytes = (const char *)bytes + len - NAI_BUF_TAIL;
    len = NAI_BUF_TAIL;
  }
  char *at = nai_buf_reserve(buf, len);
  if (!at)
    return;
  if (len)
    memcpy(at, bytes, len);
  buf->len += len;
  buf->data[buf->len] = '\0';
}

void nai_buf_fill(struct nai_buf *buf, char c, size_t count) {
  char *at = nai_buf_reserve(buf, count);
  if (!at || !count)
    return;
  memset(at, c, count);
  at[count] = '\0';
  buf->len += count;
}

void nai_buf_printf(struct nai_buf *buf, const char *fmt, ...) {
  va_list ap;
  size_t room = nai_buf_failed(buf) ? 0 : buf->capacity - buf->len;
  va_start(ap, fmt);
  int need = vsnprintf(room ? buf->data + buf->len : NULL, room, fmt, ap);
  va_end(ap);
  if (need >= 0 && (size_t)need >= room) {
    char *at = nai_buf_reserve(buf, (size_t)need);
    if (!at) {
      if (room)
        buf->data[buf->len] = '\0';
      return;
    }
    va_start(ap, fmt);
    vsnprintf(at, (size_t)need + 1, fmt, ap);
    va_end(ap);
  }
  if (need >= 0)
    buf->len += (size_t)need;
}

const char *nai_buf_str(const struct nai_buf *buf) { return buf->len ? buf->data : ""; }

int nai_buf_check(const struct nai_buf *buf, struct nai_err *err) {
  if (buf->sink_error && !buf->sink->path)
    return nai_err_sys(err, NAI_EIO, buf->sink_error, "cannot write to standard output");
  if (buf->sink_error)
    return nai_err_sys(err, NAI_EIO, buf->sink_error, "cannot write \"%s\"", buf->sink->path);
  return buf->oom ? nai_err_nomem(err) : NAI_OK;
}

/* Columns of one byte each are common: they take no look at each value. */
static bool are_short(const uint64_t *values, size_t count) {
  uint64_t all = 0;
  for (size_t i = 0; i < count; i++)
    all |= values[i];
  return all < 0x80;
}

void nai_buf_put_varints(struct nai_buf *buf, const uint64_t *values, size_t count) {
  char *begin = nai_buf_reserve(buf, 10 * count), *at = begin;
  if (!at)
    return;
  const size_t ready = are_short(values, count) ? count : 0;
  for (size_t i = 0; i < ready; i++)
    *at++ = (char)values[i];
  for (size_t i = ready; i < count; i++) {
    uint64_t value = values[i];
    for (; value >= 0x80; value >>= 7)
      *at++ = (char)(value | 0x80);
    *at++ = (char)value;
  }
  buf->len += (size_t)(at - begin);
}

void nai_buf_put_varint(struct nai_buf *buf, uint64_t value) { nai_buf_put_varints(buf, &value, 1); }
