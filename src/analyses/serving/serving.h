/* Steps of engines that serve language models, rank by rank. Definitions: docs/analyses.md, "Serving". Times are ns. */
#pragma once

#include "analyses/analysis.h"
#include "model/steps/step_stats.h"

/* A step on one GPU. */
struct serving_step {
  uint32_t step; /* of the process */
  const struct nai_serving_label *label;
  enum nai_serving_kind kind;
  enum nai_step_state state;
  bool inferred; /* its kind, from the graph that it launches */
  /* of its own work: what any thread of the process launched from its start to the next one's */
  int64_t start, end, busy_ns, comm_ns, kernels, launch_calls, graph_launches, graph_key;
  int64_t until, comm_until; /* while it is summed up */
  /* by order of starts */
  int64_t earlier_end; /* the latest end of all earlier work; its start for the first */
  int64_t period_ns;   /* to the next start; NAI_NULL_I64 of the last and before a pause */
  int64_t interval_ns; /* between tokens; NAI_NULL_I64 without */
  uint32_t since;      /* the step that the interval begins at the end of */
  bool pause_before, recompute;
};

/* A process on a GPU: a rank of an engine. */
struct serving_rank {
  const struct nai_model *m;
  const struct nai_step_list *list;
  const struct nai_process_steps *steps;
  struct serving_step *v; /* by start */
  uint32_t count;
  int64_t draft_tokens; /* per request; NAI_NULL_I64 unknown */
  int64_t pause_ns;
  uint32_t pauses, engine;
  bool counts; /* its names tell requests */
};

/* serving_work.c: the steps with work, of ranks that have the list, GPU and process set. */
NAI_MUST_CHECK int nai_serving_rank_fill(struct serving_rank *rank, struct nai_arena *arena, struct nai_err *err);

/* What the tables of one engine are written from. */
struct serving_engine {
  const struct nai_node_io *io;
  const struct serving_rank *rank; /* that stands for it */
  int64_t number;
  double base_ns, request_ns; /* the line of decode time by requests; NaN without */
};
/* serving_sums.c: tables serving_summary, serving_batch, serving_curve, serving_interference. */
NAI_MUST_CHECK int nai_serving_put_batches(struct serving_engine *engine, struct nai_table *batches,
                                           struct nai_table *curve, struct nai_err *err);
NAI_MUST_CHECK int nai_serving_put_summary(const struct serving_engine *engine, struct nai_table *out,
                                           struct nai_err *err);
NAI_MUST_CHECK int nai_serving_put_interference(const struct serving_engine *engine, struct nai_table *out,
                                                struct nai_err *err);
/* serving_host.c: table serving_host. */
NAI_MUST_CHECK int nai_serving_put_host(const struct serving_engine *engine, struct nai_table *out,
                                        struct nai_err *err);

/* Whether the step counts: steady, and of a kind that does something. */
static inline bool serving_is_steady(const struct serving_step *s) {
  return s->state == NAI_STEP_STEADY && s->kind != NAI_SERVES_EMPTY;
}
/* Requests that get a token in it; 0 where none does or nobody knows. */
static inline int64_t serving_generates(const struct serving_step *s) {
  return s->label->generation_requests > 0 ? s->label->generation_requests : 0;
}
static inline bool serving_has_prompts(const struct serving_step *s) { return s->label->context_requests > 0; }
/* Number of the bucket of a batch size: 1, 2, 3-4, 5-8, ... are 0, 1, 2, 3, ... */
enum { SERVING_BUCKETS = 33 };
static inline int serving_bucket(int64_t requests) {
  int bucket = 0;
  while ((int64_t)1 << bucket < requests && bucket < SERVING_BUCKETS - 1)
    bucket++;
  return bucket;
}
