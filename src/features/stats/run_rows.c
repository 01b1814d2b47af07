/* Rows of an export's tables, from what a run keeps of them (kept.c). NAI_ESTALE where it does not keep them just as
 * they were: then the export is read instead. */
#include "features/stats/kept.h"

#include "base/threads.h"
#include "rundir/run.h"

enum { FILTER_COLUMNS = 4, BLOCK = 4096 };

/* Tables may be asked for by several threads. */
static int open_table(const struct nai_table **out, const struct nai_stats_source *source, const char *name,
                      struct nai_err *err) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  NAI_LOCKED(&mutex);
  return nai_run_table(out, source->run, name, NULL, err);
}

/* --- what there is ------------------------------------------------------------------------------------------ */

static const struct nai_kept_table *find_kept(const char *name) {
  for (const struct nai_kept_table *t = nai_kept_tables; t->name; t++)
    if (strcmp(t->name, name) == 0)
      return t;
  return NULL;
}

/* Whether all rows are there as they were, and their names. */
static int check_rows(const struct nai_kept_load *load, const struct nai_table *readers, int64_t row,
                      struct nai_err *err) {
  const struct nai_table *notes;
  const struct nai_value cut = nai_cell(readers, row, "cut_names"), doubtful = nai_cell(readers, row, "doubtful_names");
  NAI_TRY(open_table(&notes, load->source, "extract_notes", err));
  for (int64_t i = 0; i < notes->rows; i++)
    if (strcmp(nai_cell_str(notes, i, "source_table"), load->from->name) == 0 &&
        strcmp(nai_cell_str(notes, i, "check"), "rows-missing") != 0)
      return nai_kept_lacks(err, "all rows", load->from->name);
  if (row >= 0 && (cut.null || doubtful.null || doubtful.i || (cut.i && !load->source->canonical)))
    return nai_kept_lacks(err, "whole names", load->from->name);
  return NAI_OK;
}

/* The row of `readers` of that table, -1 for none: the export had no such table. */
static int reader_of(int64_t *row, const struct nai_table **readers, struct nai_stats_source *source, const char *name,
                     struct nai_err *err) {
  NAI_TRY(open_table(readers, source, "readers", err));
  int column = nai_schema_column((*readers)->schema, "source_table");
  *row = column < 0 ? -1 : nai_find_str(*readers, column, name);
  return NAI_OK;
}

/* Whether the run tells if the export had a table whose name is, or begins, so. */
static bool is_told(const struct nai_run *run, const char *name, size_t len) {
  for (const struct nai_kept_table *t = nai_kept_tables; t->name; t++)
    if (strncmp(t->name, name, len) == 0)
      return nai_run_has(run, t->table);
  return false;
}

int nai_stats_run_tells(struct nai_run *run, const char *table, struct nai_err *err) {
  static const char *const changes[] = {"--trim", "--gpu"};
  const struct nai_strings *options = &nai_run_manifest(run)->options;
  size_t len = strcspn(table, "*");
  for (uint32_t i = 0; i < options->count; i++)
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++)
      if (strncmp(nai_strings_get(options, i), changes[c], strlen(changes[c])) == 0)
        return nai_err_set(err, NAI_ESTALE, "the run is of a part of the capture (%s)", changes[c]);
  return is_told(run, table, table[len] ? len : len + 1) ? NAI_OK : nai_kept_lacks(err, "rows", table);
}

const char *nai_stats_run_has(const struct nai_stats_source *source, const char *name, size_t len, int index) {
  const struct nai_table *readers;
  struct nai_err ignored;
  if (open_table(&readers, source, "readers", &ignored))
    return NULL;
  for (int64_t i = 0; i < readers->rows; i++) {
    const char *table = nai_cell_str(readers, i, "source_table");
    if (strncmp(table, name, len) == 0 && find_kept(table) && index-- == 0)
      return table;
  }
  return NULL;
}

/* --- rows of other tables ------------------------------------------------------------------------------------- */

