/* The form of a page's data blocks: plain JSON, or base64 of what was deflated. */
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

/* Appends JSON that is safe inside <script>: as it is, or, beyond 2 MiB, in zlib's format (RFC 1950) as base64. Frees
 * `json`. */
void nai_buf_put_block(struct nai_buf *out, struct nai_buf *json);
