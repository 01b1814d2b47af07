/* What the matched collectives add up to: by group, by rank, by step. */
#include "features/ranks/ranks.h"

#include "model/comm/comm.h"

enum {
  TIE_RESIDUALS = 3, /* nobody is late by less than that many times what ends are in doubt */
  FEW_OF_A_KIND = 8  /* too few to know what a transfer usually takes */
};

struct nai_rank_moment nai_ranks_moment(const struct nai_ranks *r, const struct nai_rank_group *group, uint32_t k) {
  struct nai_rank_moment m = {.transfer = INT64_MAX};
  int64_t second = INT64_MAX, longest = 0;
  for (uint32_t i = 0; i < group->count; i++) {
    const struct nai_rank_call *call = nai_ranks_call(r, group, i, k);
    int64_t ns = call->end - call->start;
    m.duration += ns;
    longest = ns > longest ? ns : longest;
    if (ns < m.transfer) {
      second = m.transfer;
      m.transfer = ns;
      m.last = i;
    } else if (ns < second) {
      second = ns;
    }
  }
  m.skew = longest - m.transfer;
  m.wait = m.duration - m.transfer * group->count;
  m.margin = second - m.transfer;
  return m;
}

static bool in_doubt(const struct nai_rank_group *group, const struct nai_rank_moment *m) {
  return !nai_comm_is_late(m->margin, m->transfer, TIE_RESIDUALS * group->residual);
}

/* --- ranks ------------------------------------------------------------------------------------ */

static void add_presence(struct nai_job_rank *rank, const struct nai_rank_call *call) {
  rank->first_start = !rank->matched || call->start < rank->first_start ? call->start : rank->first_start;
  rank->last_end = !rank->matched || call->end > rank->last_end ? call->end : rank->last_end;
  rank->matched++;
}

static void add_member(struct nai_job_rank *rank, const struct nai_rank_call *call, const struct nai_rank_moment *m,
                       bool late, bool decided) {
  int64_t ns = call->end - call->start;
  rank->split++;
  rank->matched_ns += ns;
  rank->transfer_ns += m->transfer;
  rank->wait_ns += ns - m->transfer;
  rank->decided += decided;
  rank->group_delay_ns += decided ? m->margin : 0;
  rank->late_count += late;
  rank->late_by_ns += late ? m->margin : 0;
  rank->caused_wait_ns += late ? m->wait : 0;
}

/* Of the last `ns` before it came to a call: what it waited in collectives of a group meanwhile. */
static int64_t waited_before(const struct nai_ranks *r, const struct nai_rank_group *group, uint32_t member,
                             int64_t until, int64_t ns) {
  uint32_t low = 0, high = group->collectives;
  int64_t sum = 0;
  while (low < high) { /* to the first that ends in that time */
    uint32_t k = low + (high - low) / 2;
    if (nai_ranks_call(r, group, member, k)->end <= until - ns)
      low = k + 1;
    else
      high = k;
  }
  for (uint32_t k = low; k < group->collectives; k++) {
    const struct nai_rank_call *call = nai_ranks_call(r, group, member, k);
    if (call->start >= until)
      break;
    int64_t from = call->start > until - ns ? call->start : until - ns;
    int64_t to = call->end - nai_ranks_moment(r, group, k).transfer;
    sum += to > from && r->whats[call->what].together ? (to < until ? to : until) - from : 0;
  }
  return sum < ns ? sum : ns;
}

/* How much of a delay is another rank's, which it waited for in another communicator. */
static int64_t inherited_ns(const struct nai_ranks *r, uint32_t g, uint32_t k, const struct nai_rank_moment *m) {
  uint32_t rank = r->lines[r->members[r->groups[g].first + m->last]].rank;
  int64_t until = nai_ranks_call(r, &r->groups[g], m->last, k)->start, most = 0;
  for (uint32_t other = 0; other < r->group_count; other++)
    for (uint32_t i = 0; i < r->groups[other].count && other != g; i++)
      if (r->lines[r->members[r->groups[other].first + i]].rank == rank) {
        int64_t ns = waited_before(r, &r->groups[other], i, until, m->margin);
        most = ns > most ? ns : most;
      }
  return most;
}

