/* Statistics by group, exact. */
#include "features/stats/stats.h"

#include "base/sort.h"
#include "base/threads.h"

/* --- keys ------------------------------------------------------------------------------------------------------ */

/* No product waits for the one before. */
static inline uint32_t mix(const int64_t *key, int width) {
  enum { BITS = 64, TURN = 11 };
  const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t mixed = 0;
  for (int k = 0; k < width; k++) {
    const uint64_t product = ((uint64_t)key[k] + 1) * factor;
    const int turn = k * TURN % BITS;
    mixed += product << turn | product >> (-turn & (BITS - 1));
  }
  mixed = (mixed ^ mixed >> 32) * factor;
  return (uint32_t)(mixed >> 32);
}

static inline uint32_t *find_slot_of(const struct nai_stats_keys *keys, const int64_t *key, int width) {
  for (uint32_t at = mix(key, width);; at++) {
    uint32_t *slot = &keys->slots[at & (keys->slot_count - 1)];
    if (!*slot)
      return slot;
    const int64_t *other = nai_stats_key_of(keys, *slot - 1);
    int64_t differing = 0;
    for (int k = 0; k < width; k++)
      differing |= other[k] ^ key[k];
    if (!differing)
      return slot;
  }
}

/* Millions are looked for: in loops the compiler has the width of. */
static uint32_t *find_slot(const struct nai_stats_keys *keys, const int64_t *key) {
  switch (keys->width) {
  case 1:
    return find_slot_of(keys, key, 1);
  case 2:
    return find_slot_of(keys, key, 2);
  case 3:
    return find_slot_of(keys, key, 3);
  case 4:
    return find_slot_of(keys, key, 4);
  case 5:
    return find_slot_of(keys, key, 5);
  default:
    return find_slot_of(keys, key, keys->width);
  }
}

/* At most half of the slots are used. */
static int grow_slots(struct nai_stats_keys *keys, struct nai_err *err) {
  enum { LEAST = 256 };
  keys->slot_count = keys->slot_count ? 4 * keys->slot_count : LEAST;
  if (!keys->slot_count || NAI_NEW(keys->slots, keys->arena, keys->slot_count, err))
    return NAI_ELIMIT;
  for (uint32_t i = 0; i < keys->count; i++)
    *find_slot(keys, nai_stats_key_of(keys, i)) = i + 1;
  return NAI_OK;
}

uint32_t nai_stats_key_add(struct nai_stats_keys *keys, const int64_t *key) {
  struct nai_err ignored; /* there is no memory */
  const size_t bytes = (size_t)(keys->width + keys->more) * sizeof *key;
  if (nai_arena_room(&keys->at, &keys->capacity, keys->count, bytes, keys->arena, &ignored))
    return NAI_NO_STRING;
  memcpy((char *)keys->at + keys->count * bytes, key, (size_t)keys->width * sizeof *key);
  return keys->count++;
}

static uint32_t find_small(struct nai_stats_keys *keys, const int64_t *key) {
  struct nai_err ignored;
  if (NAI_ROOM(keys->small, keys->small_capacity, (uint32_t)*key, keys->arena, &ignored))
    return NAI_NO_STRING;
  if (!keys->small[*key])
    keys->small[*key] = nai_stats_key_add(keys, key) + 1; /* 0 again: there is no memory */
  return keys->small[*key] - 1;
}

uint32_t nai_stats_key_find(struct nai_stats_keys *keys, const int64_t *key) {
  enum { SMALL = 1 << 20 };
  struct nai_err ignored;
  if (keys->width == 1 && (uint64_t)*key < SMALL)
    return find_small(keys, key);
  if (keys->count >= keys->slot_count / 2 && grow_slots(keys, &ignored))
    return NAI_NO_STRING;
  uint32_t *slot = find_slot(keys, key);
  if (!*slot)
    *slot = nai_stats_key_add(keys, key) + 1; /* 0 again: there is no memory */
  return *slot - 1;
}

/* --- groups ----------------------------------------------------------------------------------------------------- */

int nai_stats_groups_expect(struct nai_stats_groups *groups, uint64_t more, struct nai_err *err) {
  const uint32_t old = groups->capacity;
  const uint64_t wanted = groups->rows + 2 * more; /* as many may follow; what is not used takes no memory */
  if (groups->rows + more >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "the report has more events than it can hold");
  if (groups->rows + more <= old)
    return NAI_OK;
  groups->capacity = wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX;
  NAI_TRY(nai_arena_resize(&groups->group, groups->of.arena, old * sizeof *groups->group,
                           groups->capacity * sizeof *groups->group, err));
  return nai_arena_resize(&groups->value, groups->of.arena, old * sizeof *groups->value,
                          groups->capacity * sizeof *groups->value, err);
}

