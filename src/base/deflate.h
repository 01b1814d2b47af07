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

/* Deflates (RFC 1951, nothing around it) `len` bytes behind `known` ones, which they may repeat: to a stream's end, or
 * so that more can follow. Returns how many bytes that makes, 0 when it fails. */
struct nai_deflate_as {
  int level, strategy; /* zlib's */
  bool last;
};
/* A strategy: the first 64 KiB decide whether the rest is searched for matches. */
enum { NAI_DEFLATE_CHOOSE = -1 };
size_t nai_deflate(unsigned char *out, size_t room, const unsigned char *bytes, size_t known, size_t len,
                   struct nai_deflate_as as);
/* Room for what becomes of `len` bytes. */
size_t nai_deflate_room(size_t len);

/* Appends JSON that is safe inside <script>: as it is, or, beyond 2 MiB, deflated (RFC 1951) as base64. Frees `json`.
 */
void nai_buf_put_block(struct nai_buf *out, struct nai_buf *json);
