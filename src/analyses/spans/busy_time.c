/* How much of a stretch of time is busy? */
#include "analyses/spans/busy_time.h"

#include <stdlib.h>

enum { SUM_EVERY = 64 };

int nai_busy_new(struct nai_busy *b, const struct nai_intervals *set, struct nai_err *err) {
  *b = (struct nai_busy){.set = set, .sums = malloc((set->count / SUM_EVERY + 1) * sizeof *b->sums)};
  if (!b->sums)
    return nai_err_nomem(err);
  int64_t sum = 0;
  for (size_t i = 0; i <= set->count; i++) {
    if (i % SUM_EVERY == 0)
      b->sums[i / SUM_EVERY] = sum;
    if (i < set->count)
      sum += set->v[i].end - set->v[i].start;
  }
  return NAI_OK;
}

static void jump(const struct nai_busy *b, struct nai_busy_cursor *c, int64_t t) {
  c->next = nai_intervals_after(b->set, t);
  c->before = b->sums[c->next / SUM_EVERY];
  for (size_t i = c->next / SUM_EVERY * SUM_EVERY; i < c->next; i++)
    c->before += b->set->v[i].end - b->set->v[i].start;
}

/* Busy time before t. */
static int64_t before(const struct nai_busy *b, struct nai_busy_cursor *c, int64_t t) {
  const struct nai_interval *v = b->set->v;
  if (c->next && v[c->next - 1].end > t)
    jump(b, c, t);
  for (int steps = 0; c->next < b->set->count && v[c->next].end <= t; steps++) {
    if (steps == SUM_EVERY) {
      jump(b, c, t);
      break;
    }
    c->before += v[c->next].end - v[c->next].start;
    c->next++;
  }
  return c->before + (c->next < b->set->count && v[c->next].start < t ? t - v[c->next].start : 0);
}

int64_t nai_busy_within(struct nai_busy *b, int64_t start, int64_t end) {
  return start < end ? before(b, &b->to, end) - before(b, &b->from, start) : 0;
}
