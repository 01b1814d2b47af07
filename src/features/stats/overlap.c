/* What many ranges of a thread that overlap hold, without a look at each pair of range and item. */
#include "features/stats/ranges.h"

#include "base/sort.h"

/* --- the innermost range around an item ---------------------------------------------------------------------- */

struct innermost {
  const struct nai_stats_ranges *ranges;
  struct nai_stats_turns turns;
  uint32_t *out, *open; /* open: of each thread's ranges those that may be around an item, each begins later and ends
                           earlier than the one before */
};

/* Of ranges of which each ends no later than the one before: how many last until `end`. */
static uint32_t count_around(const struct nai_stats_range *ranges, const uint32_t *open, uint32_t depth, int64_t end) {
  uint32_t around = 0, most = depth;
  while (around < most) {
    const uint32_t middle = around + (most - around) / 2;
    if (ranges[open[middle]].end >= end)
      around = middle + 1;
    else
      most = middle;
  }
  return around;
}

static int find_innermost(void *ctx, int thread, struct nai_err *err) {
  const struct innermost *all = ctx;
  const struct nai_stats_range *ranges = all->ranges->at;
  uint32_t next = all->ranges->of_thread[thread], *open = all->open + next, depth = 0;
  (void)err;
  for (uint32_t k = all->turns.of_thread[thread]; k < all->turns.of_thread[thread + 1]; k++) {
    const struct nai_stats_item *item = &all->turns.items[all->turns.at[k]];
    for (; next < all->ranges->of_thread[thread + 1]; next++) {
      const struct nai_stats_range *range = &ranges[all->ranges->ordered[next]];
      if (item->start < range->start)
        break;
      while (depth && ranges[open[depth - 1]].end <= range->end) /* it is never the innermost again */
        depth--;
      open[depth++] = all->ranges->ordered[next];
    }
    const uint32_t around = count_around(ranges, open, depth, item->end);
    if (around)
      all->out[all->turns.at[k]] = open[around - 1];
  }
  return NAI_OK;
}

int nai_stats_find_innermost(uint32_t **out, struct nai_stats_ranges *ranges, const struct nai_stats_item *items,
                             uint32_t count, struct nai_arena *arena, struct nai_err *err) {
  struct innermost all = {.ranges = ranges};
  NAI_TRY(nai_stats_order_items(&all.turns, ranges, items, count, arena, err));
  NAI_TRY(NAI_NEW(all.out, arena, count, err));
  NAI_TRY(NAI_NEW(all.open, arena, ranges->ordered_count, err));
  for (uint32_t i = 0; i < count; i++)
    all.out[i] = UINT32_MAX;
  *out = all.out;
  return nai_stats_each_thread(ranges, find_innermost, &all, err);
}

/* --- names around items -------------------------------------------------------------------------------------- */

/* Names of the ranges that are open. */
struct names {
  const struct nai_stats_ranges *ranges;
  struct name {
    uint32_t open, place; /* how many; where it stands in `active` */
    uint32_t range;       /* one of them */
  } * at;                 /* by name and style; behind all names those without */
  uint32_t *active, active_capacity, active_count;
};

static uint32_t name_of(const struct names *names, const struct nai_stats_range *range) {
  const uint32_t name = range->name < names->ranges->names ? range->name : names->ranges->names;
  return 2 * name + nai_stats_style_of(range);
}

static int open_range(struct names *names, uint32_t number, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_stats_range *range = &names->ranges->at[number];
  const uint32_t slot = name_of(names, range);
  struct name *name = &names->at[slot];
  if (name->open++)
    return NAI_OK;
  name->place = names->active_count;
  name->range = number;
  NAI_TRY(NAI_ROOM(names->active, names->active_capacity, names->active_count, arena, err));
  names->active[names->active_count++] = slot;
  return NAI_OK;
}

static void close_range(struct names *names, uint32_t number) {
  struct name *name = &names->at[name_of(names, &names->ranges->at[number])];
  if (--name->open)
    return;
  uint32_t last = names->active[--names->active_count];
  names->active[name->place] = last;
  names->at[last].place = name->place;
}

/* What is left of a thread: ranges in which an item begins, in their order, and by end. */
struct thread_names {
  uint32_t *begins, count;
  struct nai_key *ends;
};

/* By end: nested ones leave a stack in this order. */
static int order_ends(struct thread_names *kept, const struct nai_stats_range *at, struct nai_arena *arena,
                      struct nai_err *err) {
  uint32_t *open, depth = 0, over = 0;
  NAI_TRY(NAI_NEW_UNSET(open, arena, kept->count, err));
  NAI_TRY(NAI_NEW_UNSET(kept->ends, arena, kept->count, err));
  for (uint32_t i = 0; i <= kept->count; i++) {
    for (; depth && (i == kept->count || at[open[depth - 1]].end < at[kept->begins[i]].start); depth--)
      kept->ends[over++] = (struct nai_key){nai_key_from_i64(at[open[depth - 1]].end), open[depth - 1]};
    if (i < kept->count)
      open[depth++] = kept->begins[i];
  }
  return nai_sort_keys(kept->ends, kept->count, err);
}

