/* Rows of an export's table, from what a run keeps of it (kept.c). NAI_ESTALE where it does not keep them just as they
 * were: then the export is read instead. */
#include "features/stats/kept.h"
#include "features/stats/source.h"

#include "base/threads.h"
#include "rundir/run.h"

enum { MAX_TEXT = 8192 }; /* longer ones are cut */

enum { SEQ, OP_ID, SIZES, NUMBERS };
/* A column that is read. */
struct cells {
  const struct nai_kept_column *kept;
  struct nai_column cells, other;     /* other: of a call its suffix, or whether it is open */
  struct nai_column numbers[NUMBERS]; /* of a range what PyTorch wrote behind its name: seq, op_id, sizes */
  const struct nai_table *sizes;
  int64_t *rows, row_count; /* what a number stands for; NULL: itself */
  int place;                /* of the load */
};

struct kept_load {
  const struct nai_kept_table *from;
  const struct nai_table *table;
  struct cells columns[NAI_LOAD_COLUMNS];
  int count;
  struct nai_column kinds; /* where only rows of one are of the table */
  int64_t offset;          /* of all times */
  int64_t *part_rows;      /* as many in each part but the last */
};

/* The texts of a column, in a part, that have a number. */
struct known_texts {
  struct known_text { /* by text of the table: what it was last, with this suffix */
    int64_t suffix, number;
  } * at;
  struct nai_stats_keys ranges; /* names with what PyTorch wrote behind them; behind each key its number */
  uint32_t last;                /* of those: the one that came last */
  uint64_t asked;               /* how often one of those was looked for */
};
enum { NOT_KNOWN = -2, NO_SUFFIX = -1 };

static int lacks(struct nai_err *err, const char *what, const char *of) {
  return nai_err_set(err, NAI_ESTALE, "the run does not keep %s of table \"%s\" as the export has it", what, of);
}

/* Tables may be asked for by several threads. */
static int open_table(const struct nai_table **out, const struct nai_stats_source *source, const char *name,
                      struct nai_err *err) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  NAI_LOCKED(&mutex);
  return nai_run_table(out, source->run, name, NULL, err);
}

/* --- what there is ------------------------------------------------------------------------------------------ */

/* The table whose name is, or begins with, `len` bytes. */
static const struct nai_kept_table *find_kept(const char *name, size_t len) {
  for (const struct nai_kept_table *t = nai_kept_tables; t->name; t++)
    if (strncmp(t->name, name, len) == 0)
      return t;
  return NULL;
}

/* Whether all rows are there as they were, and their names. */
static int check_rows(const struct nai_load *load, const struct nai_table *readers, int64_t row, struct nai_err *err) {
  const struct nai_table *notes;
  const struct nai_value cut = nai_cell(readers, row, "cut_names"), doubtful = nai_cell(readers, row, "doubtful_names");
  NAI_TRY(open_table(&notes, load->source, "extract_notes", err));
  for (int64_t i = 0; i < notes->rows; i++)
    if (strcmp(nai_cell_str(notes, i, "source_table"), load->table) == 0 &&
        strcmp(nai_cell_str(notes, i, "check"), "rows-missing") != 0)
      return lacks(err, "all rows", load->table);
  if (row >= 0 && (cut.null || doubtful.null || doubtful.i || (cut.i && !load->source->canonical)))
    return lacks(err, "whole names", load->table);
  return NAI_OK;
}

/* Whether the export had no such table. */
static bool is_absent(struct nai_run *run, const char *table) {
  const struct nai_strings *tables = &nai_run_manifest(run)->tables;
  return tables->count && nai_strings_find(tables, table, strlen(table)) == NAI_NO_STRING;
}

