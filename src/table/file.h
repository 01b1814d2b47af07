/* Table files (*.ntab): the on-disk form described in docs/table-format.md. Internal to src/table. */
#pragma once

#include "base/buf.h"
#include "table/table.h"

#define NAI_TABLE_MAGIC "NSYSTAB"     /* and its NUL: 8 bytes */
#define NAI_TABLE_SET_MAGIC "NSYSSET" /* of the list in front of several tables */
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
  size_t before;       /* bytes that are mapped in front of data */
  bool heap;           /* data was read into memory, or made there; not mapped */
  bool borrowed_strings;
  double *nulls; /* what columns of doubles that the file lacks hold */
  /* of a table being created */
  char *path;        /* NULL: it lies in memory */
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

/* file_read.c: nai_table_open_at for a table that is a stretch of the file; NULL: all of it. `content`: of the file,
 * where it is held; else it is opened. */
struct nai_stretch {
  uint64_t offset, bytes;
};
NAI_MUST_CHECK int nai_table_open_within(struct nai_table **out, int directory_fd, const char *name,
                                         const struct nai_buf *content, const struct nai_stretch *stretch,
                                         const struct nai_schema *schema, struct nai_err *err);

/* file_descriptor.c. Decoding: NAI_ESTALE without a message for bytes that are no descriptor. */
void nai_descriptor_put(struct nai_buf *out, const struct nai_descriptor *descriptor);
NAI_MUST_CHECK int nai_descriptor_read(struct nai_descriptor *out, const void *bytes, size_t size, struct nai_err *err);
void nai_descriptor_free(struct nai_descriptor *descriptor);

/* A table as it lies in a file: where its columns begin, and what follows them. */
struct nai_table_image {
  const struct nai_table *table; /* borrowed; NULL: none */
  struct nai_table_header header;
  struct nai_buf descriptor;
  uint64_t *offsets, end; /* of the columns, in the image */
};
NAI_MUST_CHECK int nai_table_image_make(struct nai_table_image *image, const struct nai_table *table,
                                        struct nai_err *err);
/* Another first word than that of a file of one table. */
void nai_table_image_mark(struct nai_table_image *image, const char *magic);
void nai_table_image_put(struct nai_buf *file, const struct nai_table_image *image);
void nai_table_image_free(struct nai_table_image *image);
uint64_t nai_table_aligned(uint64_t offset);

/* Of no file yet; a table that has one frees it. */
NAI_MUST_CHECK int nai_backing_new(struct nai_backing **out, struct nai_err *err);
/* Unmaps the file, and frees what was allocated with it. */
void nai_backing_free(struct nai_backing *backing);
NAI_OWNER(nai_backing)
