/* Recipes about sampled metrics of GPUs: gpu_metric_util_sum, over the capture, under kernels or under ranges on the
 * GPU, and nvlink_sum. A sample counts whole for all that runs at its time. */
#include "features/stats/operations.h"

#include "base/sort.h"

#include <strings.h>

enum { KEY_METRIC, KEY_NAME, KEYS, SHOWN_GPU = KEYS, SHOWN_METRIC };
struct metric {
  int64_t type, id, name; /* name: of source->texts */
  double total;           /* of all samples */
  int64_t count;
  bool wanted;
};
struct sample {
  int64_t time, value;
  uint32_t metric;
};
struct metrics {
  struct nai_stats_groups groups;
  struct nai_stats_source *source;
  struct nai_strings known; /* type and id of a metric */
  struct metric *at;
  struct sample *samples;
  struct nai_key *order; /* of samples by GPU, then time */
  uint32_t sample_count;
};

static int64_t gpu_of(int64_t type) { return type & 0xFF; }

static int read_metrics(struct metrics *all, const char *begin, struct nai_err *err) {
  static const char *const columns[] = {"typeId", "metricId", "$metricName", NULL};
  struct nai_stats_events e;
  NAI_TRY(nai_stats_load(&e, all->source, "TARGET_INFO_GPU_METRICS", columns, err));
  NAI_TRY(NAI_NEW(all->at, &all->source->arena, e.count, err));
  all->known.arena = &all->source->arena;
  for (uint32_t i = 0; i < e.count; i++) {
    const int64_t key[2] = {e.at[0][i], e.at[1][i]};
    uint32_t before = all->known.count, slot = nai_strings_add(&all->known, (const char *)key, sizeof key);
    NAI_TRY(nai_memory_check(slot != NAI_NO_STRING, err));
    const char *name = nai_stats_text_of(all->source, e.at[2][i]);
    if (slot == before)
      all->at[slot] = (struct metric){.type = key[0],
                                      .id = key[1],
                                      .name = e.at[2][i],
                                      .wanted = name && strncasecmp(name, begin, strlen(begin)) == 0};
  }
  return NAI_OK;
}

/* Samples of the metrics that are wanted. */
static int read_samples(struct metrics *all, struct nai_err *err) {
  enum { TIME, TYPE, ID, VALUE };
  static const char *const columns[] = {"timestamp", "typeId", "metricId", "value", NULL};
  struct nai_stats_events e;
  NAI_TRY(nai_stats_load(&e, all->source, "GPU_METRICS", columns, err));
  NAI_TRY(NAI_NEW(all->samples, &all->source->arena, e.count, err));
  for (uint32_t i = 0; i < e.count; i++) {
    const int64_t key[2] = {e.at[TYPE][i], e.at[ID][i]}, time = e.at[TIME][i], value = e.at[VALUE][i];
    uint32_t slot = all->known.count ? nai_strings_find(&all->known, (const char *)key, sizeof key) : NAI_NO_STRING;
    if (slot == NAI_NO_STRING || !all->at[slot].wanted || value == NAI_STATS_NULL || !nai_stats_has_times(time, time) ||
        !nai_stats_passes(&all->source->filter, time, time))
      continue;
    all->at[slot].total += (double)value;
    all->at[slot].count++;
    all->samples[all->sample_count++] = (struct sample){time, value, slot};
  }
  return NAI_OK;
}

static uint64_t by_time(const void *ctx, uint32_t sample) {
  const struct metrics *all = ctx;
  return nai_key_from_i64(all->samples[sample].time);
}

static int order_samples(struct metrics *all, struct nai_err *err) {
  NAI_TRY(NAI_NEW(all->order, &all->source->arena, all->sample_count, err));
  for (uint32_t i = 0; i < all->sample_count; i++)
    all->order[i] = (struct nai_key){(uint64_t)gpu_of(all->at[all->samples[i].metric].type), i};
  return nai_sort_keys_by(all->order, all->sample_count, by_time, all, err);
}

