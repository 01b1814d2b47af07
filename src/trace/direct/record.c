/* Decoding the records of leaf pages. */
#include "trace/direct/record.h"

#include <endian.h>

void nai_record_plan(struct nai_record_plan *plan, const struct nai_pages *pages, const struct nai_db_table *table,
                     const int *columns, int column_count) {
  *plan = (struct nai_record_plan){.pages = pages};
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
  int last = plan->wanted_count ? plan->wanted[plan->wanted_count - 1].column : -1;
  plan->rules = nai_row_rules_of(table, last + 1);
}

int nai_record_reader_init(struct nai_record_reader *reader, const struct nai_record_plan *plan,
                           struct nai_arena *arena, struct nai_err *err) {
  int columns = plan->rules.looked_at;
  *reader = (struct nai_record_reader){.plan = plan};
  NAI_TRY(NAI_NEW(reader->types, arena, (size_t)columns, err));
  NAI_TRY(NAI_NEW(reader->offsets, arena, (size_t)columns, err));
  /* The header's length, one byte per column, and one for a text whose length takes two. */
  reader->key_bytes = (uint32_t)columns + 2;
  reader->shape_bytes = sizeof(struct nai_shape) + (size_t)plan->wanted_count * sizeof(struct nai_shape_step);
  reader->key_words = (int)(reader->key_bytes + 7) / 8;
  if (reader->key_bytes <= 8 * NAI_SHAPE_WORDS && /* goes slower without */
      nai_arena_get(&reader->shapes, arena, NAI_SHAPES, reader->shape_bytes, NULL) != NAI_OK)
    reader->shapes = NULL;
  return NAI_OK;
}

void nai_record_reader_free(struct nai_record_reader *reader) {
  nai_buf_free(&reader->head);
  nai_buf_free(&reader->spill);
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
  uint64_t bytes = type >= 12 ? (type - 12) / 2 : 0;
  step->len = bytes > NAI_CELL_MAX_BYTES ? (uint32_t)NAI_CELL_MAX_BYTES : (uint32_t)bytes;
  step->type = type >= 12 ? (type & 1 ? NAI_CELL_TEXT : NAI_CELL_BLOB) : kinds[type];
  step->shift = type >= 12 ? 0 : shifts[type];
  step->is_constant = type == 8 || type == 9;
  step->constant = type == 9;
}

/* The number at p, where 8 bytes may be loaded whatever its length. */
static inline int64_t number_at(const struct nai_shape_step *step, const unsigned char *p) {
  return (int64_t)load_be64(p) >> step->shift;
}

/* The value at p. A REAL is left as its bits in `i`. */
static inline void take_step(struct nai_cell *cell, const struct nai_shape_step *step, const unsigned char *p) {
  cell->type = step->type;
  cell->len = step->len;
  cell->data = (const char *)p;
  cell->i = step->is_constant ? step->constant : number_at(step, p);
}

static inline void finish_real(struct nai_cell *cell) {
  memcpy(&cell->real, &cell->i, sizeof cell->real);
  if (cell->real != cell->real) /* SQLite reads NaN as NULL */
    cell->type = NAI_CELL_NULL;
}

/* Cells that are not simply what is stored: rowids, and integers where REAL is to be read. */
static inline void finish_row(struct nai_record_reader *reader, uint64_t reals, int64_t rowid) {
  for (uint64_t left = reader->plan->aliases; left; left &= left - 1) {
    struct nai_cell *cell = &reader->cells[__builtin_ctzll(left)];
    cell->type = NAI_CELL_INT;
    cell->i = rowid;
  }
  for (uint64_t left = reals; left; left &= left - 1) {
    struct nai_cell *cell = &reader->cells[__builtin_ctzll(left)];
    if (cell->type == NAI_CELL_INT) {
      cell->type = NAI_CELL_REAL;
      cell->real = (double)cell->i;
    }
  }
}

/* Cells that stay as they are while rows have these. */
static void begin_slots(struct nai_record_reader *reader, const struct nai_shape_slots *slots) {
  struct nai_cell *cells = reader->cells;
  for (uint64_t fresh = slots->nulls & ~reader->slots.nulls; fresh; fresh &= fresh - 1)
    cells[__builtin_ctzll(fresh)] = (struct nai_cell){.type = NAI_CELL_NULL};
  for (uint64_t fresh = slots->integers & ~reader->slots.integers; fresh; fresh &= fresh - 1)
    cells[__builtin_ctzll(fresh)] = (struct nai_cell){.type = NAI_CELL_INT};
  for (uint64_t fresh = slots->zeros & ~reader->slots.zeros; fresh; fresh &= fresh - 1)
    cells[__builtin_ctzll(fresh)].i = 0;
  for (uint64_t fresh = slots->ones & ~reader->slots.ones; fresh; fresh &= fresh - 1)
    cells[__builtin_ctzll(fresh)].i = 1;
  reader->slots = *slots;
  cells[NAI_NO_CELL].i = (int64_t)slots->nulls;
}

