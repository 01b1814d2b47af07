/* What is said of one thing: numbers, groups, names, outliers. */
#include "features/ask/relation_say.h"

#include "base/fmt.h"
#include "base/sort.h"

/* --- numbers of one thing ----------------------------------------------------------------------------------------- */

int nai_say_numbers(struct nai_answering *a, struct nai_err *err) {
  const bool sizes = a->r->sizes;
  const enum nai_statistic asked = a->r->statistic,
                           statistic = asked == NAI_STATISTIC_BYTES ? NAI_STATISTIC_MEDIAN : asked;
  const struct nai_thing_filter *filter = &a->r->filter;
  const bool limited = filter->least_ns >= 0 || filter->most_ns >= 0;
  struct nai_buf *out = &a->said;
  struct nai_thing_numbers n;
  NAI_TRY(nai_numbers_of(&n, &a->events[0], sizes, NULL, NULL, nai_answering_arena(a), err));
  if (limited && a->r->yes_no) { /* some of them: whether "steps are shorter" is no yes or no then */
    nai_buf_puts(out, !n.stats.count ? "No: " : a->r->any ? "Yes: " : "");
  } else if (statistic > NAI_STATISTIC_COUNT && n.stats.count) {
    nai_put_number(out, nai_number_of(&n, statistic), sizes ? NAI_STATISTIC_BYTES : statistic);
    const char *name = !sizes                              ? nai_statistic_name(statistic)
                     : statistic == NAI_STATISTIC_LONGEST  ? "largest"
                     : statistic == NAI_STATISTIC_SHORTEST ? "smallest"
                                                           : nai_statistic_name(statistic);
    nai_buf_printf(out, statistic == NAI_STATISTIC_TOTAL ? " %s%s: " : " is the %s%s: ", name, sizes ? " size" : "");
  }
  nai_put_count(out, &a->r->things[0], n.stats.count);
  if (limited)
    nai_buf_puts(out, filter->most_ns < 0    ? " longer than that"
                      : filter->least_ns < 0 ? " shorter than that"
                                             : " of that length");
  if (a->r->kind == NAI_RELATION_INSIDE) {
    nai_buf_puts(out, " inside ");
    nai_put_thing(out, &a->r->things[1], false);
  }
  nai_put_spread(out, &n, sizes ? NAI_STATISTIC_BYTES : statistic);
  nai_put_begin_of_longest(out, &n);
  return NAI_OK;
}

/* --- groups of one thing ------------------------------------------------------------------------------------------ */

/* Events of one GPU, process, stream, thread or name. */
struct group {
  int64_t key[2];
  struct nai_thing_numbers numbers;
  const struct nai_thing_event *longest;
  int64_t at; /* when the first begins or the last ends, as is asked */
};
static const char *const nouns[] = {[NAI_GROUP_NONE] = "names",
                                    [NAI_GROUP_GPU] = "GPUs",
                                    [NAI_GROUP_PROCESS] = "processes",
                                    [NAI_GROUP_STREAM] = "streams",
                                    [NAI_GROUP_THREAD] = "threads"};

static void key_of(int64_t key[2], const struct nai_thing_event *e, enum nai_relation_group group) {
  const int64_t keys[] = {[NAI_GROUP_NONE] = e->name,
                          [NAI_GROUP_GPU] = e->gpu,
                          [NAI_GROUP_PROCESS] = e->pid,
                          [NAI_GROUP_STREAM] = e->gpu,
                          [NAI_GROUP_THREAD] = e->tid};
  key[0] = keys[group];
  key[1] = group == NAI_GROUP_STREAM ? e->stream : 0;
}

/* In the order of their first event. *of: of each event. */
static int make_groups(struct group **out, uint32_t *count, uint32_t **of, const struct nai_answering *a,
                       enum nai_relation_group by, struct nai_err *err) {
  const struct nai_thing_events *events = &a->events[0];
  struct nai_strings known = {.arena = nai_answering_arena(a)};
  struct group *groups = NULL;
  struct nai_stats *stats;
  uint32_t capacity = 0;
  int64_t *values, key[2];
  NAI_TRY(NAI_NEW(*of, nai_answering_arena(a), events->count, err));
  NAI_TRY(NAI_NEW(values, nai_answering_arena(a), events->count, err));
  for (uint32_t i = 0; i < events->count; i++) {
    const struct nai_thing_event *e = &events->at[i];
    key_of(key, e, by);
    const uint32_t before = known.count, g = (*of)[i] = nai_strings_add(&known, (const char *)key, sizeof key);
    NAI_TRY(nai_memory_check(g != NAI_NO_STRING, err));
    NAI_TRY(NAI_ROOM(groups, capacity, g, nai_answering_arena(a), err));
    memcpy(groups[g].key, key, sizeof key);
    if (a->r->moment == NAI_MOMENT_END)
      groups[g].at = e->end > groups[g].at ? e->end : groups[g].at;
    else if (g == before)
      groups[g].at = e->start; /* events are in this order */
    if (!groups[g].longest || e->end - e->start > groups[g].longest->end - groups[g].longest->start)
      groups[g].longest = e;
    groups[g].numbers.bytes += e->bytes;
    groups[g].numbers.ns += e->end - e->start;
    values[i] = e->end - e->start;
  }
  NAI_TRY(NAI_NEW(stats, nai_answering_arena(a), known.count, err));
  NAI_TRY(nai_group_stats(stats, known.count,
                          &(struct nai_values){.rows = events->count, .groups = *of, .values = values}, err));
  for (uint32_t g = 0; g < known.count; g++)
    groups[g].numbers.stats = stats[g];
  *out = groups;
  *count = known.count;
  return NAI_OK;
}

