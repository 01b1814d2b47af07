/* An export opened safely: read-only, never modified, nothing created beside it (facts: docs/architecture.md,
 * "Opening"). */
#pragma once

#include "base/arena.h"
#include "base/temporary.h"
#include "trace/reader.h"

#include <stdatomic.h>

struct nai_trace_options {
  enum nai_reader_choice reader;
  bool check; /* run PRAGMA quick_check first */
};

struct nai_db_column {
  const char *name;
  bool rowid_alias;        /* INTEGER PRIMARY KEY: the value is the rowid */
  bool hidden;             /* generated or hidden (table_xinfo.hidden != 0): not a plain stored column */
  bool added_with_default; /* declared with a non-NULL default: short records take it */
  bool not_null, text_affinity, integer_affinity;
  bool real_affinity; /* whole numbers lie in the file as integers and are read as REAL */
};

struct nai_db_table {
  const char *name;
  const char *kind;       /* "table", "view", "virtual table": for messages */
  const char *rowid_name; /* a name SQL reaches the rowid by; NULL: without rowid, or every such name is a column's */
  int64_t rootpage;       /* 0 for views and virtual tables */
  bool plain;             /* type='table', rootpage > 0 */
  bool without_rowid;
  bool altered;                  /* columns may have been added after rows were written, which lack them */
  int64_t mistyped_rows;         /* rows that nai_small_scan left out */
  struct nai_db_column *columns; /* by cid; none for views and virtual tables */
  int column_count;
};

/* What tells that a file was replaced or written to. All zero: there is no such file. */
struct nai_file_stamp {
  uint64_t device, inode, size_bytes;
  int64_t mtime_ns, ctime_ns;
};

struct nai_trace {
  struct nai_arena arena; /* of all that is not closed */
  const char *path;       /* as given */
  const char *file_name;  /* last component */
  const char *real_path;  /* absolute, links resolved */
  int fd;                 /* the file itself, held open so that a replacement cannot slip in between */
  struct nai_file_stamp stamp, wal_stamp;
  struct nai_temporary scratch; /* of the copy that is read in place of a file with a live WAL, else none */
  const char *uri;              /* what further connections open: read-only, percent-encoded */
  struct nai_trace_options options;
  uint64_t size_bytes;
  uint64_t identity; /* after nai_trace_identify: same value = same trace */
  struct nai_db_table *tables;
  int table_count;
  uint32_t table_capacity;
  uint32_t *roots; /* pages where the trees of tables and indexes begin */
  uint32_t root_count, root_capacity;
  const char *pages_refused;   /* why its pages cannot be read (live WAL, not UTF-8, ...), NULL when they can */
  void *db;                    /* sqlite3 *, for the thread that opened the trace */
  struct nai_pool *pool;       /* idle further connections */
  struct nai_lookups *lookups; /* what the lookups on this trace share */
  struct nai_pages *pages;     /* the mapped file; of no use where refused */
};

/* NAI_EINPUT for anything but a readable SQLite 3 database, NAI_ELIMIT; the message names the file and says what to do.
 */
NAI_MUST_CHECK int nai_trace_open(struct nai_trace **out, const char *path, const struct nai_trace_options *options,
                                  struct nai_err *err);
void nai_trace_close(struct nai_trace *trace);
NAI_OWNER_BY(nai_trace, nai_trace_close)
/* Sets `identity`, a hash of every byte of the file and of its WAL. It reads the whole file, on `threads` threads; the
 * value does not depend on their number, nor on where the file lies. */
NAI_MUST_CHECK int nai_trace_identify(struct nai_trace *trace, int threads, struct nai_err *err);
/* Tells this file, as it is now, from any other and from itself once it is written to: a hash of where it lies and when
 * it changed last, and the same of its WAL. Copies differ. */
uint64_t nai_trace_stamp(const struct nai_trace *trace);
/* NAI_EINPUT when the file (or its WAL) was replaced or written to since it was opened. Call it after the last read. */
NAI_MUST_CHECK int nai_trace_unchanged(const struct nai_trace *trace, struct nai_err *err);
/* Table by name without regard to ASCII case, NULL when absent. */
const struct nai_db_table *nai_trace_table(const struct nai_trace *trace, const char *name);
/* Column number by name without regard to ASCII case, -1 when absent. */
int nai_db_column(const struct nai_db_table *table, const char *name);
