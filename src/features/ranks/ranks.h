/* The ranks of a distributed job side by side: which kernels of different ranks are one collective, who waited for
 * whom, how far the clocks lie apart. Definitions: docs/ranks.md. Times are ns; those of calls are of their own trace.
 */
#pragma once

#include "base/keyset.h"
#include "base/sort.h"
#include "rundir/run.h"

#define NAI_NO_RANK UINT32_MAX

/* What a collective is; ranks that take part in one agree on it. */
struct nai_rank_what {
  uint32_t op, dtype; /* texts of nai_ranks.names; NAI_NO_STRING unknown */
  int64_t bytes;      /* of the message, -1 unknown */
  int64_t size;       /* ranks of the communicator, -1 unknown */
  bool together;      /* all of its ranks wait for the last one, and end together */
  bool point_to_point;
};

/* One communication kernel of a rank. */
struct nai_rank_call {
  int64_t start, end;
  int64_t seq;   /* NCCL's number among those of its function, equal on all ranks; NAI_COMM_UNKNOWN */
  uint32_t what; /* index in nai_ranks.whats */
};

/* How a line was matched with the reference of its group. */
enum nai_rank_method {
  NAI_RANK_NOT_MATCHED,
  NAI_RANK_REFERENCE,   /* it is the reference */
  NAI_RANK_BY_SEQUENCE, /* only one shift of the two sequences fits */
  NAI_RANK_BY_NUMBER,   /* NCCL's own numbers say it */
  NAI_RANK_BY_INIT,     /* both traces have the communicator's initialisation, so both begin with the first call */
  NAI_RANK_BY_ENDS,     /* of several shifts only one makes ends agree, but for an offset and a drift of the clocks */
  NAI_RANK_BY_CLOCK     /* only one is possible by the clocks */
};
const char *nai_rank_method_name(enum nai_rank_method method);

/* A clock against another one. */
struct nai_rank_clock {
  int64_t offset;        /* it is ahead by so much: of UTC where both traces tell it */
  int64_t ahead, middle; /* the same of the times in the two traces; when, by the other clock */
  int64_t low, high;     /* offset lies between: nobody leaves a collective before all are in. Equal: nothing tells */
  int64_t residual;      /* 1.4826 MAD of what is left once offset and drift are taken off: how far ends are in doubt;
                            NAI_NULL_I64: nothing tells of the clock */
  double drift;          /* parts of 1 that it is faster */
};

/* How a line lies over the reference of its group: calls begin_a + k of the reference and begin_b + k of the line are
 * the same. */
struct nai_rank_alignment {
  enum nai_rank_method method;
  const char *refused; /* a literal; NULL when they were aligned */
  uint32_t begin_a, begin_b, count;
  bool broke, broke_by_ends; /* why it goes no further, when that is not the end of a sequence */
  bool began_late;           /* calls before begin_b could be laid over others, but do not end together with them */
  struct nai_rank_clock clock;
};

/* Kernels of one communicator on one rank, in their order; of one stream where the trace does not tell communicators.
 */
struct nai_rank_line {
  uint32_t rank, first, count; /* calls of that rank: first .. first + count - 1 */
  bool point_to_point;
  bool known_comm, from_start; /* the trace has the initialisation of the communicator */
  int64_t comm, size;          /* ranks of the communicator, -1 unknown */
  int32_t stream;
  uint32_t group;      /* of nai_ranks.groups; NAI_NO_RANK for none */
  const char *refused; /* why it is in none: a literal */
  struct nai_rank_alignment how;
  uint32_t begin; /* the first of its kernels that was matched, counted in the line */
};

/* Lines that are one communicator, and its collectives: kernel `begin + k` of each line is collective k. */
struct nai_rank_group {
  uint32_t first, count; /* members: nai_ranks.members[first ..], the reference first, then by rank */
  uint32_t collectives;
  int64_t residual; /* the largest of its lines */
  uint32_t *late;   /* per collective: member that came last; NAI_NO_RANK when that is in doubt, or nobody waits */
  int64_t *skew, *transfer; /* per collective: what the first one waited; with all there */
  /* sums over collectives; those that all wait in */
  int64_t decided, delay_ns, slow_count, slow_excess_ns;
};

struct nai_rank_kernel {
  uint32_t name; /* of nai_ranks.names */
  int64_t calls, total_ns;
};

