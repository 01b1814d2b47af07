/* What a matched set of communication kernels took: waiting for the last GPU, then the transfer, then the rest. */
#include "model/comm/comm_build.h"

#include "base/sort.h"

/* Kernels of a collective end within microseconds of each other. What differs in all sets alike is the clocks, which
 * nsys brings together to some ten microseconds; where they would have to be further apart than CLOCKS_NS, or the rest
 * differs by more than the others, these are no sets. */
enum { TOGETHER_NS = 20000, TOGETHER_SHARE = 20, CLOCKS_NS = 100000, MIN_SETS = 3 };

static int64_t shorter_ns(const struct nai_comm_item *a, const struct nai_comm_item *b) {
  return a->end - a->start < b->end - b->start ? a->end - a->start : b->end - b->start;
}

/* Differences between the ends, and the shorter durations, of kernels that are paired. */
static uint32_t collect(int64_t *deltas, int64_t *shorter, const struct nai_comm_cluster *k, uint32_t line) {
  const struct nai_comm_item *items = k->comm->items;
  uint32_t n = 0;
  for (uint32_t i = 0; i < k->rows; i++) {
    uint32_t a = k->partners[(size_t)i * k->stride], b = k->partners[(size_t)i * k->stride + line];
    if (a == NAI_NO_ROW || b == NAI_NO_ROW)
      continue;
    deltas[n] = items[b].end - items[a].end;
    shorter[n++] = shorter_ns(&items[a], &items[b]);
  }
  return n;
}

static bool within(int64_t ns, int64_t limit) { return ns <= limit && ns >= -limit; }

int nai_comm_clock(bool *together, struct nai_comm_line *to, const struct nai_comm_cluster *k, uint32_t line,
                   struct nai_err *err) {
  NAI_SCOPED(nai_arena) room = NAI_ARENA(NULL);
  int64_t *deltas, *shorter;
  *together = false;
  to->correction = 0;
  to->mad = NAI_NULL_I64;
  NAI_TRY(NAI_NEW(deltas, &room, k->rows, err));
  NAI_TRY(NAI_NEW(shorter, &room, k->rows, err));
  uint32_t n = collect(deltas, shorter, k, line);
  if (!n)
    return NAI_OK;
  int64_t tolerance = nai_median_i64(shorter, n) / TOGETHER_SHARE, offset = nai_median_i64(deltas, n);
  tolerance = tolerance > TOGETHER_NS ? tolerance : TOGETHER_NS;
  for (uint32_t i = 0; i < n; i++)
    deltas[i] = deltas[i] > offset ? deltas[i] - offset : offset - deltas[i];
  int64_t deviation = nai_median_i64(deltas, n);
  *together = deviation <= tolerance && (within(offset, tolerance) || (within(offset, CLOCKS_NS) && n >= MIN_SETS));
  if (n >= MIN_SETS) {
    to->correction = offset;
    to->mad = deviation;
  }
  return NAI_OK;
}

/* One set: items with their clocks corrected. Who came last is told by durations, which need no clock: it waits for
 * nobody, so its kernel is the shortest. */
struct set {
  uint32_t late;
  int64_t last, first, end;  /* starts: last, first; the first end */
  int64_t shortest, shorter; /* durations: the shortest, the second shortest */
};

static int64_t corrected(const struct nai_comm_line *line, int64_t t) { return t - line->correction; }

static struct set look_at(const struct nai_comm_cluster *k, const uint32_t *partners) {
  struct set s = {.last = INT64_MIN, .first = INT64_MAX, .end = INT64_MAX, .shortest = INT64_MAX, .shorter = INT64_MAX};
  for (uint32_t i = 0; i < k->count; i++) {
    const struct nai_comm_item *item = &k->comm->items[partners[i]];
    int64_t start = corrected(k->lines[i], item->start), end = corrected(k->lines[i], item->end);
    int64_t ns = item->end - item->start;
    if (ns < s.shortest) {
      s.shorter = s.shortest;
      s.shortest = ns;
      s.late = partners[i];
    } else if (ns < s.shorter) {
      s.shorter = ns;
    }
    s.last = start > s.last ? start : s.last;
    s.first = start < s.first ? start : s.first;
    s.end = end < s.end ? end : s.end;
  }
  return s;
}

/* wait + transfer + tail = duration, whatever the clocks say. */
static void split_item(struct nai_comm_item *item, const struct nai_comm_line *line, const struct set *s) {
  int64_t start = corrected(line, item->start), end = corrected(line, item->end);
  int64_t came = s->last < end ? s->last : end;
  item->wait = came > start ? came - start : 0;
  item->transfer = s->end > s->last ? s->end - s->last : 0;
  item->tail = end - start - item->wait - item->transfer;
}

/* How far ends of collectives are in doubt whose differences deviate by `mad` from their median (median absolute
 * deviation): three times 1.4826 of it, or of a step of a GPU's clock. ns. */
static int64_t doubt_of(int64_t mad) {
  enum { STAMP_NS = 32, TIMES = 3 };
  int64_t deviation = (int64_t)(1.4826 * (double)mad + 0.5);
  return TIMES * (deviation > STAMP_NS ? deviation : STAMP_NS);
}

bool nai_comm_is_late(int64_t late_by, int64_t transfer, int64_t doubt) {
  enum { TIE_NS = 2000, TIE_SHARE = 50 };
  int64_t limit = transfer / TIE_SHARE > TIE_NS ? transfer / TIE_SHARE : TIE_NS;
  return late_by >= (doubt > limit ? doubt : limit);
}

static int64_t largest_mad(const struct nai_comm_cluster *k) {
  int64_t mad = 0;
  for (uint32_t i = 0; i < k->count; i++)
    if (k->lines[i]->mad != NAI_NULL_I64 && k->lines[i]->mad > mad)
      mad = k->lines[i]->mad;
  return mad;
}

static bool complete(const struct nai_comm_cluster *k, const uint32_t *partners) {
  for (uint32_t i = 0; i < k->count; i++)
    if (partners[i] == NAI_NO_ROW)
      return false;
  return true;
}

static void split_set(struct nai_comm_cluster *k, const uint32_t *partners, int64_t doubt) {
  struct set s = look_at(k, partners);
  for (uint32_t i = 0; i < k->count; i++) {
    struct nai_comm_item *item = &k->comm->items[partners[i]];
    item->set = k->comm->set_count;
    item->members = k->count;
    item->skew = s.last - s.first;
    item->late_by = partners[i] == s.late ? s.shorter - s.shortest : 0;
    item->late = nai_comm_is_late(s.shorter - s.shortest, s.shortest, doubt) ? s.late : NAI_NO_ROW;
    split_item(item, k->lines[i], &s);
    k->lines[i]->sets++;
  }
  k->comm->set_count++;
}

void nai_comm_split(struct nai_comm_cluster *k) {
  int64_t mad = largest_mad(k), doubt = doubt_of(mad);
  if (mad) /* the clock that the others were compared with is as doubtful as theirs */
    k->lines[0]->mad = mad;
  for (uint32_t i = 0; i < k->rows; i++)
    if (complete(k, k->partners + (size_t)i * k->stride))
      split_set(k, k->partners + (size_t)i * k->stride, doubt);
}
