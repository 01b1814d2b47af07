/* How much memory an analysis may take. */
#include "batch/batch.h"

int64_t nai_batch_memory(int64_t trace_bytes) {
  enum { BASE_MIB = 256 };
  return ((int64_t)BASE_MIB << 20) + 2 * trace_bytes;
}
