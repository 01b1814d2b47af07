/* The verdict, its reasons and its caveats, in words. */
#include "features/ranks/write.h"

#include "base/fmt.h"
#include "table/kernel_name.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_NAMED = 3, MAX_CHARS = 72 };

static void put_share(struct nai_buf *out, int64_t part, int64_t all) {
  nai_fmt_percent(out, all > 0 ? 100 * (double)part / (double)all : 0);
}

/* "400 us +- 1.2 us": what lateness is, and how far ends of one collective differ. */
static void put_with_doubt(struct nai_buf *out, int64_t ns, const struct nai_ranks *r) {
  nai_fmt_duration(out, (double)ns);
  nai_buf_puts(out, " ± ");
  nai_fmt_duration(out, (double)r->residual);
}

/* --- verdict ---------------------------------------------------------------------------------- */

static void put_persistent(struct nai_buf *out, const struct nai_ranks *r) {
  int named = 0;
  for (uint32_t i = 0; i < r->rank_count; i++) {
    const struct nai_job_rank *rank = &r->ranks[i];
    if (!nai_ranks_is_persistent(r, rank))
      continue;
    if (named++ >= MAX_NAMED)
      continue;
    struct nai_rank_interval share = nai_ranks_late_share(rank);
    nai_buf_printf(out, "%s%s is late: it comes last in %" PRId64 " of %" PRId64 " collectives (95 %% interval ",
                   named > 1 ? " " : "", rank->label, rank->late_count, rank->split);
    nai_fmt_real(out, floor(100 * share.low), 0);
    nai_buf_puts(out, " to ");
    nai_fmt_real(out, ceil(100 * share.high), 0);
    nai_buf_puts(out, " % of those in which somebody does), by ");
    put_with_doubt(out, rank->late_median_ns, r);
    nai_buf_puts(out, " in the median and ");
    nai_fmt_duration(out, (double)rank->late_by_ns);
    nai_buf_puts(out, " in all, ");
    put_share(out, rank->late_by_ns, r->span_ns);
    nai_buf_puts(out, " of the time; meanwhile the others wait ");
    nai_fmt_duration(out, (double)rank->caused_wait_ns);
    nai_buf_puts(out, " of GPU time.");
  }
  if (named > MAX_NAMED)
    nai_buf_printf(out, " So are %d more ranks.", named - MAX_NAMED);
}

static void put_rotating(struct nai_buf *out, const struct nai_ranks *r) {
  nai_buf_printf(out,
                 "No rank in particular: %" PRId64 " of %" PRId64 " collectives wait for a late rank, each time for "
                 "another one, by ",
                 r->decided, r->split);
  put_with_doubt(out, r->decided ? r->delay_ns / r->decided : 0, r);
  nai_buf_puts(out, " each; that is ");
  put_share(out, r->delay_ns, r->span_ns);
  nai_buf_puts(out, " of the time.");
}

/* The ranks whose lateness adds up to most. */
static void put_latest(struct nai_buf *out, const struct nai_ranks *r) {
  const struct nai_job_rank *named[MAX_NAMED] = {NULL};
  for (int n = 0; n < MAX_NAMED; n++) {
    for (uint32_t i = 0; i < r->rank_count; i++) {
      const struct nai_job_rank *rank = &r->ranks[i];
      bool taken = !rank->late_by_ns;
      for (int k = 0; k < n; k++)
        taken = taken || named[k] == rank;
      if (!taken && (!named[n] || rank->late_by_ns > named[n]->late_by_ns))
        named[n] = rank;
    }
    if (!named[n])
      return;
    nai_buf_printf(out, "%s%s ", n ? ", " : "", named[n]->label);
    nai_fmt_duration(out, (double)named[n]->late_by_ns);
    nai_buf_printf(out, " (in %" PRId64 " collective%s)", named[n]->late_count, named[n]->late_count == 1 ? "" : "s");
  }
}

