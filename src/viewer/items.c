/* From rows to what the page shows: every event, or, in a trace with too many, aggregates outside of the detail
 * windows. */
#include "viewer/lanes.h"

#include "base/array.h"
#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

void lane_times(const struct nai_column **start, const struct nai_column **end, const struct nai_model *m,
                enum lane_kind kind) {
  *start = *end = NULL;
  switch (kind) {
  case LANE_KERNEL:
    *start = &m->kernels.start, *end = &m->kernels.end;
    break;
  case LANE_COPY:
  case LANE_SET:
    *start = &m->memops.start, *end = &m->memops.end;
    break;
  case LANE_GRAPH:
    *start = &m->graphs.start, *end = &m->graphs.end;
    break;
  case LANE_NVTX:
  case LANE_NVTX_ASYNC:
    *start = &m->nvtx.start, *end = &m->nvtx.end;
    break;
  case LANE_API:
    *start = &m->apis.start, *end = &m->apis.end;
    break;
  }
}

/* --- detail windows --------------------------------------------------------------------------- */

enum { DETAIL_EVENTS = 250000, WINDOW_EVENTS = 20000, BUCKETS = 3000, MAX_BUCKETS = 16000 };

/* Rows of the lane that start before t. */
static uint32_t rows_before(const struct lane *lane, const struct nai_column *start, int64_t t) {
  uint32_t lo = 0, hi = lane->count;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (nai_at(start, lane->rows[mid]) < t)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static uint64_t events_within(const struct lanes *lanes, const struct nai_model *m, int64_t from, int64_t to) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < lanes->count; i++) {
    const struct nai_column *start, *end;
    lane_times(&start, &end, m, lanes->v[i].kind);
    n += rows_before(&lanes->v[i], start, to) - rows_before(&lanes->v[i], start, from);
  }
  return n;
}

static int by_start(const void *pa, const void *pb) {
  const struct nai_interval *a = pa, *b = pb;
  return (a->start > b->start) - (a->start < b->start);
}

/* Around each place, most important first, as much as WINDOW_EVENTS and the total budget allow. */
static int choose_detail(struct lanes *lanes, const struct nai_model *m, const struct nai_interval *places,
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
    uint64_t events = events_within(lanes, m, from, to);
    while (events > WINDOW_EVENTS && to - from > 2000) { /* its beginning, if it is too rich as a whole */
      to = from + (to - from) / 2;
      events = events_within(lanes, m, from, to);
    }
    windows[n++] = (struct nai_interval){from, to};
    used += events;
  }
  qsort(windows, n, sizeof *windows, by_start);
  for (size_t i = 0; i < n; i++)
    nai_intervals_add(&lanes->detail, windows[i].start, windows[i].end);
  free(windows);
  return lanes->detail.oom ? nai_err_nomem(err) : NAI_OK;
}

int lanes_plan(struct lanes *lanes, const struct nai_model *m, const struct nai_interval *places, size_t count,
               struct nai_err *err) {
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (uint32_t i = 0; i < lanes->count; i++) {
    const struct nai_column *start, *end;
    const struct lane *lane = &lanes->v[i];
    lane_times(&start, &end, m, lane->kind);
    int64_t a = nai_at(start, lane->rows[0]), b = nai_at(start, lane->rows[lane->count - 1]);
    first = a < first ? a : first;
    last = b > last ? b : last;
  }
  /* Fine enough for the GPUs' window; the host's time around it may be many times as long. */
  int64_t window = m->window_end - m->window_start, span = lanes->count ? last - first : 0;
  lanes->aggregated = lanes->total > NAI_VIEWER_MAX_EVENTS;
  lanes->first_ns = first;
  lanes->bucket_ns = (window / BUCKETS > span / MAX_BUCKETS ? window / BUCKETS : span / MAX_BUCKETS) + 1;
  return lanes->aggregated ? choose_detail(lanes, m, places, count, err) : NAI_OK;
}

