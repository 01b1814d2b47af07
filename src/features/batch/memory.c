/* How much memory an analysis may take. */
#include "features/batch/batch.h"

/* Measured is 0.6 times the trace's size for large ones (docs/batch.md), and 15 MiB at least. */
int64_t nai_batch_memory(int64_t trace_bytes) {
  enum { BASE_MIB = 256 };
  return ((int64_t)BASE_MIB << 20) + trace_bytes;
}
