/* Decoding the records of leaf pages. Internal to src/trace. */
#pragma once

#include "trace/direct/direct.h"

/* Which columns of a table's records go where. Made once, used by any number of threads. */
struct nai_record_plan {
  const struct nai_direct *direct;
  int stored_columns; /* leading columns of a record that have to be looked at */
  int table_columns;  /* all that a record may have */
  int absent_columns; /* so many of the last ones may be missing: those of a row older than they are */
  const struct nai_db_column *columns;
  int wanted_count;
  struct nai_wanted {
    int column, slot;
  } wanted[NAI_SCAN_MAX_COLUMNS]; /* by column; slot is the position in cells */
  uint64_t aliases, reals;        /* slots of cells that are the rowid, not stored; whose integers are read as REAL */
};

void nai_record_plan(struct nai_record_plan *plan, const struct nai_direct *direct, const struct nai_db_table *table,
                     const int *columns, int column_count);

/* Millions of records begin with few different headers. A shape is what reading such a header comes to: where the
 * wanted values lie and how to load them. Shapes are found again by the header's bytes. */
enum { NAI_SHAPE_WORDS = 5, NAI_SHAPE_REST_WORDS = 2, NAI_SHAPES = 128 };
_Static_assert(NAI_SCAN_MAX_COLUMNS <= 64, "a shape tells slots by bits");

struct nai_shape_step {
  uint64_t mask;   /* of the 8 big-endian bytes at `offset`; 0 for the constants 0 and 1 */
  uint32_t offset; /* in the payload */
  uint32_t len;
  uint8_t slot, type, shift, add;
};

struct nai_shape {
  uint64_t key[NAI_SHAPE_WORDS];
  uint32_t end;       /* payload bytes that must be local */
  uint32_t looked_at; /* bytes of the header that say so; those behind them tell where the row ends */
  int columns;        /* whose types they are */
  /* The row met last had these bytes there, and so many in all; no row has UINT64_MAX. */
  uint64_t rest[NAI_SHAPE_REST_WORDS], rest_mask[NAI_SHAPE_REST_WORDS], payload_bytes;
  bool has_real;
  /* Slots of values that are NULL, as most of a wide table's are: they take no step. Slots of those that are INTEGER
   * and are read as such: their steps come first, and all that they change from row to row is the number. */
  uint64_t nulls, integers;
  int integer_count, step_count;
  struct nai_shape_step steps[];
};

/* One thread's decoder: the cells of the current row and the memory behind them. */
struct nai_record_reader {
  const struct nai_record_plan *plan;
  struct nai_cell cells[NAI_SCAN_CELLS];
  uint64_t nulls, integers; /* slots whose cells the row before left NULL, and INTEGER */
  unsigned char *shapes;    /* NAI_SHAPES of shape_bytes each; NULL when headers are too long to be told by a key */
  size_t shape_bytes;
  uint32_t key_bytes; /* of a header that tell its shape */
  int key_words;
  uint64_t key_mask[NAI_SHAPE_WORDS]; /* of the words of a header of masked_bytes */
  uint32_t masked_bytes;
  uint64_t *types;              /* serial type of each looked-at column */
  uint32_t *offsets;            /* and where in the payload its value begins */
  struct nai_buf header, spill; /* parts of records gathered from overflow pages */
};

NAI_MUST_CHECK int nai_record_reader_init(struct nai_record_reader *reader, const struct nai_record_plan *plan,
                                          struct nai_err *err);
void nai_record_reader_free(struct nai_record_reader *reader);

/* A payload as it lies in the file: `local` bytes at `data`, the rest in a chain of overflow pages. */
struct nai_payload {
  const unsigned char *data;
  uint64_t bytes;
  uint32_t local;
  uint32_t link;          /* where in its page the number of its first overflow page stands; 0 when all is local */
  uint32_t overflow_page; /* that number */
  uint32_t page;          /* the leaf, for messages */
};

