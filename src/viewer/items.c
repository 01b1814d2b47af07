/* From rows to what the page shows: every event, or, in a trace with too many, aggregates outside of the detail
 * windows. */
#include "viewer/items.h"

#include "base/sort.h"
#include "base/threads.h"

enum { BUCKETS = 3000, MAX_BUCKETS = 16000 };

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
  items->first_ns = first;
  int64_t buckets = nai_items_share(items, BUCKETS), most = nai_items_share(items, MAX_BUCKETS);
  items->bucket_ns = (window / buckets > span / most ? window / buckets : span / most) + 1;
  return items->aggregated ? nai_items_choose_detail(items, m, places, count, err) : NAI_OK;
}

/* --- items ------------------------------------------------------------------------------------ */

/* A lane whose items are made. */
struct making {
  struct nai_lane_items *to;
  const struct nai_items *items;
  const struct nai_model *m;
  struct tally {
    int count; /* kernel categories; 0 in other lanes */
    struct share {
      int64_t ns, longest;
      uint32_t row; /* of the longest */
    } * of;
  } tally; /* what the open aggregate of a lane of kernels holds of each */
};

static int add_item(struct making *make, struct nai_item item, struct nai_err *err) {
  struct nai_lane_items *to = make->to;
  NAI_TRY(NAI_ROOM(to->v, to->capacity, to->count, make->items->arena, err));
  to->v[to->count++] = item;
  return NAI_OK;
}

/* An aggregate that still grows: one per depth, so that nesting stays visible. */
struct open_item {
  struct nai_item item;
  int64_t bucket, longest;
  size_t window; /* the next detail window: no aggregate reaches across one */
};

enum { MAX_DEPTH = 32 };

static void tally_add(struct tally *tally, int category, uint32_t row, int64_t length) {
  if (category < 0 || category >= tally->count)
    return;
  struct share *share = &tally->of[category];
  if (!share->ns || length > share->longest) {
    share->longest = length;
    share->row = row;
  }
  share->ns += length;
}

NAI_ORDER(compare_mix, struct nai_mix, {b->ns, a->ns}, {a->category, b->category})

/* Moves the tally to the lane's list. The longest event of the longest category stands for the aggregate. */
static int put_mix(struct making *make, struct nai_item *item, struct nai_err *err) {
  struct nai_lane_items *to = make->to;
  const struct tally *tally = &make->tally;
  item->mix = to->mix_count;
  for (int c = 0; c < tally->count; c++) {
    if (!tally->of[c].ns)
      continue;
    NAI_TRY(NAI_ROOM(to->mix, to->mix_capacity, to->mix_count, make->items->arena, err));
    to->mix[to->mix_count++] = (struct nai_mix){c, tally->of[c].ns};
  }
  item->mix_count = to->mix_count - item->mix;
  if (!item->mix_count)
    return NAI_OK;
  qsort(to->mix + item->mix, item->mix_count, sizeof *to->mix, compare_mix);
  item->row = tally->of[to->mix[item->mix].category].row;
  return NAI_OK;
}

static int close_item(struct making *make, struct open_item *open, struct nai_err *err) {
  struct nai_item *item = &open->item;
  int64_t length = item->end - item->start;
  if (!item->count)
    return NAI_OK;
  if (item->count == 1)
    item->busy = 0;
  else if (item->busy > length) /* they overlapped */
    item->busy = length;
  if (item->count > 1)
    NAI_TRY(put_mix(make, item, err));
  if (make->tally.count)
    memset(make->tally.of, 0, (size_t)make->tally.count * sizeof *make->tally.of);
  NAI_TRY(add_item(make, *item, err));
  item->count = 0;
  return NAI_OK;
}

NAI_ORDER(compare_items, struct nai_item, {a->start, b->start}, {b->end, a->end}, {a->row, b->row})

/* By insertion: items come in the order in which they began, but for aggregates, which come when they are closed. An
 * item passes those that came while it was open; of each depth one is open at a time, so at most MAX_DEPTH pass it. */
static void order_by_start(struct nai_item *v, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    struct nai_item item = v[i];
    uint32_t at = i;
    for (; at && item.start < v[at - 1].start; at--)
      v[at] = v[at - 1];
    v[at] = item;
  }
}

static void sort_items(struct nai_item *v, uint32_t count) {
  order_by_start(v, count);
  for (uint32_t i = 0, j; i < count; i = j) {
    for (j = i + 1; j < count && v[j].start == v[i].start; j++)
      ;
    if (j - i > 1)
      qsort(v + i, j - i, sizeof *v, compare_items);
  }
}