static int keep_ranges(struct thread_names *kept, const struct nai_stats_ranges *ranges,
                       const struct nai_stats_turns *turns, uint32_t thread, struct nai_arena *arena,
                       struct nai_err *err) {
  const uint32_t first = ranges->of_thread[thread], behind = ranges->of_thread[thread + 1];
  uint32_t next = turns->of_thread[thread];
  NAI_TRY(NAI_NEW_UNSET(kept->begins, arena, behind - first, err));
  for (uint32_t i = first; i < behind; i++) {
    const struct nai_stats_range *range = &ranges->at[ranges->ordered[i]];
    while (next < turns->of_thread[thread + 1] && turns->items[turns->at[next]].start < range->start)
      next++;
    if (next < turns->of_thread[thread + 1] && turns->items[turns->at[next]].start <= range->end)
      kept->begins[kept->count++] = ranges->ordered[i];
  }
  return order_ends(kept, ranges->at, arena, err);
}

static int name_thread(struct names *names, const struct nai_stats_turns *turns, uint32_t thread,
                       nai_stats_name_fn *put, void *ctx, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_stats_range *at = names->ranges->at;
  struct thread_names kept = {0};
  uint32_t next = 0, over = 0, ending = 0; /* ranges that end before the item, and while it lasts */
  const struct nai_stats_item *before = NULL;
  NAI_TRY(keep_ranges(&kept, names->ranges, turns, thread, arena, err));
  for (uint32_t k = turns->of_thread[thread]; k < turns->of_thread[thread + 1]; k++) {
    const struct nai_stats_item *item = &turns->items[turns->at[k]];
    bool again = before && before->start == item->start && before->end == item->end;
    for (; !again && over < ending; ending--)
      if (at[kept.ends[ending - 1].value].start <= before->start)
        NAI_TRY(open_range(names, kept.ends[ending - 1].value, arena, err));
    for (; over < kept.count && at[kept.ends[over].value].end < item->start; over++)
      close_range(names, kept.ends[over].value);
    for (; next < kept.count && at[kept.begins[next]].start <= item->start; next++)
      NAI_TRY(open_range(names, kept.begins[next], arena, err));
    for (ending = again ? ending : over; ending < kept.count && at[kept.ends[ending].value].end < item->end; ending++)
      if (at[kept.ends[ending].value].start <= item->start)
        close_range(names, kept.ends[ending].value);
    for (uint32_t i = 0; i < names->active_count; i++) {
      const struct name *name = &names->at[names->active[i]];
      NAI_TRY(put(ctx, name->range, name->open, turns->at[k], err));
    }
    before = item;
  }
  return NAI_OK;
}

int nai_stats_contain_names(const struct nai_stats_ranges *ranges, const struct nai_stats_turns *turns, uint32_t thread,
                            nai_stats_name_fn *put, void *ctx, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct names names = {.ranges = ranges};
  NAI_TRY(NAI_NEW(names.at, &arena, 2 * ((size_t)ranges->names + 1), err));
  return name_thread(&names, turns, thread, put, ctx, &arena, err);
}

/* --- kinds of items in ranges ------------------------------------------------------------------------------- */

/* Kinds that were met, those whose item ends first in front. */
struct kinds {
  int64_t *end;
  uint32_t *next; /* kind + 1, of the last one 0; the first is next[0], that of a kind next[kind + 1] */
  bool *listed;
};

static void meet(struct kinds *kinds, uint32_t kind, int64_t end) {
  uint32_t *at = &kinds->next[0];
  if (kinds->listed[kind] && kinds->end[kind] <= end)
    return;
  if (kinds->listed[kind]) {
    while (*at != kind + 1)
      at = &kinds->next[*at];
    *at = kinds->next[kind + 1];
  }
  for (at = &kinds->next[0]; *at && kinds->end[*at - 1] < end;)
    at = &kinds->next[*at];
  kinds->next[kind + 1] = *at;
  *at = kind + 1;
  kinds->end[kind] = end;
  kinds->listed[kind] = true;
}

int nai_stats_contain_kinds(const struct nai_stats_ranges *ranges, const struct nai_stats_turns *turns, uint32_t thread,
                            const uint32_t *kind, uint32_t kind_count, nai_stats_kind_fn *put, void *ctx,
                            struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const uint32_t first = ranges->of_thread[thread], first_item = turns->of_thread[thread];
  uint32_t next = turns->of_thread[thread + 1];
  struct kinds kinds;
  NAI_TRY(NAI_NEW(kinds.end, &arena, kind_count, err));
  NAI_TRY(NAI_NEW(kinds.next, &arena, (size_t)kind_count + 1, err));
  NAI_TRY(NAI_NEW(kinds.listed, &arena, kind_count, err));
  for (uint32_t i = ranges->of_thread[thread + 1]; i-- > first;) {
    const struct nai_stats_range *range = &ranges->at[ranges->ordered[i]];
    for (; next > first_item && turns->items[turns->at[next - 1]].start >= range->start; next--)
      meet(&kinds, kind[turns->at[next - 1]], turns->items[turns->at[next - 1]].end);
    for (uint32_t at = kinds.next[0]; at && kinds.end[at - 1] <= range->end; at = kinds.next[at])
      NAI_TRY(put(ctx, ranges->ordered[i], at - 1, err));
  }
  return NAI_OK;
}

