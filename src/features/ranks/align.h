/* Which calls of two ranks are the same collective? Two sequences are laid over each other. Internal to
 * src/features/ranks. */
#pragma once

#include "features/ranks/ranks.h"

struct nai_rank_side {
  const struct nai_rank_call *calls;
  uint32_t count;
  int64_t utc;     /* of time 0; NAI_NULL_I64 unknown */
  uint32_t source; /* sides of one trace have one clock */
  bool from_start;
};

struct nai_rank_alignment {
  enum nai_rank_method method;
  const char *refused;              /* a literal; NULL when they were aligned */
  uint32_t begin_a, begin_b, count; /* calls begin_a + k and begin_b + k are the same */
  bool broke, broke_by_ends;        /* why it goes no further, when that is not the end of a sequence */
  int64_t offset, residual;         /* of b's clock */
  double drift;
};

/* Nothing is matched in doubt. O(count), and a constant for the shifts tried. `whats`: of the calls. */
NAI_MUST_CHECK int nai_ranks_align(struct nai_rank_alignment *out, const struct nai_rank_side *a,
                                   const struct nai_rank_side *b, const struct nai_rank_what *whats,
                                   int64_t clock_doubt_ns, struct nai_err *err);
