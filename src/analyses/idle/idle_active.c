/* How much of each cause of idle time lies within active spans? */
#include "analyses/spans/active_spans.h"
#include "analyses/idle/idle.h"

#include <string.h>

int64_t nai_active_span_at(const struct nai_table *spans, int64_t at, int32_t device, int64_t time) {
  while (at < spans->rows && (nai_get_i64(spans, at, AS_DEVICE) != device || nai_get_i64(spans, at, AS_END) <= time))
    at++;
  return at < spans->rows ? at : -1;
}

/* Mostly they are: then nothing is outside, and no gap need be looked at. */
static bool all_active(const struct nai_table *spans, int32_t device) {
  for (int64_t i = 0; i < spans->rows; i++)
    if (nai_get_i64(spans, i, AS_DEVICE) == device && strcmp(nai_get_str(spans, i, AS_KIND), NAI_SPAN_ACTIVE) != 0)
      return false;
  return true;
}

int nai_idle_outside(int64_t ns[NAI_IDLE_CAUSES], const struct nai_model *m, uint32_t gpu,
                     const struct nai_table *spans, struct nai_err *err) {
  int64_t at = 0;
  int rc = NAI_OK;
  memset(ns, 0, NAI_IDLE_CAUSES * sizeof *ns);
  if (!spans || all_active(spans, m->gpus[gpu].device_id))
    return NAI_OK;
  for (struct nai_idle_gap gap = nai_idle_first(gpu); !rc && nai_idle_next(&gap, m);) {
    int64_t span = nai_active_span_at(spans, at, m->gpus[gpu].device_id, gap.start);
    if (span < 0)
      break;
    at = span;
    if (strcmp(nai_get_str(spans, span, AS_KIND), NAI_SPAN_ACTIVE) == 0)
      continue;
    struct nai_idle_split split;
    rc = nai_idle_split_again(&split, NULL, NULL, m, &gap, err);
    for (int c = 0; !rc && c < NAI_IDLE_CAUSES; c++)
      ns[c] += split.ns[c];
  }
  return rc;
}
