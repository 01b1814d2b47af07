#include "table/stats.h"

#include "base/sort.h"
#include "base/threads.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

static const double quantiles[] = {0.25, 0.50, 0.75, 0.90, 0.99};
enum { QUANTILES = sizeof quantiles / sizeof *quantiles };

/* Those that are asked for. */
struct quantiles {
  int count;
  double q[QUANTILES], at[QUANTILES]; /* ascending; what they are */
};

static struct quantiles wanted(unsigned parts) {
  struct quantiles out = {0};
  for (int q = 0; q < QUANTILES; q++)
    if (parts & NAI_P25 << q)
      out.q[out.count++] = quantiles[q];
  return out;
}

static void set_quantiles(struct nai_stats *s, const struct quantiles *from, unsigned parts) {
  double *const to[QUANTILES] = {&s->p25, &s->p50, &s->p75, &s->p90, &s->p99};
  for (int q = 0, n = 0; q < QUANTILES; q++)
    *to[q] = parts & NAI_P25 << q ? from->at[n++] : (double)NAN;
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Of many values only those near the quantiles are put in order: they are counted in buckets whose width grows with the
 * distance from the least value (64 per power of two), and those of the buckets that hold a quantile are brought
 * together. */
enum { MANY = 512, DIGITS = 6, DOUBLE_DIGITS = 52, DOUBLE_BIAS = 1023, BUCKETS = DOUBLE_DIGITS << DIGITS };
enum { UNWANTED = -1 };

struct buckets {
  uint32_t count[BUCKETS];
  int64_t behind[BUCKETS]; /* of a wanted one: where the next of its values goes, in the end where they end */
};

struct nai_stats_room {
  struct buckets *b;  /* NULL: no more than MANY values at a time */
  int64_t *collected; /* values of wanted buckets */
  uint32_t *bucket;   /* per value */
};

static wide sum_of(const int64_t *values, uint32_t n) {
  wide sum = 0;
  for (uint32_t i = 0; i < n; i++)
    sum += values[i];
  return sum;
}

/* Count, min and max; the sum, which wraps where 64 bits do not hold it. */
static NAI_WIDE struct nai_stats look_at(const int64_t *values, uint32_t n, uint64_t *sum) {
  int64_t min = INT64_MAX, max = INT64_MIN;
  uint64_t total = 0;
  for (uint32_t i = 0; i < n; i++) {
    total += (uint64_t)values[i];
    min = values[i] < min ? values[i] : min;
    max = values[i] > max ? values[i] : max;
  }
  *sum = total;
  return (struct nai_stats){.count = n, .min = n ? min : 0, .max = n ? max : 0};
}

/* Everything but the quantiles. */
static struct nai_stats sum_up(const int64_t *values, uint32_t n, unsigned parts) {
  uint64_t sum;
  uwide squares = 0; /* wraps where a value is beyond any duration */
  struct nai_stats s = look_at(values, n, &sum);
  for (uint32_t i = 0; i < n && parts & NAI_STDDEV; i++)
    squares += (uwide)((wide)values[i] * values[i]);
  if (!n)
    return s;
  wide total = s.min < INT64_MIN / n || s.max > INT64_MAX / n ? sum_of(values, n) : (int64_t)sum;
  s.total = total > INT64_MAX ? INT64_MAX : total < INT64_MIN ? INT64_MIN : (int64_t)total;
  s.mean = (double)total / n;
  if (s.min < 0 || s.total > INT64_MAX / 2 || !(parts & NAI_STDDEV)) {
    s.stddev = NAN;
  } else if (n > 1) {
    /* Exact integers as far as they go, so that nothing cancels: total^2 / n in whole and remainder. total^2 < 2^124.
     */
    uwide square = (uwide)s.total * (uwide)s.total, whole = square / n, rest = square % n;
    s.stddev = sqrt(((double)(squares - whole) - (double)rest / n) / (n - 1));
  }
  return s;
}

struct nai_stats nai_stats_of(int64_t *values, uint32_t count) {
  struct nai_stats s = sum_up(values, count, NAI_ALL_STATS);
  struct quantiles q = wanted(NAI_ALL_STATS);
  nai_quantiles_i64(q.at, values, count, q.q, q.count);
  set_quantiles(&s, &q, NAI_ALL_STATS);
  return s;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Whether there are enough values for buckets, and no distance between them beyond what a double holds. */
static bool are_many(const struct nai_stats *s) {
  return s->count > MANY && (uint64_t)s->max - (uint64_t)s->min < (UINT64_C(1) << DOUBLE_DIGITS) - 1;
}

/* Counts values in buckets; bucket[i] becomes that of values[i]: the exponent and the first digits of its distance from
 * below the least. Numbers become floating-point ones as the last digits of 2^52, many at once. */
static NAI_WIDE void count_in_buckets(struct buckets *b, uint32_t *bucket, const int64_t *values,
                                      const struct nai_stats *s) {
  const uint32_t n = (uint32_t)s->count;
  const uint64_t below = (uint64_t)s->min - 1, high_bits = (uint64_t)(DOUBLE_BIAS + DOUBLE_DIGITS) << DOUBLE_DIGITS;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t bits = ((uint64_t)values[i] - below) | high_bits;
    double number;
    memcpy(&number, &bits, sizeof number);
    number -= (double)(UINT64_C(1) << DOUBLE_DIGITS);
    memcpy(&bits, &number, sizeof bits);
    bucket[i] = (uint32_t)(bits >> (DOUBLE_DIGITS - DIGITS)) - (DOUBLE_BIAS << DIGITS);
  }
  memset(b->count, 0, sizeof b->count);
  for (uint32_t i = 0; i < n; i++)
    b->count[bucket[i]]++;
}

/* Where a value is: its rank in its bucket. */
struct place {
  uint32_t bucket;
  size_t rank;
};

/* The place of the value at a rank, which lies in `from` or behind it; *below: values in buckets before that one. Its
 * bucket gets room behind *room. */
static struct place want(struct buckets *b, uint32_t from, size_t rank, size_t *below, int64_t *room) {
  for (; *below + b->count[from] <= rank; from++)
    *below += b->count[from];
  if (b->behind[from] == UNWANTED) {
    b->behind[from] = *room;
    *room += b->count[from];
  }
  return (struct place){from, rank - *below};
}

/* The value at `place`; where that at `low`, the rank before it or the same, was asked for last, it is the least of
 * what lies behind that. */
static int64_t value_at(const struct buckets *b, struct place place, const struct place *low, int64_t *collected) {
  uint32_t count = b->count[place.bucket];
  int64_t *values = collected + b->behind[place.bucket] - count, least = INT64_MAX;
  if (!low || low->bucket != place.bucket) {
    nai_select_i64(values, count, place.rank);
    return values[place.rank];
  }
  for (size_t i = place.rank; i < count; i++)
    least = values[i] < least ? values[i] : least;
  return least;
}

/* Of values that are counted in buckets. `collected` has room for as many. */
static void quantiles_of_many(struct quantiles *of, const int64_t *values, uint32_t count, struct buckets *b,
                              int64_t *collected, const uint32_t *bucket) {
  struct place low[QUANTILES], high[QUANTILES], last = {0, 0};
  size_t below = 0;
  int64_t room = 0;
  memset(b->behind, 0xff, sizeof b->behind);
  for (int q = 0; q < of->count; q++) {
    struct nai_rank rank = nai_rank_of(of->q[q], count);
    low[q] = last = want(b, last.bucket, rank.below, &below, &room);
    high[q] = last = want(b, last.bucket, rank.below + (rank.fraction > 0), &below, &room);
  }
  for (uint32_t i = 0; i < count; i++) {
    int64_t *to = &b->behind[bucket[i]];
    if (*to != UNWANTED)
      collected[(*to)++] = values[i];
  }
  for (int q = 0; q < of->count; q++) {
    int64_t below_it = value_at(b, low[q], NULL, collected), above_it = value_at(b, high[q], &low[q], collected);
    of->at[q] = nai_interpolate(below_it, above_it, nai_rank_of(of->q[q], count).fraction);
  }
}

/* Makes what is not there yet. */
static int give_room(struct nai_stats_room *room, uint32_t most, struct nai_arena *arena, struct nai_err *err) {
  if (most <= MANY)
    return NAI_OK;
  NAI_TRY(NAI_NEW(room->b, arena, 1, err));
  NAI_TRY(NAI_NEW_UNSET(room->bucket, arena, most, err));
  return NAI_NEW_UNSET(room->collected, arena, most, err);
}

int nai_stats_room_in(struct nai_stats_room **room, uint32_t most, struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*room, arena, 1, err));
  return give_room(*room, most, arena, err);
}

