/* Ranges by thread and time, and what is around them. */
#include "features/stats/ranges.h"

#include "base/sort.h"

/* --- order --------------------------------------------------------------------------------------------- */

/* Those that begin together on a thread: the longest first. */
static int order_equals(const struct nai_stats_ranges *ranges, struct nai_key *keys, struct nai_err *err) {
  uint32_t *at = ranges->ordered;
  for (uint32_t first = 0, behind; first < ranges->ordered_count; first = behind) {
    const struct nai_stats_range *range = &ranges->at[at[first]], *next;
    for (behind = first + 1; behind < ranges->ordered_count; behind++) {
      next = &ranges->at[at[behind]];
      if (next->start != range->start || next->thread != range->thread)
        break;
    }
    const uint32_t count = behind - first;
    for (uint32_t k = 0; k < count && count > 1; k++)
      keys[k] = (struct nai_key){~nai_key_from_i64(ranges->at[at[first + k]].end), at[first + k]};
    if (count > 1)
      NAI_TRY(nai_sort_keys(keys, count, err));
    for (uint32_t k = 0; k < count && count > 1; k++)
      at[first + k] = keys[k].value;
  }
  return NAI_OK;
}

/* Where the ranges of each thread begin, which are in the order of their numbers. */
static int place_threads(uint32_t **out, const struct nai_stats_ranges *ranges, struct nai_keyset *threads,
                         struct nai_arena *arena, struct nai_err *err) {
  struct nai_key *sorted;
  uint32_t *counts, *next, before = 0;
  bool added;
  for (uint32_t i = 0; i < ranges->count; i++)
    nai_keyset_add(threads, ranges->at[i].thread, &added);
  NAI_TRY(nai_memory_check(!threads->oom, err));
  NAI_TRY(NAI_NEW(sorted, arena, threads->count, err));
  NAI_TRY(NAI_NEW(counts, arena, threads->count, err));
  NAI_TRY(NAI_NEW(next, arena, threads->count, err));
  for (uint32_t i = 0; i < ranges->count; i++)
    counts[nai_keyset_add(threads, ranges->at[i].thread, &added)] += !ranges->at[i].crosses;
  for (uint32_t t = 0; t < threads->count; t++)
    sorted[t] = (struct nai_key){nai_key_from_i64(threads->keys[t]), t};
  NAI_TRY(nai_sort_keys(sorted, threads->count, err));
  for (uint32_t t = 0; t < threads->count; before += counts[sorted[t++].value])
    next[sorted[t].value] = before;
  *out = next;
  return NAI_OK;
}

/* Ranges that can hold something by thread, start, the longest first, then as in the file. */
static int order_ranges(struct nai_stats_ranges *ranges, struct nai_arena *kept, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_keyset threads = {.arena = &arena};
  struct nai_key *keys;
  uint32_t *next;
  bool added;
  if (ranges->ordered)
    return NAI_OK;
  NAI_TRY(NAI_NEW(keys, &arena, ranges->count, err));
  NAI_TRY(NAI_NEW(ranges->ordered, kept, ranges->count, err));
  for (uint32_t i = 0; i < ranges->count; i++)
    if (!ranges->at[i].crosses)
      keys[ranges->ordered_count++] = (struct nai_key){nai_key_from_i64(ranges->at[i].start), i};
  NAI_TRY(nai_sort_keys(keys, ranges->ordered_count, err));
  NAI_TRY(place_threads(&next, ranges, &threads, &arena, err));
  for (uint32_t k = 0; k < ranges->ordered_count; k++)
    ranges->ordered[next[nai_keyset_add(&threads, ranges->at[keys[k].value].thread, &added)]++] = keys[k].value;
  return order_equals(ranges, keys, err);
}

int nai_stats_order_items(struct nai_key **out, struct nai_stats_ranges *ranges, const struct nai_stats_item *items,
                          uint32_t count, struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(order_ranges(ranges, arena, err));
  NAI_TRY(NAI_NEW(*out, arena, count, err));
  for (uint32_t k = 0; k < count; k++)
    (*out)[k] = (struct nai_key){nai_key_from_i64(items[k].start), k};
  NAI_TRY(nai_sort_keys(*out, count, err));
  for (uint32_t k = 0; k < count; k++)
    (*out)[k].key = nai_key_from_i64(items[(*out)[k].value].thread);
  return nai_sort_keys(*out, count, err);
}

/* --- sweep --------------------------------------------------------------------------------------------- */

struct sweep {
  const struct nai_stats_ranges *ranges;
  uint32_t *open; /* begun, not known to be over */
  uint32_t depth;
};

/* Leaves out what is over before `time`, and what is of another thread. */
static void close_ranges(struct sweep *sweep, int64_t thread, int64_t time) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < sweep->depth; i++) {
    const struct nai_stats_range *range = &sweep->ranges->at[sweep->open[i]];
    if (range->thread == thread && range->end >= time)
      sweep->open[kept++] = sweep->open[i];
  }
  sweep->depth = kept;
}

/* --- parents ------------------------------------------------------------------------------------------- */

static bool same_times(const struct nai_stats_range *a, const struct nai_stats_range *b) {
  return a->thread == b->thread && a->start == b->start && a->end == b->end;
}

