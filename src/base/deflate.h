/* Base64, and texts deflated into it: the form of a page's data blocks. */
#pragma once

#include "base/buf.h"

/* Groups of three bytes become four digits; `held` waits for the rest of its group. */
struct nai_base64 {
  struct nai_buf *out;
  unsigned char held[3];
  size_t count;
};
void nai_base64_put(struct nai_base64 *b, const unsigned char *data, size_t len);
void nai_base64_end(struct nai_base64 *b);

/* Appends `text` in zlib's format (RFC 1950), as base64. Frees `text`. */
void nai_buf_put_deflated(struct nai_buf *out, struct nai_buf *text);