static inline void take_shape(struct nai_record_reader *reader, struct nai_shape *shape, const unsigned char *data) {
  struct nai_cell *restrict cells = reader->cells;
  const struct nai_shape_step *step = shape->steps, *others = step + shape->integer_count,
                              *end = step + shape->step_count;
  if (shape != reader->last && memcmp(&shape->slots, &reader->slots, sizeof shape->slots) != 0)
    begin_slots(reader, &shape->slots);
  reader->last = shape;
  for (; step < others; step++)
    cells[step->slot].i = number_at(step, data + step->offset);
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
  if (!nai_record_ends(types, payload->data + header_bytes, &plan->rules, plan->rules.table_columns - shape->columns,
                       shape->end, payload->bytes))
    return false;
  if (header_bytes - shape->looked_at > sizeof rest)
    return true;
  for (int i = 0; i < NAI_SHAPE_REST_WORDS; i++)
    shape->rest[i] = le64toh(rest[i]) & shape->rest_mask[i];
  shape->payload_bytes = payload->bytes;
  return true;
}

enum step_kind { INTEGERS, CONSTANTS, OTHERS, STEP_KINDS };

static enum step_kind kind_of(const struct nai_shape_step *step, const struct nai_record_plan *plan) {
  if (step->type != NAI_CELL_INT || plan->reals & 1ull << step->slot)
    return OTHERS;
  return step->is_constant ? CONSTANTS : INTEGERS;
}

static void plan_steps(struct nai_shape *shape, const struct nai_record_reader *reader) {
  const struct nai_record_plan *plan = reader->plan;
  shape->has_real = false;
  shape->integer_count = shape->step_count = 0;
  shape->slots = (struct nai_shape_slots){0};
  shape->whole_reals = 0;
  for (enum step_kind kind = 0; kind < STEP_KINDS; kind++)
    for (int i = 0; i < plan->wanted_count; i++) {
      const struct nai_wanted *wanted = &plan->wanted[i];
      uint64_t type = reader->types[wanted->column], bit = 1ull << wanted->slot;
      struct nai_shape_step step = {.offset = reader->offsets[wanted->column], .slot = (uint8_t)wanted->slot};
      plan_step(&step, type);
      shape->slots.nulls |= type == 0 ? bit : 0;
      if (type == 0 || kind_of(&step, plan) != kind)
        continue;
      shape->slots.integers |= kind != OTHERS ? bit : 0;
      if (kind == CONSTANTS) {
        *(step.constant ? &shape->slots.ones : &shape->slots.zeros) |= bit;
        continue;
      }
      shape->has_real |= step.type == NAI_CELL_REAL;
      shape->whole_reals |= step.type == NAI_CELL_INT ? plan->reals & bit : 0;
      shape->steps[shape->step_count++] = step;
      shape->integer_count += kind == INTEGERS;
    }
}

/* Remembers what a record's head came to. */
static void keep_shape(struct nai_shape *shape, struct nai_record_reader *reader, const struct nai_record_head *head) {
  reader->last = NULL; /* it may have lain here */
  for (int i = 0; i < reader->key_words; i++)
    shape->key[i] = key_word(reader, head->data, i);
  shape->end = (uint32_t)head->end;
  shape->looked_at = head->looked_at;
  shape->columns = head->columns;
  int left = (int)(head->bytes - head->looked_at);
  for (int i = 0; i < NAI_SHAPE_REST_WORDS; i++, left -= 8)
    shape->rest_mask[i] = left >= 8 ? ~0ull : left <= 0 ? 0 : (1ull << 8 * left) - 1;
  shape->payload_bytes = UINT64_MAX;
  plan_steps(shape, reader);
}

