/* zlib's format (RFC 1950) allows what is done here: one stream of blocks, of which each piece makes some, with the
 * bytes before the piece as its dictionary. */
#include "viewer/deflated.h"

#include "base/deflate.h"

#include <zlib.h>

enum {
  LEVEL = 3,              /* level 6 takes three times as long for a tenth less */
  PIECE_BYTES = 1 << 20,  /* at most; shorter pieces cost length */
  WINDOW_BYTES = 1 << 15, /* how far back a match may lie */
  SAMPLE_BYTES = 1 << 16,
  SPARE_BYTES = 256,
  RAW = -15 /* a window of that many bits, and no header */
};

/* The header for level 3. */
static const unsigned char header[2] = {0x78, 0x5e};

/* A sample of every column, deflated: one part of 64 KiB in sixteen. */
int nai_deflated_estimate(int64_t *bytes, const struct nai_encoder *e, struct nai_err *err) {
  enum { PART = 64 * 1024, EVERY = 16 };
  uLongf room = compressBound(PART);
  NAI_FREED unsigned char *packed = malloc(room);
  *bytes = 0;
  NAI_TRY(nai_memory_check(packed, err));
  for (int c = 0; c < COLUMNS; c++) {
    const struct nai_map *column = &e->column_bytes[c];
    for (size_t at = 0; at < column->size; at += (size_t)PART * EVERY) {
      size_t rest = column->size - at, part = rest < PART ? rest : PART;
      size_t stands_for = rest < (size_t)PART * EVERY ? rest : (size_t)PART * EVERY;
      uLongf got = room;
      if (compress2(packed, &got, column->data + at, part, LEVEL) == Z_OK)
        *bytes += (int64_t)((double)got * (double)stands_for / (double)part);
    }
  }
  *bytes += *bytes / 3; /* base64 */
  return NAI_OK;
}

/* --- pieces ----------------------------------------------------------------------------------- */

/* Cuts [begin, begin + len) into pieces. */
static void cut(struct nai_deflated *d, size_t begin, size_t len) {
  for (size_t done = 0, n; done < len; done += n) {
    n = len - done < PIECE_BYTES ? len - done : PIECE_BYTES;
    d->pieces[d->count++] = (struct nai_piece){.begin = begin + done, .len = n};
  }
}

int nai_deflated_begin(struct nai_deflated *d, const struct nai_encoder *e, struct nai_err *err) {
  const struct nai_buf *behind[NAI_PARTS_BEHIND] = {&e->mix, &e->sums.stream, &e->queue_bins, &e->pass_times};
  *d = (struct nai_deflated){0};
  for (int c = 0; c < COLUMNS + NAI_PARTS_BEHIND; c++) {
    const struct nai_buf *text = c < COLUMNS ? NULL : behind[c - COLUMNS];
    d->parts[c] = text ? (struct nai_map){(const unsigned char *)text->data, text->len} : e->column_bytes[c];
    d->bytes += d->parts[c].size;
  }
  d->pieces = calloc(d->bytes / PIECE_BYTES + COLUMNS + NAI_PARTS_BEHIND, sizeof *d->pieces);
  NAI_TRY(nai_memory_check(d->pieces, err));
  if (d->bytes <= PIECE_BYTES)
    d->pieces[d->count++] = (struct nai_piece){.len = d->bytes};
  else
    for (size_t c = 0, begin = 0; c < COLUMNS + NAI_PARTS_BEHIND; begin += d->parts[c++].size)
      cut(d, begin, d->parts[c].size);
  return NAI_OK;
}

void nai_deflated_free(struct nai_deflated *d) {
  for (int i = 0; d->pieces && i < d->count; i++)
    free(d->pieces[i].data);
  free(d->pieces);
  d->pieces = NULL;
}

