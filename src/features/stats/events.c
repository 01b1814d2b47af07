/* Columns of an export's tables, as arrays. */
#include "features/stats/kept.h"

#include "base/threads.h"
#include "trace/trace/trace.h"

#include <strings.h>

static const struct nai_db_table *find(const struct nai_stats_source *source, const char *name) {
  return nai_trace_table(source->trace, name);
}

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
  for (int t = 0; t < 4 && report->tables[t]; t++) {
    any |= nai_stats_table(source, report->tables[t], 0) != NULL;
    if (source->run)
      NAI_TRY(nai_stats_run_tells(source->run, report->tables[t], err));
  }
  if (report->second && source->run)
    NAI_TRY(nai_stats_run_tells(source->run, report->second, err));
  *has = any && (!report->second || nai_stats_table(source, report->second, 0));
  return NAI_OK;
}

/* --- columns ------------------------------------------------------------------------------------------ */

enum { FILTER_START, FILTER_END, FILTER_THREAD, FILTER_PROCESS, FILTER_COLUMNS };

enum { BLOCK = 4096 };
struct load {
  struct nai_stats_events *out;
  nai_stats_block_fn *block; /* takes the rows, BLOCK at a time; NULL: `out` has room for all */
  void *ctx;
  struct nai_strings *texts; /* per part, where blocks are taken */
  struct nai_stats_source *source;
  struct nai_scan scan;
  uint32_t rows; /* of the table, at most */
  int columns[NAI_STATS_MAX_COLUMNS + FILTER_COLUMNS],
      targets[NAI_STATS_MAX_COLUMNS]; /* by cell: of the table, of `out` */
  int column_count;                   /* of `out`; behind them those of the filter */
  int filter[FILTER_COLUMNS];         /* cells; NAI_NO_CELL: there is none */
  bool text[NAI_STATS_MAX_COLUMNS];
  int rowid;            /* the column of `out` for it, -1: none */
  int64_t *first, *end; /* of each part: where its rows lie */
};

struct part {
  struct load *load;
  int number;
  struct nai_stats_events *out; /* the load's, or a block */
  int64_t row, limit, given;    /* given: rows of blocks before this one */
};

static bool is_other(const struct nai_cell *cell, int64_t wanted, int shift) {
  return wanted != NAI_STATS_NULL && cell->type == NAI_CELL_INT && cell->i >> shift != wanted;
}

static bool passes(const struct load *load, const struct nai_cell *cells) {
  const struct nai_stats_filter *filter = &load->source->filter;
  const struct nai_cell *start = &cells[load->filter[FILTER_START]], *end = &cells[load->filter[FILTER_END]];
  if (!filter->on || start->type != NAI_CELL_INT)
    return true;
  return nai_stats_passes(filter, start->i, end->type == NAI_CELL_INT ? end->i : start->i) &&
         !is_other(&cells[load->filter[FILTER_THREAD]], filter->thread, 0) &&
         !is_other(&cells[load->filter[FILTER_PROCESS]], filter->process, NAI_STATS_PROCESS_SHIFT);
}

static int give_block(struct part *part, struct nai_err *err) {
  struct load *load = part->load;
  part->out->count = (uint32_t)part->row;
  part->given += part->row;
  part->row = 0;
  return load->block(load->ctx, part->out, part->number, (uint32_t)load->first[part->number], err);
}

static int read_text(int64_t *value, const struct part *part, const struct nai_cell *cell, struct nai_err *err) {
  struct load *load = part->load;
  if (!load->block)
    return nai_stats_add_text(value, load->source, cell->data, cell->len, err);
  *value = nai_strings_add(&load->texts[part->number], cell->data, cell->len);
  return nai_memory_check(*value != NAI_NO_STRING, err);
}

