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

size_t nai_deflate_room(size_t len) { return len + len / 256 + 256; } /* noise is stored: 5 more bytes per 8 KiB */

enum { SAMPLE_BYTES = 1 << 16 };

/* Times are mostly noise, in which looking for matches takes four times as long as coding bytes by how often they
 * occur, and finds nothing: matches are to save a twentieth of a sample. A code has a bit at least. */
static bool is_noise(unsigned char *scratch, size_t room, const unsigned char *sample, size_t matched, int level) {
  matched += matched / 20;
  if (matched < SAMPLE_BYTES / 8)
    return false;
  size_t coded =
      nai_deflate(scratch, room, sample, 0, SAMPLE_BYTES, (struct nai_deflate_as){level, Z_HUFFMAN_ONLY, false});
  return coded && coded <= matched;
}

static bool deflate_next(z_stream *z, size_t len, int flush) {
  z->avail_in = (uInt)len;
  int state = deflate(z, flush);
  return !z->avail_in && z->avail_out && state == (flush == Z_FINISH ? Z_STREAM_END : Z_OK);
}

size_t nai_deflate(unsigned char *out, size_t room, const unsigned char *bytes, size_t known, size_t len,
                   struct nai_deflate_as as) {
  enum { RAW = -15 }; /* a window of that many bits, and no header */
  /* Of 1 to 9: zlib renews its tables all 32 KiB, at its own choice of 8 in as many steps as deflating takes. At 6 more
   * texts share a place in them, which costs more than it saves where few repeat. */
  enum { MEMORY = 7 };
  z_stream z = {.next_in = (Bytef *)bytes + known, .next_out = out, .avail_out = (uInt)room};
  bool choose = as.strategy == NAI_DEFLATE_CHOOSE;
  if (deflateInit2(&z, as.level, Z_DEFLATED, RAW, MEMORY, choose ? Z_DEFAULT_STRATEGY : as.strategy) != Z_OK)
    return 0;
  bool ok = !known || deflateSetDictionary(&z, bytes, (uInt)known) == Z_OK;
  if (choose && len > SAMPLE_BYTES) { /* what becomes of the sample stays, whatever it tells */
    ok = ok && deflate_next(&z, SAMPLE_BYTES, Z_BLOCK);
    if (ok && is_noise(z.next_out, z.avail_out, bytes + known, z.total_out, as.level))
      ok = deflateParams(&z, as.level, Z_HUFFMAN_ONLY) == Z_OK;
    len -= SAMPLE_BYTES;
  }
  ok = ok && deflate_next(&z, len, as.last ? Z_FINISH : Z_SYNC_FLUSH);
  deflateEnd(&z);
  return ok ? room - z.avail_out : 0;
}

static void put_deflated(struct nai_buf *out, const struct nai_buf *text) {
  size_t room = nai_deflate_room(text->len), size = 0;
  unsigned char *packed = malloc(room);
  struct nai_base64 b = {.out = out};
  if (packed)
    size = nai_deflate(packed, room, (const unsigned char *)text->data, 0, text->len,
                       (struct nai_deflate_as){.level = 1, .last = true});
  out->oom |= !size;
  nai_base64_put(&b, packed, size);
  nai_base64_end(&b);
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
