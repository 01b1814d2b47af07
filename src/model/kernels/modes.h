/* Durations that fall into two modes. */
#pragma once

#include "base/std.h"

/* The shorter and the longer mode. */
struct nai_modes {
  int64_t low_count, high_count;
  double low_median, high_median;
};
/* Divides at least 10 ascending values where the ratio of neighbours is greatest, among the places that leave each side
 * 20 % of the values or of their sum. True when that ratio is 3 or more. */
bool nai_modes_of(struct nai_modes *out, int64_t *sorted, uint32_t count);
