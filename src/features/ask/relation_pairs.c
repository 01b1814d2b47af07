/* What is said of two things: which one is more, a share, one for each of the other. */
#include "features/ask/relation_say.h"

#include "base/fmt.h"
#include "base/sort.h"
#include "table/intervals.h"

static const char *verdict_of(enum nai_statistic by, bool single, bool is_more) {
  if (by == NAI_STATISTIC_COUNT)
    return single ? "has more" : "have more";
  if (by == NAI_STATISTIC_TOTAL)
    return single ? "takes more" : "take more";
  if (by == NAI_STATISTIC_BYTES)
    return single ? "is larger" : "are larger";
  if (by == NAI_STATISTIC_RATE)
    is_more = !is_more;
  return is_more ? (single ? "is slower" : "are slower") : single ? "is faster" : "are faster";
}

#define CLOSE 0.1 /* 1.9 times is called 2x */

/* "probe is slower: average 2.00 ms against 13.0 us, 154 times as long; " */
static void put_verdict(struct nai_buf *out, const struct nai_relation *r, double one, double other,
                        enum nai_statistic by) {
  const bool plain = by == NAI_STATISTIC_COUNT || by == NAI_STATISTIC_TOTAL || by == NAI_STATISTIC_BYTES;
  const int most = other > one, said = r->less && !plain ? !most : most;
  const double factor = r->less ? other / one : one / other;
  if (r->yes_no && r->times > 0) /* "is X 2x slower than Y" */
    nai_buf_puts(out, fabs(factor - r->times) <= CLOSE * r->times ? "Yes: " : "No: ");
  else if (r->yes_no)
    nai_put_whether_more(out, r->less ? other : one, r->less ? one : other);
  if (r->ratio) {
    nai_put_factor(out, one, other);
    nai_buf_puts(out, " to 1: ");
    return;
  }
  nai_put_thing(out, &r->things[said], false);
  if (one == other)
    nai_buf_puts(out, " is the same: ");
  else
    nai_buf_printf(out, " %s: ", verdict_of(by, nai_thing_is_one(&r->things[said]), said == most));
  nai_buf_printf(out, "%s%s", plain ? "" : nai_statistic_name(by), plain ? "" : " ");
  nai_put_number(out, said ? other : one, by);
  nai_buf_puts(out, " against ");
  nai_put_number(out, said ? one : other, by);
  const bool ranges = r->things[0].kind == NAI_THING_RANGES && r->things[1].kind == NAI_THING_RANGES;
  if (ranges && !r->work && by != NAI_STATISTIC_COUNT) /* what they launched may take another time */
    nai_buf_puts(out, " on the CPU");
  if (fmax(one, other) < 1.005 * fmin(one, other)) { /* as good as the same */
    nai_buf_puts(out, "; ");
    return;
  }
  nai_buf_puts(out, said == most ? ", " : ", which is ");
  nai_put_factor(out, fmax(one, other), fmin(one, other));
  nai_buf_printf(out, " times as %s; ",
                 by == NAI_STATISTIC_COUNT   ? "many"
                 : by == NAI_STATISTIC_BYTES ? "much"
                 : by == NAI_STATISTIC_RATE  ? "fast"
                                             : "long");
}

/* Of two ranges: the CUDA call inside that takes most longer in the slower one. */
static int put_why(struct nai_answering *a, const struct nai_thing_numbers n[2], struct nai_err *err) {
  const struct nai_thing_filter all = {-1, -1, -1, -1, -1};
  const int slow = n[1].stats.mean > n[0].stats.mean;
  const double differs = n[slow].stats.mean - n[!slow].stats.mean;
  struct nai_thing_events calls;
  uint32_t *inside, most = 0;
  double *ns[2];
  NAI_TRY(nai_things_load(&calls, &(struct nai_thing){.kind = NAI_THING_CALLS}, &all, a->asking, err));
  for (int side = 0; side < 2; side++) {
    NAI_TRY(NAI_NEW(ns[side], nai_answering_arena(a), calls.names.count, err));
    NAI_TRY(nai_things_place(&inside, &calls, &a->events[side], nai_answering_arena(a), err));
    for (uint32_t i = 0; i < calls.count; i++)
      if (inside[i] != UINT32_MAX)
        ns[side][calls.at[i].name] += (double)(calls.at[i].end - calls.at[i].start) / fmax(a->events[side].count, 1);
  }
  for (uint32_t c = 1; c < calls.names.count; c++)
    if (ns[slow][c] - ns[!slow][c] > ns[slow][most] - ns[!slow][most])
      most = c;
  const double more = calls.names.count ? ns[slow][most] - ns[!slow][most] : 0;
  if (more <= 0 || differs <= 0)
    return NAI_OK;
  nai_buf_printf(&a->said, "; of the CUDA calls inside, %s grows most: ", nai_strings_get(&calls.names, most));
  nai_fmt_duration(&a->said, ns[slow][most]);
  nai_buf_puts(&a->said, " each time instead of ");
  nai_fmt_duration(&a->said, ns[!slow][most]);
  nai_buf_puts(&a->said, ", ");
  nai_fmt_percent(&a->said, nai_percent(fmin(more, differs), differs));
  nai_buf_puts(&a->said, " of the difference");
  a->r->why = false;
  return NAI_OK;
}

