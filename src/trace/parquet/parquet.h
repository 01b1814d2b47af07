/* A Parquet file: flat columns of whole numbers, reals and bytes, read one cell after the other. Field numbers and
 * formats: parquet.thrift, Encodings.md and Compression.md of apache/parquet-format. What is read and what is refused:
 * docs/readers.md. Internal to src/trace/parquet. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "trace/reader.h"

enum nai_pq_type {
  NAI_PQ_BOOLEAN,
  NAI_PQ_INT32,
  NAI_PQ_INT64,
  NAI_PQ_INT96,
  NAI_PQ_FLOAT,
  NAI_PQ_DOUBLE,
  NAI_PQ_BYTES
};

struct nai_pq_column {
  const char *name;
  enum nai_pq_type type;
  bool optional, is_text, is_unsigned;
};

/* Of one column in one row group. */
struct nai_pq_chunk {
  uint64_t at, bytes; /* in the file */
  int codec;
  uint32_t column;
};

struct nai_pq_file {
  struct nai_arena arena;
  int fd;
  uint64_t size_bytes, rows;
  struct nai_pq_column *columns;
  uint32_t column_count, column_capacity;
  struct nai_pq_chunk *chunks; /* of each group, those of all columns in their order */
  uint32_t chunk_count, chunk_capacity;
  uint64_t *group_rows;
  uint32_t group_count, group_capacity;
  const char *wrong; /* while the footer is read: what in it is refused */
};

/* Reads the footer of an open file. NAI_EINPUT with what is wrong, the column named. */
NAI_MUST_CHECK int nai_pq_open(struct nai_pq_file *out, int fd, struct nai_err *err);
void nai_pq_file_free(struct nai_pq_file *file);

/* Numbers of `width` bits: runs of equal ones and packed ones. */
struct nai_pq_runs {
  const unsigned char *at, *end;
  int width;
  uint64_t left, value, bit; /* bit: where the next packed one begins, from `at` */
  bool packed, bad;
};
uint64_t nai_pq_runs_next(struct nai_pq_runs *runs);
/* `width` bits from bit `bit` on, which the caller knows to be there. */
uint64_t nai_pq_bits(const unsigned char *at, uint64_t bit, int width);

/* The cells of one chunk, in order. */
struct nai_pq_page {
  int kind, encoding;
  bool compressed;
  uint64_t at, stored, raw, values; /* `at`: of its body, in the chunk, then in the decompressed pages */
  uint64_t level_bytes;             /* v2: of the levels in front, which are never compressed */
};
struct nai_pq_cells {
  const struct nai_pq_file *file;
  const struct nai_pq_column *column;
  struct nai_arena arena; /* of pages and the dictionary */
  struct nai_buf stored, raw;
  struct nai_pq_page *pages;
  uint32_t page_count, page_capacity, next_page;
  struct nai_cell *dictionary;
  uint64_t dictionary_count;
  /* the page in hand */
  uint64_t left; /* cells */
  int encoding;
  struct nai_pq_runs levels, numbers;
  const unsigned char *at, *end;
  int64_t *deltas, *prefixes; /* whole numbers or lengths; how much of the text before each begins with */
  uint64_t delta_count, next_delta;
  struct nai_buf text;
  struct nai_arena page_arena;
};
/* `spare`: a path where a file may be made, for the program zstd. */
NAI_MUST_CHECK int nai_pq_cells_open(struct nai_pq_cells *out, const struct nai_pq_file *file,
                                     const struct nai_pq_chunk *chunk, const char *spare, struct nai_err *err);
NAI_MUST_CHECK int nai_pq_cells_next(struct nai_cell *cell, struct nai_pq_cells *cells, struct nai_err *err);
/* Behind the last row: NAI_EINPUT when there are more. */
NAI_MUST_CHECK int nai_pq_cells_end(struct nai_pq_cells *cells, struct nai_err *err);
void nai_pq_cells_free(struct nai_pq_cells *cells);

/* codec.c: puts what the pages of a chunk hold behind each other into `out`; their `at` becomes that in `out`. */
NAI_MUST_CHECK int nai_pq_decompress(struct nai_buf *out, struct nai_pq_page *pages, uint32_t count,
                                     const struct nai_buf *stored, int codec, const char *spare, struct nai_err *err);
/* numbers.c: DELTA_BINARY_PACKED, in front of `*at`, which is moved behind it. At most `most` numbers. */
NAI_MUST_CHECK int nai_pq_deltas(int64_t **out, uint64_t *count, const unsigned char **at, const unsigned char *end,
                                 uint64_t most, struct nai_arena *arena, struct nai_err *err);