static void put_group(struct nai_buf *out, const struct nai_answering *a, const struct group *g) {
  static const char *const one[] = {[NAI_GROUP_GPU] = "GPU",
                                    [NAI_GROUP_PROCESS] = "process",
                                    [NAI_GROUP_STREAM] = "GPU",
                                    [NAI_GROUP_THREAD] = "thread"};
  if (a->r->group == NAI_GROUP_NONE) {
    nai_buf_puts(out, nai_strings_get(&a->events[0].names, (uint32_t)g->key[0]));
    return;
  }
  nai_buf_printf(out, "%s %" PRId64, one[a->r->group], g->key[0]);
  if (a->r->group == NAI_GROUP_STREAM)
    nai_buf_printf(out, " stream %" PRId64, g->key[1]);
}

struct by_number {
  enum nai_statistic statistic;
  bool less;
  enum nai_moment moment;
};

static double rank_of(const struct group *g, const struct by_number *by) {
  return by->moment ? (double)g->at : nai_number_of(&g->numbers, by->statistic);
}

static int by_rank(const void *left, const void *right, void *ctx) {
  const struct group *a = left, *b = right;
  const struct by_number *by = ctx;
  const double one = rank_of(a, by), other = rank_of(b, by);
  const int order = NAI_SIGN(other, one);
  return order ? (by->less ? -order : order) : NAI_COMPARE({a->key[0], b->key[0]}, {a->key[1], b->key[1]});
}

static void put_rank(struct nai_buf *out, const struct group *g, const struct by_number *by) {
  if (by->moment)
    nai_put_moment(out, g->at);
  else
    nai_put_number(out, rank_of(g, by), by->statistic);
}

/* The first in order, and by how much. */
static void put_leader(struct nai_buf *out, const struct nai_answering *a, const struct group *groups, uint32_t count,
                       const struct by_number *by) {
  if (a->r->balanced) {
    nai_fmt_count(out, count);
    nai_buf_printf(out, " %s, from ", nouns[a->r->group]);
    put_rank(out, &groups[by->less ? 0 : count - 1], by);
    nai_buf_puts(out, " to ");
    put_rank(out, &groups[by->less ? count - 1 : 0], by);
    nai_buf_puts(out, ": ");
  }
  const size_t begin = out->len;
  const bool even = count > 1 && !by->moment && rank_of(&groups[0], by) == rank_of(&groups[count - 1], by);
  if (even) {
    nai_fmt_count(out, count);
    nai_buf_printf(out, " %s have the same: ", nouns[a->r->group]);
    put_rank(out, &groups[0], by);
    return;
  }
  put_group(out, a, &groups[0]);
  if (!begin)
    out->data[0] = (char)toupper((unsigned char)out->data[0]);
  if (by->moment)
    nai_buf_printf(out, " %s %s, at ", by->moment == NAI_MOMENT_END ? "ends" : "begins", by->less ? "first" : "last");
  else
    nai_buf_puts(out, count == 1 ? " has all: " : by->less ? " has least: " : " has most: ");
  put_rank(out, &groups[0], by);
  if (by->statistic > NAI_STATISTIC_TOTAL && by->statistic != NAI_STATISTIC_BYTES && !by->moment)
    nai_buf_printf(out, " (%s)", nai_statistic_name(by->statistic));
  if (by->statistic == NAI_STATISTIC_LONGEST && !by->moment) {
    nai_buf_puts(out, " at ");
    nai_put_moment(out, groups[0].longest->start);
  }
  const double first = rank_of(&groups[0], by), second = count == 2 ? rank_of(&groups[1], by) : 0;
  if (first > 0 && second > 0 && !by->moment) {
    nai_buf_puts(out, by->less ? ", less by " : ", more by ");
    nai_put_number(out, fabs(first - second), by->statistic);
    nai_buf_puts(out, " (");
    nai_put_factor(out, fmax(first, second), fmin(first, second));
    nai_buf_puts(out, " times)");
  }
}

