/* What is written of a comparison of ranks: tables, words, documents. Internal to src/features/ranks. */
#pragma once

#include "features/ranks/ranks.h"

enum nai_ranks_table {
  NAI_RANKS_RANKS,       /* a row per rank */
  NAI_RANKS_STEPS,       /* per rank and step */
  NAI_RANKS_TIMELINE,    /* per rank and stretch of time */
  NAI_RANKS_OPS,         /* per rank and operation */
  NAI_RANKS_LINES,       /* per rank and communicator: how it was matched, clocks */
  NAI_RANKS_TRANSFERS,   /* per communicator and kind of collective */
  NAI_RANKS_COLLECTIVES, /* those that ranks wait longest in */
  NAI_RANKS_MISMATCHES,  /* where sequences part */
  NAI_RANKS_CALLS_OF_MPI,
  NAI_RANKS_SIZES_OF_MPI,
  NAI_RANKS_PAIRS_OF_MPI,
  NAI_RANKS_COLLECTIVES_OF_MPI,
  NAI_RANKS_EFFICIENCY, /* of MPI, all processes */
  NAI_RANKS_TABLES
};
enum { NAI_RANKS_MOST_COLLECTIVES = 10000 }; /* rows of that table */
enum { NAI_RANKS_MAX_CAVEATS = 16 };

/* What a GPU does; of several things at a time it is the first. */
enum nai_ranks_state {
  NAI_RANKS_COMPUTE,
  NAI_RANKS_WAIT,
  NAI_RANKS_TRANSFER,
  NAI_RANKS_COPY,
  NAI_RANKS_IN_MPI,
  NAI_RANKS_IDLE,
  NAI_RANKS_STATES
};
extern const char *const nai_ranks_states[NAI_RANKS_STATES];
/* Time by rank, bin and state, by the clock of nai_ranks.common. */
struct nai_ranks_axis {
  int64_t first_ns, width_ns; /* when bin 0 begins, nai_ranks.shift added; width 0: no clocks are known */
  int64_t *bins;              /* the ranks' arena's */
};
static inline int64_t *nai_ranks_bin(const struct nai_ranks_axis *axis, uint32_t rank, int64_t bin) {
  return axis->bins + ((int64_t)rank * NAI_RANKS_BUCKETS + bin) * NAI_RANKS_STATES;
}
NAI_MUST_CHECK int nai_ranks_make_axis(struct nai_ranks_axis *axis, struct nai_ranks *ranks, struct nai_err *err);
/* When the axis begins and ends in the trace of a rank. False: its clock is not known, or it has no GPU. */
bool nai_ranks_own_times(int64_t *from, int64_t *to, const struct nai_ranks_axis *axis, const struct nai_ranks *ranks,
                         uint32_t rank);
void nai_ranks_put_axis(struct nai_table *table, const struct nai_ranks_axis *axis, const struct nai_ranks *ranks);

struct nai_ranks_report {
  const struct nai_ranks *ranks;
  struct nai_ranks_axis axis;
  struct nai_key *latest; /* ranks, those that are late most first; the ranks' arena's */
  struct nai_table *tables[NAI_RANKS_TABLES];
  /* In words, plain text with names of the trace in it; the ranks' arena's. */
  const char *verdict;  /* one line: who is late, by how much, and how far that is in doubt */
  const char **reasons; /* per rank: what it did while others waited for it; "" when that is not known */
  const char *caveats[NAI_RANKS_MAX_CAVEATS]; /* why something could not be answered, or is less sure than it looks */
  uint32_t caveat_count;
  const char *directory; /* where the page will be, for links to the runs' reports; NULL: none */
};
NAI_MUST_CHECK int nai_ranks_report_make(struct nai_ranks_report *report, struct nai_ranks *ranks, struct nai_err *err);
void nai_ranks_report_free(struct nai_ranks_report *report);

/* Its parts. */
NAI_MUST_CHECK int nai_ranks_put_words(struct nai_ranks_report *report, struct nai_ranks *ranks, struct nai_err *err);
NAI_MUST_CHECK int nai_ranks_put_ops(struct nai_table *table, const struct nai_ranks *ranks, struct nai_err *err);
NAI_MUST_CHECK int nai_ranks_put_transfers(struct nai_table *table, const struct nai_ranks *ranks, struct nai_err *err);
NAI_MUST_CHECK int nai_ranks_put_collectives(struct nai_table *table, const struct nai_ranks *ranks,
                                             struct nai_err *err);
NAI_MUST_CHECK int nai_ranks_put_mpi(struct nai_table *calls, struct nai_table *sizes, const struct nai_ranks *ranks,
                                     struct nai_err *err);

/* Of MPI: pairs of ranks, collectives, and the efficiencies of all. */
NAI_MUST_CHECK int nai_ranks_put_messages(struct nai_table *const tables[NAI_RANKS_TABLES], struct nai_ranks *ranks,
                                          struct nai_err *err);

/* The map of ranks and steps as SVG of a class, with a label for who cannot see it: what is drawn, [rank * buckets +
 * bucket]. Returns the largest. */
int64_t nai_ranks_put_map(struct nai_buf *out, const struct nai_ranks *ranks, const int64_t *values, const char *class,
                          const char *label);
/* That of ranks and time: what each GPU did most in each bin. */
NAI_MUST_CHECK int nai_ranks_put_time_map(struct nai_buf *out, const struct nai_ranks_report *report,
                                          struct nai_err *err);
/* Appends the address of the report of a rank's run, from where the page is; nothing where it has none. */
NAI_MUST_CHECK int nai_ranks_put_report(struct nai_buf *out, const struct nai_ranks_report *report, int64_t rank,
                                        struct nai_err *err);

/* Documents, appended. */
typedef int nai_ranks_write_fn(struct nai_buf *out, const struct nai_ranks_report *report, struct nai_err *err);
nai_ranks_write_fn nai_ranks_write_json, nai_ranks_write_html, nai_ranks_write_markdown;
