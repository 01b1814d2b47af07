/* The block of events, made in pieces: what zlib makes of it is what went in, whatever falls on the pieces' edges. */
#include "model_fixture.h"

#include "base/deflate.h"
#include "viewer/deflated.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { PIECE = 1 << 20 };

static size_t decode_base64(unsigned char *out, const char *text, size_t len) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned char value[256] = {0};
  size_t n = 0;
  assert_int_equal(len % 4, 0);
  for (int i = 0; i < 64; i++)
    value[(unsigned char)digits[i]] = (unsigned char)i;
  for (size_t i = 0; i < len; i += 4) {
    uint32_t bits = 0;
    for (int k = 0; k < 4; k++)
      bits = bits << 6 | value[(unsigned char)text[i + (size_t)k]];
    for (int k = 0; k < 3 && text[i + (size_t)k + 1] != '='; k++)
      out[n++] = (unsigned char)(bits >> (16 - 8 * k));
  }
  return n;
}

/* What was deflated, with nothing around it: its length, which is at most `room`. */
static size_t inflated(unsigned char *out, size_t room, unsigned char *packed, size_t len) {
  z_stream z = {.next_in = packed, .avail_in = (uInt)len, .next_out = out, .avail_out = (uInt)room};
  assert_int_equal(inflateInit2(&z, -15), Z_OK);
  assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
  assert_int_equal(z.avail_in, 0);
  inflateEnd(&z);
  return room - z.avail_out;
}

/* Columns with `sizes` bytes, of which some can be deflated, and a sum of `last` bytes. */
static void check(const size_t sizes[COLUMNS], size_t last) {
  struct nai_encoder e = {0};
  struct nai_deflated d;
  struct nai_buf out = {0};
  size_t total = last;
  for (int c = 0; c < COLUMNS; c++)
    total += sizes[c];
  unsigned char *bytes = malloc(total + 1), *got = malloc(total + 1), *packed = malloc(2 * total + 64);
  assert_true(bytes && got && packed);
  uint32_t x = 1;
  for (size_t i = 0; i < total; i++) {
    x = x * 1664525 + 1013904223;
    bytes[i] = (unsigned char)(i / 3000000 % 2 ? x >> 24 : i / 5000 % 2 ? x >> 29 : i % 251); /* noise last */
  }
  size_t at = 0;
  for (int c = 0; c < COLUMNS; at += sizes[c++])
    e.column_bytes[c] = (struct nai_map){bytes + at, sizes[c]};
  nai_buf_put(&e.sums.stream, bytes + at, last);
  ok(nai_deflated_begin(&d, &e, err));
  assert_true((d.count == 1) == (total <= PIECE));
  for (int i = d.count; i-- > 0;) /* in any order */
    ok(nai_deflated_piece(&d, i, err));
  nai_deflated_print(&out, &d);
  ok(nai_buf_check(&out, err));
  size_t packed_bytes = decode_base64(packed, nai_buf_str(&out), out.len);
  assert_int_equal(inflated(got, total, packed, packed_bytes), total);
  assert_memory_equal(got, bytes, total);
  if (d.count == 1) { /* in one go */
    size_t room = nai_deflate_room(total);
    unsigned char *whole = malloc(room);
    assert_non_null(whole);
    assert_int_equal(nai_deflate(whole, room, bytes, 0, total, (struct nai_deflate_as){3, 0, true}), packed_bytes);
    assert_memory_equal(whole, packed, packed_bytes);
    free(whole);
  }
  nai_deflated_free(&d);
  nai_buf_free(&out);
  nai_buf_free(&e.sums.stream);
  free(bytes);
  free(got);
  free(packed);
}

TEST(test_one_piece) {
  check((size_t[COLUMNS]){0}, 0);
  check((size_t[COLUMNS]){0}, 1);
  check((size_t[COLUMNS]){1, 0, 2}, 0);
  check((size_t[COLUMNS]){70000, 3, 0, 50000, 0, 0, 1}, 17);
  check((size_t[COLUMNS]){PIECE - 1}, 1);
}

TEST(test_pieces) {
  check((size_t[COLUMNS]){PIECE}, 1); /* a piece of one byte */
  check((size_t[COLUMNS]){PIECE - 5, 10, 0, PIECE}, 0);
  check((size_t[COLUMNS]){1000, PIECE / 2, PIECE, 7, 7, 7, PIECE, 100}, 12345);
  check((size_t[COLUMNS]){0, 0, 0, 0, 0, 0, 0, 2 * PIECE}, PIECE);
  check((size_t[COLUMNS]){3000000, 2 * PIECE}, 0); /* a column with matches, one without */
}

/* A block of `len` bytes that repeat, or of noise. */
static void check_block(size_t len, bool noise) {
  struct nai_buf json = {0}, out = {0};
  unsigned char *got = malloc(len + 1), *packed = malloc(2 * len + 64);
  assert_true(got && packed);
  nai_buf_puts(&out, "before");
  uint32_t x = 1;
  for (size_t i = 0; i < len; i++) {
    x = x * 1664525 + 1013904223;
    nai_buf_putc(&json, noise ? (char)(x >> 24) : "{\"key\": 1}"[i % 10]);
  }
  struct nai_buf copy = {0};
  nai_buf_put(&copy, json.data, json.len);
  nai_buf_put_block(&out, &json);
  ok(nai_buf_check(&out, err));
  assert_null(json.data);
  assert_memory_equal(nai_buf_str(&out), "before", 6);
  if (len <= 2 * PIECE) {
    assert_int_equal(out.len - 6, len);
    assert_memory_equal(out.data + 6, nai_buf_str(&copy), len);
  } else {
    assert_int_equal(inflated(got, len, packed, decode_base64(packed, out.data + 6, out.len - 6)), len);
    assert_memory_equal(got, copy.data, len);
    assert_true(noise || out.len < len / 10);
  }
  nai_buf_free(&copy);
  nai_buf_free(&out);
  free(got);
  free(packed);
}

TEST(test_json_blocks) {
  check_block(0, false);
  check_block(10, false);
  check_block(2 * PIECE, false);
  check_block(2 * PIECE + 1, false);
  check_block(2 * PIECE + 2, true); /* which deflating makes longer */
  check_block(3 * PIECE, true);
}

TEST(test_json_blocks_without_memory) {
  for (int side = 0; side < 2; side++) {
    struct nai_buf json = {0}, out = {0};
    struct nai_err err;
    nai_buf_fill(&json, ' ', 3 * PIECE);
    (side ? &json : &out)->oom = true;
    nai_buf_put_block(&out, &json);
    assert_int_equal(nai_buf_check(&out, &err), NAI_ELIMIT);
    assert_int_equal(out.len, 0);
    assert_null(json.data);
    nai_buf_free(&out);
  }
}
