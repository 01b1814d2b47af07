/* How much of each cause of idle time lies within active spans? */
#include "analyses/spans/active_spans.h"
#include "analyses/idle/idle.h"

#include <string.h>

int64_t nai_active_span_at(const struct nai_table *spans, int64_t at, int32_t device, int64_t time) {
  while (at < spans->rows && (nai_get_i64(spans, at, AS_DEVICE) != device || nai_get_i64(spans, at, AS_END) <= time))
    at++;
  return at < spans->rows ? at : -1;
}

int nai_idle_outside(int64_t ns[NAI_IDLE_CAUSES], const struct nai_model *m, uint32_t gpu,
                     const struct nai_table *spans, struct nai_err *err) {
  struct nai_intervals host = {0};
  int64_t at = 0;
  int rc = NAI_OK;
  memset(ns, 0, NAI_IDLE_CAUSES * sizeof *ns);
  for (struct nai_idle_gap gap = nai_idle_first(gpu); spans && !rc && nai_idle_next(&gap, m);) {
    int64_t span = nai_active_span_at(spans, at, m->gpus[gpu].device_id, gap.start);
    if (span < 0)
      break;
    at = span;
    if (strcmp(nai_get_str(spans, span, AS_KIND), "active") == 0)
      continue;
    struct nai_idle_shares shares = {0};
    struct nai_idle_split split;
    rc = nai_idle_split_again(&split, &shares, &host, m, &gap, err);
    for (int c = 0; !rc && c < NAI_IDLE_CAUSES; c++)
      ns[c] += split.ns[c];
    nai_idle_shares_free(&shares);
  }
  nai_intervals_free(&host);
  return rc;
}
