/* What many ranges of a thread that overlap hold, without a look at each pair of range and item. */
#include "features/stats/ranges.h"

#include "base/sort.h"

static bool is_before(const struct nai_stats_item *item, int64_t thread, int64_t start) {
  return item->thread < thread || (item->thread == thread && item->start < start);
}

/* --- the innermost range around an item ---------------------------------------------------------------------- */

int nai_stats_find_innermost(uint32_t **out, struct nai_stats_ranges *ranges, const struct nai_stats_item *items,
                             uint32_t count, struct nai_arena *arena, struct nai_err *err) {
  struct nai_key *turns;
  uint32_t *open, depth = 0, next = 0; /* each begins later and ends earlier than those below */
  NAI_TRY(nai_stats_order_items(&turns, ranges, items, count, arena, err));
  NAI_TRY(NAI_NEW(*out, arena, count, err));
  NAI_TRY(NAI_NEW(open, arena, ranges->ordered_count, err));
  for (uint32_t k = 0; k < count; k++) {
    const struct nai_stats_item *item = &items[turns[k].value];
    for (; next < ranges->ordered_count; next++) {
      const struct nai_stats_range *range = &ranges->at[ranges->ordered[next]], *last;
      if (is_before(item, range->thread, range->start))
        break;
      for (; depth; depth--) { /* what ends no later than one that begins later is never the innermost */
        last = &ranges->at[open[depth - 1]];
        if (last->thread == range->thread && last->end > range->end)
          break;
      }
      open[depth++] = ranges->ordered[next];
    }
    uint32_t around = 0, most = depth;
    while (around < most) {
      uint32_t middle = around + (most - around) / 2;
      if (ranges->at[open[middle]].end >= item->end)
        around = middle + 1;
      else
        most = middle;
    }
    bool found = around && ranges->at[open[around - 1]].thread == item->thread;
    (*out)[turns[k].value] = found ? open[around - 1] : UINT32_MAX;
  }
  return NAI_OK;
}

/* --- names around items -------------------------------------------------------------------------------------- */

/* Names of the ranges that are open. */
struct names {
  const struct nai_stats_ranges *ranges;
  struct nai_keyset known; /* name and style */
  struct name {
    uint32_t open, place; /* how many; where it stands in `active` */
    uint32_t range;       /* one of them */
  } * at;
  uint32_t capacity, *active, active_capacity, active_count;
};

static int open_range(struct names *names, uint32_t number, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_stats_range *range = &names->ranges->at[number];
  bool added;
  uint32_t slot = nai_keyset_add(&names->known, nai_key_pair(nai_stats_style_of(range), range->name), &added);
  NAI_TRY(nai_memory_check(!names->known.oom, err));
  NAI_TRY(NAI_ROOM(names->at, names->capacity, slot, arena, err));
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
  const struct nai_stats_range *range = &names->ranges->at[number];
  struct name *name = &names->at[nai_keyset_find(&names->known, nai_key_pair(nai_stats_style_of(range), range->name))];
  if (--name->open)
    return;
  uint32_t last = names->active[--names->active_count];
  names->active[name->place] = last;
  names->at[last].place = name->place;
}

/* Ranges in which an item begins, in their order, and by thread and end. */
static int keep_ranges(struct nai_key **begins, struct nai_key **ends, uint32_t *count,
                       const struct nai_stats_ranges *ranges, const struct nai_stats_item *items,
                       const struct nai_key *turns, uint32_t item_count, struct nai_arena *arena, struct nai_err *err) {
  uint32_t next = 0;
  *count = 0;
  NAI_TRY(NAI_NEW(*begins, arena, ranges->ordered_count, err));
  for (uint32_t i = 0; i < ranges->ordered_count; i++) {
    const struct nai_stats_range *range = &ranges->at[ranges->ordered[i]];
    while (next < item_count && is_before(&items[turns[next].value], range->thread, range->start))
      next++;
    const struct nai_stats_item *item = next < item_count ? &items[turns[next].value] : NULL;
    if (item && item->thread == range->thread && item->start <= range->end)
      (*begins)[(*count)++].value = ranges->ordered[i];
  }
  NAI_TRY(NAI_NEW(*ends, arena, *count, err));
  for (uint32_t i = 0; i < *count; i++)
    (*ends)[i] = (struct nai_key){nai_key_from_i64(ranges->at[(*begins)[i].value].end), (*begins)[i].value};
  NAI_TRY(nai_sort_keys(*ends, *count, err));
  for (uint32_t i = 0; i < *count; i++)
    (*ends)[i].key = nai_key_from_i64(ranges->at[(*ends)[i].value].thread);
  return nai_sort_keys(*ends, *count, err);
}