int nai_stats_run_tells(struct nai_run *run, const char *table, struct nai_err *err) {
  static const char *const changes[] = {"--trim", "--gpu"};
  const struct nai_manifest *manifest = nai_run_manifest(run);
  const size_t len = strcspn(table, "*"), begin = table[len] ? len : len + 1;
  for (uint32_t i = 0; i < manifest->options.count; i++)
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++)
      if (strncmp(nai_strings_get(&manifest->options, i), changes[c], strlen(changes[c])) == 0)
        return nai_err_set(err, NAI_ESTALE, "the run is of a part of the capture (%s)", changes[c]);
  for (uint32_t t = 0; t < manifest->tables.count; t++) {
    const char *name = nai_strings_get(&manifest->tables, t);
    const struct nai_kept_table *kept = find_kept(name, strlen(name) + 1);
    if (strncmp(name, table, begin) == 0 && !(kept && nai_run_has(run, kept->table)))
      return lacks(err, "rows", name);
  }
  return manifest->tables.count ? NAI_OK : lacks(err, "rows", table); /* of an earlier version */
}

const char *nai_stats_run_has(const struct nai_stats_source *source, const char *name, size_t len, int index) {
  const struct nai_table *readers;
  struct nai_err ignored;
  if (open_table(&readers, source, "readers", &ignored))
    return NULL;
  for (int64_t i = 0; i < readers->rows; i++) {
    const char *table = nai_cell_str(readers, i, "source_table");
    if (strncmp(table, name, len) == 0 && find_kept(table, strlen(table) + 1) && index-- == 0)
      return table;
  }
  return NULL;
}

/* --- rows of other tables ------------------------------------------------------------------------------------- */

/* Values of a column of a small table. */
static int read_small(int64_t **out, int64_t *count, const struct nai_load *load, const char *name, const char *column,
                      struct nai_err *err) {
  const struct nai_table *table;
  NAI_TRY(open_table(&table, load->source, name, err));
  int at = nai_schema_column(table->schema, column);
  if (at < 0)
    return lacks(err, column, name);
  NAI_TRY(NAI_NEW(*out, &load->source->arena, (size_t)table->rows, err));
  *count = table->rows;
  for (int64_t i = 0; i < table->rows; i++)
    (*out)[i] = nai_get_i64(table, i, at);
  return NAI_OK;
}

/* The same of ids, which are 0 where the export had none. */
static int read_ids(int64_t **out, int64_t *count, const struct nai_load *load, const char *name, const char *column,
                    struct nai_err *err) {
  NAI_TRY(read_small(out, count, load, name, column, err));
  for (int64_t i = 0; i < *count; i++)
    (*out)[i] = (*out)[i] ? (*out)[i] : NAI_NULL_I64;
  return NAI_OK;
}

/* Processes may know a GPU by different numbers. */
static int read_devices(int64_t **out, int64_t *count, const struct nai_load *load, struct nai_err *err) {
  int64_t *gpus, *ordinals, *numbers, known, first;
  NAI_TRY(read_small(&numbers, count, load, "gpus", "device_id", err));
  NAI_TRY(read_small(out, count, load, "gpus", "cuda_device", err));
  NAI_TRY(read_small(&gpus, &known, load, "cuda_devices", "gpu_id", err));
  NAI_TRY(read_small(&ordinals, &known, load, "cuda_devices", "cuda_device", err));
  for (int64_t i = 0; i < *count; i++)
    if (numbers[i] != i)
      return lacks(err, "numbers of GPUs", load->table);
  for (int64_t i = 0; i < known; i++) {
    for (first = 0; gpus[first] != gpus[i]; first++)
      ;
    if (ordinals[first] != ordinals[i])
      return lacks(err, "numbers of GPUs", load->table);
  }
  return NAI_OK;
}

/* Names of GPUs by the number that processes have for them, as in the export: of those that ran something. */
static int check_gpus(const struct nai_load *load, struct nai_err *err) {
  int64_t *ids, *ordinals, count;
  NAI_TRY(read_small(&ids, &count, load, "gpus", "gpu_id", err));
  NAI_TRY(read_small(&ordinals, &count, load, "gpus", "cuda_device", err));
  for (int64_t i = 0; i < count; i++)
    if (ids[i] != ordinals[i] && !is_absent(load->source->run, load->table))
      return lacks(err, "names of GPUs", load->table);
  return NAI_OK;
}