struct nai_stats nai_stats_in(struct nai_stats_room *room, int64_t *values, uint32_t count, unsigned parts) {
  struct nai_stats s = sum_up(values, count, parts);
  struct quantiles of = wanted(parts);
  if (s.min == s.max)
    for (int q = 0; q < of.count; q++)
      of.at[q] = count ? (double)s.min : NAN;
  else if (are_many(&s)) {
    count_in_buckets(room->b, room->bucket, values, &s);
    quantiles_of_many(&of, values, count, room->b, room->collected, room->bucket);
  } else
    nai_quantiles_i64(of.at, values, count, of.q, of.count);
  set_quantiles(&s, &of, parts);
  return s;
}

/* Some rows that follow each other. */
struct block {
  uint32_t first, count, end; /* end: of all that are asked for */
  const uint32_t *group;
  const int64_t *value;
  uint32_t group_room[NAI_VALUES_BLOCK];
  int64_t value_room[NAI_VALUES_BLOCK];
};

/* The block behind this one; false behind the last. To be asked for again costs less time than the memory to keep them.
 */
static bool next_block(struct block *b, const struct nai_values *values) {
  b->first += b->count;
  uint32_t left = b->end - b->first;
  b->count = left < NAI_VALUES_BLOCK ? left : NAI_VALUES_BLOCK;
  if (!left)
    return false;
  b->group = values->groups ? values->groups + b->first : b->group_room;
  b->value = values->groups ? values->values + b->first : b->value_room;
  if (!values->groups)
    values->block(values->ctx, b->first, b->count, b->group_room, b->value_room);
  return true;
}

