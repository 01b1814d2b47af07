/* A dictionary of 64-bit keys: key <-> dense index in order of first appearance. */
#pragma once

#include "base/arena.h"

struct nai_keyset {
  const char *directory; /* where it lies once it is large (base/spill_array.h), NULL: in memory; borrowed */
  int64_t *keys;
  uint32_t count, capacity;
  uint32_t *slots; /* index + 1, 0 = free */
  uint32_t slot_mask;
  int slot_shift;
  uint32_t last;           /* index of the key asked for last: neighbours in a trace tend to repeat */
  bool oom;                /* sticky */
  struct nai_arena *arena; /* that its memory is from; NULL: its own, for nai_keyset_free */
};

/* Two numbers as a key. The first may be negative (a process that is not known) or use all of 32 bits (a name that is
 * missing): shifting that as a signed number is undefined. */
static inline int64_t nai_key_pair(int64_t high, uint32_t low) { return (int64_t)((uint64_t)high << 32 | low); }

void nai_keyset_free(struct nai_keyset *set);
/* nai_keyset_add for keys that are not there. */
uint32_t nai_keyset_insert(struct nai_keyset *set, int64_t key, bool *added);

/* The upper bits of the product depend on every bit of the key: process keys differ in high bits only, ids in low ones.
 */
static inline uint32_t nai_keyset_slot(const struct nai_keyset *set, int64_t key) {
  return (uint32_t)(((uint64_t)key * 0x9e3779b97f4a7c15u) >> set->slot_shift);
}

/* Index of the key or UINT32_MAX. */
static inline uint32_t nai_keyset_find(const struct nai_keyset *set, int64_t key) {
  if (!set->count)
    return UINT32_MAX;
  for (uint32_t at = nai_keyset_slot(set, key); set->slots[at]; at = (at + 1) & set->slot_mask)
    if (set->keys[set->slots[at] - 1] == key)
      return set->slots[at] - 1;
  return UINT32_MAX;
}

/* Index of the key, added when new (*added = true); 0 when out of memory. Here, since rows of events ask several times.
 */
static inline uint32_t nai_keyset_add(struct nai_keyset *set, int64_t key, bool *added) {
  *added = false;
  if (set->last < set->count && set->keys[set->last] == key)
    return set->last;
  uint32_t index = nai_keyset_find(set, key);
  return set->last = index != UINT32_MAX ? index : nai_keyset_insert(set, key, added);
}
