/* A column of integers or text numbers as loops over millions of rows read it, however wide its cells are. */
#pragma once

#include "table/schema.h"

/* Functions that the compiler makes twice: for any processor, and for those with wide registers. The program chooses
 * when it is loaded. Clang names such a function so that other files do not find it. */
#if defined __x86_64__ && defined __GLIBC__ && !defined __clang__
#define NAI_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define NAI_WIDE
#endif

#define NAI_NULL_I64 INT64_MIN
#define NAI_NULL_I32 INT32_MIN

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "cells are read as the lowest bytes of a word");

/* Cells are signed integers of 0 to 8 bytes. A value is base + cell, and the lowest number a cell can hold is NULL. An
 * array of int64_t or int32_t is such a column with base 0; packed columns have as few bytes as their values ask for.
 */
struct nai_column {
  const unsigned char *cells; /* width bytes each; 8 bytes from the start of any may be read (nai_cells_new) */
  uint32_t width;
  uint64_t mask, sign; /* of a cell's bits in a word, and of the highest of them */
  uint64_t null;       /* the cell that stands for NULL, as bits; UINT64_MAX where it is known that there is none */
  uint64_t offset;     /* base - sign */
  int64_t null_value;  /* NULL of the column's type: NAI_NULL_I64, NAI_NULL_I32, NAI_NO_STRING */
};

static inline uint64_t nai_cell_at(const struct nai_column *c, uint64_t row) {
  uint64_t word;
  memcpy(&word, c->cells + row * c->width, sizeof word);
  return word & c->mask;
}

/* The value of a row where none is NULL: of columns that are declared as filled. */
static inline int64_t nai_val(const struct nai_column *c, uint64_t row) {
  return (int64_t)((nai_cell_at(c, row) ^ c->sign) + c->offset);
}

/* The value of a row, the type's NULL included. */
static inline int64_t nai_at(const struct nai_column *c, uint64_t row) {
  uint64_t cell = nai_cell_at(c, row);
  return cell == c->null ? c->null_value : (int64_t)((cell ^ c->sign) + c->offset);
}

/* The same for columns whose type is NAI_I32 or NAI_STR. */
static inline int32_t nai_at_i32(const struct nai_column *c, uint64_t row) { return (int32_t)nai_at(c, row); }
static inline uint32_t nai_at_text(const struct nai_column *c, uint64_t row) { return (uint32_t)nai_at(c, row); }
static inline int32_t nai_val_i32(const struct nai_column *c, uint64_t row) { return (int32_t)nai_val(c, row); }
static inline uint32_t nai_val_text(const struct nai_column *c, uint64_t row) { return (uint32_t)nai_val(c, row); }

/* A column of cells that were packed, or of a plain array (base 0, the width of its type). */
struct nai_column nai_column_of(enum nai_type type, const void *cells, uint32_t width, int64_t base);
/* Memory, not zeroed, for `count` numbers (none is fine) that are to be read as a column; NULL when there is none left.
 */
void *nai_cells_new(size_t count, size_t cell_bytes);
/* Plain arrays of 32-bit numbers, from nai_cells_new. */
static inline struct nai_column nai_column_of_i32(const int32_t *values) {
  return nai_column_of(NAI_I32, values, 4, 0);
}
static inline struct nai_column nai_column_of_u32(const uint32_t *values) {
  return nai_column_of(NAI_STR, values, 4, 0);
}

/* What is added to a column's cells. */
static inline int64_t nai_column_base(const struct nai_column *c) { return (int64_t)(c->offset + c->sign); }

/* What a column has to hold. Start with NAI_EMPTY_EXTENT. */
struct nai_extent {
  int64_t min, max; /* min > max: no values */
  bool null;
};
#define NAI_EMPTY_EXTENT ((struct nai_extent){INT64_MAX, INT64_MIN, false})
/* Adds values, NAI_NULL_I64 for NULL. */
void nai_extent_add(struct nai_extent *extent, const int64_t *values, size_t count);
void nai_extent_join(struct nai_extent *extent, const struct nai_extent *other);

/* The narrowest column that holds an extent, without cells. */
struct nai_column nai_column_for(enum nai_type type, const struct nai_extent *extent);
/* Writes values (NAI_NULL_I64 for NULL) that lie in the column's extent as its cells. Up to 8 bytes behind the last
 * cell are overwritten. */
void nai_pack(void *cells, const struct nai_column *as, const int64_t *values, size_t count);
/* values[i] = row first + i of a packed column or of one of 64-bit integers, NAI_NULL_I64 for NULL. */
void nai_unpack(int64_t *values, const struct nai_column *column, uint64_t first, size_t count);

/* Whether all values are NULL or in [low, high]. Costs nothing where a cell cannot hold others. */
bool nai_column_within(const struct nai_column *column, int64_t rows, int64_t low, int64_t high);