static int on_row(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  struct part *part = ctx;
  struct load *load = part->load;
  if (part->given + part->row >= part->limit)
    return nai_err_set(err, NAI_EINPUT, "table \"%s\" has more rows than its pages say", load->scan.table);
  if (!passes(load, cells))
    return NAI_OK;
  if (load->block && part->row == BLOCK)
    NAI_TRY(give_block(part, err));
  for (int c = 0; c < load->column_count; c++) {
    const struct nai_cell *cell = &cells[c];
    int64_t value = cell->type == NAI_CELL_INT && !load->text[c] ? cell->i : NAI_STATS_NULL;
    if (load->text[c] && nai_cell_is_text(cell))
      NAI_TRY(read_text(&value, part, cell, err));
    part->out->at[load->targets[c]][part->row] = value;
  }
  if (load->rowid >= 0)
    part->out->at[load->rowid][part->row] = rowid;
  part->row++;
  return NAI_OK;
}

static int read_all(struct part *part, struct nai_err *err) {
  struct load *load = part->load;
  part->row = load->first[part->number];
  part->limit = part->row + load->scan.part_rows[part->number];
  NAI_TRY(nai_scan_run(&load->scan, part->number, on_row, part, err));
  load->end[part->number] = part->row;
  return NAI_OK;
}

static int read_blocks(struct part *part, struct nai_arena *arena, struct nai_err *err) {
  const struct load *load = part->load;
  part->limit = load->scan.part_rows[part->number];
  for (int c = 0; c < NAI_STATS_MAX_COLUMNS; c++) {
    if (!load->out->at[c])
      continue;
    NAI_TRY(NAI_NEW(part->out->at[c], arena, BLOCK, err));
    memcpy(part->out->at[c], load->out->at[c], BLOCK * sizeof(int64_t));
  }
  NAI_TRY(nai_scan_run(&part->load->scan, part->number, on_row, part, err));
  return give_block(part, err);
}

static int read_part(void *ctx, int number, struct nai_err *err) {
  struct load *load = ctx;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_stats_events block = {0};
  struct part part = {.load = load, .number = number, .out = load->block ? &block : load->out};
  return load->block ? read_blocks(&part, &arena, err) : read_all(&part, err);
}

/* Closes the gaps that parts with fewer rows than expected left. */
static void close_gaps(struct load *load, int columns) {
  int64_t row = 0;
  for (int p = 0; p < load->scan.parts; p++) {
    int64_t rows = load->end[p] - load->first[p];
    for (int c = 0; c < columns && row != load->first[p]; c++)
      if (load->out->at[c])
        memmove(load->out->at[c] + row, load->out->at[c] + load->first[p], (size_t)rows * sizeof(int64_t));
    row += rows;
  }
  load->out->count = (uint32_t)row;
}

static int make_room(struct load *load, const char *const *names, int columns, struct nai_err *err) {
  struct nai_arena *arena = &load->source->arena;
  int64_t rows = 0;
  bool filled[NAI_STATS_MAX_COLUMNS] = {0};
  NAI_TRY(NAI_NEW(load->first, arena, (size_t)load->scan.parts, err));
  NAI_TRY(NAI_NEW(load->end, arena, (size_t)load->scan.parts, err));
  for (int p = 0; p < load->scan.parts; p++) {
    load->first[p] = rows;
    rows += load->scan.part_rows[p];
  }
  if (rows >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "table \"%s\" has more rows than a report can hold", load->scan.table);
  load->rows = (uint32_t)rows;
  rows = load->block ? BLOCK : rows; /* of which each part has a copy */
  for (int c = 0; c < load->column_count; c++)
    filled[load->targets[c]] = true;
  for (int c = 0; c < columns; c++) {
    if (!*names[c])
      continue;
    NAI_TRY(NAI_NEW(load->out->at[c], arena, (size_t)rows, err));
    for (int64_t r = 0; r < rows && !filled[c]; r++)
      load->out->at[c][r] = NAI_STATS_NULL;
  }
  return NAI_OK;
}