static void put_uneven(struct nai_buf *out, const struct nai_ranks *r) {
  nai_buf_puts(out, "Some ranks come late, none of them most of the time: ");
  put_latest(out, r);
  nai_buf_puts(out, "; together ");
  nai_fmt_duration(out, (double)r->delay_ns);
  nai_buf_puts(out, " (each time known to ");
  nai_fmt_duration(out, (double)r->residual);
  nai_buf_puts(out, "), ");
  put_share(out, r->delay_ns, r->span_ns);
  nai_buf_puts(out, " of the time.");
}

static void put_network(struct nai_buf *out, const struct nai_ranks *r) {
  nai_buf_printf(out,
                 "Not a rank but the transfers: %" PRId64 " of %" PRId64
                 " collectives take more than twice what others of their kind take, on all ranks alike; that is ",
                 r->slow_count, r->split);
  nai_fmt_duration(out, (double)r->slow_excess_ns);
  nai_buf_puts(out, ", ");
  put_share(out, r->slow_excess_ns, r->span_ns);
  nai_buf_puts(out, " of the time. Late ranks cost ");
  nai_fmt_duration(out, (double)r->delay_ns);
  nai_buf_puts(out, ".");
}

static void put_balanced(struct nai_buf *out, const struct nai_ranks *r) {
  nai_buf_puts(out, "No rank is late: coming last costs ");
  nai_fmt_duration(out, (double)r->delay_ns);
  nai_buf_puts(out, ", ");
  put_share(out, r->delay_ns, r->span_ns);
  nai_buf_printf(out, " of the time, in %" PRId64 " collectives (ends are known to ", r->split);
  nai_fmt_duration(out, (double)r->residual);
  nai_buf_puts(out, ").");
}

void nai_ranks_put_verdict(struct nai_buf *out, const struct nai_ranks *r) {
  const char *refusal = nai_ranks_refusal(r, NAI_NO_RANK);
  switch (r->verdict) {
  case NAI_RANKS_PERSISTENT:
    put_persistent(out, r);
    break;
  case NAI_RANKS_ROTATING:
    put_rotating(out, r);
    break;
  case NAI_RANKS_UNEVEN:
    put_uneven(out, r);
    break;
  case NAI_RANKS_NETWORK:
    put_network(out, r);
    break;
  case NAI_RANKS_BALANCED:
    put_balanced(out, r);
    break;
  case NAI_RANKS_UNDECIDED:
    nai_buf_printf(out, "Cannot be decided: %s.", refusal ? refusal : "only collectives that not all ranks wait in");
    return;
  }
  if (r->left_out)
    nai_buf_printf(out, " %" PRIu32 " of %" PRIu32 " ranks could not be compared.", r->left_out, r->rank_count);
}

/* --- reasons ---------------------------------------------------------------------------------- */

void nai_ranks_put_reason(struct nai_buf *out, const struct nai_ranks *r, const struct nai_job_rank *rank) {
  const char *with = nai_ranks_name(r, rank->behind_with), *range = nai_ranks_name(r, rank->behind_range);
  if (!rank->behind_ns)
    return;
  nai_buf_printf(out, "While others waited for %s (", rank->label);
  nai_fmt_duration(out, (double)rank->behind_ns);
  if (2 * rank->behind_idle_ns > rank->behind_ns) {
    nai_buf_puts(out, "), its GPU did nothing for ");
    nai_fmt_duration(out, (double)rank->behind_idle_ns);
    if (rank->idle_cause)
      nai_buf_printf(out, ", mostly for reason %s", rank->idle_cause);
  } else if (with) {
    nai_buf_puts(out, "), it ran ");
    nai_kernel_name_short(out, with, MAX_CHARS);
    nai_buf_puts(out, " for ");
    nai_fmt_duration(out, (double)rank->behind_with_ns);
    if (range)
      nai_buf_printf(out, " in range %s", range);
  } else {
    nai_buf_puts(out, "), nothing is known of what it did");
  }
  nai_buf_puts(out, ".");
  if (!isnan(rank->slowness) && rank->slowness > 1.03) {
    nai_buf_puts(out, " Its compute kernels take ");
    nai_fmt_percent(out, 100 * (rank->slowness - 1));
    nai_buf_puts(out, " longer than the same kernels of the median rank: a slower clock, another GPU, or more data.");
  }
}

