/* What recipes of nsys say of one capture: histograms of kernels' durations, and the pace at which something repeats.
 */
#include "features/stats/operations.h"

#include "base/sort.h"
#include "base/text.h"

int nai_stats_pattern_read(struct nai_stats_pattern *out, const char *text, struct nai_err *err) {
  *out = (struct nai_stats_pattern){0};
  if (!text)
    return NAI_OK;
  int rc = regcomp(&out->regex, text, REG_EXTENDED | REG_NOSUB);
  char why[128];
  if (!rc) {
    out->is_set = true;
    return NAI_OK;
  }
  regerror(rc, NULL, why, sizeof why);
  return nai_err_set(err, NAI_EUSAGE, "\"%.100s\" is no regular expression: %s", text, why);
}

bool nai_stats_pattern_matches(const struct nai_stats_pattern *pattern, const char *text) {
  return !pattern->is_set || (text && regexec(&pattern->regex, text, 0, NULL, 0) == 0);
}

/* --- histograms ------------------------------------------------------------------------------------------- */

struct bin {
  uint32_t group; /* of the sorted ones */
  int64_t count, name;
  double from, to, percent, cumulated;
};
struct histogram {
  struct nai_stats_groups groups; /* first: kernels by name */
  struct bin *bins;
};

/* Of each name of source->texts whether it matches. */
static int match_names(bool **out, const struct nai_stats_events *kernels, const struct nai_stats_source *source,
                       const char *pattern_text, struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_stats_pattern) pattern = {0};
  NAI_TRY(nai_stats_pattern_read(&pattern, pattern_text, err));
  NAI_TRY(NAI_NEW(*out, arena, (size_t)source->texts.count + 1, err));
  for (uint32_t text = 0; text <= source->texts.count && kernels->count; text++)
    (*out)[text] = nai_stats_pattern_matches(&pattern, nai_stats_text_of(source, text));
  return NAI_OK;
}

static int add_kernels(struct nai_stats_groups *groups, struct nai_stats_source *source,
                       const struct nai_stats_options *options, struct nai_err *err) {
  struct nai_stats_events kernels;
  bool *wanted;
  NAI_TRY(nai_stats_load_operations(&kernels, source, NAI_STATS_KERNELS, 0, options, err));
  NAI_TRY(nai_stats_groups_begin(groups, source, 1, kernels.count, err));
  NAI_TRY(match_names(&wanted, &kernels, source, options->name, &source->arena, err));
  for (uint32_t i = 0; i < kernels.count; i++) {
    int64_t start = kernels.at[NAI_STATS_OP_START][i], end = kernels.at[NAI_STATS_OP_END][i];
    int64_t name = kernels.at[NAI_STATS_OP_NAME][i];
    if (nai_stats_has_times(start, end) && wanted[name == NAI_NO_STRING ? source->texts.count : name])
      NAI_TRY(nai_stats_groups_add(groups, &name, end - start, err));
  }
  return NAI_OK;
}

/* 1, 10, 100 ... ns: the decade of a duration; those below 1 ns are with the first. */
enum { DECADES = 20 };
static uint32_t decade_of(int64_t ns) {
  uint32_t decade = 0;
  for (; ns >= 10; ns /= 10)
    decade++;
  return decade;
}

/* Decades from the shortest's to the longest's. */
static uint32_t begin_decades(struct bin *bins, const struct nai_stats_group *group, uint32_t number) {
  uint32_t first = decade_of(group->stats->min), count = decade_of(group->stats->max) - first + 1;
  for (uint32_t i = 0; i < count; i++)
    bins[i] = (struct bin){.group = number, .from = pow(10, first + i), .to = pow(10, first + i + 1)};
  return count;
}

/* Bins of equal width from the shortest to the longest; one where all are equal. */
static uint32_t begin_bins(struct bin *bins, const struct nai_stats_group *group, uint32_t number, int64_t most) {
  double least = (double)group->stats->min, width = ((double)group->stats->max - least) / (double)most;
  uint32_t count = group->stats->min == group->stats->max ? 1 : (uint32_t)most;
  for (uint32_t i = 0; i < count; i++)
    bins[i] = (struct bin){.group = number, .from = least + i * width, .to = least + (i + 1) * width};
  return count;
}

