#include "base/strings.h"

#include "base/spill_array.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { WORD = 8, RECENT = 256 };

void nai_strings_free(struct nai_strings *strings) {
  if (!strings)
    return;
  if (!strings->arena) {
    nai_spill_array_free(strings->bytes);
    nai_spill_array_free(strings->offsets);
    nai_spill_array_free(strings->slots);
    nai_spill_array_free(strings->hashes);
  }
  *strings = (struct nai_strings){.arena = strings->arena};
}

static bool resize(struct nai_strings *s, void *array, size_t old_bytes, size_t bytes) {
  return nai_arena_or_spill(array, s->arena, s->directory, old_bytes, bytes);
}

static size_t slots_bytes(uint32_t slots) { return slots ? ((size_t)slots + RECENT) * sizeof(uint32_t) : 0; }

static bool grow_slots(struct nai_strings *s) {
  uint32_t old = s->slots ? s->slot_mask + 1 : 0, slots = old ? old * 2 : 64;
  if (!resize(s, &s->slots, slots_bytes(old), slots_bytes(slots)))
    return false;
  memset(s->slots, 0, slots_bytes(slots));
  s->slot_mask = slots - 1;
  for (uint32_t id = 0; id < s->count; id++) {
    uint32_t at = (uint32_t)s->hashes[id] & s->slot_mask;
    while (s->slots[at])
      at = (at + 1) & s->slot_mask;
    s->slots[at] = id + 1;
  }
  return true;
}

static bool grow_ids(struct nai_strings *s) {
  uint32_t capacity = s->capacity ? s->capacity * 2 : 64;
  if (capacity < s->capacity || !resize(s, &s->offsets, s->offsets ? ((size_t)s->capacity + 1) * sizeof *s->offsets : 0,
                                        ((size_t)capacity + 1) * sizeof *s->offsets))
    return false;
  s->offsets[s->count] = s->bytes_len;
  if (!resize(s, &s->hashes, (size_t)s->capacity * sizeof *s->hashes, (size_t)capacity * sizeof *s->hashes))
    return false;
  s->capacity = capacity;
  return true;
}

static bool grow_bytes(struct nai_strings *s, size_t extra) {
  size_t capacity = s->bytes_capacity ? s->bytes_capacity : 1024;
  while (capacity < s->bytes_len + extra)
    capacity *= 2;
  if (!resize(s, &s->bytes, s->bytes_capacity, capacity))
    return false;
  s->bytes_capacity = capacity;
  return true;
}

static inline bool is_text(const struct nai_strings *s, uint32_t id, const char *text, size_t len) {
  return s->offsets[id + 1] - s->offsets[id] - 1 == len && memcmp(s->bytes + s->offsets[id], text, len) == 0;
}

static inline uint64_t load_word(const char *text) {
  uint64_t word;
  memcpy(&word, text, sizeof word);
  return word;
}

/* Where a text of at least a word is kept that was asked for lately, found by its ends: id + 1, 0 = none. */
static inline uint32_t *recent_of(struct nai_strings *s, const char *text, size_t len) {
  uint64_t ends = load_word(text) + load_word(text + len - WORD) * 31 + len;
  return &s->slots[(size_t)s->slot_mask + 1 + (ends * 0x9e3779b97f4a7c15u >> 32) % RECENT];
}

static uint32_t keep_recent(struct nai_strings *s, uint32_t id, const char *text, size_t len) {
  if (len >= WORD)
    *recent_of(s, text, len) = id + 1;
  return id;
}

static uint32_t lookup(const struct nai_strings *s, const char *text, size_t len, uint64_t hash, uint32_t *slot) {
  uint32_t at = (uint32_t)hash & s->slot_mask;
  for (; s->slots[at]; at = (at + 1) & s->slot_mask) {
    uint32_t id = s->slots[at] - 1;
    if (s->hashes[id] == hash && is_text(s, id, text, len))
      return id;
  }
  *slot = at;
  return NAI_NO_STRING;
}