int nai_say_groups(struct nai_answering *a, struct nai_err *err) {
  enum { SHOWN = 16 };
  const struct nai_thing *thing = &a->r->things[0]; /* of copies in one direction "more" is a matter of bytes */
  const enum nai_statistic otherwise =
      thing->kind == NAI_THING_COPIES && thing->direction ? NAI_STATISTIC_BYTES : NAI_STATISTIC_TOTAL;
  struct by_number by = {a->r->statistic ? a->r->statistic : otherwise, a->r->less, a->r->moment};
  struct nai_buf *out = &a->said;
  struct group *groups;
  uint32_t count, *of;
  NAI_TRY(make_groups(&groups, &count, &of, a, a->r->group, err));
  if (!count) {
    nai_put_count(out, &a->r->things[0], 0);
    return NAI_OK;
  }
  qsort_r(groups, count, sizeof *groups, by_rank, &by);
  put_leader(out, a, groups, count, &by);
  nai_buf_puts(out, "; all: ");
  for (uint32_t g = 0; g < count && g < SHOWN; g++) {
    nai_buf_puts(out, g ? ", " : "");
    put_group(out, a, &groups[g]);
    nai_buf_putc(out, ' ');
    put_rank(out, &groups[g], &by);
    nai_buf_puts(out, " (");
    if (by.statistic == NAI_STATISTIC_COUNT)
      nai_fmt_duration(out, (double)groups[g].numbers.stats.total);
    else
      nai_put_count(out, &(struct nai_thing){.kind = a->r->things[0].kind}, groups[g].numbers.stats.count);
    nai_buf_putc(out, ')');
  }
  if (count > SHOWN)
    nai_buf_printf(out, ", and %u more", count - SHOWN);
  return NAI_OK;
}

/* Names by what is asked of them: the one with most total time is the slowest of those that run more than once. */
int nai_say_ranking(struct nai_answering *a, struct nai_err *err) {
  enum { SHOWN = 4 };
  const enum nai_statistic asked = a->r->statistic;
  const bool extreme = asked == NAI_STATISTIC_LONGEST || asked == NAI_STATISTIC_SHORTEST;
  struct by_number by = {extreme || !asked ? NAI_STATISTIC_TOTAL : asked, a->r->less, false};
  struct nai_buf *out = &a->said;
  struct group *groups;
  uint32_t count, *of;
  NAI_TRY(make_groups(&groups, &count, &of, a, NAI_GROUP_NONE, err));
  if (count)
    qsort_r(groups, count, sizeof *groups, by_rank, &by);
  for (uint32_t g = 0, shown = 0; g < count && shown < SHOWN; g++) {
    const struct nai_thing_numbers *n = &groups[g].numbers;
    const char *name = nai_strings_get(&a->events[0].names, (uint32_t)groups[g].key[0]);
    if (a->r->without && strstr(a->r->without, nai_arena_printf(nai_answering_arena(a), "\n%s\n", name)))
      continue;
    nai_buf_printf(out, "%s%s: ", shown == 1 ? "; then " : shown ? ", " : "", name);
    nai_put_number(out, rank_of(&groups[g], &by), by.statistic);
    nai_buf_printf(out, "%s in ", by.statistic == NAI_STATISTIC_TOTAL ? " total" : "");
    nai_put_count(out, &(struct nai_thing){.kind = a->r->things[0].kind}, n->stats.count);
    if (!shown++ && n->stats.count > 1) {
      nai_buf_puts(out, ", average ");
      nai_fmt_duration(out, n->stats.mean);
    }
  }
  a->none = !out->len;
  return NAI_OK;
}

/* Two names as two things. */
static int split_names(struct nai_answering *a, struct nai_err *err) {
  const struct nai_thing_events all = a->events[0];
  for (uint32_t side = 0; side < 2; side++) {
    struct nai_thing *thing = &a->r->things[side];
    struct nai_thing_events *events = &a->events[side];
    const char *name = nai_strings_get(&all.names, side);
    *events = (struct nai_thing_events){.names = all.names};
    NAI_TRY(NAI_NEW(events->at, nai_answering_arena(a), all.count, err));
    for (uint32_t i = 0; i < all.count; i++)
      if (all.at[i].name == side)
        events->at[events->count++] = all.at[i];
    *thing = (struct nai_thing){.kind = a->r->things[0].kind, .called = name};
    if (thing->kind == NAI_THING_COPIES)
      thing->direction = name;
    else
      thing->names = nai_arena_printf(nai_answering_arena(a), "\n%s\n", name);
    thing->name_count = 1;
  }
  a->r->count = 2;
  return NAI_OK;
}

