/* Traces of the ranks of a job as one trace. Internal to src/features/whatif. */
#pragma once

#include "features/ranks/ranks.h"
#include "tables/events.h"

/* {0} to begin with. */
struct nai_joined {
  struct nai_table *tables[NAI_IN_COUNT];
  int64_t doubt_ns;    /* the most by which clocks may be off */
  const char *refused; /* why they cannot be joined; NULL where they can */
};
/* The event tables (NAI_IN(...)) of all traces: GPUs, processes and threads are numbered on, times are by one clock. */
NAI_MUST_CHECK int nai_join(struct nai_joined *out, const struct nai_ranks *ranks, uint64_t tables,
                            struct nai_err *err);
void nai_joined_free(struct nai_joined *joined);
