#include "table/column.h"

#include "base/strings.h"

void *nai_cells_new(size_t count, size_t cell_bytes) {
  return count > (SIZE_MAX - sizeof(uint64_t)) / cell_bytes ? NULL : malloc(count * cell_bytes + sizeof(uint64_t));
}

struct nai_column nai_column_of(enum nai_type type, const void *cells, uint32_t width, int64_t base) {
  static const unsigned char zeros[8]; /* where cells without bytes are read */
  struct nai_column c = {.cells = width ? cells : zeros, .width = width};
  c.null_value = type == NAI_STR ? NAI_NO_STRING : type == NAI_I32 ? NAI_NULL_I32 : NAI_NULL_I64;
  c.mask = width ? UINT64_MAX >> (64 - width * 8) : 0;
  c.sign = c.mask - (c.mask >> 1);
  c.offset = (uint64_t)base - c.sign;
  c.null = width ? c.sign : base == NAI_NULL_I64 ? 0 : 1;
  return c;
}

/* More than a cell of less than 8 bytes can be: such a column has no NULL. */
#define NO_NULL UINT64_MAX

NAI_WIDE void nai_extent_add(struct nai_extent *extent, const int64_t *values, size_t count) {
  int64_t low = INT64_MAX, high = INT64_MIN; /* low is of values less 1: that makes NULL the highest of them */
  uint64_t nulls = 0;
  for (size_t i = 0; i < count; i++) {
    int64_t less = (int64_t)((uint64_t)values[i] - 1);
    low = less < low ? less : low;
    high = values[i] > high ? values[i] : high;
    nulls |= values[i] == NAI_NULL_I64;
  }
  if (low < high) /* there are values */
    low++;
  nai_extent_join(extent, &(struct nai_extent){low, high, nulls != 0});
}

void nai_extent_join(struct nai_extent *extent, const struct nai_extent *other) {
  extent->min = other->min < extent->min ? other->min : extent->min;
  extent->max = other->max > extent->max ? other->max : extent->max;
  extent->null |= other->null;
}

struct nai_column nai_column_for(enum nai_type type, const struct nai_extent *extent) {
  if (extent->min > extent->max)
    return nai_column_of(type, NULL, 0, extent->null ? NAI_NULL_I64 : 0);
  uint64_t span = (uint64_t)extent->max - (uint64_t)extent->min;
  if (span == 0 && !extent->null)
    return nai_column_of(type, NULL, 0, extent->min);
  uint32_t width = 1;
  while (width < 8 && span > (UINT64_MAX >> (64 - width * 8)) - 1) /* one number is NULL */
    width++;
  /* The smallest value is the lowest number but one. */
  int64_t base = (int64_t)((uint64_t)extent->min + (UINT64_C(1) << (width * 8 - 1)) - 1);
  struct nai_column c = nai_column_of(type, NULL, width, width == 8 ? 0 : base);
  if (!extent->null && width < 8)
    c.null = NO_NULL;
  return c;
}

/* Runs the statement in a loop the compiler has the width of. */
#define WITH_WIDTH(w, statement) \
  case w: {                      \
    enum { WIDTH = w };          \
    statement;                   \
    break;                       \
  }
#define WITH_EACH_WIDTH(statement) \
  WITH_WIDTH(1, statement)         \
  WITH_WIDTH(2, statement)         \
  WITH_WIDTH(3, statement)         \
  WITH_WIDTH(4, statement)         \
  WITH_WIDTH(5, statement)         \
  WITH_WIDTH(6, statement)         \
  WITH_WIDTH(7, statement)         \
  WITH_WIDTH(8, statement)

/* Cells as wide as a type are stored and loaded as one, so that the compiler treats many at once; of others whole
 * words, whose upper bytes are overwritten by the next one or left out. */
static inline void put_cell(unsigned char *to, uint32_t width, uint64_t cell) {
  const uint16_t half = (uint16_t)cell;
  const uint32_t word = (uint32_t)cell;
  switch (width) {
  case 1:
    *to = (unsigned char)cell;
    break;
  case 2:
    memcpy(to, &half, sizeof half);
    break;
  case 4:
    memcpy(to, &word, sizeof word);
    break;
  default:
    memcpy(to, &cell, sizeof cell);
  }
}

static inline void pack(unsigned char *restrict cells, const struct nai_column *as, uint32_t width,
                        const int64_t *restrict values, size_t count) {
  const uint64_t base = (uint64_t)nai_column_base(as), null = as->null;
  if (null == NO_NULL)
    for (size_t i = 0; i < count; i++)
      put_cell(cells + i * width, width, (uint64_t)values[i] - base);
  else
    for (size_t i = 0; i < count; i++)
      put_cell(cells + i * width, width, values[i] == NAI_NULL_I64 ? null : (uint64_t)values[i] - base);
}

NAI_WIDE void nai_pack(void *cells, const struct nai_column *as, const int64_t *values, size_t count) {
  switch (as->width) { WITH_EACH_WIDTH(pack(cells, as, WIDTH, values, count)) }
}