static void add_collective(struct nai_ranks *r, uint32_t g, uint32_t k) {
  struct nai_rank_group *group = &r->groups[g];
  const struct nai_rank_what *what = &r->whats[nai_ranks_call(r, group, 0, k)->what];
  uint32_t bucket = nai_ranks_bucket(r, group, k);
  struct nai_rank_moment m = what->together ? nai_ranks_moment(r, group, k) : (struct nai_rank_moment){0};
  bool decided = what->together && !in_doubt(group, &m);
  group->late[k] = decided ? m.last : NAI_NO_RANK;
  group->skew[k] = m.skew;
  group->transfer[k] = m.transfer;
  for (uint32_t i = 0; i < group->count; i++) {
    const struct nai_rank_call *call = nai_ranks_call(r, group, i, k);
    uint32_t number = r->lines[r->members[group->first + i]].rank, cell = number * r->buckets + bucket;
    struct nai_job_rank *rank = &r->ranks[number];
    add_presence(rank, call);
    if (!what->together)
      continue;
    add_member(rank, call, &m, decided && i == m.last, decided);
    r->waited[cell] += call->end - call->start - m.transfer;
    r->late_by[cell] += decided && i == m.last ? m.margin : 0;
  }
  r->collectives++;
  r->split += what->together;
  if (!what->together)
    return;
  r->wait_ns += m.wait;
  r->matched_ns += m.duration;
  group->decided += decided;
  group->delay_ns += decided ? m.margin : 0;
  int64_t inherited = decided ? inherited_ns(r, g, k, &m) : 0;
  r->inherited_ns += inherited;
  if (decided && m.margin - inherited > r->longest.late_by_ns)
    r->longest = (struct nai_rank_event){g, k, m.margin - inherited};
}

/* --- slow transfers --------------------------------------------------------------------------- */

int nai_ranks_by_kind(struct nai_key **out, const struct nai_ranks *r, const struct nai_rank_group *group,
                      struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, arena, group->collectives, err));
  for (uint32_t k = 0; k < group->collectives; k++)
    (*out)[k] = (struct nai_key){nai_ranks_call(r, group, 0, k)->what, k};
  return nai_sort_keys(*out, group->collectives, err);
}

struct nai_rank_slow nai_ranks_slow(const struct nai_ranks *r, const struct nai_rank_group *group,
                                    const struct nai_key *keys, uint32_t count, int64_t usual_ns) {
  struct nai_rank_slow found = {0, 0};
  bool is_known = count >= FEW_OF_A_KIND && r->whats[keys[0].key].bytes >= 0;
  for (uint32_t i = 0; i < count && is_known; i++) {
    int64_t excess = group->transfer[keys[i].value] - usual_ns;
    bool slow = excess > usual_ns && group->skew[keys[i].value] < excess;
    found.count += slow;
    found.excess_ns += slow ? excess : 0;
  }
  return found;
}

static int find_slow(struct nai_ranks *r, struct nai_rank_group *group, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_key *keys;
  int64_t *transfers;
  NAI_TRY(NAI_NEW(transfers, &arena, group->collectives, err));
  NAI_TRY(nai_ranks_by_kind(&keys, r, group, &arena, err));
  for (uint32_t i = 0, j; i < group->collectives; i = j) {
    for (j = i; j < group->collectives && keys[j].key == keys[i].key; j++)
      transfers[j - i] = group->transfer[keys[j].value];
    if (!r->whats[keys[i].key].together)
      continue;
    int64_t usual = (int64_t)nai_quantile_i64(transfers, j - i, 0.25);
    struct nai_rank_slow slow = nai_ranks_slow(r, group, keys + i, j - i, usual);
    group->slow_count += slow.count;
    group->slow_excess_ns += slow.excess_ns;
  }
  return NAI_OK;
}

/* --- the map ---------------------------------------------------------------------------------- */

static uint32_t step_at(const struct nai_job_rank *rank, int64_t t) {
  size_t from = nai_bisect(rank->steps, rank->step_count, sizeof *rank->steps, 0, t + 1);
  return from ? (uint32_t)from - 1 : 0;
}

