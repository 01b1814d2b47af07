/* Traces of the ranks of a job as one trace. Internal to src/features/whatif. */
#pragma once

#include "features/ranks/ranks.h"
#include "model/model.h"

/* {0} to begin with. */
struct nai_joined {
  struct nai_ranks ranks;
  struct nai_table *tables[NAI_IN_COUNT];
  struct nai_model model;
  int64_t doubt_ns;    /* the most by which clocks may be off */
  const char *refused; /* why they cannot be joined, and there is no model; NULL where they can */
};
/* The model, with `parts` built, of all sources: GPUs, processes and threads are numbered on, times are by one clock.
 */
NAI_MUST_CHECK int nai_join(struct nai_joined *out, const char *const *sources, size_t count, uint32_t parts,
                            bool quiet, struct nai_err *err);
void nai_joined_free(struct nai_joined *joined);