/* Values are brought together by group, those of none first: rows in parts side by side, then groups. */
struct grouping {
  const struct nai_values *values;
  struct nai_stats *stats;
  uint32_t groups;
  int parts, tasks;
  int64_t *by_group;
  uint32_t *next;   /* of each part, by group from 1 on: how many values, then where they go */
  uint32_t *behind; /* [g]: where those before group g end */
};

static uint32_t *next_of(const struct grouping *all, int part) {
  return all->next + (size_t)part * ((size_t)all->groups + 1);
}

static uint32_t first_row(const struct grouping *all, int part) {
  return (uint32_t)((uint64_t)all->values->rows * (uint32_t)part / (uint32_t)all->parts);
}

static void begin_part(struct block *b, const struct grouping *all, int part) {
  b->first = first_row(all, part);
  b->end = first_row(all, part + 1);
  b->count = 0;
}

/* NAI_NO_GROUP becomes 0, so that no row needs a question. */
static int count_part(void *ctx, int part, struct nai_err *err) {
  const struct grouping *all = ctx;
  uint32_t *restrict next = next_of(all, part);
  struct block b;
  (void)err;
  begin_part(&b, all, part);
  while (next_block(&b, all->values)) {
    const uint32_t *restrict group = b.group;
    for (uint32_t i = 0, count = b.count; i < count; i++)
      next[(uint32_t)(group[i] + 1)]++;
  }
  return NAI_OK;
}

static int place_part(void *ctx, int part, struct nai_err *err) {
  const struct grouping *all = ctx;
  uint32_t *restrict next = next_of(all, part);
  int64_t *restrict by_group = all->by_group;
  struct block b;
  (void)err;
  begin_part(&b, all, part);
  while (next_block(&b, all->values)) {
    const uint32_t *restrict group = b.group;
    const int64_t *restrict value = b.value;
    for (uint32_t i = 0, count = b.count; i < count; i++)
      by_group[next[(uint32_t)(group[i] + 1)]++] = value[i];
  }
  return NAI_OK;
}

static void place_groups(struct grouping *all) {
  uint32_t at = 0;
  for (uint32_t g = 0; g <= all->groups; g++) {
    for (int part = 0; part < all->parts; part++) {
      uint32_t *next = &next_of(all, part)[g], count = *next;
      *next = at;
      at += count;
    }
    all->behind[g] = at;
  }
}

