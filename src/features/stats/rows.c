/* Columns of an export's tables, as arrays or in blocks. */
#include "features/stats/source.h"

#include "base/text.h"
#include "base/threads.h"
#include "trace/trace/trace.h"

#include <strings.h>

const char *nai_stats_table(const struct nai_stats_source *source, const char *name, int index) {
  size_t len = strlen(name), begin = name[len - 1] == '*' ? len - 1 : len + 1;
  if (source->run)
    return nai_stats_run_has(source, name, begin, index);
  for (int t = 0; t < source->trace->table_count; t++)
    if (strncasecmp(source->trace->tables[t].name, name, begin) == 0 && index-- == 0)
      return source->trace->tables[t].name;
  return NULL;
}

int nai_stats_has_tables(bool *has, struct nai_stats_source *source, const struct nai_stats_report *report,
                         struct nai_err *err) {
  bool any = false;
  for (const char *const *table = report->tables; *table; table++) {
    any |= nai_stats_table(source, *table, 0) != NULL;
    if (source->run)
      NAI_TRY(nai_stats_run_tells(source->run, *table, err));
  }
  if (any && report->second && source->run)
    NAI_TRY(nai_stats_run_tells(source->run, report->second, err));
  *has = any && (!report->second || nai_stats_table(source, report->second, 0));
  return NAI_OK;
}

/* --- tables ---------------------------------------------------------------------------------------------------- */

static const struct nai_load_reader *reader_of(const struct nai_load *load) {
  return load->source->run ? &nai_run_reader : &nai_export_reader;
}

static bool is_wanted(const struct nai_load *load, int column, int columns) {
  return column < NAI_STATS_MAX_COLUMNS ? column < columns && *load->names[column] : load->has[column];
}

static int columns_of(const struct nai_load *load) {
  int columns = 0;
  while (load->names[columns])
    columns++;
  return columns;
}

static bool are_clean(const struct nai_strings *texts) {
  for (uint32_t i = 0; i < texts->count; i++)
    if (!nai_text_is_clean(nai_strings_get(texts, i), nai_strings_len(texts, i)))
      return false;
  return true;
}

static int read_part(void *ctx, int number, struct nai_err *err) {
  struct nai_load *load = ctx;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_load_part part = {.load = load, .arena = &arena, .number = number, .text = &text};
  const int columns = columns_of(load);
  for (int c = 0; c < NAI_LOAD_COLUMNS; c++) {
    if (!is_wanted(load, c, columns))
      continue;
    if (c < NAI_STATS_MAX_COLUMNS && !load->block) {
      part.to[c] = load->out->at[c] + load->first[number];
      continue;
    }
    NAI_TRY(NAI_NEW(part.to[c], &arena, NAI_LOAD_BLOCK, err));
    if (!load->has[c])
      nai_load_clear(part.to[c], NAI_LOAD_BLOCK);
  }
  NAI_TRY(reader_of(load)->read(&part, err));
  load->clean[number] = are_clean(&load->texts[number]);
  return nai_load_flush(&part, err);
}

/* Closes the gaps that parts with fewer rows than expected left. */
static void close_gaps(struct nai_load *load) {
  int64_t row = 0;
  for (int p = 0; p < load->parts; p++) {
    int64_t rows = load->end[p] - load->first[p];
    for (int c = 0; c < NAI_STATS_MAX_COLUMNS && row != load->first[p]; c++)
      if (load->out->at[c])
        memmove(load->out->at[c] + row, load->out->at[c] + load->first[p], (size_t)rows * sizeof(int64_t));
    row += rows;
  }
  load->out->count = (uint32_t)row;
}

/* Numbers of the source for those of a part: parts one after the other, as in the file. */
static int number_texts(uint32_t **out, const struct nai_load *load, int part, struct nai_err *err) {
  struct nai_stats_source *source = load->source;
  struct nai_strings *texts = &load->texts[part];
  int64_t text;
  NAI_TRY(NAI_NEW_UNSET(*out, &source->arena, texts->count, err));
  if (load->clean[part] && !source->unclean)
    return nai_strings_take(*out, &source->texts, texts, err);
  for (uint32_t i = 0; i < texts->count; i++) {
    NAI_TRY(nai_stats_add_text(&text, source, nai_strings_get(texts, i), nai_strings_len(texts, i), err));
    (*out)[i] = (uint32_t)text;
  }
  return NAI_OK;
}