/* The shortest range around this one; of two the one that began first: of few that are open by a look at each, of many
 * by a Fenwick tree of the thread's ranges, those that end last in front. */
enum { FEW_OPEN = 64 };
struct around {
  const struct nai_stats_ranges *ranges;
  uint32_t first, behind, next; /* of the thread, in their order; those before `next` are in the tree */
  int64_t *ends;                /* ascending */
  struct shortest {
    int64_t ns;
    uint32_t turn;
  } * tree;
};

static const struct nai_stats_range *turn_of(const struct around *all, uint32_t turn) {
  return &all->ranges->at[all->ranges->ordered[turn]];
}

static int begin_many(struct around *all, uint32_t turn, struct nai_arena *arena, struct nai_err *err) {
  const int64_t thread = turn_of(all, turn)->thread;
  if (!all->tree) {
    NAI_TRY(NAI_NEW(all->ends, arena, all->ranges->ordered_count, err));
    NAI_TRY(NAI_NEW(all->tree, arena, (size_t)all->ranges->ordered_count + 1, err));
  }
  all->first = all->behind = turn;
  while (all->first && turn_of(all, all->first - 1)->thread == thread)
    all->first--;
  while (all->behind < all->ranges->ordered_count && turn_of(all, all->behind)->thread == thread)
    all->behind++;
  for (uint32_t i = all->first; i < all->behind; i++) {
    all->ends[i - all->first] = turn_of(all, i)->end;
    all->tree[i - all->first + 1] = (struct shortest){INT64_MAX, UINT32_MAX};
  }
  qsort(all->ends, all->behind - all->first, sizeof *all->ends, nai_by_i64);
  all->next = all->first;
  return NAI_OK;
}

/* As many of the thread's as end no earlier. */
static uint32_t ends_from(const struct around *all, int64_t end) {
  const uint32_t count = all->behind - all->first;
  return count - (uint32_t)nai_bisect(all->ends, count, sizeof *all->ends, 0, end);
}

static void take_shorter(struct shortest *best, struct shortest other) {
  if (NAI_COMPARE({other.ns, best->ns}, {other.turn, best->turn}) < 0)
    *best = other;
}

static uint32_t closest_of_many(struct around *all, uint32_t turn) {
  struct shortest best = {INT64_MAX, UINT32_MAX};
  for (; all->next < turn; all->next++) {
    const struct nai_stats_range *range = turn_of(all, all->next);
    for (uint32_t i = ends_from(all, range->end); i <= all->behind - all->first; i += i & -i)
      take_shorter(&all->tree[i], (struct shortest){range->end - range->start, all->next});
  }
  for (uint32_t i = ends_from(all, turn_of(all, turn)->end); i; i -= i & -i)
    take_shorter(&best, all->tree[i]);
  return best.turn == UINT32_MAX ? best.turn : all->ranges->ordered[best.turn];
}

static uint32_t closest(const struct sweep *sweep, const struct nai_stats_range *range) {
  uint32_t best = UINT32_MAX;
  int64_t length = INT64_MAX;
  for (uint32_t i = 0; i < sweep->depth; i++) {
    const struct nai_stats_range *around = &sweep->ranges->at[sweep->open[i]];
    if (around->end < range->end || around->end - around->start >= length)
      continue;
    length = around->end - around->start;
    best = sweep->open[i];
  }
  return best;
}

int nai_stats_find_parents(struct nai_stats_place **out, struct nai_stats_ranges *ranges, struct nai_arena *arena,
                           struct nai_err *err) {
  struct sweep sweep = {.ranges = ranges};
  struct around many = {.ranges = ranges};
  struct nai_stats_place *places = NULL;
  uint32_t first = 0; /* of those with the same times */
  NAI_TRY(order_ranges(ranges, arena, err));
  const uint32_t *ordered = ranges->ordered;
  const uint32_t count = ranges->ordered_count;
  NAI_TRY(NAI_NEW(places, arena, ranges->count, err));
  NAI_TRY(NAI_NEW(sweep.open, arena, count, err));
  for (uint32_t i = 0; i < ranges->count; i++)
    places[i] = (struct nai_stats_place){UINT32_MAX, 0, UINT32_MAX};
  for (uint32_t k = 0; k < count; k++) {
    uint32_t at = ordered[k];
    const struct nai_stats_range *range = &ranges->at[at];
    if (k >= many.behind)
      close_ranges(&sweep, range->thread, range->start);
    if (sweep.depth > FEW_OPEN) {
      NAI_TRY(begin_many(&many, k, arena, err));
      sweep.depth = 0;
    }
    places[at].parent = k < many.behind ? closest_of_many(&many, k) : closest(&sweep, range);
    if (places[at].parent != UINT32_MAX)
      places[at].level = places[places[at].parent].level + 1;
    if (k >= many.behind)
      sweep.open[sweep.depth++] = at;
    if (k == 0 || !same_times(range, &ranges->at[ordered[first]])) {
      first = k;
      continue;
    }
    places[at].twin = ordered[first];
    if (k == first + 1)
      places[ordered[first]].twin = at;
  }
  *out = places;
  return NAI_OK;
}
