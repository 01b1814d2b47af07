/* Sums of times and sizes that come from files, which may be anything. */
#pragma once

#include "base/std.h"

/* Adds `value` to `sum`; where that does not fit into 64 bits, sets `overflow` and leaves the sum as it is. */
static inline void nai_sum_checked(int64_t *sum, int64_t value, bool *overflow) {
  int64_t result;
  if (__builtin_add_overflow(*sum, value, &result))
    *overflow = true;
  else
    *sum = result;
}
