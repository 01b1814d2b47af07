#include "features/view/spans.h"

#include "base/sort.h"
#include "model/idle/idle.h"

enum { BLOCK = NAI_SPANS_BLOCK };

static struct nai_interval gap(const struct nai_spans *s, uint32_t i) {
  return nai_idle_span(s->gaps_of, s->first_gap + i);
}

int64_t nai_spans_start(const struct nai_spans *s, uint32_t i) {
  return s->rows ? nai_at(s->start, s->rows[i]) : s->set ? s->set[i].start : gap(s, i).start;
}

int64_t nai_spans_end(const struct nai_spans *s, uint32_t i) {
  int64_t start = nai_spans_start(s, i);
  int64_t end = s->rows ? nai_at(s->end, s->rows[i]) : s->set ? s->set[i].end : gap(s, i).end;
  return end < start ? start : end;
}

static int64_t length(const struct nai_spans *s, uint32_t i) { return nai_spans_end(s, i) - nai_spans_start(s, i); }

/* --- making it ---------------------------------------------------------------------------------------- */

static int allocate(struct nai_spans *s, struct nai_arena *arena, struct nai_err *err) {
  uint32_t size = s->count;
  do {
    size = size / BLOCK + (size % BLOCK != 0);
    s->sizes[s->levels] = size;
    NAI_TRY(NAI_NEW(s->longest[s->levels], arena, size, err));
    s->levels++;
  } while (size > 1 && s->levels < NAI_SPANS_LEVELS);
  NAI_TRY(NAI_NEW(s->covered, arena, s->sizes[0], err));
  return NAI_NEW(s->reach, arena, s->sizes[0], err);
}

/* Time covered so far, and when it ends. */
struct cover {
  int64_t ns, reach;
};

static void add_to(struct cover *c, int64_t start, int64_t end) {
  int64_t from = start > c->reach ? start : c->reach;
  if (end > from)
    c->ns += end - from;
  if (end > c->reach)
    c->reach = end;
}

int nai_spans_index(struct nai_spans *s, struct nai_arena *arena, struct nai_err *err) {
  struct cover c = {0, INT64_MIN};
  NAI_TRY(allocate(s, arena, err));
  for (uint32_t i = 0; i < s->count; i++) {
    int64_t start = nai_spans_start(s, i), end = nai_spans_end(s, i), *longest = &s->longest[0][i / BLOCK];
    if (i % BLOCK == 0) {
      s->covered[i / BLOCK] = c.ns;
      s->reach[i / BLOCK] = c.reach;
    }
    add_to(&c, start, end);
    *longest = end - start > *longest ? end - start : *longest;
  }
  for (int l = 1; l < s->levels; l++)
    for (uint32_t b = 0; b < s->sizes[l - 1]; b++)
      if (s->longest[l - 1][b] > s->longest[l][b / BLOCK])
        s->longest[l][b / BLOCK] = s->longest[l - 1][b];
  return NAI_OK;
}

/* --- moments ------------------------------------------------------------------------------------------ */

static uint32_t block_end(const struct nai_spans *s, uint32_t block) {
  uint64_t end = ((uint64_t)block + 1) * BLOCK;
  return end < s->count ? (uint32_t)end : s->count;
}

struct moment {
  const struct nai_spans *spans;
  int64_t t;
};

static bool starts_before(const void *ctx, size_t block) {
  const struct moment *at = ctx;
  return nai_spans_start(at->spans, (uint32_t)block * BLOCK) < at->t;
}

/* The last block whose first event starts before t; sizes[0] for none. */
static uint32_t block_before(const struct nai_spans *s, int64_t t) {
  size_t after = nai_search(0, s->sizes[0], starts_before, &(struct moment){s, t});
  return after ? (uint32_t)after - 1 : s->sizes[0];
}

uint32_t nai_spans_from(const struct nai_spans *s, int64_t t) {
  uint32_t block = block_before(s, t);
  if (block == s->sizes[0])
    return 0;
  uint32_t i = block * BLOCK, end = block_end(s, block);
  while (i < end && nai_spans_start(s, i) < t)
    i++;
  return i;
}

