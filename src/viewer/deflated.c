/* The format (RFC 1951) allows what is done here: one stream of blocks, of which each piece makes some, with the bytes
 * before the piece as its dictionary. */
#include "viewer/deflated.h"

#include "base/deflate.h"

#include <zlib.h>

enum {
  LEVEL = 3,             /* level 6 takes three times as long for a tenth less */
  PIECE_BYTES = 1 << 20, /* at most; shorter pieces cost length */
  WINDOW_BYTES = 1 << 15 /* how far back a match may lie */
};

/* A sample of every column, deflated: one part of 64 KiB in 32. */
int nai_deflated_estimate(int64_t *bytes, const struct nai_encoder *e, struct nai_err *err) {
  enum { PART = 64 * 1024, EVERY = 32 };
  const size_t room = nai_deflate_room(PART);
  NAI_FREED unsigned char *packed = malloc(room);
  *bytes = 0;
  NAI_TRY(nai_memory_check(packed, err));
  for (int c = 0; c < COLUMNS; c++) {
    const struct nai_map *column = &e->column_bytes[c];
    for (size_t at = 0; at < column->size; at += (size_t)PART * EVERY) {
      size_t rest = column->size - at, part = rest < PART ? rest : PART;
      size_t stands_for = rest < (size_t)PART * EVERY ? rest : (size_t)PART * EVERY;
      size_t got = nai_deflate(packed, room, column->data + at, 0, part, (struct nai_deflate_as){LEVEL, 0, true});
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

int nai_deflated_piece(struct nai_deflated *d, int i, struct nai_err *err) {
  struct nai_piece *piece = &d->pieces[i];
  size_t known = piece->begin < WINDOW_BYTES ? piece->begin : WINDOW_BYTES;
  size_t room = nai_deflate_room(piece->len);
  NAI_FREED unsigned char *bytes = malloc(known + piece->len + 1), *out = malloc(room);
  NAI_TRY(nai_memory_check(bytes && out, err));
  gather(bytes, d, piece->begin - known, piece->begin + piece->len);
  int strategy = d->count > 1 ? NAI_DEFLATE_CHOOSE : Z_DEFAULT_STRATEGY;
  piece->size =
      nai_deflate(out, room, bytes, known, piece->len, (struct nai_deflate_as){LEVEL, strategy, i == d->count - 1});
  piece->data = piece->size ? realloc(out, piece->size) : NULL;
  NAI_TRY(nai_memory_check(piece->data, err));
  out = NULL;
  return NAI_OK;
}

void nai_deflated_print(struct nai_buf *out, const struct nai_deflated *d) {
  struct nai_base64 b = {.out = out};
  for (int i = 0; i < d->count; i++)
    nai_base64_put(&b, d->pieces[i].data, d->pieces[i].size);
  nai_base64_end(&b);
}
