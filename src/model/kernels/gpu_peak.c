#include "model/kernels/gpu_peak.h"
#include "tables/gpus.h"

/* The product that a MIG instance is a part of: "NVIDIA A30" of "NVIDIA A30 MIG 2g.12gb". */
static const struct nai_gpu_product *whole_product(const struct nai_gpu_facts *facts, const char *name) {
  char whole[128];
  const char *mig = strstr(name, " MIG ");
  size_t len = mig ? (size_t)(mig - name) : 0;
  if (!len || len >= sizeof whole)
    return NULL;
  memcpy(whole, name, len);
  whole[len] = '\0';
  return nai_gpu_facts_product(facts, whole);
}

struct nai_gpu_peak nai_gpu_peak_of(const struct nai_model *m, int64_t device) {
  const struct nai_table *gpus = m->tables[NAI_IN_GPUS];
  uint32_t row = nai_model_gpu_index(m, (int32_t)device);
  struct nai_gpu_peak peak = {.name = "", .share = 1};
  if (row >= m->gpu_count)
    return peak;
  peak.name = nai_get_str(gpus, row, GPUS_gpu_name);
  peak.product = nai_gpu_facts_product(m->gpu_facts, peak.name);
  if (!peak.product) {
    peak.product = whole_product(m->gpu_facts, peak.name);
    peak.partition = peak.product != NULL;
  }
  int64_t sms = nai_get_i64(gpus, row, GPUS_sm_count), all = peak.product ? peak.product->sm_count : 0;
  bool told = all > 0 && sms != NAI_NULL_I64 && sms > 0 && sms <= all;
  if (peak.partition && (!told || sms == all)) /* a part of unknown size */
    peak.product = NULL;
  else if (told)
    peak.share = (double)sms / (double)all;
  return peak;
}
