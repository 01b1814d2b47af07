/* Rates of copies that had their link to themselves, against what the link can do. */
#pragma once

#include "model/model.h"

enum { NAI_LARGE_COPY_BYTES = 1 << 20 }; /* of smaller ones the latency counts more than the link */

/* One kind of copies: begin with `rates`, which has room for all of them, and `limit`. Add them, then finish. */
struct nai_copy_rates {
  int64_t *rates; /* bytes per ms */
  double limit;   /* what the link can do, 10^9 bytes per second; 0 unknown */
  int64_t count;  /* large ones that had their direction for themselves */
  double excess;
  /* as tables have them: NULL where there are none, and what depends on the limit where that is unknown */
  double limit_gb_per_s, p50_gb_per_s, p90_gb_per_s, p50_pct_of_limit;
  int64_t excess_ns; /* beyond what they would take at the limit */
};
/* Small copies, and rows that cannot be right, are left out. */
void nai_copy_rates_add(struct nai_copy_rates *rates, const struct nai_model *model, uint32_t memop);
void nai_copy_rates_finish(struct nai_copy_rates *rates);

/* What a kind of memory is called, NULL for NULL. */
const char *nai_memory_kind_label(char room[NAI_KIND_NAME_MAX], const struct nai_model *model, int32_t kind);
