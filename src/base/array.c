#include "base/array.h"

#include "base/std.h"

bool nai_array_room(void *array, uint32_t *capacity, uint32_t index, size_t element_bytes) {
  enum { FIRST_BYTES = 32 }; /* there may be millions of small ones */
  if (index < *capacity)
    return true;
  uint32_t grown = *capacity ? *capacity : 1 + (uint32_t)((FIRST_BYTES - 1) / element_bytes);
  while (grown <= index && grown <= UINT32_MAX / 2)
    grown *= 2;
  if (grown <= index)
    return false;
  void *old;
  memcpy(&old, array, sizeof old);
  void *v = realloc(old, (size_t)grown * element_bytes);
  if (!v)
    return false;
  memcpy(array, &v, sizeof v);
  *capacity = grown;
  return true;
}
