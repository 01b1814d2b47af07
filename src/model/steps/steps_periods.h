/* What a stream repeats: sequences of operations that come again and again. Internal to src/model. */
#pragma once

#include "model/steps/steps_build.h"

/* Kernels and graphs of one stream in start order, as tokens: what has the same name and launch configuration. */
struct nai_step_sequence {
  uint32_t gpu, stream; /* number of the GPU, and of the stream there */
  uint32_t *op;         /* index in the GPU's ops */
  uint32_t *token;      /* from 0 */
  uint32_t count, token_count;
  struct nai_groups places; /* where each token occurs */
};

/* A stretch of about `length` operations that is much the same each time. */
struct nai_step_period {
  uint32_t length;  /* median */
  uint32_t marker;  /* token that every repetition begins with */
  uint32_t count;   /* repetitions begun */
  double like_pct;  /* operations that are the usual ones, of all complete repetitions */
  double alike_pct; /* of complete repetitions: four fifths of the operations or more are the usual ones */
  double share_pct; /* of the sequence lies between the first marker and the last */
};
enum { NAI_MAX_PERIODS = 16 };

/* Of the process's busiest stream; no operations at all when it has none. */
NAI_MUST_CHECK int nai_step_sequence_find(struct nai_step_sequence *out, const struct nai_step_search *search,
                                          struct nai_err *err);
static inline uint32_t nai_step_occurrence(const struct nai_step_sequence *s, uint32_t token, uint32_t i) {
  return s->places.order[s->places.first[token] + i];
}
static inline uint32_t nai_step_occurrences(const struct nai_step_sequence *s, uint32_t token) {
  return s->places.first[token + 1] - s->places.first[token];
}
/* Largest first. */
NAI_MUST_CHECK int nai_step_periods(struct nai_step_period out[NAI_MAX_PERIODS], uint32_t *count,
                                    const struct nai_step_sequence *sequence, struct nai_err *err);

/* steps_loops.c: `length` operations that come again at once, `count` times, from operation `first` of the sequence. */
struct nai_step_loop {
  uint32_t first, length, count;
};
/* At most `most` of them, the largest first; their number. */
uint32_t nai_step_loops(struct nai_step_loop *loops, uint32_t most, const struct nai_step_sequence *sequence);

/* steps_boundary.c: where steps begin that repeat with a period, when there is evidence of a boundary. */
struct nai_step_evidence {
  const char *name; /* what tells: a literal; NULL: nothing does */
  int confidence;   /* percent */
  int64_t *starts;  /* on the host; the arena's */
  uint32_t count;
  int64_t end; /* of the last step */
};
NAI_MUST_CHECK int nai_step_boundaries(struct nai_step_evidence *out, const struct nai_step_search *search,
                                       const struct nai_step_sequence *sequence, const struct nai_step_period *period,
                                       struct nai_arena *arena, struct nai_err *err);
