/* Both readers on damaged databases: no crash, no endless loop, and the same rows where both succeed (readers_agree.h).
 */
#include "base/fs.h"
#include "pages.h"
#include "readers_agree.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
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

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  return pages_mutate(data, size, max_size, seed);
}