int nai_say_compared(struct nai_answering *a, struct nai_err *err) {
  const struct nai_relation *r = a->r;
  const bool on_gpu = nai_thing_is_on_gpu(&r->things[0]) && nai_thing_is_on_gpu(&r->things[1]);
  const enum nai_statistic by = r->statistic ? r->statistic : r->ratio ? NAI_STATISTIC_COUNT : NAI_STATISTIC_AVERAGE;
  struct nai_buf *out = &a->said;
  struct nai_thing_numbers n[2];
  for (int side = 0; side < 2; side++)
    NAI_TRY(nai_numbers_of(&n[side], &a->events[side], a->r->statistic == NAI_STATISTIC_BYTES, NULL, NULL,
                           nai_answering_arena(a), err));
  const double both = (double)n[0].stats.total + (double)n[1].stats.total;
  for (int side = 0; side < 2 && r->shares; side++) {
    nai_fmt_percent(out, nai_percent((double)n[side].stats.total, both));
    nai_buf_putc(out, ' ');
    nai_put_thing(out, &r->things[side], false);
    nai_buf_puts(out, side ? " of the time of both: " : " and ");
  }
  if (r->ratio && !r->statistic && on_gpu && n[0].stats.total &&
      n[1].stats.total) { /* "copies to kernels, ratio?": of both */
    nai_put_factor(out, (double)n[0].stats.total, (double)n[1].stats.total);
    nai_buf_puts(out, " to 1 by time, ");
    nai_put_factor(out, (double)n[0].stats.count, (double)n[1].stats.count);
    nai_buf_puts(out, " to 1 by number: ");
  } else if (!r->shares && nai_number_of(&n[0], by) > 0 && nai_number_of(&n[1], by) > 0)
    put_verdict(out, r, nai_number_of(&n[0], by), nai_number_of(&n[1], by), by);
  for (int side = 0; side < 2; side++) {
    nai_buf_puts(out, side ? "; " : "");
    nai_put_count(out, &r->things[side], n[side].stats.count);
    nai_put_spread(out, &n[side], by);
  }
  const bool ranges = r->things[0].kind == NAI_THING_RANGES && r->things[1].kind == NAI_THING_RANGES && !r->work;
  return r->why && ranges ? put_why(a, n, err) : NAI_OK;
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
int nai_say_share(struct nai_answering *a, struct nai_err *err) {
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
    NAI_TRY(nai_things_place(&inside, &a->events[0], &a->events[1], nai_answering_arena(a), err));
  if (launched) {
    NAI_TRY(nai_things_load(&all, &(struct nai_thing){.kind = NAI_THING_OPERATIONS}, &a->r->filter, a->asking, err));
    NAI_TRY(nai_things_place(&within, &all, &a->events[1], nai_answering_arena(a), err));
  }
  const int64_t time = time_of(&count, &a->events[0], inside), of = time_of(&all_count, &all, within);
  a->none = of <= 0 || time > of; /* what is launched may go on behind its call: no part of it */
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

/* When those on one GPU run, or on the host; -1: all of them. `span`: from the first one to the last. */
static void gather(struct nai_intervals *out, const struct nai_thing_events *events, int64_t gpu, bool span,
                   struct nai_interval *room) {
  size_t count = 0;
  for (uint32_t i = 0; i < events->count; i++)
    if (gpu < 0 || events->at[i].gpu < 0 || events->at[i].gpu == gpu)
      room[count++] = (struct nai_interval){events->at[i].start, events->at[i].end};
  for (size_t i = 1; i < count && span; i++)
    room[0].end = room[i].end > room[0].end ? room[i].end : room[0].end;
  nai_intervals_gather(out, room, span && count ? 1 : count);
}

static int say_cover_of(struct nai_answering *a, int64_t gpu, bool more, struct nai_err *err) {
  struct nai_intervals whole = {.arena = nai_answering_arena(a)}, cover = whole, both = whole;
  struct nai_buf *out = &a->said;
  struct nai_interval *room;
  NAI_TRY(NAI_NEW(room, nai_answering_arena(a), (size_t)a->events[0].count + a->events[1].count, err));
  gather(&whole, &a->events[0], gpu, a->r->span, room);
  gather(&cover, &a->events[1], gpu, false, room + a->events[0].count);
  nai_intervals_intersect(&both, &whole, &cover);
  NAI_TRY(nai_memory_check(!whole.oom && !cover.oom && !both.oom, err));
  const int64_t of = nai_intervals_total_ns(&whole), busy = nai_intervals_total_ns(&both),
                covered = a->r->idle ? of - busy : busy;
  if (of <= 0)
    return NAI_OK;
  nai_buf_puts(out, out->len ? "; " : a->r->yes_no ? (covered ? "Yes: " : "No: ") : "");
  if (more)
    nai_buf_printf(out, "GPU %" PRId64 ": ", gpu);
  nai_fmt_percent(out, nai_percent((double)covered, (double)of));
  nai_buf_puts(out, a->r->span ? " of the time from the first " : " of the time of ");
  nai_put_thing(out, &a->r->things[0], a->r->span);
  nai_buf_puts(out, a->r->span ? " to the last" : "");
  if (a->r->things[1].kind == NAI_THING_OPERATIONS) {
    nai_buf_printf(out, " passes %s work on the GPU: ", a->r->idle ? "without" : "with");
  } else {
    nai_buf_puts(out, " is covered by ");
    nai_put_thing(out, &a->r->things[1], false);
    nai_buf_puts(out, ": ");
  }
  nai_fmt_duration(out, (double)covered);
  nai_buf_puts(out, " of ");
  nai_fmt_duration(out, (double)of);
  return NAI_OK;
}

/* The time of X in which some Y runs, on each GPU that either runs on. */
int nai_say_cover(struct nai_answering *a, struct nai_err *err) {
  const int of = nai_thing_is_on_gpu(&a->r->things[0]) ? 0 : 1;
  const struct nai_thing_events *events = &a->events[of];
  struct nai_intervals gpus = {.arena = nai_answering_arena(a)};
  struct nai_interval *room;
  a->none = a->r->things[1].kind == NAI_THING_OPERATIONS && !a->events[1].count; /* nothing of GPUs was recorded */
  if (a->none)
    return NAI_OK;
  NAI_TRY(NAI_NEW(room, nai_answering_arena(a), events->count, err));
  for (uint32_t i = 0; i < events->count; i++)
    room[i] = (struct nai_interval){events->at[i].gpu, events->at[i].gpu + 1};
  nai_intervals_gather(&gpus, room, events->count);
  const int64_t count = nai_intervals_total_ns(&gpus);
  for (size_t i = 0; i < gpus.count; i++)
    for (int64_t gpu = gpus.v[i].start; gpu < gpus.v[i].end; gpu++)
      NAI_TRY(say_cover_of(a, gpu, count > 1, err));
  if (!gpus.count)
    NAI_TRY(say_cover_of(a, -1, false, err));
  a->none = !a->said.len;
  return NAI_OK;
}

/* Of calls of a kind the names with most time in a set of stretches. */
static int put_calls(struct nai_answering *a, const struct nai_intervals *in, enum nai_thing_kind kind,
                     const char *what, struct nai_err *err) {
  enum { SHOWN = 3 };
  const struct nai_thing_filter all = {-1, -1, -1, -1, -1};
  struct nai_thing_events calls;
  struct nai_coverage coverage;
  struct nai_key *most;
  uint32_t *counts, found = 0;
  int64_t *ns;
  NAI_TRY(nai_things_load(&calls, &(struct nai_thing){.kind = kind}, &all, a->asking, err));
  NAI_TRY(nai_coverage_in(&coverage, in, nai_answering_arena(a), err));
  NAI_TRY(NAI_NEW(ns, nai_answering_arena(a), calls.names.count, err));
  NAI_TRY(NAI_NEW(counts, nai_answering_arena(a), calls.names.count, err));
  NAI_TRY(NAI_NEW(most, nai_answering_arena(a), calls.names.count, err));
  for (uint32_t i = 0; i < calls.count; i++) {
    const int64_t beside = nai_coverage_overlap_ns(&coverage, calls.at[i].start, calls.at[i].end);
    ns[calls.at[i].name] += beside;
    counts[calls.at[i].name] += beside > 0;
  }
  for (uint32_t n = 0; n < calls.names.count; n++)
    if (counts[n])
      most[found++] = (struct nai_key){~nai_key_from_i64(ns[n]), n};
  NAI_TRY(nai_sort_keys(most, found, err));
  for (uint32_t i = 0; i < found && i < SHOWN; i++) {
    const uint32_t n = (uint32_t)most[i].value;
    nai_buf_printf(&a->said, "%s%s ", i ? ", " : what, nai_strings_get(&calls.names, n));
    nai_fmt_duration(&a->said, (double)ns[n]);
    nai_buf_puts(&a->said, " (");
    nai_fmt_count(&a->said, counts[n]);
    nai_buf_putc(&a->said, ')');
  }
  return NAI_OK;
}

/* The calls that run while X does, each with the part of its time, summed over threads. */
int nai_say_beside(struct nai_answering *a, struct nai_err *err) {
  struct nai_intervals whole = {.arena = nai_answering_arena(a)};
  struct nai_interval *room;
  NAI_TRY(NAI_NEW(room, nai_answering_arena(a), a->events[0].count, err));
  gather(&whole, &a->events[0], -1, false, room);
  NAI_TRY(nai_memory_check(!whole.oom, err));
  a->none = !whole.count;
  if (a->none)
    return NAI_OK;
  nai_buf_puts(&a->said, "In the ");
  nai_fmt_duration(&a->said, (double)nai_intervals_total_ns(&whole));
  nai_buf_puts(&a->said, " of ");
  nai_put_thing(&a->said, &a->r->things[0], false);
  const size_t len = a->said.len;
  NAI_TRY(put_calls(a, &whole, NAI_THING_CALLS, ", CUDA calls by their time then: ", err));
  NAI_TRY(put_calls(a, &whole, NAI_THING_OS_CALLS,
                    a->said.len > len ? "; OS calls: " : ", OS calls by their time then: ", err));
  if (a->said.len == len)
    nai_buf_puts(&a->said, " no call runs that was recorded");
  return NAI_OK;
}

/* X for each Y: where Y is on the host those that begin or were launched in it, by its names. */
int nai_say_per(struct nai_answering *a, struct nai_err *err) {
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
    NAI_TRY(nai_things_place(&inside, events, each, nai_answering_arena(a), err));
  NAI_TRY(NAI_NEW(by_name, nai_answering_arena(a), each->names.count, err));
  for (uint32_t i = 0; i < events->count && places; i++)
    if (inside[i] != UINT32_MAX)
      by_name[each->at[inside[i]].name] += time ? events->at[i].end - events->at[i].start : 1;
  uint32_t best = 0;
  for (uint32_t i = 1; i < each->names.count; i++)
    if (a->r->less ? by_name[i] < by_name[best] : by_name[i] > by_name[best])
      best = i;
  /* "per block" of ranges of which none is called so: all there are stand inside of each other. */
  const bool any_range = of->kind == NAI_THING_RANGES && nai_thing_is_plain(of) && each->names.count > SHOWN;
  a->none = any_range || (a->r->leads && (!places || each->names.count < 2));
  if (a->none)
    return NAI_OK;
  uint32_t alike = 0;
  for (uint32_t i = 0; i < each->names.count; i++)
    alike += by_name[i] == by_name[best];
  if (a->r->leads) {
    nai_buf_printf(out, "%s", nai_strings_get(&each->names, best));
    if (alike > 1)
      nai_buf_printf(out, ", and %u more,", alike - 1);
    nai_buf_printf(out, " has %s: ", a->r->less ? "least" : "most");
    nai_put_number(out, (double)by_name[best], unit);
    nai_buf_puts(out, "; ");
  }
  const int64_t ns = time_of(&found, events, inside);
  const double mean = (time ? (double)ns : found) / fmax(each->count, 1);
  if (time)
    nai_fmt_duration(out, mean);
  else
    nai_buf_printf(out, mean == floor(mean) ? "%.0f" : "%.3g", mean);
  nai_buf_printf(out, "%s on average: ", time && counted->kind == NAI_THING_RANGES ? " on the CPU" : "");
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
