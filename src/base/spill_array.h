/* Arrays that grow with a trace. From half a megabyte on they lie in unlinked temporary files, so that a machine short
 * of memory can write them out instead of killing the program, and need no anonymous memory: many smaller ones add up.
 */
#pragma once

#include "base/err.h"

/* *out = memory of at least `bytes` bytes, in a file of `directory` when it is large (plain memory when it is small or
 * `directory` is NULL). It is zeroed but for the first `unset` bytes. NAI_ELIMIT when memory is full, NAI_EIO when the
 * disk is. */
NAI_MUST_CHECK int nai_spill_array_new(void **out, const char *directory, size_t bytes, size_t unset,
                                       struct nai_err *err);
/* `memory` (NULL for none yet) with room for `bytes` instead of `old_bytes`; what is new is not zeroed. It moves into a
 * file of `directory` once it is large; where none can be made it stays plain memory. NULL when out of memory: then
 * `memory` is as it was. */
void *nai_spill_array_grow(void *memory, const char *directory, size_t old_bytes, size_t bytes);
void nai_spill_array_free(void *memory); /* what nai_spill_array_new or nai_spill_array_grow returned; accepts NULL */
