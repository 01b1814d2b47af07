/* Answers by relations. */
#include "features/ask/relation.h"

#include "base/fmt.h"
#include "base/sort.h"
#include "features/ask/relation_numbers.h"

struct answering {
  const struct nai_asking *asking;
  const struct nai_relation *r;
  struct nai_thing_events events[2];
  struct nai_buf said;
  bool none; /* there is nothing to say */
};

static struct nai_arena *arena_of(const struct answering *a) { return a->asking->arena; }

static int numbers_of(struct nai_thing_numbers *out, const struct answering *a, int side, struct nai_err *err) {
  return nai_numbers_of(out, &a->events[side], a->r->statistic == NAI_STATISTIC_BYTES, NULL, NULL, arena_of(a), err);
}

static void put_begin_of_longest(struct nai_buf *out, const struct nai_thing_numbers *n) {
  if (n->stats.count < 2)
    return;
  nai_buf_puts(out, "; the longest begins at ");
  nai_put_moment(out, n->longest->start);
}

/* --- numbers of one thing --------------------------------------------------------------------------------------------
 */

static int say_numbers(struct answering *a, struct nai_err *err) {
  const enum nai_statistic statistic = a->r->statistic;
  const struct nai_thing_filter *filter = &a->r->filter;
  const bool limited = filter->least_ns >= 0 || filter->most_ns >= 0, sizes = statistic == NAI_STATISTIC_BYTES;
  struct nai_buf *out = &a->said;
  struct nai_thing_numbers n;
  NAI_TRY(numbers_of(&n, a, 0, err));
  if (limited && a->r->yes_no) {
    nai_buf_puts(out, n.stats.count ? "Yes: " : "No: ");
  } else if (statistic > NAI_STATISTIC_COUNT && n.stats.count) {
    nai_put_number(out, sizes ? n.stats.p50 : nai_number_of(&n, statistic), statistic);
    nai_buf_printf(out, statistic == NAI_STATISTIC_TOTAL ? " %s: " : " is the %s: ",
                   sizes ? "median size" : nai_statistic_name(statistic));
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
  nai_put_spread(out, &n, statistic);
  put_begin_of_longest(out, &n);
  return NAI_OK;
}

/* Of the first thing what begins, or was launched, in the second. */
static int say_inside(struct answering *a, struct nai_err *err) {
  struct nai_thing_events *events = &a->events[0];
  uint32_t *inside, kept = 0;
  NAI_TRY(nai_things_place(&inside, events, &a->events[1], arena_of(a), err));
  for (uint32_t i = 0; i < events->count; i++)
    if (inside[i] != UINT32_MAX)
      events->at[kept++] = events->at[i];
  events->count = kept;
  return say_numbers(a, err);
}

/* --- groups of one thing
 * ---------------------------------------------------------------------------------------------- */

/* Events of one GPU, process, stream, thread or name. */
struct group {
  int64_t key[2];
  struct nai_thing_numbers numbers;
  int64_t last; /* end */
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
static int make_groups(struct group **out, uint32_t *count, uint32_t **of, const struct answering *a,
                       enum nai_relation_group by, struct nai_err *err) {
  const struct nai_thing_events *events = &a->events[0];
  struct nai_strings known = {.arena = arena_of(a)};
  struct group *groups = NULL;
  struct nai_stats *stats;
  uint32_t capacity = 0;
  int64_t *values, key[2];
  NAI_TRY(NAI_NEW(*of, arena_of(a), events->count, err));
  NAI_TRY(NAI_NEW(values, arena_of(a), events->count, err));
  for (uint32_t i = 0; i < events->count; i++) {
    const struct nai_thing_event *e = &events->at[i];
    key_of(key, e, by);
    const uint32_t g = (*of)[i] = nai_strings_add(&known, (const char *)key, sizeof key);
    NAI_TRY(nai_memory_check(g != NAI_NO_STRING, err));
    NAI_TRY(NAI_ROOM(groups, capacity, g, arena_of(a), err));
    memcpy(groups[g].key, key, sizeof key);
    groups[g].last = e->end > groups[g].last ? e->end : groups[g].last;
    groups[g].numbers.bytes += e->bytes;
    values[i] = e->end - e->start;
  }
  NAI_TRY(NAI_NEW(stats, arena_of(a), known.count, err));
  NAI_TRY(nai_group_stats(stats, known.count,
                          &(struct nai_values){.rows = events->count, .groups = *of, .values = values}, err));
  for (uint32_t g = 0; g < known.count; g++)
    groups[g].numbers.stats = stats[g];
  *out = groups;
  *count = known.count;
  return NAI_OK;
}

static void put_group(struct nai_buf *out, const struct answering *a, const struct group *g) {
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
  bool less, last;
};

static double rank_of(const struct group *g, const struct by_number *by) {
  return by->last ? (double)g->last : nai_number_of(&g->numbers, by->statistic);
}

static int by_rank(const void *left, const void *right, void *ctx) {
  const struct group *a = left, *b = right;
  const struct by_number *by = ctx;
  const double one = rank_of(a, by), other = rank_of(b, by);
  const int order = NAI_SIGN(other, one);
  return order ? (by->less ? -order : order) : NAI_COMPARE({a->key[0], b->key[0]}, {a->key[1], b->key[1]});
}

static void put_rank(struct nai_buf *out, const struct group *g, const struct by_number *by) {
  if (by->last)
    nai_put_moment(out, g->last);
  else
    nai_put_number(out, rank_of(g, by), by->statistic);
}

/* The first in order, and by how much. */
static void put_leader(struct nai_buf *out, const struct answering *a, const struct group *groups, uint32_t count,
                       const struct by_number *by) {
  if (a->r->balanced) {
    nai_fmt_count(out, count);
    nai_buf_printf(out, " %s, from ", nouns[a->r->group]);
    put_rank(out, &groups[by->less ? 0 : count - 1], by);
    nai_buf_puts(out, " to ");
    put_rank(out, &groups[by->less ? count - 1 : 0], by);
    nai_buf_puts(out, ": ");
  }
  put_group(out, a, &groups[0]);
  nai_buf_puts(out, by->last     ? " ends last, at "
                    : count == 1 ? " has all: "
                    : by->less   ? " has least: "
                                 : " has most: ");
  put_rank(out, &groups[0], by);
  if (by->statistic > NAI_STATISTIC_TOTAL && by->statistic != NAI_STATISTIC_BYTES && !by->last)
    nai_buf_printf(out, " (%s)", nai_statistic_name(by->statistic));
  const double first = rank_of(&groups[0], by), second = count == 2 ? rank_of(&groups[1], by) : 0;
  if (first > 0 && second > 0 && !by->last) {
    nai_buf_puts(out, by->less ? ", less by " : ", more by ");
    nai_put_number(out, fabs(first - second), by->statistic);
    nai_buf_puts(out, " (");
    nai_put_factor(out, fmax(first, second), fmin(first, second));
    nai_buf_puts(out, " times)");
  }
}

static int say_groups(struct answering *a, struct nai_err *err) {
  enum { SHOWN = 16 };
  struct by_number by = {a->r->statistic ? a->r->statistic : NAI_STATISTIC_TOTAL, a->r->less, a->r->ends_last};
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
static int say_ranking(struct answering *a, struct nai_err *err) {
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
    if (a->r->without && strstr(a->r->without, nai_arena_printf(arena_of(a), "\n%s\n", name)))
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

/* --- two things
 * ------------------------------------------------------------------------------------------------------- */

/* "probe is slower: average 2.00 ms against 13.0 us, 154 times as long; " */
static void put_verdict(struct nai_buf *out, const struct nai_relation *r, double one, double other,
                        enum nai_statistic by) {
  const bool plain = by == NAI_STATISTIC_COUNT || by == NAI_STATISTIC_TOTAL || by == NAI_STATISTIC_BYTES;
  const int most = other > one, said = r->less && !plain ? !most : most;
  if (r->yes_no)
    nai_buf_puts(out, (r->less ? one < other : one > other) ? "Yes: " : "No: ");
  if (r->ratio) {
    nai_put_factor(out, one, other);
    nai_buf_puts(out, " to 1: ");
    return;
  }
  nai_put_thing(out, &r->things[said], false);
  const char *const verbs[][2] = {{"have", "has"}, {"are", "is"}, {"take", "takes"}};
  const bool single = nai_thing_is_one(&r->things[said]), has = one == other || by == NAI_STATISTIC_COUNT;
  nai_buf_printf(out, " %s %s: %s%s",
                 verbs[has                         ? 0
                       : by == NAI_STATISTIC_TOTAL ? 2
                                                   : 1][single],
                 one == other                       ? "as much"
                 : has || by == NAI_STATISTIC_TOTAL ? "more"
                 : by == NAI_STATISTIC_BYTES        ? "larger"
                 : said == most                     ? "slower"
                                                    : "faster",
                 plain ? "" : nai_statistic_name(by), plain ? "" : " ");
  nai_put_number(out, said ? other : one, by);
  nai_buf_puts(out, " against ");
  nai_put_number(out, said ? one : other, by);
  nai_buf_puts(out, said == most ? ", " : ", which is ");
  nai_put_factor(out, fmax(one, other), fmin(one, other));
  nai_buf_printf(out, " times as %s; ",
                 by == NAI_STATISTIC_COUNT   ? "many"
                 : by == NAI_STATISTIC_BYTES ? "much"
                                             : "long");
}

static int say_compared(struct answering *a, struct nai_err *err) {
  const struct nai_relation *r = a->r;
  const enum nai_statistic by = r->statistic ? r->statistic : NAI_STATISTIC_AVERAGE;
  struct nai_buf *out = &a->said;
  struct nai_thing_numbers n[2];
  for (int side = 0; side < 2; side++)
    NAI_TRY(numbers_of(&n[side], a, side, err));
  const double both = (double)n[0].stats.total + (double)n[1].stats.total;
  for (int side = 0; side < 2 && r->shares; side++) {
    nai_fmt_percent(out, nai_percent((double)n[side].stats.total, both));
    nai_buf_putc(out, ' ');
    nai_put_thing(out, &r->things[side], false);
    nai_buf_puts(out, side ? " of the time of both: " : " and ");
  }
  if (!r->shares && nai_number_of(&n[0], by) > 0 && nai_number_of(&n[1], by) > 0)
    put_verdict(out, r, nai_number_of(&n[0], by), nai_number_of(&n[1], by), by);
  for (int side = 0; side < 2; side++) {
    nai_buf_puts(out, side ? "; " : "");
    nai_put_count(out, &r->things[side], n[side].stats.count);
    nai_put_spread(out, &n[side], by);
  }
  return NAI_OK;
}

/* The time of some events: of those inside something. */
static int64_t time_of(uint32_t *count, const struct nai_thing_events *events, const uint32_t *inside) {
  int64_t time = 0;
  *count = 0;
  for (uint32_t i = 0; i < events->count; i++)
    if (!inside || inside[i] != UINT32_MAX) {
      time += events->at[i].end - events->at[i].start;
      ++*count;
    }
  return time;
}

/* Time of the part inside the whole, of the whole's: on the host; of GPU work that of all that was launched there. */
static int say_share(struct answering *a, struct nai_err *err) {
  const struct nai_thing *part = &a->r->things[0], *whole = &a->r->things[1];
  const bool on_gpu = nai_thing_is_on_gpu(whole), named = part->names || part->category || part->op || part->direction;
  const bool launched = nai_thing_is_on_gpu(part) && !on_gpu && whole->kind != NAI_THING_CALLS && named;
  struct nai_thing_events all = a->events[1];
  struct nai_buf *out = &a->said;
  uint32_t *inside = NULL, *within = NULL, count, all_count;
  a->none = on_gpu && !nai_thing_is_on_gpu(part);
  if (a->none)
    return NAI_OK;
  if (!on_gpu)
    NAI_TRY(nai_things_place(&inside, &a->events[0], &a->events[1], arena_of(a), err));
  if (launched) {
    NAI_TRY(nai_things_load(&all, &(struct nai_thing){.kind = NAI_THING_OPERATIONS}, &a->r->filter, a->asking, err));
    NAI_TRY(nai_things_place(&within, &all, &a->events[1], arena_of(a), err));
  }
  const int64_t time = time_of(&count, &a->events[0], inside), of = time_of(&all_count, &all, within);
  a->none = of <= 0;
  if (a->none)
    return NAI_OK;
  nai_fmt_percent(out, nai_percent((double)time, (double)of));
  nai_buf_printf(out, " of the %s of ", launched ? "GPU time" : "time");
  nai_put_thing(out, whole, false);
  nai_buf_puts(out, ": ");
  nai_put_count(out, part, count);
  nai_buf_puts(out, on_gpu ? " take " : " inside take ");
  nai_fmt_duration(out, (double)time);
  nai_buf_puts(out, " of ");
  nai_fmt_duration(out, (double)of);
  nai_buf_puts(out, launched ? " that it launches on GPUs" : "");
  return NAI_OK;
}

/* X for each Y: where Y is on the host those that begin or were launched in it, by its names. */
static int say_per(struct answering *a, struct nai_err *err) {
  enum { SHOWN = 24 };
  const struct nai_thing_events *events = &a->events[0], *each = &a->events[1];
  const struct nai_thing *counted = &a->r->things[0], *of = &a->r->things[1];
  const bool time = a->r->statistic > NAI_STATISTIC_COUNT;
  const bool places = !nai_thing_is_on_gpu(of) && of->kind != NAI_THING_CALLS && each->count && each->at[0].tid >= 0;
  const enum nai_statistic unit = time ? NAI_STATISTIC_TOTAL : NAI_STATISTIC_COUNT;
  struct nai_buf *out = &a->said;
  uint32_t *inside = NULL, found;
  int64_t *by_name;
  if (places)
    NAI_TRY(nai_things_place(&inside, events, each, arena_of(a), err));
  NAI_TRY(NAI_NEW(by_name, arena_of(a), each->names.count, err));
  for (uint32_t i = 0; i < events->count && places; i++)
    if (inside[i] != UINT32_MAX)
      by_name[each->at[inside[i]].name] += time ? events->at[i].end - events->at[i].start : 1;
  const int64_t ns = time_of(&found, events, inside);
  const double mean = (time ? (double)ns : found) / fmax(each->count, 1);
  if (time)
    nai_fmt_duration(out, mean);
  else
    nai_buf_printf(out, mean == floor(mean) ? "%.0f" : "%.3g", mean);
  nai_buf_puts(out, " on average: ");
  nai_put_count(out, counted, found);
  nai_buf_puts(out, ", ");
  nai_fmt_duration(out, (double)ns);
  nai_buf_puts(out, places ? " total, inside " : " total, for ");
  nai_put_count(out, of, each->count);
  for (uint32_t i = 0; places && each->names.count > 1 && i < each->names.count && i < SHOWN; i++) {
    nai_buf_printf(out, "%s%s ", i ? ", " : "; ", nai_strings_get(&each->names, i));
    nai_put_number(out, (double)by_name[i], unit);
  }
  if (places && each->names.count > SHOWN)
    nai_buf_printf(out, ", and %u more", each->names.count - SHOWN);
  return NAI_OK;
}

/* --- from one to the next
 * --------------------------------------------------------------------------------------------- */

static int64_t moment_of(const struct nai_thing_event *event, bool end) { return end ? event->end : event->start; }

/* The event that an edge means, of those that begin no earlier than `from`; NULL: none. */
static const struct nai_thing_event *edge_of(const struct nai_thing_events *events, enum nai_relation_edge edge,
                                             int64_t from) {
  const struct nai_thing_event *found = NULL;
  for (uint32_t i = 0; i < events->count; i++) {
    const struct nai_thing_event *e = &events->at[i];
    if (edge == NAI_EDGE_LAST)
      found = !found || e->end > found->end ? e : found;
    else if (!found && e->start >= from)
      found = e;
  }
  return found;
}

static void put_side(struct nai_buf *out, const struct nai_relation *r, int side) {
  const enum nai_relation_edge edge = side ? r->to.edge : r->from.edge;
  nai_buf_printf(out, "the %s of the %s", (side ? r->to.end : r->from.end) ? "end" : "start",
                 edge == NAI_EDGE_FIRST  ? "first "
                 : edge == NAI_EDGE_LAST ? "last "
                 : side                  ? "next "
                                         : "");
  nai_put_thing(out, &r->things[side], true);
}

static int say_once(struct answering *a) {
  const struct nai_relation *r = a->r;
  const struct nai_thing_event *from = edge_of(&a->events[0], r->from.edge, INT64_MIN), *to = NULL;
  if (from)
    to = edge_of(&a->events[1], r->to.edge, r->to.edge == NAI_EDGE_ANY ? moment_of(from, r->from.end) : INT64_MIN);
  a->none = !to;
  if (a->none)
    return NAI_OK;
  const int64_t begin = moment_of(from, r->from.end), end = moment_of(to, r->to.end);
  nai_fmt_duration(&a->said, (double)(end < begin ? begin - end : end - begin));
  nai_buf_puts(&a->said, " from ");
  put_side(&a->said, r, 0);
  nai_buf_puts(&a->said, " at ");
  nai_put_moment(&a->said, begin);
  nai_buf_puts(&a->said, end < begin ? " back to " : " to ");
  put_side(&a->said, r, 1);
  nai_buf_puts(&a->said, " at ");
  nai_put_moment(&a->said, end);
  return NAI_OK;
}

/* Lengths of time as events, which are summed up alike. */
static int say_lengths(struct answering *a, const struct nai_thing_events *lengths, const char *what,
                       struct nai_err *err) {
  const enum nai_statistic asked = a->r->statistic,
                           statistic = asked <= NAI_STATISTIC_TOTAL ? NAI_STATISTIC_AVERAGE : asked;
  struct nai_thing_numbers n;
  NAI_TRY(nai_numbers_of(&n, lengths, false, NULL, NULL, arena_of(a), err));
  a->none = !n.stats.count;
  if (a->none)
    return NAI_OK;
  nai_put_number(&a->said, nai_number_of(&n, statistic), statistic);
  nai_buf_printf(&a->said, " is the %s %s: ", nai_statistic_name(statistic), what);
  nai_fmt_count(&a->said, n.stats.count);
  nai_buf_puts(&a->said, " of them");
  nai_put_spread(&a->said, &n, statistic);
  put_begin_of_longest(&a->said, &n);
  return NAI_OK;
}

/* Each X and the first Y that begins after it, unless another X does before that. */
static int say_between(struct answering *a, struct nai_err *err) {
  const struct nai_relation *r = a->r;
  const struct nai_thing_events *from = &a->events[0], *to = &a->events[1];
  struct nai_thing_events lengths = {0};
  NAI_SCOPED(nai_buf) what = {0};
  if (r->from.edge != NAI_EDGE_ANY || (r->to.edge != NAI_EDGE_ANY && from->count == 1))
    return say_once(a);
  a->none = r->to.edge != NAI_EDGE_ANY; /* from each of them to one? */
  if (a->none)
    return NAI_OK;
  NAI_TRY(NAI_NEW(lengths.at, arena_of(a), from->count, err));
  for (uint32_t i = 0, next = 0; i < from->count; i++) {
    const int64_t begin = moment_of(&from->at[i], r->from.end);
    while (next < to->count && to->at[next].start < begin)
      next++;
    if (next == to->count)
      break;
    if (i + 1 < from->count && from->at[i + 1].start < to->at[next].start)
      continue;
    lengths.at[lengths.count++] = (struct nai_thing_event){.start = begin, .end = moment_of(&to->at[next], r->to.end)};
  }
  nai_buf_puts(&what, "time from ");
  put_side(&what, r, 0);
  nai_buf_puts(&what, " to ");
  put_side(&what, r, 1);
  NAI_TRY(nai_buf_check(&what, err));
  return say_lengths(a, &lengths, nai_buf_str(&what), err);
}

NAI_ORDER(by_lane, struct nai_thing_event, {a->gpu, b->gpu}, {a->stream, b->stream}, {a->tid, b->tid},
          {a->start, b->start})

/* From the end of one to the start of the next of the same lane. */
static void add_gaps(struct nai_thing_events *lengths, struct nai_thing_events *events) {
  if (events->count)
    qsort(events->at, events->count, sizeof *events->at, by_lane);
  for (uint32_t i = 1; i < events->count; i++) {
    const struct nai_thing_event *e = &events->at[i], *before = e - 1;
    if (e->gpu == before->gpu && e->stream == before->stream && e->tid == before->tid && e->start >= before->end)
      lengths->at[lengths->count++] = (struct nai_thing_event){.start = before->end, .end = e->start};
  }
}

/* On a stream or thread; where each has a stream of its own, on a GPU. */
static int say_gaps(struct answering *a, struct nai_err *err) {
  struct nai_thing_events *events = &a->events[0], lengths = {0};
  const bool on_gpu = nai_thing_is_on_gpu(&a->r->things[0]);
  const char *lane = on_gpu ? "stream" : "thread";
  NAI_SCOPED(nai_buf) what = {0};
  NAI_TRY(NAI_NEW(lengths.at, arena_of(a), events->count, err));
  for (uint32_t i = 0; i < events->count && on_gpu; i++)
    events->at[i].tid = 0; /* whoever launched it */
  add_gaps(&lengths, events);
  if (!lengths.count && on_gpu) {
    lane = "GPU";
    for (uint32_t i = 0; i < events->count; i++)
      events->at[i].stream = 0;
    add_gaps(&lengths, events);
  }
  nai_buf_puts(&what, "gap between ");
  nai_put_thing(&what, &a->r->things[0], false);
  nai_buf_printf(&what, ", each and the next of its %s", lane);
  NAI_TRY(nai_buf_check(&what, err));
  return say_lengths(a, &lengths, nai_buf_str(&what), err);
}

static int say_latency(struct answering *a, struct nai_err *err) {
  const size_t side = a->r->count - 1;
  const struct nai_thing_events *events = &a->events[side];
  struct nai_thing_events lengths = {0};
  NAI_TRY(NAI_NEW(lengths.at, arena_of(a), events->count, err));
  for (uint32_t i = 0; i < events->count && nai_thing_is_on_gpu(&a->r->things[side]); i++)
    if (events->at[i].call != NAI_NULL_I64 && events->at[i].start >= events->at[i].call)
      lengths.at[lengths.count++] = (struct nai_thing_event){.start = events->at[i].call, .end = events->at[i].start};
  return say_lengths(a, &lengths, "latency, from the start of the launching call to the start on the GPU", err);
}

/* --- one thing over time
 * ---------------------------------------------------------------------------------------------- */

static bool is_after(const struct nai_thing_event *event, const void *ctx) {
  return event->start > *(const int64_t *)ctx;
}
static bool is_not_after(const struct nai_thing_event *event, const void *ctx) { return !is_after(event, ctx); }

static int say_first(struct answering *a, struct nai_err *err) {
  const struct nai_thing_events *events = &a->events[0];
  struct nai_buf *out = &a->said;
  struct nai_thing_numbers rest;
  if (!events->count) {
    nai_put_count(out, &a->r->things[0], 0);
    return NAI_OK;
  }
  const struct nai_thing_event *first = &events->at[0];
  const double ns = (double)(first->end - first->start);
  NAI_TRY(nai_numbers_of(&rest, events, false, is_after, &first->start, arena_of(a), err));
  if (a->r->yes_no && rest.stats.count)
    nai_buf_puts(out, (a->r->less ? ns < rest.stats.mean : ns > rest.stats.mean) ? "Yes: " : "No: ");
  nai_fmt_duration(out, ns);
  nai_buf_puts(out, " is the first of ");
  nai_put_thing(out, &a->r->things[0], false);
  nai_buf_puts(out, ", at ");
  nai_put_moment(out, first->start);
  if (rest.stats.count) {
    nai_buf_puts(out, "; the others average ");
    nai_fmt_duration(out, rest.stats.mean);
    nai_buf_puts(out, ": ");
    nai_put_count(out, &a->r->things[0], rest.stats.count);
    nai_put_spread(out, &rest, NAI_STATISTIC_NONE);
    put_begin_of_longest(out, &rest);
  }
  return NAI_OK;
}

/* The second half of the events against the first. */
static int say_trend(struct answering *a, struct nai_err *err) {
  enum { CHANGE_PCT = 5, FEWEST = 4 };
  const struct nai_thing_events *events = &a->events[0];
  struct nai_buf *out = &a->said;
  struct nai_thing_numbers early, late;
  a->none = events->count < FEWEST;
  if (a->none)
    return NAI_OK;
  const int64_t middle = events->at[(events->count - 1) / 2].start;
  NAI_TRY(nai_numbers_of(&early, events, false, is_not_after, &middle, arena_of(a), err));
  NAI_TRY(nai_numbers_of(&late, events, false, is_after, &middle, arena_of(a), err));
  const double change = nai_percent(late.stats.mean - early.stats.mean, early.stats.mean);
  nai_buf_puts(out, change > CHANGE_PCT ? "Slower: " : change < -CHANGE_PCT ? "Faster: " : "No: ");
  nai_buf_puts(out, "the second half of ");
  nai_put_count(out, &a->r->things[0], events->count);
  nai_buf_puts(out, " averages ");
  nai_fmt_duration(out, late.stats.mean);
  nai_buf_puts(out, ", the first ");
  nai_fmt_duration(out, early.stats.mean);
  nai_buf_puts(out, " (");
  nai_fmt_change(out, change, 1);
  nai_buf_puts(out, "); medians ");
  nai_fmt_duration(out, late.stats.p50);
  nai_buf_puts(out, " and ");
  nai_fmt_duration(out, early.stats.p50);
  return NAI_OK;
}

/* Those that take so many times the median of their name, the longest first. */
static int say_outliers(struct answering *a, struct nai_err *err) {
  enum { SHOWN = 4, OTHERWISE = 2 };
  const double times = a->r->times > 0 ? a->r->times : OTHERWISE;
  const struct nai_thing_events *events = &a->events[0];
  struct nai_buf *out = &a->said;
  struct group *groups;
  struct nai_key *longest;
  uint32_t count, *of, found = 0;
  NAI_TRY(make_groups(&groups, &count, &of, a, NAI_GROUP_NONE, err));
  NAI_TRY(NAI_NEW(longest, arena_of(a), events->count, err));
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

/* --- answering
 * ---------------------------------------------------------------------------------------------------------- */

static int (*const sayers[])(struct answering *, struct nai_err *) = {
    [NAI_RELATION_NUMBERS] = say_numbers,  [NAI_RELATION_GROUPS] = say_groups,   [NAI_RELATION_RANKING] = say_ranking,
    [NAI_RELATION_COMPARE] = say_compared, [NAI_RELATION_SHARE] = say_share,     [NAI_RELATION_INSIDE] = say_inside,
    [NAI_RELATION_PER] = say_per,          [NAI_RELATION_BETWEEN] = say_between, [NAI_RELATION_GAPS] = say_gaps,
    [NAI_RELATION_FIRST] = say_first,      [NAI_RELATION_TREND] = say_trend,     [NAI_RELATION_OUTLIERS] = say_outliers,
    [NAI_RELATION_LATENCY] = say_latency};

/* "the other levels": those of the second thing without the first. */
static void leave_out(struct answering *a, const char *names) {
  struct nai_thing_events *events = &a->events[1];
  uint32_t kept = 0;
  for (uint32_t i = 0; i < events->count; i++)
    if (!strstr(names, nai_arena_printf(arena_of(a), "\n%s\n", nai_strings_get(&events->names, events->at[i].name))))
      events->at[kept++] = events->at[i];
  events->count = kept;
}

static int answer(bool *answered, struct answering *a, struct nai_err *err) {
  for (size_t i = 0; i < a->r->count && i < 2; i++)
    NAI_TRY(nai_things_load(&a->events[i], &a->r->things[i], &a->r->filter, a->asking, err));
  if (a->r->count == 2 && a->r->without)
    leave_out(a, a->r->without);
  for (size_t i = 0; i < a->r->count && i < 2; i++) /* the trace has none */
    if (!a->events[i].count && (a->r->things[i].kind == NAI_THING_STEPS || (i && a->r->kind == NAI_RELATION_PER)))
      return NAI_OK;
  NAI_TRY(sayers[a->r->kind](a, err));
  NAI_TRY(nai_buf_check(&a->said, err));
  if (a->none)
    return NAI_OK;
  struct nai_fact *fact = nai_fact_new(a->asking, "run_info", 0);
  if (fact)
    fact->text = nai_answer_text(a->asking, &a->said);
  nai_buf_putc(&a->said, '.');
  nai_answer_say(a->asking, &a->asking->answer->said, fact, nai_buf_str(&a->said));
  if (a->r->why)
    nai_answer_say(a->asking, &a->asking->answer->limits, NULL, "This says how long it takes, not why.");
  a->asking->answer->intent = "relation";
  *answered = true;
  return NAI_OK;
}

/* Whether its words say so much that no intent says more. */
static bool is_strong(const struct nai_relation *r) {
  const bool edges = r->kind == NAI_RELATION_BETWEEN && r->from.edge != NAI_EDGE_ANY && r->to.edge != NAI_EDGE_ANY;
  bool named = r->shares || (r->kind == NAI_RELATION_COMPARE && r->compares) ||
               (r->kind == NAI_RELATION_BETWEEN && r->to.edge == NAI_EDGE_LAST) || edges;
  for (size_t t = 0; t < r->count; t++)
    named |= r->things[t].names != NULL;
  return named && ((r->count == 2 && r->kind != NAI_RELATION_INSIDE) || r->kind >= NAI_RELATION_BETWEEN ||
                   r->statistic == NAI_STATISTIC_SPREAD);
}

int nai_relation_answer(bool *answered, const struct nai_asking *asking, bool strong, struct nai_err *err) {
  struct nai_relation relation;
  struct answering a = {.asking = asking, .r = &relation};
  *answered = false;
  if (strong && !nai_relation_is_likely(asking->question))
    return NAI_OK;
  NAI_TRY(nai_relation_read(&relation, asking, asking->question, err));
  if (!relation.kind || (strong && !is_strong(&relation)))
    return NAI_OK;
  int rc = answer(answered, &a, err);
  nai_buf_free(&a.said);
  return rc;
}