static inline uint64_t take_cell(const unsigned char *from, uint32_t width) {
  uint16_t half;
  uint32_t word;
  uint64_t cell;
  switch (width) {
  case 1:
    return *from;
  case 2:
    memcpy(&half, from, sizeof half);
    return half;
  case 4:
    memcpy(&word, from, sizeof word);
    return word;
  default:
    memcpy(&cell, from, sizeof cell);
    return cell & UINT64_MAX >> (64 - 8 * width);
  }
}

static inline void unpack(int64_t *restrict values, const struct nai_column *c, uint32_t width, uint64_t first,
                          size_t count) {
  const unsigned char *restrict cells = c->cells + first * width;
  const uint64_t sign = c->sign, offset = c->offset, null = c->null;
  if (null == NO_NULL && width < 8)
    for (size_t i = 0; i < count; i++)
      values[i] = (int64_t)((take_cell(cells + i * width, width) ^ sign) + offset);
  else
    for (size_t i = 0; i < count; i++) {
      uint64_t cell = take_cell(cells + i * width, width);
      values[i] = cell == null ? NAI_NULL_I64 : (int64_t)((cell ^ sign) + offset);
    }
}

NAI_WIDE void nai_unpack(int64_t *values, const struct nai_column *column, uint64_t first, size_t count) {
  switch (column->width) {
    WITH_EACH_WIDTH(unpack(values, column, WIDTH, first, count))
  default:
    for (size_t i = 0; i < count; i++)
      values[i] = column->null == 0 ? NAI_NULL_I64 : nai_column_base(column);
  }
}

/* Whether any cell is neither NULL nor in [low, high]: a value is in it if value - low is at most high - low, unsigned.
 */
static inline bool any_outside(const struct nai_column *column, uint32_t width, uint64_t rows, int64_t low,
                               int64_t high) {
  struct nai_column c = *column;
  c.width = width;
  const uint64_t offset = c.offset - (uint64_t)low, span = (uint64_t)high - (uint64_t)low;
  uint64_t outside = 0;
  for (uint64_t i = 0; i < rows; i++) {
    uint64_t cell = nai_cell_at(&c, i);
    outside += ((cell ^ c.sign) + offset > span) & (cell != c.null);
  }
  return outside != 0;
}

/* The same of cells of a byte, as numbers of names often are: many at once, in bytes. */
static bool any_byte_outside(const struct nai_column *column, uint64_t rows, int64_t low, int64_t high) {
  const int64_t first =
      (int64_t)column->offset; /* the value of the lowest cell; -1 where that is NULL and the next one 0 */
  if (high < first || low - first > UINT8_MAX)
    return true;
  const uint8_t from = (uint8_t)(low > first ? low - first : 0);
  const uint8_t span = (uint8_t)((high - first < UINT8_MAX ? high - first : UINT8_MAX) - from);
  const uint8_t *cells = column->cells, sign = (uint8_t)column->sign, null = (uint8_t)column->null;
  const uint8_t has_null = column->null <= UINT8_MAX;
  uint8_t outside = 0;
  for (uint64_t i = 0; i < rows; i++)
    outside |=
        (uint8_t)((uint8_t)((uint8_t)(cells[i] ^ sign) - from) > span) & (uint8_t) !(has_null & (cells[i] == null));
  return outside;
}

/* NULL of a text is all bits set, which is a cell of its own in a plain array. */
static bool is_within(const struct nai_column *column, uint64_t row, int64_t low, int64_t high) {
  int64_t value = nai_at(column, row), null = column->null_value;
  return (value >= low && value <= high) || value == null ||
         (null == NAI_NO_STRING && (uint32_t)value == NAI_NO_STRING);
}

bool nai_column_within(const struct nai_column *column, int64_t rows, int64_t low, int64_t high) {
  if (rows == 0)
    return true;
  if (column->width < 8 &&
      column->width > 0) { /* base plus the extremes of a signed cell, the lowest of which is NULL */
    int64_t reach = INT64_C(1) << (column->width * 8 - 1), base = nai_column_base(column), lowest, highest;
    if (!__builtin_sub_overflow(base, reach - (column->null == column->sign), &lowest) &&
        !__builtin_add_overflow(base, reach - 1, &highest) && lowest >= low && highest <= high)
      return true;
  }
  uint64_t distinct = column->width ? (uint64_t)rows : 1;
  bool outside = true;
  if (column->width == 1 && low >= 0 && low <= high && (int64_t)column->offset >= -1)
    outside = any_byte_outside(column, distinct, low, high);
  else if (low <= high)
    switch (column->width) { WITH_EACH_WIDTH(outside = any_outside(column, WIDTH, distinct, low, high)) }
  for (uint64_t i = 0; outside && i < distinct; i++)
    if (!is_within(column, i, low, high))
      return false;
  return true;
}
