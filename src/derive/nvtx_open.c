#include "derive/nvtx_open.h"

#include <stdlib.h>

bool nai_open_grow(struct nai_open_ranges *open) {
  uint32_t capacity = open->capacity ? open->capacity * 2 : 64;
  struct nai_open_range *v = realloc(open->v, (size_t)capacity * sizeof *v);
  if (!v)
    return false;
  open->v = v;
  open->capacity = capacity;
  return true;
}

void nai_open_free(struct nai_open_ranges *open) {
  free(open->v);
  *open = (struct nai_open_ranges){0};
}

/* --- marks -------------------------------------------------------------------------------------------------------- */

/* Ranges from one mark to the next, or as many as are open at it if that is more: so marks hold no more than twice all ranges. */
enum { MARK_EVERY = 256 };

static bool grow_marks(struct nai_open_marks *m, size_t ranges) {
  if (m->count == m->capacity) {
    uint32_t capacity = m->capacity ? m->capacity * 2 : 64;
    struct nai_open_mark *v = realloc(m->v, (size_t)capacity * sizeof *v);
    if (!v)
      return false;
    m->v = v;
    m->capacity = capacity;
  }
  if (ranges > m->range_capacity) {
    size_t capacity = 2 * ranges;
    uint32_t *list = realloc(m->ranges, capacity * sizeof *list);
    if (!list)
      return false;
    m->ranges = list;
    m->range_capacity = capacity;
  }
  return true;
}

bool nai_open_note(struct nai_open_marks *m, uint32_t place, const struct nai_open_ranges *open) {
  if (place < m->next_place)
    return true;
  if (!grow_marks(m, m->range_count + open->depth + 1))
    return false;
  m->v[m->count++] = (struct nai_open_mark){m->range_count, place, open->depth};
  for (uint32_t i = 0; i < open->depth; i++)
    m->ranges[m->range_count++] = open->v[i].range;
  uint32_t gap = open->depth > MARK_EVERY ? open->depth : MARK_EVERY;
  m->next_place = place < NAI_NO_ROW - gap ? place + gap : NAI_NO_ROW;
  return true;
}

void nai_open_marks_free(struct nai_open_marks *m) {
  free(m->v);
  free(m->ranges);
  *m = (struct nai_open_marks){0};
}

/* The last mark at or before `place`, NULL when there is none. */
static const struct nai_open_mark *mark_before(const struct nai_open_marks *m, uint32_t place) {
  uint32_t lo = 0, hi = m->count;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (m->v[mid].place <= place)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo ? &m->v[lo - 1] : NULL;
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

int nai_open_find(struct nai_open_ranges *open, const struct nai_model *m, uint32_t thread, uint32_t place, struct nai_err *err) {
  const struct nai_groups *ranges = &m->nvtx_by_thread;
  const struct nai_open_marks *marks = &m->open_marks[thread];
  const struct nai_open_mark *mark = mark_before(marks, place);
  uint32_t at = mark ? mark->place : ranges->first[thread], parent;
  open->depth = 0;
  for (uint32_t i = 0; mark && i < mark->depth; i++) {
    uint32_t range = marks->ranges[mark->first + i];
    if (!nai_open_push(open, (struct nai_open_range){nai_at(&m->nvtx.end, range), range, NAI_NO_ROW}))
      return nai_err_nomem(err);
  }
  int rc = NAI_OK;
  for (; !rc && at < place; at++)
    if (nai_at_i32(&m->nvtx.kind, ranges->order[at]) == NAI_NVTX_PUSH_POP)
      rc = nai_open_begin(&parent, open, m, ranges->order[at], err);
  return rc;
}

int nai_open_begin(uint32_t *parent, struct nai_open_ranges *open, const struct nai_model *m, uint32_t range, struct nai_err *err) {
  int64_t start = nai_at(&m->nvtx.start, range), end = nai_at(&m->nvtx.end, range);
  nai_open_at(open, start);
  while (open->depth && nai_open_top(open)->end < end) /* it crosses this one, and is innermost no more (nvtx.c) */
    open->depth--;
  *parent = open->depth ? nai_open_top(open)->range : NAI_NO_ROW;
  bool holds = start == end || nai_open_push(open, (struct nai_open_range){end, range, NAI_NO_ROW});
  return holds ? NAI_OK : nai_err_nomem(err);
}

uint32_t nai_open_at(struct nai_open_ranges *open, int64_t t) {
  while (open->depth && nai_open_top(open)->end <= t)
    open->depth--;
  return open->depth ? nai_open_top(open)->range : NAI_NO_ROW;
}
