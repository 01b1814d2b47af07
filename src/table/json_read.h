/* Reads JSON into jansson's values, and tells whether any that were made lack something. */
#pragma once

#include "base/std.h"

#include <jansson.h>

/* As json_loadb. NULL with json_error_out_of_memory, too, where memory ran out while a text was read: jansson itself
 * leaves out the byte for which it found no room, goes on, and reads behind its text. */
json_t *nai_json_read(const char *text, size_t len, size_t flags, json_error_t *why);
/* Whether jansson was refused memory since this was asked last: what was built since may lack parts. Seen
 * from the first call of these two on. */
bool nai_json_lacks(void);
