#include "trace/direct/direct_record.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_TYPES = 128 }; /* serial types of one byte */

/* Bytes of a value by its serial type, for types of one byte. */
#define TEXT_SIZES_16(n) \
  n, n, n + 1, n + 1, n + 2, n + 2, n + 3, n + 3, n + 4, n + 4, n + 5, n + 5, n + 6, n + 6, n + 7, n + 7
static const uint8_t small_sizes[SMALL_TYPES] = {0,
                                                 1,
                                                 2,
                                                 3,
                                                 4,
                                                 6,
                                                 8,
                                                 8,
                                                 0,
                                                 0,
                                                 0,
                                                 0,
                                                 0,
                                                 0,
                                                 1,
                                                 1,
                                                 TEXT_SIZES_16(2),
                                                 TEXT_SIZES_16(10),
                                                 TEXT_SIZES_16(18),
                                                 TEXT_SIZES_16(26),
                                                 TEXT_SIZES_16(34),
                                                 TEXT_SIZES_16(42),
                                                 TEXT_SIZES_16(50)};

/* What a column's declaration rules out: SQLite would not have stored it. */
static bool is_ruled_out(const struct nai_db_column *column, uint64_t type) {
  if (column->rowid_alias) /* NULL stands in its place */
    return type != 0;
  return (type == 0 && column->not_null) || (type >= 1 && type <= 9 && column->text_affinity);
}

/* Whether a row may end before its column number i. */
static bool may_be_absent(const struct nai_db_table *table, int i) {
  const struct nai_db_column *column = &table->columns[i];
  return table->altered && (column->added_with_default || !is_ruled_out(column, 0));
}

