/* 64-bit hashes (XXH3). They chain: the hash of (seed, bytes). */
#pragma once

#include "base/std.h"

uint64_t nai_hash_bytes(uint64_t seed, const void *bytes, size_t len);
uint64_t nai_hash_text(uint64_t seed, const char *text); /* NULL differs from "" */
uint64_t nai_hash_int(uint64_t seed, int64_t value);
/* Of the running program's code: the build id its linker wrote. What a changed program left behind is told apart by it.
 * 0 when it has none. */
uint64_t nai_hash_of_program(void);
/* Its version and the commit that it was built from, where that is known: "0.1.0+1a2b3c4d5". */
const char *nai_version_of_program(void);