static int read_rows_of(struct cells *column, const struct nai_load *load, struct nai_err *err) {
  static int64_t types[] = {59, 60, 34};
  int64_t **rows = &column->rows, *count = &column->row_count;
  switch (column->kept->how) {
  case NAI_KEPT_THREAD:
    return read_ids(rows, count, load, "threads", "global_tid", err);
  case NAI_KEPT_PROCESS:
    return read_ids(rows, count, load, "processes", "process_key", err);
  case NAI_KEPT_DEVICE:
    return read_devices(rows, count, load, err);
  case NAI_KEPT_DOMAIN:
    return read_small(rows, count, load, "nvtx_domains", "domain_id", err);
  case NAI_KEPT_CONFIG:
    return read_small(rows, count, load, "kernel_configs", column->kept->column, err);
  case NAI_KEPT_TYPE:
    *rows = types;
    *count = sizeof types / sizeof *types;
    return NAI_OK;
  default:
    return NAI_OK;
  }
}

static int fill_rows(int64_t *values, size_t count, const struct cells *column, const char *table,
                     struct nai_err *err) {
  const bool may_be_none = strcmp(column->kept->column, "end_thread") == 0;
  const bool may_be_null = column->kept->how == NAI_KEPT_CONFIG;
  const int64_t *rows = column->rows;
  const uint64_t row_count = (uint64_t)column->row_count;
  bool lost = false;
  for (size_t i = 0; i < count; i++) {
    const bool known = (uint64_t)values[i] < row_count, none = values[i] == NAI_NULL_I64;
    values[i] = known ? rows[values[i]] : NAI_NULL_I64;
    lost |= known ? values[i] == NAI_NULL_I64 && !may_be_null : !(none && may_be_none);
  }
  return lost ? lacks(err, "each thread, process, GPU and configuration", table) : NAI_OK;
}

/* --- columns -------------------------------------------------------------------------------------------------- */

static int column_of(struct nai_column *out, const struct nai_table *table, const char *name, struct nai_err *err) {
  int at = nai_schema_column(table->schema, name);
  if (at < 0)
    return lacks(err, name, table->schema->name);
  *out = nai_table_column(table, at);
  return NAI_OK;
}

static bool is_text(const struct nai_kept_column *kept) {
  return kept->how == NAI_KEPT_TEXT || kept->how == NAI_KEPT_CALL || kept->how == NAI_KEPT_RANGE;
}

static const struct nai_kept_column *find_column(const struct nai_kept_table *from, const char *name) {
  const struct nai_kept_column *kept = from->columns;
  while (kept->name && strcmp(kept->name, name) != 0)
    kept++;
  return kept->name ? kept : NULL;
}

/* What stands behind the names of ranges, if that is asked for. */
static int add_numbers(struct cells *column, const struct nai_load *load, struct nai_err *err) {
  static const char *const names[NUMBERS] = {"seq", "op_id", "sizes"};
  const struct kept_load *k = load->state;
  NAI_TRY(open_table(&column->sizes, load->source, "nvtx_sizes", err));
  for (int n = 0; n < NUMBERS; n++)
    NAI_TRY(column_of(&column->numbers[n], k->table, names[n], err));
  return NAI_OK;
}

