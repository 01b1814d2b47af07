/* What a matched set of communication kernels took: waiting for the last GPU, then the transfer, then the rest. */
#include "analyses/comm/comm.h"

#include "base/sort.h"

#include <stdlib.h>

/* Kernels of a collective end within microseconds of each other. What differs in all sets alike is the clocks, which
 * nsys brings together to some ten microseconds; where they would have to be further apart than CLOCKS_NS, or the rest
 * differs by more than the others, these are no sets. */
enum { TOGETHER_NS = 20000, TOGETHER_SHARE = 20, CLOCKS_NS = 100000, MIN_SETS = 3 };

static int64_t length(const struct nai_comm *c, uint32_t item) { return c->items[item].end - c->items[item].start; }

/* Differences between the ends, and the shorter durations, of kernels that are paired. */
static uint32_t collect(int64_t *deltas, int64_t *shorter, const struct nai_comm *c, const uint32_t *a,
                        const uint32_t *b, uint32_t stride, uint32_t rows) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < rows; k++) {
    uint32_t x = a[(size_t)k * stride], y = b[(size_t)k * stride];
    if (x == NAI_NO_ROW || y == NAI_NO_ROW)
      continue;
    deltas[n] = c->items[y].end - c->items[x].end;
    shorter[n++] = length(c, x) < length(c, y) ? length(c, x) : length(c, y);
  }
  return n;
}

int nai_comm_clock(bool *together, int64_t *correction, int64_t *mad, const struct nai_comm *c, const uint32_t *a,
                   const uint32_t *b, uint32_t stride, uint32_t rows, struct nai_err *err) {
  int64_t *deltas = malloc(((size_t)rows + 1) * 2 * sizeof *deltas), *shorter = deltas ? deltas + rows : NULL;
  *together = false;
  *correction = 0;
  *mad = NAI_NULL_I64;
  if (!deltas)
    return nai_err_nomem(err);
  uint32_t n = collect(deltas, shorter, c, a, b, stride, rows);
  if (n) {
    int64_t tolerance = nai_median_i64(shorter, n) / TOGETHER_SHARE, offset = nai_median_i64(deltas, n);
    tolerance = tolerance > TOGETHER_NS ? tolerance : TOGETHER_NS;
    for (uint32_t i = 0; i < n; i++)
      deltas[i] = deltas[i] > offset ? deltas[i] - offset : offset - deltas[i];
    int64_t deviation = nai_median_i64(deltas, n);
    bool near = offset <= tolerance && offset >= -tolerance;
    bool clocks = offset <= CLOCKS_NS && offset >= -CLOCKS_NS;
    *together = deviation <= tolerance && (near || (clocks && n >= MIN_SETS));
    *correction = n >= MIN_SETS ? offset : 0;
    *mad = n >= MIN_SETS ? deviation : NAI_NULL_I64;
  }
  free(deltas);
  return NAI_OK;
}

/* One set: items with their clocks corrected. */
struct set {
  uint32_t count, late;
  int64_t last, second, first, end; /* starts: last, the one before, first; the first end */
};

static int64_t corrected(const struct nai_comm_line *line, int64_t t) { return t - line->correction; }

static struct set look_at(const struct nai_comm *c, struct nai_comm_line *const *lines, uint32_t count,
                          const uint32_t *partners) {
  struct set s = {.count = count, .last = INT64_MIN, .second = INT64_MIN, .first = INT64_MAX, .end = INT64_MAX};
  for (uint32_t i = 0; i < count; i++) {
    const struct nai_comm_item *item = &c->items[partners[i]];
    int64_t start = corrected(lines[i], item->start), end = corrected(lines[i], item->end);
    if (start > s.last) {
      s.second = s.last;
      s.last = start;
      s.late = partners[i];
    } else if (start > s.second) {
      s.second = start;
    }
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

int nai_comm_split(struct nai_comm *c, struct nai_comm_line *const *lines, uint32_t count, const uint32_t *partners,
                   uint32_t stride, uint32_t rows, struct nai_err *err) {
  int64_t doubt = 0;
  (void)err;
  for (uint32_t i = 0; i < count; i++)
    if (lines[i]->mad != NAI_NULL_I64 && 3 * lines[i]->mad > doubt)
      doubt = 3 * lines[i]->mad;
  if (doubt) /* the clock that the others were compared with is as doubtful as theirs */
    lines[0]->mad = doubt / 3;
  for (uint32_t k = 0; k < rows; k++) {
    const uint32_t *row = partners + (size_t)k * stride;
    uint32_t here = 0;
    for (uint32_t i = 0; i < count; i++)
      here += row[i] != NAI_NO_ROW;
    if (here < count) {
      for (uint32_t i = 0; i < count; i++)
        lines[i]->unmatched += row[i] != NAI_NO_ROW;
      continue;
    }
    struct set s = look_at(c, lines, count, row);
    for (uint32_t i = 0; i < count; i++) {
      struct nai_comm_item *item = &c->items[row[i]];
      item->set = c->set_count;
      item->members = count;
      item->skew = s.last - s.first;
      item->late_by = row[i] == s.late ? s.last - s.second : 0;
      item->late = s.last - s.second > doubt ? s.late : NAI_NO_ROW;
      split_item(item, lines[i], &s);
      lines[i]->sets++;
    }
    c->set_count++;
  }
  return NAI_OK;
}
