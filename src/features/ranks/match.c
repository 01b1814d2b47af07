/* Groups: lines of different ranks that are one communicator. */
#include "features/ranks/align.h"
#include "features/ranks/internal.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 1024 }; /* that could belong together where communicators are not known: each is laid over each */

static const char alone[] = "no other rank has a counterpart", ambiguous[] = "several streams could belong together",
                  peers[] = "point-to-point among more than two ranks",
                  too_many[] = "too many streams, and communicators are not known",
                  no_overlap[] = "the captures have too few collectives in common";

static struct nai_rank_side side_of(const struct nai_ranks *r, const struct nai_rank_line *line) {
  const struct nai_job_rank *rank = &r->ranks[line->rank];
  return (struct nai_rank_side){.calls = rank->calls + line->first,
                                .count = line->count,
                                .utc = r->sources[rank->source].utc,
                                .source = rank->source,
                                .from_start = line->from_start};
}

/* A group in the making: lines laid over the first of them. */
struct attempt {
  struct nai_ranks *r;
  const struct nai_ranks_options *options;
  uint32_t *lines, count;
  struct nai_rank_alignment *how; /* per line but the first */
};

static int lay(struct nai_rank_alignment *out, const struct attempt *t, uint32_t line, struct nai_err *err) {
  struct nai_rank_side a = side_of(t->r, &t->r->lines[t->lines[0]]), b = side_of(t->r, &t->r->lines[line]);
  return nai_ranks_align(out, &a, &b, t->r->whats, t->options->clock_doubt_ns, err);
}

/* Of a rank's lines the one that fits joins; where several do, nothing tells which it is. */
static int join_rank(struct attempt *t, const uint32_t *lines, uint32_t count, struct nai_err *err) {
  struct nai_rank_alignment how, fitting;
  uint32_t one = NAI_NO_RANK, fit = 0;
  int rc = NAI_OK;
  for (uint32_t i = 0; i < count && !rc; i++) {
    rc = lay(&how, t, lines[i], err);
    t->r->lines[lines[i]].refused = how.refused;
    if (rc || how.refused)
      continue;
    one = lines[i];
    fitting = how;
    fit++;
  }
  for (uint32_t i = 0; fit > 1 && i < count; i++)
    if (!t->r->lines[lines[i]].refused)
      t->r->lines[lines[i]].refused = ambiguous;
  if (rc || fit != 1)
    return rc;
  t->how[t->count] = fitting;
  t->lines[t->count++] = one;
  return NAI_OK;
}

/* --- a group ---------------------------------------------------------------------------------- */

/* Collectives that all lines have: numbers of the reference's calls. */
static void common(const struct attempt *t, uint32_t *from, uint32_t *to) {
  *from = 0;
  *to = t->r->lines[t->lines[0]].count;
  for (uint32_t i = 1; i < t->count; i++) {
    const struct nai_rank_alignment *how = &t->how[i];
    *from = how->begin_a > *from ? how->begin_a : *from;
    *to = how->begin_a + how->count < *to ? how->begin_a + how->count : *to;
  }
}

static void take_line(struct attempt *t, struct nai_rank_group *group, uint32_t i, uint32_t from) {
  struct nai_rank_line *line = &t->r->lines[t->lines[i]];
  line->group = t->r->group_count;
  line->refused = NULL;
  line->method = NAI_RANK_REFERENCE;
  line->begin = from;
  line->residual = i ? t->how[i].residual : NAI_NULL_I64;
  if (!i)
    return;
  const struct nai_rank_alignment *how = &t->how[i];
  line->method = how->method;
  line->begin = how->begin_b + (from - how->begin_a);
  line->offset = how->offset;
  line->drift = how->drift;
  line->broke = how->broke;
  line->broke_by_ends = how->broke_by_ends;
  line->broke_at = how->begin_b + how->count;
  line->broke_reference_at = how->begin_a + how->count;
  group->residual = how->residual != NAI_NULL_I64 && how->residual > group->residual ? how->residual : group->residual;
}

static int add_group(struct attempt *t, uint32_t from, uint32_t to, struct nai_err *err) {
  struct nai_ranks *r = t->r;
  if (!nai_array_room(&r->groups, &r->group_capacity, r->group_count, sizeof *r->groups))
    return nai_err_nomem(err);
  struct nai_rank_group *group = &r->groups[r->group_count];
  *group = (struct nai_rank_group){.first = r->member_count,
                                   .count = t->count,
                                   .collectives = to - from,
                                   .late = malloc(((size_t)(to - from) + 1) * sizeof *group->late),
                                   .skew = malloc(((size_t)(to - from) + 1) * sizeof *group->skew),
                                   .transfer = malloc(((size_t)(to - from) + 1) * sizeof *group->transfer)};
  for (uint32_t i = 0; i < t->count; i++) {
    take_line(t, group, i, from);
    r->members[r->member_count++] = t->lines[i];
  }
  r->group_count++;
  return group->late && group->skew && group->transfer ? NAI_OK : nai_err_nomem(err);
}

static int close_group(struct attempt *t, struct nai_err *err) {
  uint32_t from, to;
  const char *refused = t->count < 2 ? alone : t->count > 2 && t->r->lines[t->lines[0]].point_to_point ? peers : NULL;
  common(t, &from, &to);
  if (!refused && to <= from)
    refused = no_overlap;
  if (!refused)
    return add_group(t, from, to, err);
  for (uint32_t i = 0; i < t->count; i++)
    if (!t->r->lines[t->lines[i]].refused)
      t->r->lines[t->lines[i]].refused = refused;
  return NAI_OK;
}

