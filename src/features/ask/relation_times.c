/* What is said of times: from one to the next, and of one thing over time. */
#include "features/ask/relation_reading.h"
#include "features/ask/relation_say.h"

#include "base/fmt.h"
#include "base/sort.h"

/* --- from one to the next ----------------------------------------------------------------------------------------- */

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

static int say_once(struct nai_answering *a) {
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
static int say_lengths(struct nai_answering *a, const struct nai_thing_events *lengths, const char *what,
                       struct nai_err *err) {
  const enum nai_statistic asked = a->r->statistic,
                           statistic = asked <= NAI_STATISTIC_TOTAL ? NAI_STATISTIC_AVERAGE : asked;
  struct nai_thing_numbers n;
  NAI_TRY(nai_numbers_of(&n, lengths, false, NULL, NULL, nai_answering_arena(a), err));
  a->none = !n.stats.count;
  if (a->none)
    return NAI_OK;
  nai_put_number(&a->said, nai_number_of(&n, statistic), statistic);
  if (n.stats.count == 1) {
    nai_buf_printf(&a->said, " is the %s", what);
    return NAI_OK;
  }
  nai_buf_printf(&a->said, " is the %s %s: ", nai_statistic_name(statistic), what);
  nai_fmt_count(&a->said, n.stats.count);
  nai_buf_puts(&a->said, " of them");
  nai_put_spread(&a->said, &n, statistic);
  nai_put_begin_of_longest(&a->said, &n);
  return NAI_OK;
}

NAI_ORDER(by_lane, struct nai_thing_event, {a->gpu, b->gpu}, {a->stream, b->stream}, {a->tid, b->tid},
          {a->start, b->start})

static bool is_one_lane(const struct nai_thing_event *a, const struct nai_thing_event *b) {
  return a->gpu == b->gpu && a->stream == b->stream && a->tid == b->tid;
}

/* What follows an event is on its thread; what was launched, in its process, or of two on GPUs on the same one.
 * Returns the word for these. */
static const char *put_in_lanes(struct nai_thing_events *events, bool gpus, bool mixed) {
  for (uint32_t i = 0; i < events->count; i++) {
    struct nai_thing_event *e = &events->at[i];
    e->tid = gpus ? 0 : mixed ? e->pid : e->tid;
    e->gpu = gpus ? e->gpu : 0;
    e->stream = 0;
  }
  if (events->count)
    qsort(events->at, events->count, sizeof *events->at, by_lane);
  return gpus ? "GPU" : mixed ? "process" : "thread";
}

/* Each X and the first Y that begins after it, unless another X does before that. */
int nai_say_between(struct nai_answering *a, struct nai_err *err) {
  const struct nai_relation *r = a->r;
  struct nai_thing_events *from = &a->events[0], *to = &a->events[1], lengths = {0};
  const bool on_gpu = nai_thing_is_on_gpu(&r->things[0]), mixed = on_gpu != nai_thing_is_on_gpu(&r->things[1]);
  NAI_SCOPED(nai_buf) what = {0};
  if (r->from.edge != NAI_EDGE_ANY || (r->to.edge != NAI_EDGE_ANY && from->count == 1))
    return say_once(a);
  a->none = r->to.edge != NAI_EDGE_ANY; /* from each of them to one? */
  if (a->none)
    return NAI_OK;
  put_in_lanes(from, on_gpu && !mixed, mixed);
  const char *lane = put_in_lanes(to, on_gpu && !mixed, mixed);
  NAI_TRY(NAI_NEW(lengths.at, nai_answering_arena(a), from->count, err));
  for (uint32_t i = 0, next = 0; i < from->count; i++) {
    const struct nai_thing_event *x = &from->at[i];
    const int64_t begin = moment_of(x, r->from.end);
    while (next < to->count &&
           NAI_COMPARE({to->at[next].gpu, x->gpu}, {to->at[next].tid, x->tid}, {to->at[next].start, begin}) < 0)
      next++;
    if (next == to->count || !is_one_lane(x, &to->at[next]) ||
        (i + 1 < from->count && is_one_lane(x, x + 1) && x[1].start < to->at[next].start))
      continue;
    lengths.at[lengths.count++] = (struct nai_thing_event){.start = begin, .end = moment_of(&to->at[next], r->to.end)};
  }
  nai_buf_puts(&what, "time from ");
  put_side(&what, r, 0);
  nai_buf_puts(&what, " to ");
  put_side(&what, r, 1);
  nai_buf_printf(&what, " of its %s", lane);
  NAI_TRY(nai_buf_check(&what, err));
  return say_lengths(a, &lengths, nai_buf_str(&what), err);
}

/* From the end of one, or its start, to the start of the next of the same lane. */
static void add_gaps(struct nai_thing_events *lengths, struct nai_thing_events *events, bool starts) {
  if (events->count)
    qsort(events->at, events->count, sizeof *events->at, by_lane);
  for (uint32_t i = 1; i < events->count; i++) {
    const struct nai_thing_event *e = &events->at[i], *before = e - 1;
    const int64_t from = starts ? before->start : before->end;
    if (is_one_lane(e, before) && e->start >= from)
      lengths->at[lengths->count++] = (struct nai_thing_event){.start = from, .end = e->start};
  }
}

/* On a stream or thread; where each has a stream of its own, on a GPU. */
int nai_say_gaps(struct nai_answering *a, struct nai_err *err) {
  struct nai_thing_events *events = &a->events[0], lengths = {0};
  const bool on_gpu = nai_thing_is_on_gpu(&a->r->things[0]);
  const char *lane = on_gpu ? "stream" : "thread";
  NAI_SCOPED(nai_buf) what = {0};
  NAI_TRY(NAI_NEW(lengths.at, nai_answering_arena(a), events->count, err));
  for (uint32_t i = 0; i < events->count && on_gpu; i++)
    events->at[i].tid = 0; /* whoever launched it */
  add_gaps(&lengths, events, a->r->starts);
  if (!lengths.count && on_gpu) {
    lane = "GPU";
    for (uint32_t i = 0; i < events->count; i++)
      events->at[i].stream = 0;
    add_gaps(&lengths, events, a->r->starts);
  }
  nai_buf_puts(&what, a->r->starts ? "time between starts of " : "gap between ");
  nai_put_thing(&what, &a->r->things[0], false);
  nai_buf_printf(&what, ", each and the next of its %s", lane);
  NAI_TRY(nai_buf_check(&what, err));
  return say_lengths(a, &lengths, nai_buf_str(&what), err);
}

int nai_say_latency(struct nai_answering *a, struct nai_err *err) {
  const size_t side = a->r->count - 1;
  const struct nai_thing_events *events = &a->events[side];
  struct nai_thing_events lengths = {0};
  NAI_TRY(NAI_NEW(lengths.at, nai_answering_arena(a), events->count, err));
  for (uint32_t i = 0; i < events->count && nai_thing_is_on_gpu(&a->r->things[side]); i++)
    if (events->at[i].call != NAI_NULL_I64 && events->at[i].start >= events->at[i].call)
      lengths.at[lengths.count++] = (struct nai_thing_event){.start = events->at[i].call, .end = events->at[i].start};
  return say_lengths(a, &lengths, "latency, from the start of the launching call to the start on the GPU", err);
}

/* --- one thing over time ------------------------------------------------------------------------------------------ */

static bool is_after(const struct nai_thing_event *event, const void *ctx) {
  return event->start > *(const int64_t *)ctx;
}
static bool is_not_after(const struct nai_thing_event *event, const void *ctx) { return !is_after(event, ctx); }

/* A first call that is long and begins before any work on a GPU. */
static int put_first_use(struct nai_answering *a, const struct nai_thing_event *first, double others,
                         struct nai_err *err) {
  enum { LONG_NS = 20000000, TIMES = 10 }; /* as of slow calls in rules/intents.yaml */
  const struct nai_thing all = {.kind = NAI_THING_OPERATIONS};
  const struct nai_thing_filter any = {-1, -1, -1, -1, -1};
  const int64_t ns = first->end - first->start;
  struct nai_thing_events work;
  if (a->r->things[0].kind != NAI_THING_CALLS || ns < LONG_NS || (double)ns < TIMES * others)
    return NAI_OK;
  NAI_TRY(nai_things_load(&work, &all, &any, a->asking, err));
  if (work.count && work.at[0].start < first->start)
    return NAI_OK;
  nai_buf_puts(&a->said, ", before any work on a GPU: first use of CUDA creates the context and loads code");
  a->r->why = false;
  return NAI_OK;
}

int nai_say_first(struct nai_answering *a, struct nai_err *err) {
  const struct nai_thing_events *events = &a->events[0];
  struct nai_buf *out = &a->said;
  struct nai_thing_numbers rest;
  if (!events->count) {
    nai_put_count(out, &a->r->things[0], 0);
    return NAI_OK;
  }
  const struct nai_thing_event *first = &events->at[0];
  const double ns = (double)(first->end - first->start);
  NAI_TRY(nai_numbers_of(&rest, events, false, is_after, &first->start, nai_answering_arena(a), err));
  if (a->r->yes_no && rest.stats.count)
    nai_put_whether_more(out, a->r->less ? rest.stats.mean : ns, a->r->less ? ns : rest.stats.mean);
  nai_fmt_duration(out, ns);
  nai_buf_puts(out, " is the first of ");
  nai_put_thing(out, &a->r->things[0], false);
  nai_buf_puts(out, ", at ");
  nai_put_moment(out, first->start);
  NAI_TRY(put_first_use(a, first, rest.stats.mean, err));
  if (rest.stats.count) {
    nai_buf_puts(out, "; the others average ");
    nai_fmt_duration(out, rest.stats.mean);
    nai_buf_puts(out, ": ");
    nai_put_count(out, &a->r->things[0], rest.stats.count);
    nai_put_spread(out, &rest, NAI_STATISTIC_NONE);
    nai_put_begin_of_longest(out, &rest);
  }
  return NAI_OK;
}

/* By begin; the last one ends last. */
static const struct nai_thing_event *nth_of(const struct nai_thing_events *events, int nth) {
  if (nth < 0)
    return edge_of(events, NAI_EDGE_LAST, INT64_MIN);
  return (uint32_t)nth <= events->count ? &events->at[nth - 1] : NULL;
}

/* A range in another one of those that are meant is the same again: "the first conv2d, the second". */
static void drop_nested(struct nai_thing_events *events) {
  uint32_t kept = 0;
  for (uint32_t i = 0, around; i < events->count; i++) {
    const struct nai_thing_event e = events->at[i];
    for (around = kept; around; around--)
      if (events->at[around - 1].tid == e.tid)
        break;
    if (!around || events->at[around - 1].end < e.end || e.tid < 0)
      events->at[kept++] = e;
  }
  events->count = kept;
}

int nai_say_nth(struct nai_answering *a, struct nai_err *err) {
  const struct nai_relation *r = a->r;
  struct nai_buf *out = &a->said;
  if (r->things[0].kind == NAI_THING_RANGES && r->things[0].part)
    drop_nested(&a->events[0]);
  const struct nai_thing_event *of[2] = {nth_of(&a->events[0], r->nth[0]), NULL};
  double ns[2] = {0};
  (void)err;
  if (r->nth[1])
    of[1] = nth_of(&a->events[0], r->nth[1]);
  for (int side = 0; side < 2 && of[side]; side++)
    ns[side] = (double)(of[side]->end - of[side]->start);
  const bool both = ns[0] > 0 && ns[1] > 0 && r->compares;
  if (both && r->yes_no)
    nai_put_whether_more(out, ns[r->less], ns[!r->less]);
  for (int side = 0; side < 2 && of[side]; side++) {
    const struct nai_thing_event *e = of[side];
    nai_buf_puts(out, side ? "; the " : both && r->yes_no ? "the " : "The ");
    nai_put_ordinal(out, r->nth[side]);
    nai_buf_putc(out, ' ');
    nai_put_thing(out, &r->things[0], true);
    if (!nai_thing_is_one(&r->things[0]))
      nai_buf_printf(out, " is %s", nai_strings_get(&a->events[0].names, e->name));
    nai_buf_puts(out, ": from ");
    nai_put_moment(out, e->start);
    nai_buf_puts(out, " to ");
    nai_put_moment(out, e->end);
    nai_buf_puts(out, ", ");
    nai_fmt_duration(out, ns[side]);
  }
  if (!of[0] || (r->nth[1] && !of[1])) {
    nai_buf_puts(out, out->len ? "; there " : "There ");
    nai_buf_puts(out, a->events[0].count == 1 ? "is " : "are ");
    nai_put_count(out, &r->things[0], a->events[0].count);
  }
  if (!both || fmax(ns[0], ns[1]) < 1.005 * fmin(ns[0], ns[1]))
    return NAI_OK;
  nai_buf_puts(out, "; the ");
  nai_put_ordinal(out, r->nth[ns[1] > ns[0]]);
  nai_buf_puts(out, " takes ");
  nai_put_factor(out, fmax(ns[0], ns[1]), fmin(ns[0], ns[1]));
  nai_buf_puts(out, " times as long");
  return NAI_OK;
}

/* Of its GPU or thread what begins first when it is over, or began last of what is over when it begins; NULL: nothing.
 */
static const struct nai_thing_event *neighbor_of(const struct nai_thing_event *of, const struct nai_thing_events *all,
                                                 bool before) {
  uint32_t at = (uint32_t)nai_bisect(all->at, all->count, sizeof *all->at, offsetof(struct nai_thing_event, start),
                                     before ? of->start : of->end);
  for (; before && at; at--) {
    const struct nai_thing_event *e = &all->at[at - 1];
    if (e->gpu == of->gpu && (of->gpu >= 0 || e->tid == of->tid) && e->end <= of->start)
      return e;
  }
  for (; !before && at < all->count; at++)
    if (all->at[at].gpu == of->gpu && (of->gpu >= 0 || all->at[at].tid == of->tid) && all->at[at].start >= of->end)
      return &all->at[at];
  return NULL;
}

NAI_ORDER(by_most, struct nai_key, {b->key, a->key}, {a->value, b->value})

/* Of several: what is next how often. */
static int say_neighbors(struct nai_answering *a, struct nai_err *err) {
  enum { SHOWN = 3 };
  const struct nai_thing_events *of = &a->events[0], *all = &a->events[1];
  struct nai_buf *out = &a->said;
  struct nai_key *names;
  uint32_t count = 0;
  NAI_TRY(NAI_NEW(names, nai_answering_arena(a), all->names.count, err));
  for (uint32_t n = 0; n < all->names.count; n++)
    names[n].value = n;
  for (uint32_t i = 0; i < of->count; i++) {
    const struct nai_thing_event *next = neighbor_of(&of->at[i], all, a->r->before);
    count += next != NULL;
    if (next)
      names[next->name].key++;
  }
  a->none = !count;
  qsort(names, all->names.count, sizeof *names, by_most);
  for (uint32_t n = 0; n < SHOWN && n < all->names.count && names[n].key; n++) {
    nai_buf_printf(out, "%s%s: ", n ? ", " : "", nai_strings_get(&all->names, names[n].value));
    nai_fmt_count(out, (int64_t)names[n].key);
    nai_buf_puts(out, n ? "" : a->r->before ? " times the last before " : " times the next after ");
    if (!n)
      nai_put_count(out, &a->r->things[0], of->count);
  }
  return NAI_OK;
}

int nai_say_follows(struct nai_answering *a, struct nai_err *err) {
  const struct nai_relation *r = a->r;
  struct nai_buf *out = &a->said;
  if (r->from.edge == NAI_EDGE_ANY && a->events[0].count != 1)
    return say_neighbors(a, err);
  const struct nai_thing_event *of = edge_of(&a->events[0], r->from.edge, INT64_MIN),
                               *next = of ? neighbor_of(of, &a->events[1], r->before) : NULL;
  a->none = !next;
  if (a->none)
    return NAI_OK;
  nai_buf_printf(out, "%s: from ", nai_strings_get(&a->events[1].names, next->name));
  nai_put_moment(out, next->start);
  nai_buf_puts(out, " to ");
  nai_put_moment(out, next->end);
  nai_buf_puts(out, ", ");
  nai_fmt_duration(out, (double)(r->before ? of->start - next->end : next->start - of->end));
  nai_buf_printf(out, " %s the %s", r->before ? "before" : "after",
                 r->from.edge == NAI_EDGE_FIRST  ? "first "
                 : r->from.edge == NAI_EDGE_LAST ? "last "
                                                 : "");
  nai_put_thing(out, &r->things[0], true);
  if (of->gpu >= 0)
    nai_buf_printf(out, " on GPU %" PRId64, of->gpu);
  return NAI_OK;
}

/* The second half of the events against the first. */
int nai_say_trend(struct nai_answering *a, struct nai_err *err) {
  enum { CHANGE_PCT = 5, FEWEST = 4 };
  const struct nai_thing_events *events = &a->events[0];
  struct nai_buf *out = &a->said;
  struct nai_thing_numbers early, late;
  a->none = events->count < FEWEST;
  if (a->none)
    return NAI_OK;
  const int64_t middle = events->at[(events->count - 1) / 2].start;
  NAI_TRY(nai_numbers_of(&early, events, false, is_not_after, &middle, nai_answering_arena(a), err));
  NAI_TRY(nai_numbers_of(&late, events, false, is_after, &middle, nai_answering_arena(a), err));
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