/* Copies the bytes [begin, end) of what is deflated. */
static void gather(unsigned char *to, const struct nai_deflated *d, size_t begin, size_t end) {
  size_t at = 0; /* where the part begins */
  for (int c = 0; c < COLUMNS + NAI_PARTS_BEHIND; at += d->parts[c++].size) {
    size_t from = begin > at ? begin - at : 0, until = end > at ? end - at : 0;
    until = until < d->parts[c].size ? until : d->parts[c].size;
    if (from >= until)
      continue;
    memcpy(to, d->parts[c].data + from, until - from);
    to += until - from;
  }
}

/* Deflates `len` bytes behind `known` ones to `out`. Returns how many that makes, 0 when it fails. */
static size_t deflate_bytes(unsigned char *out, size_t room, unsigned char *bytes, size_t known, size_t len,
                            int strategy, bool last) {
  z_stream z = {0};
  if (deflateInit2(&z, LEVEL, Z_DEFLATED, RAW, 8, strategy) != Z_OK)
    return 0;
  bool ok = !known || deflateSetDictionary(&z, bytes, (uInt)known) == Z_OK;
  z.next_in = bytes + known;
  z.avail_in = (uInt)len;
  z.next_out = out;
  z.avail_out = (uInt)room;
  int state = ok ? deflate(&z, last ? Z_FINISH : Z_SYNC_FLUSH) : Z_MEM_ERROR;
  ok = ok && !z.avail_in && z.avail_out && state == (last ? Z_STREAM_END : Z_OK);
  deflateEnd(&z);
  return ok ? room - z.avail_out : 0;
}

/* Times are mostly noise, in which looking for matches takes four times as long as coding bytes by how often they
 * occur, and finds nothing. The beginning of a piece tells: matches are to save a twentieth. A code has a bit at least.
 */
static int choose_strategy(unsigned char *out, size_t room, unsigned char *bytes, size_t known, size_t len) {
  size_t sample = len < SAMPLE_BYTES ? len : SAMPLE_BYTES;
  size_t matched = deflate_bytes(out, room, bytes, known, sample, Z_DEFAULT_STRATEGY, false);
  if (matched + matched / 20 < sample / 8)
    return Z_DEFAULT_STRATEGY;
  size_t coded = deflate_bytes(out, room, bytes + known, 0, sample, Z_HUFFMAN_ONLY, false);
  return coded && coded <= matched + matched / 20 ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY;
}

int nai_deflated_piece(struct nai_deflated *d, int i, struct nai_err *err) {
  struct nai_piece *piece = &d->pieces[i];
  size_t known = piece->begin < WINDOW_BYTES ? piece->begin : WINDOW_BYTES;
  size_t room = piece->len + piece->len / 256 + SPARE_BYTES; /* noise is stored: 5 more bytes per 16 KiB */
  NAI_FREED unsigned char *bytes = malloc(known + piece->len + 1), *out = malloc(room);
  NAI_TRY(nai_memory_check(bytes && out, err));
  gather(bytes, d, piece->begin - known, piece->begin + piece->len);
  int strategy = d->count > 1 ? choose_strategy(out, room, bytes, known, piece->len) : Z_DEFAULT_STRATEGY;
  piece->size = deflate_bytes(out, room, bytes, known, piece->len, strategy, i == d->count - 1);
  piece->adler = adler32(adler32(0, NULL, 0), bytes + known, (uInt)piece->len);
  piece->data = piece->size ? realloc(out, piece->size) : NULL;
  NAI_TRY(nai_memory_check(piece->data, err));
  out = NULL;
  return NAI_OK;
}

void nai_deflated_print(struct nai_buf *out, const struct nai_deflated *d) {
  struct nai_base64 b = {.out = out};
  uLong adler = adler32(0, NULL, 0);
  nai_base64_put(&b, header, sizeof header);
  for (int i = 0; i < d->count; i++) {
    nai_base64_put(&b, d->pieces[i].data, d->pieces[i].size);
    adler = adler32_combine(adler, d->pieces[i].adler, (z_off_t)d->pieces[i].len);
  }
  unsigned char end[4] = {(unsigned char)(adler >> 24), (unsigned char)(adler >> 16), (unsigned char)(adler >> 8),
                          (unsigned char)adler};
  nai_base64_put(&b, end, sizeof end);
  nai_base64_end(&b);
}
