/* Which columns of an export's tables a run keeps, and where. Internal to src/features/stats. */
#pragma once

#include "features/stats/stats.h"

enum nai_kept_how {
  NAI_KEPT_NUMBER,
  NAI_KEPT_MOMENT, /* without the capture's time_offset_ns */
  NAI_KEPT_TEXT,
  NAI_KEPT_CALL,  /* and what is cut off it, in column `suffix` */
  NAI_KEPT_RANGE, /* and what PyTorch wrote behind it, in `seq`, `op_id` and `sizes` */
  NAI_KEPT_THREAD,
  NAI_KEPT_PROCESS,
  NAI_KEPT_DEVICE,
  NAI_KEPT_CONFIG,   /* of the row of kernel_configs */
  NAI_KEPT_CALL_END, /* which is open where column `open` says so */
  NAI_KEPT_TYPE,     /* of NVTX */
  NAI_KEPT_DOMAIN,
  NAI_KEPT_CLASS,  /* of calls of the OS runtime, which are all of one */
  NAI_KEPT_ROWID,  /* less the row's number */
  NAI_KEPT_GIVEN,  /* NULL stands for what the export may say */
  NAI_KEPT_NOTHING /* the name is in another one */
};

enum { NAI_KEPT_COLUMNS = 20 };
struct nai_kept_table {
  const char *name, *table;
  const char *of; /* only rows with `kind` in this column; NULL: all */
  long kind;
  struct nai_kept_column {
    const char *name, *column;
    enum nai_kept_how how;
  } columns[NAI_KEPT_COLUMNS]; /* end with a NULL name */
  bool unread;                 /* no table of events: the run does not say how its rows were read */
};
extern const struct nai_kept_table nai_kept_tables[]; /* end with a NULL name */
