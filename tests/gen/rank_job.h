/* One distributed job as its ranks live through it: when each rank comes to each collective, and when that ends. */
#pragma once

#include "gen/base.h"

#include <jansson.h>

enum nai_gen_straggler {
  NAI_GEN_STRAGGLER_NONE,
  NAI_GEN_STRAGGLER_PERSISTENT, /* one rank comes late to every collective */
  NAI_GEN_STRAGGLER_ROTATING,   /* another rank each time */
  NAI_GEN_STRAGGLER_NETWORK,    /* nobody is late; in every fourth step transfers take four times as long */
  NAI_GEN_STRAGGLERS
};
/* What a late rank does meanwhile. */
enum nai_gen_late_with {
  NAI_GEN_LATE_KERNEL, /* a kernel that the others do not run */
  NAI_GEN_LATE_SLOW,   /* the same kernel, longer */
  NAI_GEN_LATE_HOST,   /* nothing: its host does not launch */
  NAI_GEN_LATE_COPY,   /* a copy to the GPU */
  NAI_GEN_LATE_WITHS
};

struct nai_gen_rank_options {
  int ranks, steps, collectives; /* collectives of a step */
  int64_t seed;
  int straggler, late_with; /* enums above */
  int late_rank;            /* of a persistent straggler */
  int64_t late_ns, offset_ns;
  double drift_ppm; /* of the clock of each rank but the first, at most */
  bool periodic;    /* every step is like every other, to the ns, and all collectives are alike */
};

/* Times are ns of a clock that all share. */
struct nai_gen_rank_job {
  struct nai_gen_rank_options how;
  int count;        /* collectives in all */
  int64_t *begin;   /* per collective: when every rank is done with the one before it */
  int64_t *end;     /* when it ends, for every rank */
  int64_t *clock;   /* per rank: by how much its clock is ahead */
  int64_t *started; /* per rank: when its capture began */
  double *drift;    /* per rank: parts of 1 that its clock is fast */
};

int nai_gen_rank_job_new(struct nai_gen_rank_job *job, const struct nai_gen_rank_options *how, struct nai_gen_err *err);
void nai_gen_rank_job_free(struct nai_gen_rank_job *job);

/* When the rank comes to a collective; how much of that is planned lateness. */
int64_t nai_gen_rank_arrival(const struct nai_gen_rank_job *job, int collective, int rank);
int64_t nai_gen_rank_late(const struct nai_gen_rank_job *job, int collective, int rank);
int64_t nai_gen_rank_bytes(const struct nai_gen_rank_job *job, int collective);
/* The same moment in the rank's trace. */
int64_t nai_gen_rank_time(const struct nai_gen_rank_job *job, int rank, int64_t t);

/* What an analysis must find of collectives `from` up to `to`, of which every rank's trace has all. */
void nai_gen_rank_truth(json_t *truth, const struct nai_gen_rank_job *job, int from, int to);
