/* Decompression of pages: snappy here, gzip by zlib, zstd by the program of that name, once per chunk. */
#include "base/fs.h"
#include "base/program.h"
#include "trace/parquet/parquet.h"

#include <unistd.h>
#include <zlib.h>

enum { UNCOMPRESSED, SNAPPY, GZIP, LZO, BROTLI, LZ4, ZSTD, LZ4_RAW };

/* google/snappy, format_description.txt. */
static bool unsnap(unsigned char *to, uint64_t raw, const unsigned char *at, const unsigned char *end) {
  uint64_t size = 0, done = 0;
  int shift = 0;
  do {
    if (at == end || shift > 28)
      return false;
    size |= (uint64_t)(*at & 0x7f) << shift;
    shift += 7;
  } while (*at++ & 0x80);
  if (size != raw)
    return false;
  while (at < end) {
    unsigned char tag = *at++;
    uint64_t len = (tag >> 2) + 1U, back = 0, wide = 0;
    int kind = tag & 3, extra = kind == 0 ? (len > 60 ? (int)len - 60 : 0) : kind == 1 ? 1 : kind == 2 ? 2 : 4;
    if (end - at < extra)
      return false;
    for (int i = 0; i < extra; i++)
      wide |= (uint64_t)*at++ << 8 * i;
    if (kind == 0) {
      len = extra ? wide + 1 : len;
      if (len > (uint64_t)(end - at) || len > raw - done)
        return false;
      memcpy(to + done, at, len);
      at += len;
    } else {
      back = kind == 1 ? wide | (uint64_t)(tag >> 5) << 8 : wide;
      len = kind == 1 ? (tag >> 2 & 7) + 4U : len;
      if (!back || back > done || len > raw - done)
        return false;
      for (uint64_t i = 0; i < len; i++) /* they may overlap */
        to[done + i] = to[done + i - back];
    }
    done += len;
  }
  return done == raw;
}

/* Z_OK, or why not. */
static int gunzip(unsigned char *to, uint64_t raw, const unsigned char *at, uint64_t stored) {
  z_stream z = {.next_in = (unsigned char *)at, .avail_in = (uInt)stored, .next_out = to, .avail_out = (uInt)raw};
  int rc = inflateInit2(&z, 15 + 32);
  if (rc != Z_OK)
    return rc;
  rc = inflate(&z, Z_FINISH);
  inflateEnd(&z);
  return rc == Z_STREAM_END && z.avail_out == 0 ? Z_OK : rc == Z_MEM_ERROR ? Z_MEM_ERROR : Z_DATA_ERROR;
}

/* All frames behind each other are what the program takes for one file. */
static int unzstd(struct nai_buf *out, const struct nai_buf *frames, uint64_t raw, const char *spare,
                  struct nai_err *err) {
  const char *const argv[] = {"zstd", "-dcq", "--", spare, NULL};
  size_t before = out->len;
  int status = 0;
  if (!nai_program_is_there(argv[0]))
    return nai_err_set(err, NAI_EINPUT, "it is compressed by zstd, and no program zstd is on PATH");
  NAI_TRY(nai_fs_write(spare, frames->data, frames->len, err));
  int rc =
      nai_program_run(&status,
                      &(struct nai_program){.argv = argv, .output = out, .output_max = raw + 1, .silent = true}, err);
  unlink(spare);
  NAI_TRY(rc);
  return status || out->len - before != raw ? nai_err_damaged(err, "it is damaged: zstd cannot decompress a page")
                                            : NAI_OK;
}

static const char *refused(int codec) {
  static const char *const names[] = {[LZO] = "LZO", [BROTLI] = "Brotli", [LZ4] = "LZ4", [LZ4_RAW] = "LZ4"};
  bool read = codec == UNCOMPRESSED || codec == SNAPPY || codec == GZIP || codec == ZSTD;
  return read ? NULL : codec >= 0 && codec <= LZ4_RAW ? names[codec] : "an unknown codec";
}

int nai_pq_decompress(struct nai_buf *out, struct nai_pq_page *pages, uint32_t count, const struct nai_buf *stored,
                      int codec, const char *spare, struct nai_err *err) {
  static const uint64_t most = (uint64_t)1 << 30;
  NAI_SCOPED(nai_buf) frames = {0};
  uint64_t total = 0, zstd = 0;
  if (refused(codec))
    return nai_err_set(err, NAI_EINPUT, "it is compressed by %s, which is not supported", refused(codec));
  for (uint32_t i = 0; i < count; i++)
    total += pages[i].raw;
  if (total > most)
    return nai_err_set(err, NAI_EINPUT, "a row group of it has more than 1 GiB, which is not supported");
  for (uint32_t i = 0; i < count; i++) {
    struct nai_pq_page *page = &pages[i];
    const unsigned char *body = (const unsigned char *)stored->data + page->at + page->level_bytes;
    uint64_t body_stored = page->stored - page->level_bytes, body_raw = page->raw - page->level_bytes;
    bool apart = page->compressed && codec != UNCOMPRESSED && body_stored;
    bool fine = apart || body_stored == body_raw;
    char *to = nai_buf_reserve(out, page->raw + 1);
    if (!to)
      return nai_err_nomem(err);
    if (page->level_bytes)
      memcpy(to, stored->data + page->at, page->level_bytes);
    page->at = out->len;
    out->len += page->raw;
    to += page->level_bytes;
    if (apart && codec == ZSTD) {
      nai_buf_put(&frames, body, body_stored);
      zstd += body_raw;
    } else if (apart && codec == SNAPPY) {
      fine = unsnap((unsigned char *)to, body_raw, body, body + body_stored);
    } else if (apart) {
      int rc = gunzip((unsigned char *)to, body_raw, body, body_stored);
      NAI_TRY(nai_memory_check(rc != Z_MEM_ERROR, err));
      fine = rc == Z_OK;
    } else if (fine && body_raw) {
      memcpy(to, body, body_raw);
    }
    if (!fine)
      return nai_err_damaged(err, "it is damaged: a page cannot be decompressed");
  }
  if (!zstd)
    return NAI_OK;
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(nai_buf_check(&frames, err));
  NAI_TRY(unzstd(&text, &frames, zstd, spare, err));
  const char *from = text.data;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t len = pages[i].raw - pages[i].level_bytes;
    if (!pages[i].compressed || pages[i].stored == pages[i].level_bytes)
      continue;
    if (len)
      memcpy(out->data + pages[i].at + pages[i].level_bytes, from, len);
    from += len;
  }
  return NAI_OK;
}