static const struct nai_job_rank *reference_of(const struct nai_ranks *r, const struct nai_rank_group *group) {
  return &r->ranks[r->lines[r->members[group->first]].rank];
}

/* Steps where the reference of every group has some; else hundredths of the collectives of the longest group. */
static int size_map(struct nai_ranks *r, struct nai_err *err) {
  uint32_t steps = 0, most = 0;
  r->by_step = true;
  for (uint32_t g = 0; g < r->group_count; g++) {
    const struct nai_job_rank *rank = reference_of(r, &r->groups[g]);
    r->by_step = r->by_step && rank->step_count > 1;
    steps = rank->step_count > steps ? rank->step_count : steps;
    most = r->groups[g].collectives > most ? r->groups[g].collectives : most;
  }
  uint32_t count = r->by_step ? steps : most;
  r->per_bucket = count / NAI_RANKS_BUCKETS + (count % NAI_RANKS_BUCKETS != 0);
  r->per_bucket = r->per_bucket ? r->per_bucket : 1;
  r->buckets = count / r->per_bucket + (count % r->per_bucket != 0);
  r->buckets = r->buckets ? r->buckets : 1;
  NAI_TRY(NAI_NEW(r->late_by, &r->arena, (size_t)r->rank_count * r->buckets, err));
  return NAI_NEW(r->waited, &r->arena, (size_t)r->rank_count * r->buckets, err);
}

uint32_t nai_ranks_bucket(const struct nai_ranks *r, const struct nai_rank_group *group, uint32_t k) {
  uint32_t at = r->by_step ? step_at(reference_of(r, group), nai_ranks_call(r, group, 0, k)->start) : k;
  at /= r->per_bucket;
  return at < r->buckets ? at : r->buckets - 1;
}

/* --- clocks ----------------------------------------------------------------------------------- */

/* More of the job has its clocks told by one group than by another; of groups of as many ranks, by more collectives. */
static bool is_larger(const struct nai_rank_group *a, const struct nai_rank_group *b) {
  return a->count != b->count ? a->count > b->count : a->collectives > b->collectives;
}

/* Each rank's clock against that of the reference of the largest group it is in that tells. */
static void read_clocks(struct nai_ranks *r) {
  const struct nai_rank_group *from = NULL; /* lines are by rank: of the rank at hand */
  for (uint32_t l = 0; l < r->line_count; l++) {
    const struct nai_rank_line *line = &r->lines[l];
    struct nai_job_rank *rank = &r->ranks[line->rank];
    if (line->group == NAI_NO_RANK)
      continue;
    const struct nai_rank_group *group = &r->groups[line->group];
    uint32_t reference = r->lines[r->members[group->first]].rank;
    bool known = rank->reference != NAI_NO_RANK && rank->clock.residual != NAI_NULL_I64;
    bool tells = line->rank == reference || line->how.clock.residual != NAI_NULL_I64;
    if (known && (!tells || !is_larger(group, from)))
      continue;
    from = group;
    rank->reference = reference;
    rank->clock = line->how.clock;
    if (line->rank == reference)
      rank->clock.residual = 0;
  }
}

int nai_ranks_sum(struct nai_ranks *r, struct nai_err *err) {
  NAI_TRY(size_map(r, err));
  for (uint32_t g = 0; g < r->group_count; g++) {
    struct nai_rank_group *group = &r->groups[g];
    for (uint32_t k = 0; k < group->collectives; k++)
      add_collective(r, g, k);
    NAI_TRY(find_slow(r, group, err));
    r->delay_ns += group->delay_ns;
    r->decided += group->decided;
    r->slow_count += group->slow_count;
    r->slow_excess_ns += group->slow_excess_ns;
    r->residual = group->residual > r->residual ? group->residual : r->residual;
  }
  read_clocks(r);
  for (uint32_t i = 0; i < r->rank_count; i++) {
    int64_t span = r->ranks[i].last_end - r->ranks[i].first_start;
    r->span_ns = span > r->span_ns ? span : r->span_ns;
    r->left_out += !r->ranks[i].matched;
  }
  return NAI_OK;
}
