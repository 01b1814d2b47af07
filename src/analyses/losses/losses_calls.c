/* Memory that is allocated and released while the program repeats its work. */
#include "analyses/losses/losses.h"

#include "model/calls/call_kind.h"
#include "base/fmt.h"
#include "table/intervals.h"
#include "tables/losses.h"

#include <stdlib.h>
#include <string.h>

enum { WARM_UP_PCT = 20 };

/* Where the first 20 % of the active time are over. */
static int64_t end_of_warm_up(const struct nai_loss_gpu *g) {
  int64_t left = g->active_ns / 100 * WARM_UP_PCT + g->active_ns % 100 * WARM_UP_PCT / 100;
  for (size_t i = 0; i < g->active.count; i++) {
    int64_t length = g->active.v[i].end - g->active.v[i].start;
    if (left < length)
      return g->active.v[i].start + left;
    left -= length;
  }
  return g->active.count ? g->active.v[g->active.count - 1].end : 0;
}

/* Calls of one GPU's processes that allocate or release, after the warm-up. */
struct calls {
  struct nai_interval *v;
  uint32_t n;
  int64_t host_ns, *name_ns; /* per API function */
  uint32_t longest;
  bool *seen; /* per API function: the process's first call is behind */
};

static void look_at_process(struct calls *c, const struct nai_loss_gpu *g, int32_t process, const uint8_t *kinds,
                            int64_t from) {
  const struct nai_model *m = g->m;
  uint32_t names = m->tables[NAI_IN_APIS]->strings.count;
  for (uint32_t i = 0; i < names; i++)
    c->seen[i] = false;
  for (uint32_t t = 0; t < m->thread_count; t++) {
    if (m->thread_process[t] != process)
      continue;
    for (uint32_t k = m->api_by_thread.first[t]; k < m->api_by_thread.first[t + 1]; k++) {
      uint32_t api = m->api_by_thread.order[k], name = nai_at_text(&m->apis.name, api);
      int64_t start = nai_at(&m->apis.start_ns, api);
      if (kinds[name] != NAI_CALL_ALLOCATION)
        continue;
      size_t span = nai_intervals_after(&g->active, start);
      bool first = !c->seen[name], inside = span < g->active.count && g->active.v[span].start <= start;
      c->seen[name] = true;
      if (first || start < from || !inside)
        continue;
      if (!c->n || nai_call_ns(m, api) > nai_call_ns(m, c->longest))
        c->longest = api;
      c->v[c->n++] = (struct nai_interval){start, nai_at(&m->apis.end_ns, api)};
      c->host_ns += nai_call_ns(m, api);
      c->name_ns[name] += nai_call_ns(m, api);
    }
  }
}

static int put(const struct nai_loss_gpu *g, struct calls *c, struct nai_err *err) {
  const struct nai_strings *names = &g->m->tables[NAI_IN_APIS]->strings;
  struct nai_intervals all = {0}, in = {0}, busy = {0};
  struct nai_buf detail = {0};
  uint32_t most = 0, n = c->n;
  for (uint32_t i = 1; i < names->count; i++)
    if (c->name_ns[i] > c->name_ns[most] || (c->name_ns[i] == c->name_ns[most] && c->name_ns[i] &&
                                             strcmp(nai_strings_get(names, i), nai_strings_get(names, most)) < 0))
      most = i;
  nai_intervals_gather(&all, c->v, n);
  nai_intervals_intersect(&in, &all, &g->active);
  nai_intervals_intersect(&busy, &in, &g->gpu->all);
  nai_buf_puts(&detail, "the GPU is idle meanwhile; the calls take ");
  nai_fmt_duration(&detail, (double)c->host_ns);
  nai_buf_puts(&detail, " of the host's time");
  int rc = all.oom || in.oom || busy.oom ? nai_err_nomem(err) : nai_buf_check(&detail, err);
  if (!rc) {
    int64_t row = nai_loss_put(g, &(struct nai_loss){.what = "allocation",
                                                     .ns = nai_intervals_total_ns(&in) - nai_intervals_total_ns(&busy),
                                                     .count = n,
                                                     .example = nai_strings_get(names, most),
                                                     .example_ns = c->name_ns[most],
                                                     .start = nai_at(&g->m->apis.start_ns, c->longest),
                                                     .end = nai_at(&g->m->apis.end_ns, c->longest)});
    nai_set_str(g->out, row, LOSSES_detail, nai_buf_str(&detail));
  }
  nai_intervals_free(&all);
  nai_intervals_free(&in);
  nai_intervals_free(&busy);
  nai_buf_free(&detail);
  return rc;
}

int nai_losses_of_calls(const struct nai_loss_gpu *g, struct nai_err *err) {
  const struct nai_model *m = g->m;
  uint32_t names = m->tables[NAI_IN_APIS]->strings.count;
  if (!g->steady)
    return NAI_OK;
  struct calls c = {.v = malloc(((size_t)m->apis.n + 1) * sizeof *c.v),
                    .name_ns = calloc((size_t)names + 1, sizeof *c.name_ns),
                    .seen = calloc((size_t)names + 1, sizeof *c.seen)};
  uint8_t *kinds = malloc((size_t)names + 1);
  int rc = c.v && c.name_ns && c.seen && kinds ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < names; i++)
    kinds[i] = (uint8_t)nai_call_kind_of(nai_strings_get(&m->tables[NAI_IN_APIS]->strings, i));
  int64_t from = end_of_warm_up(g);
  for (uint32_t p = 0; !rc && p < g->gpu->processes.count; p++)
    if (g->gpu->processes.keys[p] >= 0)
      look_at_process(&c, g, (int32_t)g->gpu->processes.keys[p], kinds, from);
  if (!rc && c.n)
    rc = put(g, &c, err);
  free(c.v);
  free(c.name_ns);
  free(c.seen);
  free(kinds);
  return rc;
}