void nai_record_plan(struct nai_record_plan *plan, const struct nai_direct *direct, const struct nai_db_table *table,
                     const int *columns, int column_count) {
  *plan = (struct nai_record_plan){.direct = direct, .table_columns = table->column_count, .columns = table->columns};
  while (plan->absent_columns < table->column_count &&
         may_be_absent(table, table->column_count - 1 - plan->absent_columns))
    plan->absent_columns++;
  for (int slot = 0; slot < column_count; slot++) {
    const struct nai_db_column *column = &table->columns[columns[slot]];
    if (column->rowid_alias) {
      plan->aliases |= 1ull << slot;
      continue;
    }
    if (column->real_affinity)
      plan->reals |= 1ull << slot;
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
  *reader = (struct nai_record_reader){.plan = plan};
  reader->types = calloc(columns, sizeof *reader->types);
  reader->offsets = calloc(columns, sizeof *reader->offsets);
  /* The header's length, one byte per column, and one for a text whose length takes two. */
  reader->key_bytes = (uint32_t)plan->stored_columns + 2;
  reader->shape_bytes = sizeof(struct nai_shape) + (size_t)plan->wanted_count * sizeof(struct nai_shape_step);
  reader->key_words = (int)(reader->key_bytes + 7) / 8;
  if (reader->key_bytes <= 8 * NAI_SHAPE_WORDS)
    reader->shapes = calloc(NAI_SHAPES, reader->shape_bytes); /* goes slower without */
  if (reader->types && reader->offsets)
    return NAI_OK;
  nai_record_reader_free(reader);
  return nai_err_nomem(err);
}

void nai_record_reader_free(struct nai_record_reader *reader) {
  free(reader->types);
  free(reader->offsets);
  free(reader->shapes);
  nai_buf_free(&reader->header);
  nai_buf_free(&reader->spill);
  reader->types = NULL;
  reader->offsets = NULL;
  reader->shapes = NULL;
}

static inline uint64_t load_be64(const unsigned char *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return be64toh(v);
}

/* How to load the value of a serial type from the 8 bytes where it begins. */
static inline void plan_step(struct nai_shape_step *step, uint64_t type) {
  static const uint8_t kinds[12] = {NAI_CELL_NULL, NAI_CELL_INT, NAI_CELL_INT,  NAI_CELL_INT,
                                    NAI_CELL_INT,  NAI_CELL_INT, NAI_CELL_INT,  NAI_CELL_REAL,
                                    NAI_CELL_INT,  NAI_CELL_INT, NAI_CELL_NULL, NAI_CELL_NULL};
  static const uint8_t shifts[12] = {0, 56, 48, 40, 32, 16, 0, 0, 0, 0, 0, 0};
  static const uint64_t masks[12] = {0, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, 0, 0, 0, 0};
  uint64_t bytes = type >= 12 ? (type - 12) / 2 : 0;
  step->len = bytes > NAI_CELL_MAX_BYTES ? (uint32_t)NAI_CELL_MAX_BYTES : (uint32_t)bytes;
  step->type = type >= 12 ? (type & 1 ? NAI_CELL_TEXT : NAI_CELL_BLOB) : kinds[type];
  step->shift = type >= 12 ? 0 : shifts[type];
  step->mask = type >= 12 ? 0 : masks[type];
  step->add = type == 9;
}

/* The number at p, where 8 bytes may be loaded whatever its length. */
static inline void take_integer(struct nai_cell *cell, const struct nai_shape_step *step, const unsigned char *p) {
  cell->i = ((int64_t)(load_be64(p) & step->mask) >> step->shift) + step->add;
}

/* The value at p. A REAL is left as its bits in `i`. */
static inline void take_step(struct nai_cell *cell, const struct nai_shape_step *step, const unsigned char *p) {
  cell->type = step->type;
  cell->len = step->len;
  cell->data = (const char *)p;
  take_integer(cell, step, p);
}

static inline void finish_real(struct nai_cell *cell) {
  memcpy(&cell->real, &cell->i, sizeof cell->real);
  if (cell->real != cell->real) /* SQLite reads NaN as NULL */
    cell->type = NAI_CELL_NULL;
}

/* Whether a header's types from p on, which `columns` columns are left for, make a row that ends with its payload when
 * their values begin at `at`. Nobody asked for these values, but a type before them that damage has changed moves the
 * end. */
static inline bool ends_with_payload(const unsigned char *p, const unsigned char *stop,
                                     const struct nai_record_plan *plan, int columns, uint64_t at,
                                     uint64_t payload_bytes) {
  for (; p < stop; columns--) {
    uint64_t type = *p++;
    if (__builtin_expect(type < SMALL_TYPES, 1)) {
      at += small_sizes[type];
      continue;
    }
    p += nai_varint(&type, p - 1) - 1;
    if (type > UINT32_MAX)
      return false;
    at += nai_serial_bytes(type);
  }
  return p == stop && columns >= 0 && columns <= plan->absent_columns && at == payload_bytes;
}

bool nai_record_fits(const struct nai_payload *payload, const struct nai_db_table *table) {
  uint64_t header_bytes, type;
  const unsigned char *p = payload->data + nai_varint(&header_bytes, payload->data);
  if (header_bytes > payload->local)
    return header_bytes <= payload->bytes;
  const unsigned char *stop = payload->data + header_bytes;
  int i = 0;
  for (; p < stop && i < table->column_count; i++) {
    p += nai_varint(&type, p);
    if (is_ruled_out(&table->columns[i], type))
      return false;
  }
  for (; i < table->column_count; i++) /* a row older than these columns */
    if (!may_be_absent(table, i))
      return false;
  return p == stop;
}

/* What a record's header came to. */
struct header {
  uint64_t end;       /* where in the payload the last value looked at ends */
  uint32_t looked_at; /* how many bytes of the header said so */
  int columns;        /* of how many columns */
};

/* Fills types and offsets of the columns from a record header. NULL, or what is wrong. */
static const char *read_header(struct header *out, struct nai_record_reader *reader, const unsigned char *data,
                               uint32_t prefix, uint64_t header_bytes, uint64_t payload_bytes) {
  const unsigned char *p = data + prefix, *stop = data + header_bytes;
  int columns = reader->plan->stored_columns;
  uint64_t *restrict types = reader->types;
  uint32_t *restrict offsets = reader->offsets;
  uint64_t at = header_bytes;
  bool reserved = false, ruled_out = false;
  int seen = 0;
  for (int i = 0; i < columns; i++) {
    if (p >= stop) { /* a row older than this column */
      types[i] = 0;
      offsets[i] = 0;
      continue;
    }
    seen++;
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
    ruled_out |= is_ruled_out(&reader->plan->columns[i], type);
  }
  *out = (struct header){at, (uint32_t)(p - data), seen};
  if (p > stop || at > payload_bytes)
    return "a value is longer than its row";
  if (!ends_with_payload(p, stop, reader->plan, reader->plan->table_columns - seen, at, payload_bytes))
    return "a row does not end with its last value";
  if (ruled_out)
    return "a value is none that its column can hold";
  return reserved ? "a value has a reserved type" : NULL;
}

/* Cells that are not simply what is stored. */
static inline void finish_row(struct nai_record_reader *reader, int64_t rowid) {
  const struct nai_record_plan *plan = reader->plan;
  for (uint64_t left = plan->aliases; left; left &= left - 1) {
    struct nai_cell *cell = &reader->cells[__builtin_ctzll(left)];
    cell->type = NAI_CELL_INT;
    cell->i = rowid;
  }
  for (uint64_t left = plan->reals; left; left &= left - 1) {
    struct nai_cell *cell = &reader->cells[__builtin_ctzll(left)];
    if (cell->type == NAI_CELL_INT) {
      cell->type = NAI_CELL_REAL;
      cell->real = (double)cell->i;
    }
  }
}

static inline void take_shape(struct nai_record_reader *reader, const struct nai_shape *shape,
                              const unsigned char *data) {
  struct nai_cell *restrict cells = reader->cells;
  const struct nai_shape_step *step = shape->steps, *others = step + shape->integer_count,
                              *end = step + shape->step_count;
  for (uint64_t fresh = shape->nulls & ~reader->nulls; fresh; fresh &= fresh - 1)
    cells[__builtin_ctzll(fresh)] = (struct nai_cell){.type = NAI_CELL_NULL};
  for (uint64_t fresh = shape->integers & ~reader->integers; fresh; fresh &= fresh - 1)
    cells[__builtin_ctzll(fresh)] = (struct nai_cell){.type = NAI_CELL_INT};
  reader->nulls = shape->nulls;
  reader->integers = shape->integers;
  for (; step < others; step++)
    take_integer(&cells[step->slot], step, data + step->offset);
  for (; step < end; step++)
    take_step(&cells[step->slot], step, data + step->offset);
  for (step = shape->has_real ? others : end; step < end; step++)
    if (step->type == NAI_CELL_REAL)
      finish_real(&cells[step->slot]);
}

/* Which bytes of a header's words are its key. Headers of a table tend to be equally long. */
static void mask_key(struct nai_record_reader *reader, uint32_t header_bytes) {
  int left = (int)(header_bytes < reader->key_bytes ? header_bytes : reader->key_bytes);
  for (int i = 0; i < reader->key_words; i++, left -= 8)
    reader->key_mask[i] = left >= 8 ? ~0ull : left <= 0 ? 0 : (1ull << 8 * left) - 1;
  reader->masked_bytes = header_bytes;
}

static inline uint64_t key_word(const struct nai_record_reader *reader, const unsigned char *data, int i) {
  uint64_t bytes;
  memcpy(&bytes, data + 8 * i, 8);
  return le64toh(bytes) & reader->key_mask[i];
}

/* Where the shape of this record is or would be kept; its key is the header's first bytes. *known = it is there. The
 * words are loaded twice: what was stored a moment ago in another width is slow to come back. */
static inline struct nai_shape *find_shape(bool *known, const struct nai_record_reader *reader,
                                           const unsigned char *data) {
  static const uint64_t multipliers[NAI_SHAPE_WORDS] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u,
                                                        0xd6e8feb86659fd93u, 0xff51afd7ed558ccdu};
  uint64_t hash = 0, difference = 0;
  for (int i = 0; i < reader->key_words; i++)
    hash ^= key_word(reader, data, i) * multipliers[i];
  struct nai_shape *shape = (struct nai_shape *)(reader->shapes + (hash >> 57) * reader->shape_bytes);
  for (int i = 0; i < reader->key_words; i++)
    difference |= shape->key[i] ^ key_word(reader, data, i);
  *known = difference == 0;
  return shape;
}

