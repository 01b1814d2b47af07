#include "model/critical/whatif_edit.h"

bool nai_change_matches(const struct nai_change *change, const char *name) {
  return !change->where || nai_patterns_match(change->where, name) >= 0;
}

int nai_edit_factors(float **factors, uint32_t count, const struct edit *e, struct nai_err *err) {
  if (*factors)
    return NAI_OK;
  NAI_TRY(NAI_NEW(*factors, e->arena, count, err));
  float *of = *factors;
  for (uint32_t i = 0; i < count; i++)
    of[i] = 1;
  return NAI_OK;
}

int nai_edit_cuts(struct edit *e, struct nai_err *err) {
  uint32_t count = e->m->dependencies->call_count;
  if (e->call_cut)
    return NAI_OK;
  NAI_TRY(NAI_NEW(e->call_cut, e->arena, count, err));
  return NAI_NEW(e->host_cut, e->arena, count, err);
}

int nai_edit_waits(struct edit *e, struct nai_err *err) {
  return e->no_wait ? NAI_OK : NAI_NEW(e->no_wait, e->arena, e->m->dependencies->call_count, err);
}
