/* Paths of files without what is private in them. Internal to src/trace. */
#pragma once

#include "base/buf.h"

/* Appends a path: a user's directory is "~", the first one of the system stays, further ones are six digits of a hash
 * with `key`, digits of the name are "#". */
void nai_path_mask(struct nai_buf *out, const char *path, uint64_t key);
/* "pseudo", "code" or "data". */
const char *nai_path_group(const char *path);