/* Whether a row of a known shape ends with its payload. Most have the same types behind those looked at as the row
 * before. */
static inline bool has_right_end(struct nai_shape *shape, const struct nai_record_plan *plan,
                                 const struct nai_payload *payload, uint32_t header_bytes) {
  const unsigned char *types = payload->data + shape->looked_at;
  uint64_t rest[NAI_SHAPE_REST_WORDS], others = payload->bytes ^ shape->payload_bytes;
  memcpy(rest, types, sizeof rest);
  for (int i = 0; i < NAI_SHAPE_REST_WORDS; i++)
    others |= (le64toh(rest[i]) & shape->rest_mask[i]) ^ shape->rest[i];
  if (__builtin_expect(!others, 1))
    return true;
  if (!ends_with_payload(types, payload->data + header_bytes, plan, plan->table_columns - shape->columns, shape->end,
                         payload->bytes))
    return false;
  if (header_bytes - shape->looked_at > sizeof rest)
    return true;
  for (int i = 0; i < NAI_SHAPE_REST_WORDS; i++)
    shape->rest[i] = le64toh(rest[i]) & shape->rest_mask[i];
  shape->payload_bytes = payload->bytes;
  return true;
}

static void plan_steps(struct nai_shape *shape, const struct nai_record_reader *reader) {
  const struct nai_record_plan *plan = reader->plan;
  shape->has_real = false;
  shape->integer_count = shape->step_count = 0;
  shape->nulls = shape->integers = 0;
  for (int i = 0; i < plan->wanted_count; i++) {
    const struct nai_wanted *wanted = &plan->wanted[i];
    uint64_t type = reader->types[wanted->column], bit = 1ull << wanted->slot;
    if (type == 0) {
      shape->nulls |= bit;
      continue;
    }
    struct nai_shape_step step = {.offset = reader->offsets[wanted->column], .slot = (uint8_t)wanted->slot};
    plan_step(&step, type);
    shape->has_real |= step.type == NAI_CELL_REAL;
    int at = shape->step_count++;
    if (step.type == NAI_CELL_INT && !(plan->reals & bit)) { /* the first of the others makes room */
      shape->integers |= bit;
      shape->steps[at] = shape->steps[shape->integer_count];
      at = shape->integer_count++;
    }
    shape->steps[at] = step;
  }
}