static int read_columns(struct load *load, const char *const *names, int columns, int threads, struct nai_err *err) {
  NAI_TRY(make_room(load, names, columns, err));
  if (load->block)
    NAI_TRY(load->block(load->ctx, NULL, 0, load->rows, err));
  NAI_TRY(nai_parallel(threads, load->scan.parts, read_part, load, err));
  if (!load->block)
    close_gaps(load, columns);
  return NAI_OK;
}

/* What the filter looks at, behind the columns that are read. Ranges are filtered when their ends are known. */
static void add_filter(struct load *load, const struct nai_db_table *table) {
  static const char *const names[] = {"start", "end", "globalTid", "globalPid"};
  bool wanted = load->source->filter.on && strcasecmp(table->name, "NVTX_EVENTS") != 0;
  load->column_count = load->scan.column_count;
  for (int f = 0; f < FILTER_COLUMNS; f++) {
    int column = wanted ? nai_db_column(table, names[f]) : -1;
    load->filter[f] = column < 0 ? NAI_NO_CELL : load->scan.column_count;
    if (column >= 0)
      load->columns[load->scan.column_count++] = column;
  }
}

static int load_table(struct load *load, const char *table, const char *const *names, int threads,
                      struct nai_err *err) {
  const struct nai_db_table *found = find(load->source, table);
  int columns = 0;
  *load->out = (struct nai_stats_events){0};
  load->scan.columns = load->columns;
  load->rowid = -1;
  for (; found && names[columns]; columns++) {
    bool text = names[columns][0] == '$';
    if (names[columns][0] == '#')
      load->rowid = columns;
    int column = nai_db_column(found, names[columns] + text);
    if (column < 0)
      continue;
    load->columns[load->scan.column_count] = column;
    load->targets[load->scan.column_count] = columns;
    load->text[load->scan.column_count++] = text;
    if (text && !load->block)
      threads = 1; /* they are numbered in the order of the file */
  }
  if (load->scan.column_count == 0)
    return NAI_OK;
  load->scan.table = found->name;
  add_filter(load, found);
  NAI_TRY(nai_scan_open(&load->scan, load->source->trace, threads, err));
  int rc = read_columns(load, names, columns, threads, err);
  nai_scan_close(&load->scan);
  return rc;
}

int nai_stats_load(struct nai_stats_events *out, struct nai_stats_source *source, const char *table,
                   const char *const *names, struct nai_err *err) {
  struct load load = {.out = out, .source = source};
  if (source->run)
    return nai_stats_load_kept(out, source, table, names, err);
  return load_table(&load, table, names, nai_cpu_count(), err);
}

/* Numbers of the source for those of a part, in the order of the file. */
static int number_texts(int64_t **out, struct nai_stats_source *source, const struct nai_strings *texts,
                        struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, &source->arena, texts->count, err));
  for (uint32_t i = 0; i < texts->count; i++)
    NAI_TRY(nai_stats_add_text(&(*out)[i], source, nai_strings_get(texts, i), nai_strings_len(texts, i), err));
  return NAI_OK;
}

int nai_stats_load_blocks(struct nai_stats_source *source, const char *table, const char *const *names,
                          nai_stats_block_fn *block, void *ctx, int64_t **texts, int parts, struct nai_err *err) {
  struct nai_stats_events room;
  struct load load = {.out = &room, .source = source, .block = block, .ctx = ctx};
  NAI_TRY(NAI_NEW(load.texts, &source->arena, (size_t)parts, err));
  int rc = source->run ? nai_stats_load_kept_blocks(source, table, names, block, ctx, load.texts, parts, err)
                       : load_table(&load, table, names, parts, err);
  for (int p = 0; p < parts; p++) {
    rc = rc ? rc : number_texts(&texts[p], source, &load.texts[p], err);
    nai_strings_free(&load.texts[p]);
  }
  return rc;
}
