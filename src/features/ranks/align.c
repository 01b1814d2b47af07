/* Which calls of two ranks are the same collective? Two sequences are laid over each other. */
#include "features/ranks/ranks.h"

#include "base/sort.h"
#include "model/comm/comm.h"

enum {
  MAX_SHIFT = 1024,      /* captures begin so many calls apart at most */
  FEWEST = 16,           /* calls that agree, unless the sequences are shorter */
  FEWEST_PAIRS = 16,     /* that a drift is seen in */
  LOOK_AT = 1024,        /* calls that shifts are judged by */
  SAMPLES = 256,         /* of their ends */
  ENDS_AGREE_NS = 50000, /* ends that differ by less, clocks aside, are the same ones */
  ENDS_FLOOR_NS = 500,   /* by less than this, nothing is told apart */
  TIMES_BETTER = 4,      /* the right shift agrees so much better than the next one */
  ONE_CLOCK_NS = 100000, /* GPUs of one trace */
  TOGETHER_NS = 20000,   /* kernels of a collective end as near, or within a share of the shortest */
  TOGETHER_SHARE = 20,
  STAMP_NS = 32,   /* steps of a GPU's clock: nothing is known better */
  FEWEST_ENDS = 8, /* that a stretch of agreeing ones is seen in */
  BLOCK = 64,      /* ends are followed in blocks */
  JUMP_NS = 100000 /* from one to the next they move less, and less than a fast clock would make them */
};
static const double most_drift = 200e-6; /* parts of 1 that a clock is fast at most */
static const double most_change = 5e-6;  /* by which it gets faster or slower */

static const char few[] = "too few collectives in common";
static const char differ[] = "the ranks did not run the same collectives";
static const char ambiguous[] = "their collectives repeat, and nothing tells which repetition is which; captures from "
                                "the start of the program tell, or --clock-doubt-us where clocks agree well";
static const char apart[] = "kernels do not end together";
static const char clocks[] = "clocks of GPUs in one trace would have to be far apart";

const char *nai_rank_method_name(enum nai_rank_method method) {
  static const char *const names[] = {"", "reference", "sequence", "number", "initialization", "ends", "clock"};
  return names[method];
}

/* Call a + k of the one lies over call b + k of the other, `count` times. */
struct overlap {
  uint32_t a, b, count;
};

static struct overlap overlap_at(const struct nai_rank_side *a, const struct nai_rank_side *b, int shift) {
  struct overlap o = {shift < 0 ? (uint32_t)-shift : 0, shift > 0 ? (uint32_t)shift : 0, 0};
  if (o.a < a->count && o.b < b->count)
    o.count = a->count - o.a < b->count - o.b ? a->count - o.a : b->count - o.b;
  return o;
}

/* How many agree from the first on. */
static uint32_t agreeing(const struct nai_rank_side *a, const struct nai_rank_side *b, const struct overlap *o,
                         uint32_t most) {
  uint32_t n = 0, end = o->count < most ? o->count : most;
  while (n < end && a->calls[o->a + n].what == b->calls[o->b + n].what)
    n++;
  return n;
}

/* By how much b's clock is ahead where nothing is known of the hosts' clocks. */
static int64_t base_offset(const struct nai_rank_side *a, const struct nai_rank_side *b) {
  bool known = a->utc != NAI_NULL_I64 && b->utc != NAI_NULL_I64;
  return a->source == b->source || !known ? 0 : b->utc - a->utc;
}

/* --- clocks ----------------------------------------------------------------------------------- */

/* 1.4826 times the median absolute deviation; v is lost. */
static int64_t spread_of(int64_t *v, uint32_t n, int64_t centre) {
  for (uint32_t i = 0; i < n; i++)
    v[i] = v[i] > centre ? v[i] - centre : centre - v[i];
  return (int64_t)(1.4826 * (double)nai_median_i64(v, n) + 0.5);
}

