/* Are the traces of one job? Those of which no collective is common are compared each for itself. */
#include "features/ranks/ranks.h"

static uint32_t part_of(const struct nai_ranks *r, uint32_t source) {
  while (r->sources[source].part != source)
    source = r->sources[source].part;
  return source;
}

/* The first of two parts stands for both. */
static void join(struct nai_ranks *r, uint32_t a, uint32_t b) {
  uint32_t x = part_of(r, a), y = part_of(r, b);
  r->sources[x > y ? x : y].part = x > y ? y : x;
}

static uint32_t source_of(const struct nai_ranks *r, uint32_t member) {
  return r->ranks[r->lines[r->members[member]].rank].source;
}

/* When the collectives of a part ran, ns since 1970; none: first > last. */
static void find_times(const struct nai_ranks *r, uint32_t part, int64_t *first, int64_t *last) {
  *first = INT64_MAX;
  *last = INT64_MIN;
  for (uint32_t i = 0; i < r->rank_count; i++) {
    const struct nai_job_rank *rank = &r->ranks[i];
    int64_t utc = r->sources[rank->source].utc;
    if (part_of(r, rank->source) != part || utc == NAI_NULL_I64)
      continue;
    for (uint32_t k = 0; k < rank->call_count; k++) {
      *first = utc + rank->calls[k].start < *first ? utc + rank->calls[k].start : *first;
      *last = utc + rank->calls[k].end > *last ? utc + rank->calls[k].end : *last;
    }
  }
}

/* By how much a part lies before or behind the first one; 0 where they overlap, or clocks are not known. */
static int64_t apart_ns(const struct nai_ranks *r, uint32_t part) {
  int64_t first, last, own_first, own_last;
  find_times(r, r->first_part, &first, &last);
  find_times(r, part, &own_first, &own_last);
  if (first > last || own_first > own_last)
    return 0;
  return own_first > last ? own_first - last : first > own_last ? first - own_last : 0;
}

/* Traces with matched collectives begin a part each; a group joins those of its members. Of others ranks are left out.
 */
void nai_ranks_find_parts(struct nai_ranks *r) {
  for (uint32_t i = 0; i < r->source_count; i++)
    r->sources[i].part = i;
  for (uint32_t i = 0; i < r->rank_count; i++)
    r->sources[r->ranks[i].source].communicates |= r->ranks[i].call_count > 0;
  r->first_part = r->source_count;
  for (uint32_t m = 0; m < r->member_count; m++) {
    uint32_t source = source_of(r, m), group = r->lines[r->members[m]].group;
    join(r, source_of(r, r->groups[group].first), source);
    r->sources[source].begins_part = true;
    r->first_part = source < r->first_part ? source : r->first_part;
  }
  for (uint32_t i = 0; i < r->source_count; i++) {
    struct nai_rank_source *s = &r->sources[i];
    r->silent += !s->communicates;
    s->begins_part &= part_of(r, i) == i && i != r->first_part;
    int64_t apart = s->begins_part ? apart_ns(r, i) : 0;
    r->apart_ns = apart > r->apart_ns ? apart : r->apart_ns;
  }
}
