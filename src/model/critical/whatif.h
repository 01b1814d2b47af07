/* Changes of a program, and what a step would take with them: by replay of the graph of dependencies. */
#pragma once

#include "config/change.h"
#include "model/critical/path_sum.h"

/* Of the new step: an interval is no narrower to either side. */
#define NAI_MODEL_ERROR 0.04
/* Of a step now: what saves less is no part of a plan. */
#define NAI_LEAST_GAIN 0.01

/* A step with some changes. */
struct nai_whatif_result {
  double ns[NAI_CASES];      /* of a repetition of the scope, the slowest of several GPUs */
  double case_ns[NAI_CASES]; /* the same before the model's error is added */
  enum nai_path_cause limit; /* the largest cause of the new critical path, likely case */
  double limit_pct, host_pct;
  bool queues;      /* a full launch queue is on that path */
  int64_t inferred; /* segments of that path that no record tells */
};

struct nai_stretch {
  uint32_t first, end;
};

/* Where changes are tried. */
struct nai_whatif {
  const struct nai_model *model;
  struct nai_arena *arena;
  /* Steps; else units; else the window; or what is asked for. Where all is to be replayed, units only if one takes at
   * least half of its GPU's active time, and instead of a window with long pauses the longest active span if that does.
   */
  enum nai_path_scope_kind kind;
  struct nai_path_scope *scopes; /* of that kind */
  /* The same with boundaries at the first operations that are no copies to the GPU: where those are on a stream of
   * their own they run ahead, and what begins a step says nothing about it. */
  struct nai_path_scope *behind_copies;
  uint32_t count, slowest;
  double now_ns;
  int64_t covered_ns; /* all repetitions of the slowest scope together */
  int64_t active_ns;  /* of its GPU; of the window, the most of any GPU */
  enum nai_path_state state;
  const char *reason, *waits_unknown; /* why not ok; why waits cannot be removed, or NULL */
  int64_t *moved;                     /* room for a replay; what is not replayed does not move */
  uint32_t *nodes;                    /* that are replayed, in order */
  uint32_t node_count;
  struct nai_stretch *ops,
      *calls; /* of them: operations per GPU, as it numbers them; calls per thread that makes any */
  uint32_t thread_count;
  struct edit_room *room; /* arrays of scenarios, which are as new between them (whatif_edit.h) */
  uint32_t repetitions;   /* of the slowest scope that times are the mean of */
  bool *fusable;          /* per kernel name */
};

/* Needs the parts DEPENDENCIES, STEPS, NVTX_TREE and EVIDENCE, and what critical_path reads. The arena outlives it.
 * Of more than `most` calls and operations as many successive repetitions as hold that many are replayed, those that
 * take on average what all do; without three such everything is refused. `summary`: the table
 * critical_path_summary, which knows what the path of the window would tell; NULL where it is not at hand. */
#define NAI_WHATIF_ALL UINT32_MAX
NAI_MUST_CHECK int nai_whatif_begin(struct nai_whatif *out, const struct nai_model *model,
                                    const struct nai_path_asked *asked, uint32_t most, const struct nai_table *summary,
                                    struct nai_arena *arena, struct nai_err *err);
/* How many operations or calls that are replayed a change is about. NAI_EUSAGE: its expression takes too long on a name
 * of the trace, so nobody knows. */
NAI_MUST_CHECK int nai_change_count(int64_t *out, const struct nai_whatif *whatif, const struct nai_change *change,
                                    struct nai_err *err);
/* Why what a change saves is a bound, NULL where it is a prediction. */
const char *nai_whatif_bound(const struct nai_whatif *w, const struct nai_change *change);
/* What `change` assumes in the cautious or favorable case, where that makes `after` differ by more than the model's
 * error; NULL where it does not. `before`: without this change, NULL: with nothing changed. */
const char *nai_whatif_choice(const struct nai_whatif *w, const struct nai_change *change,
                              const struct nai_whatif_result *after, const struct nai_whatif_result *before,
                              enum nai_case which);
/* Why changes cannot be simulated here, or (of one) why that cannot; NULL where they can. */
const char *nai_whatif_refuses(const struct nai_whatif *w, const struct nai_change *change);
/* Tries `count` changes together. */
NAI_MUST_CHECK int nai_whatif_try(struct nai_whatif_result *out, const struct nai_whatif *whatif,
                                  const struct nai_change *const *changes, uint32_t count, struct nai_err *err);
/* The likely case only, ns; *out is the time of a repetition. */
NAI_MUST_CHECK int nai_whatif_likely(double *out, const struct nai_whatif *whatif,
                                     const struct nai_change *const *changes, uint32_t count, struct nai_err *err);

/* One change of a plan, in order. */
struct nai_plan_step {
  uint32_t change;                /* number in `changes` */
  double before_ns, after_ns;     /* of a repetition, likely case */
  double alone_ns;                /* after this change alone */
  struct nai_whatif_result after; /* with all up to this one */
  bool chosen;                    /* false: gains nothing once the chosen ones are made; these come last */
};
/* Which of the changes to make, at most `most`, the one that gains most first, until the next gains less than 1 % of a
 * repetition of now. `alone`: what came of each tried alone, where that is known; or NULL. `steps` has room for
 * `count`; all changes get one. */
NAI_MUST_CHECK int nai_whatif_plan(struct nai_plan_step *steps, uint32_t *chosen, const struct nai_whatif *whatif,
                                   const struct nai_change *changes, const struct nai_whatif_result *alone,
                                   uint32_t count, uint32_t most, struct nai_err *err);
