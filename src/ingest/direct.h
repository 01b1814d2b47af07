/* The leaf reader: rows of rowid tables straight from the pages of the mapped file. Internal to src/ingest. */
#ifndef NAI_INGEST_DIRECT_H
#define NAI_INGEST_DIRECT_H

#include "ingest/trace_internal.h"

/* Maps the trace's file, or sets trace->direct_refused when the leaf reader may not read it. */
NAI_MUST_CHECK int nai_direct_open(struct nai_trace *trace, const struct nai_sqlite_header *header, struct nai_err *err);
void nai_direct_close(struct nai_trace *trace);
/* Why the leaf reader must not serve these columns of the table, NULL when it may. */
const char *nai_direct_refuses(const struct nai_trace *trace, const struct nai_db_table *table, const int *columns,
                               int column_count);

#endif