/* Which of `count` bins a duration is in. */
static uint32_t bin_of_value(const struct nai_stats_group *group, int64_t ns, uint32_t count, bool decades) {
  if (decades)
    return decade_of(ns) - decade_of(group->stats->min);
  double span = (double)group->stats->max - (double)group->stats->min;
  double place = span > 0 ? ((double)ns - (double)group->stats->min) / span * count : 0;
  return place < count ? (uint32_t)place : count - 1;
}

static void count_values(struct bin *bins, const uint32_t *first, const uint32_t *sorted_of,
                         const struct nai_stats_groups *groups, bool decades) {
  for (uint32_t i = 0; i < groups->rows; i++) {
    uint32_t number = sorted_of[groups->group[i]], count = first[number + 1] - first[number];
    bins[first[number] + bin_of_value(&groups->sorted[number], groups->value[i], count, decades)].count++;
  }
}

int nai_stats_make_histogram(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                             struct nai_err *err) {
  struct nai_arena *arena = &rows->source->arena;
  struct histogram *all = NULL;
  uint32_t *first, *sorted_of, total = 0;
  const bool decades = options->flag[0];
  NAI_TRY(NAI_NEW(all, arena, 1, err));
  NAI_TRY(add_kernels(&all->groups, rows->source, options, err));
  NAI_TRY(nai_stats_show_groups(rows, &all->groups, 0, NAI_STATS_BY_NAME, err));
  NAI_TRY(NAI_NEW(first, arena, (size_t)all->groups.count + 1, err));
  NAI_TRY(NAI_NEW(sorted_of, arena, all->groups.count, err));
  NAI_TRY(NAI_NEW(all->bins, arena, (size_t)all->groups.count * (decades ? DECADES : (size_t)options->number[0]), err));
  for (uint32_t g = 0; g < all->groups.count; g++) {
    sorted_of[all->groups.sorted[g].id] = g;
    first[g] = total;
    total += decades ? begin_decades(&all->bins[total], &all->groups.sorted[g], g)
                     : begin_bins(&all->bins[total], &all->groups.sorted[g], g, options->number[0]);
    first[g + 1] = total;
  }
  count_values(all->bins, first, sorted_of, &all->groups, decades);
  int64_t before = 0;
  for (uint32_t b = 0; b < total; b++) {
    struct bin *bin = &all->bins[b];
    const double count = (double)all->groups.sorted[bin->group].stats->count;
    before = (b && bin->group == bin[-1].group ? before : 0) + bin->count;
    bin->name = all->groups.sorted[bin->group].key[0];
    bin->percent = 100.0 * (double)bin->count / count;
    bin->cumulated = 100.0 * (double)before / count;
  }
  rows->state = all;
  nai_stats_show_records(rows, all->bins, sizeof *all->bins, total, -1);
  return NAI_OK;
}

const struct nai_stats_column nai_stats_histogram_columns[] = {
    {"From", NAI_STATS_TIME, NAI_STATS_ROUNDED(bin, from)},
    {"To", NAI_STATS_TIME, NAI_STATS_ROUNDED(bin, to)},
    {"Count", 0, NAI_STATS_NUMBER(bin, count)},
    {"Percent", NAI_STATS_PERCENT, NAI_STATS_ROUNDED(bin, percent)},
    {"Cumulative", NAI_STATS_PERCENT, NAI_STATS_ROUNDED(bin, cumulated)},
    {"Name", 0, NAI_STATS_NAME(bin, name)},
    {0}};

/* --- pace -------------------------------------------------------------------------------------------------- */

enum { DURATIONS, DELTAS };
struct beat {
  int64_t index, start, end, ns, delta, gap, until; /* delta, gap: since the start and the end of the one before */
};

static const struct nai_stats_column pace_sum_columns[] = {{"Of", 0, NAI_STATS_KEY_WORDS(0)},
                                                           {"Count", 0, NAI_STATS_COUNT},
                                                           {"Total", NAI_STATS_TIME, NAI_STATS_TOTAL},
                                                           NAI_STATS_SPREAD,
                                                           {0}};