int nai_stats_groups_begin(struct nai_stats_groups *groups, struct nai_stats_source *source, int keys, uint64_t rows,
                           struct nai_err *err) {
  *groups = (struct nai_stats_groups){.of = {.arena = &source->arena, .width = keys, .more = NAI_STATS_MORE_KEYS}};
  return nai_stats_groups_expect(groups, rows, err);
}

int nai_stats_groups_put(struct nai_stats_groups *groups, uint32_t group, int64_t value, uint32_t count,
                         struct nai_err *err) {
  if (count > 1 || groups->more)
    NAI_TRY(NAI_ROOM(groups->more, groups->more_capacity, groups->rows, groups->of.arena, err));
  if (groups->more)
    groups->more[groups->rows] = count - 1;
  if (groups->rows == groups->capacity)
    NAI_TRY(nai_stats_groups_expect(groups, (uint64_t)groups->rows + 1024, err));
  groups->group[groups->rows] = group;
  groups->value[groups->rows++] = value;
  return NAI_OK;
}

int nai_stats_groups_add_some(struct nai_stats_groups *groups, const int64_t *key, int64_t value, uint32_t count,
                              struct nai_err *err) {
  const uint32_t group = nai_stats_key_find(&groups->of, key);
  NAI_TRY(nai_memory_check(group != NAI_NO_STRING, err));
  return nai_stats_groups_put(groups, group, value, count, err);
}

int nai_stats_groups_add(struct nai_stats_groups *groups, const int64_t *key, int64_t value, struct nai_err *err) {
  return nai_stats_groups_add_some(groups, key, value, 1, err);
}

int nai_stats_groups_join(struct nai_stats_groups *groups, uint32_t *numbers, const struct nai_stats_groups *other,
                          struct nai_err *err) {
  const uint32_t first = groups->rows;
  for (uint32_t g = 0; g < other->of.count; g++) {
    numbers[g] = nai_stats_key_find(&groups->of, nai_stats_key_of(&other->of, g));
    NAI_TRY(nai_memory_check(numbers[g] != NAI_NO_STRING, err));
  }
  NAI_TRY(nai_stats_groups_expect(groups, other->rows, err));
  if (other->rows && (groups->more || other->more))
    NAI_TRY(NAI_ROOM(groups->more, groups->more_capacity, first + other->rows - 1, groups->of.arena, err));
  for (uint32_t i = 0; i < other->rows; i++)
    groups->group[first + i] = numbers[other->group[i]];
  memcpy(groups->value + first, other->value, other->rows * sizeof *other->value);
  if (other->more)
    memcpy(groups->more + first, other->more, other->rows * sizeof *other->more);
  groups->rows += other->rows;
  return NAI_OK;
}

/* Orders of groups whose totals are equal. */
struct naming {
  const struct nai_stats_source *source;
  int key; /* that is a text */
};

static int compare_keys(const struct nai_stats_group *a, const struct nai_stats_group *b) {
  for (uint32_t k = 0; k < a->keys; k++)
    if (a->key[k] != b->key[k])
      return a->key[k] < b->key[k] ? -1 : 1;
  return 0;
}

static const char *name_of(const struct naming *naming, const struct nai_stats_group *group) {
  const char *name = naming->key < 0 ? NULL : nai_stats_text_of(naming->source, group->key[naming->key]);
  return name ? name : "";
}

static int by_key(const void *left, const void *right, void *naming) {
  (void)naming;
  return compare_keys(left, right);
}

static int by_name(const void *left, const void *right, void *naming) {
  const int order = strcmp(name_of(naming, left), name_of(naming, right));
  return order ? order : compare_keys(left, right);
}

static int by_count(const void *left, const void *right, void *naming) {
  const struct nai_stats_group *a = left, *b = right;
  if (a->stats->count != b->stats->count)
    return a->stats->count < b->stats->count ? -1 : 1;
  return by_name(a, b, naming);
}

/* The deviation of the sample, by the formula and in the order of NVIDIA's, whose last digits some formats print. */
struct spread {
  double mean, squares;
  uint32_t count;
};
static inline void add_to_spread(struct spread *s, double value, uint32_t times) {
  const double distance = value - s->mean;
  s->count += times;
  s->mean += distance * times / s->count;
  s->squares += times * distance * (value - s->mean);
}