/* The cell at byte `at` of a leaf page: its rowid and payload. NULL, or what is wrong. */
static inline const char *nai_leaf_cell(int64_t *rowid, struct nai_payload *payload, const struct nai_direct *direct,
                                        const unsigned char *data, uint32_t at) {
  uint64_t bytes, key;
  const unsigned char *p = data + at;
  p += nai_varint(&bytes, p);
  p += nai_varint(&key, p);
  uint32_t begin = (uint32_t)(p - data), local = (uint32_t)bytes, link = 0;
  if (__builtin_expect(bytes > direct->max_local, 0)) {
    if (bytes > INT32_MAX)
      return "a cell is longer than SQLite allows";
    link = 4;
    uint32_t rest = (uint32_t)((bytes - direct->min_local) % (direct->usable_bytes - 4));
    local = direct->min_local + rest;
    local = local > direct->max_local ? direct->min_local : local;
  }
  if (begin + local + link > direct->usable_bytes)
    return "a cell reaches beyond the page's end";
  *rowid = (int64_t)key;
  payload->data = p;
  payload->bytes = bytes;
  payload->local = local;
  payload->link = link ? begin + local : 0;
  payload->overflow_page = link ? nai_be32(p + local) : 0;
  return NULL;
}

/* Bytes of the cell at `cell` whose payload nai_leaf_cell has found: SQLite gives a cell no fewer than 4. */
static inline uint32_t nai_cell_bytes(const struct nai_payload *payload, const unsigned char *cell) {
  uint32_t bytes = (uint32_t)(payload->data - cell) + payload->local + (payload->link ? 4 : 0);
  return bytes < 4 ? 4 : bytes;
}

/* Whether the row is one that the table's declaration allows, so far as the row's head tells. */
bool nai_record_fits(const struct nai_payload *payload, const struct nai_db_table *table);

/* Calls fn for the rows of leaf number `leaf`, whose page's content is at `data`; they must lie where `leaves` says.
 * *rows grows by their number and must not exceed rows_limit. */
NAI_MUST_CHECK int nai_record_read_leaf(struct nai_record_reader *reader, const struct nai_leaves *leaves,
                                        uint32_t leaf, const unsigned char *data, int64_t *rows, int64_t rows_limit,
                                        bool *stopped, nai_row_fn *fn, void *ctx, struct nai_err *err);
/* Decodes one record into reader->cells. */
NAI_MUST_CHECK int nai_record_read(struct nai_record_reader *reader, const struct nai_payload *payload, int64_t rowid,
                                   struct nai_err *err);

/* direct_window.c */
/* Leaf pages of one part, read in stretches: filling a small buffer over and over is faster than taking a page fault
 * for every few pages of the map, and leaves the pages in the processor's cache. */
struct nai_window {
  const struct nai_direct *direct;
  unsigned char *buffer; /* followed by NAI_DIRECT_SLACK bytes */
  uint32_t first_page, pages;
};
NAI_MUST_CHECK int nai_window_open(struct nai_window *window, const struct nai_direct *direct, struct nai_err *err);
void nai_window_close(struct nai_window *window);
/* Content of leaf i, valid until the next call; leaves up to `end` are going to follow. */
NAI_MUST_CHECK int nai_window_leaf(const unsigned char **data, struct nai_window *window,
                                   const struct nai_leaves *leaves, uint32_t i, uint32_t end, struct nai_err *err);

/* direct_overflow.c */
/* Whether the chain of a payload that does not end on its leaf is as long as it has to be and nobody else's. */
NAI_MUST_CHECK int nai_overflow_check(const struct nai_direct *direct, const struct nai_payload *payload,
                                      struct nai_err *err);
/* Makes the record's first `bytes` bytes contiguous (*data, with NAI_DIRECT_SLACK readable bytes behind). */
NAI_MUST_CHECK int nai_overflow_gather_header(const unsigned char **data, struct nai_record_reader *reader,
                                              const struct nai_payload *payload, uint64_t bytes, struct nai_err *err);
/* Where the value of each wanted column lies: data[k] for wanted[k]. Values outside of the leaf are copied. */
NAI_MUST_CHECK int nai_overflow_gather_values(const unsigned char **data, struct nai_record_reader *reader,
                                              const struct nai_payload *payload, struct nai_err *err);

/* Bytes of a value of serial type `type`. */
static inline uint64_t nai_serial_bytes(uint64_t type) {
  static const uint8_t sizes[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type >= 12 ? (type - 12) / 2 : sizes[type];
}
