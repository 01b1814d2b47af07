#include "base/deflate.h"

#include <zlib.h>

static void put_groups(struct nai_buf *out, const unsigned char *data, size_t groups) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *at = nai_buf_reserve(out, groups * 4);
  if (!at)
    return;
  for (size_t i = 0; i < groups; i++, data += 3, at += 4) {
    uint32_t v = (uint32_t)data[0] << 16 | (uint32_t)data[1] << 8 | data[2];
    at[0] = digits[v >> 18];
    at[1] = digits[v >> 12 & 63];
    at[2] = digits[v >> 6 & 63];
    at[3] = digits[v & 63];
  }
  *at = '\0';
  out->len += groups * 4;
}

static void put_byte(struct nai_base64 *b, unsigned char byte) {
  b->held[b->count % 3] = byte;
  b->count = (b->count + 1) % 3;
  if (!b->count)
    put_groups(b->out, b->held, 1);
}

void nai_base64_put(struct nai_base64 *b, const unsigned char *data, size_t len) {
  enum { AT_A_TIME = 1 << 15 };
  for (; len && b->count; len--)
    put_byte(b, *data++);
  for (size_t groups; (groups = len / 3 < AT_A_TIME ? len / 3 : AT_A_TIME); data += groups * 3, len -= groups * 3)
    put_groups(b->out, data, groups);
  for (; len; len--)
    put_byte(b, *data++);
}

void nai_base64_end(struct nai_base64 *b) {
  if (!b->count)
    return;
  memset(b->held + b->count, 0, 3 - b->count);
  put_groups(b->out, b->held, 1);
  for (size_t i = 0; i < 3 - b->count && b->out->len; i++)
    b->out->data[b->out->len - 1 - i] = '=';
}

static void put_deflated(struct nai_buf *out, const struct nai_buf *text) {
  enum { LEVEL = 1 };
  uLongf size = compressBound(text->len);
  unsigned char *packed = malloc(size);
  struct nai_base64 b = {.out = out};
  if (packed && compress2(packed, &size, (const Bytef *)text->data, text->len, LEVEL) == Z_OK) {
    nai_base64_put(&b, packed, size);
    nai_base64_end(&b);
  } else {
    out->oom = true;
  }
  free(packed);
}

void nai_buf_put_block(struct nai_buf *out, struct nai_buf *json) {
  enum { PLAIN_BYTES = 2 << 20 }; /* readable, and deflating costs more than the bytes do */
  out->oom |= json->oom;
  if (json->len > PLAIN_BYTES && !out->oom)
    put_deflated(out, json);
  else
    nai_buf_put(out, json->data, json->len);
  nai_buf_free(json);
}
