#include "ingest/direct_record.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL_TYPES = 128 }; /* serial types of one byte */

/* Bytes of a value by its serial type, for types of one byte. */
#define TEXT_SIZES_16(n) n, n, n + 1, n + 1, n + 2, n + 2, n + 3, n + 3, n + 4, n + 4, n + 5, n + 5, n + 6, n + 6, n + 7, n + 7
static const uint8_t small_sizes[SMALL_TYPES] = {
    0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0, 0, 0, 1, 1, TEXT_SIZES_16(2), TEXT_SIZES_16(10), TEXT_SIZES_16(18),
    TEXT_SIZES_16(26), TEXT_SIZES_16(34), TEXT_SIZES_16(42), TEXT_SIZES_16(50)};

void nai_record_plan(struct nai_record_plan *plan, const struct nai_direct *direct, const struct nai_db_table *table,
                     const int *columns, int column_count) {
  *plan = (struct nai_record_plan){.direct = direct, .cell_count = column_count};
  for (int slot = 0; slot < column_count; slot++) {
    const struct nai_db_column *column = &table->columns[columns[slot]];
    if (column->rowid_alias) {
      plan->alias_slots[plan->alias_count++] = slot;
      continue;
    }
    if (column->real_affinity)
      plan->real_slots[plan->real_count++] = slot;
    int at = plan->wanted_count++;
    for (; at && plan->wanted[at - 1].column > columns[slot]; at--)
      plan->wanted[at] = plan->wanted[at - 1];
    plan->wanted[at].column = columns[slot];
    plan->wanted[at].slot = slot;
  }
  if (plan->wanted_count)
    plan->stored_columns = plan->wanted[plan->wanted_count - 1].column + 1;
}

int nai_record_reader_init(struct nai_record_reader *reader, const struct nai_record_plan *plan, struct nai_err *err) {
  size_t columns = (size_t)plan->stored_columns + 1;
  *reader = (struct nai_record_reader){.plan = plan, .overflow_left = 2 * (uint64_t)plan->direct->page_count};
  reader->types = calloc(columns, sizeof *reader->types);
  reader->offsets = calloc(columns, sizeof *reader->offsets);
  if (reader->types && reader->offsets)
    return NAI_OK;
  nai_record_reader_free(reader);
  return nai_err_nomem(err);
}

void nai_record_reader_free(struct nai_record_reader *reader) {
  free(reader->types);
  free(reader->offsets);
  nai_buf_free(&reader->header);
  nai_buf_free(&reader->spill);
  reader->types = NULL;
  reader->offsets = NULL;
}

static inline uint64_t load_be64(const unsigned char *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return __builtin_bswap64(v);
}

/* The value of serial type `type` at p, where 8 bytes may be loaded whatever its length. */
static inline void decode_value(struct nai_cell *cell, uint64_t type, const unsigned char *p) {
  static const uint8_t kinds[10] = {NAI_CELL_NULL, NAI_CELL_INT,  NAI_CELL_INT, NAI_CELL_INT, NAI_CELL_INT,
                                    NAI_CELL_INT,  NAI_CELL_INT, NAI_CELL_REAL, NAI_CELL_INT, NAI_CELL_INT};
  static const uint8_t shifts[10] = {63, 56, 48, 40, 32, 16, 0, 0, 63, 63};
  static const uint64_t masks[10] = {0, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, 0, 0};
  if (type >= 12) {
    uint64_t bytes = (type - 12) / 2;
    cell->type = type & 1 ? NAI_CELL_TEXT : NAI_CELL_BLOB;
    cell->len = bytes > NAI_CELL_MAX_BYTES ? (uint32_t)NAI_CELL_MAX_BYTES : (uint32_t)bytes;
    cell->data = (const char *)p;
    return;
  }
  uint64_t bits = load_be64(p);
  cell->type = kinds[type];
  cell->i = ((int64_t)(bits & masks[type]) >> shifts[type]) + (type == 9);
  if (type == 7) {
    memcpy(&cell->real, &bits, sizeof bits);
    if (cell->real != cell->real) /* SQLite reads NaN as NULL */
      cell->type = NAI_CELL_NULL;
  }
}

/* Fills types and offsets of the looked-at columns from a record header; *end = where the last of them ends. NULL, or what
 * is wrong. */
static inline const char *read_header(uint64_t *end, struct nai_record_reader *reader, const unsigned char *data,
                                      uint32_t prefix, uint64_t header_bytes, uint64_t payload_bytes) {
  const unsigned char *p = data + prefix, *stop = data + header_bytes;
  int columns = reader->plan->stored_columns;
  uint64_t *restrict types = reader->types;
  uint32_t *restrict offsets = reader->offsets;
  uint64_t at = header_bytes;
  bool reserved = false;
  for (int i = 0; i < columns; i++) {
    if (p >= stop) { /* a row older than this column */
      for (; i < columns; i++) {
        types[i] = 0;
        offsets[i] = 0;
      }
      break;
    }
    uint64_t type = *p++;
    offsets[i] = (uint32_t)at;
    if (__builtin_expect(type < SMALL_TYPES, 1)) {
      at += small_sizes[type];
      reserved |= (type & ~1ull) == 10;
    } else {
      p += nai_varint(&type, p - 1) - 1;
      if (type > UINT32_MAX)
        return "a value is longer than its row";
      at += nai_serial_bytes(type);
      if (at > payload_bytes)
        return "a value is longer than its row";
    }
    types[i] = type;
  }
  *end = at;
  if (p > stop || at > payload_bytes)
    return "a value is longer than its row";
  return reserved ? "a value has a reserved type" : NULL;
}