/* Values of a column of a small table. */
static int read_small(int64_t **out, int64_t *count, struct nai_kept_load *load, const char *name, const char *column,
                      struct nai_err *err) {
  const struct nai_table *table;
  NAI_TRY(open_table(&table, load->source, name, err));
  int at = nai_schema_column(table->schema, column);
  if (at < 0)
    return nai_kept_lacks(err, column, name);
  NAI_TRY(NAI_NEW(*out, &load->source->arena, (size_t)table->rows, err));
  *count = table->rows;
  for (int64_t i = 0; i < table->rows; i++)
    (*out)[i] = nai_get_i64(table, i, at);
  return NAI_OK;
}

/* The same of ids, which are 0 where the export had none. */
static int read_ids(int64_t **out, int64_t *count, struct nai_kept_load *load, const char *name, const char *column,
                    struct nai_err *err) {
  if (*out)
    return NAI_OK;
  NAI_TRY(read_small(out, count, load, name, column, err));
  for (int64_t i = 0; i < *count; i++)
    (*out)[i] = (*out)[i] ? (*out)[i] : NAI_NULL_I64;
  return NAI_OK;
}

/* Processes may know a GPU by different numbers. */
static int read_devices(struct nai_kept_load *load, struct nai_err *err) {
  int64_t *gpus, *ordinals, *numbers, count, known, first;
  NAI_TRY(read_small(&numbers, &count, load, "gpus", "device_id", err));
  NAI_TRY(read_small(&load->devices, &load->device_count, load, "gpus", "cuda_device", err));
  NAI_TRY(read_small(&gpus, &known, load, "cuda_devices", "gpu_id", err));
  NAI_TRY(read_small(&ordinals, &known, load, "cuda_devices", "cuda_device", err));
  for (int64_t i = 0; i < count; i++)
    if (numbers[i] != i)
      return nai_kept_lacks(err, "numbers of GPUs", load->from->name);
  for (int64_t i = 0; i < known; i++) {
    for (first = 0; gpus[first] != gpus[i]; first++)
      ;
    if (ordinals[first] != ordinals[i])
      return nai_kept_lacks(err, "numbers of GPUs", load->from->name);
  }
  return NAI_OK;
}

static int read_other_tables(struct nai_kept_load *load, enum nai_kept_how how, struct nai_err *err) {
  int64_t *offset, one;
  switch (how) {
  case NAI_KEPT_MOMENT:
  case NAI_KEPT_CALL_END:
    NAI_TRY(read_small(&offset, &one, load, "capture", "time_offset_ns", err));
    load->offset = one == 1 ? *offset : 0;
    return NAI_OK;
  case NAI_KEPT_THREAD:
    return read_ids(&load->threads, &load->thread_count, load, "threads", "global_tid", err);
  case NAI_KEPT_PROCESS:
    return read_ids(&load->processes, &load->process_count, load, "processes", "process_key", err);
  case NAI_KEPT_DEVICE:
    return read_devices(load, err);
  case NAI_KEPT_DOMAIN:
    return read_small(&load->domains, &load->domain_count, load, "nvtx_domains", "domain_id", err);
  default:
    return NAI_OK;
  }
}

/* --- columns -------------------------------------------------------------------------------------------------- */

static int column_of(struct nai_column *out, const struct nai_table *table, const char *name, struct nai_err *err) {
  int at = nai_schema_column(table->schema, name);
  if (at < 0)
    return nai_kept_lacks(err, name, table->schema->name);
  *out = nai_table_column(table, at);
  return NAI_OK;
}

