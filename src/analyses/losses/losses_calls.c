/* Memory that is allocated and released while the program repeats its work. */
#include "analyses/losses/losses.h"

#include "base/fmt.h"
#include "model/calls/call_class.h"

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
  memset(c->seen, 0, m->tables[NAI_IN_APIS]->strings.count * sizeof *c->seen);
  for (uint32_t t = 0; t < m->thread_count; t++) {
    if (m->thread_process[t] != process)
      continue;
    for (uint32_t k = m->api_by_thread.first[t]; k < m->api_by_thread.first[t + 1]; k++) {
      uint32_t api = m->api_by_thread.order[k], name = nai_val_text(&m->apis.name, api);
      int64_t start = nai_val(&m->apis.start_ns, api);
      if (kinds[name] != NAI_CALL_ALLOCATION)
        continue;
      size_t span = nai_intervals_after(&g->active, start);
      bool first = !c->seen[name], inside = span < g->active.count && g->active.v[span].start <= start;
      c->seen[name] = true;
      if (first || start < from || !inside)
        continue;
      if (!c->n || nai_call_ns(m, api) > nai_call_ns(m, c->longest))
        c->longest = api;
      c->v[c->n++] = (struct nai_interval){start, nai_val(&m->apis.end_ns, api)};
      c->host_ns += nai_call_ns(m, api);
      c->name_ns[name] += nai_call_ns(m, api);
    }
  }
}

static int put(const struct nai_loss_gpu *g, const struct calls *c, struct nai_err *err) {
  const struct nai_strings *names = &g->m->tables[NAI_IN_APIS]->strings;
  struct nai_intervals all = {.arena = g->arena}, in = {.arena = g->arena}, busy = {.arena = g->arena};
  NAI_SCOPED(nai_buf) detail = {0};
  uint32_t most = 0;
  for (uint32_t i = 1; i < names->count; i++)
    if (c->name_ns[i] > c->name_ns[most] || (c->name_ns[i] == c->name_ns[most] && c->name_ns[i] &&
                                             strcmp(nai_strings_get(names, i), nai_strings_get(names, most)) < 0))
      most = i;
  nai_intervals_gather(&all, c->v, c->n);
  nai_intervals_intersect(&in, &all, &g->active);
  nai_intervals_intersect(&busy, &in, &g->gpu->all);
  NAI_TRY(nai_memory_check(!busy.oom, err));
  nai_buf_puts(&detail, "the GPU is idle in that time; the calls take ");
  nai_fmt_duration(&detail, (double)c->host_ns);
  nai_buf_puts(&detail, " of the host's time");
  nai_loss_put(g, &(struct nai_loss){.what = "allocation",
                                     .ns = nai_intervals_total_ns(&in) - nai_intervals_total_ns(&busy),
                                     .count = c->n,
                                     .example = nai_strings_get(names, most),
                                     .example_ns = c->name_ns[most],
                                     .start = nai_val(&g->m->apis.start_ns, c->longest),
                                     .end = nai_val(&g->m->apis.end_ns, c->longest),
                                     .detail = &detail});
  return NAI_OK;
}

int nai_losses_of_calls(const struct nai_loss_gpu *g, struct nai_err *err) {
  const struct nai_model *m = g->m;
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  const struct nai_keyset *processes = &g->gpu->processes;
  struct calls c = {0};
  uint8_t *kinds;
  if (!g->steady)
    return NAI_OK;
  NAI_TRY(NAI_NEW(c.v, g->arena, m->apis.n, err));
  NAI_TRY(NAI_NEW(c.name_ns, g->arena, names->count, err));
  NAI_TRY(NAI_NEW(c.seen, g->arena, names->count, err));
  NAI_TRY(NAI_NEW(kinds, g->arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++)
    kinds[i] = (uint8_t)nai_call_kind_of(nai_strings_get(names, i));
  for (uint32_t p = 0; p < processes->count; p++)
    if (processes->keys[p] >= 0)
      look_at_process(&c, g, (int32_t)processes->keys[p], kinds, end_of_warm_up(g));
  return c.n ? put(g, &c, err) : NAI_OK;
}
