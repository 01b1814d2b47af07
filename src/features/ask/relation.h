/* Relations: how a thing that a question names stands to another one, or to itself. Where no intent takes up each word,
 * a question is read by its parts: the things it names (things.c), and what it wants to know of them
 * (relation_words.c, relation_kind.c, relation_meant.c). Every word must be one of these or say little. Internal to
 * src/features/ask. */
#pragma once

#include "features/ask/internal.h"

/* --- things.c: kernels, "H2D copies", a range by its name, "coarse levels" ---------------------------------------- */

enum nai_thing_kind {
  NAI_THING_KERNELS,
  NAI_THING_COPIES,
  NAI_THING_MEMSETS,
  NAI_THING_RANGES,
  NAI_THING_CALLS,
  NAI_THING_LAUNCHES,
  NAI_THING_WAITS,
  NAI_THING_OS_CALLS,
  NAI_THING_STEPS,
  NAI_THING_OPERATIONS, /* on GPUs */
  NAI_THING_MIGRATIONS, /* of managed memory */
  NAI_THING_KINDS
};
struct nai_thing {
  enum nai_thing_kind kind;
  const char *names;                     /* the only ones it has, each between line breaks; NULL: any */
  uint32_t name_count;                   /* of those */
  const char *category, *op, *direction; /* of kernels, of communication, of copies; NULL: any */
  const char *called;                    /* in answers: "memcpy_kernel", "kernels" */
  bool part;                             /* it is called by a part of its names */
  bool joined;                           /* ... by two of them: "pre_forward blocks.7" */
  bool on_host;                          /* of steps: their times there */
  bool work;                             /* what was launched on GPUs inside what is called so */
  size_t first, behind;                  /* its words */
};
/* Whether it runs on GPUs: its times are those there. */
static inline bool nai_thing_is_on_gpu(const struct nai_thing *thing) {
  return thing->kind <= NAI_THING_MEMSETS || thing->kind >= NAI_THING_OPERATIONS;
}

/* Whether it moves bytes, of which each is known how many. */
static inline bool nai_thing_has_bytes(const struct nai_thing *thing) {
  return thing->kind == NAI_THING_COPIES || thing->kind == NAI_THING_MIGRATIONS;
}

/* Whether it is all of its kind. */
static inline bool nai_thing_is_plain(const struct nai_thing *thing) {
  return !thing->names && !thing->category && !thing->op && !thing->direction;
}

enum { NAI_RELATION_MAX_THINGS = 6 };
/* The things that the words name, in their order. A word that `says` how they are related names none, unless it is in
 * quotes. */
typedef bool nai_says_fn(const char *word);
NAI_MUST_CHECK int nai_things_find(struct nai_thing *things, size_t *count, const struct nai_asking *asking,
                                   const struct nai_question *question, nai_says_fn *says, struct nai_err *err);

struct nai_thing_event {
  int64_t start, end;
  int64_t call, tid, pid; /* call: when what launched it began, of what is on the host itself */
  int64_t gpu, stream;    /* -1: none */
  int64_t bytes;
  uint32_t name;
};
struct nai_thing_events {
  struct nai_thing_event *at; /* by start */
  uint32_t count;
  struct nai_strings names;
};
/* Only those on this GPU, stream and process; -1: any. And those that take longer, or less: -1: no limit. */
struct nai_thing_filter {
  int64_t gpu, stream, pid, least_ns, most_ns;
};
NAI_MUST_CHECK int nai_things_load(struct nai_thing_events *out, const struct nai_thing *thing,
                                   const struct nai_thing_filter *filter, const struct nai_asking *asking,
                                   struct nai_err *err);
/* Of events on the host, or launched there: those whose call begins in one of `around`, on its thread. inside[i]: the
 * innermost of them; UINT32_MAX: none. */
NAI_MUST_CHECK int nai_things_place(uint32_t **inside, const struct nai_thing_events *events,
                                    const struct nai_thing_events *around, struct nai_arena *arena,
                                    struct nai_err *err);
/* Keeps of them only those that are inside of one. */
NAI_MUST_CHECK int nai_things_keep_inside(struct nai_thing_events *events, const struct nai_thing_events *around,
                                          struct nai_arena *arena, struct nai_err *err);

/* --- relation_kind.c: what is asked of them ----------------------------------------------------------------------- */

