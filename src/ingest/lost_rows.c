/* A leaf that lost its rows is noticed where the table has others. Where it is the table's only page nothing
 * contradicts it but the page itself: SQLite makes a page anew when its last row goes, with no bytes in use (btree.c,
 * dropCell). */
#include "ingest/direct/direct.h"
#include "ingest/scan_internal.h"

#include <errno.h>

int nai_table_lost_rows(const struct nai_trace *trace, const struct nai_db_table *table, struct nai_err *err) {
  unsigned char file[NAI_SQLITE_HEADER_BYTES], page[8];
  if (trace->scratch) /* the page may lie in the log */
    return NAI_OK;
  ssize_t n = nai_file_read_at(trace->fd, file, sizeof file, 0);
  if (n < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot read the file");
  uint32_t page_bytes = nai_be16(file + 16) == 1 ? 65536 : nai_be16(file + 16), usable = page_bytes - file[20];
  uint64_t root = (uint64_t)table->rootpage;
  if (n < (ssize_t)sizeof file || !root || root > UINT32_MAX)
    return NAI_OK;
  n = nai_file_read_at(trace->fd, page, sizeof page, (root - 1) * page_bytes + nai_page_header((uint32_t)root));
  if (n < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot read the file");
  if (n < (ssize_t)sizeof page || page[0] != NAI_PAGE_LEAF || nai_be16(page + 3))
    return NAI_OK;
  uint32_t content = nai_be16(page + 5) ? nai_be16(page + 5) : 65536;
  return content == usable ? NAI_OK : nai_direct_damaged(err, (uint32_t)root, "it has lost its rows");
}
