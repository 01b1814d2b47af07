/* How much of each communication kernel does nothing hide? */
#include "analyses/comm/comm.h"
#include "base/sort.h"
#include "tables/active_spans.h"

#include <stdlib.h>
#include <string.h>

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
                    const struct nai_intervals *exposed, struct nai_err *err) {
  struct nai_coverage coverage = {0};
  struct nai_key *ends = malloc(((size_t)count + 1) * sizeof *ends);
  size_t n = 0;
  memset(shares, 0, (size_t)count * sizeof *shares);
  for (uint32_t i = 0; ends && i < count; i++)
    if (items[i].start < items[i].end)
      ends[n++] = (struct nai_key){nai_key_from_i64(items[i].end), i};
  int rc = ends ? nai_sort_keys(ends, n, err) : nai_err_nomem(err);
  if (!rc)
    rc = nai_coverage_new(&coverage, exposed, err);
  struct sweep s = {.items = items, .exposed = &coverage, .shares = shares, .at = INT64_MIN};
  for (size_t e = 0; !rc && e < n; e++) {
    int64_t end = items[ends[e].value].end;
    while (s.started < count && items[s.started].start < end) {
      open_item(&s);
      find_oldest(&s);
    }
    close_item(&s, ends[e].value);
    find_oldest(&s);
  }
  nai_coverage_free(&coverage);
  free(ends);
  return rc;
}

void nai_comm_active(struct nai_intervals *out, const struct nai_table *spans, int32_t device) {
  for (int64_t i = 0; spans && i < spans->rows; i++)
    if (nai_get_i64(spans, i, ACTIVE_SPANS_device_id) == device &&
        strcmp(nai_get_str(spans, i, ACTIVE_SPANS_kind), NAI_SPAN_ACTIVE) == 0)
      nai_intervals_add(out, nai_get_i64(spans, i, ACTIVE_SPANS_start_ns), nai_get_i64(spans, i, ACTIVE_SPANS_end_ns));
}

static int expose_gpu(struct nai_comm *c, uint32_t g, int64_t *shares, struct nai_err *err) {
  const struct nai_gpu *gpu = &c->m->gpus[g];
  struct nai_intervals active = {0}, within = {0};
  struct nai_coverage coverage = {0};
  struct nai_comm_item *items = c->items + c->first_of_gpu[g];
  uint32_t n = c->first_of_gpu[g + 1] - c->first_of_gpu[g];
  nai_comm_active(&active, c->spans, gpu->device_id);
  nai_intervals_intersect(&within, &gpu->exposed_communication, &active);
  int rc =
      active.oom || within.oom ? nai_err_nomem(err) : nai_coverage_new(&coverage, &gpu->exposed_communication, err);
  if (!rc)
    rc = nai_comm_charge(shares, items, n, &gpu->exposed_communication, err);
  for (uint32_t i = 0; !rc && i < n; i++) {
    items[i].charged = shares[i];
    items[i].exposed = nai_coverage_overlap_ns(&coverage, items[i].start, items[i].end);
  }
  if (!rc)
    rc = nai_comm_charge(shares, items, n, &within, err);
  for (uint32_t i = 0; !rc && i < n; i++)
    items[i].active_charged = shares[i];
  nai_coverage_free(&coverage);
  nai_intervals_free(&active);
  nai_intervals_free(&within);
  return rc;
}

int nai_comm_expose(struct nai_comm *c, struct nai_err *err) {
  int64_t *shares = malloc(((size_t)c->count + 1) * sizeof *shares);
  int rc = shares ? NAI_OK : nai_err_nomem(err);
  for (uint32_t g = 0; !rc && g < c->m->gpu_count; g++)
    if (c->first_of_gpu[g + 1] > c->first_of_gpu[g])
      rc = expose_gpu(c, g, shares, err);
  free(shares);
  return rc;
}
