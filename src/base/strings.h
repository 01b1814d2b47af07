/* A string dictionary: text <-> dense ids in order of first appearance. Ids of one dictionary mean nothing in another.
 */
#pragma once

#include "base/arena.h"

#define NAI_NO_STRING UINT32_MAX /* the id that stands for "no text" (NULL) */

struct nai_strings {
  char *bytes; /* every text, each followed by NUL */
  size_t bytes_len, bytes_capacity;
  uint64_t *offsets; /* start of text `id`; offsets[count] is bytes_len */
  uint32_t count, capacity;
  struct nai_strings_slot {
    uint32_t id; /* and 1; 0: free */
    uint32_t hash;
  } * slots; /* by hash, open addressing; behind them those asked for lately (strings.c) */
  uint32_t slot_mask;
  const char *directory;   /* where large dictionaries lie (base/spill_array.h), or NULL; set it before the first text;
                              borrowed */
  struct nai_arena *arena; /* that its memory is from; NULL: its own, for nai_strings_free */
};

void nai_strings_free(struct nai_strings *strings);
/* Id of the text, added when new. Returns NAI_NO_STRING only when out of memory or after 2^32-2 texts. */
uint32_t nai_strings_add(struct nai_strings *strings, const char *text, size_t len);
/* The same of a C string; NAI_ELIMIT instead. `id` may be NULL. */
NAI_MUST_CHECK int nai_strings_put(uint32_t *id, struct nai_strings *strings, const char *text, struct nai_err *err);
/* Moves all texts of `other` to `strings`: ids[i] is what its text i is there. NAI_ELIMIT; `other` is empty then. */
NAI_MUST_CHECK int nai_strings_take(uint32_t *ids, struct nai_strings *strings, struct nai_strings *other,
                                    struct nai_err *err);
/* Id of the text or NAI_NO_STRING. */
uint32_t nai_strings_find(const struct nai_strings *strings, const char *text, size_t len);
/* Whether `len` bytes are the same: short texts as two words, since memcmp takes longer to begin. */
static inline bool nai_same_text(const char *a, const char *b, size_t len) {
  uint64_t words[4];
  if (len < sizeof *words || len > 2 * sizeof *words)
    return memcmp(a, b, len) == 0;
  memcpy(&words[0], a, sizeof *words);
  memcpy(&words[1], b, sizeof *words);
  memcpy(&words[2], a + len - sizeof *words, sizeof *words);
  memcpy(&words[3], b + len - sizeof *words, sizeof *words);
  return words[0] == words[1] && words[2] == words[3];
}
/* Text of an id (NUL-terminated, borrowed until the next add); "" for ids out of range. */
static inline const char *nai_strings_get(const struct nai_strings *strings, uint32_t id) {
  return id < strings->count ? strings->bytes + strings->offsets[id] : "";
}
size_t nai_strings_len(const struct nai_strings *strings, uint32_t id);
