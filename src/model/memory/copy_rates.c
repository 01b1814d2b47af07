#include "model/memory/copy_rates.h"

#include "base/sort.h"
#include "table/stats.h"

void nai_copy_rates_add(struct nai_copy_rates *r, const struct nai_model *m, uint32_t memop) {
  int64_t bytes = nai_at(&m->memops.bytes, memop), ns = nai_memop_ns(m, memop);
  if (bytes < NAI_LARGE_COPY_BYTES || ns <= 0 || !nai_memop_rate_is_possible(m, memop))
    return;
  r->rates[r->count++] = (int64_t)((double)bytes / (double)ns * 1e6);
  r->excess += r->limit > 0 && (double)ns > (double)bytes / r->limit ? (double)ns - (double)bytes / r->limit : 0;
}

void nai_copy_rates_finish(struct nai_copy_rates *r) {
  static const double q[] = {0.5, 0.9};
  double rates[] = {NAN, NAN};
  if (r->count)
    nai_quantiles_i64(rates, r->rates, (size_t)r->count, q, 2);
  r->limit_gb_per_s = r->limit > 0 ? r->limit : NAN;
  r->p50_gb_per_s = rates[0] / 1e6;
  r->p90_gb_per_s = rates[1] / 1e6;
  r->p50_pct_of_limit = r->count && r->limit > 0 ? nai_percent(r->p50_gb_per_s, r->limit) : NAN;
  r->excess_ns = r->count && r->limit > 0 ? (int64_t)r->excess : NAI_NULL_I64;
}

const char *nai_memory_kind_label(char room[NAI_KIND_NAME_MAX], const struct nai_model *m, int32_t kind) {
  return kind == NAI_NULL_I32 ? NULL : nai_model_kind_name(room, m, NAI_LABEL_MEMORY, kind);
}
