#include "base/strings.h"

#include "base/spill_array.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { WORD = 8, HALF = 4, RECENT = 256, TAKEN = 16 };

void nai_strings_free(struct nai_strings *strings) {
  if (!strings)
    return;
  if (!strings->arena) {
    nai_spill_array_free(strings->bytes);
    nai_spill_array_free(strings->offsets);
    nai_spill_array_free(strings->slots);
  }
  *strings = (struct nai_strings){.arena = strings->arena};
}

static bool resize(struct nai_strings *s, void *array, size_t old_bytes, size_t bytes) {
  return nai_arena_or_spill(array, s->arena, s->directory, old_bytes, bytes);
}

static size_t slots_bytes(uint32_t slots) {
  return slots ? ((size_t)slots + RECENT) * sizeof(struct nai_strings_slot) : 0;
}

static uint32_t hash_of(const char *text, size_t len) { return (uint32_t)XXH3_64bits(text, len); }

static struct nai_strings_slot *free_slot(const struct nai_strings *s, uint32_t hash) {
  uint32_t at = hash & s->slot_mask;
  while (s->slots[at].id)
    at = (at + 1) & s->slot_mask;
  return &s->slots[at];
}

static bool grow_slots(struct nai_strings *s) {
  uint32_t old = s->slots ? s->slot_mask + 1 : 0, slots = old ? old * 2 : 64;
  if (slots < old || !resize(s, &s->slots, slots_bytes(old), slots_bytes(slots)))
    return false;
  memset(s->slots, 0, slots_bytes(slots));
  s->slot_mask = slots - 1;
  for (uint32_t id = 0; id < s->count; id++) {
    const uint32_t hash = hash_of(nai_strings_get(s, id), nai_strings_len(s, id));
    *free_slot(s, hash) = (struct nai_strings_slot){id + 1, hash};
  }
  return true;
}

static bool grow_ids(struct nai_strings *s) {
  uint32_t capacity = s->capacity ? s->capacity * 2 : 64;
  if (capacity < s->capacity || !resize(s, &s->offsets, s->offsets ? ((size_t)s->capacity + 1) * sizeof *s->offsets : 0,
                                        ((size_t)capacity + 1) * sizeof *s->offsets))
    return false;
  s->offsets[s->count] = s->bytes_len;
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
  return s->offsets[id + 1] - s->offsets[id] - 1 == len && nai_same_text(s->bytes + s->offsets[id], text, len);
}

static inline uint64_t load_word(const char *text) {
  uint64_t word;
  memcpy(&word, text, sizeof word);
  return word;
}

static inline uint64_t load_half(const char *text) {
  uint32_t half;
  memcpy(&half, text, sizeof half);
  return half;
}

/* Where a text of at least half a word is kept that was asked for lately, found by its ends; 0 = none. */
static inline uint32_t *recent_of(struct nai_strings *s, const char *text, size_t len) {
  uint64_t ends = len >= WORD ? load_word(text) + load_word(text + len - WORD) * 31 + len
                              : load_half(text) + load_half(text + len - HALF) * 31 + len;
  return &s->slots[(size_t)s->slot_mask + 1 + (ends * 0x9e3779b97f4a7c15u >> 32) % RECENT].id;
}

static uint32_t keep_recent(struct nai_strings *s, uint32_t id, const char *text, size_t len) {
  if (len >= HALF)
    *recent_of(s, text, len) = id + 1;
  return id;
}

/* *slot: where the text has its place if it is not there. */
static uint32_t lookup(const struct nai_strings *s, const char *text, size_t len, uint32_t hash,
                       struct nai_strings_slot **slot) {
  uint32_t at = hash & s->slot_mask;
  for (; s->slots[at].id; at = (at + 1) & s->slot_mask)
    if (s->slots[at].hash == hash && is_text(s, s->slots[at].id - 1, text, len))
      return s->slots[at].id - 1;
  *slot = &s->slots[at];
  return NAI_NO_STRING;
}

/* The id of a text by its hash, added when new. */
static uint32_t add_hashed(struct nai_strings *s, const char *text, size_t len, uint32_t hash) {
  if (s->count >= s->slot_mask / 4 * 3 && !grow_slots(s))
    return NAI_NO_STRING;
  struct nai_strings_slot *slot = NULL;
  uint32_t id = lookup(s, text, len, hash, &slot);
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
  s->offsets[id + 1] = s->bytes_len;
  *slot = (struct nai_strings_slot){id + 1, hash};
  return id;
}

/* nai_strings_add for texts that are not among the recent ones. Apart from it, which has little to save and restore. */
__attribute__((noinline)) static uint32_t add(struct nai_strings *s, const char *text, size_t len) {
  const uint32_t id = add_hashed(s, text, len, hash_of(text, len));
  return id == NAI_NO_STRING ? id : keep_recent(s, id, text, len);
}

uint32_t nai_strings_add(struct nai_strings *s, const char *text, size_t len) {
  /* Rows of events name the same few things over and over: to compare is less than to hash. */
  uint32_t recent = len < HALF || !s->slots ? 0 : *recent_of(s, text, len);
  return recent && is_text(s, recent - 1, text, len) ? recent - 1 : add(s, text, len);
}

int nai_strings_put(uint32_t *id, struct nai_strings *strings, const char *text, struct nai_err *err) {
  uint32_t added = nai_strings_add(strings, text, strlen(text));
  if (id)
    *id = added;
  return added == NAI_NO_STRING ? nai_err_nomem(err) : NAI_OK;
}

/* A few at a time: the memory of their slots comes side by side. */
static bool take_some(uint32_t *ids, struct nai_strings *s, const struct nai_strings *other, uint32_t first,
                      uint32_t count) {
  uint32_t hashes[TAKEN], id = 0;
  for (uint32_t i = 0; i < count; i++) {
    hashes[i] = hash_of(nai_strings_get(other, first + i), nai_strings_len(other, first + i));
    if (s->slots)
      __builtin_prefetch(&s->slots[hashes[i] & s->slot_mask]);
  }
  for (uint32_t i = 0; i < count && id != NAI_NO_STRING; i++)
    ids[first + i] = id =
        add_hashed(s, nai_strings_get(other, first + i), nai_strings_len(other, first + i), hashes[i]);
  return id != NAI_NO_STRING;
}

int nai_strings_take(uint32_t *ids, struct nai_strings *s, struct nai_strings *other, struct nai_err *err) {
  bool enough = true;
  if (!s->slots && !s->arena && !other->arena && s->directory == other->directory) {
    *s = *other;
    *other = (struct nai_strings){.directory = s->directory};
    for (uint32_t i = 0; i < s->count; i++)
      ids[i] = i;
  }
  for (uint32_t i = 0; i < other->count && enough; i += TAKEN)
    enough = take_some(ids, s, other, i, other->count - i < TAKEN ? other->count - i : TAKEN);
  nai_strings_free(other);
  return nai_memory_check(enough, err);
}

uint32_t nai_strings_find(const struct nai_strings *s, const char *text, size_t len) {
  struct nai_strings_slot *slot;
  if (s->slots)
    return lookup(s, text, len, hash_of(text, len), &slot);
  /* The dictionary of a mapped table has no hash table. */
  for (uint32_t id = 0; id < s->count; id++)
    if (nai_strings_len(s, id) == len && memcmp(nai_strings_get(s, id), text, len) == 0)
      return id;
  return NAI_NO_STRING;
}

size_t nai_strings_len(const struct nai_strings *s, uint32_t id) {
  return id < s->count ? (size_t)(s->offsets[id + 1] - s->offsets[id] - 1) : 0;
}