/* Column `name` of the export as that one of the load, if the table has it. */
static int add_column(struct nai_load *load, const char *name, int place, struct nai_err *err) {
  struct kept_load *k = load->state;
  struct cells *column = &k->columns[k->count];
  const struct nai_kept_column *kept = find_column(k->from, name);
  if (!kept || kept->how == NAI_KEPT_NOTHING)
    return NAI_OK;
  *column = (struct cells){.kept = kept, .place = place};
  NAI_TRY(read_rows_of(column, load, err));
  NAI_TRY(column_of(&column->cells, k->table, kept->how == NAI_KEPT_CONFIG ? "config" : kept->column, err));
  if (kept->how == NAI_KEPT_CALL || kept->how == NAI_KEPT_CALL_END)
    NAI_TRY(column_of(&column->other, k->table, kept->how == NAI_KEPT_CALL ? "suffix" : "open", err));
  if (kept->how == NAI_KEPT_RANGE && !load->source->canonical)
    NAI_TRY(add_numbers(column, load, err));
  k->count++;
  load->has[place] = true;
  load->is_text[place] = is_text(kept);
  return NAI_OK;
}

/* A name that is no column has no values. */
static int add_columns(struct nai_load *load, struct nai_err *err) {
  static const struct nai_kept_column kind = {"", "", NAI_KEPT_NUMBER};
  struct kept_load *k = load->state;
  for (int c = 0; load->names[c]; c++) {
    if (!find_column(k->from, load->names[c]) && *load->names[c] && strcmp(load->names[c], "-") != 0)
      return lacks(err, load->names[c] + (*load->names[c] == '$'), load->table);
    NAI_TRY(add_column(load, load->names[c], c, err));
  }
  for (int f = 0; f < NAI_LOAD_KIND - NAI_LOAD_START && load->filtered; f++)
    NAI_TRY(add_column(load, nai_load_filters[f], NAI_LOAD_START + f, err));
  if (!k->from->of)
    return NAI_OK;
  k->columns[k->count] = (struct cells){.kept = &kind, .place = NAI_LOAD_KIND};
  load->has[NAI_LOAD_KIND] = true;
  load->kind = k->from->kind;
  NAI_TRY(column_of(&k->kinds, k->table, k->from->of, err));
  k->columns[k->count++].cells = k->kinds;
  return NAI_OK;
}

static int open_kept(struct nai_load *load, struct nai_err *err) {
  const struct nai_table *readers;
  const int wanted = load->parts;
  struct kept_load *k;
  int64_t *offset, one;
  NAI_TRY(NAI_NEW(k, &load->source->arena, 1, err));
  NAI_TRY(open_table(&readers, load->source, "readers", err));
  const int column = nai_schema_column(readers->schema, "source_table");
  const int64_t row = column < 0 ? -1 : nai_find_str(readers, column, load->table);
  load->state = k;
  load->parts = 0;
  k->from = find_kept(load->table, strlen(load->table) + 1);
  if (row < 0 && !(k->from && k->from->unread)) /* the export had no such table */
    return is_absent(load->source->run, load->table) ? NAI_OK : lacks(err, "rows", load->table);
  if (!k->from)
    return lacks(err, "rows", load->table);
  NAI_TRY(check_rows(load, readers, row, err));
  if (strcmp(load->table, "TARGET_INFO_GPU") == 0)
    NAI_TRY(check_gpus(load, err));
  NAI_TRY(open_table(&k->table, load->source, k->from->table, err));
  NAI_TRY(read_small(&offset, &one, load, "capture", "time_offset_ns", err));
  k->offset = one == 1 ? *offset : 0;
  NAI_TRY(add_columns(load, err));
  load->parts = wanted;
  NAI_TRY(NAI_NEW(k->part_rows, &load->source->arena, (size_t)load->parts, err));
  for (int p = 0; p < load->parts; p++)
    k->part_rows[p] = k->table->rows * (p + 1) / load->parts - k->table->rows * p / load->parts;
  load->part_rows = k->part_rows;
  return NAI_OK;
}

/* --- cells ------------------------------------------------------------------------------------------------------ */

