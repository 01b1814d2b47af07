/* Shared by the files that open an export and read its rows. Internal to src/trace. */
#pragma once

#include "base/buf.h"
#include "trace/trace/trace.h"

#include <sqlite3.h>
#include <sys/types.h>

enum {
  NAI_SQLITE_HEADER_BYTES = 100,
  NAI_SQLITE_LENGTH_LIMIT = 64 << 20, /* longer values are read by prefix, see scan_sqlite.c */
  NAI_TRACE_MAX_TABLES = 10000,
  NAI_TRACE_MAX_COLUMNS = 2000
};

/* The file header's fields that opening and the leaf reader need. */
struct nai_sqlite_header {
  uint32_t page_size, reserved_bytes;
  uint32_t page_count; /* as SQLite counts: the header's where it is valid, else from the file size */
  uint32_t encoding;   /* 1 UTF-8, 2 and 3 UTF-16; 0 in a database without tables */
  bool wal;            /* written in WAL mode */
};

/* trace_file.c: the file as bytes. */
/* Opens `path` and refuses all that is not a readable SQLite database, saying what it looks like. */
NAI_MUST_CHECK int nai_file_open(int *fd, struct nai_file_stamp *stamp, struct nai_sqlite_header *header,
                                 const char *path, struct nai_err *err);
/* Stamp of `path`, all zero when it does not exist. NAI_EINPUT when it is no regular file. */
NAI_MUST_CHECK int nai_file_stamp(struct nai_file_stamp *stamp, const char *path, struct nai_err *err);
bool nai_file_stamp_equal(const struct nai_file_stamp *a, const struct nai_file_stamp *b);

/* trace_scratch.c: a copy of database and WAL below $TMPDIR (or /tmp). */
/* Sets trace->scratch and *copy, the database's path. */
NAI_MUST_CHECK int nai_scratch_copy(const char **copy, struct nai_trace *trace, const char *wal_path,
                                    struct nai_err *err);

/* trace_connection.c: connections to what is read. */
/* Sets trace->uri. `immutable` tells SQLite that nobody writes, so that it needs no files beside the database. */
NAI_MUST_CHECK int nai_trace_set_uri(struct nai_trace *trace, const char *absolute_path, bool immutable,
                                     struct nai_err *err);
NAI_MUST_CHECK int nai_trace_new_pool(struct nai_trace *trace, struct nai_err *err);
void nai_trace_free_pool(struct nai_trace *trace);
/* A connection for this thread alone until it is returned; no statement may be left open then. */
struct nai_loan {
  const struct nai_trace *trace;
  sqlite3 *db;
};
NAI_MUST_CHECK int nai_trace_borrow(struct nai_loan *out, const struct nai_trace *trace, struct nai_err *err);
void nai_loan_free(struct nai_loan *loan); /* returns it; accepts a zeroed struct */
/* A read-only connection with the same restrictions as the first. The caller closes it. */
NAI_MUST_CHECK int nai_trace_connect(sqlite3 **out, const struct nai_trace *trace, struct nai_err *err);
/* The errno of a disk that cannot be read, which SQLite calls damage (SQLITE_IOERR_CORRUPTFS); 0 for none. */
int nai_sqlite_unread(sqlite3 *db);
/* Error of an SQLite call: NAI_ELIMIT for memory, else NAI_EINPUT; "what: SQLite's message", or what the system said.
 */
int nai_sqlite_fail(struct nai_err *err, sqlite3 *db, int rc, const char *what);
/* Prepares `sql`; the error names the statement's purpose `what`. */
NAI_MUST_CHECK int nai_sqlite_prepare(sqlite3_stmt **out, sqlite3 *db, const char *sql, const char *what,
                                      struct nai_err *err);
/* Appends "name" as an SQL identifier. */
void nai_sql_identifier(struct nai_buf *out, const char *name);

NAI_OWNER_BY(sqlite3_stmt, sqlite3_finalize)
NAI_OWNER_BY(sqlite3, sqlite3_close)

/* trace_schema.c: fills trace->tables and trace->roots from trace->db. */
NAI_MUST_CHECK int nai_trace_read_schema(struct nai_trace *trace, struct nai_err *err);
