/* Memory that is freed at once, by who made the arena: a node, a part of the model, a command. Large arrays lie in
 * unnamed files (base/spill_array.h). Any thread may ask. */
#pragma once

#include "base/err.h"
#include "base/scope.h"

#include <pthread.h>

struct nai_arena_block;

/* NAI_ARENA(directory) to begin with; one that is zeroed, as a mutex may be with glibc, is NAI_ARENA(NULL). */
struct nai_arena {
  const char *directory; /* where large arrays lie, NULL: in memory; borrowed */
  pthread_mutex_t lock;
  struct nai_arena_block *small, *large; /* private: the latest first */
  bool oom;                              /* sticky: a text could not be made */
};
#define NAI_ARENA(where) \
  { .directory = (where), .lock = PTHREAD_MUTEX_INITIALIZER }

/* Frees everything, the latest first; it may be used again. */
void nai_arena_free(struct nai_arena *arena);
/* Puts the address of `count` zeroed elements of `size` bytes into the pointer at `out`: never NULL, and 8 bytes behind
 * the last may be read, as nai_at does (table/column.h). NAI_ELIMIT when memory is full, NAI_EIO when the disk is. */
NAI_MUST_CHECK int nai_arena_get(void *out, struct nai_arena *arena, size_t count, size_t size, struct nai_err *err);
/* The same by the pointer's type: NAI_TRY(NAI_NEW(sums, arena, n, err)); */
#define NAI_NEW(pointer, arena, count, err) nai_arena_get(&(pointer), (arena), (count), sizeof *(pointer), (err))
/* The same for large arrays that are written before they are read: they may have been used before. */
NAI_MUST_CHECK int nai_arena_get_unset(void *out, struct nai_arena *arena, size_t count, size_t size,
                                       struct nai_err *err);
#define NAI_NEW_UNSET(pointer, arena, count, err) \
  nai_arena_get_unset(&(pointer), (arena), (count), sizeof *(pointer), (err))
/* An array of the arena's (or none yet) with room for `bytes` instead of `old_bytes`; what is new is zeroed. `array` is
 * the address of the pointer to it, which stays as it was after a failure. */
NAI_MUST_CHECK int nai_arena_resize(void *array, struct nai_arena *arena, size_t old_bytes, size_t bytes,
                                    struct nai_err *err);
/* Makes array[index] exist in an array of the arena's (or none yet) that doubles; what is new is zeroed. `array` is the
 * address of the pointer to it. NAI_ROOM, the same by the array's type, evaluates `index` twice. */
NAI_MUST_CHECK int nai_arena_room(void *array, uint32_t *capacity, uint32_t index, size_t size, struct nai_arena *arena,
                                  struct nai_err *err);
#define NAI_ROOM(array, capacity, index, arena, err) \
  ((index) < (capacity) ? NAI_OK : nai_arena_room(&(array), &(capacity), (index), sizeof *(array), (arena), (err)))
/* The same for containers that may have no arena: then the array is one of base/spill_array.h, and what is new is not
 * zeroed. False when out of memory. */
bool nai_arena_or_spill(void *array, struct nai_arena *arena, const char *directory, size_t old_bytes, size_t bytes);
/* A text of the arena's; "" when out of memory, which nai_arena_check tells. */
const char *nai_arena_printf(struct nai_arena *arena, const char *fmt, ...) NAI_PRINTF(2, 3);
/* NAI_ELIMIT when a text could not be made. */
NAI_MUST_CHECK int nai_arena_check(const struct nai_arena *arena, struct nai_err *err);
