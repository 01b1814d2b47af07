/* What answers by relations say. Internal to src/features/ask. */
#pragma once

#include "features/ask/relation_numbers.h"

struct nai_answering {
  const struct nai_asking *asking;
  struct nai_relation *r;
  struct nai_thing_events events[2]; /* of each thing */
  struct nai_buf said;
  bool none; /* there is nothing to say */
};
static inline struct nai_arena *nai_answering_arena(const struct nai_answering *a) { return a->asking->arena; }

/* Each puts an answer of its kind into `said`, or says that there is none. */
typedef int nai_say_fn(struct nai_answering *answering, struct nai_err *err);
/* relation_groups.c: of one thing. */
nai_say_fn nai_say_numbers, nai_say_inside, nai_say_groups, nai_say_ranking, nai_say_names, nai_say_outliers;
/* relation_limits.c: whether each of one thing keeps a limit. */
nai_say_fn nai_say_every;
/* relation_pairs.c: of two. */
nai_say_fn nai_say_compared, nai_say_share, nai_say_per, nai_say_cover, nai_say_beside;
/* relation_times.c: from one to the next, and over time. */
nai_say_fn nai_say_between, nai_say_gaps, nai_say_latency, nai_say_first, nai_say_nth, nai_say_follows, nai_say_trend;
