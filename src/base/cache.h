/* What is kept for later, in directories that are each made once and used from then on: within bounds, what was not
 * used for longest goes first. */
#pragma once

#include "base/std.h"

/* $XDG_CACHE_HOME/nsys-ai/NAME, or ~/.cache/nsys-ai/NAME; it need not be there. False where neither variable is an
 * absolute path, or the path is too long. */
bool nai_cache_place(char out[PATH_MAX], const char *name);
/* Removes directories of `place` whose names are the cache's own, those used longest ago first, until the rest has at
 * most `bytes`. What was used in the last ten minutes stays. */
void nai_cache_sweep(const char *place, bool (*is_own)(const char *name), int64_t bytes);
/* Says that a directory is used now. */
void nai_cache_touch(const char *path);