/* Of the n / 2 pairs (k, k + n / 2) the median slope, as in Theil's method without all pairs. */
static double drift_of(const int64_t *deltas, const int64_t *times, uint32_t n, int64_t *room) {
  uint32_t half = n / 2;
  if (half < FEWEST_PAIRS)
    return 0;
  for (uint32_t k = 0; k < half; k++) { /* in thousandths of a part per million */
    int64_t apart_ns = times[k + half] - times[k];
    room[k] = apart_ns > 0 ? (int64_t)((double)(deltas[k + half] - deltas[k]) / (double)apart_ns * 1e9) : 0;
  }
  double drift = (double)nai_median_i64(room, half) / 1e9;
  return fabs(drift) <= most_drift ? drift : 0;
}

/* How far two clocks lie apart, by differences deltas[k] of ends at times[k], ascending, and their median; n > 0.
 * The drift is taken off where that makes them more alike. `room` has space for n. O(n). */
static struct nai_rank_clock clock_of(const int64_t *deltas, const int64_t *times, uint32_t n, int64_t *room) {
  struct nai_rank_clock clock = {.middle = times[n / 2]};
  for (uint32_t k = 0; k < n; k++)
    room[k] = deltas[k];
  clock.ahead = nai_median_i64(room, n);
  clock.residual = spread_of(room, n, clock.ahead);
  double drift = drift_of(deltas, times, n, room);
  for (uint32_t k = 0; k < n; k++)
    room[k] = deltas[k] - (int64_t)floor(drift * (double)(times[k] - clock.middle) + 0.5);
  int64_t left = spread_of(room, n, nai_median_i64(room, n));
  if (left < clock.residual) {
    clock.drift = drift;
    clock.residual = left;
  }
  return clock;
}

/* --- which shift ------------------------------------------------------------------------------ */

struct candidate {
  int shift;
  uint32_t run;         /* calls that agree, of those looked at */
  bool whole;           /* all of them do */
  int64_t ends, offset; /* how much ends differ, clocks aside; their median difference */
};

struct candidates {
  struct candidate v[2 * MAX_SHIFT + 1];
  uint32_t count, longest;
};

static void list_candidates(struct candidates *c, const struct nai_rank_side *a, const struct nai_rank_side *b) {
  uint32_t longest_side = a->count > b->count ? a->count : b->count, kept = 0;
  uint32_t fewest = longest_side < FEWEST ? longest_side : FEWEST;
  for (int shift = -MAX_SHIFT; shift <= MAX_SHIFT; shift++) {
    struct overlap o = overlap_at(a, b, shift);
    uint32_t run = o.count < fewest ? 0 : agreeing(a, b, &o, LOOK_AT);
    if (run < fewest || !run)
      continue;
    bool whole = run == (o.count < LOOK_AT ? o.count : LOOK_AT);
    c->v[c->count++] = (struct candidate){.shift = shift, .run = run, .whole = whole};
    c->longest = run > c->longest ? run : c->longest;
  }
  for (uint32_t i = 0; i < c->count; i++) /* what agrees by chance soon does no longer */
    if (c->v[i].whole || c->v[i].run >= c->longest / TIMES_BETTER)
      c->v[kept++] = c->v[i];
  c->count = kept;
}

/* Looks at ends of calls all along, of those that end together where there are some. */
static void measure(struct candidate *c, const struct nai_rank_side *a, const struct nai_rank_side *b,
                    const struct nai_rank_what *whats) {
  struct overlap o = overlap_at(a, b, c->shift);
  uint32_t n = 0, step = c->run / SAMPLES + 1;
  int64_t ends[SAMPLES], times[SAMPLES], room[SAMPLES];
  for (uint32_t k = 0; k < c->run && n < SAMPLES; k += step) {
    while (k < c->run && !whats[a->calls[o.a + k].what].together)
      k++;
    if (k == c->run)
      break;
    times[n] = a->calls[o.a + k].end;
    ends[n] = b->calls[o.b + k].end - times[n];
    n++;
  }
  c->ends = c->offset = INT64_MAX;
  if (!n)
    return;
  struct nai_rank_clock clock = clock_of(ends, times, n, room);
  c->ends = clock.residual;
  c->offset = clock.ahead + base_offset(a, b);
}

