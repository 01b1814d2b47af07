/* Ranges by thread and time, and what is around them. */
#include "features/stats/ranges.h"

#include "base/sort.h"

int nai_stats_each_thread(const struct nai_stats_ranges *ranges, nai_task_fn *fn, void *ctx, struct nai_err *err) {
  return nai_parallel(nai_cpu_count(), (int)ranges->threads.count, fn, ctx, err);
}

/* --- order --------------------------------------------------------------------------------------------- */

/* Ranges, or items, of threads: each thread's by start, ranges the longest first, then as in the file. */
struct ordering {
  const struct nai_stats_ranges *ranges;
  const struct nai_stats_item *items; /* NULL: ranges */
  const uint32_t *of_thread;
  uint32_t *at;
};

static int64_t start_of(const struct ordering *o, uint32_t i) {
  return o->items ? o->items[i].start : o->ranges->at[i].start;
}

static uint64_t longest_first(const void *ctx, uint32_t i) {
  const struct ordering *o = ctx;
  return o->items ? 0 : ~nai_key_from_i64(o->ranges->at[i].end);
}

/* Mostly they are. */
static bool is_ordered(const struct ordering *o, const uint32_t *at, uint32_t count) {
  for (uint32_t k = 1; k < count; k++) {
    const int64_t before = start_of(o, at[k - 1]), start = start_of(o, at[k]);
    if (before > start || (before == start && !o->items && o->ranges->at[at[k - 1]].end < o->ranges->at[at[k]].end))
      return false;
  }
  return true;
}

static int order_thread(void *ctx, int thread, struct nai_err *err) {
  const struct ordering *o = ctx;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  uint32_t *at = o->at + o->of_thread[thread], count = o->of_thread[thread + 1] - o->of_thread[thread];
  struct nai_key *keys;
  if (is_ordered(o, at, count))
    return NAI_OK;
  NAI_TRY(NAI_NEW_UNSET(keys, &arena, count, err));
  for (uint32_t k = 0; k < count; k++)
    keys[k] = (struct nai_key){nai_key_from_i64(start_of(o, at[k])), at[k]};
  NAI_TRY(nai_sort_keys_by(keys, count, longest_first, o, err));
  for (uint32_t k = 0; k < count; k++)
    at[k] = keys[k].value;
  return NAI_OK;
}

static int order_threads(const struct nai_stats_ranges *ranges, const struct nai_stats_item *items,
                         const uint32_t *of_thread, uint32_t *at, struct nai_err *err) {
  return nai_stats_each_thread(ranges, order_thread, &(struct ordering){ranges, items, of_thread, at}, err);
}

#define NO_THREAD UINT32_MAX

/* How many there are of each thread, from of_thread[1] on, becomes where each thread begins; *next: the same, to fill.
 */
static int place_threads(uint32_t **next, uint32_t *of_thread, uint32_t threads, struct nai_arena *arena,
                         struct nai_err *err) {
  for (uint32_t t = 0; t < threads; t++)
    of_thread[t + 1] += of_thread[t];
  NAI_TRY(NAI_NEW(*next, arena, threads, err));
  memcpy(*next, of_thread, threads * sizeof **next);
  return NAI_OK;
}

/* Those that can hold something, by thread; number: of each range its thread's, NO_THREAD for none. */
static int count_ranges(struct nai_stats_ranges *ranges, uint32_t *number, struct nai_arena *arena,
                        struct nai_err *err) {
  uint32_t capacity = 0;
  bool added;
  ranges->threads = (struct nai_keyset){.arena = arena};
  NAI_TRY(NAI_ROOM(ranges->of_thread, capacity, 0, arena, err));
  for (uint32_t i = 0; i < ranges->count; i++) {
    number[i] = NO_THREAD;
    if (ranges->at[i].crosses)
      continue;
    number[i] = nai_keyset_add(&ranges->threads, ranges->at[i].thread, &added);
    NAI_TRY(NAI_ROOM(ranges->of_thread, capacity, number[i] + 1, arena, err));
    ranges->of_thread[number[i] + 1]++;
  }
  return nai_memory_check(!ranges->threads.oom, err);
}

int nai_stats_order_ranges(struct nai_stats_ranges *ranges, struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_arena) own = NAI_ARENA(NULL);
  uint32_t *next, *number;
  if (ranges->ordered)
    return NAI_OK;
  NAI_TRY(NAI_NEW_UNSET(number, &own, ranges->count, err));
  NAI_TRY(count_ranges(ranges, number, arena, err));
  NAI_TRY(place_threads(&next, ranges->of_thread, ranges->threads.count, arena, err));
  ranges->ordered_count = ranges->of_thread[ranges->threads.count];
  NAI_TRY(NAI_NEW_UNSET(ranges->ordered, arena, ranges->ordered_count, err));
  for (uint32_t i = 0; i < ranges->count; i++)
    if (number[i] != NO_THREAD)
      ranges->ordered[next[number[i]]++] = i;
  return order_threads(ranges, NULL, ranges->of_thread, ranges->ordered, err);
}

