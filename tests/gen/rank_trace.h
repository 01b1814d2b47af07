/* The trace of a rank of a job (rank_job.h), and how captures of it can be wrong. */
#pragma once

#include "gen/plan.h"
#include "gen/rank_job.h"

/* What is odd about a capture. */
struct nai_gen_rank_capture {
  int missing;         /* number of a collective that is not in it, -1 for none */
  int lead;            /* collectives before it begins */
  bool foreign;        /* it is of another program */
  bool payloads;       /* NCCL's ranges say what they are */
  bool initialisation; /* the communicator is made in it: then rank and size are known */
  int communicators;   /* collectives take turns */
};

/* Plans the rank's work, in a process and on a GPU of its own. `gpu` tells GPUs of one trace apart. */
void nai_gen_rank_plan(struct nai_gen_plan *plan, const struct nai_gen_rank_job *job,
                       const struct nai_gen_rank_capture *capture, int rank, int gpu);