/* Of one group: left out or not. */
static void bring_one_together(struct grouping *all) {
  struct block b;
  uint32_t n = 0;
  begin_part(&b, all, 0);
  while (next_block(&b, all->values))
    for (uint32_t i = 0; i < b.count; i++) {
      all->by_group[n] = b.value[i];
      n += b.group[i] == 0;
    }
  all->behind[1] = n;
}

static int bring_together(struct grouping *all, struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW_UNSET(all->by_group, arena, all->values->rows, err));
  NAI_TRY(NAI_NEW(all->behind, arena, (size_t)all->groups + 1, err));
  if (all->groups == 1) {
    bring_one_together(all);
    return NAI_OK;
  }
  NAI_TRY(NAI_NEW(all->next, arena, (size_t)all->parts * ((size_t)all->groups + 1), err));
  NAI_TRY(nai_parallel(all->parts, all->parts, count_part, all, err));
  place_groups(all);
  return nai_parallel(all->parts, all->parts, place_part, all, err);
}

/* The first whose values lie behind those of the parts before. */
static uint32_t first_group(const struct grouping *all, int part) {
  const uint64_t row = (uint64_t)all->values->rows * (uint32_t)part / (uint32_t)all->tasks;
  uint32_t first = 0, end = all->groups;
  while (first < end && part) {
    const uint32_t middle = first + (end - first) / 2;
    if (part < all->tasks && all->behind[middle] >= row)
      end = middle;
    else
      first = middle + 1;
  }
  return first;
}

static int describe_part(void *ctx, int part, struct nai_err *err) {
  const struct grouping *all = ctx;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(all->values->directory);
  const uint32_t first = first_group(all, part), end = first_group(all, part + 1), *behind = all->behind;
  const unsigned parts = all->values->parts ? all->values->parts : NAI_ALL_STATS;
  struct nai_stats_room room = {0};
  uint32_t most = 0;
  for (uint32_t g = first; g < end; g++)
    most = behind[g + 1] - behind[g] > most ? behind[g + 1] - behind[g] : most;
  NAI_TRY(give_room(&room, most, &arena, err));
  for (uint32_t g = first; g < end; g++) {
    int64_t *values = all->by_group + behind[g];
    const uint32_t count = behind[g + 1] - behind[g];
    const double deviation = all->values->deviation ? all->values->deviation(values, count) : 0;
    all->stats[g] = nai_stats_in(&room, values, count, parts);
    if (all->values->deviation)
      all->stats[g].stddev = deviation;
  }
  return NAI_OK;
}

int nai_group_stats(struct nai_stats *stats, uint32_t groups, const struct nai_values *values, struct nai_err *err) {
  enum { MANY_ROWS = 1 << 15, TASKS = 4 };
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(values->directory);
  struct grouping all = {.values = values, .stats = stats, .groups = groups, .parts = 1, .tasks = 1};
  if (values->rows >= MANY_ROWS && values->threads > 1) {
    all.parts = values->threads;
    all.tasks = TASKS * values->threads; /* of some the values take longer */
  }
  NAI_TRY(bring_together(&all, &arena, err));
  return nai_parallel(all.parts, all.tasks, describe_part, &all, err);
}

NAI_WIDE void nai_duration_block(const void *durations, uint32_t first, uint32_t count, uint32_t *group,
                                 int64_t *value) {
  const struct nai_durations *d = durations;
  int64_t start[NAI_VALUES_BLOCK], number[NAI_VALUES_BLOCK];
  nai_unpack(start, &d->start, first, count);
  nai_unpack(value, &d->end, first, count);
  nai_unpack(number, &d->group, first, count);
  for (uint32_t i = 0; i < count; i++) {
    value[i] -= start[i];
    group[i] = number[i] == NAI_NULL_I64 ? NAI_NO_GROUP : (uint32_t)number[i];
  }
}

double nai_percent(double part, double whole) { return whole > 0 ? 100.0 * part / whole : 0.0; }

double nai_quantile(const double *ascending, size_t count, double q) {
  double at = q * (double)(count - 1);
  size_t low = (size_t)at;
  return low + 1 < count ? ascending[low] + (at - (double)low) * (ascending[low + 1] - ascending[low])
                         : ascending[count - 1];
}
