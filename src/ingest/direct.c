#include "ingest/direct.h"
#include "ingest/lookup_internal.h"
#include "ingest/scan_internal.h"

int nai_direct_open(struct nai_trace *trace, const struct nai_sqlite_header *header, struct nai_err *err) {
  (void)trace, (void)header, (void)err;
  return NAI_OK;
}
void nai_direct_close(struct nai_trace *trace) { (void)trace; }
const char *nai_direct_refuses(const struct nai_trace *trace, const struct nai_db_table *table, const int *columns,
                               int column_count) {
  (void)trace, (void)table, (void)columns, (void)column_count;
  return "not available";
}
int nai_scan_open_direct(struct nai_scan *scan, struct nai_trace *trace, const struct nai_db_table *table,
                                        int max_parts, struct nai_err *err) {
  (void)scan, (void)trace, (void)table, (void)max_parts;
  return nai_err_nomem(err);
}
int nai_lookup_open_direct(struct nai_lookup **out, const struct nai_lookup *base, struct nai_err *err) {
  (void)out, (void)base;
  return nai_err_nomem(err);
}