/* Where the value of each wanted column lies: data[k] for wanted[k]. Values outside of the leaf are copied. */
static int gather_values(const unsigned char **data, struct nai_record_reader *reader,
                         const struct nai_payload *payload, struct nai_err *err) {
  const struct nai_record_plan *plan = reader->plan;
  struct nai_chain chain = nai_chain_start(plan->pages, payload);
  uint64_t needed = 0, bytes[NAI_SCAN_MAX_COLUMNS];
  for (int i = 0; i < plan->wanted_count; i++) {
    int column = plan->wanted[i].column;
    uint64_t n = nai_serial_bytes(reader->types[column]);
    n = n > NAI_CELL_MAX_BYTES ? NAI_CELL_MAX_BYTES : n;
    bool local = reader->offsets[column] + n <= payload->local;
    data[i] = local ? payload->data + reader->offsets[column] : NULL;
    bytes[i] = n;
    needed += local ? 0 : n + 8; /* decoding loads 8 bytes whatever the length */
  }
  nai_buf_clear(&reader->spill);
  char *to = nai_buf_reserve(&reader->spill, (size_t)needed + 8);
  NAI_TRY(nai_memory_check(to, err));
  for (int i = 0; i < plan->wanted_count; i++) {
    if (data[i])
      continue;
    NAI_TRY(nai_chain_copy(&chain, to, reader->offsets[plan->wanted[i].column], bytes[i], err));
    memset(to + bytes[i], 0, 8);
    data[i] = (const unsigned char *)to;
    to += bytes[i] + 8;
  }
  return NAI_OK;
}

/* Values one by one from where gather_values found them. */
static int read_long_row(struct nai_record_reader *reader, const struct nai_payload *payload, struct nai_err *err) {
  const unsigned char *values[NAI_SCAN_MAX_COLUMNS];
  reader->last = NULL;
  reader->slots = (struct nai_shape_slots){0};
  reader->cells[NAI_NO_CELL].i = 0;
  NAI_TRY(gather_values(values, reader, payload, err));
  for (int i = 0; i < reader->plan->wanted_count; i++) {
    const struct nai_wanted *wanted = &reader->plan->wanted[i];
    struct nai_shape_step step;
    plan_step(&step, reader->types[wanted->column]);
    take_step(&reader->cells[wanted->slot], &step, values[i]);
    if (step.type == NAI_CELL_REAL)
      finish_real(&reader->cells[wanted->slot]);
  }
  return NAI_OK;
}

/* A record that the kept shapes do not serve. */
static int read_new_record(struct nai_record_reader *reader, const struct nai_payload *payload, struct nai_shape *shape,
                           struct nai_err *err) {
  const struct nai_record_plan *plan = reader->plan;
  struct nai_record_head head;
  NAI_TRY(
      nai_record_head(&head, reader->types, reader->offsets, &plan->rules, plan->pages, payload, &reader->head, err));
  if (head.end > payload->local || !shape || head.looked_at > reader->key_bytes)
    return read_long_row(reader, payload, err);
  keep_shape(shape, reader, &head);
  take_shape(reader, shape, payload->data);
  return NAI_OK;
}

static inline int read_record(struct nai_record_reader *reader, const struct nai_payload *payload, int64_t rowid,
                              struct nai_err *err) {
  struct nai_shape *shape = NULL;
  uint32_t header_bytes = payload->data[0];
  if (__builtin_expect(payload->link, 0))
    NAI_TRY(nai_overflow_check(reader->plan->pages, payload, err));
  if (reader->shapes && header_bytes - 1 < 127 && header_bytes <= payload->local) {
    bool known;
    if (header_bytes != reader->masked_bytes)
      mask_key(reader, header_bytes);
    shape = find_shape(&known, reader, payload->data);
    if (known && shape->end <= payload->local && has_right_end(shape, reader->plan, payload, header_bytes)) {
      take_shape(reader, shape, payload->data);
      finish_row(reader, shape->whole_reals, rowid);
      return NAI_OK;
    }
  }
  NAI_TRY(read_new_record(reader, payload, shape, err));
  finish_row(reader, reader->plan->reals, rowid);
  return NAI_OK;
}

int nai_record_read(struct nai_record_reader *reader, const struct nai_payload *payload, int64_t rowid,
                    struct nai_err *err) {
  return read_record(reader, payload, rowid, err);
}

int nai_record_read_leaf(struct nai_record_reader *reader, const struct nai_leaves *leaves, uint32_t leaf,
                         const unsigned char *data, int64_t *rows, int64_t rows_limit, bool *stopped, nai_row_fn *fn,
                         void *ctx, struct nai_err *err) {
  struct nai_leaf_walk walk;
  struct nai_payload payload;
  int64_t rowid = 0;
  NAI_TRY(nai_leaf_walk(&walk, reader->plan->pages, leaves, leaf, data, err));
  if (walk.cells > rows_limit - *rows)
    return nai_page_damaged(err, walk.page, "it has more cells than before");
  while (walk.next < walk.cells) {
    NAI_TRY(nai_leaf_next(&walk, &rowid, &payload, err));
    NAI_TRY(read_record(reader, &payload, rowid, err));
    int rc = fn(ctx, rowid, reader->cells, err);
    if (rc) {
      *stopped = true;
      return rc;
    }
  }
  *rows += walk.cells;
  return nai_leaf_end(&walk, err);
}
