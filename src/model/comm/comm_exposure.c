/* How much of each communication kernel does nothing hide? */
#include "model/comm/comm_build.h"

#include "base/sort.h"
#include "model/idle/active.h"

/* A sweep over starts and ends: each nanosecond of exposed time is divided among the kernels that run, what cannot be
 * divided goes to the one that began first. `per_kernel` grows by what one running kernel gets. */
struct sweep {
  const struct nai_comm_item *items;
  struct nai_coverage *exposed;
  int64_t *shares;
  int64_t at, per_kernel;
  uint32_t started, oldest, running; /* items before `oldest` have ended */
};

static void advance(struct sweep *s, int64_t t) {
  int64_t ns = s->running ? nai_coverage_overlap_ns(s->exposed, s->at, t) : 0;
  if (ns) {
    s->per_kernel += ns / s->running;
    s->shares[s->oldest] += ns % s->running;
  }
  s->at = t;
}

static void open_item(struct sweep *s) {
  const struct nai_comm_item *item = &s->items[s->started];
  if (item->start < item->end) {
    advance(s, item->start);
    s->shares[s->started] -= s->per_kernel;
    s->running++;
  }
  s->started++;
}

static void close_item(struct sweep *s, uint32_t i) {
  advance(s, s->items[i].end);
  s->shares[i] += s->per_kernel;
  s->running--;
}

static void find_oldest(struct sweep *s) {
  while (s->oldest < s->started && s->items[s->oldest].end <= s->at)
    s->oldest++;
}

int nai_comm_charge(int64_t *shares, const struct nai_comm_item *items, uint32_t count,
                    const struct nai_intervals *exposed, struct nai_arena *arena, struct nai_err *err) {
  struct nai_coverage coverage;
  struct nai_key *ends;
  size_t n = 0;
  NAI_TRY(NAI_NEW(ends, arena, count, err));
  for (uint32_t i = 0; i < count; i++) {
    shares[i] = 0;
    if (items[i].start < items[i].end)
      ends[n++] = (struct nai_key){nai_key_from_i64(items[i].end), i};
  }
  NAI_TRY(nai_sort_keys(ends, n, err));
  NAI_TRY(nai_coverage_in(&coverage, exposed, arena, err));
  struct sweep s = {.items = items, .exposed = &coverage, .shares = shares, .at = INT64_MIN};
  for (size_t e = 0; e < n; e++) {
    int64_t end = items[ends[e].value].end;
    while (s.started < count && items[s.started].start < end) {
      open_item(&s);
      find_oldest(&s);
    }
    close_item(&s, ends[e].value);
    find_oldest(&s);
  }
  return NAI_OK;
}

static int expose_gpu(struct nai_model *m, uint32_t g, struct nai_err *err) {
  NAI_SCOPED(nai_arena) room = NAI_ARENA(m->scratch_dir);
  const struct nai_intervals *exposed = &m->gpus[g].exposed_communication;
  struct nai_intervals within = {.arena = &room};
  struct nai_coverage coverage;
  struct nai_comm_item *items = m->comm->items + m->comm->first_of_gpu[g];
  uint32_t n = m->comm->first_of_gpu[g + 1] - m->comm->first_of_gpu[g];
  int64_t *shares;
  NAI_TRY(NAI_NEW(shares, &room, n, err));
  NAI_TRY(nai_coverage_in(&coverage, exposed, &room, err));
  NAI_TRY(nai_comm_charge(shares, items, n, exposed, &room, err));
  for (uint32_t i = 0; i < n; i++) {
    items[i].charged = shares[i];
    items[i].exposed = nai_coverage_overlap_ns(&coverage, items[i].start, items[i].end);
  }
  nai_intervals_intersect(&within, exposed, &m->active[g].active);
  NAI_TRY(nai_comm_charge(shares, items, n, &within, &room, err));
  for (uint32_t i = 0; i < n; i++)
    items[i].active_charged = shares[i];
  return NAI_OK;
}

int nai_comm_expose(struct nai_model *m, struct nai_err *err) {
  for (uint32_t g = 0; g < m->gpu_count; g++)
    if (m->comm->first_of_gpu[g + 1] > m->comm->first_of_gpu[g])
      NAI_TRY(expose_gpu(m, g, err));
  return NAI_OK;
}
