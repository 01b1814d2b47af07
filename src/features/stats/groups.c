/* Statistics by group, exact. */
#include "features/stats/stats.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int nai_stats_groups_begin(struct nai_stats_groups *groups, struct nai_stats_source *source, int keys, uint64_t rows,
                           struct nai_err *err) {
  *groups = (struct nai_stats_groups){.keys = keys, .known = {.arena = &source->arena}};
  if (rows >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "the report has more events than it can hold");
  NAI_TRY(NAI_NEW(groups->group, &source->arena, rows, err));
  return NAI_NEW(groups->value, &source->arena, rows, err);
}

int nai_stats_groups_add(struct nai_stats_groups *groups, const int64_t *key, int64_t value, struct nai_err *err) {
  uint32_t group = nai_strings_add(&groups->known, (const char *)key, (size_t)groups->keys * sizeof *key);
  NAI_TRY(nai_memory_check(group != NAI_NO_STRING, err));
  groups->group[groups->rows] = group;
  groups->value[groups->rows++] = value;
  return NAI_OK;
}

static void tell_values(const void *ctx, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct nai_stats_groups *groups = ctx;
  memcpy(group, groups->group + first, count * sizeof *group);
  memcpy(value, groups->value + first, count * sizeof *value);
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

/* The deviation of the sample, by the formula and in the order of NVIDIA's, whose last digits some formats print. */
static int set_deviations(struct nai_stats_groups *groups, struct nai_arena *arena, struct nai_err *err) {
  struct {
    double mean, squares;
    uint32_t count;
  } *sums = NULL;
  NAI_TRY(NAI_NEW(sums, arena, groups->count, err));
  for (uint32_t i = 0; i < groups->rows; i++) {
    double value = (double)groups->value[i], distance = value - sums[groups->group[i]].mean;
    sums[groups->group[i]].mean += distance / ++sums[groups->group[i]].count;
    sums[groups->group[i]].squares += distance * (value - sums[groups->group[i]].mean);
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
    memcpy(group->key, nai_strings_get(&groups->known, group->id), (size_t)groups->keys * sizeof *group->key);
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

int nai_stats_groups_finish(struct nai_stats_groups *groups, struct nai_stats_source *source, int name_key,
                            enum nai_stats_ties ties, struct nai_err *err) {
  const struct nai_values values = {.rows = groups->rows, .block = tell_values, .ctx = groups};
  groups->count = groups->known.count;
  NAI_TRY(NAI_NEW(groups->stats, &source->arena, groups->count, err));
  NAI_TRY(NAI_NEW(groups->sorted, &source->arena, groups->count, err));
  NAI_TRY(nai_group_stats(groups->stats, groups->count, &values, err));
  NAI_TRY(set_deviations(groups, &source->arena, err));
  for (uint32_t g = 0; g < groups->count; g++)
    groups->total += (double)groups->stats[g].total;
  return sort_groups(groups, ties, source, name_key, err);
}

int nai_stats_groups_find_quartiles(struct nai_stats_groups *groups, struct nai_arena *arena, struct nai_err *err) {
  uint32_t *end; /* of each group among the values */
  double *values;
  NAI_TRY(NAI_NEW(groups->quartiles, arena, groups->count, err));
  NAI_TRY(NAI_NEW(end, arena, (size_t)groups->count + 1, err));
  NAI_TRY(NAI_NEW(values, arena, groups->rows, err));
  for (uint32_t g = 0; g < groups->count; g++)
    end[g + 1] = end[g] + (uint32_t)groups->stats[g].count;
  for (uint32_t i = 0; i < groups->rows; i++)
    values[end[groups->group[i]]++] = (double)groups->value[i];
  for (uint32_t g = 0; g < groups->count; g++) {
    size_t count = (size_t)groups->stats[g].count;
    double *first = values + end[g] - count;
    qsort(first, count, sizeof *first, nai_by_f64);
    groups->quartiles[g][0] = nai_quantile(first, count, 0.25);
    groups->quartiles[g][1] = nai_quantile(first, count, 0.75);
  }
  return NAI_OK;
}