struct nai_job_rank {
  uint32_t source;
  const char *label;           /* unique: "rank 3", or a name; clean, the arena's */
  int32_t device;              /* -1 for none, or several */
  int64_t pid, number;         /* NAI_NULL_I64 unknown */
  uint32_t gpu_name;           /* text of nai_ranks.names */
  struct nai_rank_call *calls; /* by line */
  uint32_t call_count;
  int64_t *steps; /* when each step begins on its GPU */
  uint32_t step_count;
  struct nai_rank_kernel *kernels; /* compute, by name */
  uint32_t kernel_count;
  int64_t window_start, window_ns, compute_ns; /* of its GPU */
  /* sums over its matched collectives; wait and what follows over those that all wait in */
  int64_t matched, matched_ns, split, wait_ns, transfer_ns, late_count, late_by_ns, caused_wait_ns;
  int64_t late_median_ns;        /* of what late_by_ns sums up; persistent stragglers only */
  int64_t decided;               /* of the collectives that it takes part in, those with a late rank */
  int64_t group_delay_ns;        /* by how much that rank came last in them, summed */
  int64_t first_start, last_end; /* of its matched collectives */
  struct nai_rank_clock clock;   /* against that of `reference`, NAI_NO_RANK for none */
  uint32_t reference;
  /* what it did while others waited for it, in collectives it was late in */
  int64_t behind_ns, behind_idle_ns, behind_with_ns, idle_cause_ns;
  uint32_t behind_with, behind_range;          /* texts of nai_ranks.names, NAI_NO_STRING for none */
  const char *idle_cause;                      /* a literal; NULL for none */
  int64_t mpi_ns, mpi_span_ns, mpi_exposed_ns; /* in MPI, of a span of so much; NAI_NULL_I64 unknown */
  double slowness; /* its kernels' time over what the median rank takes for the same calls; NaN unknown */
};

struct nai_rank_source {
  struct nai_run *run;
  const char *path; /* as given */
  int64_t utc;      /* of time 0, ns since 1970; NAI_NULL_I64 unknown */
  int64_t first_ns; /* when the first operation of a GPU begins, 0 where that is later */
  uint64_t identity;
  int64_t boot, host;          /* when its host booted, and which it is; NAI_NULL_I64 unknown */
  struct nai_rank_clock clock; /* against that of the trace nai_ranks.common */
  bool timed;                  /* that is known */
  bool communicates;           /* it has collectives */
  bool begins_part;            /* it has no collective in common with the traces before it */
  uint32_t part;               /* a trace before it that it has some in common with; its own number for none */
};

enum nai_ranks_verdict {
  NAI_RANKS_UNDECIDED, /* nothing could be matched */
  NAI_RANKS_BALANCED,
  NAI_RANKS_PERSISTENT, /* one rank, or one in each of several communicators, is late most of the time */
  NAI_RANKS_SINGLE, /* one rank once: more than half of all delay is one collective's, and of those that wait for it */
  NAI_RANKS_ROTATING, /* all ranks in turn */
  NAI_RANKS_UNEVEN,   /* some ranks more than others, none of them provably most of the time */
  NAI_RANKS_NETWORK,  /* nobody in particular; some transfers take much longer than others of their size */
  NAI_RANKS_MPI       /* no rank has collectives: what MPI takes of each */
};
const char *nai_ranks_verdict_name(enum nai_ranks_verdict verdict);

enum { NAI_RANKS_BUCKETS = 120 };

