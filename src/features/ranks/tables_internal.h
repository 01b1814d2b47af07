/* Tables about ranks that have files of their own. Internal to src/features/ranks. */
#pragma once

#include "features/ranks/tables.h"
#include "tables/collectives.h"
#include "tables/rank_ops.h"
#include "tables/transfers.h"

/* A column of durations in ns, printed so. */
#define NS(name, what) \
  { name, NAI_I64, NAI_NS, what, .role = NAI_ROLE_METRIC }

NAI_MUST_CHECK int nai_ranks_put_ops(struct nai_table *table, const struct nai_ranks *ranks, struct nai_err *err);
NAI_MUST_CHECK int nai_ranks_put_transfers(struct nai_table *table, const struct nai_ranks *ranks, struct nai_err *err);
NAI_MUST_CHECK int nai_ranks_put_collectives(struct nai_table *table, const struct nai_ranks *ranks,
                                             struct nai_err *err);
