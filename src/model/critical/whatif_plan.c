/* Which changes to make in which order: greedy, all tried together with those that were chosen. */
#include "model/critical/whatif.h"

struct planning {
  const struct nai_whatif *w;
  const struct nai_change *changes;
  uint32_t count;
  const struct nai_whatif_result *known; /* of each change alone, from the caller, or NULL */
  double *alone;                         /* per change: after it alone */
  const struct nai_change **together;    /* the chosen ones, then one that is tried */
  bool *taken;
  uint32_t chosen;
};

static int try_with(double *ns, struct planning *p, uint32_t change, struct nai_err *err) {
  p->together[p->chosen] = &p->changes[change];
  return nai_whatif_likely(ns, p->w, p->together, p->chosen + 1, err);
}

/* The change that leaves least, the first of equals; `count` where all are taken. */
static int find_best(uint32_t *best, double *after, struct planning *p, struct nai_err *err) {
  *best = p->count;
  for (uint32_t i = 0; i < p->count; i++) {
    double ns;
    if (p->taken[i])
      continue;
    if (p->known && !p->chosen)
      ns = p->known[i].ns[NAI_CASE_LIKELY];
    else
      NAI_TRY(try_with(&ns, p, i, err));
    if (!p->chosen)
      p->alone[i] = ns;
    if (*best < p->count && ns >= *after)
      continue;
    *best = i;
    *after = ns;
  }
  return NAI_OK;
}

int nai_whatif_plan(struct nai_plan_step *steps, uint32_t *chosen, const struct nai_whatif *w,
                    const struct nai_change *changes, const struct nai_whatif_result *known, uint32_t count,
                    uint32_t most, struct nai_err *err) {
  struct planning p = {.w = w, .changes = changes, .known = known, .count = count};
  double now = w->now_ns, after = now;
  uint32_t best;
  NAI_TRY(NAI_NEW(p.alone, w->arena, count, err));
  NAI_TRY(NAI_NEW(p.together, w->arena, (size_t)count + 1, err));
  NAI_TRY(NAI_NEW(p.taken, w->arena, count, err));
  while (p.chosen < count && p.chosen < most) {
    NAI_TRY(find_best(&best, &after, &p, err));
    if (best == count || now - after < NAI_LEAST_GAIN * w->now_ns)
      break;
    struct nai_plan_step *step = &steps[p.chosen];
    *step = (struct nai_plan_step){
        .change = best, .before_ns = now, .after_ns = after, .alone_ns = p.alone[best], .chosen = true};
    p.taken[best] = true;
    p.together[p.chosen++] = &changes[best];
    if (known && p.chosen == 1)
      step->after = known[best];
    else
      NAI_TRY(nai_whatif_try(&step->after, w, p.together, p.chosen, err));
    now = after;
  }
  *chosen = p.chosen;
  for (uint32_t i = 0, at = p.chosen; i < count; i++)
    if (!p.taken[i])
      steps[at++] = (struct nai_plan_step){.change = i, .before_ns = now, .after_ns = now, .alone_ns = p.alone[i]};
  return NAI_OK;
}
