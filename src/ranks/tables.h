/* What is known of the ranks, as tables: for CSV, JSON and the page. */
#ifndef NAI_RANKS_TABLES_H
#define NAI_RANKS_TABLES_H

#include "ranks/ranks.h"

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

enum {
  RK_LABEL,
  RK_NUMBER,
  RK_TRACE,
  RK_DEVICE,
  RK_PID,
  RK_GPU,
  RK_CALLS,
  RK_MATCHED,
  RK_SPLIT,
  RK_DURATION,
  RK_WAIT,
  RK_TRANSFER,
  RK_WAIT_PCT,
  RK_DECIDED,
  RK_LATE,
  RK_LATE_PCT,
  RK_LATE_BY,
  RK_CAUSED,
  RK_PERSISTENT,
  RK_BEHIND,
  RK_BEHIND_IDLE,
  RK_IDLE_CAUSE,
  RK_IDLE_CAUSE_NS,
  RK_BEHIND_WITH,
  RK_BEHIND_WITH_NS,
  RK_BEHIND_RANGE,
  RK_WINDOW,
  RK_COMPUTE,
  RK_SLOWNESS,
  RK_REFERENCE,
  RK_OFFSET,
  RK_RESIDUAL,
  RK_DRIFT,
  RK_REFUSED
};
enum {
  LN_LABEL,
  LN_GROUP,
  LN_COMM,
  LN_STREAM,
  LN_SIZE,
  LN_GIVEN,
  LN_CALLS,
  LN_FIRST,
  LN_MATCHED,
  LN_METHOD,
  LN_OFFSET,
  LN_RESIDUAL,
  LN_DRIFT,
  LN_REFUSED
};
enum {
  CL_GROUP,
  CL_NUMBER,
  CL_OP,
  CL_DTYPE,
  CL_BYTES,
  CL_MEMBERS,
  CL_STEP,
  CL_START,
  CL_TRANSFER,
  CL_SKEW,
  CL_WAIT,
  CL_DURATION,
  CL_LATE,
  CL_LATE_BY,
  CL_ALG,
  CL_BUS
};
enum {
  TR_GROUP,
  TR_OP,
  TR_DTYPE,
  TR_BYTES,
  TR_SIZE,
  TR_COUNT,
  TR_USUAL,
  TR_MEDIAN,
  TR_MAX,
  TR_SLOW,
  TR_EXCESS,
  TR_BUS
};
enum { MM_LABEL, MM_REFERENCE, MM_GROUP, MM_AT, MM_REFERENCE_AT, MM_HERE, MM_THERE, MM_REASON };

#endif