/* The first sample in order of this GPU that is not before `time`. */
static uint32_t first_from(const struct metrics *all, int64_t gpu, int64_t time) {
  uint32_t low = 0, high = all->sample_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    int64_t of = (int64_t)all->order[middle].key;
    bool before = of != gpu ? of < gpu : all->samples[all->order[middle].value].time < time;
    if (before)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* --- over the capture ---------------------------------------------------------------------------------------- */

static int by_place(const void *left, const void *right, void *ctx) {
  const struct nai_stats_group *a = left, *b = right;
  const struct metrics *all = ctx;
  const struct metric *one = &all->at[a->key[KEY_METRIC]], *other = &all->at[b->key[KEY_METRIC]];
  const char *range = nai_stats_text_of(all->source, a->key[KEY_NAME]),
             *beside = nai_stats_text_of(all->source, b->key[KEY_NAME]);
  int order = strcmp(range ? range : "", beside ? beside : "");
  if (!order)
    order = NAI_COMPARE({gpu_of(one->type), gpu_of(other->type)});
  const char *name = nai_stats_text_of(all->source, one->name), *same = nai_stats_text_of(all->source, other->name);
  if (!order)
    order = strcmp(name ? name : "", same ? same : "");
  return order ? order : NAI_COMPARE({one->type, other->type}, {one->id, other->id});
}

static int show(struct nai_stats_rows *rows, struct metrics *all, struct nai_err *err) {
  NAI_TRY(nai_stats_show_groups(rows, &all->groups, KEY_NAME, NAI_STATS_UNORDERED, err));
  if (rows->count)
    qsort_r(all->groups.sorted, rows->count, sizeof *all->groups.sorted, by_place, all);
  for (uint32_t g = 0; g < rows->count; g++) {
    int64_t *key = all->groups.sorted[g].key;
    key[SHOWN_GPU] = gpu_of(all->at[key[KEY_METRIC]].type);
    key[SHOWN_METRIC] = all->at[key[KEY_METRIC]].name;
  }
  rows->state = all;
  return NAI_OK;
}

static int sum_samples(struct nai_stats_rows *rows, struct metrics *all, int64_t above, struct nai_err *err) {
  NAI_TRY(nai_stats_groups_begin(&all->groups, all->source, KEYS, all->sample_count, err));
  for (uint32_t i = 0; i < all->sample_count; i++) {
    const int64_t key[KEYS] = {all->samples[i].metric, NAI_NO_STRING};
    if (all->samples[i].value > above)
      NAI_TRY(nai_stats_groups_add(&all->groups, key, all->samples[i].value, err));
  }
  return show(rows, all, err);
}

/* --- under kernels, and under ranges on the GPU -------------------------------------------------------------- */

NAI_ORDER(by_length, struct nai_stats_instance, {b->end - b->start, a->end - a->start}, {a->start, b->start},
          {a->device, b->device}, {a->name, b->name})

NAI_ORDER(by_name, struct nai_stats_instance, {a->device, b->device}, {a->name, b->name}, {a->start, b->start},
          {a->end, b->end})

static int find_kernels(struct nai_stats_instance **out, uint32_t *count, struct nai_stats_source *source,
                        const struct nai_stats_options *options, struct nai_err *err) {
  struct nai_stats_events kernels;
  NAI_TRY(nai_stats_load_operations(&kernels, source, NAI_STATS_KERNELS, 1u << NAI_STATS_OP_DEVICE, options, err));
  NAI_TRY(NAI_NEW(*out, &source->arena, kernels.count, err));
  for (uint32_t i = 0; i < kernels.count; i++)
    if (nai_stats_has_times(kernels.at[NAI_STATS_OP_START][i], kernels.at[NAI_STATS_OP_END][i]))
      (*out)[(*count)++] =
          (struct nai_stats_instance){kernels.at[NAI_STATS_OP_START][i], kernels.at[NAI_STATS_OP_END][i],
                                      kernels.at[NAI_STATS_OP_DEVICE][i], kernels.at[NAI_STATS_OP_NAME][i]};
  return NAI_OK;
}

/* Those whose name matches; with `longest` only the longest ones. */
static int choose(struct nai_stats_instance *at, uint32_t *count, const struct nai_stats_options *options,
                  const struct nai_stats_source *source, struct nai_err *err) {
  NAI_SCOPED(nai_stats_pattern) pattern = {0};
  uint32_t kept = 0;
  NAI_TRY(nai_stats_pattern_read(&pattern, options->name, err));
  for (uint32_t i = 0; i < *count; i++)
    if (nai_stats_pattern_matches(&pattern, nai_stats_text_of(source, at[i].name)))
      at[kept++] = at[i];
  *count = kept;
  if (options->number[0] < 0 || kept == 0)
    return NAI_OK;
  qsort(at, kept, sizeof *at, by_length);
  *count = options->number[0] < kept ? (uint32_t)options->number[0] : kept;
  return NAI_OK;
}

static bool is_inside(const struct metrics *all, uint32_t at, const struct nai_stats_instance *instance) {
  return at < all->sample_count && (int64_t)all->order[at].key == instance->device &&
         all->samples[all->order[at].value].time < instance->end;
}

/* Says how much has no sample. */
static int tell_missed(struct nai_stats_rows *rows, uint32_t count, uint32_t missed, double missed_ns, double all_ns,
                       struct nai_err *err) {
  if (missed)
    rows->note = nai_arena_printf(&rows->source->arena, "%u of %u instances, %.1f %% of their time, have no sample",
                                  missed, count, all_ns > 0 ? 100 * missed_ns / all_ns : 0);
  return nai_arena_check(&rows->source->arena, err);
}

/* Instances of one name on one GPU, by start, which may overlap: each sample once, as many as it is in. */
static int sum_name(struct metrics *all, const struct nai_stats_instance *at, const int64_t *ends, uint32_t count,
                    struct nai_err *err) {
  uint32_t begun = 0, over = 0;
  for (uint32_t s = 0; begun < count || over < begun; s++) {
    uint32_t next = begun == over ? first_from(all, at->device, at[begun].start) : s;
    s = next > s ? next : s;
    if (s == all->sample_count || (int64_t)all->order[s].key != at->device)
      break;
    const struct sample *sample = &all->samples[all->order[s].value];
    const int64_t key[KEYS] = {sample->metric, at->name};
    for (; begun < count && at[begun].start <= sample->time;)
      begun++;
    for (; over < begun && ends[over] <= sample->time;)
      over++;
    if (begun > over)
      NAI_TRY(nai_stats_groups_add_some(&all->groups, key, sample->value, begun - over, err));
  }
  return NAI_OK;
}

static int sum_instances(struct nai_stats_rows *rows, struct metrics *all, struct nai_stats_instance *at,
                         uint32_t count, struct nai_err *err) {
  uint32_t missed = 0;
  double missed_ns = 0, all_ns = 0;
  int64_t *ends;
  NAI_TRY(order_samples(all, err));
  NAI_TRY(NAI_NEW(ends, &all->source->arena, count, err));
  NAI_TRY(nai_stats_groups_begin(&all->groups, all->source, KEYS, all->sample_count, err));
  if (count)
    qsort(at, count, sizeof *at, by_name);
  for (uint32_t first = 0, behind; first < count; first = behind) {
    for (behind = first; behind < count && at[behind].device == at[first].device && at[behind].name == at[first].name;
         behind++) {
      const struct nai_stats_instance *one = &at[behind];
      const bool misses = !is_inside(all, first_from(all, one->device, one->start), one);
      ends[behind] = one->end > one->start ? one->end : one->start;
      missed += misses;
      missed_ns += misses ? (double)(one->end - one->start) : 0;
      all_ns += (double)(one->end - one->start);
    }
    qsort(ends + first, behind - first, sizeof *ends, nai_by_i64);
    NAI_TRY(sum_name(all, at + first, ends + first, behind - first, err));
  }
  NAI_TRY(tell_missed(rows, count, missed, missed_ns, all_ns, err));
  return show(rows, all, err);
}

/* --- columns ------------------------------------------------------------------------------------------------- */

static void show_mean_of_all(struct nai_stats_cell *out, struct nai_stats_rows *rows, const void *record, size_t at) {
  const struct nai_stats_group_row *group = record;
  const struct metric *metric = &((const struct metrics *)rows->state)->at[group->key[KEY_METRIC]];
  (void)at;
  nai_stats_put_real(out, nai_stats_round(metric->total / (double)metric->count));
}

#define SPREAD                                                                                                  \
  {"GPU", 0, NAI_STATS_KEY(SHOWN_GPU)}, {"Count", 0, NAI_STATS_COUNT}, {"Avg", 0, NAI_STATS_OF(ROUNDED, mean)}, \
      {"StdDev", 0, NAI_STATS_OF(ROUNDED, stddev)}, {"Min", 0, NAI_STATS_OF(NUMBER, min)},                      \
      {"Q1", 0, NAI_STATS_OF(ROUNDED, p25)}, {"Med", 0, NAI_STATS_OF(ROUNDED, p50)},                            \
      {"Q3", 0, NAI_STATS_OF(ROUNDED, p75)}, {"Max", 0, NAI_STATS_OF(NUMBER, max)}, {                           \
    "Metric", 0, NAI_STATS_KEY_WORDS(SHOWN_METRIC)                                                              \
  }
const struct nai_stats_column nai_stats_metric_columns[] = {SPREAD, {0}};
static const struct nai_stats_column named_columns[] = {SPREAD, {"Name", 0, NAI_STATS_KEY_NAME(KEY_NAME)}, {0}};
const struct nai_stats_column nai_stats_nvlink_columns[] = {
    SPREAD, {"Avg of All", 0, NAI_STATS_MADE(show_mean_of_all)}, {0}};

/* --- reports ------------------------------------------------------------------------------------------------ */

static int begin(struct metrics **out, struct nai_stats_source *source, const char *names, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, &source->arena, 1, err));
  (*out)->source = source;
  NAI_TRY(read_metrics(*out, names, err));
  return read_samples(*out, err);
}

int nai_stats_make_gpu_metrics(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                               struct nai_err *err) {
  enum { PER_KERNEL, PER_RANGE };
  struct metrics *all = NULL;
  struct nai_stats_instance *at = NULL;
  uint32_t count = 0;
  NAI_TRY(begin(&all, rows->source, "", err));
  if (!options->flag[PER_KERNEL] && !options->flag[PER_RANGE])
    return sum_samples(rows, all, INT64_MIN, err);
  rows->columns = named_columns;
  if (options->flag[PER_RANGE])
    NAI_TRY(nai_stats_project_by_gpu(&at, &count, rows->source, err));
  else
    NAI_TRY(find_kernels(&at, &count, rows->source, options, err));
  NAI_TRY(choose(at, &count, options, rows->source, err));
  return sum_instances(rows, all, at, count, err);
}

int nai_stats_make_nvlink(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  struct metrics *all = NULL;
  (void)options;
  NAI_TRY(begin(&all, rows->source, "NVLink", err));
  rows->absent = all->sample_count == 0;
  return sum_samples(rows, all, 0, err);
}
