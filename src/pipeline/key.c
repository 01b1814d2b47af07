#include "pipeline/state.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t nai_key_bytes(uint64_t seed, const void *bytes, size_t len) { return XXH3_64bits_withSeed(bytes, len, seed); }

uint64_t nai_key_text(uint64_t seed, const char *text) {
  return text ? nai_key_bytes(seed, text, strlen(text) + 1) : nai_key_bytes(seed + 1, "", 0);
}

uint64_t nai_key_int(uint64_t seed, int64_t value) { return nai_key_bytes(seed, &value, sizeof value); }