const struct nai_stats_column nai_stats_pace_columns[] = {{"Index", 0, NAI_STATS_NUMBER(beat, index)},
                                                          {"Start", NAI_STATS_STAMP, NAI_STATS_NUMBER(beat, start)},
                                                          {"End", NAI_STATS_STAMP, NAI_STATS_NUMBER(beat, end)},
                                                          {"Duration", NAI_STATS_TIME, NAI_STATS_NUMBER(beat, ns)},
                                                          {"Delta", NAI_STATS_TIME, NAI_STATS_NUMBER(beat, delta)},
                                                          {"Gap", NAI_STATS_TIME, NAI_STATS_NUMBER(beat, gap)},
                                                          {"Cumulated", NAI_STATS_TIME, NAI_STATS_NUMBER(beat, until)},
                                                          {0}};

NAI_ORDER(by_start, struct nai_stats_moment, {a->start, b->start}, {a->end, b->end})

/* Statistics of the durations, and of the times from start to start. */
static int sum_pace(struct nai_stats_rows *rows, const struct nai_stats_moment *at, uint32_t count,
                    struct nai_err *err) {
  static const char *const words[] = {[DURATIONS] = "Duration", [DELTAS] = "Delta"};
  struct nai_stats_groups *groups = NULL;
  rows->quartiles = true;
  rows->columns = pace_sum_columns;
  NAI_TRY(NAI_NEW(groups, &rows->source->arena, 1, err));
  NAI_TRY(nai_stats_groups_begin(groups, rows->source, 1, 2 * (uint64_t)count, err));
  for (uint32_t i = 0; i < count; i++) {
    NAI_TRY(nai_stats_groups_add(groups, &(int64_t){DURATIONS}, at[i].end - at[i].start, err));
    if (i)
      NAI_TRY(nai_stats_groups_add(groups, &(int64_t){DELTAS}, at[i].start - at[i - 1].start, err));
  }
  NAI_TRY(nai_stats_show_groups(rows, groups, -1, NAI_STATS_BY_KEY, err));
  return nai_stats_name_keys(groups, rows->source, 0, words, err);
}

static int show_pace(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_stats_moment *at,
                     uint32_t count, struct nai_err *err) {
  struct beat *beats;
  int64_t until = 0;
  NAI_TRY(NAI_NEW(beats, &rows->source->arena, count, err));
  if (count)
    qsort(at, count, sizeof *at, by_start);
  if (options->flag[0])
    return sum_pace(rows, at, count, err);
  for (uint32_t i = 0; i < count; i++) {
    const struct nai_stats_moment *now = &at[i];
    nai_stats_add(&until, now->end - now->start);
    beats[i] = (struct beat){i, now->start, now->end, now->end - now->start, NAI_STATS_NULL, NAI_STATS_NULL, until};
    if (i) {
      beats[i].delta = now->start - now[-1].start;
      beats[i].gap = now->start - now[-1].end;
    }
  }
  nai_stats_show_records(rows, beats, sizeof *beats, count, -1);
  return NAI_OK;
}

/* What could have been asked for. */
struct names {
  const char **at;
  size_t count;
  bool *seen; /* by text of the source */
};
enum { MOST_NAMES = 10000, NAME_CHARS = 200 };

static int names_begin(struct names *names, struct nai_stats_source *source, struct nai_err *err) {
  *names = (struct names){0};
  NAI_TRY(NAI_NEW(names->at, &source->arena, MOST_NAMES, err));
  return NAI_NEW(names->seen, &source->arena, source->texts.count, err);
}

static void names_add(struct names *names, const struct nai_stats_source *source, int64_t text, int64_t wanted) {
  const char *name = nai_stats_text_of(source, text);
  if (!name || text == wanted || names->seen[text] || names->count == MOST_NAMES)
    return;
  names->seen[text] = true;
  names->at[names->count++] = name;
}

/* Says that nothing has the name that was asked for, and what is called nearly so. */
static int note_absence(struct nai_stats_rows *rows, const char *what, const char *name, const struct names *names,
                        struct nai_err *err) {
  NAI_SCOPED(nai_buf) note = {0};
  const char *near = nai_text_suggest(name, names->at, names->count);
  nai_buf_printf(&note, "no %s \"", what);
  nai_text_cut(&note, name, strlen(name), NAME_CHARS);
  if (near) {
    nai_buf_puts(&note, "\"; did you mean \"");
    nai_text_cut(&note, near, strlen(near), NAME_CHARS);
  }
  nai_buf_puts(&note, near ? "\"?" : "\"");
  NAI_TRY(nai_buf_check(&note, err));
  rows->note = nai_arena_printf(&rows->source->arena, "%s", nai_buf_str(&note));
  return nai_arena_check(&rows->source->arena, err);
}