/* --- lines that may belong together ----------------------------------------------------------- */

/* The longest, the first of equals, comes first: the others are laid over it. */
static void put_longest_first(const struct nai_ranks *r, uint32_t *lines, uint32_t count) {
  uint32_t longest = 0;
  for (uint32_t i = 1; i < count; i++)
    longest = r->lines[lines[i]].count > r->lines[lines[longest]].count ? i : longest;
  uint32_t first = lines[longest];
  memmove(lines + 1, lines, longest * sizeof *lines);
  lines[0] = first;
}

/* One round: the first line and what fits it. What is left is packed to the front of `lines`; its number is returned
 * in *left. */
static int match_first(struct nai_ranks *r, const struct nai_ranks_options *options, uint32_t *lines, uint32_t count,
                       uint32_t *left, struct nai_err *err) {
  struct attempt t = {.r = r, .options = options};
  put_longest_first(r, lines, count);
  t.lines = malloc(((size_t)count + 1) * sizeof *t.lines);
  t.how = calloc((size_t)count + 1, sizeof *t.how);
  int rc = t.lines && t.how ? NAI_OK : nai_err_nomem(err);
  if (!rc)
    t.lines[t.count++] = lines[0];
  for (uint32_t i = 1, n; i < count && !rc; i += n) {
    uint32_t rank = r->lines[lines[i]].rank;
    for (n = 1; i + n < count && r->lines[lines[i + n]].rank == rank;)
      n++;
    if (rank != r->lines[lines[0]].rank)
      rc = join_rank(&t, lines + i, n, err);
  }
  const char *why = NULL; /* what spoke against the last one also speaks here */
  for (uint32_t i = 1; i < count && t.count == 1; i++)
    why = r->lines[lines[i]].refused ? r->lines[lines[i]].refused : why;
  if (!rc)
    rc = close_group(&t, err);
  if (!rc && t.count == 1 && why)
    r->lines[lines[0]].refused = why;
  *left = 0;
  for (uint32_t i = 1; i < count; i++) {
    bool joined = false;
    for (uint32_t k = 1; k < t.count && !joined; k++)
      joined = t.lines[k] == lines[i];
    if (!joined)
      lines[(*left)++] = lines[i];
  }
  free(t.lines);
  free(t.how);
  return rc;
}

/* Lines of one communicator are one group; where ids are not known, several may run the same kinds of collectives. */
static int match_all(struct nai_ranks *r, const struct nai_ranks_options *options, uint32_t *lines, uint32_t count,
                     struct nai_err *err) {
  bool known = r->lines[lines[0]].known_comm;
  int rc = NAI_OK;
  if (!known && count > MAX_LINES) {
    for (uint32_t i = 0; i < count; i++)
      r->lines[lines[i]].refused = too_many;
    return NAI_OK;
  }
  for (uint32_t left; count && !rc; count = known ? 0 : left) {
    rc = match_first(r, options, lines, count, &left, err);
    for (uint32_t i = 0; i < left; i++)
      if (!r->lines[lines[i]].refused)
        r->lines[lines[i]].refused = alone;
  }
  return rc;
}

/* What lines of one group have in common: the communicator, else the kinds of their collectives. */
static uint64_t key_of(const struct nai_ranks *r, const struct nai_rank_line *line, uint32_t *seen, uint32_t mark) {
  if (line->known_comm)
    return nai_hash_int(line->point_to_point, line->comm);
  uint64_t key = 0;
  const struct nai_rank_call *calls = r->ranks[line->rank].calls + line->first;
  for (uint32_t i = 0; i < line->count; i++)
    if (seen[calls[i].what] != mark) {
      seen[calls[i].what] = mark;
      key += nai_hash_int(2, r->what_keys.keys[calls[i].what]);
    }
  return key;
}

const char *nai_ranks_refusal(const struct nai_ranks *r, uint32_t rank) {
  const struct nai_rank_line *most = NULL;
  for (uint32_t l = 0; l < r->line_count; l++)
    if (r->lines[l].refused && (rank == NAI_NO_RANK || r->lines[l].rank == rank) &&
        (!most || r->lines[l].count > most->count))
      most = &r->lines[l];
  return most ? most->refused : NULL;
}

int nai_ranks_match(struct nai_ranks *r, const struct nai_ranks_options *options, struct nai_err *err) {
  struct nai_key *keys = malloc(((size_t)r->line_count + 1) * sizeof *keys);
  uint32_t *list = malloc(((size_t)r->line_count + 1) * sizeof *list);
  uint32_t *seen = calloc((size_t)r->what_keys.count + 1, sizeof *seen);
  r->members = malloc(((size_t)r->line_count + 1) * sizeof *r->members);
  int rc = keys && list && seen && r->members ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; i < r->line_count && !rc; i++)
    keys[i] = (struct nai_key){key_of(r, &r->lines[i], seen, i + 1), i};
  if (!rc)
    rc = nai_sort_keys(keys, r->line_count, err); /* stable: by rank */
  for (uint32_t i = 0, j; i < r->line_count && !rc; i = j) {
    for (j = i; j < r->line_count && keys[j].key == keys[i].key; j++)
      list[j - i] = keys[j].value;
    rc = match_all(r, options, list, j - i, err);
  }
  free(keys);
  free(list);
  free(seen);
  return rc;
}
