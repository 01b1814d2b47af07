/* Table files (*.ntab): the on-disk form described in docs/table-format.md. Internal to src/table. */
#ifndef NAI_TABLE_FILE_H
#define NAI_TABLE_FILE_H

#include "table/table.h"

/* A table object without storage. */
NAI_MUST_CHECK int nai_table_alloc(struct nai_table **out, const struct nai_schema *schema, struct nai_err *err);
/* Points columns declared same_as at the array they share. */
void nai_table_share_columns(struct nai_table *table);
/* Unmaps the file behind a table and what was allocated with it. */
void nai_backing_release(struct nai_table *table);

#endif
