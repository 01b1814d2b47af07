/* What stands beside the headline of captures without steps: idle time, and what got slower by the call. */
#include "features/compare/document.h"
#include "features/compare/internal.h"
#include "tables/gpu_utilization.h"

#include <math.h>
#include <string.h>

static double idle_pct(const struct nai_comparison *c, int side) {
  double window = (double)nai_side_sum(c->sides, side, &nai_gpu_utilization_schema, GPU_UTILIZATION_window_ns);
  double idle = (double)nai_side_sum(c->sides, side, &nai_gpu_utilization_schema, GPU_UTILIZATION_idle_ns);
  return window > 0 ? 100 * idle / window : (double)NAN;
}

/* A time per call, of a kernel, a range, a launch, that is worse; not that of the window or of steps. */
static bool is_slower(const struct nai_metric_result *r) {
  enum nai_verdict v = r->judgement.verdict;
  return strcmp(r->def.unit, "ns") == 0 && strcmp(r->def.basis, "total") == 0 && strcmp(r->def.kind, "noisy") == 0 &&
         r->judgement.pct > 0 && (v == NAI_VERDICT_SUSPECT || v == NAI_VERDICT_REGRESSED) &&
         strncmp(r->def.metric, "unit.", strlen("unit.")) != 0;
}

/* Launch calls come first, for they hold up everything; else by share. */
static bool comes_before(const struct nai_metric_result *a, const struct nai_metric_result *b) {
  bool x = strncmp(a->def.metric, "launch.", strlen("launch.")) == 0,
       y = strncmp(b->def.metric, "launch.", strlen("launch.")) == 0;
  return x != y ? x : a->judgement.pct > b->judgement.pct;
}

static void put_slower(const struct nai_document *d) {
  enum { NAMED = 4 };
  const struct nai_metric_result *worst[NAMED];
  struct nai_view *list = nai_view_put_list(d->root, "slower");
  bool all_proven = true;
  uint32_t all = 0, kept = 0;
  for (uint32_t i = 0; i < d->c->result_count; i++) {
    const struct nai_metric_result *r = &d->c->results[i];
    if (!is_slower(r))
      continue;
    all++;
    uint32_t at = kept < NAMED ? kept++ : NAMED;
    for (; at > 0 && comes_before(r, worst[at - 1]); at--)
      if (at < NAMED)
        worst[at] = worst[at - 1];
    if (at < NAMED)
      worst[at] = r;
  }
  for (uint32_t i = 0; i < kept; i++)
    all_proven &= worst[i]->judgement.verdict == NAI_VERDICT_REGRESSED;
  for (uint32_t i = 0; i < kept; i++)
    nai_document_metric(d, list, worst[i]);
  nai_view_put_bool(d->root, "any_slower", all > 0);
  nai_view_put_bool(d->root, "unproven", !all_proven);
  if (all > NAMED)
    nai_view_put_int(d->root, "more_slower", all - NAMED);
}

void nai_document_beside(const struct nai_document *d) {
  if (d->c->by_step || !nai_comparison_is_whole(d->c) || nai_comparison_obstacle(d->c))
    return;
  nai_view_put_bool(d->root, "beside", true);
  nai_document_amount(d->root, "idle_base", "percent", idle_pct(d->c, NAI_BASE), false);
  nai_document_amount(d->root, "idle_new", "percent", idle_pct(d->c, NAI_CANDIDATE), false);
  put_slower(d);
}
