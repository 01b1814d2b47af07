/* Which columns of an export's tables a run keeps, and where. Internal to src/features/stats. */
#pragma once

#include "features/stats/stats.h"

enum nai_kept_how {
  NAI_KEPT_NUMBER,
  NAI_KEPT_MOMENT, /* without the capture's time_offset_ns */
  NAI_KEPT_TEXT,
  NAI_KEPT_CALL, /* and what is cut off it, in column `suffix` */
  NAI_KEPT_THREAD,
  NAI_KEPT_PROCESS,
  NAI_KEPT_DEVICE,
  NAI_KEPT_CONFIG,   /* of the row of kernel_configs */
  NAI_KEPT_CALL_END, /* which is open where column `open` says so */
  NAI_KEPT_TYPE,     /* of NVTX */
  NAI_KEPT_DOMAIN,
  NAI_KEPT_CLASS,  /* of calls of the OS runtime, which are all of one */
  NAI_KEPT_ROWID,  /* less the row's number */
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
};
extern const struct nai_kept_table nai_kept_tables[]; /* end with a NULL name */

/* A table that is read. */
struct nai_kept_cells {
  const struct nai_kept_column *kept; /* NULL: no cell has a value */
  struct nai_column cells, other;     /* other: of a call its suffix, of a configuration its value */
  int target;                         /* of the events */
};

struct nai_kept_load {
  struct nai_stats_source *source;
  const struct nai_kept_table *from;
  const struct nai_table *table;
  struct nai_kept_cells columns[NAI_STATS_MAX_COLUMNS + 4];
  int column_count;
  int64_t offset;                                   /* of all times */
  int64_t *threads, *processes, *devices, *domains; /* what rows of these tables are in the export */
  int64_t thread_count, process_count, device_count, domain_count, config_count;
  /* of blocks */
  const char *const *names;
  nai_stats_block_fn *block;
  void *ctx;
  struct nai_strings *texts; /* by part */
  int parts;
};

/* run_cells.c. NAI_ESTALE: what of the table the run does not keep. */
int nai_kept_lacks(struct nai_err *err, const char *what, const char *of);
/* Values of a column, of rows from `first`. Texts are numbers of `into`, NULL: of the source's. */
NAI_MUST_CHECK int nai_kept_fill(int64_t *values, const struct nai_kept_load *load, const struct nai_kept_cells *column,
                                 int64_t first, size_t count, struct nai_strings *into, struct nai_err *err);
/* Rows of another table: what stands there. */
NAI_MUST_CHECK int nai_kept_fill_rows(int64_t *values, size_t count, const int64_t *rows, int64_t row_count,
                                      bool may_be_none, const struct nai_kept_load *load, struct nai_err *err);

/* run_rows.c: rows of an export's table from a run; nai_stats_load and nai_stats_load_blocks call it. NAI_ESTALE where
 * the run does not keep them as they were. */
NAI_MUST_CHECK int nai_stats_load_kept(struct nai_stats_events *out, struct nai_stats_source *source, const char *table,
                                       const char *const *names, struct nai_err *err);
NAI_MUST_CHECK int nai_stats_load_kept_blocks(struct nai_stats_source *source, const char *table,
                                              const char *const *names, nai_stats_block_fn *block, void *ctx,
                                              struct nai_strings *texts, int parts, struct nai_err *err);
/* nai_stats_table of a run, of a name that is, or begins with, `len` bytes. NAI_ESTALE of the other: the run does not
 * tell whether the export had such a table. */
const char *nai_stats_run_has(const struct nai_stats_source *source, const char *name, size_t len, int index);
NAI_MUST_CHECK int nai_stats_run_tells(struct nai_run *run, const char *table, struct nai_err *err);
