/* Arrays that grow by doubling. */
#pragma once

#include "base/std.h"

/* Makes array[index] exist in a malloc'd array (or none yet); what is new is not zeroed. `array` is the address of the
 * pointer to it, of whatever type. False when out of memory: then nothing has changed. */
bool nai_array_room(void *array, uint32_t *capacity, uint32_t index, size_t element_bytes);