/* Column `name` of the export as the next one that is read; a name that is no column has no values. */
static int add_column(struct nai_kept_load *load, const char *name, int target, struct nai_err *err) {
  struct nai_kept_cells *column = &load->columns[load->column_count++];
  const struct nai_kept_column *kept = load->from->columns;
  *column = (struct nai_kept_cells){.target = target};
  while (kept->name && strcmp(kept->name, name) != 0)
    kept++;
  if (!kept->name && strcmp(name, "-") != 0)
    return nai_kept_lacks(err, name + (*name == '$'), load->from->name);
  if (!kept->name)
    return NAI_OK;
  column->kept = kept;
  NAI_TRY(read_other_tables(load, kept->how, err));
  if (kept->how != NAI_KEPT_CONFIG)
    NAI_TRY(column_of(&column->cells, load->table, kept->column, err));
  if (kept->how == NAI_KEPT_CALL)
    NAI_TRY(column_of(&column->other, load->table, "suffix", err));
  if (kept->how == NAI_KEPT_CALL_END)
    NAI_TRY(column_of(&column->other, load->table, "open", err));
  if (kept->how == NAI_KEPT_CONFIG) {
    const struct nai_table *configs;
    NAI_TRY(column_of(&column->cells, load->table, "config", err));
    NAI_TRY(open_table(&configs, load->source, "kernel_configs", err));
    NAI_TRY(column_of(&column->other, configs, kept->column, err));
    load->config_count = configs->rows;
  }
  return NAI_OK;
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static int open_load(struct nai_kept_load *load, const char *table, const char *const *names, struct nai_err *err) {
  const struct nai_table *readers;
  int64_t row;
  load->from = find_kept(table);
  if (!load->from)
    return nai_kept_lacks(err, "rows", table);
  NAI_TRY(reader_of(&row, &readers, load->source, table, err));
  NAI_TRY(check_rows(load, readers, row, err));
  NAI_TRY(open_table(&load->table, load->source, load->from->table, err));
  if (load->table->rows >= UINT32_MAX)
    return nai_kept_lacks(err, "rows that a report can hold", table);
  for (int c = 0; names[c]; c++)
    if (*names[c])
      NAI_TRY(add_column(load, names[c], c, err));
  return NAI_OK;
}

static bool passes(const struct nai_stats_filter *filter, int64_t *const by[FILTER_COLUMNS], int64_t row) {
  int64_t start = by[0] ? by[0][row] : NAI_STATS_NULL, end = by[1] ? by[1][row] : NAI_STATS_NULL;
  if (!filter->on || start == NAI_STATS_NULL)
    return true;
  return nai_stats_passes(filter, start, end == NAI_STATS_NULL ? start : end) &&
         (!by[2] || filter->thread == NAI_STATS_NULL || by[2][row] == filter->thread) &&
         (!by[3] || filter->process == NAI_STATS_NULL || by[3][row] >> NAI_STATS_PROCESS_SHIFT == filter->process);
}

/* Keeps the rows of the table's kind that the filter lets through. */
static int select_rows(struct nai_stats_events *out, struct nai_kept_load *load, struct nai_err *err) {
  static const char *const names[FILTER_COLUMNS] = {"start", "end", "globalTid", "globalPid"};
  int64_t *by[FILTER_COLUMNS] = {0};
  const int64_t rows = load->table->rows;
  struct nai_column kinds = {0};
  if (load->from->of)
    NAI_TRY(column_of(&kinds, load->table, load->from->of, err));
  for (int f = 0; f < FILTER_COLUMNS && load->source->filter.on; f++) {
    const struct nai_kept_column *kept = load->from->columns;
    while (kept->name && strcmp(kept->name, names[f]) != 0)
      kept++;
    if (!kept->name)
      continue;
    NAI_TRY(add_column(load, names[f], -1, err));
    NAI_TRY(NAI_NEW(by[f], &load->source->arena, (size_t)rows, err));
    NAI_TRY(nai_kept_fill(by[f], load, &load->columns[load->column_count - 1], 0, (size_t)rows, NULL, err));
  }
  for (int64_t i = 0; i < rows; i++) {
    if ((load->from->of && nai_at(&kinds, (uint64_t)i) != load->from->kind) || !passes(&load->source->filter, by, i))
      continue;
    for (int c = 0; c < NAI_STATS_MAX_COLUMNS; c++)
      if (out->at[c])
        out->at[c][out->count] = out->at[c][i];
    out->count++;
  }
  return NAI_OK;
}

int nai_stats_load_kept(struct nai_stats_events *out, struct nai_stats_source *source, const char *table,
                        const char *const *names, struct nai_err *err) {
  struct nai_kept_load load = {.source = source};
  const struct nai_table *readers;
  int64_t row;
  *out = (struct nai_stats_events){0};
  NAI_TRY(reader_of(&row, &readers, source, table, err));
  if (row < 0 && strncmp(table, "ENUM_", 5) != 0)
    return nai_stats_run_tells(source->run, table, err);
  NAI_TRY(open_load(&load, table, names, err));
  for (int c = 0; c < load.column_count; c++) {
    const struct nai_kept_cells *column = &load.columns[c];
    int64_t **values = &out->at[column->target];
    NAI_TRY(NAI_NEW(*values, &source->arena, (size_t)load.table->rows, err));
    NAI_TRY(nai_kept_fill(*values, &load, column, 0, (size_t)load.table->rows, NULL, err));
  }
  out->count = load.from->of || source->filter.on ? 0 : (uint32_t)load.table->rows;
  return out->count ? NAI_OK : select_rows(out, &load, err);
}

/* --- ranges, in blocks ------------------------------------------------------------------------------------------ */

static int find_target(const char *const *names, const char *name) {
  int target = 0;
  while (strcmp(names[target], name) != 0)
    target++;
  return target;
}

/* Domains are rows of their own in the export. */
static int give_domains(const struct nai_kept_load *load, struct nai_stats_events *block, struct nai_err *err) {
  enum { DOMAIN_CREATE = 75 };
  const struct nai_table *domains;
  int64_t *processes, count;
  struct nai_kept_load own = {.source = load->source, .from = load->from};
  NAI_TRY(open_table(&domains, load->source, "nvtx_domains", err));
  own.table = domains;
  NAI_TRY(read_small(&processes, &count, &own, "nvtx_domains", "process", err));
  NAI_TRY(read_other_tables(&own, NAI_KEPT_PROCESS, err));
  NAI_TRY(nai_kept_fill_rows(processes, (size_t)count, own.processes, own.process_count, false, load, err));
  int text = nai_schema_column(domains->schema, "name"), type = find_target(load->names, "eventType"),
      words = find_target(load->names, "$text"), thread = find_target(load->names, "globalTid"),
      domain = find_target(load->names, "domainId");
  for (int64_t i = 0; i < count; i++) {
    struct nai_value name = nai_table_value(domains, i, text);
    if (name.null)
      continue;
    for (int c = 0; load->names[c]; c++)
      block->at[c][0] = NAI_STATS_NULL;
    block->at[type][0] = DOMAIN_CREATE;
    block->at[thread][0] = processes[i];
    block->at[domain][0] = load->domains[i];
    block->at[words][0] = nai_strings_add(&load->texts[0], name.s, strlen(name.s));
    NAI_TRY(nai_memory_check(block->at[words][0] != NAI_NO_STRING, err));
    block->count = 1;
    NAI_TRY(load->block(load->ctx, block, 0, 0, err));
  }
  return NAI_OK;
}

static int give_part(void *ctx, int part, struct nai_err *err) {
  const struct nai_kept_load *load = ctx;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_stats_events block = {0};
  int64_t first = load->table->rows * part / load->parts, end = load->table->rows * (part + 1) / load->parts;
  for (int c = 0; load->names[c]; c++)
    NAI_TRY(NAI_NEW(block.at[c], &arena, BLOCK, err));
  if (part == 0)
    NAI_TRY(give_domains(load, &block, err));
  for (int64_t row = first; row < end; row += block.count) {
    block.count = (uint32_t)(end - row < BLOCK ? end - row : BLOCK);
    for (int c = 0; c < load->column_count; c++)
      NAI_TRY(nai_kept_fill(block.at[load->columns[c].target], load, &load->columns[c], row, block.count,
                            &load->texts[part], err));
    NAI_TRY(load->block(load->ctx, &block, part, (uint32_t)first, err));
  }
  return NAI_OK;
}

int nai_stats_load_kept_blocks(struct nai_stats_source *source, const char *table, const char *const *names,
                               nai_stats_block_fn *block, void *ctx, struct nai_strings *texts, int parts,
                               struct nai_err *err) {
  struct nai_kept_load load = {
      .source = source, .names = names, .block = block, .ctx = ctx, .texts = texts, .parts = parts};
  const struct nai_table *readers;
  int64_t row;
  NAI_TRY(reader_of(&row, &readers, source, table, err));
  if (row < 0)
    return nai_stats_run_tells(source->run, table, err);
  NAI_TRY(open_load(&load, table, names, err));
  NAI_TRY(block(ctx, NULL, 0, (uint32_t)load.table->rows, err));
  return nai_parallel(parts, parts, give_part, &load, err);
}
