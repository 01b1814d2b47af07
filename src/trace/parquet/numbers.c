/* Numbers in few bits: runs (levels, indices of a dictionary) and differences. */
#include "trace/parquet/parquet.h"
#include "trace/parquet/thrift_in.h"

uint64_t nai_pq_bits(const unsigned char *at, uint64_t bit, int width) {
  uint64_t value = 0;
  for (int got = 0; got < width;) {
    int skip = (int)(bit & 7), take = 8 - skip < width - got ? 8 - skip : width - got;
    value |= (uint64_t)(at[bit >> 3] >> skip & ((1U << take) - 1)) << got;
    got += take;
    bit += (uint64_t)take;
  }
  return value;
}

static void next_run(struct nai_pq_runs *runs) {
  if (runs->packed) /* that before this one: whole groups of 8 */
    runs->at += runs->bit / 8;
  struct nai_thrift_in in = {.at = runs->at, .end = runs->end};
  uint64_t head = nai_thrift_in_varint(&in), bytes = (uint64_t)(runs->width + 7) / 8;
  runs->at = in.at;
  runs->packed = head & 1;
  runs->left = head >> 1;
  runs->bit = runs->value = 0;
  runs->bad |= in.bad || !runs->left;
  if (runs->packed) {
    /* writers leave out the end of the last group */
    uint64_t there = runs->width ? (uint64_t)(runs->end - runs->at) * 8 / (uint64_t)runs->width : UINT64_MAX;
    runs->left = runs->left > UINT64_MAX / 8 ? UINT64_MAX : runs->left * 8;
    runs->left = runs->left < there ? runs->left : there;
  } else if (bytes <= (uint64_t)(runs->end - runs->at)) {
    for (uint64_t i = 0; i < bytes; i++)
      runs->value |= (uint64_t)*runs->at++ << 8 * i;
  } else
    runs->bad = true;
  runs->bad |= !runs->left;
}

uint64_t nai_pq_runs_next(struct nai_pq_runs *runs) {
  if (!runs->left && !runs->bad)
    next_run(runs);
  if (runs->bad)
    return 0;
  runs->left--;
  if (!runs->packed)
    return runs->value;
  uint64_t value = nai_pq_bits(runs->at, runs->bit, runs->width);
  runs->bit += (uint64_t)runs->width;
  return value;
}

/* One miniblock; false when it ends too early. */
static bool unpack(int64_t *values, uint64_t *have, uint64_t want, struct nai_thrift_in *in, int width,
                   uint64_t per_mini, uint64_t smallest) {
  uint64_t bytes = per_mini / 8 * (uint64_t)width, count = want - *have < per_mini ? want - *have : per_mini;
  if (width > 64 || bytes > (uint64_t)(in->end - in->at))
    return false;
  for (uint64_t i = 0; i < count; i++, ++*have)
    values[*have] = (int64_t)((uint64_t)values[*have - 1] + smallest + nai_pq_bits(in->at, i * (uint64_t)width, width));
  in->at += bytes;
  return true;
}

int nai_pq_deltas(int64_t **out, uint64_t *count, const unsigned char **at, const unsigned char *end, uint64_t most,
                  struct nai_arena *arena, struct nai_err *err) {
  struct nai_thrift_in in = {.at = *at, .end = end};
  uint64_t block = nai_thrift_in_varint(&in), minis = nai_thrift_in_varint(&in), want = nai_thrift_in_varint(&in);
  int64_t first = nai_thrift_in_zigzag(&in);
  uint64_t per_mini = minis ? block / minis : 0, have = 1;
  bool fine = !in.bad && want <= most && per_mini && per_mini % 8 == 0 && block <= 1 << 20 && minis <= 1 << 10;
  if (!fine)
    return nai_err_damaged(err, "it is damaged: a page of differences is none");
  NAI_TRY(NAI_NEW(*out, arena, want + 1, err));
  (*out)[0] = first;
  while (have < want && fine) {
    uint64_t smallest = (uint64_t)nai_thrift_in_zigzag(&in);
    const unsigned char *widths = in.at;
    fine = !in.bad && minis <= (uint64_t)(in.end - in.at);
    in.at += fine ? minis : 0;
    for (uint64_t m = 0; m < minis && have < want && fine; m++)
      fine = unpack(*out, &have, want, &in, widths[m], per_mini, smallest);
  }
  *count = want;
  *at = in.at;
  return fine ? NAI_OK : nai_err_damaged(err, "it is damaged: a page of differences ends too early");
}