/* A text of the table's, and what was cut off it; "#5" stands for a text that the export lacks. */
static int add_text(int64_t *out, const struct nai_load_part *part, int64_t text, int64_t suffix, struct nai_err *err) {
  const struct kept_load *k = part->load->state;
  const struct nai_strings *all = &k->table->strings;
  const char *words = nai_strings_get(all, (uint32_t)text);
  const size_t len = nai_strings_len(all, (uint32_t)text);
  if (len > MAX_TEXT || (*words == '#' && words[1 + strspn(words + 1, "-0123456789")] == '\0'))
    return lacks(err, "each text", part->load->table);
  if (suffix < 0)
    return nai_load_text(out, part, words, len, err);
  NAI_SCOPED(nai_buf) whole = {0};
  nai_buf_put(&whole, words, len);
  nai_buf_puts(&whole, nai_strings_get(all, (uint32_t)suffix));
  NAI_TRY(nai_buf_check(&whole, err));
  return nai_load_text(out, part, nai_buf_str(&whole), whole.len, err);
}

/* Most rows have a text that came before. */
static int fill_texts(int64_t *values, size_t count, const struct cells *column, int64_t first,
                      const struct nai_load_part *part, struct known_texts *known, struct nai_err *err) {
  const bool is_call = column->kept->how == NAI_KEPT_CALL;
  int64_t suffixes[NAI_LOAD_BLOCK];
  if (is_call)
    nai_unpack(suffixes, &column->other, (uint64_t)first, count);
  for (size_t i = 0; i < count; i++) {
    const int64_t suffix = is_call && suffixes[i] != NAI_NULL_I64 ? suffixes[i] : NO_SUFFIX;
    if (values[i] == NAI_NULL_I64)
      continue;
    struct known_text *text = &known->at[values[i]];
    if (text->suffix != suffix) {
      NAI_TRY(add_text(&text->number, part, values[i], suffix, err));
      text->suffix = suffix;
    }
    values[i] = text->number;
  }
  return NAI_OK;
}

/* ", op_id = 7" */
static void put_number(struct nai_buf *out, const char *key, int64_t number) {
  char digits[32];
  size_t at = sizeof digits;
  if (number == NAI_NULL_I64)
    return;
  nai_buf_puts(out, key);
  for (uint64_t rest = (uint64_t)number; rest || at == sizeof digits; rest /= 10)
    digits[--at] = (char)('0' + rest % 10);
  nai_buf_put(out, digits + at, sizeof digits - at);
}

enum { NAME = NUMBERS, RANGE_KEYS };
/* The name of a range, and what PyTorch wrote behind it, made in `whole`. */
static int add_range_text(int64_t *out, const int64_t key[RANGE_KEYS], struct nai_buf *whole,
                          const struct cells *column, const struct nai_load_part *part, struct nai_err *err) {
  const struct nai_strings *names = &((const struct kept_load *)part->load->state)->table->strings;
  nai_buf_clear(whole);
  nai_buf_put(whole, nai_strings_get(names, (uint32_t)key[NAME]), nai_strings_len(names, (uint32_t)key[NAME]));
  put_number(whole, ", seq = ", key[SEQ]);
  put_number(whole, ", op_id = ", key[OP_ID]);
  if (key[SIZES] != NAI_NULL_I64) {
    if (key[SIZES] < 0 || key[SIZES] >= column->sizes->rows)
      return lacks(err, "each text", part->load->table);
    nai_buf_puts(whole, ", sizes = ");
    nai_buf_puts(whole, nai_cell_str(column->sizes, key[SIZES], "sizes"));
  }
  NAI_TRY(nai_buf_check(whole, err));
  return nai_load_text(out, part, nai_buf_str(whole), whole->len, err);
}

/* Those of a step differ, and may come again: where few of very many did, no more are kept. */
static bool are_worth_keeping(const struct known_texts *known) {
  enum { MANY = 1 << 16 };
  return known->ranges.count < MANY || known->ranges.count < known->asked / 2;
}

/* Steps are mostly like the one before: the next is the one that came behind it then. */
static uint32_t find_range(struct known_texts *known, const int64_t key[RANGE_KEYS]) {
  const uint32_t next = known->last + 1;
  if (next < known->ranges.count) {
    const int64_t *then = nai_stats_key_of(&known->ranges, next);
    int64_t differing = 0;
    for (int k = 0; k < RANGE_KEYS; k++)
      differing |= then[k] ^ key[k];
    if (!differing)
      return known->last = next;
  }
  return known->last = nai_stats_key_find(&known->ranges, key);
}

