/* Table files (*.ntab): the on-disk form described in docs/table-format.md. Internal to src/table. */
#ifndef NAI_TABLE_FILE_H
#define NAI_TABLE_FILE_H

#include "base/buf.h"
#include "table/table.h"

#define NAI_TABLE_MAGIC "NSYSTAB" /* and its NUL: 8 bytes */
enum { NAI_TABLE_VERSION = 2, NAI_TABLE_BYTE_ORDER = 0x01020304, NAI_TABLE_ALIGNMENT = 64 };

struct nai_table_header {
  char magic[8];
  uint32_t version, byte_order;
  uint64_t rows;
  uint64_t descriptor_offset, descriptor_bytes, descriptor_hash;
  uint64_t file_bytes;
  uint64_t header_hash; /* of everything before it */
};

struct nai_backing {
  unsigned char *data; /* the mapping, NULL until the table is sealed */
  size_t size;         /* of the mapping: the whole file, of a table created here up to the end of its columns */
  bool borrowed_strings;
  /* of a table being created */
  char *path;
  int fd;            /* else -1 */
  uint64_t *offsets; /* per column: where its cells begin */
  /* the file's own schema, when the caller brought none */
  struct nai_schema schema;
  struct nai_column_def *defs;
  struct nai_buf names; /* texts of the schema */
};

/* A table object without storage. */
NAI_MUST_CHECK int nai_table_alloc(struct nai_table **out, const struct nai_schema *schema, struct nai_err *err);
/* A table whose columns are to lie in a file. */
NAI_MUST_CHECK int nai_backing_new(struct nai_table **out, const struct nai_schema *schema, struct nai_err *err);
/* Unmaps the file behind a table and what was allocated with it. */
void nai_backing_release(struct nai_table *table);

#endif