static int note_no_kernel(struct nai_stats_rows *rows, const struct nai_stats_events *kernels, int64_t wanted,
                          struct nai_err *err) {
  struct names names;
  int64_t text;
  NAI_TRY(names_begin(&names, rows->source, err));
  for (uint32_t i = 0; i < kernels->count; i++)
    for (int k = 2; k < 4; k++) {
      NAI_TRY(nai_stats_name(&text, rows->source, kernels->at[k][i], err));
      names_add(&names, rows->source, text, wanted);
    }
  return note_absence(rows, "kernel is named", nai_stats_text_of(rows->source, wanted), &names, err);
}

static int note_no_range(struct nai_stats_rows *rows, const struct nai_stats_ranges *ranges, int64_t wanted,
                         struct nai_err *err) {
  struct names names;
  NAI_TRY(names_begin(&names, rows->source, err));
  for (uint32_t i = 0; i < ranges->count; i++) {
    names_add(&names, rows->source, ranges->words[ranges->at[i].words].text, wanted);
    names_add(&names, rows->source, ranges->at[i].name, wanted);
  }
  return note_absence(rows, "range is named", nai_stats_text_of(rows->source, wanted), &names, err);
}

/* Kernels by their short or their whole name. */
int nai_stats_make_kernel_pace(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                               struct nai_err *err) {
  static const char *const columns[] = {"start", "end", "shortName", "demangledName", NULL};
  struct nai_stats_events kernels;
  struct nai_stats_moment *at;
  int64_t wanted, text[2];
  uint32_t count = 0;
  NAI_TRY(nai_stats_text(&wanted, rows->source, options->name, err));
  NAI_TRY(nai_stats_load(&kernels, rows->source, "CUPTI_ACTIVITY_KIND_KERNEL", columns, err));
  NAI_TRY(NAI_NEW(at, &rows->source->arena, kernels.count, err));
  for (uint32_t i = 0; i < kernels.count; i++) {
    for (int k = 0; k < 2; k++)
      NAI_TRY(nai_stats_name(&text[k], rows->source, kernels.at[2 + k][i], err));
    if ((text[0] == wanted || text[1] == wanted) && nai_stats_has_times(kernels.at[0][i], kernels.at[1][i]))
      at[count++] = (struct nai_stats_moment){kernels.at[0][i], kernels.at[1][i]};
  }
  if (!count)
    NAI_TRY(note_no_kernel(rows, &kernels, wanted, err));
  return show_pace(rows, options, at, count, err);
}

/* Ranges by their text, or with their domain in front. */
int nai_stats_make_range_pace(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                              struct nai_err *err) {
  const bool projected = options->report->what == NAI_STATS_ON_THE_GPU;
  struct nai_stats_ranges ranges;
  struct nai_stats_extent *on_gpu = NULL;
  struct nai_stats_moment *at;
  int64_t wanted;
  uint32_t count = 0, named = 0;
  NAI_TRY(nai_stats_text(&wanted, rows->source, options->name, err));
  NAI_TRY(nai_stats_load_ranges(&ranges, rows->source, options->old, NAI_STATS_BOTH_STYLES, NULL, err));
  NAI_TRY(NAI_NEW(at, &rows->source->arena, ranges.count, err));
  if (projected)
    NAI_TRY(nai_stats_project(&on_gpu, &ranges, rows->source, false, &rows->source->arena, err));
  for (uint32_t i = 0; i < ranges.count; i++) {
    const struct nai_stats_range *range = &ranges.at[i];
    if (ranges.words[range->words].text != wanted && range->name != wanted)
      continue;
    named++;
    if (projected && !on_gpu[i].calls)
      continue;
    at[count++] = projected ? (struct nai_stats_moment){on_gpu[i].start, on_gpu[i].end}
                            : (struct nai_stats_moment){range->start, range->end};
  }
  if (!named)
    NAI_TRY(note_no_range(rows, &ranges, wanted, err));
  else if (!count)
    rows->note = "no range of this name launched work on a GPU";
  return show_pace(rows, options, at, count, err);
}