/* Adds an event to the aggregate of its depth, which ends with its bucket. */
static int aggregate(struct making *make, struct open_item *o, int64_t bucket, size_t window, struct nai_item event,
                     struct nai_err *err) {
  int64_t length = event.end - event.start;
  if (o->item.count && (o->bucket != bucket || o->window != window))
    NAI_TRY(close_item(make, o, err));
  if (!o->item.count) {
    *o = (struct open_item){event, bucket, length, window};
    o->item.busy = length;
    return NAI_OK;
  }
  o->item.count++;
  o->item.busy += length;
  o->item.end = event.end > o->item.end ? event.end : o->item.end;
  if (length > o->longest) {
    o->longest = length;
    o->item.row = event.row;
  }
  return NAI_OK;
}

static int aggregate_rows(struct making *make, struct nai_err *err) {
  const struct nai_lane *lane = make->to->lane;
  const struct nai_items *items = make->items;
  const struct nai_model *m = make->m;
  struct open_item open[MAX_DEPTH] = {0};
  size_t window = 0;
  int64_t bucket = 0, bucket_end = INT64_MIN;
  for (uint32_t i = 0; i < lane->count; i++) {
    uint32_t row = lane->rows[i];
    struct nai_item event = {
        .start = nai_at(make->to->start, row), .end = nai_at(make->to->end, row), .row = row, .count = 1};
    if (event.start >= bucket_end) {
      bucket = (event.start - items->first_ns) / items->bucket_ns;
      bucket_end = items->first_ns + (bucket + 1) * items->bucket_ns;
    }
    while (window < items->detail.count && items->detail.v[window].end <= event.start)
      window++;
    bool detail = window < items->detail.count && items->detail.v[window].start <= event.end;
    if (detail || event.end - event.start >= items->bucket_ns) {
      NAI_TRY(add_item(make, event, err));
      continue;
    }
    uint32_t depth = lane->kind == NAI_LANE_NVTX ? m->nvtx_depth[row] : 0;
    NAI_TRY(aggregate(make, &open[depth < MAX_DEPTH ? depth : MAX_DEPTH - 1], bucket, window, event, err));
    if (make->tally.count)
      tally_add(&make->tally, m->kernel_category[nai_val_text(&m->kernels.name, row)], row, event.end - event.start);
  }
  for (int d = 0; d < MAX_DEPTH; d++)
    NAI_TRY(close_item(make, &open[d], err));
  return NAI_OK;
}

struct filling {
  struct nai_items *items;
  const struct nai_model *m;
};

static int fill_lane(void *ctx, int task, struct nai_err *err) {
  const struct filling *filling = ctx;
  struct nai_lane_items *to = &filling->items->lanes[task];
  struct making make = {.to = to, .items = filling->items, .m = filling->m};
  make.tally.count = to->lane->kind == NAI_LANE_KERNEL ? nai_kernel_classes_count(filling->m->classes) : 0;
  NAI_TRY(NAI_NEW(make.tally.of, filling->items->arena, (size_t)make.tally.count, err));
  NAI_TRY(aggregate_rows(&make, err));
  sort_items(to->v, to->count);
  return NAI_OK;
}

int nai_items_build(struct nai_items *items, const struct nai_model *m, int halvings, const struct nai_interval *places,
                    size_t count, struct nai_arena *arena, struct nai_err *err) {
  bool aggregated = halvings != NAI_ITEMS_ALL;
  *items = (struct nai_items){.arena = arena,
                              .lane_count = m->lanes.count,
                              .aggregated = aggregated,
                              .halvings = halvings,
                              .detail = {.arena = arena}};
  NAI_TRY(NAI_NEW(items->lanes, arena, m->lanes.count, err));
  for (uint32_t i = 0; i < m->lanes.count; i++) {
    struct nai_lane_items *lane = &items->lanes[i];
    lane->lane = &m->lanes.v[i];
    lane->count = aggregated ? 0 : lane->lane->count;
    nai_lane_times(&lane->start, &lane->end, m, lane->lane->kind);
  }
  NAI_TRY(plan(items, m, places, count, err));
  struct filling filling = {items, m};
  return aggregated ? nai_parallel(m->worker_count, (int)items->lane_count, fill_lane, &filling, err) : NAI_OK;
}