/* Remembers what read_header has found out. */
static void keep_shape(struct nai_shape *shape, struct nai_record_reader *reader, const unsigned char *data,
                       const struct header *header, uint32_t header_bytes) {
  for (int i = 0; i < reader->key_words; i++)
    shape->key[i] = key_word(reader, data, i);
  shape->end = (uint32_t)header->end;
  shape->looked_at = header->looked_at;
  shape->columns = header->columns;
  int left = (int)(header_bytes - header->looked_at);
  for (int i = 0; i < NAI_SHAPE_REST_WORDS; i++, left -= 8)
    shape->rest_mask[i] = left >= 8 ? ~0ull : left <= 0 ? 0 : (1ull << 8 * left) - 1;
  shape->payload_bytes = UINT64_MAX;
  plan_steps(shape, reader);
}

/* Values one by one from where nai_overflow_gather_values found them. */
static int read_long_row(struct nai_record_reader *reader, const struct nai_payload *payload, struct nai_err *err) {
  const unsigned char *values[NAI_SCAN_MAX_COLUMNS];
  reader->nulls = reader->integers = 0;
  int rc = nai_overflow_gather_values(values, reader, payload, err);
  for (int i = 0; i < reader->plan->wanted_count && !rc; i++) {
    const struct nai_wanted *wanted = &reader->plan->wanted[i];
    struct nai_shape_step step;
    plan_step(&step, reader->types[wanted->column]);
    take_step(&reader->cells[wanted->slot], &step, values[i]);
    if (step.type == NAI_CELL_REAL)
      finish_real(&reader->cells[wanted->slot]);
  }
  return rc;
}