static double deviation_in(const struct spread *s) { return s->count > 1 ? sqrt(s->squares / (s->count - 1)) : 0; }

static double deviation_of(const int64_t *values, uint32_t count) {
  struct spread spread = {0};
  for (uint32_t i = 0; i < count; i++)
    add_to_spread(&spread, (double)values[i], 1);
  return deviation_in(&spread);
}

int nai_stats_describe(struct nai_stats *stats, uint32_t groups, const struct nai_values *values, struct nai_err *err) {
  struct nai_values shown = *values;
  shown.parts = NAI_P25 | NAI_P50 | NAI_P75;
  shown.deviation = deviation_of;
  return nai_group_stats(stats, groups, &shown, err);
}

/* What has equal totals stands side by side: each part puts in order what begins in it. */
struct tied {
  const struct nai_key *keys; /* by total */
  uint32_t count;
  struct nai_stats_group *sorted;
  struct naming naming;
  enum nai_stats_ties ties;
  int parts;
};

static uint32_t end_of_ties(const struct tied *tied, uint32_t first) {
  uint32_t end = first + 1;
  while (end < tied->count && tied->keys[end].key == tied->keys[first].key)
    end++;
  return end;
}

static int sort_part(void *ctx, int part, struct nai_err *err) {
  static int (*const orders[])(const void *, const void *, void *) = {
      [NAI_STATS_BY_KEY] = by_key, [NAI_STATS_BY_NAME] = by_name, [NAI_STATS_BY_COUNT] = by_count};
  struct tied *tied = ctx;
  const uint64_t count = tied->count;
  uint32_t first = (uint32_t)(count * (uint32_t)part / (uint32_t)tied->parts);
  const uint32_t behind = (uint32_t)(count * ((uint32_t)part + 1) / (uint32_t)tied->parts);
  (void)err;
  if (first && tied->keys[first].key == tied->keys[first - 1].key)
    first = end_of_ties(tied, first);
  for (uint32_t end; first < behind; first = end) {
    end = end_of_ties(tied, first);
    if (end > first + 1)
      qsort_r(tied->sorted + first, end - first, sizeof *tied->sorted, orders[tied->ties], &tied->naming);
  }
  return NAI_OK;
}

/* Groups by total, descending; those of equal totals as `ties` says. */
static int sort_groups(struct nai_stats_groups *groups, const struct nai_stats *stats, enum nai_stats_ties ties,
                       struct nai_stats_source *source, int name_key, struct nai_err *err) {
  enum { PART = 1 << 14 };
  struct nai_key *keys = NULL;
  __extension__ __int128 sum = 0; /* the same in whatever order groups came */
  NAI_TRY(NAI_NEW_UNSET(keys, &source->arena, groups->count, err));
  for (uint32_t g = 0; g < groups->count; g++) {
    sum += stats[g].total;
    keys[g] = (struct nai_key){~nai_key_from_i64(stats[g].total), g};
  }
  const double total = (double)sum;
  if (ties != NAI_STATS_UNORDERED)
    NAI_TRY(nai_sort_keys(keys, groups->count, err));
  for (uint32_t i = 0; i < groups->count; i++) {
    const uint32_t id = keys[i].value;
    groups->sorted[i] =
        (struct nai_stats_group){.stats = &stats[id],
                                 .percent = total > 0 ? (double)stats[id].total * 100 / total : NAN,
                                 .key = groups->of.at + (size_t)id * (size_t)(groups->of.width + groups->of.more),
                                 .keys = (uint32_t)(groups->of.width + groups->of.more),
                                 .id = id};
  }
  struct tied tied = {.keys = keys,
                      .count = groups->count,
                      .sorted = groups->sorted,
                      .naming = {source, name_key},
                      .ties = ties,
                      .parts = (int)(groups->count / PART) + 1};
  return ties == NAI_STATS_UNORDERED ? NAI_OK : nai_parallel(nai_cpu_count(), tied.parts, sort_part, &tied, err);
}

/* --- rows that are several equal ones -------------------------------------------------------------------------- */

/* Of the values of a group, ascending. */
static double quantile_of(const struct nai_stats_groups *groups, const struct nai_key *rows, int64_t count, double q) {
  const struct nai_rank rank = nai_rank_of(q, (size_t)count);
  uint64_t behind = groups->more[rows->value] + UINT64_C(1);
  while (behind <= rank.below)
    behind += groups->more[(++rows)->value] + UINT64_C(1);
  int64_t low = groups->value[rows->value], high = low;
  if (rank.fraction > 0 && behind == rank.below + 1)
    high = groups->value[rows[1].value];
  return nai_interpolate(low, high, rank.fraction);
}

