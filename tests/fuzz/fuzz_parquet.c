/* Any bytes as a Parquet file: no crash, no endless loop, and every cell lies in memory that may be read. */
#include "trace/parquet/parquet.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned seen;

static void look_at(const struct nai_cell *cell) {
  for (uint32_t i = 0; nai_cell_is_text(cell) && i < cell->len; i++)
    seen += (unsigned char)cell->data[i];
}

static void read_chunk(const struct nai_pq_file *file, const struct nai_pq_chunk *chunk, uint64_t rows) {
  struct nai_pq_cells cells;
  struct nai_cell cell;
  struct nai_err err;
  /* where no file can be made zstd is not run */
  int rc = nai_pq_cells_open(&cells, file, chunk, "/nowhere/pages", &err);
  for (uint64_t i = 0; i < rows && !rc; i++) {
    rc = nai_pq_cells_next(&cell, &cells, &err);
    if (!rc)
      look_at(&cell);
  }
  nai_pq_cells_free(&cells);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { MOST_ROWS = 2000, MOST_CHUNKS = 200 };
  struct nai_pq_file file;
  struct nai_err err;
  int fd = memfd_create("parquet", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size)
    abort();
  if (nai_pq_open(&file, fd, &err) == NAI_OK)
    for (uint32_t i = 0; i < file.chunk_count && i < MOST_CHUNKS; i++) {
      uint64_t rows = file.group_rows[i / file.column_count];
      read_chunk(&file, &file.chunks[i], rows < MOST_ROWS ? rows : MOST_ROWS);
    }
  nai_pq_file_free(&file);
  close(fd);
  return 0;
}