/* {.arena = NAI_ARENA(NULL)} to begin with. */
struct nai_ranks {
  struct nai_arena arena; /* that all arrays are from */
  struct nai_rank_source *sources;
  uint32_t source_count, source_capacity;
  struct nai_job_rank *ranks; /* by number, else by name, once they are matched */
  uint32_t rank_count, rank_capacity;
  struct nai_rank_line *lines; /* by rank */
  uint32_t line_count, line_capacity;
  struct nai_rank_group *groups;
  uint32_t group_count, group_capacity;
  uint32_t *members; /* lines */
  uint32_t member_count;
  struct nai_rank_what *whats;
  uint32_t what_capacity;
  struct nai_keyset what_keys;
  struct nai_strings names;
  struct nai_kernel_classes *classes;
  /* the map of ranks and time */
  bool by_step;
  uint32_t buckets, per_bucket; /* steps, or hundredths of the collectives, that a column stands for */
  int64_t *late_by, *waited;    /* [rank * buckets + bucket]: by how much it came last; what it waited */
  uint32_t common;              /* the trace whose clock most others are compared with, NAI_NO_RANK for none */
  int64_t shift;                /* added to its times, none is negative */
  /* the outcome */
  enum nai_ranks_verdict verdict;
  int64_t collectives, split, span_ns; /* matched; those that all wait in; from the first to the last, longest rank */
  int64_t delay_ns, wait_ns, matched_ns, decided;
  int64_t inherited_ns; /* of delay_ns: what late ranks waited for others in other communicators */
  int64_t slow_count, slow_excess_ns;
  struct nai_rank_event {
    uint32_t group, collective;
    int64_t late_by_ns; /* 0: nobody was late */
  } longest;            /* the longest delay of all */
  int64_t residual;     /* largest of the groups */
  double entropy;       /* of who is late, 0 one rank .. 1 all alike; NaN when nobody is */
  uint32_t first_part;  /* the first trace with matched collectives */
  uint32_t silent;      /* traces without any */
  int64_t apart_ns;     /* so long before or behind its collectives ran those that have none in common with it */
  uint32_t left_out;    /* ranks without a matched collective */
  int64_t missing;      /* ranks of the largest communicator that were not given, 0 for none or unknown */
};

struct nai_ranks_options {
  int64_t clock_doubt_ns;     /* by which clocks of different hosts may disagree */
  const char *number_follows; /* the number behind this text in a path is the rank's; or NULL */
};

/* Adds the ranks of a run, which is taken over also on failure. NAI_EUSAGE when the same trace was added before. */
NAI_MUST_CHECK int nai_ranks_add(struct nai_ranks *ranks, struct nai_run *run, const char *path, struct nai_err *err);
/* Everything else. NAI_EINPUT when there is nothing to compare: fewer than two ranks that communicate. Without
 * collectives processes that call MPI are the ranks. */
NAI_MUST_CHECK int nai_ranks_compare(struct nai_ranks *ranks, const struct nai_ranks_options *options,
                                     struct nai_err *err);
void nai_ranks_free(struct nai_ranks *ranks);

/* A text, NULL for NAI_NO_STRING. */
static inline const char *nai_ranks_name(const struct nai_ranks *ranks, uint32_t id) {
  return id == NAI_NO_STRING ? NULL : nai_strings_get(&ranks->names, id);
}

/* Why nothing of a rank (NAI_NO_RANK: of any) was matched: what spoke against its line of most kernels. A literal, NULL
 * for none. */
const char *nai_ranks_refusal(const struct nai_ranks *ranks, uint32_t rank);

/* Share of the decided collectives that a rank was late in: Wilson's interval of two standard deviations, 0 .. 1. */
struct nai_rank_interval {
  double low, high;
};
struct nai_rank_interval nai_ranks_late_share(const struct nai_job_rank *rank);
/* How late a rank comes in the longest delay of all, where that is more than half of what it is late; else 0. */
int64_t nai_ranks_event_ns(const struct nai_ranks *ranks, const struct nai_job_rank *rank);
/* Late in most collectives that somebody was late in, beyond chance, and by most of the time; one event is no habit. */
bool nai_ranks_is_persistent(const struct nai_ranks *ranks, const struct nai_job_rank *rank);

/* Whether traces without a common collective were captured at different times: they are of different jobs. */
bool nai_ranks_are_apart(const struct nai_ranks *ranks);
/* 0, or 7 when the question could not be answered: nothing was matched, or ranks or traces had to be left out. */
int nai_ranks_exit(const struct nai_ranks *ranks);

/* Call k of a member of a group. */
static inline const struct nai_rank_call *nai_ranks_call(const struct nai_ranks *r, const struct nai_rank_group *group,
                                                         uint32_t member, uint32_t k) {
  const struct nai_rank_line *line = &r->lines[r->members[group->first + member]];
  return &r->ranks[line->rank].calls[line->first + line->begin + k];
}

/* The rank that came last to collective k of a group; NAI_NO_RANK when that is in doubt, or nobody waits. */
static inline uint32_t nai_ranks_late_rank(const struct nai_ranks *r, const struct nai_rank_group *group, uint32_t k) {
  return group->late[k] == NAI_NO_RANK ? NAI_NO_RANK : r->lines[r->members[group->first + group->late[k]]].rank;
}

