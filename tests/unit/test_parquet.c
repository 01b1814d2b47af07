/* What no other program's reader shows: when a type is fixed, and that a failing sink is said. */
#include "unit.h"

#include "features/export/parquet.h"
#include "features/export/parquet_column.h"

#include <string.h>

static struct nai_value integer(int64_t i) { return (struct nai_value){.type = NAI_I64, .i = i}; }
static struct nai_value real(double f) { return (struct nai_value){.type = NAI_F64, .f = f}; }
static struct nai_value text(const char *s) { return (struct nai_value){.type = NAI_STR, .s = s}; }
static struct nai_value null(void) { return (struct nai_value){.type = NAI_STR, .null = true}; }

static int write(struct nai_buf *out, const struct nai_value *cells, int64_t count, int64_t rows_per_group, bool gzip,
                 struct nai_err *err) {
  const struct nai_parquet_column column = {"x", "", NAI_UNIT_COUNT, NAI_STR};
  const struct nai_parquet_options options = {.gzip = gzip, .rows_per_group = rows_per_group};
  struct nai_parquet *file = NULL;
  int rc = nai_parquet_open(&file, out, &column, 1, &options, err);
  for (int64_t i = 0; i < count && !rc; i++)
    rc = nai_parquet_put(file, &cells[i], err);
  if (!rc)
    rc = nai_parquet_finish(file, err);
  nai_parquet_free(file);
  return rc;
}

TEST(test_types) {
  const struct nai_value cells[] = {integer(1), null(), real(0.5), text("a"), integer(7)};
  struct nai_buf one = {0}, small = {0};
  struct nai_err err;
  assert_int_equal(write(&one, cells, 5, 0, false, &err), NAI_OK);
  assert_int_equal(write(&small, cells, 5, 2, false, &err), NAI_EUSAGE); /* integers were written as such */
  assert_non_null(strstr(err.msg, "\"x\" has a real number in row 3"));
  nai_buf_clear(&small);
  assert_int_equal(write(&small, cells, 2, 1, true, &err), NAI_OK);
  nai_buf_clear(&small);
  const struct nai_value later[] = {null(), null(), text("a"), integer(7), text("b")};
  assert_int_equal(write(&small, later, 5, 2, true, &err), NAI_OK); /* nothing but NULL has no type */
  assert_memory_equal(small.data, "PAR1", 4);
  assert_memory_equal(small.data + small.len - 4, "PAR1", 4);
  nai_buf_free(&one);
  nai_buf_free(&small);
}

/* By the definition of the encoding, bit by bit. */
static int64_t decode(int64_t *ids, const unsigned char *at, size_t len, int bits) {
  const unsigned char *end = at + len;
  int64_t n = 0;
  while (at < end) {
    uint64_t header = 0;
    for (int shift = 0;; shift += 7) {
      header |= (uint64_t)(*at & 0x7f) << shift;
      if (*at++ < 0x80)
        break;
    }
    if (header & 1) {
      for (uint64_t i = 0; i < (header >> 1) * 8; i++, n++) {
        ids[n] = 0;
        for (int b = 0; b < bits; b++) {
          uint64_t bit = i * (uint64_t)bits + (uint64_t)b;
          ids[n] |= (int64_t)(at[bit / 8] >> bit % 8 & 1) << b;
        }
      }
      at += (header >> 1) * (uint64_t)bits;
    } else {
      int64_t id = 0;
      for (int b = 0; b < bits; b += 8)
        id |= (int64_t)*at++ << b;
      for (uint64_t i = 0; i < header >> 1; i++)
        ids[n++] = id;
    }
  }
  assert_ptr_equal(at, end);
  return n;
}

TEST(test_hybrid) {
  enum { MOST = 700 };
  uint64_t seed = 1;
  for (int round = 0; round < 2000; round++) {
    int64_t ids[MOST], found[MOST + 8];
    int bits = 1 + round % 20;
    int64_t count = round % MOST;
    for (int64_t i = 0; i < count; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      ids[i] =
          i && seed >> 60 < (uint64_t)(round % 17) ? ids[i - 1] : (int64_t)(seed >> 33) & ((INT64_C(1) << bits) - 1);
    }
    struct nai_buf out = {0};
    nai_parquet_put_ids(&out, ids, count, bits);
    int64_t n = decode(found, (const unsigned char *)nai_buf_str(&out), out.len, bits);
    assert_true(n >= count && n < count + 8);
    assert_memory_equal(found, ids, (size_t)count * sizeof *ids);
    nai_buf_free(&out);
  }
}

static int refuse(struct nai_sink *sink, const void *bytes, size_t len) {
  (void)sink, (void)bytes, (void)len;
  return 28; /* ENOSPC */
}

TEST(test_full_disk) {
  struct nai_sink sink = {refuse, "x.parquet", 256};
  struct nai_buf out = {.sink = &sink};
  struct nai_value cells[400];
  struct nai_err err;
  for (int i = 0; i < 400; i++)
    cells[i] = integer(i);
  assert_int_equal(write(&out, cells, 400, 100, false, &err), NAI_EIO);
  nai_buf_free(&out);
}
