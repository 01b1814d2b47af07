/* From rows to what the page shows: every event, or, in a trace with too many, aggregates outside of the detail
 * windows. */
#include "viewer/items.h"

#include "base/array.h"
#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

/* --- detail windows --------------------------------------------------------------------------- */

enum { DETAIL_EVENTS = 250000, WINDOW_EVENTS = 20000, BUCKETS = 3000, MAX_BUCKETS = 16000 };

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

static int by_start(const void *pa, const void *pb) {
  const struct nai_interval *a = pa, *b = pb;
  return (a->start > b->start) - (a->start < b->start);
}

/* Around each place, most important first, as much as WINDOW_EVENTS and the total budget allow. */
static int choose_detail(struct nai_items *items, const struct nai_model *m, const struct nai_interval *places,
                         size_t count, struct nai_err *err) {
  enum { MIN_PAD_NS = 200 * 1000 };
  struct nai_interval *windows = malloc((count + 1) * sizeof *windows);
  size_t n = 0;
  uint64_t used = 0;
  if (!windows)
    return nai_err_nomem(err);
  for (size_t i = 0; i < count && used < DETAIL_EVENTS; i++) {
    int64_t length = places[i].end - places[i].start, pad = length / 4 > MIN_PAD_NS ? length / 4 : MIN_PAD_NS;
    int64_t from = places[i].start - pad, to = places[i].end + pad;
    uint64_t events = events_within(m, from, to);
    while (events > WINDOW_EVENTS && to - from > 2000) { /* its beginning, if it is too rich as a whole */
      to = from + (to - from) / 2;
      events = events_within(m, from, to);
    }
    windows[n++] = (struct nai_interval){from, to};
    used += events;
  }
  qsort(windows, n, sizeof *windows, by_start);
  for (size_t i = 0; i < n; i++)
    nai_intervals_add(&items->detail, windows[i].start, windows[i].end);
  free(windows);
  return items->detail.oom ? nai_err_nomem(err) : NAI_OK;
}

static int plan(struct nai_items *items, const struct nai_model *m, const struct nai_interval *places, size_t count,
                struct nai_err *err) {
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (uint32_t i = 0; i < m->lanes.count; i++) {
    const struct nai_column *start, *end;
    const struct nai_lane *lane = &m->lanes.v[i];
    nai_lane_times(&start, &end, m, lane->kind);
    int64_t a = nai_at(start, lane->rows[0]), b = nai_at(start, lane->rows[lane->count - 1]);
    first = a < first ? a : first;
    last = b > last ? b : last;
  }
  /* Fine enough for the GPUs' window; the host's time around it may be many times as long. */
  int64_t window = m->window_end - m->window_start, span = m->lanes.count ? last - first : 0;
  items->aggregated = m->lanes.total > NAI_VIEWER_MAX_EVENTS;
  items->first_ns = first;
  items->bucket_ns = (window / BUCKETS > span / MAX_BUCKETS ? window / BUCKETS : span / MAX_BUCKETS) + 1;
  return items->aggregated ? choose_detail(items, m, places, count, err) : NAI_OK;
}

/* --- items ------------------------------------------------------------------------------------ */

static bool add_item(struct nai_lane_items *to, struct nai_item item) {
  if (!nai_array_room(&to->v, &to->capacity, to->count, sizeof *to->v))
    return false;
  to->v[to->count++] = item;
  return true;
}

/* An aggregate that still grows: one per depth, so that nesting stays visible. */
struct open_item {
  struct nai_item item;
  int64_t bucket, longest;
};

enum { MAX_DEPTH = 32 };

static bool close_item(struct nai_lane_items *to, struct open_item *open) {
  bool ok = true;
  int64_t length = open->item.end - open->item.start;
  if (open->item.count == 1)
    open->item.busy = 0;
  else if (open->item.busy > length) /* they overlapped */
    open->item.busy = length;
  if (open->item.count)
    ok = add_item(to, open->item);
  open->item.count = 0;
  return ok;
}