/* What NCCL numbered tells at the first pair that has numbers. */
static const struct candidate *by_number(const struct candidates *c, const struct nai_rank_side *a,
                                         const struct nai_rank_side *b) {
  for (uint32_t i = 0; i < c->count; i++) {
    struct overlap o = overlap_at(a, b, c->v[i].shift);
    for (uint32_t k = 0; k < c->v[i].run; k++) {
      int64_t number = a->calls[o.a + k].seq, other = b->calls[o.b + k].seq;
      if (number == NAI_COMM_UNKNOWN || other == NAI_COMM_UNKNOWN)
        continue;
      if (number == other)
        return &c->v[i];
      break;
    }
  }
  return NULL;
}

static const struct candidate *by_init(const struct candidates *c, const struct nai_rank_side *a,
                                       const struct nai_rank_side *b) {
  for (uint32_t i = 0; a->from_start && b->from_start && i < c->count; i++)
    if (c->v[i].shift == 0)
      return &c->v[i];
  return NULL;
}

static const struct candidate *by_ends(const struct candidates *c) {
  const struct candidate *best = &c->v[0];
  int64_t next = INT64_MAX;
  for (uint32_t i = 1; i < c->count; i++) {
    bool better = c->v[i].ends < best->ends;
    int64_t other = better ? best->ends : c->v[i].ends;
    next = other < next ? other : next;
    best = better ? &c->v[i] : best;
  }
  int64_t own = best->ends > ENDS_FLOOR_NS ? best->ends : ENDS_FLOOR_NS;
  return own <= ENDS_AGREE_NS && next / TIMES_BETTER >= own ? best : NULL;
}

static const struct candidate *by_clock(const struct candidates *c, const struct nai_rank_side *a,
                                        const struct nai_rank_side *b, int64_t doubt) {
  const struct candidate *one = NULL;
  bool one_clock = a->source == b->source;
  doubt = one_clock ? ONE_CLOCK_NS : doubt;
  for (uint32_t i = 0; i < c->count; i++) {
    if (c->v[i].offset > doubt || c->v[i].offset < -doubt)
      continue;
    if (one)
      return NULL;
    one = &c->v[i];
  }
  return one_clock || (a->utc != NAI_NULL_I64 && b->utc != NAI_NULL_I64) ? one : NULL;
}

static const struct candidate *choose(struct nai_rank_alignment *out, struct candidates *c,
                                      const struct nai_rank_side *a, const struct nai_rank_side *b,
                                      const struct nai_rank_what *whats, int64_t doubt) {
  if (c->count == 1) {
    out->method = NAI_RANK_BY_SEQUENCE;
    return &c->v[0];
  }
  const struct candidate *numbered = by_number(c, a, b);
  if (numbered) {
    out->method = NAI_RANK_BY_NUMBER;
    return numbered;
  }
  for (uint32_t i = 0; i < c->count; i++)
    measure(&c->v[i], a, b, whats);
  const struct candidate *init = by_init(c, a, b), *clock = by_clock(c, a, b, doubt),
                         *ends = a->source == b->source && clock ? NULL : by_ends(c); /* one clock for both */
  out->method = init ? NAI_RANK_BY_INIT : ends ? NAI_RANK_BY_ENDS : clock ? NAI_RANK_BY_CLOCK : NAI_RANK_NOT_MATCHED;
  return init ? init : ends ? ends : clock;
}

/* --- do they end together --------------------------------------------------------------------- */

static bool beyond(const int64_t *deltas, uint32_t k, int64_t usual, int64_t limit) {
  return deltas[k] - usual > limit || usual - deltas[k] > limit;
}

