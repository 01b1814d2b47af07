/* The verdict: is it a rank, all of them in turn, or the network? Then everything in order. */
#include "features/ranks/ranks.h"

enum {
  WORTH_SHARE = 100, /* of the time, that a delay is worth a word */
  FEWEST_SLOW = 3,   /* transfers, that the network is blamed for */
  FEWEST = 8         /* collectives with a late rank, that a habit is seen in */
};
static const double in_turn = 0.7;    /* entropy, of the possible one, from which on it is all ranks, */
static const double most_more = 0.15; /* unless one has so much more of the delay than its share */

const char *nai_ranks_verdict_name(enum nai_ranks_verdict verdict) {
  static const char *const names[] = {"undecided", "balanced", "persistent", "single",
                                      "rotating",  "uneven",   "network",    "no_collectives"};
  return names[verdict];
}

struct nai_rank_interval nai_ranks_late_share(const struct nai_job_rank *rank) {
  const double z = 2, n = (double)rank->decided, p = n > 0 ? (double)rank->late_count / n : 0;
  if (!(n > 0))
    return (struct nai_rank_interval){0, 1};
  double centre = p + z * z / (2 * n), spread = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)), all = 1 + z * z / n;
  return (struct nai_rank_interval){fmax(0, (centre - spread) / all), fmin(1, (centre + spread) / all)};
}

int64_t nai_ranks_event_ns(const struct nai_ranks *r, const struct nai_job_rank *rank) {
  const struct nai_rank_event *event = &r->longest;
  if (2 * event->late_by_ns <= rank->late_by_ns ||
      &r->ranks[nai_ranks_late_rank(r, &r->groups[event->group], event->collective)] != rank)
    return 0;
  return event->late_by_ns;
}

bool nai_ranks_is_persistent(const struct nai_ranks *r, const struct nai_job_rank *rank) {
  return rank->late_count >= FEWEST && nai_ranks_late_share(rank).low > 0.5 &&
         2 * rank->late_by_ns > rank->group_delay_ns &&
         rank->late_by_ns - nai_ranks_event_ns(r, rank) > r->span_ns / WORTH_SHARE;
}

/* Shannon's, of who was late, over that of all ranks alike. */
static double entropy_of(const struct nai_ranks *r) {
  double sum = 0, entropy = 0;
  uint32_t ranks = 0;
  for (uint32_t i = 0; i < r->rank_count; i++) {
    sum += (double)r->ranks[i].late_count;
    ranks += r->ranks[i].matched > 0;
  }
  for (uint32_t i = 0; i < r->rank_count && sum > 0; i++) {
    double share = (double)r->ranks[i].late_count / sum;
    entropy -= share > 0 ? share * log(share) : 0;
  }
  return sum > 0 && ranks > 1 ? entropy / log((double)ranks) : NAN;
}

/* Ranks of the largest communicator that have no trace. */
static int64_t missing_ranks(const struct nai_ranks *r) {
  int64_t size = 0, given = 0;
  for (uint32_t g = 0; g < r->group_count; g++) {
    const struct nai_rank_line *line = &r->lines[r->members[r->groups[g].first]];
    if (line->size > size) {
      size = line->size;
      given = r->groups[g].count;
    }
  }
  return size > given ? size - given : 0;
}

/* Whether delays are spread over the ranks, as they come last and by their lengths. */
static bool is_in_turn(const struct nai_ranks *r) {
  int64_t most = 0;
  double ranks = 0;
  for (uint32_t i = 0; i < r->rank_count; i++) {
    most = r->ranks[i].late_by_ns > most ? r->ranks[i].late_by_ns : most;
    ranks += r->ranks[i].matched > 0;
  }
  return r->entropy >= in_turn && (double)most <= (1 / ranks + most_more) * (double)r->delay_ns;
}

static enum nai_ranks_verdict verdict_of(const struct nai_ranks *r) {
  int64_t worth = r->span_ns / WORTH_SHARE;
  if (!r->line_count)
    return NAI_RANKS_MPI;
  if (!r->split)
    return NAI_RANKS_UNDECIDED;
  if (r->slow_excess_ns > worth && r->slow_excess_ns > r->delay_ns && r->slow_count >= FEWEST_SLOW)
    return NAI_RANKS_NETWORK;
  for (uint32_t i = 0; i < r->rank_count; i++)
    if (nai_ranks_is_persistent(r, &r->ranks[i]))
      return NAI_RANKS_PERSISTENT;
  if (r->delay_ns <= worth)
    return NAI_RANKS_BALANCED;
  if (2 * r->longest.late_by_ns > r->delay_ns - r->inherited_ns)
    return NAI_RANKS_SINGLE;
  return is_in_turn(r) ? NAI_RANKS_ROTATING : NAI_RANKS_UNEVEN;
}

/* Sets by how much the persistent stragglers are late. */
static int find_medians(struct nai_ranks *r, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  int64_t *margins;
  NAI_TRY(NAI_NEW(margins, &arena, (size_t)r->split, err));
  for (uint32_t i = 0; i < r->rank_count; i++) {
    uint32_t count = 0;
    for (uint32_t g = 0; g < r->group_count && nai_ranks_is_persistent(r, &r->ranks[i]); g++)
      for (uint32_t k = 0; k < r->groups[g].collectives; k++)
        if (nai_ranks_late_rank(r, &r->groups[g], k) == i)
          margins[count++] = nai_ranks_moment(r, &r->groups[g], k).margin;
    if (count)
      r->ranks[i].late_median_ns = (int64_t)nai_quantile_i64(margins, count, 0.5);
  }
  return NAI_OK;
}

int nai_ranks_judge(struct nai_ranks *r, struct nai_err *err) {
  r->entropy = entropy_of(r);
  r->missing = missing_ranks(r);
  r->verdict = verdict_of(r);
  return find_medians(r, err);
}

bool nai_ranks_are_apart(const struct nai_ranks *r) {
  const int64_t minute = INT64_C(60000000000);
  return r->apart_ns > minute;
}

int nai_ranks_exit(const struct nai_ranks *r) {
  enum { CANNOT_DECIDE = 7 };
  if (r->verdict == NAI_RANKS_MPI)
    return 0;
  return r->verdict == NAI_RANKS_UNDECIDED || r->left_out || r->silent || nai_ranks_are_apart(r) ? CANNOT_DECIDE : 0;
}

int nai_ranks_compare(struct nai_ranks *r, const struct nai_ranks_options *options, struct nai_err *err) {
  if (!r->rank_count)
    NAI_TRY(nai_ranks_add_mpi(r, err));
  if (r->rank_count < 2)
    return nai_err_set(err, NAI_EINPUT,
                       r->rank_count ? "only one rank communicates: give the traces of the others, too"
                                     : "no trace has NCCL collectives or MPI calls");
  NAI_TRY(nai_ranks_order(r, options, err));
  NAI_TRY(nai_ranks_read_mpi(r, err));
  NAI_TRY(nai_ranks_match(r, options, err));
  nai_ranks_find_parts(r);
  NAI_TRY(nai_ranks_sum(r, err));
  NAI_TRY(nai_ranks_find_clocks(r, err));
  NAI_TRY(nai_ranks_kernels(r, err));
  NAI_TRY(nai_ranks_explain(r, err));
  return nai_ranks_judge(r, err);
}
