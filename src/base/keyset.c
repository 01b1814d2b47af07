#include "base/keyset.h"

#include "base/spill_array.h"

void nai_keyset_free(struct nai_keyset *set) {
  if (!set)
    return;
  if (!set->arena) {
    nai_spill_array_free(set->keys);
    nai_spill_array_free(set->slots);
  }
  *set = (struct nai_keyset){.arena = set->arena};
}

static bool grow(struct nai_keyset *set) {
  enum { FIRST = 32, MOST = 1 << 30 };
  uint32_t capacity = set->capacity ? set->capacity * 2 : FIRST;
  if (capacity > MOST)
    return false;
  size_t keys_bytes = capacity * sizeof *set->keys, slots_bytes = (size_t)capacity * 2 * sizeof *set->slots;
  size_t old_slots_bytes = (size_t)set->capacity * 2 * sizeof *set->slots;
  if (!nai_arena_or_spill(&set->keys, set->arena, set->directory, set->count * sizeof *set->keys, keys_bytes) ||
      !nai_arena_or_spill(&set->slots, set->arena, set->directory, old_slots_bytes, slots_bytes))
    return false;
  memset(set->slots, 0, slots_bytes);
  set->slot_mask = capacity * 2 - 1;
  set->slot_shift = __builtin_clzll((uint64_t)set->slot_mask);
  set->capacity = capacity;
  for (uint32_t i = 0; i < set->count; i++) {
    uint32_t at = nai_keyset_slot(set, set->keys[i]);
    while (set->slots[at])
      at = (at + 1) & set->slot_mask;
    set->slots[at] = i + 1;
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