int nai_stats_contain_names(struct nai_stats_ranges *ranges, const struct nai_stats_item *items, uint32_t count,
                            nai_stats_name_fn *put, void *ctx, struct nai_arena *arena, struct nai_err *err) {
  struct names names = {.ranges = ranges, .known = {.arena = arena}};
  struct nai_key *turns, *begins, *ends;
  uint32_t kept, next = 0, over = 0, ending = 0; /* ranges that end before the item, and while it lasts */
  const struct nai_stats_item *before = NULL;
  NAI_TRY(nai_stats_order_items(&turns, ranges, items, count, arena, err));
  NAI_TRY(keep_ranges(&begins, &ends, &kept, ranges, items, turns, count, arena, err));
  for (uint32_t k = 0; k < count; k++) {
    const struct nai_stats_item *item = &items[turns[k].value];
    bool again = before && before->thread == item->thread && before->start == item->start && before->end == item->end;
    for (; !again && over < ending; ending--)
      if (ranges->at[ends[ending - 1].value].start <= before->start)
        NAI_TRY(open_range(&names, ends[ending - 1].value, arena, err));
    for (; over < kept; over++) {
      const struct nai_stats_range *range = &ranges->at[ends[over].value];
      if (range->thread > item->thread || (range->thread == item->thread && range->end >= item->start))
        break;
      close_range(&names, ends[over].value);
    }
    for (; next < kept && !is_before(item, ranges->at[begins[next].value].thread, ranges->at[begins[next].value].start);
         next++)
      NAI_TRY(open_range(&names, begins[next].value, arena, err));
    for (ending = again ? ending : over; ending < kept; ending++) {
      const struct nai_stats_range *range = &ranges->at[ends[ending].value];
      if (range->thread > item->thread || range->end >= item->end)
        break;
      if (range->start <= item->start)
        close_range(&names, ends[ending].value);
    }
    for (uint32_t i = 0; i < names.active_count; i++) {
      const struct name *name = &names.at[names.active[i]];
      NAI_TRY(put(ctx, name->range, name->open, turns[k].value, err));
    }
    before = item;
  }
  return NAI_OK;
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

static void forget_kinds(struct kinds *kinds) {
  for (uint32_t at = kinds->next[0]; at; at = kinds->next[at])
    kinds->listed[at - 1] = false;
  kinds->next[0] = 0;
}

int nai_stats_contain_kinds(struct nai_stats_ranges *ranges, const struct nai_stats_item *items, uint32_t count,
                            const uint32_t *kind, uint32_t kind_count, nai_stats_kind_fn *put, void *ctx,
                            struct nai_arena *arena, struct nai_err *err) {
  struct kinds kinds;
  struct nai_key *turns;
  NAI_TRY(nai_stats_order_items(&turns, ranges, items, count, arena, err));
  NAI_TRY(NAI_NEW(kinds.end, arena, kind_count, err));
  NAI_TRY(NAI_NEW(kinds.next, arena, (size_t)kind_count + 1, err));
  NAI_TRY(NAI_NEW(kinds.listed, arena, kind_count, err));
  for (uint32_t i = ranges->ordered_count, next = count; i-- > 0;) {
    const struct nai_stats_range *range = &ranges->at[ranges->ordered[i]];
    if (i + 1 < ranges->ordered_count && ranges->at[ranges->ordered[i + 1]].thread != range->thread)
      forget_kinds(&kinds);
    for (; next && !is_before(&items[turns[next - 1].value], range->thread, range->start); next--)
      if (items[turns[next - 1].value].thread == range->thread)
        meet(&kinds, kind[turns[next - 1].value], items[turns[next - 1].value].end);
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

/* Of each item what it adds, in a Fenwick tree per thread by the item's end. */
struct extents {
  const struct nai_stats_item *items;
  const struct nai_stats_extent *of_item;
  const struct nai_key *turns;
  int64_t *ends;                 /* of the thread, ascending */
  struct nai_stats_extent *tree; /* as many, and one in front */
  uint32_t first, behind, next;  /* turns of the thread; those from `next` on are in the tree */
};

static void begin_thread(struct extents *all, uint32_t behind) {
  all->behind = all->next = all->first = behind;
  while (all->first &&
         all->items[all->turns[all->first - 1].value].thread == all->items[all->turns[behind - 1].value].thread)
    all->first--;
  bool ascend = true; /* as calls mostly do */
  for (uint32_t i = all->first; i < behind; i++) {
    all->ends[i - all->first] = all->items[all->turns[i].value].end;
    ascend = ascend && (i == all->first || all->ends[i - all->first - 1] <= all->ends[i - all->first]);
    all->tree[i - all->first + 1] = NAI_STATS_NO_EXTENT;
  }
  if (!ascend)
    qsort(all->ends, behind - all->first, sizeof *all->ends, nai_by_i64);
}

static uint32_t ends_before(const struct extents *all, int64_t end) {
  return (uint32_t)nai_bisect(all->ends, all->behind - all->first, sizeof *all->ends, 0, end);
}

static struct nai_stats_extent ask(struct extents *all, uint32_t first, int64_t end) {
  struct nai_stats_extent sum = NAI_STATS_NO_EXTENT;
  for (; all->next > first; all->next--) {
    uint32_t item = all->turns[all->next - 1].value;
    for (uint32_t i = ends_before(all, all->items[item].end) + 1; i <= all->behind - all->first; i += i & -i)
      extend(&all->tree[i], &all->of_item[item]);
  }
  for (uint32_t i = ends_before(all, end + 1); i; i -= i & -i)
    extend(&sum, &all->tree[i]);
  return sum;
}

int nai_stats_contain_extents(struct nai_stats_extent **out, struct nai_stats_ranges *ranges,
                              const struct nai_stats_item *items, const struct nai_stats_extent *of_item,
                              uint32_t count, struct nai_arena *arena, struct nai_err *err) {
  struct extents all = {.items = items, .of_item = of_item};
  struct nai_key *turns;
  uint32_t behind = count; /* items of the thread, and of those before */
  NAI_TRY(nai_stats_order_items(&turns, ranges, items, count, arena, err));
  NAI_TRY(NAI_NEW(*out, arena, ranges->count, err));
  NAI_TRY(NAI_NEW(all.ends, arena, count, err));
  NAI_TRY(NAI_NEW(all.tree, arena, (size_t)count + 1, err));
  all.turns = turns;
  for (uint32_t i = 0; i < ranges->count; i++)
    (*out)[i] = NAI_STATS_NO_EXTENT;
  for (uint32_t i = ranges->ordered_count, next = count; i-- > 0;) {
    const struct nai_stats_range *range = &ranges->at[ranges->ordered[i]];
    struct nai_stats_extent *sum = &(*out)[ranges->ordered[i]];
    while (behind && items[turns[behind - 1].value].thread > range->thread)
      behind--;
    next = next < behind ? next : behind;
    while (next && !is_before(&items[turns[next - 1].value], range->thread, range->start))
      next--;
    uint32_t at = next;
    for (; at < behind && at - next < FEW_ITEMS && items[turns[at].value].start <= range->end; at++)
      if (items[turns[at].value].end <= range->end)
        extend(sum, &of_item[turns[at].value]);
    if (at - next < FEW_ITEMS)
      continue;
    if (all.behind != behind)
      begin_thread(&all, behind);
    *sum = ask(&all, next, range->end);
  }
  return NAI_OK;
}