/* --- items ------------------------------------------------------------------------------------ */

static bool add_item(struct lane *lane, struct item item) {
  if (!nai_array_room(&lane->items, &lane->item_capacity, lane->item_count, sizeof *lane->items))
    return false;
  lane->items[lane->item_count++] = item;
  return true;
}

/* An aggregate that still grows: one per depth, so that nesting stays visible. */
struct open_item {
  struct item item;
  int64_t bucket, longest;
};

enum { MAX_DEPTH = 32 };

static bool close_item(struct lane *lane, struct open_item *open) {
  bool ok = true;
  int64_t length = open->item.end - open->item.start;
  if (open->item.count == 1)
    open->item.busy = 0;
  else if (open->item.busy > length) /* they overlapped */
    open->item.busy = length;
  if (open->item.count)
    ok = add_item(lane, open->item);
  open->item.count = 0;
  return ok;
}

static int compare_items(const void *pa, const void *pb) {
  const struct item *a = pa, *b = pb;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  if (a->end != b->end)
    return a->end > b->end ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

static bool aggregate_lane(struct lane *lane, const struct lanes *lanes, const struct nai_model *m) {
  struct open_item open[MAX_DEPTH] = {0};
  const struct nai_column *start, *end;
  size_t window = 0;
  bool ok = true;
  lane_times(&start, &end, m, lane->kind);
  const uint32_t *rows = lane->rows;
  int64_t bucket = 0, bucket_end = INT64_MIN;
  for (uint32_t i = 0; ok && i < lane->count; i++) {
    uint32_t row = rows[i];
    int64_t s = nai_at(start, row), until = nai_at(end, row), length = until - s;
    if (s >= bucket_end) {
      bucket = (s - lanes->first_ns) / lanes->bucket_ns;
      bucket_end = lanes->first_ns + (bucket + 1) * lanes->bucket_ns;
    }
    while (window < lanes->detail.count && lanes->detail.v[window].end <= s)
      window++;
    bool detail = window < lanes->detail.count && lanes->detail.v[window].start <= until;
    if (detail || length >= lanes->bucket_ns) {
      ok = add_item(lane, (struct item){s, until, row, 1, 0});
      continue;
    }
    uint32_t depth = lane->kind == LANE_NVTX ? m->nvtx_depth[row] : 0;
    struct open_item *o = &open[depth < MAX_DEPTH ? depth : MAX_DEPTH - 1];
    if (o->item.count && o->bucket != bucket)
      ok = close_item(lane, o);
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
    ok = close_item(lane, &open[d]) && ok;
  qsort(lane->items, lane->item_count, sizeof *lane->items, compare_items);
  return ok;
}

struct fill {
  struct lanes *lanes;
  const struct nai_model *m;
};

static int fill_lane(void *ctx, int task, struct nai_err *err) {
  const struct fill *fill = ctx;
  struct lane *lane = &fill->lanes->v[task];
  if (fill->lanes->aggregated)
    return aggregate_lane(lane, fill->lanes, fill->m) ? NAI_OK : nai_err_nomem(err);
  const struct nai_column *start, *end;
  lane_times(&start, &end, fill->m, lane->kind);
  lane->items = malloc((size_t)lane->count * sizeof *lane->items);
  if (!lane->items)
    return nai_err_nomem(err);
  const uint32_t *rows = lane->rows;
  for (uint32_t i = 0; i < lane->count; i++)
    lane->items[i] = (struct item){nai_at(start, rows[i]), nai_at(end, rows[i]), rows[i], 1, 0};
  lane->item_count = lane->item_capacity = lane->count;
  return NAI_OK;
}

int lanes_fill(struct lanes *lanes, const struct nai_model *m, struct nai_err *err) {
  struct fill fill = {lanes, m};
  return nai_parallel(m->worker_count, (int)lanes->count, fill_lane, &fill, err);
}