static int read_values(struct nai_record_reader *reader, const struct nai_payload *payload, uint64_t end, int64_t rowid,
                       struct nai_err *err) {
  const struct nai_record_plan *plan = reader->plan;
  if (__builtin_expect(end <= payload->local, 1)) {
    struct nai_cell *restrict cells = reader->cells;
    const uint64_t *restrict types = reader->types;
    const uint32_t *restrict offsets = reader->offsets;
    const unsigned char *restrict data = payload->data;
    int count = plan->wanted_count;
    for (int i = 0; i < count; i++) {
      int column = plan->wanted[i].column;
      decode_value(&cells[plan->wanted[i].slot], types[column], data + offsets[column]);
    }
  } else {
    const unsigned char *values[NAI_SCAN_MAX_COLUMNS];
    int rc = nai_overflow_gather_values(values, reader, payload, err);
    if (rc)
      return rc;
    for (int i = 0; i < plan->wanted_count; i++)
      decode_value(&reader->cells[plan->wanted[i].slot], reader->types[plan->wanted[i].column], values[i]);
  }
  for (int i = 0; i < plan->alias_count; i++) {
    reader->cells[plan->alias_slots[i]].type = NAI_CELL_INT;
    reader->cells[plan->alias_slots[i]].i = rowid;
  }
  for (int i = 0; i < plan->real_count; i++) {
    struct nai_cell *cell = &reader->cells[plan->real_slots[i]];
    if (cell->type == NAI_CELL_INT) {
      cell->type = NAI_CELL_REAL;
      cell->real = (double)cell->i;
    }
  }
  return NAI_OK;
}

static inline int read_record(struct nai_record_reader *reader, const struct nai_payload *payload, int64_t rowid,
                              struct nai_err *err) {
  enum { MAX_HEADER = 98307 }; /* SQLite's limit: 32767 columns of 3 bytes and its own length */
  const unsigned char *data = payload->data;
  uint64_t header_bytes, end;
  uint32_t prefix = nai_varint(&header_bytes, data);
  if (header_bytes < prefix || header_bytes > payload->bytes || header_bytes > MAX_HEADER)
    return nai_direct_damaged(err, payload->page, "a row's header is longer than the row");
  if (header_bytes > payload->local) {
    int rc = nai_overflow_gather_header(&data, reader, payload, header_bytes, err);
    if (rc)
      return rc;
  }
  const char *wrong = read_header(&end, reader, data, prefix, header_bytes, payload->bytes);
  if (wrong)
    return nai_direct_damaged(err, payload->page, wrong);
  return read_values(reader, payload, end, rowid, err);
}

int nai_record_read(struct nai_record_reader *reader, const struct nai_payload *payload, int64_t rowid,
                    struct nai_err *err) {
  return read_record(reader, payload, rowid, err);
}

int nai_record_read_leaf(struct nai_record_reader *reader, uint32_t page, const unsigned char *data,
                         const int64_t *below, int64_t last, int64_t *rows, int64_t rows_limit, bool *stopped,
                         nai_row_fn *fn, void *ctx, struct nai_err *err) {
  const struct nai_direct *direct = reader->plan->direct;
  uint32_t cells;
  int rc = nai_direct_leaf_cells(&cells, direct, page, data, err);
  if (rc)
    return rc;
  if (cells > rows_limit - *rows)
    return nai_direct_damaged(err, page, "it has more cells than before");
  const unsigned char *pointers = data + nai_page_header(page) + 8;
  uint32_t first = nai_page_header(page) + 8 + 2 * cells;
  struct nai_payload payload = {.page = page};
  int64_t previous = below ? *below : INT64_MIN, rowid;
  for (uint32_t i = 0; i < cells; i++) {
    uint32_t at = nai_be16(pointers + 2 * i);
    if (at < first || at > direct->usable_bytes - 4)
      return nai_direct_damaged(err, page, "a cell lies outside of the page");
    const char *wrong = nai_leaf_cell(&rowid, &payload, direct, data, at);
    if (wrong)
      return nai_direct_damaged(err, page, wrong);
    if ((rowid <= previous && (i || below)) || rowid > last)
      return nai_direct_damaged(err, page, "its rowids are out of order");
    previous = rowid;
    rc = read_record(reader, &payload, rowid, err);
    if (rc)
      return rc;
    rc = fn(ctx, rowid, reader->cells, err);
    if (rc) {
      *stopped = true;
      return rc;
    }
  }
  *rows += cells;
  return NAI_OK;
}
