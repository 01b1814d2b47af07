/* One column of the row group being gathered, and how it becomes pages. Internal to src/features/export. */
#pragma once

#include "base/strings.h"
#include "features/export/parquet.h"

/* Parquet's numbers for physical types, by what is held. */
enum nai_parquet_type { NAI_PARQUET_INT64 = 2, NAI_PARQUET_DOUBLE = 5, NAI_PARQUET_TEXT = 6, NAI_PARQUET_UNKNOWN = -1 };

enum { NAI_PARQUET_BOUND_MAX = 64 }; /* bytes of a least or greatest text that statistics tell */

/* A column of a row group as it lies in the file, for the footer. */
struct nai_parquet_chunk {
  uint64_t dictionary_at, data_at; /* dictionary_at: 0 for none */
  uint64_t raw_bytes, stored_bytes;
  int64_t rows, nulls;
  bool bounded; /* min and max are known */
  char min[NAI_PARQUET_BOUND_MAX], max[NAI_PARQUET_BOUND_MAX];
  uint8_t min_len, max_len;
};

struct nai_parquet_held {
  const char *name, *description; /* borrowed */
  enum nai_unit unit;
  enum nai_parquet_type type, otherwise; /* otherwise: while it is unknown */
  bool written;                          /* with values, so that the type is fixed */
  unsigned char *present;                /* per row: not NULL */
  int64_t *values;                       /* of those: integers, bits of real numbers, ids of texts */
  uint32_t rows, count;                  /* rows held, values */
  uint32_t row_capacity, value_capacity;
  struct nai_strings texts;
};

/* Adds a cell of row `row_number` of the file. As long as nothing is written, the type widens to hold it; NAI_EUSAGE
 * afterwards. */
NAI_MUST_CHECK int nai_parquet_column_add(struct nai_parquet_held *column, const struct nai_value *cell,
                                          int64_t row_number, struct nai_err *err);
/* Appends the pages of what is held, which is forgotten. */
NAI_MUST_CHECK int nai_parquet_column_write(struct nai_parquet_chunk *chunk, struct nai_buf *out,
                                            struct nai_parquet_held *column, bool gzip, struct nai_err *err);
/* Bytes held. */
size_t nai_parquet_column_bytes(const struct nai_parquet_held *column);
/* Forgets the cells, not what the column is. */
void nai_parquet_column_free(struct nai_parquet_held *column);

/* Numbers below 2^bits in Parquet's hybrid of runs and packed bits. */
void nai_parquet_put_ids(struct nai_buf *out, const int64_t *ids, int64_t count, int bits);