/* Column of the map that collective k of a group is in. */
uint32_t nai_ranks_bucket(const struct nai_ranks *ranks, const struct nai_rank_group *group, uint32_t k);

/* What collective k of a group took. */
struct nai_rank_moment {
  int64_t transfer, skew, wait, duration; /* the shortest kernel; longest minus shortest; sums over members */
  int64_t margin;                         /* second shortest minus shortest */
  uint32_t last;                          /* member that came last */
};
struct nai_rank_moment nai_ranks_moment(const struct nai_ranks *ranks, const struct nai_rank_group *group, uint32_t k);

/* --- the steps of nai_ranks_compare ----------------------------------------------------------- */

/* The processes that call MPI as ranks. */
NAI_MUST_CHECK int nai_ranks_add_mpi(struct nai_ranks *ranks, struct nai_err *err);
/* What MPI takes of each rank. */
NAI_MUST_CHECK int nai_ranks_read_mpi(struct nai_ranks *ranks, struct nai_err *err);
/* Numbers, labels and order of the ranks. */
NAI_MUST_CHECK int nai_ranks_order(struct nai_ranks *ranks, const struct nai_ranks_options *options,
                                   struct nai_err *err);
/* Appends what a source is called: the last component of its path, without a trace's suffix; clean. */
void nai_ranks_put_name(struct nai_buf *out, const char *path);
/* Groups of lines, and their collectives. */
NAI_MUST_CHECK int nai_ranks_match(struct nai_ranks *ranks, const struct nai_ranks_options *options,
                                   struct nai_err *err);
/* Which traces have collectives in common. */
void nai_ranks_find_parts(struct nai_ranks *ranks);
/* Sums over the collectives, and the map. */
NAI_MUST_CHECK int nai_ranks_sum(struct nai_ranks *ranks, struct nai_err *err);
/* One clock for as many traces as can be compared. */
NAI_MUST_CHECK int nai_ranks_find_clocks(struct nai_ranks *ranks, struct nai_err *err);
/* What late ranks did meanwhile, from their runs. */
NAI_MUST_CHECK int nai_ranks_explain(struct nai_ranks *ranks, struct nai_err *err);
/* How long each rank's kernels take, against the same kernels of the others. */
NAI_MUST_CHECK int nai_ranks_kernels(struct nai_ranks *ranks, struct nai_err *err);
NAI_MUST_CHECK int nai_ranks_judge(struct nai_ranks *ranks, struct nai_err *err);

/* Collectives of a group by what they are: key the kind, value the collective. */
NAI_MUST_CHECK int nai_ranks_by_kind(struct nai_key **out, const struct nai_ranks *ranks,
                                     const struct nai_rank_group *group, struct nai_arena *arena, struct nai_err *err);
/* Collectives of one kind that take more than twice `usual_ns`, while no rank waits for another as long as that adds;
 * what they take beyond it. None of a few, and none where sizes are not known: longer ones may be larger ones. */
struct nai_rank_slow {
  int64_t count, excess_ns;
};
struct nai_rank_slow nai_ranks_slow(const struct nai_ranks *ranks, const struct nai_rank_group *group,
                                    const struct nai_key *keys, uint32_t count, int64_t usual_ns);

/* The model of a source with these parts and event tables, until nai_run_drop_model. */
NAI_MUST_CHECK int nai_ranks_model(struct nai_model **out, struct nai_ranks *ranks, uint32_t source, uint32_t parts,
                                   uint64_t tables, struct nai_err *err);
/* Number of a text in ranks->names, NAI_NO_STRING for NULL. */
NAI_MUST_CHECK int nai_ranks_text(uint32_t *id, struct nai_ranks *ranks, const char *text, struct nai_err *err);

/* A line for nai_ranks_align. */
struct nai_rank_side {
  const struct nai_rank_call *calls;
  uint32_t count;
  int64_t utc;     /* of time 0; NAI_NULL_I64 unknown */
  uint32_t source; /* sides of one trace have one clock */
  bool from_start;
};

/* Which calls of two lines are the same? Nothing is matched in doubt. O(count), and a constant for the shifts tried.
 * `whats`: of the calls. */
NAI_MUST_CHECK int nai_ranks_align(struct nai_rank_alignment *out, const struct nai_rank_side *a,
                                   const struct nai_rank_side *b, const struct nai_rank_what *whats,
                                   int64_t clock_doubt_ns, struct nai_err *err);
