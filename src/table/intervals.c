#include "table/intervals.h"

#include "base/sort.h"

void nai_intervals_free(struct nai_intervals *set) {
  if (!set)
    return;
  if (!set->arena)
    free(set->v);
  *set = (struct nai_intervals){.arena = set->arena};
}

void nai_intervals_reserve(struct nai_intervals *set, size_t count) {
  struct nai_interval *v = NULL;
  if (count <= set->capacity)
    return;
  if (!set->arena)
    v = realloc(set->v, count * sizeof *v);
  else if (nai_arena_resize(&set->v, set->arena, set->capacity * sizeof *v, count * sizeof *v, NULL) == NAI_OK)
    v = set->v;
  if (v) {
    set->v = v;
    set->capacity = count;
  }
}

bool nai_intervals_grow(struct nai_intervals *set) {
  nai_intervals_reserve(set, set->capacity ? set->capacity * 2 : 64);
  set->oom = set->count == set->capacity;
  return !set->oom;
}

/* --- of two sets ------------------------------------------------------------------------------ */

/* Room for whatever comes of two sets; false when there is none, or a set is not whole. */
static bool begin(struct nai_intervals *out, const struct nai_intervals *a, const struct nai_intervals *b) {
  nai_intervals_reserve(out, a->count + b->count);
  out->oom |= a->oom || b->oom || out->capacity < a->count + b->count;
  return !out->oom;
}

static const struct nai_interval *end_of(const struct nai_intervals *set) {
  return set->count ? set->v + set->count : set->v; /* which may be NULL */
}

void nai_intervals_union(struct nai_intervals *out, const struct nai_intervals *a, const struct nai_intervals *b) {
  size_t i = 0, j = 0, n = 0;
  if (!begin(out, a, b))
    return;
  while (i < a->count || j < b->count) {
    bool from_a = j == b->count || (i < a->count && a->v[i].start <= b->v[j].start);
    const struct nai_interval next = from_a ? a->v[i++] : b->v[j++];
    if (!n || next.start > out->v[n - 1].end)
      out->v[n++] = next;
    else if (next.end > out->v[n - 1].end)
      out->v[n - 1].end = next.end;
  }
  out->count = n;
}

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

/* Here and below no two parts touch, since those of neither set do. */
void nai_intervals_subtract(struct nai_intervals *out, const struct nai_intervals *a, const struct nai_intervals *b) {
  const struct nai_interval *at = a->v, *at_end = end_of(a), *taken = b->v, *end = end_of(b);
  if (!begin(out, a, b))
    return;
  struct nai_interval *to = out->v;
  for (; at < at_end; at++) {
    int64_t from = at->start;
    while (taken < end && taken->end <= from)
      taken++;
    for (; taken < end && taken->start < at->end; taken++) {
      if (from < taken->start)
        *to++ = (struct nai_interval){from, taken->start};
      from = taken->end;
      if (from >= at->end) /* it may reach into the next one */
        break;
    }
    if (from < at->end)
      *to++ = (struct nai_interval){from, at->end};
  }
  out->count = (size_t)(to - out->v);
}

void nai_intervals_intersect(struct nai_intervals *out, const struct nai_intervals *a, const struct nai_intervals *b) {
  const struct nai_interval *x = a->v, *y = b->v, *x_end = end_of(a), *y_end = end_of(b);
  if (!begin(out, a, b))
    return;
  struct nai_interval *to = out->v;
  while (x < x_end && y < y_end) {
    int64_t start = later(x->start, y->start), end = earlier(x->end, y->end);
    if (start < end)
      *to++ = (struct nai_interval){start, end};
    if (x->end < y->end)
      x++;
    else
      y++;
  }
  out->count = (size_t)(to - out->v);
}

int64_t nai_intervals_total_ns(const struct nai_intervals *set) {
  int64_t total = 0;
  for (size_t i = 0; i < set->count; i++)
    total += set->v[i].end - set->v[i].start;
  return total;
}

NAI_ORDER(by_start, struct nai_interval, {a->start, b->start})

void nai_intervals_gather(struct nai_intervals *out, struct nai_interval *v, size_t count) {
  if (count)
    qsort(v, count, sizeof *v, by_start);
  for (size_t i = 0; i < count; i++)
    nai_intervals_add(out, v[i].start, v[i].end);
}

int nai_intervals_union_ns(int64_t *ns, struct nai_interval *v, size_t count, struct nai_err *err) {
  NAI_SCOPED(nai_intervals) all = {0};
  nai_intervals_gather(&all, v, count);
  *ns = nai_intervals_total_ns(&all);
  return nai_memory_check(!all.oom, err);
}

size_t nai_intervals_after(const struct nai_intervals *set, int64_t t) {
  if (t == INT64_MAX)
    return set->count;
  return nai_bisect(set->v, set->count, sizeof *set->v, offsetof(struct nai_interval, end), t + 1);
}

int64_t nai_intervals_overlap_ns(const struct nai_intervals *set, int64_t a, int64_t b) {
  const struct nai_interval *at = set->v, *end = end_of(set);
  int64_t total = 0;
  if (a >= b || at == end)
    return 0;
  for (at += nai_intervals_after(set, a); at < end && at->start < b; at++)
    total += earlier(at->end, b) - later(at->start, a);
  return total;
}

/* --- covered time ----------------------------------------------------------------------------- */

int nai_coverage_in(struct nai_coverage *c, const struct nai_intervals *set, struct nai_arena *arena,
                    struct nai_err *err) {
  int64_t sum = 0;
  *c = (struct nai_coverage){set, set->v, end_of(set), .from = set->v, .to = set->v};
  NAI_TRY(nai_memory_check(!set->oom, err));
  NAI_TRY(NAI_NEW_UNSET(c->before, arena, set->count + 1, err));
  int64_t *before = c->before;
  for (const struct nai_interval *at = c->first; at < c->end; at++) {
    *before++ = sum;
    sum += at->end - at->start;
  }
  *before = sum;
  return NAI_OK;
}

/* Covered time before t; *next becomes the first interval that ends after t. */
static inline int64_t covered_until(const struct nai_coverage *c, const struct nai_interval **next, int64_t t) {
  enum { FAR = 64 };
  const struct nai_interval *at = *next;
  if ((at > c->first && at[-1].end > t) || (c->end - at > FAR && at[FAR].end <= t))
    at = c->first + nai_intervals_after(c->set, t);
  while (at < c->end && at->end <= t)
    at++;
  *next = at;
  return c->before[at - c->first] + (at < c->end && at->start < t ? t - at->start : 0);
}

int64_t nai_coverage_overlap_ns(struct nai_coverage *c, int64_t a, int64_t b) {
  return a < b ? covered_until(c, &c->to, b) - covered_until(c, &c->from, a) : 0;
}
