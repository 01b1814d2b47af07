/* A dictionary of 64-bit keys: key <-> dense index in order of first appearance. */
#ifndef NAI_BASE_KEYSET_H
#define NAI_BASE_KEYSET_H

#include <stdbool.h>
#include <stdint.h>

struct nai_keyset {
  int64_t *keys;
  uint32_t count, capacity;
  uint32_t *slots; /* index + 1, 0 = free */
  uint32_t slot_mask;
  int slot_shift;
  uint32_t last; /* index of the key asked for last: neighbours in a trace tend to repeat */
  bool oom;      /* sticky */
};

void nai_keyset_free(struct nai_keyset *set);
/* Index of the key, added when new (*added = true); 0 when out of memory. */
uint32_t nai_keyset_add(struct nai_keyset *set, int64_t key, bool *added);
/* Index of the key or UINT32_MAX. */
uint32_t nai_keyset_find(const struct nai_keyset *set, int64_t key);

#endif
