/* Statistics by group, exact. */
#include "features/stats/stats.h"

#include "base/sort.h"

enum { RECENT = 1 << 16, MOST_DIRECT = 1 << 18 };

int nai_stats_keys_begin(struct nai_stats_keys *keys, struct nai_arena *arena, struct nai_err *err) {
  *keys = (struct nai_stats_keys){.known = {.arena = arena}};
  return NAI_NEW(keys->recent, arena, RECENT, err);
}

uint32_t nai_stats_key_find(struct nai_stats_keys *keys, const int64_t *key, int count) {
  const size_t bytes = (size_t)count * sizeof *key;
  uint64_t mixed = 0;
  for (int k = 0; k < count; k++) {
    mixed = (mixed ^ (uint64_t)key[k]) * UINT64_C(0x9e3779b97f4a7c15);
    mixed ^= mixed >> 32;
  }
  uint32_t *recent = &keys->recent[mixed % RECENT];
  if (!*recent || memcmp(nai_strings_get(&keys->known, *recent - 1), key, bytes) != 0)
    *recent = nai_strings_add(&keys->known, (const char *)key, bytes) + 1; /* 0 when out of memory */
  return *recent - 1;
}

int nai_stats_groups_expect(struct nai_stats_groups *groups, uint64_t more, struct nai_err *err) {
  const uint32_t capacity = groups->capacity;
  const uint64_t wanted = groups->rows + 2 * more; /* other tables may follow; what is not used takes no memory */
  if (groups->rows + more >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "the report has more events than it can hold");
  if (groups->rows + more <= capacity)
    return NAI_OK;
  struct nai_arena *arena = groups->of.known.arena;
  groups->capacity = wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX;
  NAI_TRY(nai_arena_resize(&groups->group, arena, capacity * sizeof *groups->group,
                           groups->capacity * sizeof *groups->group, err));
  return nai_arena_resize(&groups->value, arena, capacity * sizeof *groups->value,
                          groups->capacity * sizeof *groups->value, err);
}

int nai_stats_groups_begin(struct nai_stats_groups *groups, struct nai_stats_source *source, int keys, uint64_t rows,
                           struct nai_err *err) {
  *groups = (struct nai_stats_groups){.keys = keys};
  NAI_TRY(nai_stats_keys_begin(&groups->of, &source->arena, err));
  return nai_stats_groups_expect(groups, rows, err);
}

int nai_stats_groups_put(struct nai_stats_groups *groups, uint32_t group, int64_t value, struct nai_err *err) {
  NAI_TRY(nai_memory_check(group != NAI_NO_STRING, err));
  if (groups->rows == groups->capacity)
    NAI_TRY(nai_stats_groups_expect(groups, (uint64_t)groups->rows + 1024, err));
  groups->group[groups->rows] = group;
  groups->value[groups->rows++] = value;
  return NAI_OK;
}

/* Single keys are mostly small numbers. */
int nai_stats_groups_add(struct nai_stats_groups *groups, const int64_t *key, int64_t value, struct nai_err *err) {
  const bool direct = groups->keys == 1 && *key >= 0 && *key < MOST_DIRECT;
  if (!direct)
    return nai_stats_groups_put(groups, nai_stats_key_find(&groups->of, key, groups->keys), value, err);
  NAI_TRY(NAI_ROOM(groups->direct, groups->direct_capacity, (uint32_t)*key, groups->of.known.arena, err));
  uint32_t *group = &groups->direct[*key];
  if (!*group)
    *group = nai_stats_key_find(&groups->of, key, 1) + 1;
  return nai_stats_groups_put(groups, *group - 1, value, err);
}

int nai_stats_groups_add_some(struct nai_stats_groups *groups, const int64_t *key, int64_t value, uint32_t count,
                              struct nai_err *err) {
  NAI_TRY(NAI_ROOM(groups->weight, groups->weight_capacity, groups->rows, groups->of.known.arena, err));
  groups->weight[groups->rows] = count;
  return nai_stats_groups_add(groups, key, value, err);
}

/* Orders of groups whose totals are equal. */
static int compare_names(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : ""); }

static int compare_keys(const struct nai_stats_group *a, const struct nai_stats_group *b) {
  for (int k = 0; k < NAI_STATS_MAX_KEYS; k++)
    if (a->key[k] != b->key[k])
      return a->key[k] < b->key[k] ? -1 : 1;
  return 0;
}

static int by_key(const void *left, const void *right) {
  const struct nai_stats_group *a = left, *b = right;
  return compare_keys(a, b);
}

static int by_name(const void *left, const void *right) {
  const struct nai_stats_group *a = left, *b = right;
  int order = compare_names(a->name, b->name);
  return order ? order : compare_keys(a, b);
}

static int by_count(const void *left, const void *right) {
  const struct nai_stats_group *a = left, *b = right;
  if (a->stats.count != b->stats.count)
    return a->stats.count < b->stats.count ? -1 : 1;
  return by_name(a, b);
}

