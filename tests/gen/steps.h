/* Known answers about steps: which operations belong to one, and what a right analysis says of it.
 *
 * What is planned after nai_gen_step belongs to the step, whoever launches it. Windows follow from the starts of these
 * operations, and the sweep over a GPU's events divides its time among them.
 */
#pragma once

#include "gen/plan.h"

struct nai_gen_step {
  int process;
  const char *state;  /* "steady", "warm-up", "truncated"; a literal */
  int64_t excess_ns;  /* of an outlier: over the steps around it; 0 for none */
  const char *cause;  /* of the excess: a word of the table steps; NULL */
  const char *detail; /* a word that its explanation has; NULL */
  const char *kind;   /* of serving: "decode", "prefill", "mixed", "empty"; NULL for other programs */
  int64_t context_requests, context_tokens, generation_requests, generation_tokens; /* what it computes */
};
/* Begins a step of the process, which ends its last one. */
void nai_gen_step(struct nai_gen_plan *plan, const struct nai_gen_step *step);
/* Ends the process's last step: what follows belongs to none. */
void nai_gen_steps_end(struct nai_gen_plan *plan, int process);
/* What a process repeats, per GPU: `kernels` in a unit, begun `count` times; level: layer, microbatch, unknown. */
void nai_gen_unit(struct nai_gen_plan *plan, int process, int kernels, int count, const char *level);
