/* What the readers behind nai_scan_open share. Internal to src/trace. */
#pragma once

#include "trace/trace/trace_internal.h"

/* Set scan->parts, part_rows, run and impl. The table is plain, its columns exist and are stored. */
NAI_MUST_CHECK int nai_scan_open_sqlite(struct nai_scan *scan, struct nai_trace *trace,
                                        const struct nai_db_table *table, int max_parts, struct nai_err *err);
NAI_MUST_CHECK int nai_scan_open_direct(struct nai_scan *scan, const struct nai_trace *trace,
                                        const struct nai_db_table *table, int max_parts, struct nai_err *err);

/* scan_cell.c */
/* Puts "cannot read table "name"" in front of err. */
int nai_scan_fail(const char *table, int code, struct nai_err *err);

/* Prepares `sql` after replacing $ by the table's name, @ by its rowid's and # by that of `column` (all quoted). */
NAI_MUST_CHECK int nai_scan_prepare(sqlite3_stmt **out, sqlite3 *db, const char *sql, const struct nai_db_table *table,
                                    int column, struct nai_err *err);

/* Column `column` of the current row. NAI_ELIMIT when out of memory. */
NAI_MUST_CHECK int nai_cell_from_sqlite(struct nai_cell *cell, sqlite3_stmt *stmt, int column, struct nai_err *err);
/* A cell too long for SQLITE_LIMIT_LENGTH: its type and first NAI_CELL_MAX_BYTES, into `buf`. */
NAI_MUST_CHECK int nai_cell_long_prefix(struct nai_cell *cell, struct nai_buf *buf, sqlite3 *db,
                                        const struct nai_db_table *table, int column, int64_t rowid,
                                        struct nai_err *err);
