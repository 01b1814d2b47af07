/* Groups: lines of different ranks that are one communicator. */
#include "features/ranks/ranks.h"

#include "base/hash.h"

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
};

static struct nai_rank_line *line_at(const struct attempt *t, uint32_t i) { return &t->r->lines[t->lines[i]]; }

static int lay(struct nai_rank_line *line, const struct attempt *t, struct nai_err *err) {
  struct nai_rank_side a = side_of(t->r, line_at(t, 0)), b = side_of(t->r, line);
  NAI_TRY(nai_ranks_align(&line->how, &a, &b, t->r->whats, t->options->clock_doubt_ns, err));
  line->refused = line->how.refused;
  return NAI_OK;
}

/* Of a rank's lines the one that fits joins; where several do, nothing tells which it is. */
static int join_rank(struct attempt *t, const uint32_t *lines, uint32_t count, struct nai_err *err) {
  uint32_t one = NAI_NO_RANK, fit = 0;
  for (uint32_t i = 0; i < count; i++) {
    NAI_TRY(lay(&t->r->lines[lines[i]], t, err));
    if (t->r->lines[lines[i]].refused)
      continue;
    one = lines[i];
    fit++;
  }
  for (uint32_t i = 0; fit > 1 && i < count; i++)
    if (!t->r->lines[lines[i]].refused)
      t->r->lines[lines[i]].refused = ambiguous;
  if (fit == 1)
    t->lines[t->count++] = one;
  return NAI_OK;
}

/* --- a group ---------------------------------------------------------------------------------- */

/* Collectives that all lines have: numbers of the reference's calls. */
static void common(const struct attempt *t, uint32_t *from, uint32_t *to) {
  *from = 0;
  *to = line_at(t, 0)->count;
  for (uint32_t i = 1; i < t->count; i++) {
    const struct nai_rank_alignment *how = &line_at(t, i)->how;
    *from = how->begin_a > *from ? how->begin_a : *from;
    *to = how->begin_a + how->count < *to ? how->begin_a + how->count : *to;
  }
}

static void take_line(struct attempt *t, struct nai_rank_group *group, uint32_t i, uint32_t from) {
  struct nai_rank_line *line = line_at(t, i);
  if (!i)
    line->how = (struct nai_rank_alignment){.method = NAI_RANK_REFERENCE, .clock = {.residual = NAI_NULL_I64}};
  line->group = t->r->group_count;
  line->refused = NULL;
  line->begin = line->how.begin_b + (from - line->how.begin_a);
  if (line->how.clock.residual > group->residual) /* NULL is below */
    group->residual = line->how.clock.residual;
}

static int add_group(struct attempt *t, uint32_t from, uint32_t to, struct nai_err *err) {
  struct nai_ranks *r = t->r;
  NAI_TRY(NAI_ROOM(r->groups, r->group_capacity, r->group_count, &r->arena, err));
  struct nai_rank_group *group = &r->groups[r->group_count];
  *group = (struct nai_rank_group){.first = r->member_count, .count = t->count, .collectives = to - from};
  NAI_TRY(NAI_NEW(group->late, &r->arena, group->collectives, err));
  NAI_TRY(NAI_NEW(group->skew, &r->arena, group->collectives, err));
  NAI_TRY(NAI_NEW(group->transfer, &r->arena, group->collectives, err));
  for (uint32_t i = 0; i < t->count; i++) {
    take_line(t, group, i, from);
    r->members[r->member_count++] = t->lines[i];
  }
  r->group_count++;
  return NAI_OK;
}

static int close_group(struct attempt *t, struct nai_err *err) {
  uint32_t from, to;
  const char *refused = t->count < 2 ? alone : t->count > 2 && line_at(t, 0)->point_to_point ? peers : NULL;
  common(t, &from, &to);
  if (!refused && to <= from)
    refused = no_overlap;
  if (!refused)
    return add_group(t, from, to, err);
  for (uint32_t i = 0; i < t->count; i++)
    if (!line_at(t, i)->refused)
      line_at(t, i)->refused = refused;
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

/* Packs what did not join to the front of `lines`; returns its number. */
static uint32_t pack(uint32_t *lines, uint32_t count, const struct attempt *t) {
  uint32_t left = 0;
  for (uint32_t i = 1; i < count; i++) {
    bool joined = false;
    for (uint32_t k = 1; k < t->count && !joined; k++)
      joined = t->lines[k] == lines[i];
    if (!joined)
      lines[left++] = lines[i];
  }
  return left;
}

/* One round: the first line and what fits it. *left of the lines, at the front, are for the next. */
static int match_first(struct nai_ranks *r, const struct nai_ranks_options *options, uint32_t *lines, uint32_t count,
                       uint32_t *left, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct attempt t = {.r = r, .options = options};
  const char *why = NULL; /* what spoke against the last one also speaks here */
  put_longest_first(r, lines, count);
  NAI_TRY(NAI_NEW(t.lines, &arena, count, err));
  t.lines[t.count++] = lines[0];
  for (uint32_t i = 1, n; i < count; i += n) {
    uint32_t rank = r->lines[lines[i]].rank;
    for (n = 1; i + n < count && r->lines[lines[i + n]].rank == rank;)
      n++;
    if (rank != r->lines[lines[0]].rank)
      NAI_TRY(join_rank(&t, lines + i, n, err));
  }
  for (uint32_t i = 1; i < count && t.count == 1; i++)
    why = r->lines[lines[i]].refused ? r->lines[lines[i]].refused : why;
  NAI_TRY(close_group(&t, err));
  if (t.count == 1 && why)
    r->lines[lines[0]].refused = why;
  *left = pack(lines, count, &t);
  return NAI_OK;
}

/* Lines of one communicator are one group; where ids are not known, several may run the same kinds of collectives. */
static int match_all(struct nai_ranks *r, const struct nai_ranks_options *options, uint32_t *lines, uint32_t count,
                     struct nai_err *err) {
  bool known = r->lines[lines[0]].known_comm;
  if (!known && count > MAX_LINES) {
    for (uint32_t i = 0; i < count; i++)
      r->lines[lines[i]].refused = too_many;
    return NAI_OK;
  }
  for (uint32_t left; count; count = known ? 0 : left) {
    NAI_TRY(match_first(r, options, lines, count, &left, err));
    for (uint32_t i = 0; i < left; i++)
      if (!r->lines[lines[i]].refused)
        r->lines[lines[i]].refused = alone;
  }
  return NAI_OK;
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
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_key *keys;
  uint32_t *list, *seen;
  NAI_TRY(NAI_NEW(r->members, &r->arena, r->line_count, err));
  NAI_TRY(NAI_NEW(keys, &arena, r->line_count, err));
  NAI_TRY(NAI_NEW(list, &arena, r->line_count, err));
  NAI_TRY(NAI_NEW(seen, &arena, r->what_keys.count, err));
  for (uint32_t i = 0; i < r->line_count; i++)
    keys[i] = (struct nai_key){key_of(r, &r->lines[i], seen, i + 1), i};
  NAI_TRY(nai_sort_keys(keys, r->line_count, err)); /* stable: by rank */
  for (uint32_t i = 0, j; i < r->line_count; i = j) {
    for (j = i; j < r->line_count && keys[j].key == keys[i].key; j++)
      list[j - i] = keys[j].value;
    NAI_TRY(match_all(r, options, list, j - i, err));
  }
  return NAI_OK;
}
