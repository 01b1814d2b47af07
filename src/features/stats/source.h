/* How rows of an export's tables (rows.c) are read, a block at a time (row_blocks.c): from the export
 * (export_rows.c), or from what a run keeps of it (run_rows.c). Internal to src/features/stats. */
#pragma once

#include "features/stats/stats.h"

enum { NAI_LOAD_BLOCK = 4096 };
/* Columns: those that are asked for by their place; behind them what decides whether a row is one of those. */
enum {
  NAI_LOAD_START = NAI_STATS_MAX_COLUMNS,
  NAI_LOAD_END,
  NAI_LOAD_THREAD,
  NAI_LOAD_PROCESS,
  NAI_LOAD_KIND,
  NAI_LOAD_COLUMNS
};
extern const char *const nai_load_filters[]; /* the export's names of the first four */

struct nai_load {
  struct nai_stats_source *source;
  const char *table;
  const char *const *names;
  nai_stats_block_fn *block; /* takes the rows, NAI_LOAD_BLOCK at a time; NULL: `out` has room for all */
  void *ctx;
  struct nai_strings *texts; /* of each part: what its cells of texts are numbers of */
  bool *clean;               /* of each part: none of its texts has to be cleaned */
  struct nai_stats_events *out;
  int parts;            /* at most; a reader makes it fewer, or 0: there are no rows */
  bool filtered;        /* rows are those that the source's filter lets through */
  int64_t *first, *end; /* of each part: where its rows lie */
  /* of the reader */
  bool has[NAI_LOAD_COLUMNS];     /* columns that it fills */
  bool is_text[NAI_LOAD_COLUMNS]; /* those of texts */
  const int64_t *part_rows;       /* of each part, at most */
  int64_t kind;                   /* that rows have in the column NAI_LOAD_KIND */
  void *state;
};

struct nai_load_part {
  struct nai_load *load;
  struct nai_arena *arena;
  int number;
  struct nai_buf *text;          /* that is put together */
  uint32_t rows;                 /* that lie in the block */
  int64_t *to[NAI_LOAD_COLUMNS]; /* where it lies; NULL: not asked for */
};

/* Says what it has, reads a part, a block at a time, and is over. */
struct nai_load_reader {
  int (*open)(struct nai_load *load, struct nai_err *err);
  int (*read)(struct nai_load_part *part, struct nai_err *err);
  void (*close)(struct nai_load *load);
};
extern const struct nai_load_reader nai_export_reader, nai_run_reader;
/* Says that cells hold nothing. */
void nai_load_clear(int64_t *cells, int64_t count);
/* Hands on the rows of the block. */
NAI_MUST_CHECK int nai_load_flush(struct nai_load_part *part, struct nai_err *err);
/* A text as a number of the part's. */
NAI_MUST_CHECK int nai_load_text(int64_t *value, const struct nai_load_part *part, const char *text, size_t len,
                                 struct nai_err *err);

/* nai_stats_table of a run, of a name that is, or begins with, `len` bytes. NAI_ESTALE of the other: the run does not
 * tell whether the export had such a table. */
const char *nai_stats_run_has(const struct nai_stats_source *source, const char *name, size_t len, int index);
NAI_MUST_CHECK int nai_stats_run_tells(struct nai_run *run, const char *table, struct nai_err *err);
