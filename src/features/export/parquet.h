/* Apache Parquet, for pandas, polars and DuckDB. Rows are written in groups: memory holds one group, and of those
 * before it where they lie. Integers are INT64, real numbers DOUBLE, texts BYTE_ARRAY (UTF8) by dictionary; every
 * column may hold NULL. The same rows give the same bytes. */
#pragma once

#include "table/schema.h"

struct nai_parquet;

struct nai_parquet_column {
  const char *name, *description; /* description: "" for none */
  enum nai_unit unit;             /* NAI_UNIT_COUNT: unknown; of us, ms and s cells are ns, and become real numbers */
  enum nai_type type;             /* of the cells; with an unknown unit only of a column without any */
};

struct nai_parquet_options {
  bool gzip;              /* compress pages */
  const char *about;      /* what the rows are, for the file's metadata; or NULL */
  int64_t rows_per_group; /* 0: 1,048,576 */
};

/* Begins a file in `into`. Columns are copied. NAI_EUSAGE: two have one name. */
NAI_MUST_CHECK int nai_parquet_open(struct nai_parquet **out, struct nai_buf *into,
                                    const struct nai_parquet_column *columns, uint32_t count,
                                    const struct nai_parquet_options *options, struct nai_err *err);
/* A row. Types may be mixed within a column as long as it has not been written (first group): integers with real
 * numbers become real, anything with texts becomes text. NAI_EUSAGE afterwards, naming column and row. */
NAI_MUST_CHECK int nai_parquet_put(struct nai_parquet *parquet, const struct nai_value *cells, struct nai_err *err);
/* The last group and the footer. */
NAI_MUST_CHECK int nai_parquet_finish(struct nai_parquet *parquet, struct nai_err *err);
void nai_parquet_free(struct nai_parquet *parquet);
NAI_OWNER(nai_parquet)
