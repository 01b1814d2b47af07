/* How databases are mutated. */
#pragma once

#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* Inserting and removing bytes, as the general mutator likes to, would move every page of a database. This one mostly
 * overwrites: bytes at page beginnings (headers, cell pointers), bytes anywhere, short stretches copied from elsewhere.
 */
static inline size_t pages_mutate(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  static const uint8_t interesting[] = {0, 1, 2, 5, 7, 8, 9, 10, 11, 12, 13, 127, 128, 129, 254, 255};
  uint64_t state = seed;
  if (size < 512 || seed % 32 == 0)
    return LLVMFuzzerMutate(data, size, max_size);
#define NEXT(below) (state = state * 6364136223846793005u + 1442695040888963407u, (size_t)((state >> 33) % (below)))
  for (size_t changes = 1 + NEXT(6); changes; changes--) {
    size_t at = NEXT(size);
    if (NEXT(2))
      at = at / 512 * 512 + NEXT(64);
    if (at < 100 && NEXT(16)) /* the file header: wrong ones are refused at once */
      at += 100;
    if (at >= size)
      continue;
    size_t kind = NEXT(5), from = NEXT(size), len = 1 + NEXT(16);
    if (kind == 0 && at + len <= size && from + len <= size)
      memmove(data + at, data + from, len);
    else if (kind == 1)
      data[at] = (uint8_t)(data[at] ^ 1u << NEXT(8));
    else if (kind == 2)
      data[at] = (uint8_t)(data[at] + NEXT(9) - 4);
    else if (kind == 3)
      data[at] = interesting[NEXT(sizeof interesting)];
    else
      data[at] = (uint8_t)NEXT(256);
  }
#undef NEXT
  return size;
}
