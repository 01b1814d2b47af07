#include "base/keyset.h"

#include "base/spill_array.h"

#include <string.h>

void nai_keyset_free(struct nai_keyset *set) {
  if (!set)
    return;
  nai_spill_array_free(set->keys);
  nai_spill_array_free(set->slots);
  *set = (struct nai_keyset){0};
}

static bool grow(struct nai_keyset *set) {
  enum { FIRST = 32, MOST = 1 << 30 };
  uint32_t capacity = set->capacity ? set->capacity * 2 : FIRST;
  if (capacity > MOST)
    return false;
  int64_t *keys = nai_spill_array_grow(set->keys, set->directory, set->count * sizeof *keys, capacity * sizeof *keys);
  if (!keys)
    return false;
  set->keys = keys;
  uint32_t *slots = nai_spill_array_grow(NULL, set->directory, 0, (size_t)capacity * 2 * sizeof *slots);
  if (!slots)
    return false;
  memset(slots, 0, (size_t)capacity * 2 * sizeof *slots);
  nai_spill_array_free(set->slots);
  set->slots = slots;
  set->slot_mask = capacity * 2 - 1;
  set->slot_shift = __builtin_clzll((uint64_t)set->slot_mask);
  set->capacity = capacity;
  for (uint32_t i = 0; i < set->count; i++) {
    uint32_t at = nai_keyset_slot(set, set->keys[i]);
    while (slots[at])
      at = (at + 1) & set->slot_mask;
    slots[at] = i + 1;
  }
  return true;
}

uint32_t nai_keyset_insert(struct nai_keyset *set, int64_t key, bool *added) {
  if (set->count == set->capacity && (set->oom || !grow(set))) {
    set->oom = true;
    return 0;
  }
  uint32_t at = nai_keyset_slot(set, key);
  while (set->slots[at])
    at = (at + 1) & set->slot_mask;
  set->keys[set->count] = key;
  set->slots[at] = set->count + 1;
  *added = true;
  return set->count++;
}