struct renumbering {
  const struct nai_load *load;
  uint32_t **texts; /* of each part */
};

static int renumber_part(void *ctx, int number, struct nai_err *err) {
  const struct renumbering *r = ctx;
  (void)err;
  for (int c = 0; c < NAI_STATS_MAX_COLUMNS; c++) {
    int64_t *cells = r->load->is_text[c] ? r->load->out->at[c] : NULL;
    for (int64_t i = r->load->first[number]; i < r->load->end[number] && cells; i++)
      if (cells[i] != NAI_STATS_NULL)
        cells[i] = r->texts[number][cells[i]];
  }
  return NAI_OK;
}

static int renumber(const struct nai_load *load, struct nai_err *err) {
  struct renumbering r = {.load = load};
  NAI_TRY(NAI_NEW(r.texts, &load->source->arena, (size_t)load->parts, err));
  for (int p = 0; p < load->parts; p++)
    NAI_TRY(number_texts(&r.texts[p], load, p, err));
  return nai_parallel(load->parts, load->parts, renumber_part, &r, err);
}

static int read_parts(struct nai_load *load, struct nai_err *err) {
  struct nai_arena *arena = &load->source->arena;
  const int columns = columns_of(load);
  int64_t rows = 0, *cells = NULL;
  NAI_TRY(NAI_NEW(load->first, arena, (size_t)load->parts, err));
  NAI_TRY(NAI_NEW(load->end, arena, (size_t)load->parts, err));
  for (int p = 0; p < load->parts; p++) {
    load->first[p] = load->end[p] = rows;
    rows += load->part_rows[p];
  }
  if (rows >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "table \"%s\" has more rows than a report can hold", load->table);
  if (!load->block)
    NAI_TRY(NAI_NEW(cells, arena, (size_t)rows * (size_t)columns, err)); /* one block: large pages */
  for (int c = 0; c < columns && !load->block; c++) {
    if (!is_wanted(load, c, columns))
      continue;
    load->out->at[c] = cells;
    cells += rows;
    if (!load->has[c])
      nai_load_clear(load->out->at[c], rows);
  }
  if (load->block)
    NAI_TRY(load->block(load->ctx, NULL, 0, (uint32_t)rows, err));
  NAI_TRY(nai_parallel(load->parts, load->parts, read_part, load, err));
  if (load->block)
    return NAI_OK;
  NAI_TRY(renumber(load, err));
  close_gaps(load);
  return NAI_OK;
}

static int load_table(struct nai_load *load, struct nai_err *err) {
  const struct nai_load_reader *reader = reader_of(load);
  load->filtered = load->source->filter.on && strcasecmp(load->table, "NVTX_EVENTS") != 0; /* when ends are known */
  int rc = reader->open(load, err);
  if (!rc && load->parts)
    rc = read_parts(load, err);
  if (reader->close)
    reader->close(load);
  return rc;
}

int nai_stats_load(struct nai_stats_events *out, struct nai_stats_source *source, const char *table,
                   const char *const *names, struct nai_err *err) {
  const int parts = nai_cpu_count();
  struct nai_load load = {.source = source, .table = table, .names = names, .out = out, .parts = parts};
  *out = (struct nai_stats_events){0};
  NAI_TRY(NAI_NEW(load.texts, &source->arena, (size_t)parts, err));
  NAI_TRY(NAI_NEW(load.clean, &source->arena, (size_t)parts, err));
  const int rc = load_table(&load, err);
  for (int p = 0; p < parts; p++)
    nai_strings_free(&load.texts[p]);
  return rc;
}

int nai_stats_load_blocks(struct nai_stats_source *source, const char *table, const char *const *names,
                          nai_stats_block_fn *block, void *ctx, uint32_t **texts, int parts, struct nai_err *err) {
  struct nai_load load = {.source = source, .table = table, .names = names, .block = block, .ctx = ctx, .parts = parts};
  NAI_TRY(NAI_NEW(load.texts, &source->arena, (size_t)parts, err));
  NAI_TRY(NAI_NEW(load.clean, &source->arena, (size_t)parts, err));
  int rc = load_table(&load, err);
  for (int p = 0; p < parts; p++) {
    rc = rc ? rc : number_texts(&texts[p], &load, p, err);
    nai_strings_free(&load.texts[p]);
  }
  return rc;
}
