/* What is known of the ranks, as tables: for CSV, JSON and the page. */
#pragma once

#include "features/ranks/ranks.h"

enum nai_ranks_table {
  NAI_RANKS_RANKS,       /* a row per rank */
  NAI_RANKS_STEPS,       /* per rank and step */
  NAI_RANKS_OPS,         /* per rank and operation */
  NAI_RANKS_LINES,       /* per rank and communicator: how it was matched, clocks */
  NAI_RANKS_TRANSFERS,   /* per communicator and kind of collective */
  NAI_RANKS_COLLECTIVES, /* those that ranks wait longest in */
  NAI_RANKS_MISMATCHES,  /* where sequences part */
  NAI_RANKS_TABLES
};

struct nai_ranks_tables {
  struct nai_table *v[NAI_RANKS_TABLES];
};
NAI_MUST_CHECK int nai_ranks_tables_new(struct nai_ranks_tables *tables, const struct nai_ranks *ranks,
                                        struct nai_err *err);
void nai_ranks_tables_free(struct nai_ranks_tables *tables);

enum { NAI_RANKS_MOST_COLLECTIVES = 10000 }; /* rows of that table */
