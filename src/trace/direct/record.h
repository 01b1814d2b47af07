/* The leaf reader: rows of rowid tables straight from the pages of the mapped file. docs/readers.md says how. Internal
 * to src/trace. */
#pragma once

#include "trace/pages/pages.h"

/* Which columns of a table's records go where. Made once, used by any number of threads. */
struct nai_record_plan {
  const struct nai_pages *pages;
  struct nai_row_rules rules;
  int wanted_count;
  struct nai_wanted {
    int column, slot;
  } wanted[NAI_SCAN_MAX_COLUMNS]; /* by column; slot is the position in cells */
  uint64_t aliases, reals;        /* slots of cells that are the rowid, not stored; whose integers are read as REAL */
};

void nai_record_plan(struct nai_record_plan *plan, const struct nai_pages *pages, const struct nai_db_table *table,
                     const int *columns, int column_count);

/* Millions of records begin with few different headers. A shape is what reading such a header comes to: where the
 * wanted values lie and how to load them. Shapes are found again by the header's bytes. */
enum { NAI_SHAPE_WORDS = 5, NAI_SHAPE_REST_WORDS = 2, NAI_SHAPES = 128 };
_Static_assert(NAI_SCAN_MAX_COLUMNS <= 64, "a shape tells slots by bits");

struct nai_shape_step {
  uint32_t offset; /* in the payload */
  uint32_t len;
  uint8_t slot, type, shift; /* shift: of the 8 big-endian bytes at `offset` */
  bool is_constant;          /* 0 or 1, which takes no bytes */
  uint8_t constant;
};

/* Slots of values that are NULL, as most of a wide table's are, of those that are INTEGER and are read as such, and of
 * those of them that are constants. */
struct nai_shape_slots {
  uint64_t nulls, integers, zeros, ones;
};

struct nai_shape {
  uint64_t key[NAI_SHAPE_WORDS];
  uint32_t end;       /* payload bytes that must be local */
  uint32_t looked_at; /* bytes of the header that say so; those behind them tell where the row ends */
  int columns;        /* whose types they are */
  /* The row met last had these bytes there, and so many in all; no row has UINT64_MAX. */
  uint64_t rest[NAI_SHAPE_REST_WORDS], rest_mask[NAI_SHAPE_REST_WORDS], payload_bytes;
  bool has_real;
  /* NULL takes no step. Steps of integers come first, and all that they change from row to row is the number. Those of
   * them that are constants take none: nothing changes as long as rows are alike in this. */
  struct nai_shape_slots slots;
  uint64_t whole_reals; /* slots of integers that are read as REAL */
  int integer_count, step_count;
  struct nai_shape_step steps[];
};

/* One thread's decoder: the cells of the current row and the memory behind them. */
struct nai_record_reader {
  const struct nai_record_plan *plan;
  struct nai_cell cells[NAI_SCAN_CELLS];
  struct nai_shape *last;       /* that of the row before, if it had one */
  struct nai_shape_slots slots; /* whose cells the row before left so */
  unsigned char *shapes;        /* NAI_SHAPES of shape_bytes each; NULL when headers are too long to be told by a key */
  size_t shape_bytes;
  uint32_t key_bytes; /* of a header that tell its shape */
  int key_words;
  uint64_t key_mask[NAI_SHAPE_WORDS]; /* of the words of a header of masked_bytes */
  uint32_t masked_bytes;
  uint64_t *types;            /* serial type of each looked-at column */
  uint32_t *offsets;          /* and where in the payload its value begins */
  struct nai_buf head, spill; /* parts of records gathered from overflow pages */
};

/* Its arrays are the arena's; nai_record_reader_free frees the rest. */
NAI_MUST_CHECK int nai_record_reader_init(struct nai_record_reader *reader, const struct nai_record_plan *plan,
                                          struct nai_arena *arena, struct nai_err *err);
void nai_record_reader_free(struct nai_record_reader *reader);

/* Calls fn for the rows of leaf number `leaf`, whose page's content is at `data`; they must lie where `leaves` says.
 * *rows grows by their number and must not exceed rows_limit. */
NAI_MUST_CHECK int nai_record_read_leaf(struct nai_record_reader *reader, const struct nai_leaves *leaves,
                                        uint32_t leaf, const unsigned char *data, int64_t *rows, int64_t rows_limit,
                                        bool *stopped, nai_row_fn *fn, void *ctx, struct nai_err *err);
/* Decodes one record into reader->cells. */
NAI_MUST_CHECK int nai_record_read(struct nai_record_reader *reader, const struct nai_payload *payload, int64_t rowid,
                                   struct nai_err *err);