/* The id of a text by its hash, added when new. */
static uint32_t add_hashed(struct nai_strings *s, const char *text, size_t len, uint64_t hash) {
  if (s->count >= s->slot_mask / 4 * 3 && !grow_slots(s))
    return NAI_NO_STRING;
  uint32_t slot = 0, id = lookup(s, text, len, hash, &slot);
  if (id != NAI_NO_STRING)
    return id;
  if (s->count == NAI_NO_STRING - 1 || (s->count == s->capacity && !grow_ids(s)))
    return NAI_NO_STRING;
  if (s->bytes_len + len + 1 > s->bytes_capacity && !grow_bytes(s, len + 1))
    return NAI_NO_STRING;
  if (len)
    memcpy(s->bytes + s->bytes_len, text, len);
  s->bytes[s->bytes_len + len] = '\0';
  s->bytes_len += len + 1;
  id = s->count++;
  s->hashes[id] = hash;
  s->offsets[id + 1] = s->bytes_len;
  s->slots[slot] = id + 1;
  return id;
}

/* nai_strings_add for texts that are not among the recent ones. Apart from it, which has little to save and restore. */
__attribute__((noinline)) static uint32_t add(struct nai_strings *s, const char *text, size_t len) {
  const uint32_t id = add_hashed(s, text, len, XXH3_64bits(text, len));
  return id == NAI_NO_STRING ? id : keep_recent(s, id, text, len);
}

uint32_t nai_strings_add(struct nai_strings *s, const char *text, size_t len) {
  /* Rows of events name the same few things over and over: to compare is less than to hash. */
  uint32_t recent = len < WORD || !s->slots ? 0 : *recent_of(s, text, len);
  return recent && is_text(s, recent - 1, text, len) ? recent - 1 : add(s, text, len);
}

int nai_strings_put(uint32_t *id, struct nai_strings *strings, const char *text, struct nai_err *err) {
  uint32_t added = nai_strings_add(strings, text, strlen(text));
  if (id)
    *id = added;
  return added == NAI_NO_STRING ? nai_err_nomem(err) : NAI_OK;
}

int nai_strings_take(uint32_t *ids, struct nai_strings *s, struct nai_strings *other, struct nai_err *err) {
  enum { AHEAD = 16 }; /* what is asked of memory while others are added */
  const bool whole = !s->count && !s->slots && !s->arena && !other->arena && s->directory == other->directory;
  uint32_t id = 0;
  if (whole)
    *s = *other;
  for (uint32_t i = 0; i < other->count && id != NAI_NO_STRING; i++) {
    if (s->slots && i + AHEAD < other->count && !whole)
      __builtin_prefetch(&s->slots[(uint32_t)other->hashes[i + AHEAD] & s->slot_mask]);
    ids[i] = id = whole ? i : add_hashed(s, nai_strings_get(other, i), nai_strings_len(other, i), other->hashes[i]);
  }
  if (whole)
    *other = (struct nai_strings){.directory = s->directory};
  nai_strings_free(other);
  return nai_memory_check(id != NAI_NO_STRING, err);
}

uint32_t nai_strings_find(const struct nai_strings *s, const char *text, size_t len) {
  uint32_t slot;
  if (s->slots)
    return lookup(s, text, len, XXH3_64bits(text, len), &slot);
  /* The dictionary of a mapped table has no hash table. */
  for (uint32_t id = 0; id < s->count; id++)
    if (nai_strings_len(s, id) == len && memcmp(nai_strings_get(s, id), text, len) == 0)
      return id;
  return NAI_NO_STRING;
}

const char *nai_strings_get(const struct nai_strings *s, uint32_t id) {
  return id < s->count ? s->bytes + s->offsets[id] : "";
}

size_t nai_strings_len(const struct nai_strings *s, uint32_t id) {
  return id < s->count ? (size_t)(s->offsets[id + 1] - s->offsets[id] - 1) : 0;
}
