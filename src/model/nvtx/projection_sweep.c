/* Calls are ranked by their end, so that those of a question are a prefix of the ones added: sums of prefixes come
 * from a Fenwick tree. What overlapping operations cover is counted for the lowest rank that covers it. */
#include "model/nvtx/projection_sweep.h"

#include "base/sort.h"

/* --- places: a set of numbers with the nearest below and above -------------------------------------------- */

enum { PLACE_LEVELS = 6, WORD_BITS = 64 };
struct places {
  uint64_t *level[PLACE_LEVELS]; /* a bit says that a word of the level below has one */
};

static int make_places(struct places *places, uint32_t count, struct nai_arena *arena, struct nai_err *err) {
  size_t words = count;
  for (int l = 0; l < PLACE_LEVELS; l++) {
    words = words / WORD_BITS + 1;
    NAI_TRY(NAI_NEW(places->level[l], arena, words + 1, err));
  }
  return NAI_OK;
}

static bool has_place(const struct places *places, uint32_t i) {
  return places->level[0][i / WORD_BITS] >> i % WORD_BITS & 1;
}

static void add_place(struct places *places, uint32_t i) {
  for (int l = 0; l < PLACE_LEVELS; l++, i /= WORD_BITS)
    places->level[l][i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
}

static void remove_place(struct places *places, uint32_t i) {
  for (int l = 0; l < PLACE_LEVELS; l++, i /= WORD_BITS)
    if (places->level[l][i / WORD_BITS] &= ~(UINT64_C(1) << i % WORD_BITS))
      return;
}

/* The last one below i, or the first one above it: there is one. */
static uint32_t near_place(const struct places *places, uint32_t i, bool above) {
  uint64_t bits;
  int l = 0;
  for (;; l++, i /= WORD_BITS) {
    uint64_t below = (UINT64_C(1) << i % WORD_BITS) - 1;
    bits = places->level[l][i / WORD_BITS] & (above ? ~below << 1 : below);
    if (bits)
      break;
  }
  for (i /= WORD_BITS;; bits = places->level[--l][i]) {
    i = i * WORD_BITS + (uint32_t)(above ? __builtin_ctzll(bits) : WORD_BITS - 1 - __builtin_clzll(bits));
    if (l == 0)
      return i;
  }
}

/* --- sides: what was launched on a GPU, or on all of them -------------------------------------------------- */

struct side {
  uint32_t count, op_count;
  int64_t *ends;               /* of its calls, ascending: ranks are places in here */
  struct nai_projection *sums; /* a Fenwick tree by rank */
  struct nai_key *moments;     /* where its operations begin and end, ascending */
  uint32_t moment_count;
  struct places bounds; /* moments where another rank begins to be the lowest that covers */
  uint32_t *owner;      /* from each bound on: the lowest rank that covers, `count` for none */
  uint32_t *stream;     /* of each stream: the lowest rank that used it, `count` for none */
};
struct nai_projection_sweep {
  struct nai_launches launches;
  uint32_t next;      /* calls from this one on were added */
  struct side *sides; /* per GPU, and behind them for all together */
};

static void add_sum(struct side *side, uint32_t rank, const struct nai_projection *sum) {
  for (uint32_t i = rank + 1; i <= side->count; i += i & -i)
    nai_projection_add(&side->sums[i], sum);
}

static void add_own(struct side *side, uint32_t rank, int64_t ns) {
  for (uint32_t i = rank + 1; i <= side->count && ns; i += i & -i)
    side->sums[i].own_ns += ns;
}

static uint32_t rank_of(const struct side *side, int64_t end) {
  return (uint32_t)nai_bisect(side->ends, side->count, sizeof *side->ends, 0, end);
}

static void split(struct side *side, uint32_t at) {
  if (has_place(&side->bounds, at))
    return;
  side->owner[at] = side->owner[near_place(&side->bounds, at, false)];
  add_place(&side->bounds, at);
}

/* What no lower rank covers is this one's. */
static void cover(struct side *side, uint32_t rank, int64_t start, int64_t end) {
  uint32_t from = (uint32_t)nai_keys_from(side->moments, side->moment_count, nai_key_from_i64(start));
  uint32_t to = (uint32_t)nai_keys_from(side->moments, side->moment_count, nai_key_from_i64(end));
  int64_t taken = 0;
  if (from >= to)
    return;
  split(side, from);
  split(side, to);
  for (uint32_t at = from, next; at < to; at = next) {
    next = near_place(&side->bounds, at, true);
    int64_t ns = (int64_t)(side->moments[next].key - side->moments[at].key);
    if (side->owner[at] > rank) {
      add_own(side, side->owner[at], -ns);
      taken += ns;
      side->owner[at] = rank;
    }
    if (at > from && side->owner[near_place(&side->bounds, at, false)] == side->owner[at])
      remove_place(&side->bounds, at);
  }
  add_own(side, rank, taken);
}

/* The stream's lowest rank becomes this one: it counts from there on, no longer from the one before. */
static uint32_t count_stream(struct side *side, uint32_t stream, uint32_t rank) {
  uint32_t before = side->stream[stream];
  struct nai_projection less = NAI_NO_PROJECTION;
  less.streams = UINT32_MAX; /* -1 */
  if (before <= rank)
    return 0;
  add_sum(side, before, &less);
  side->stream[stream] = rank;
  return 1;
}

static void add_call(struct nai_projection_sweep *sweep, uint32_t call) {
  const struct nai_launches *launches = &sweep->launches;
  const struct nai_model *m = launches->m;
  const struct nai_launch *launch = &launches->at[call];
  struct side *all = &sweep->sides[m->gpu_count];
  const uint32_t first = launches->first_op[launch->api], rank_of_all = rank_of(all, launch->end);
  struct nai_projection sum = NAI_NO_PROJECTION;
  sum.launches = 1;
  add_sum(all, rank_of_all, &sum);
  for (uint32_t k = first; k < launches->first_op[launch->api + 1]; k++) {
    const struct nai_launched_op *launched = &launches->ops[k];
    const struct nai_op *op = &m->gpus[launched->gpu].ops[launched->op];
    struct side *side = &sweep->sides[launched->gpu];
    uint32_t rank = rank_of(side, launch->end);
    sum = (struct nai_projection){.call = call,
                                  .start = op->start,
                                  .end = op->end,
                                  .ops = 1,
                                  .launches = k == first || launched[-1].gpu != launched->gpu,
                                  .streams = count_stream(side, op->stream, rank)};
    nai_projection_add_time(&sum, op, sum.end - sum.start);
    add_sum(side, rank, &sum);
    cover(side, rank, sum.start, sum.end);
    cover(all, rank_of_all, sum.start, sum.end);
  }
}

uint32_t nai_projection_sweep_ask(struct nai_projection_sweep *sweep, uint32_t first, int64_t end,
                                  struct nai_projection *parts) {
  const uint32_t gpu_count = sweep->launches.m->gpu_count;
  uint32_t count = 0;
  while (sweep->next > first)
    add_call(sweep, --sweep->next);
  for (uint32_t g = 0; g <= gpu_count; g++) {
    const struct side *side = &sweep->sides[g];
    struct nai_projection sum = NAI_NO_PROJECTION;
    uint32_t at = g < gpu_count ? 0 : count;
    for (uint32_t i = rank_of(side, end + 1); i; i -= i & -i)
      nai_projection_add(&sum, &side->sums[i]);
    if (g < gpu_count && !sum.ops)
      continue;
    sum.gpu = g;
    sum.gpu_count = 1;
    while (at < count && parts[at].call <= sum.call)
      at++;
    memmove(parts + at + 1, parts + at, (count - at) * sizeof *parts);
    parts[at] = sum;
    count += g < gpu_count;
  }
  return count;
}

/* --- making them --------------------------------------------------------------------------------------------- */

static int make_side(struct side *side, uint32_t streams, struct nai_arena *arena, struct nai_err *err) {
  const size_t moments = 2 * (size_t)side->op_count + 1;
  NAI_TRY(NAI_NEW(side->ends, arena, side->count, err));
  NAI_TRY(NAI_NEW(side->sums, arena, (size_t)side->count + 1, err));
  NAI_TRY(NAI_NEW(side->moments, arena, moments, err));
  NAI_TRY(NAI_NEW(side->owner, arena, moments, err));
  NAI_TRY(NAI_NEW(side->stream, arena, streams, err));
  NAI_TRY(make_places(&side->bounds, (uint32_t)moments, arena, err));
  for (uint32_t i = 0; i <= side->count; i++)
    side->sums[i] = NAI_NO_PROJECTION;
  for (uint32_t s = 0; s < streams; s++)
    side->stream[s] = side->count;
  side->owner[0] = side->count;
  add_place(&side->bounds, 0);
  side->count = 0;
  return NAI_OK;
}

static void add_op(struct side *side, const struct nai_op *op, int64_t end, bool first) {
  if (first)
    side->ends[side->count++] = end;
  side->moments[side->moment_count++].key = nai_key_from_i64(op->start);
  side->moments[side->moment_count++].key = nai_key_from_i64(op->end);
}

/* Counts what each side holds, or, with calls by their end, takes it. */
static void fill_sides(struct nai_projection_sweep *sweep, const struct nai_key *by_end) {
  const struct nai_launches *launches = &sweep->launches;
  const struct nai_model *m = launches->m;
  struct side *all = &sweep->sides[m->gpu_count];
  for (uint32_t i = 0; i < launches->count; i++) {
    const struct nai_launch *launch = &launches->at[by_end ? by_end[i].value : i];
    const uint32_t first = launches->first_op[launch->api];
    for (uint32_t k = first; k < launches->first_op[launch->api + 1]; k++) {
      const struct nai_launched_op *op = &launches->ops[k];
      struct side *side = &sweep->sides[op->gpu];
      const bool first_there = k == first || op[-1].gpu != op->gpu;
      if (by_end) {
        add_op(side, &m->gpus[op->gpu].ops[op->op], launch->end, first_there);
        add_op(all, &m->gpus[op->gpu].ops[op->op], launch->end, k == first);
        continue;
      }
      side->count += first_there;
      all->count += k == first;
      side->op_count++;
      all->op_count++;
    }
  }
}

int nai_projection_sweep_open(struct nai_projection_sweep **out, const struct nai_launches *launches,
                              struct nai_arena *arena, struct nai_err *err) {
  const struct nai_model *m = launches->m;
  struct nai_projection_sweep *sweep;
  struct nai_key *by_end;
  NAI_TRY(NAI_NEW(sweep, arena, 1, err));
  NAI_TRY(NAI_NEW(sweep->sides, arena, (size_t)m->gpu_count + 1, err));
  NAI_TRY(NAI_NEW(by_end, arena, launches->count, err));
  sweep->launches = *launches;
  sweep->next = launches->count;
  for (uint32_t i = 0; i < launches->count; i++)
    by_end[i] = (struct nai_key){nai_key_from_i64(launches->at[i].end), i};
  NAI_TRY(nai_sort_keys(by_end, launches->count, err));
  fill_sides(sweep, NULL);
  for (uint32_t g = 0; g <= m->gpu_count; g++)
    NAI_TRY(make_side(&sweep->sides[g], g < m->gpu_count ? m->gpus[g].stream_count : 0, arena, err));
  fill_sides(sweep, by_end);
  for (uint32_t g = 0; g <= m->gpu_count; g++)
    NAI_TRY(nai_sort_keys(sweep->sides[g].moments, sweep->sides[g].moment_count, err));
  *out = sweep;
  return NAI_OK;
}