/* Which of its names is faster or slower: of two they are compared. */
int nai_say_names(struct nai_answering *a, struct nai_err *err) {
  enum { SHOWN = 4 };
  struct by_number by = {a->r->statistic ? a->r->statistic : NAI_STATISTIC_AVERAGE, a->r->less, false};
  const bool slower = a->r->less == (by.statistic == NAI_STATISTIC_RATE);
  struct nai_buf *out = &a->said;
  struct group *groups;
  uint32_t count, *of;
  if (a->events[0].names.count == 2) {
    NAI_TRY(split_names(a, err));
    return nai_say_compared(a, err);
  }
  NAI_TRY(make_groups(&groups, &count, &of, a, NAI_GROUP_NONE, err));
  if (count < 2) { /* there is nothing to compare */
    nai_buf_puts(out, count ? "All have one name: " : "");
    return nai_say_numbers(a, err);
  }
  qsort_r(groups, count, sizeof *groups, by_rank, &by);
  for (uint32_t g = 0; g < count && g < SHOWN; g++) {
    if (g)
      nai_buf_puts(out, g == 1 ? "; then " : ", ");
    put_group(out, a, &groups[g]);
    if (!g) {
      nai_buf_printf(out, " is the %s of ", slower ? "slowest" : "fastest");
      nai_fmt_count(out, count);
      nai_buf_printf(out, ", by %s", nai_statistic_name(by.statistic));
    }
    nai_buf_puts(out, ": ");
    put_rank(out, &groups[g], &by);
    nai_buf_puts(out, " (");
    nai_put_count(out, &(struct nai_thing){.kind = a->r->things[0].kind}, groups[g].numbers.stats.count);
    nai_buf_putc(out, ')');
  }
  return NAI_OK;
}

/* Which of them take most time. */
static int put_names(struct nai_answering *a, struct nai_err *err) {
  enum { SHOWN = 3 };
  struct by_number by = {NAI_STATISTIC_TOTAL, false, false};
  struct group *groups;
  uint32_t count, *of;
  NAI_TRY(make_groups(&groups, &count, &of, a, NAI_GROUP_NONE, err));
  if (count < 2)
    return NAI_OK;
  qsort_r(groups, count, sizeof *groups, by_rank, &by);
  for (uint32_t g = 0; g < count && g < SHOWN; g++) {
    nai_buf_printf(&a->said, "%s%s ",
                   g ? ", " : "; most time: ", nai_strings_get(&a->events[0].names, (uint32_t)groups[g].key[0]));
    nai_put_number(&a->said, rank_of(&groups[g], &by), by.statistic);
  }
  return NAI_OK;
}

/* Of the first thing what begins, or was launched, in the second. */
int nai_say_inside(struct nai_answering *a, struct nai_err *err) {
  NAI_TRY(nai_things_keep_inside(&a->events[0], &a->events[1], nai_answering_arena(a), err));
  NAI_TRY(nai_say_numbers(a, err));
  return put_names(a, err);
}

/* --- outliers ----------------------------------------------------------------------------------------------------- */

/* Those that take so many times the median of their name, the longest first. */
int nai_say_outliers(struct nai_answering *a, struct nai_err *err) {
  enum { SHOWN = 4, OTHERWISE = 2 };
  const double times = a->r->times > 0 ? a->r->times : OTHERWISE;
  const struct nai_thing_events *events = &a->events[0];
  struct nai_buf *out = &a->said;
  struct group *groups;
  struct nai_key *longest;
  uint32_t count, *of, found = 0;
  NAI_TRY(make_groups(&groups, &count, &of, a, NAI_GROUP_NONE, err));
  NAI_TRY(NAI_NEW(longest, nai_answering_arena(a), events->count, err));
  for (uint32_t i = 0; i < events->count; i++) {
    const int64_t ns = events->at[i].end - events->at[i].start;
    if ((double)ns > times * groups[of[i]].numbers.stats.p50)
      longest[found++] = (struct nai_key){~nai_key_from_i64(ns), i};
  }
  NAI_TRY(nai_sort_keys(longest, found, err));
  nai_fmt_count(out, found);
  nai_buf_puts(out, " of ");
  nai_put_count(out, &a->r->things[0], events->count);
  nai_buf_printf(out, " took more than %.3g times the median of their name", times);
  for (uint32_t i = 0; i < found && i < SHOWN; i++) {
    const struct nai_thing_event *e = &events->at[longest[i].value];
    nai_buf_printf(out, "%s%s ", i ? ", " : "; the longest: ", nai_strings_get(&events->names, e->name));
    nai_fmt_duration(out, (double)(e->end - e->start));
    nai_buf_puts(out, " at ");
    nai_put_moment(out, e->start);
    nai_buf_puts(out, " (median ");
    nai_fmt_duration(out, groups[of[longest[i].value]].numbers.stats.p50);
    nai_buf_putc(out, ')');
  }
  return NAI_OK;
}