/* --- caveats ---------------------------------------------------------------------------------- */

static bool several_gpus(const struct nai_ranks *r) {
  for (uint32_t i = 1; i < r->rank_count; i++)
    if (r->ranks[i].gpu_name != r->ranks[0].gpu_name)
      return true;
  return false;
}

static const struct nai_rank_line *broken(const struct nai_ranks *r) {
  for (uint32_t l = 0; l < r->line_count; l++)
    if (r->lines[l].group != NAI_NO_RANK && r->lines[l].broke)
      return &r->lines[l];
  return NULL;
}

static bool any_guessed(const struct nai_ranks *r) {
  for (uint32_t g = 0; g < r->group_count; g++)
    if (!r->lines[r->members[r->groups[g].first]].known_comm)
      return true;
  return false;
}

/* Communication kernels of all ranks that have no counterpart. */
static int64_t unmatched(const struct nai_ranks *r, int64_t *of) {
  int64_t without = *of = 0;
  for (uint32_t i = 0; i < r->rank_count; i++) {
    without += r->ranks[i].call_count - r->ranks[i].matched;
    *of += r->ranks[i].call_count;
  }
  return without;
}

bool nai_ranks_put_caveat(struct nai_buf *out, const struct nai_ranks *r, uint32_t number) {
  int64_t of, without = unmatched(r, &of);
  const struct nai_rank_line *break_at = broken(r);
  for (uint32_t i = 0, named = 0; i < r->rank_count && named < MAX_NAMED; i++) {
    const char *why = r->ranks[i].matched ? NULL : nai_ranks_refusal(r, i);
    named += why != NULL;
    if (why && number-- == 0) {
      nai_buf_printf(out, "%s is not compared: %s.", r->ranks[i].label, why);
      return true;
    }
  }
  if (r->missing && number-- == 0) {
    nai_buf_printf(
        out,
        "Of %" PRId64
        " more rank%s of the largest communicator there is no trace: the one that is waited for may be among them.",
        r->missing, r->missing == 1 ? "" : "s");
    return true;
  }
  if (break_at && number-- == 0) {
    nai_buf_printf(out,
                   "The collectives of %s part from those of others at kernel %" PRIu32
                   " of its communicator (%s); nothing behind that is matched, on any rank of that communicator.",
                   r->ranks[break_at->rank].label, break_at->broke_at,
                   break_at->broke_by_ends ? "ends no longer agree" : "another operation, type or size");
    return true;
  }
  if (without && number-- == 0) {
    nai_buf_printf(out,
                   "%" PRId64 " of %" PRId64
                   " communication kernels have no counterpart on the other ranks, and count for nothing.",
                   without, of);
    return true;
  }
  if (several_gpus(r) && number-- == 0) {
    nai_buf_puts(out, "The ranks run on different GPUs: some may be late for that reason.");
    return true;
  }
  if (any_guessed(r) && number-- == 0) {
    nai_buf_puts(out,
                 "Communicators are not known, so kernels are matched by streams and by what they are. An export with "
                 "--include-blobs=true of a capture with --trace=cuda,nvtx says which is which.");
    return true;
  }
  if (r->split < r->collectives && number-- == 0) {
    nai_buf_printf(out,
                   "In %" PRId64
                   " of the collectives (broadcasts, reductions to one rank) not all ranks wait for the last one: "
                   "they are matched, and say nothing of waiting.",
                   r->collectives - r->split);
    return true;
  }
  return false;
}
