/* Both readers on damaged databases: no crash, no endless loop, and the same rows where both succeed (readers_agree.h).
 */
#include "base/fs.h"
#include "readers_agree.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char path[64];
  struct readers_outcome outcome = {0};
  struct nai_err err;
  if (!*path) /* in memory where the system has such a directory: the file is rewritten for every input */
    snprintf(path, sizeof path, "%s/nai-fuzz-%ld.sqlite", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
             (long)getpid());
  if (nai_fs_write(path, data, size, &err))
    return -1;
  readers_agree(&outcome, path);
  unlink(path);
  return 0;
}

/* Inserting and removing bytes, as the general mutator likes to, would move every page. This one mostly overwrites:
 * bytes at page beginnings (headers, cell pointers), bytes anywhere, short stretches copied from elsewhere. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
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