int nai_stats_order_items(struct nai_stats_turns *out, struct nai_stats_ranges *ranges,
                          const struct nai_stats_item *items, uint32_t count, struct nai_arena *arena,
                          struct nai_err *err) {
  NAI_SCOPED(nai_arena) own = NAI_ARENA(NULL);
  uint32_t *next, *number;
  *out = (struct nai_stats_turns){.items = items};
  NAI_TRY(NAI_NEW_UNSET(number, &own, count, err));
  NAI_TRY(nai_stats_order_ranges(ranges, arena, err));
  NAI_TRY(NAI_NEW(out->of_thread, arena, (size_t)ranges->threads.count + 1, err));
  for (uint32_t i = 0; i < count; i++)
    if ((number[i] = nai_keyset_find(&ranges->threads, items[i].thread)) != NO_THREAD)
      out->of_thread[number[i] + 1]++;
  NAI_TRY(place_threads(&next, out->of_thread, ranges->threads.count, arena, err));
  NAI_TRY(NAI_NEW_UNSET(out->at, arena, out->of_thread[ranges->threads.count], err));
  for (uint32_t i = 0; i < count; i++)
    if (number[i] != NO_THREAD)
      out->at[next[number[i]]++] = i;
  return order_threads(ranges, items, out->of_thread, out->at, err);
}

/* --- where items begin --------------------------------------------------------------------------------- */

int nai_stats_read_begins(struct nai_stats_begins *out, const struct nai_stats_item *items, uint32_t count,
                          struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_arena) own = NAI_ARENA(NULL);
  uint32_t *next, *number, capacity = 0;
  bool added;
  *out = (struct nai_stats_begins){.threads = {.arena = arena}};
  NAI_TRY(NAI_NEW_UNSET(number, &own, count, err));
  NAI_TRY(NAI_NEW_UNSET(out->at, arena, count, err));
  NAI_TRY(NAI_ROOM(out->of_thread, capacity, 0, arena, err));
  for (uint32_t i = 0; i < count; i++) {
    number[i] = nai_keyset_add(&out->threads, items[i].thread, &added);
    NAI_TRY(nai_memory_check(!out->threads.oom, err));
    NAI_TRY(NAI_ROOM(out->of_thread, capacity, number[i] + 1, arena, err));
    out->of_thread[number[i] + 1]++;
  }
  NAI_TRY(place_threads(&next, out->of_thread, out->threads.count, &own, err));
  for (uint32_t i = 0; i < count; i++)
    out->at[next[number[i]]++].key = nai_key_from_i64(items[i].start);
  for (uint32_t t = 0; t < out->threads.count; t++)
    NAI_TRY(nai_sort_keys(out->at + out->of_thread[t], out->of_thread[t + 1] - out->of_thread[t], err));
  return NAI_OK;
}

/* The first of a thread's items that begins at `start` or behind it: mostly near the one that was found last. */
static uint32_t find_begin(const struct nai_stats_begins *b, uint32_t thread, uint32_t last, int64_t start) {
  enum { NEAR = 8 };
  const uint32_t first = b->of_thread[thread], end = b->of_thread[thread + 1];
  const uint32_t near = last - first > NEAR ? last - NEAR : first;
  const struct nai_keys keys = {b->at, nai_key_from_i64(start)};
  while (last > near && b->at[last - 1].key >= keys.least)
    last--;
  return (uint32_t)(last > first && b->at[last - 1].key >= keys.least
                        ? nai_search(first, last, nai_key_before, &keys)
                        : nai_search_near(last, end, nai_key_before, &keys));
}

bool nai_stats_begins_in(const struct nai_stats_begins *begins, uint32_t *near, int64_t thread, int64_t start,
                         int64_t end) {
  const uint32_t number = nai_keyset_find(&begins->threads, thread);
  if (number == UINT32_MAX)
    return false;
  const uint32_t at = near[number] = find_begin(begins, number, near[number], start);
  return at < begins->of_thread[number + 1] && begins->at[at].key <= nai_key_from_i64(end);
}

/* --- parents ------------------------------------------------------------------------------------------- */

/* The shortest range of a thread around another; of two the one that began first: of few that are open by a look at
 * each, of many by a Fenwick tree of the thread's ranges, those that end last in front. */
enum { FEW_OPEN = 64 };
struct around {
  const struct nai_stats_range *ranges;
  const uint32_t *turns; /* the thread's, in their order */
  uint32_t count;
  uint32_t open[FEW_OPEN + 1], depth; /* begun, not known to be over */
  uint32_t next;                      /* turns before it are in the tree */
  int64_t *ends;                      /* ascending */
  struct shortest {
    int64_t ns;
    uint32_t turn;
  } * tree; /* NULL: few */
};

