#include "base/array.h"

#include <stdlib.h>
#include <string.h>

bool nai_array_room(void *array, uint32_t *capacity, uint32_t count, size_t element_bytes) {
  enum { FIRST = 32 };
  if (count < *capacity)
    return true;
  if (*capacity > UINT32_MAX / 2)
    return false;
  uint32_t grown = *capacity ? *capacity * 2 : FIRST;
  void *old;
  memcpy(&old, array, sizeof old);
  void *v = realloc(old, (size_t)grown * element_bytes);
  if (!v)
    return false;
  memcpy(array, &v, sizeof v);
  *capacity = grown;
  return true;
}
