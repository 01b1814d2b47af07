/* Where an aggregated timeline keeps every event. */
#include "viewer/items.h"

#include "base/sort.h"

/* Shares of the page's events: the contiguous stretch, stretch and windows together, one window. An event of a real
 * trace takes five to eight bytes, so that by default they make at most 4 MB. */
struct budget {
  uint64_t stretch, all, window;
};

static struct budget budget_of(const struct nai_items *items, const struct nai_model *m) {
  uint64_t events = (uint64_t)nai_items_share(items, m->page_events);
  return (struct budget){events * 9 / 100, events / 8, events / 200 + 1};
}

/* Events that start at or after `from` and before `to`. */
static uint64_t events_within(const struct nai_model *m, int64_t from, int64_t to) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < m->lanes.count; i++) {
    const struct nai_lane *lane = &m->lanes.v[i];
    const struct nai_column *start, *end;
    nai_lane_times(&start, &end, m, lane->kind);
    n += nai_rows_from(lane->rows, 0, lane->count, start, to) - nai_rows_from(lane->rows, 0, lane->count, start, from);
  }
  return n;
}

/* As much as the budget allows around the middle of what the GPUs did: neither start nor end of the run. */
static struct nai_interval middle_stretch(const struct nai_model *m, uint64_t most) {
  int64_t middle = m->window_start + (m->window_end - m->window_start) / 2;
  int64_t low = 0, high = (m->window_end - m->window_start) / 2; /* half its length */
  while (high - low > 1000) {
    int64_t half = low + (high - low) / 2;
    if (events_within(m, middle - half, middle + half) <= most)
      low = half;
    else
      high = half;
  }
  return (struct nai_interval){middle - low, middle + low};
}

/* A place with room around it; its beginning only, when it is too rich as a whole. */
static struct nai_interval window_around(uint64_t *events, const struct nai_model *m, uint64_t most,
                                         struct nai_interval place) {
  enum { MIN_PAD_NS = 200 * 1000 };
  int64_t length = place.end - place.start, pad = length / 4 > MIN_PAD_NS ? length / 4 : MIN_PAD_NS;
  struct nai_interval window = {place.start - pad, place.end + pad};
  *events = events_within(m, window.start, window.end);
  while (*events > most && window.end - window.start > 2000) {
    window.end = window.start + (window.end - window.start) / 2;
    *events = events_within(m, window.start, window.end);
  }
  return window;
}

static bool inside_one(const struct nai_interval *windows, size_t n, struct nai_interval place) {
  for (size_t i = 0; i < n; i++)
    if (windows[i].start <= place.start && place.end <= windows[i].end)
      return true;
  return false;
}

NAI_ORDER(by_start, struct nai_interval, {a->start, b->start})

int nai_items_choose_detail(struct nai_items *items, const struct nai_model *m, const struct nai_interval *places,
                            size_t count, struct nai_err *err) {
  const struct budget budget = budget_of(items, m);
  struct nai_intervals *detail = &items->detail;
  struct nai_interval *windows;
  size_t n = 0;
  NAI_TRY(NAI_NEW(windows, detail->arena, count + 1, err));
  windows[n++] = middle_stretch(m, budget.stretch);
  uint64_t used = events_within(m, windows[0].start, windows[0].end), events;
  for (size_t i = 0; i < count && used < budget.all; i++) {
    if (inside_one(windows, n, places[i]))
      continue;
    windows[n++] = window_around(&events, m, budget.window, places[i]);
    used += events;
  }
  qsort(windows, n, sizeof *windows, by_start);
  for (size_t i = 0; i < n; i++)
    if (windows[i].end > windows[i].start)
      nai_intervals_add(detail, windows[i].start, windows[i].end);
  return detail->oom ? nai_err_nomem(err) : NAI_OK;
}
