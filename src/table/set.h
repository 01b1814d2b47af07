/* Table sets: several tables in one file (docs/table-format.md). In front is a list, itself a table that nai_table_open
 * reads: its rows are in the order of the tables. */
#pragma once

#include "table/table.h"

enum { TABLE_SET_table_name, TABLE_SET_row_count, TABLE_SET_key, TABLE_SET_offset, TABLE_SET_size_bytes };
extern const struct nai_schema nai_table_set_schema;

/* Writes tables held in memory, each with its key, to the new file `path`. One without rows that `is_declared` knows is
 * only listed: whoever reads it takes the declared schema. */
NAI_MUST_CHECK int nai_table_set_write(struct nai_table *const *tables, size_t count,
                                       bool (*is_declared)(const char *name), const char *path, struct nai_err *err);
/* Row of a table in a list, -1 when it is not there. */
int64_t nai_table_set_find(const struct nai_table *list, const char *name);
/* Bytes of the file; 0: all tables are only listed. */
uint64_t nai_table_set_end(const struct nai_table *list);
/* Opens the table of that row of the list, which is that of the file `name` below the directory, as nai_table_open_at
 * does. `schema` is needed where the table is only listed: NAI_ESTALE without. */
NAI_MUST_CHECK int nai_table_set_open(struct nai_table **out, int directory_fd, const char *name,
                                      const struct nai_table *list, int64_t row, const struct nai_schema *schema,
                                      struct nai_err *err);
/* The same of a file that is held, whose name is for messages: a table of its list, or, with NULL, the list, or the
 * only table. */
NAI_MUST_CHECK int nai_table_held_open(struct nai_table **out, const struct nai_buf *content, const char *name,
                                       const struct nai_table *list, int64_t row, const struct nai_schema *schema,
                                       struct nai_err *err);