/* Names of ranges, with what PyTorch wrote behind them. */
static int fill_ranges(int64_t *values, size_t count, const struct cells *column, int64_t first,
                       const struct nai_load_part *part, struct known_texts *known, struct nai_err *err) {
  struct nai_stats_keys *keys = &known->ranges;
  int64_t numbers[NUMBERS][NAI_LOAD_BLOCK];
  NAI_SCOPED(nai_buf) whole = {0};
  for (int n = 0; n < NUMBERS; n++)
    nai_unpack(numbers[n], &column->numbers[n], (uint64_t)first, count);
  for (size_t i = 0; i < count; i++) {
    const int64_t key[RANGE_KEYS] = {numbers[SEQ][i], numbers[OP_ID][i], numbers[SIZES][i], values[i]};
    const uint32_t before = keys->count;
    if (key[NAME] == NAI_NULL_I64 ||
        (key[SEQ] == NAI_NULL_I64 && key[OP_ID] == NAI_NULL_I64 && key[SIZES] == NAI_NULL_I64)) {
      NAI_TRY(fill_texts(&values[i], 1, column, first + (int64_t)i, part, known, err));
      continue;
    }
    if (!are_worth_keeping(known)) {
      NAI_TRY(add_range_text(&values[i], key, &whole, column, part, err));
      continue;
    }
    known->asked++;
    const uint32_t number = find_range(known, key);
    NAI_TRY(nai_memory_check(number != NAI_NO_STRING, err));
    int64_t *text = &keys->at[(size_t)number * (RANGE_KEYS + 1) + RANGE_KEYS];
    if (number == before)
      NAI_TRY(add_range_text(text, key, &whole, column, part, err));
    values[i] = *text;
  }
  return NAI_OK;
}

static int begin_texts(struct known_texts *out, const struct cells *column, const struct nai_load_part *part,
                       struct nai_err *err) {
  const struct kept_load *k = part->load->state;
  if (!is_text(column->kept))
    return NAI_OK;
  out->ranges = (struct nai_stats_keys){.arena = part->arena, .width = RANGE_KEYS, .more = 1};
  NAI_TRY(NAI_NEW(out->at, part->arena, k->table->strings.count, err));
  for (uint32_t text = 0; text < k->table->strings.count; text++)
    out->at[text].suffix = NOT_KNOWN;
  return NAI_OK;
}

/* Rows from `first`. */
static int fill(int64_t *values, size_t count, const struct cells *column, int64_t first,
                const struct nai_load_part *part, struct known_texts *known, struct nai_err *err) {
  const struct kept_load *k = part->load->state;
  nai_unpack(values, &column->cells, (uint64_t)first, count);
  if (column->rows)
    return fill_rows(values, count, column, part->load->table, err);
  switch (column->kept->how) {
  case NAI_KEPT_CLASS:
    for (size_t i = 0; i < count; i++)
      values[i] = NAI_STATS_OSRT_CLASS;
    return NAI_OK;
  case NAI_KEPT_CALL_END:
    for (size_t i = 0; i < count; i++)
      values[i] = nai_at(&column->other, (uint64_t)first + i) == 1 ? NAI_STATS_NULL : values[i] + k->offset;
    return NAI_OK;
  case NAI_KEPT_MOMENT:
    for (size_t i = 0; i < count && k->offset; i++)
      values[i] += k->offset;
    return NAI_OK;
  case NAI_KEPT_RANGE:
    if (column->sizes)
      return fill_ranges(values, count, column, first, part, known, err);
    return fill_texts(values, count, column, first, part, known, err);
  case NAI_KEPT_TEXT:
  case NAI_KEPT_CALL:
    return fill_texts(values, count, column, first, part, known, err);
  case NAI_KEPT_GIVEN:
    for (size_t i = 0; i < count; i++)
      if (values[i] == NAI_NULL_I64 && (!k->from->of || nai_at(&k->kinds, (uint64_t)first + i) == k->from->kind))
        return lacks(err, column->kept->name, part->load->table);
    return NAI_OK;
  case NAI_KEPT_ROWID:
    for (size_t i = 0; i < count; i++)
      values[i] = values[i] == NAI_NULL_I64 ? NAI_NULL_I64 : (int64_t)((uint64_t)values[i] + (uint64_t)first + i);
    return NAI_OK;
  default:
    return NAI_OK;
  }
}

