/* A part's rows while the other parts are read: packed as they come, since a trace's rows as arrays of 64-bit numbers
 * would be as large as the trace. */
#include "trace/extraction.h"

int nai_part_open(struct nai_part *p, struct nai_err *err) {
  uint32_t columns = nai_event_tables[p->source->table]->column_count;
  p->open_cells = malloc((size_t)columns * NAI_OPEN_STRIDE * sizeof *p->open_cells); /* a megabyte not to be zeroed */
  NAI_TRY(nai_memory_check(p->open_cells, err));
  for (uint32_t c = 0; c < columns; c++)
    p->extent[c] = NAI_EMPTY_EXTENT;
  p->row = p->open_cells;
  nai_sink_spool(&p->spool, p->options->directory);
  p->names.directory = p->raw.directory = p->options->directory;
  p->err = err;
  return NAI_OK;
}

/* What open cells hold. Many columns are the same in every row, which is seen soonest by comparing bytes. */
static struct nai_extent extent_of(const int64_t *cells, uint32_t count) {
  struct nai_extent extent = NAI_EMPTY_EXTENT;
  bool constant = memcmp(cells, cells + 1, (count - 1) * sizeof *cells) == 0;
  nai_extent_add(&extent, cells, constant ? 1 : count);
  return extent;
}

int nai_part_pack(struct nai_part *p, struct nai_err *err) {
  const struct nai_schema *schema = nai_event_tables[p->source->table];
  bool has_devices = nai_source_column(p->source, NAI_DEVICES) >= 0;
  NAI_TRY(nai_memory_check(!p->oom && !p->threads.oom && !p->devices.oom, err));
  if (!p->open_rows)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(p->chunks, p->chunk_capacity, p->chunk_count, &p->rows_arena, err));
  struct nai_chunk *chunk = &p->chunks[p->chunk_count++];
  unsigned char cells[NAI_OPEN_ROWS * 8 + 8];
  *chunk = (struct nai_chunk){.rows = p->open_rows};
  p->row = p->open_cells;
  p->open_rows = 0;
  for (int c = 0; c < (int)schema->column_count; c++) {
    if (has_devices && nai_dictionary_of(p->source, c) == NAI_PROCESSES) /* follows from the device: write.c */
      continue;
    struct nai_extent extent = extent_of(nai_part_cell(p, c), chunk->rows);
    nai_extent_join(&p->extent[c], &extent);
    chunk->columns[c] = nai_column_for(schema->columns[c].type, &extent);
    chunk->at[c] = nai_buf_position(&p->spool.text);
    nai_pack(cells, &chunk->columns[c], nai_part_cell(p, c), chunk->rows);
    nai_buf_put(&p->spool.text, cells, (size_t)chunk->rows * chunk->columns[c].width);
  }
  return nai_buf_check(&p->spool.text, err);
}

int nai_part_settle(struct nai_part *p, struct nai_err *err) {
  struct nai_map all;
  NAI_TRY(nai_part_pack(p, err));
  nai_buf_put(&p->spool.text, &(uint64_t){0}, sizeof(uint64_t)); /* cells are read by words */
  NAI_TRY(nai_sink_read(&all, &p->spool, err));
  for (uint32_t i = 0; i < p->chunk_count; i++)
    for (int c = 0; c < NAI_MAX_EVENT_COLUMNS; c++)
      if (p->chunks[i].columns[c].width)
        p->chunks[i].columns[c].cells = all.data + p->chunks[i].at[c];
  return NAI_OK;
}

void nai_part_close(struct nai_part *p) {
  nai_lookup_close(p->lookup);
  p->lookup = NULL;
  nai_strings_free(&p->raw);
  nai_keyset_free(&p->name_ids);
  nai_arena_free(&p->reading);
  free(p->open_cells);
  p->open_cells = NULL;
}

void nai_part_free_rows(struct nai_part *p) {
  nai_file_sink_free(&p->spool);
  nai_arena_free(&p->rows_arena);
  p->chunks = NULL;
  p->chunk_count = p->chunk_capacity = 0;
}

void nai_part_free(struct nai_part *p) {
  nai_part_close(p);
  nai_part_free_rows(p);
  nai_arena_free(&p->arena);
  nai_strings_free(&p->names);
  nai_strings_free(&p->records);
  nai_strings_free(&p->record_names);
  nai_strings_free(&p->sizes);
  nai_keyset_free(&p->threads);
  nai_keyset_free(&p->devices);
}