enum nai_statistic {
  NAI_STATISTIC_NONE,
  NAI_STATISTIC_COUNT,
  NAI_STATISTIC_TOTAL,
  NAI_STATISTIC_AVERAGE,
  NAI_STATISTIC_MEDIAN,
  NAI_STATISTIC_P90,
  NAI_STATISTIC_P95,
  NAI_STATISTIC_P99,
  NAI_STATISTIC_SHORTEST,
  NAI_STATISTIC_LONGEST,
  NAI_STATISTIC_SPREAD,
  NAI_STATISTIC_BYTES, /* sizes instead of durations */
  NAI_STATISTIC_RATE   /* of copies: bytes by time */
};
enum nai_relation_kind {
  NAI_RELATION_NONE,
  NAI_RELATION_NUMBERS,  /* of one thing */
  NAI_RELATION_EVERY,    /* ... whether each keeps a limit */
  NAI_RELATION_GROUPS,   /* ... for each GPU, process, stream or thread */
  NAI_RELATION_RANKING,  /* ... by its names */
  NAI_RELATION_NAMES,    /* ... which of its names is faster */
  NAI_RELATION_COMPARE,  /* X and Y */
  NAI_RELATION_SHARE,    /* of X in Y */
  NAI_RELATION_INSIDE,   /* X in Y */
  NAI_RELATION_PER,      /* X for each Y */
  NAI_RELATION_BETWEEN,  /* from X to the next Y */
  NAI_RELATION_GAPS,     /* from one X to the next X */
  NAI_RELATION_FIRST,    /* the first X, and the rest */
  NAI_RELATION_NTH,      /* the second X, the last one; of two which one takes longer */
  NAI_RELATION_TREND,    /* X early and late */
  NAI_RELATION_OUTLIERS, /* X that take much longer than its median */
  NAI_RELATION_LATENCY,  /* from the call to the start of what it launched */
  NAI_RELATION_FOLLOWS,  /* what begins next behind X, or began last before it */
  NAI_RELATION_COVER,    /* the time of X in which some Y runs */
  NAI_RELATION_BESIDE    /* what the CPU does while X runs */
};
enum nai_relation_group { NAI_GROUP_NONE, NAI_GROUP_GPU, NAI_GROUP_PROCESS, NAI_GROUP_STREAM, NAI_GROUP_THREAD };
enum nai_moment { NAI_MOMENT_NONE, NAI_MOMENT_BEGIN, NAI_MOMENT_END };
enum nai_relation_edge { NAI_EDGE_ANY, NAI_EDGE_FIRST, NAI_EDGE_LAST };
struct nai_relation {
  enum nai_relation_kind kind;
  struct nai_thing things[NAI_RELATION_MAX_THINGS]; /* of a share the part comes first */
  size_t count;
  enum nai_statistic statistic;
  enum nai_relation_group group;
  enum nai_relation_group pair; /* two of these are named by their numbers */
  struct {
    enum nai_relation_edge edge; /* of all, or of each */
    bool end;                    /* its end, not its begin */
  } from, to;
  struct nai_thing_filter filter;
  bool sizes;             /* the statistic is of these, not of durations */
  int nth[2];             /* from 1 on; -1: the last one; 0: none */
  const char *without;    /* a name that is left out, between line breaks; or NULL */
  double times;           /* of an outlier */
  bool before;            /* what began last before it */
  bool yes_no, less;      /* less: which one has least */
  bool never;             /* of each: that none does */
  bool any;               /* whether there is one of them, as in "are there", "do any" */
  enum nai_moment moment; /* of groups: which one begins or ends last, or first (`less`) */
  bool balanced;          /* of groups: how far they are apart */
  bool why;               /* the answer says how long, not why */
  bool compares;          /* it says so */
  bool ratio, shares;     /* of two that are compared: one by the other, each of both */
  bool work;              /* ... their work on GPUs */
  bool leads;             /* of X for each Y: which Y has most, or least */
  bool starts;            /* gaps are from one begin to the next */
  bool neighbors;         /* ... of what is named: other work may lie between */
  bool span;              /* what is covered lasts from the first one to the last */
  bool idle;              /* the time in which no Y runs is asked for */
  bool several;           /* three or more things by their names, as one */
};
/* Whether some word says how things are related: others need not be looked for in the trace. */
bool nai_relation_is_likely(const struct nai_question *question);
/* NAI_RELATION_NONE: a word is not understood, or there is no such relation. */
NAI_MUST_CHECK int nai_relation_read(struct nai_relation *out, const struct nai_asking *asking,
                                     const struct nai_question *question, struct nai_err *err);

/* --- clauses.c ---------------------------------------------------------------------------------------------------- */

/* Of two questions in one: each so that it can be asked alone, and the second as it was asked. `answered`: both are, as
 * one. */
struct nai_clauses {
  const char *first, *second; /* NULL: it cannot */
  const char *asked;          /* NULL: there is one question only */
  bool may_be_alone;          /* the second may be about something else than the first */
};
NAI_MUST_CHECK int nai_clauses_split(struct nai_clauses *out, const struct nai_asking *asking, const char *question,
                                     bool answered, struct nai_err *err);
/* Words that ask for a verdict; and whether a question does. *before: how much of it stands before a last clause that
 * asks for nothing else, "is that bad", "worth it", "should i batch"; 0: there is none. */
extern const char nai_verdict_words[];
bool nai_clauses_ask_verdict(size_t *before, const char *question);
/* What is asked without what is only told beside it: "do we have all-gathers? it is supposed to be FSDP". */
struct nai_told {
  const char *asked, *said; /* said: NULL, nothing is told */
  bool is_meant;            /* it is what is asked about: "we sync after every step - how much does it cost" */
};
void nai_clauses_find_told(struct nai_told *out, const char *question, struct nai_arena *arena);

/* --- relation.c --------------------------------------------------------------------------------------------------- */

/* Answers a question by its relation; *answered: it has one. `strong`: only if its words say so much that no intent
 * says more. */
NAI_MUST_CHECK int nai_relation_answer(bool *answered, const struct nai_asking *asking, bool strong,
                                       struct nai_err *err);