/* A record that the kept shapes do not serve. */
static int read_new_record(struct nai_record_reader *reader, const struct nai_payload *payload, struct nai_shape *shape,
                           struct nai_err *err) {
  enum { MAX_HEADER = 98307 }; /* SQLite's limit: 32767 columns of 3 bytes and its own length */
  const unsigned char *data = payload->data;
  struct header header;
  uint64_t header_bytes;
  uint32_t prefix = nai_varint(&header_bytes, data);
  if (header_bytes < prefix || header_bytes > payload->bytes || header_bytes > MAX_HEADER)
    return nai_direct_damaged(err, payload->page, "a row's header is longer than the row");
  if (header_bytes > payload->local) {
    int rc = nai_overflow_gather_header(&data, reader, payload, header_bytes, err);
    if (rc)
      return rc;
  }
  const char *wrong = read_header(&header, reader, data, prefix, header_bytes, payload->bytes);
  if (wrong)
    return nai_direct_damaged(err, payload->page, wrong);
  if (header.end > payload->local || !shape || header.looked_at > reader->key_bytes)
    return read_long_row(reader, payload, err);
  keep_shape(shape, reader, data, &header, (uint32_t)header_bytes);
  take_shape(reader, shape, data);
  return NAI_OK;
}

static inline int read_record(struct nai_record_reader *reader, const struct nai_payload *payload, int64_t rowid,
                              struct nai_err *err) {
  struct nai_shape *shape = NULL;
  uint32_t header_bytes = payload->data[0];
  if (__builtin_expect(payload->link, 0)) {
    int rc = nai_overflow_check(reader->plan->direct, payload, err);
    if (rc)
      return rc;
  }
  if (reader->shapes && header_bytes - 1 < 127 && header_bytes <= payload->local) {
    bool known;
    if (header_bytes != reader->masked_bytes)
      mask_key(reader, header_bytes);
    shape = find_shape(&known, reader, payload->data);
    if (known && shape->end <= payload->local && has_right_end(shape, reader->plan, payload, header_bytes)) {
      take_shape(reader, shape, payload->data);
      finish_row(reader, rowid);
      return NAI_OK;
    }
  }
  int rc = read_new_record(reader, payload, shape, err);
  if (!rc)
    finish_row(reader, rowid);
  return rc;
}

int nai_record_read(struct nai_record_reader *reader, const struct nai_payload *payload, int64_t rowid,
                    struct nai_err *err) {
  return read_record(reader, payload, rowid, err);
}

int nai_record_read_leaf(struct nai_record_reader *reader, const struct nai_leaves *leaves, uint32_t leaf,
                         const unsigned char *data, int64_t *rows, int64_t rows_limit, bool *stopped, nai_row_fn *fn,
                         void *ctx, struct nai_err *err) {
  const struct nai_direct *direct = reader->plan->direct;
  const int64_t *below = leaf ? &leaves->last[leaf - 1] : NULL, last = leaves->last[leaf];
  uint32_t page = leaves->pages[leaf], cells;
  int rc = nai_direct_leaf_cells(&cells, direct, leaves, leaf, data, err);
  if (rc)
    return rc;
  if (cells > rows_limit - *rows)
    return nai_direct_damaged(err, page, "it has more cells than before");
  const unsigned char *pointers = data + nai_page_header(page) + 8;
  uint32_t first = nai_page_header(page) + 8 + 2 * cells;
  struct nai_payload payload = {.page = page};
  int64_t previous = below ? *below : INT64_MIN, rowid;
  struct nai_page_fill fill = {direct->usable_bytes, true};
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
    nai_page_fill_add(&fill, at, nai_cell_bytes(&payload, data + at));
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
  const char *wrong = nai_page_settle(&fill, direct, page, data);
  return wrong ? nai_direct_damaged(err, page, wrong) : NAI_OK;
}