/* Where ends part for good: a call that only one of them has shifts all that follow. `room` has space for a block. */
static uint32_t together_until(const int64_t *deltas, const int64_t *times, uint32_t n, int64_t *room) {
  int64_t usual = 0, own = 0;
  for (uint32_t first = 0; first < n; first += BLOCK) {
    uint32_t count = n - first < BLOCK ? n - first : BLOCK;
    for (uint32_t i = 0; i < count; i++)
      room[i] = deltas[first + i];
    int64_t centre = nai_median_i64(room, count), before = usual;
    int64_t span = times[first + count - 1] - times[first];
    int64_t limit = (int64_t)(most_drift * (double)span) + (8 * own > JUMP_NS ? 8 * own : JUMP_NS);
    usual = centre;
    if (!first)
      own = spread_of(room, count, centre);
    uint32_t k = count; /* the last ones of the block that are beyond */
    while (first && k > 0 && beyond(deltas, first + k - 1, before, limit))
      k--;
    if (first && k < count && (count - k >= BLOCK / 8 || first + count == n))
      return first + k;
  }
  return n;
}

struct ends {
  int64_t *deltas, *times, *room;
  uint32_t *numbers, count; /* of the overlap's calls */
};

static int new_ends(struct ends *e, uint32_t count, struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW(e->deltas, arena, count, err));
  NAI_TRY(NAI_NEW(e->times, arena, count, err));
  NAI_TRY(NAI_NEW(e->room, arena, count, err));
  return NAI_NEW(e->numbers, arena, count, err);
}

/* Ends and shorter durations of the kernels that end together. */
static void collect_ends(struct ends *e, const struct nai_rank_side *a, const struct nai_rank_side *b,
                         const struct overlap *o, const struct nai_rank_what *whats) {
  e->count = 0;
  for (uint32_t k = 0; k < o->count; k++) {
    const struct nai_rank_call *x = &a->calls[o->a + k], *y = &b->calls[o->b + k];
    if (!whats[x->what].together)
      continue;
    int64_t own = x->end - x->start, other = y->end - y->start;
    e->numbers[e->count] = k;
    e->deltas[e->count] = y->end - x->end;
    e->times[e->count] = x->end;
    e->room[e->count++] = own < other ? own : other;
  }
}

/* The middle of the shortest stretch of values that holds two in five, and its length. v is sorted. */
static int64_t densest(int64_t *length, int64_t *v, uint32_t n) {
  uint32_t held = (2 * n + 4) / 5, best = 0;
  qsort(v, n, sizeof *v, nai_by_i64);
  for (uint32_t i = 1; i + held <= n; i++)
    best = v[i + held - 1] - v[i] < v[best + held - 1] - v[best] ? i : best;
  *length = v[best + held - 1] - v[best];
  return v[best] + *length / 2;
}

/* A call that one of the two lacks shifts the pairs before it or behind it, whose ends agree no more: the stretch with
 * most that do, each that does not costs two. Where one call is missing in the middle, either half is one. */
static void agreeing_stretch(uint32_t *from, uint32_t *to, const struct ends *e) {
  struct nai_rank_clock clock = clock_of(e->deltas, e->times, e->count, e->room);
  int64_t length, middle = e->times[e->count / 2], sum = 0, best = 0;
  for (uint32_t k = 0; k < e->count; k++)
    e->room[k] = e->deltas[k] - (int64_t)(clock.drift * (double)(e->times[k] - middle));
  int64_t usual = densest(&length, e->room, e->count), limit = 8 * length > ENDS_AGREE_NS ? 8 * length : ENDS_AGREE_NS;
  for (uint32_t k = 0, begin = 0; k < e->count; k++) {
    double away = (double)(e->times[k] - middle), off = (double)(e->deltas[k] - usual) - clock.drift * away;
    sum += fabs(off) <= (double)limit + most_change * fabs(away) ? 1 : -2;
    if (sum > best) {
      best = sum;
      *from = begin;
      *to = k + 1;
    }
    if (sum < 0) {
      sum = 0;
      begin = k + 1;
    }
  }
}