enum { MAX_SINGLE = 16 };
/* The deviation of the sample, by the formula and in the order of NVIDIA's, whose last digits some formats print. */
static int set_deviations(struct nai_stats_groups *groups, struct nai_arena *arena, struct nai_err *err) {
  struct {
    double mean, squares;
    uint32_t count;
  } *sums = NULL, *sum;
  NAI_TRY(NAI_NEW(sums, arena, groups->count, err));
  for (uint32_t i = 0; i < groups->rows; i++) {
    const double value = (double)groups->value[i];
    sum = &sums[groups->group[i]];
    for (uint32_t left = groups->weight ? groups->weight[i] : 1, some; left; left -= some) {
      double distance = value - sum->mean;
      some = left > MAX_SINGLE ? left : 1; /* many equal ones at once, few in the order of NVIDIA's */
      sum->count += some;
      sum->mean += distance * some / sum->count;
      sum->squares += some * distance * (value - sum->mean);
    }
  }
  for (uint32_t g = 0; g < groups->count; g++)
    groups->stats[g].stddev = sums[g].count > 1 ? sqrt(sums[g].squares / (sums[g].count - 1)) : 0;
  return NAI_OK;
}

/* Groups by total, descending; those of equal totals as `ties` says. */
static int sort_groups(struct nai_stats_groups *groups, enum nai_stats_ties ties, struct nai_stats_source *source,
                       int name_key, struct nai_err *err) {
  static int (*const orders[])(const void *, const void *) = {
      [NAI_STATS_BY_KEY] = by_key, [NAI_STATS_BY_NAME] = by_name, [NAI_STATS_BY_COUNT] = by_count};
  struct nai_key *keys = NULL;
  NAI_TRY(NAI_NEW(keys, &source->arena, groups->count, err));
  for (uint32_t g = 0; g < groups->count; g++)
    keys[g] = (struct nai_key){~nai_key_from_i64(groups->stats[g].total), g};
  NAI_TRY(nai_sort_keys(keys, groups->count, err));
  for (uint32_t i = 0; i < groups->count; i++) {
    struct nai_stats_group *group = &groups->sorted[i];
    group->id = keys[i].value;
    group->stats = groups->stats[group->id];
    memcpy(group->key, nai_strings_get(&groups->of.known, group->id), (size_t)groups->keys * sizeof *group->key);
    if (name_key >= 0)
      group->name = nai_stats_text_of(source, group->key[name_key]);
  }
  for (uint32_t first = 0, end; first < groups->count; first = end) {
    for (end = first + 1; end < groups->count && keys[end].key == keys[first].key;)
      end++;
    if (end > first + 1)
      qsort(groups->sorted + first, end - first, sizeof *groups->sorted, orders[ties]);
  }
  return NAI_OK;
}

/* --- rows that are several equal ones -------------------------------------------------------------------------- */

/* Of the values of a group, ascending. */
static double quantile_of(const struct nai_stats_groups *groups, const struct nai_key *rows, int64_t count, double q) {
  const struct nai_rank rank = nai_rank_of(q, (size_t)count);
  uint64_t behind = groups->weight[rows->value];
  while (behind <= rank.below)
    behind += groups->weight[(++rows)->value];
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

/* Statistics of groups whose rows have weights. */
static int weigh(struct nai_stats_groups *groups, struct nai_arena *arena, struct nai_err *err) {
  struct nai_key *keys;
  NAI_TRY(NAI_NEW(keys, arena, groups->rows, err));
  for (uint32_t i = 0; i < groups->rows; i++)
    keys[i] = (struct nai_key){nai_key_from_i64(groups->value[i]), i};
  NAI_TRY(nai_sort_keys(keys, groups->rows, err));
  for (uint32_t i = 0; i < groups->rows; i++) {
    const uint32_t row = keys[i].value;
    keys[i].key = groups->group[row];
    add_row(&groups->stats[groups->group[row]], groups->value[row], groups->weight[row]);
  }
  NAI_TRY(nai_sort_keys(keys, groups->rows, err));
  for (uint32_t i = 0; i < groups->rows; i++) {
    struct nai_stats *stats = &groups->stats[keys[i].key];
    if (i && keys[i - 1].key == keys[i].key)
      continue;
    stats->mean = (double)stats->total / (double)stats->count;
    stats->p50 = quantile_of(groups, keys + i, stats->count, 0.5);
    stats->p25 = quantile_of(groups, keys + i, stats->count, 0.25);
    stats->p75 = quantile_of(groups, keys + i, stats->count, 0.75);
  }
  return NAI_OK;
}

int nai_stats_groups_finish(struct nai_stats_groups *groups, struct nai_stats_source *source, int name_key,
                            enum nai_stats_ties ties, struct nai_err *err) {
  const struct nai_values values = {.rows = groups->rows, .groups = groups->group, .values = groups->value};
  groups->count = groups->of.known.count;
  NAI_TRY(NAI_NEW(groups->stats, &source->arena, groups->count, err));
  NAI_TRY(NAI_NEW(groups->sorted, &source->arena, groups->count, err));
  if (groups->weight)
    NAI_TRY(weigh(groups, &source->arena, err));
  else
    NAI_TRY(nai_group_stats(groups->stats, groups->count, &values, err));
  NAI_TRY(set_deviations(groups, &source->arena, err));
  for (uint32_t g = 0; g < groups->count; g++)
    groups->total += (double)groups->stats[g].total;
  return sort_groups(groups, ties, source, name_key, err);
}

int nai_stats_check_ties(struct nai_stats_rows *rows, const struct nai_stats_groups *groups, struct nai_err *err) {
  for (uint32_t g = 1; g < groups->count && rows->source->run; g++) {
    if (groups->sorted[g].stats.total != groups->sorted[g - 1].stats.total)
      continue;
    if (!rows->source->alone)
      return nai_err_set(err, NAI_ESTALE, "the run does not keep in which order names of equal totals stand");
    rows->note = "rows of equal totals may stand in another order than with the export";
  }
  return NAI_OK;
}
