/* Which tables of an export may be shown as they are. Exports hold environment variables, command lines and outputs of
 * programs, in tables of their own and among the texts of StringIds: what is not known to be free of them is not shown.
 */
#pragma once

#include "base/buf.h"
#include "trace/trace/trace.h"

/* A plain table of events, of an enumeration, or of what GPUs, CUDA and NVTX payloads are. */
bool nai_raw_is_shown(const struct nai_db_table *table);
/* SELECT of those rows (id, value) of StringIds that name kernels, API functions, ranges and threads; tables are called
 * SCHEMA.NAME. Nothing when the export has no such table. */
void nai_raw_put_names(struct nai_buf *sql, const struct nai_trace *trace, const char *schema);