uint32_t nai_spans_open(const struct nai_spans *s, int64_t t) {
  /* the blocks before which nothing ends after t */
  uint32_t blocks = (uint32_t)nai_bisect(s->reach, s->sizes[0], sizeof *s->reach, 0, t + 1);
  if (!blocks)
    return s->count;
  uint32_t i = (blocks - 1) * BLOCK, end = block_end(s, blocks - 1);
  while (i < end && nai_spans_end(s, i) <= t)
    i++;
  return i;
}

int64_t nai_spans_covered(const struct nai_spans *s, int64_t t) {
  uint32_t block = block_before(s, t);
  if (block == s->sizes[0])
    return 0;
  struct cover c = {s->covered[block], s->reach[block]};
  uint32_t end = block_end(s, block);
  for (uint32_t i = block * BLOCK; i < end; i++) {
    int64_t start = nai_spans_start(s, i);
    if (start >= t)
      break;
    add_to(&c, start, nai_spans_end(s, i));
  }
  return c.reach > t ? c.ns - (c.reach - t) : c.ns; /* behind t all is covered up to `reach` */
}

uint32_t nai_spans_at(const struct nai_spans *s, int64_t t) {
  uint32_t next = nai_spans_from(s, t), i = next;
  while (i < s->count && nai_spans_start(s, i) == t)
    i++; /* of those that start now, the last */
  if (i > next)
    return i - 1;
  for (uint32_t back = 0; i-- > 0 && back < BLOCK; back++)
    if (nai_spans_end(s, i) > t)
      return i;
  uint32_t open = nai_spans_open(s, t);
  return open < next ? open : s->count;
}

/* --- lengths ------------------------------------------------------------------------------------------ */

uint32_t nai_spans_long(const struct nai_spans *s, uint32_t i, int64_t ns) {
  for (; i < s->count && i % BLOCK; i++)
    if (length(s, i) >= ns)
      return i;
  uint32_t at = i / BLOCK;
  for (int level = 0; i < s->count && at < s->sizes[level];) {
    if (s->longest[level][at] >= ns && level) {
      level--;
      at *= BLOCK;
      continue;
    }
    if (s->longest[level][at] >= ns)
      for (i = at * BLOCK; i < block_end(s, at); i++)
        if (length(s, i) >= ns)
          return i;
    at++;
    while (level + 1 < s->levels && at % BLOCK == 0) {
      level++;
      at /= BLOCK;
    }
  }
  return s->count;
}

/* An entry of a level: events at -1, blocks at 0, and so on. */
struct entry {
  int level;
  uint32_t at;
  int64_t ns;
};

static int64_t value(const struct nai_spans *s, int level, uint32_t at) {
  return level < 0 ? length(s, at) : s->longest[level][at];
}

static uint64_t first_of(const struct entry *e) {
  uint64_t at = e->at;
  for (int l = e->level; l >= 0; l--)
    at *= BLOCK;
  return at;
}

static void consider(struct entry *best, const struct nai_spans *s, int level, uint32_t at) {
  struct entry e = {level, at, value(s, level, at)};
  if (e.ns > best->ns || (e.ns == best->ns && first_of(&e) < first_of(best)))
    *best = e;
}

uint32_t nai_spans_longest(const struct nai_spans *s, uint32_t i, uint32_t j) {
  struct entry best = {-1, s->count, -1};
  int level = -1;
  for (; i < j; level++) {
    bool last = j - i <= 2 * BLOCK || level + 1 == s->levels;
    while (i < j && (last || i % BLOCK))
      consider(&best, s, level, i++);
    while (i < j && j % BLOCK)
      consider(&best, s, level, --j);
    i /= BLOCK;
    j /= BLOCK;
    if (last)
      break;
  }
  while (best.level >= 0) {
    best.level--;
    best.at *= BLOCK;
    while (value(s, best.level, best.at) != best.ns)
      best.at++;
  }
  return best.at;
}
