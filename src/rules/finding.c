/* What the hits of a finding say together. */
#include "rules/evaluation.h"

#include <inttypes.h>
#include <math.h>

static bool known(const struct finding *finding, uint32_t until, int64_t device_id) {
  for (uint32_t i = 0; i < until; i++)
    if (finding->hits[i]->device_id == device_id)
      return true;
  return false;
}

/* Adds a GPU, with what its hits are worth together. */
static void add_gpu(struct finding *finding, uint32_t first) {
  const struct hit *lead = finding->hits[first];
  int64_t sum = NAI_NULL_I64, low = NAI_NULL_I64;
  for (uint32_t i = first; i < finding->hit_count; i++) {
    const struct hit *hit = finding->hits[i];
    if (hit->device_id != lead->device_id)
      continue;
    if (hit->stake_ns != NAI_NULL_I64)
      sum = (sum == NAI_NULL_I64 ? 0 : sum) + hit->stake_ns;
    if (hit->stake_low_ns != NAI_NULL_I64)
      low = (low == NAI_NULL_I64 ? 0 : low) + hit->stake_low_ns;
  }
  if (lead->device_id != NAI_NULL_I64)
    nai_buf_printf(&finding->gpus, "%s%" PRId64, finding->gpu_count++ ? " " : "", lead->device_id);
  if (sum <= finding->stake_ns)
    return;
  finding->stake_ns = sum;
  finding->stake_low_ns = low;
  finding->pct = lead->base_ns > 0 ? 100.0 * (double)sum / (double)lead->base_ns : NAN;
}

int nai_finding_sum_up(struct finding *finding, struct nai_err *err) {
  finding->stake_ns = finding->stake_low_ns = NAI_NULL_I64;
  finding->pct = NAN;
  for (uint32_t i = 0; i < finding->hit_count; i++)
    if (!known(finding, i, finding->hits[i]->device_id))
      add_gpu(finding, i);
  return nai_buf_check(&finding->gpus, err);
}