static const struct nai_stats_range *turn_of(const struct around *all, uint32_t turn) {
  return &all->ranges[all->turns[turn]];
}

static void close_ranges(struct around *all, int64_t time) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < all->depth; i++)
    if (all->ranges[all->open[i]].end >= time)
      all->open[kept++] = all->open[i];
  all->depth = kept;
}

static uint32_t closest_of_few(const struct around *all, const struct nai_stats_range *range) {
  uint32_t best = UINT32_MAX;
  int64_t length = INT64_MAX;
  for (uint32_t i = 0; i < all->depth; i++) {
    const struct nai_stats_range *around = &all->ranges[all->open[i]];
    if (around->end < range->end || around->end - around->start >= length)
      continue;
    length = around->end - around->start;
    best = all->open[i];
  }
  return best;
}

static int begin_many(struct around *all, struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW(all->ends, arena, all->count, err));
  NAI_TRY(NAI_NEW(all->tree, arena, (size_t)all->count + 1, err));
  for (uint32_t i = 0; i < all->count; i++) {
    all->ends[i] = turn_of(all, i)->end;
    all->tree[i + 1] = (struct shortest){INT64_MAX, UINT32_MAX};
  }
  qsort(all->ends, all->count, sizeof *all->ends, nai_by_i64);
  return NAI_OK;
}

/* As many of the thread's as end no earlier. */
static uint32_t ends_from(const struct around *all, int64_t end) {
  return all->count - (uint32_t)nai_bisect(all->ends, all->count, sizeof *all->ends, 0, end);
}

static void take_shorter(struct shortest *best, struct shortest other) {
  if (NAI_COMPARE({other.ns, best->ns}, {other.turn, best->turn}) < 0)
    *best = other;
}

static uint32_t closest_of_many(struct around *all, uint32_t turn) {
  struct shortest best = {INT64_MAX, UINT32_MAX};
  for (; all->next < turn; all->next++) {
    const struct nai_stats_range *range = turn_of(all, all->next);
    for (uint32_t i = ends_from(all, range->end); i <= all->count; i += i & -i)
      take_shorter(&all->tree[i], (struct shortest){range->end - range->start, all->next});
  }
  for (uint32_t i = ends_from(all, turn_of(all, turn)->end); i; i -= i & -i)
    take_shorter(&best, all->tree[i]);
  return best.turn == UINT32_MAX ? best.turn : all->turns[best.turn];
}

static int find_closest(uint32_t *out, struct around *all, uint32_t turn, struct nai_arena *arena,
                        struct nai_err *err) {
  if (!all->tree)
    close_ranges(all, turn_of(all, turn)->start);
  if (!all->tree && all->depth > FEW_OPEN)
    NAI_TRY(begin_many(all, arena, err));
  *out = all->tree ? closest_of_many(all, turn) : closest_of_few(all, turn_of(all, turn));
  if (!all->tree)
    all->open[all->depth++] = all->turns[turn];
  return NAI_OK;
}

struct placing {
  const struct nai_stats_ranges *ranges;
  struct nai_stats_place *places;
};

static int place_thread(void *ctx, int thread, struct nai_err *err) {
  const struct placing *p = ctx;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const uint32_t first = p->ranges->of_thread[thread];
  struct around all = {
      .ranges = p->ranges->at, .turns = p->ranges->ordered + first, .count = p->ranges->of_thread[thread + 1] - first};
  uint32_t twin = 0; /* the first of those with the same times */
  for (uint32_t k = 0; k < all.count; k++) {
    const struct nai_stats_range *range = turn_of(&all, k), *other = turn_of(&all, twin);
    struct nai_stats_place *place = &p->places[all.turns[k]];
    *place = NAI_STATS_NO_PLACE;
    NAI_TRY(find_closest(&place->parent, &all, k, &arena, err));
    if (place->parent != UINT32_MAX)
      place->level = p->places[place->parent].level + 1;
    if (k == 0 || range->start != other->start || range->end != other->end) {
      twin = k;
      continue;
    }
    place->twin = all.turns[twin];
    if (k == twin + 1)
      p->places[all.turns[twin]].twin = all.turns[k];
  }
  return NAI_OK;
}

int nai_stats_find_parents(struct nai_stats_place **out, struct nai_stats_ranges *ranges, struct nai_arena *arena,
                           struct nai_err *err) {
  NAI_TRY(nai_stats_order_ranges(ranges, arena, err));
  NAI_TRY(NAI_NEW_UNSET(*out, arena, ranges->count, err));
  for (uint32_t i = 0; i < ranges->count && ranges->ordered_count < ranges->count; i++)
    (*out)[i] = NAI_STATS_NO_PLACE;
  return nai_stats_each_thread(ranges, place_thread, &(struct placing){ranges, *out}, err);
}