/* --- from the first to the last operation of ranges ---------------------------------------------------------- */

enum { FEW_ITEMS = 32 };

static void extend(struct nai_stats_extent *sum, const struct nai_stats_extent *other) {
  sum->start = other->start < sum->start ? other->start : sum->start;
  sum->end = other->end > sum->end ? other->end : sum->end;
  sum->calls += other->calls;
}

/* Of a thread: of each item what it adds, in a Fenwick tree by the item's end. */
struct extents {
  const struct nai_stats_item *items;
  const struct nai_stats_extent *of_item;
  const uint32_t *turns;         /* the thread's */
  uint32_t count, next;          /* those from `next` on are in the tree */
  int64_t *ends;                 /* ascending */
  struct nai_stats_extent *tree; /* as many, and one in front; NULL: not yet */
};

static int begin_tree(struct extents *all, struct nai_arena *arena, struct nai_err *err) {
  bool ascend = true; /* as calls mostly do */
  NAI_TRY(NAI_NEW(all->ends, arena, all->count, err));
  NAI_TRY(NAI_NEW(all->tree, arena, (size_t)all->count + 1, err));
  for (uint32_t i = 0; i < all->count; i++) {
    all->ends[i] = all->items[all->turns[i]].end;
    ascend = ascend && (i == 0 || all->ends[i - 1] <= all->ends[i]);
    all->tree[i + 1] = NAI_STATS_NO_EXTENT;
  }
  if (!ascend)
    qsort(all->ends, all->count, sizeof *all->ends, nai_by_i64);
  all->next = all->count;
  return NAI_OK;
}

static uint32_t ends_before(const struct extents *all, int64_t end) {
  return (uint32_t)nai_bisect(all->ends, all->count, sizeof *all->ends, 0, end);
}

static struct nai_stats_extent ask(struct extents *all, uint32_t first, int64_t end) {
  struct nai_stats_extent sum = NAI_STATS_NO_EXTENT;
  for (; all->next > first; all->next--) {
    uint32_t item = all->turns[all->next - 1];
    for (uint32_t i = ends_before(all, all->items[item].end) + 1; i <= all->count; i += i & -i)
      extend(&all->tree[i], &all->of_item[item]);
  }
  for (uint32_t i = ends_before(all, end + 1); i; i -= i & -i)
    extend(&sum, &all->tree[i]);
  return sum;
}

/* The items in a range are some of those from number `first` on. */
static int find_extent(struct nai_stats_extent *out, struct extents *all, uint32_t first,
                       const struct nai_stats_range *range, struct nai_arena *arena, struct nai_err *err) {
  uint32_t at = first;
  *out = NAI_STATS_NO_EXTENT;
  for (; at < all->count && at - first < FEW_ITEMS && all->items[all->turns[at]].start <= range->end; at++)
    if (all->items[all->turns[at]].end <= range->end)
      extend(out, &all->of_item[all->turns[at]]);
  if (at - first < FEW_ITEMS)
    return NAI_OK;
  if (!all->tree)
    NAI_TRY(begin_tree(all, arena, err));
  *out = ask(all, first, range->end);
  return NAI_OK;
}

struct extending {
  const struct nai_stats_ranges *ranges;
  const struct nai_stats_extent *of_item;
  struct nai_stats_turns turns;
  struct nai_stats_extent *out;
};

static int extend_thread(void *ctx, int thread, struct nai_err *err) {
  const struct extending *e = ctx;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const uint32_t *ordered = e->ranges->ordered, first = e->turns.of_thread[thread];
  struct extents all = {.items = e->turns.items,
                        .of_item = e->of_item,
                        .turns = e->turns.at + first,
                        .count = e->turns.of_thread[thread + 1] - first};
  for (uint32_t i = e->ranges->of_thread[thread + 1], next = all.count; i-- > e->ranges->of_thread[thread];) {
    const struct nai_stats_range *range = &e->ranges->at[ordered[i]];
    while (next && all.items[all.turns[next - 1]].start >= range->start)
      next--;
    NAI_TRY(find_extent(&e->out[ordered[i]], &all, next, range, &arena, err));
  }
  return NAI_OK;
}

int nai_stats_contain_extents(struct nai_stats_extent **out, struct nai_stats_ranges *ranges,
                              const struct nai_stats_item *items, const struct nai_stats_extent *of_item,
                              uint32_t count, struct nai_arena *arena, struct nai_err *err) {
  struct extending all = {.ranges = ranges, .of_item = of_item};
  NAI_TRY(nai_stats_order_items(&all.turns, ranges, items, count, arena, err));
  NAI_TRY(NAI_NEW_UNSET(all.out, arena, ranges->count, err));
  for (uint32_t i = 0; i < ranges->count && ranges->ordered_count < ranges->count; i++)
    all.out[i] = NAI_STATS_NO_EXTENT;
  *out = all.out;
  return nai_stats_each_thread(ranges, extend_thread, &all, err);
}
