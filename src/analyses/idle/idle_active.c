/* How much of each cause of idle time lies within active spans, and what took it? */
#include "analyses/idle/idle.h"
#include "model/idle/active.h"

#include <string.h>

bool nai_idle_gap_active(uint32_t *at, const struct nai_model *m, uint32_t gpu, uint32_t number) {
  return !m->active || nai_gpu_is_active(&m->active[gpu], at, nai_idle_span(&m->gpus[gpu], number).start);
}

/* Is there nothing but activity on the GPU? */
static bool all_active(const struct nai_model *m, uint32_t gpu) {
  for (uint32_t i = 0; m->active && i < m->active[gpu].count; i++)
    if (m->active[gpu].spans[i].kind != NAI_SPAN_IS_ACTIVE)
      return false;
  return true;
}

static void take_gap(struct nai_idle_active *active, const struct nai_idle_split *split,
                     const struct nai_idle_gap *gap) {
  for (int c = 0; c < NAI_IDLE_CAUSES; c++) {
    active->ns[c] += split->ns[c];
    active->parts[c] += split->ns[c] > 0;
    if (split->ns[c] > active->longest_ns[c]) {
      active->longest_ns[c] = split->ns[c];
      active->longest[c] = (struct nai_interval){gap->start, gap->end};
    }
  }
}

/* Only a GPU with pauses, set-up or checks has its gaps cut again. */
int nai_idle_within_active(struct nai_idle_active *active, const struct nai_model *m, uint32_t gpu,
                           struct nai_err *err) {
  const struct nai_gpu_idle *idle = &m->idle[gpu];
  struct nai_intervals host = {0};
  struct nai_idle_shares shares = {0};
  uint32_t at = 0;
  int rc = NAI_OK;
  *active = (struct nai_idle_active){0};
  if (all_active(m, gpu)) {
    memcpy(active->ns, idle->ns, sizeof active->ns);
    memcpy(active->parts, idle->parts, sizeof active->parts);
    memcpy(active->longest_ns, idle->longest_ns, sizeof active->longest_ns);
    memcpy(active->longest, idle->longest, sizeof active->longest);
    memcpy(active->what, idle->what, sizeof active->what);
    return NAI_OK;
  }
  for (struct nai_idle_gap gap = nai_idle_first(gpu); !rc && nai_idle_next(&gap, m);) {
    struct nai_idle_split split;
    if (!nai_idle_gap_active(&at, m, gpu, gap.number))
      continue;
    rc = nai_idle_split_again(&split, &shares, &host, m, &gap, err);
    if (!rc)
      take_gap(active, &split, &gap);
  }
  for (int c = 0; c < NAI_IDLE_CAUSES; c++)
    active->what[c] = nai_idle_largest(&shares, (enum nai_idle_cause)c);
  rc = !rc && shares.oom ? nai_err_nomem(err) : rc;
  nai_idle_shares_free(&shares);
  nai_intervals_free(&host);
  return rc;
}