/* Leaves of the overlap what agrees. */
static void cut_ends(struct nai_rank_alignment *out, struct overlap *o, const struct ends *e) {
  uint32_t from = 0, to = e->count;
  if (e->count < FEWEST_ENDS)
    return;
  agreeing_stretch(&from, &to, e);
  out->broke |= to < e->count;
  out->broke_by_ends |= to < e->count;
  out->began_late = from > 0;
  uint32_t end = to < e->count ? e->numbers[to] : o->count, begin = from ? e->numbers[from] : 0;
  o->a += begin;
  o->b += begin;
  o->count = end - begin;
}

/* Between which offsets each kernel of the one begins before the other's ends, and the other way around. */
static void bound_clock(struct nai_rank_clock *clock, const struct nai_rank_side *a, const struct nai_rank_side *b,
                        const struct overlap *o, const struct ends *e) {
  clock->low = INT64_MIN;
  clock->high = INT64_MAX;
  for (uint32_t k = 0; k < e->count; k++) {
    const struct nai_rank_call *x = &a->calls[o->a + e->numbers[k]], *y = &b->calls[o->b + e->numbers[k]];
    int64_t low = y->start - x->end - (int64_t)(clock->drift * (double)(x->end - clock->middle)),
            high = y->end - x->start - (int64_t)(clock->drift * (double)(x->start - clock->middle));
    clock->low = low > clock->low ? low : clock->low;
    clock->high = high < clock->high ? high : clock->high;
  }
  clock->low += clock->offset - clock->ahead; /* of UTC, as the offset */
  clock->high += clock->offset - clock->ahead;
}

/* Cuts the overlap where ends part. Why the two are none, NULL when they are. */
static const char *check_ends(struct nai_rank_alignment *out, struct overlap *o, const struct nai_rank_side *a,
                              const struct nai_rank_side *b, const struct nai_rank_what *whats, struct ends *e) {
  collect_ends(e, a, b, o, whats);
  cut_ends(out, o, e);
  collect_ends(e, a, b, o, whats);
  uint32_t until = together_until(e->deltas, e->times, e->count, e->room);
  if (until < e->count) {
    o->count = e->numbers[until];
    out->broke = out->broke_by_ends = true;
    collect_ends(e, a, b, o, whats);
  }
  if (!e->count)
    return NULL; /* nothing is known of their clocks, and nobody waits */
  int64_t tolerance = nai_median_i64(e->room, e->count) / TOGETHER_SHARE;
  tolerance = tolerance > TOGETHER_NS ? tolerance : TOGETHER_NS;
  struct nai_rank_clock clock = clock_of(e->deltas, e->times, e->count, e->room);
  clock.offset = clock.ahead + base_offset(a, b);
  clock.residual = clock.residual > STAMP_NS ? clock.residual : STAMP_NS;
  bound_clock(&clock, a, b, o, e);
  out->clock = clock;
  if (clock.residual > tolerance)
    return apart;
  return a->source == b->source && llabs(clock.ahead) > ONE_CLOCK_NS ? clocks : NULL;
}

int nai_ranks_align(struct nai_rank_alignment *out, const struct nai_rank_side *a, const struct nai_rank_side *b,
                    const struct nai_rank_what *whats, int64_t clock_doubt_ns, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct candidates *c;
  struct ends e = {0};
  *out = (struct nai_rank_alignment){.clock = {.residual = NAI_NULL_I64}};
  NAI_TRY(NAI_NEW(c, &arena, 1, err));
  list_candidates(c, a, b);
  const struct candidate *one = c->count ? choose(out, c, a, b, whats, clock_doubt_ns) : NULL;
  out->refused = one                                                  ? NULL
               : c->count                                             ? ambiguous
               : (a->count < b->count ? a->count : b->count) < FEWEST ? few
                                                                      : differ;
  if (out->refused)
    return NAI_OK;
  struct overlap o = overlap_at(a, b, one->shift);
  uint32_t agree = agreeing(a, b, &o, UINT32_MAX);
  out->broke = agree < o.count;
  o.count = agree;
  NAI_TRY(new_ends(&e, o.count, &arena, err));
  out->refused = check_ends(out, &o, a, b, whats, &e);
  out->begin_a = o.a;
  out->begin_b = o.b;
  out->count = o.count;
  return NAI_OK;
}