/* Where a column of the export goes that NVTX_EVENTS is asked for. */
static int64_t *cell_of(const struct nai_load_part *part, const char *name) {
  int c = 0;
  while (strcmp(part->load->names[c], name) != 0)
    c++;
  return &part->to[c][part->rows];
}

/* Domains are rows of their own in the export. */
static int give_domains(struct nai_load_part *part, struct nai_err *err) {
  enum { DOMAIN_CREATE = 75 };
  static const struct nai_kept_column process = {"globalTid", "process", NAI_KEPT_PROCESS};
  struct cells keys = {.kept = &process};
  int64_t *processes, *ids, count;
  const struct nai_table *domains;
  NAI_TRY(open_table(&domains, part->load->source, "nvtx_domains", err));
  NAI_TRY(read_small(&processes, &count, part->load, "nvtx_domains", "process", err));
  NAI_TRY(read_small(&ids, &count, part->load, "nvtx_domains", "domain_id", err));
  NAI_TRY(read_rows_of(&keys, part->load, err));
  NAI_TRY(fill_rows(processes, (size_t)count, &keys, part->load->table, err));
  for (int64_t i = 0; i < count; i++) {
    const struct nai_value name = nai_cell(domains, i, "name");
    if (name.null)
      continue;
    for (int c = 0; c < NAI_LOAD_COLUMNS; c++)
      if (part->to[c])
        part->to[c][part->rows] = NAI_STATS_NULL;
    *cell_of(part, "eventType") = DOMAIN_CREATE;
    *cell_of(part, "globalTid") = processes[i];
    *cell_of(part, "domainId") = ids[i];
    NAI_TRY(nai_load_text(cell_of(part, "$text"), part, name.s, strlen(name.s), err));
    if (++part->rows == NAI_LOAD_BLOCK)
      NAI_TRY(nai_load_flush(part, err));
  }
  return nai_load_flush(part, err);
}

/* Whether its cells are the same in each row: of a block they are filled once. */
static bool is_constant(const struct cells *column) {
  return column->cells.width == 0 && (column->rows || column->kept->how == NAI_KEPT_NUMBER);
}

static int read_kept(struct nai_load_part *part, struct nai_err *err) {
  const struct kept_load *k = part->load->state;
  struct known_texts known[NAI_LOAD_COLUMNS] = {0};
  const int64_t first = part->load->first[part->number], end = first + part->load->part_rows[part->number];
  if (part->number == 0 && strcmp(part->load->table, "NVTX_EVENTS") == 0)
    NAI_TRY(give_domains(part, err));
  for (int c = 0; c < k->count; c++)
    NAI_TRY(begin_texts(&known[c], &k->columns[c], part, err));
  for (int64_t row = first; row < end; row += part->rows) {
    NAI_TRY(nai_load_flush(part, err));
    part->rows = (uint32_t)(end - row < NAI_LOAD_BLOCK ? end - row : NAI_LOAD_BLOCK);
    for (int c = 0; c < k->count; c++)
      if (row == first || !part->load->block || !is_constant(&k->columns[c]))
        NAI_TRY(fill(part->to[k->columns[c].place], part->rows, &k->columns[c], row, part, &known[c], err));
  }
  return NAI_OK;
}

const struct nai_load_reader nai_run_reader = {open_kept, read_kept, NULL};
