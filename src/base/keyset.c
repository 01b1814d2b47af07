#include "base/keyset.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* The upper bits of the product depend on every bit of the key: process keys differ in high bits only, ids in low ones.
 */
static uint32_t slot_of(const struct nai_keyset *set, int64_t key) {
  return (uint32_t)(((uint64_t)key * 0x9e3779b97f4a7c15u) >> set->slot_shift);
}

void nai_keyset_free(struct nai_keyset *set) {
  if (!set)
    return;
  free(set->keys);
  free(set->slots);
  *set = (struct nai_keyset){0};
}

static bool grow(struct nai_keyset *set) {
  uint32_t capacity = set->capacity;
  if (!nai_array_room(&set->keys, &capacity, set->count, sizeof *set->keys))
    return false;
  uint32_t *slots = calloc((size_t)capacity * 2, sizeof *slots);
  if (!slots)
    return false;
  free(set->slots);
  set->slots = slots;
  set->slot_mask = capacity * 2 - 1;
  set->slot_shift = __builtin_clzll((uint64_t)set->slot_mask);
  set->capacity = capacity;
  for (uint32_t i = 0; i < set->count; i++) {
    uint32_t at = slot_of(set, set->keys[i]);
    while (slots[at])
      at = (at + 1) & set->slot_mask;
    slots[at] = i + 1;
  }
  return true;
}

uint32_t nai_keyset_add(struct nai_keyset *set, int64_t key, bool *added) {
  *added = false;
  if (set->last < set->count && set->keys[set->last] == key)
    return set->last;
  if (set->count == set->capacity && (set->oom || !grow(set))) {
    set->oom = true;
    return 0;
  }
  uint32_t at = slot_of(set, key);
  for (; set->slots[at]; at = (at + 1) & set->slot_mask)
    if (set->keys[set->slots[at] - 1] == key)
      return set->last = set->slots[at] - 1;
  set->keys[set->count] = key;
  set->slots[at] = set->count + 1;
  *added = true;
  return set->last = set->count++;
}

uint32_t nai_keyset_find(const struct nai_keyset *set, int64_t key) {
  if (!set->count)
    return UINT32_MAX;
  for (uint32_t at = slot_of(set, key); set->slots[at]; at = (at + 1) & set->slot_mask)
    if (set->keys[set->slots[at] - 1] == key)
      return set->slots[at] - 1;
  return UINT32_MAX;
}
