/* Table files (*.ntab): the on-disk form described in docs/table-format.md. Internal to src/table. */
#pragma once

#include "base/buf.h"
#include "table/table.h"

#define NAI_TABLE_MAGIC "NSYSTAB" /* and its NUL: 8 bytes */
enum { NAI_TABLE_MAJOR = 3, NAI_TABLE_MINOR = 0, NAI_TABLE_BYTE_ORDER = 0x01020304, NAI_TABLE_ALIGNMENT = 64 };

struct nai_table_header {
  char magic[8];
  uint16_t major, minor;
  uint32_t byte_order;
  uint64_t rows;
  uint64_t key; /* what the table was made from, 0 when unknown */
  uint64_t descriptor_offset, descriptor_bytes, descriptor_hash;
  uint64_t file_bytes;
  uint64_t header_hash; /* of everything before it */
};

struct nai_backing {
  unsigned char *data; /* the file, NULL until the table is sealed */
  size_t size;         /* of the whole file, of a table created here up to the end of its columns */
  bool heap;           /* data was read into memory, not mapped */
  bool borrowed_strings;
  double *nulls; /* what columns of doubles that the file lacks hold */
  /* of a table being created */
  char *path;
  int fd;            /* else -1 */
  uint64_t *offsets; /* per column: where its cells begin */
};

/* A stretch of the file. */
struct nai_section {
  uint64_t offset, bytes, hash;
};

/* The descriptor of a file, decoded. Columns of a type that this version does not know have no name. */
struct nai_descriptor {
  struct nai_schema schema;
  struct nai_column_def *defs;
  struct nai_file_column {
    uint32_t width;
    int64_t base;
    struct nai_section cells;
  } * columns;
  uint64_t text_count;
  struct nai_section text_offsets, texts;
  char *texts_of_schema; /* that its pointers lead to */
  size_t texts_len;
};

/* file_descriptor.c. Decoding: NAI_ESTALE without a message for bytes that are no descriptor. */
void nai_descriptor_put(struct nai_buf *out, const struct nai_descriptor *descriptor);
NAI_MUST_CHECK int nai_descriptor_read(struct nai_descriptor *out, const void *bytes, size_t size, struct nai_err *err);
void nai_descriptor_free(struct nai_descriptor *descriptor);

/* Of no file yet; a table that has one frees it. */
NAI_MUST_CHECK int nai_backing_new(struct nai_backing **out, struct nai_err *err);
/* Unmaps the file, and frees what was allocated with it. */
void nai_backing_free(struct nai_backing *backing);
NAI_OWNER(nai_backing)