static void add_row(struct nai_stats *stats, int64_t value, int64_t weight) {
  int64_t total;
  nai_stats_add(&stats->total, __builtin_mul_overflow(value, weight, &total) ? INT64_MAX : total);
  stats->min = stats->count && stats->min < value ? stats->min : value;
  stats->max = stats->count && stats->max > value ? stats->max : value;
  stats->count += weight;
}

enum { MAX_SINGLE = 16 };
/* Of groups some of whose rows are more than one. */
static int find_deviations(struct nai_stats *stats, const struct nai_stats_groups *groups, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct spread *spreads;
  NAI_TRY(NAI_NEW(spreads, &arena, groups->count, err));
  for (uint32_t i = 0; i < groups->rows; i++)
    for (uint32_t left = groups->more[i] + 1, some; left; left -= some) {
      some = left > MAX_SINGLE ? left : 1; /* many equal ones at once, few in the order of NVIDIA's */
      add_to_spread(&spreads[groups->group[i]], (double)groups->value[i], some);
    }
  for (uint32_t g = 0; g < groups->count; g++)
    stats[g].stddev = deviation_in(&spreads[g]);
  return NAI_OK;
}

/* Statistics of groups some of whose rows are more than one. */
static int weigh(struct nai_stats *stats, const struct nai_stats_groups *groups, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_key *keys;
  NAI_TRY(NAI_NEW(keys, &arena, groups->rows, err));
  for (uint32_t i = 0; i < groups->rows; i++)
    keys[i] = (struct nai_key){nai_key_from_i64(groups->value[i]), i};
  NAI_TRY(nai_sort_keys(keys, groups->rows, err));
  for (uint32_t i = 0; i < groups->rows; i++) {
    const uint32_t row = keys[i].value;
    keys[i].key = groups->group[row];
    add_row(&stats[groups->group[row]], groups->value[row], groups->more[row] + INT64_C(1));
  }
  NAI_TRY(nai_sort_keys(keys, groups->rows, err));
  for (uint32_t i = 0; i < groups->rows; i++) {
    struct nai_stats *own = &stats[keys[i].key];
    if (i && keys[i - 1].key == keys[i].key)
      continue;
    own->mean = (double)own->total / (double)own->count;
    own->p50 = quantile_of(groups, keys + i, own->count, 0.5);
    own->p25 = quantile_of(groups, keys + i, own->count, 0.25);
    own->p75 = quantile_of(groups, keys + i, own->count, 0.75);
  }
  return NAI_OK;
}

/* The deviations are found beside all else. */
struct weighing {
  const struct nai_stats_groups *groups;
  struct nai_stats *stats;
};

static int weigh_beside(void *ctx, int task, struct nai_err *err) {
  const struct weighing *w = ctx;
  return task ? find_deviations(w->stats, w->groups, err) : weigh(w->stats, w->groups, err);
}

int nai_stats_groups_finish(struct nai_stats_groups *groups, struct nai_stats_source *source, int name_key,
                            enum nai_stats_ties ties, struct nai_err *err) {
  struct nai_arena *arena = &source->arena;
  const int threads = nai_cpu_count();
  struct weighing w = {.groups = groups};
  groups->count = groups->of.count;
  NAI_TRY(NAI_NEW(w.stats, arena, groups->count, err));
  NAI_TRY(NAI_NEW(groups->sorted, arena, groups->count, err));
  const struct nai_values values = {
      .rows = groups->rows, .groups = groups->group, .values = groups->value, .threads = threads};
  NAI_TRY(groups->more ? nai_parallel(threads, 2, weigh_beside, &w, err)
                       : nai_stats_describe(w.stats, groups->count, &values, err));
  return sort_groups(groups, w.stats, ties, source, name_key, err);
}

int nai_stats_check_ties(struct nai_stats_rows *rows, const struct nai_stats_groups *groups, struct nai_err *err) {
  for (uint32_t g = 1; g < groups->count && rows->source->run; g++) {
    if (groups->sorted[g].stats->total != groups->sorted[g - 1].stats->total)
      continue;
    if (!rows->source->alone)
      return nai_err_set(err, NAI_ESTALE, "the run does not keep in which order names of equal totals stand");
    rows->note = "rows of equal totals may stand in another order than with the export";
  }
  return NAI_OK;
}