static int compare_items(const void *pa, const void *pb) {
  const struct nai_item *a = pa, *b = pb;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  if (a->end != b->end)
    return a->end > b->end ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

static bool aggregate_lane(struct nai_lane_items *to, const struct nai_items *items, const struct nai_model *m) {
  const struct nai_lane *lane = to->lane;
  struct open_item open[MAX_DEPTH] = {0};
  const struct nai_column *start, *end;
  size_t window = 0;
  bool ok = true;
  nai_lane_times(&start, &end, m, lane->kind);
  const uint32_t *rows = lane->rows;
  int64_t bucket = 0, bucket_end = INT64_MIN;
  for (uint32_t i = 0; ok && i < lane->count; i++) {
    uint32_t row = rows[i];
    int64_t s = nai_at(start, row), until = nai_at(end, row), length = until - s;
    if (s >= bucket_end) {
      bucket = (s - items->first_ns) / items->bucket_ns;
      bucket_end = items->first_ns + (bucket + 1) * items->bucket_ns;
    }
    while (window < items->detail.count && items->detail.v[window].end <= s)
      window++;
    bool detail = window < items->detail.count && items->detail.v[window].start <= until;
    if (detail || length >= items->bucket_ns) {
      ok = add_item(to, (struct nai_item){s, until, row, 1, 0});
      continue;
    }
    uint32_t depth = lane->kind == NAI_LANE_NVTX ? m->nvtx_depth[row] : 0;
    struct open_item *o = &open[depth < MAX_DEPTH ? depth : MAX_DEPTH - 1];
    if (o->item.count && o->bucket != bucket)
      ok = close_item(to, o);
    if (!o->item.count) {
      *o = (struct open_item){{s, until, row, 1, length}, bucket, length};
      continue;
    }
    o->item.count++;
    o->item.busy += length;
    if (until > o->item.end)
      o->item.end = until;
    if (length > o->longest) {
      o->longest = length;
      o->item.row = row;
    }
  }
  for (int d = 0; d < MAX_DEPTH; d++)
    ok = close_item(to, &open[d]) && ok;
  qsort(to->v, to->count, sizeof *to->v, compare_items);
  return ok;
}

struct filling {
  struct nai_items *items;
  const struct nai_model *m;
};

static int fill_lane(void *ctx, int task, struct nai_err *err) {
  const struct filling *filling = ctx;
  struct nai_lane_items *to = &filling->items->lanes[task];
  const struct nai_lane *lane = to->lane;
  if (filling->items->aggregated)
    return aggregate_lane(to, filling->items, filling->m) ? NAI_OK : nai_err_nomem(err);
  const struct nai_column *start, *end;
  nai_lane_times(&start, &end, filling->m, lane->kind);
  to->v = malloc((size_t)lane->count * sizeof *to->v);
  if (!to->v)
    return nai_err_nomem(err);
  const uint32_t *rows = lane->rows;
  for (uint32_t i = 0; i < lane->count; i++)
    to->v[i] = (struct nai_item){nai_at(start, rows[i]), nai_at(end, rows[i]), rows[i], 1, 0};
  to->count = to->capacity = lane->count;
  return NAI_OK;
}

int nai_items_build(struct nai_items *items, const struct nai_model *m, const struct nai_interval *places, size_t count,
                    struct nai_err *err) {
  items->lanes = calloc((size_t)m->lanes.count + 1, sizeof *items->lanes);
  if (!items->lanes)
    return nai_err_nomem(err);
  items->lane_count = m->lanes.count;
  for (uint32_t i = 0; i < m->lanes.count; i++)
    items->lanes[i].lane = &m->lanes.v[i];
  int rc = plan(items, m, places, count, err);
  struct filling filling = {items, m};
  return rc ? rc : nai_parallel(m->worker_count, (int)items->lane_count, fill_lane, &filling, err);
}

void nai_items_free(struct nai_items *items) {
  for (uint32_t i = 0; i < items->lane_count; i++)
    free(items->lanes[i].v);
  free(items->lanes);
  nai_intervals_free(&items->detail);
}
