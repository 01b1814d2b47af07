/* Parquet's hybrid of runs and packed bits (Encodings.md of apache/parquet-format, "RLE / bit-packing hybrid"). */
#include "features/export/parquet_column.h"
#include "features/export/thrift.h"

enum { GROUP = 8 }; /* packed bits come in groups of eight values; so many alike are worth a run */

/* Values first to last, packed from the lowest bit on; a group that is not full ends in zeros. */
static void put_packed(struct nai_buf *out, const int64_t *ids, int64_t count, int bits) {
  int64_t groups = (count + GROUP - 1) / GROUP;
  uint64_t held = 0;
  int used = 0;
  if (!count)
    return;
  nai_buf_put_varint(out, (uint64_t)groups << 1 | 1);
  for (int64_t i = 0; i < groups * GROUP; i++) {
    held |= (uint64_t)(i < count ? ids[i] : 0) << used;
    for (used += bits; used >= 8; used -= 8, held >>= 8)
      nai_buf_putc(out, (char)held);
  }
}

static void put_run(struct nai_buf *out, int64_t id, int64_t count, int bits) {
  nai_buf_put_varint(out, (uint64_t)count << 1);
  for (int bit = 0; bit < bits; bit += 8)
    nai_buf_putc(out, (char)(id >> bit));
}

void nai_parquet_put_ids(struct nai_buf *out, const int64_t *ids, int64_t count, int bits) {
  int64_t packed = 0; /* from here on waits to be packed */
  for (int64_t i = 0; i < count;) {
    int64_t end = i + 1;
    while (end < count && ids[end] == ids[i])
      end++;
    int64_t fill = (GROUP - (i - packed) % GROUP) % GROUP; /* that complete the last group */
    if (end - i - fill >= GROUP) {
      put_packed(out, ids + packed, i + fill - packed, bits);
      put_run(out, ids[i], end - i - fill, bits);
      packed = end;
    }
    i = end;
  }
  put_packed(out, ids + packed, count - packed, bits);
}
