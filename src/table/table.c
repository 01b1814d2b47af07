#include "table/table.h"

#include "base/hash.h"
#include "base/spill_array.h"
#include "table/file.h"

#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

size_t nai_type_size(enum nai_type type) { return type == NAI_I64 || type == NAI_F64 ? 8 : 4; }

int nai_table_new(struct nai_table **out, const struct nai_schema *schema, struct nai_err *err) {
  NAI_FREED struct nai_table *table = calloc(1, sizeof *table);
  if (!table || !(table->columns = calloc(schema->column_count + 1, sizeof *table->columns)))
    return nai_err_nomem(err);
  table->schema = schema;
  return NAI_GIVE(out, table);
}

void nai_table_keep_in(struct nai_table *table, const char *directory) {
  table->directory = table->strings.directory = directory;
}

int nai_table_new_copy(struct nai_table **out, const struct nai_schema *schema, struct nai_err *err) {
  NAI_OWNED(nai_schema) *copy = NULL;
  NAI_TRY(nai_schema_copy(&copy, schema, err));
  NAI_TRY(nai_table_new(out, copy, err));
  (*out)->own_schema = copy;
  copy = NULL;
  return NAI_OK;
}

int nai_backing_new(struct nai_backing **out, struct nai_err *err) {
  *out = calloc(1, sizeof **out);
  NAI_TRY(nai_memory_check(*out, err));
  (*out)->fd = -1;
  return NAI_OK;
}

void nai_backing_free(struct nai_backing *backing) {
  if (!backing)
    return;
  if (backing->data && backing->heap)
    free(backing->data);
  else if (backing->data)
    munmap(backing->data - backing->before, backing->before + backing->size);
  if (backing->fd >= 0)
    close(backing->fd);
  free(backing->nulls);
  free(backing->path);
  free(backing->offsets);
  free(backing);
}

void nai_table_free(struct nai_table *table) {
  if (!table)
    return;
  for (uint32_t c = 0; !table->backing && c < table->schema->column_count; c++)
    nai_spill_array_free(table->columns[c]);
  if (table->backing && table->backing->borrowed_strings) { /* they are the file's */
    table->strings.bytes = NULL;
    table->strings.offsets = NULL;
  }
  nai_strings_free(&table->strings);
  nai_backing_free(table->backing);
  free(table->columns);
  free(table->packed);
  nai_schema_free(table->own_schema);
  free(table);
}

static int check_ref(const struct nai_table *table, int column, const struct nai_table *to, struct nai_err *err) {
  const struct nai_column_def *def = &table->schema->columns[column];
  struct nai_column c = nai_table_column(table, column);
  if (nai_column_within(&c, table->rows, -1, to->rows - 1))
    return NAI_OK;
  for (int64_t row = 0; row < table->rows; row++) {
    int64_t value = nai_get_i64(table, row, column);
    if (value != NAI_NULL_I64 && (value < -1 || value >= to->rows))
      return nai_err_set(err, NAI_ESTALE,
                         "table \"%s\", row %" PRId64 ": %s is %" PRId64 ", but table \"%s\" has %" PRId64 " rows",
                         table->schema->name, row, def->name, value, to->schema->name, to->rows);
  }
  return NAI_OK;
}

/* Values that are looked up by halves. */
static int check_ascending(const struct nai_table *table, int column, struct nai_err *err) {
  struct nai_column c = nai_table_column(table, column);
  for (int64_t row = 1; row < table->rows; row++)
    if (nai_at(&c, (uint64_t)row) <= nai_at(&c, (uint64_t)row - 1))
      return nai_err_set(err, NAI_ESTALE, "table \"%s\", row %" PRId64 ": %s is not above that of the row before",
                         table->schema->name, row, table->schema->columns[column].name);
  return NAI_OK;
}

/* Cells of `column` are values of a key column of another table, of which there are few: GPUs; or -1, as the GPU of a
 * page fault of a CPU. */
static int check_value_ref(const struct nai_table *table, int column, const struct nai_table *to, int key,
                           struct nai_err *err) {
  struct nai_column c = nai_table_column(table, column), keys = nai_table_column(to, key);
  bool always = table->schema->columns[column].always;
  int64_t known = c.null_value;
  NAI_TRY(check_ascending(to, key, err));
  for (int64_t row = 0; row < table->rows; row++) {
    int64_t value = nai_at(&c, (uint64_t)row), at = 0;
    if (value == known || value == c.null_value || (value == -1 && !always))
      continue;
    while (at < to->rows && nai_at(&keys, (uint64_t)at) != value)
      at++;
    if (at == to->rows)
      return nai_err_set(err, NAI_ESTALE, "table \"%s\", row %" PRId64 ": %s is %" PRId64 ", which table \"%s\" lacks",
                         table->schema->name, row, table->schema->columns[column].name, value, to->schema->name);
    known = value;
  }
  return NAI_OK;
}

int nai_table_check_refs(const struct nai_table *table, nai_table_lookup_fn *lookup, void *ctx, struct nai_err *err) {
  for (int c = 0; c < (int)table->schema->column_count; c++) {
    const struct nai_column_def *def = &table->schema->columns[c];
    char name[NAI_COLUMN_NAME_MAX];
    if (!def->refers || def->type > NAI_I32)
      continue;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(def->refers, "."), def->refers);
    const char *value = strchr(def->refers, '.');
    const struct nai_table *to = lookup(ctx, name);
    int key = to && value ? nai_schema_column(to->schema, value + 1) : -1;
    if (to && !value)
      NAI_TRY(check_ref(table, c, to, err));
    else if (key >= 0 && to->schema->columns[key].key)
      NAI_TRY(check_value_ref(table, c, to, key, err));
  }
  return NAI_OK;
}

int nai_table_check(const struct nai_table *table, struct nai_err *err) {
  return table->oom ? nai_err_nomem(err) : NAI_OK;
}

static void set_null(struct nai_table *table, int64_t row, int column) {
  switch (table->schema->columns[column].type) {
  case NAI_I64:
    nai_column_i64(table, column)[row] = NAI_NULL_I64;
    break;
  case NAI_I32:
    nai_column_i32(table, column)[row] = NAI_NULL_I32;
    break;
  case NAI_F64:
    nai_column_f64(table, column)[row] = NAN;
    break;
  case NAI_STR:
    nai_column_str(table, column)[row] = NAI_NO_STRING;
    break;
  }
}

static bool grow(struct nai_table *table, int64_t rows) {
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    /* Columns may be read by words (nai_at), the last one of which reaches beyond the last cell. */
    size_t size = nai_type_size(table->schema->columns[c].type);
    void *data = nai_spill_array_grow(table->columns[c], table->directory, (size_t)table->rows * size,
                                      (size_t)rows * size + sizeof(uint64_t));
    if (!data)
      return false;
    table->columns[c] = data;
  }
  table->capacity = rows;
  return true;
}

int64_t nai_table_add_row(struct nai_table *table) {
  if (table->oom)
    return 0;
  if (table->rows == table->capacity && !grow(table, table->capacity ? table->capacity * 2 : 16)) {
    table->oom = true;
    return 0;
  }
  for (uint32_t c = 0; c < table->schema->column_count; c++)
    set_null(table, table->rows, (int)c);
  return table->rows++;
}

void nai_set_i64(struct nai_table *table, int64_t row, int column, int64_t value) {
  if (table->oom)
    return;
  assert(row < table->rows && table->schema->columns[column].type <= NAI_I32);
  if (table->schema->columns[column].type == NAI_I64)
    nai_column_i64(table, column)[row] = value;
  else
    nai_column_i32(table, column)[row] = value < -INT32_MAX || value > INT32_MAX ? NAI_NULL_I32 : (int32_t)value;
}

void nai_set_f64(struct nai_table *table, int64_t row, int column, double value) {
  if (table->oom)
    return;
  assert(row < table->rows && table->schema->columns[column].type == NAI_F64);
  nai_column_f64(table, column)[row] = value;
}

void nai_set_str(struct nai_table *table, int64_t row, int column, const char *text) {
  if (table->oom)
    return;
  assert(row < table->rows && table->schema->columns[column].type == NAI_STR);
  uint32_t id = text ? nai_strings_add(&table->strings, text, strlen(text)) : NAI_NO_STRING;
  table->oom |= text && id == NAI_NO_STRING;
  nai_column_str(table, column)[row] = id;
}

int64_t nai_table_add(struct nai_table *table, const struct nai_schema *schema, const void *cells) {
  assert(table->schema->columns == schema->columns);
  (void)schema;
  int64_t row = nai_table_add_row(table);
  const char *cell = cells;
  for (uint32_t c = 0; c < table->schema->column_count; c++, cell += 8) {
    int64_t number;
    double real;
    const char *text;
    switch (table->schema->columns[c].type) {
    case NAI_F64:
      memcpy(&real, cell, sizeof real);
      nai_set_f64(table, row, (int)c, real);
      break;
    case NAI_STR:
      memcpy(&text, cell, sizeof text);
      nai_set_str(table, row, (int)c, text);
      break;
    default:
      memcpy(&number, cell, sizeof number);
      nai_set_i64(table, row, (int)c, number);
    }
  }
  return row;
}

void nai_table_read(void *cells, const struct nai_table *table, const struct nai_schema *schema, int64_t row) {
  assert(nai_schema_equal(table->schema, schema));
  char *cell = cells;
  for (uint32_t c = 0; c < schema->column_count; c++, cell += 8) {
    struct nai_value v = nai_table_value(table, row, (int)c);
    int64_t number = v.null ? NAI_NULL_I64 : v.i;
    const char *text = v.null ? "" : v.s;
    double real = v.null ? NAN : v.f;
    const void *from = schema->columns[c].type == NAI_F64 ? (const void *)&real
                     : schema->columns[c].type == NAI_STR ? (const void *)&text
                                                          : (const void *)&number;
    memcpy(cell, from, 8);
  }
}

struct nai_column nai_table_column(const struct nai_table *table, int column) {
  enum nai_type type = table->schema->columns[column].type;
  assert(type != NAI_F64);
  return table->packed ? table->packed[column]
                       : nai_column_of(type, table->columns[column], (uint32_t)nai_type_size(type), 0);
}

/* The cell of a column of integers or text numbers. */
static inline int64_t integer_at(const struct nai_table *table, int64_t row, int column) {
  if (table->packed)
    return nai_at(&table->packed[column], (uint64_t)row);
  return table->schema->columns[column].type == NAI_I64 ? nai_column_i64(table, column)[row]
                                                        : nai_column_i32(table, column)[row];
}

struct nai_value nai_table_value(const struct nai_table *table, int64_t row, int column) {
  struct nai_value v = {.null = true};
  uint32_t id;
  if (row >= table->rows) /* of a table that is empty, or ran out of memory, which is told when all is done */
    return v;
  v.type = table->schema->columns[column].type;
  switch (v.type) {
  case NAI_F64:
    v.f = nai_column_f64(table, column)[row];
    v.null = isnan(v.f);
    break;
  case NAI_STR:
    id = (uint32_t)integer_at(table, row, column);
    v.null = id == NAI_NO_STRING;
    v.i = id;
    v.s = nai_strings_get(&table->strings, id);
    break;
  default:
    v.i = integer_at(table, row, column);
    v.null = v.i == (v.type == NAI_I64 ? NAI_NULL_I64 : NAI_NULL_I32);
  }
  return v;
}

static int64_t as_i64(struct nai_value v) {
  assert(v.type == NAI_I64 || v.type == NAI_I32);
  return v.null ? NAI_NULL_I64 : v.i;
}

static double as_f64(struct nai_value v) { return v.null ? NAN : v.type == NAI_F64 ? v.f : (double)v.i; }

static const char *as_str(struct nai_value v) {
  assert(v.null || v.type == NAI_STR);
  return v.type == NAI_STR && !v.null ? v.s : "";
}

int64_t nai_get_i64(const struct nai_table *table, int64_t row, int column) {
  return as_i64(nai_table_value(table, row, column));
}

double nai_get_f64(const struct nai_table *table, int64_t row, int column) {
  struct nai_value v = nai_table_value(table, row, column);
  assert(v.null || v.type != NAI_STR);
  return as_f64(v);
}

const char *nai_get_str(const struct nai_table *table, int64_t row, int column) {
  return as_str(nai_table_value(table, row, column));
}

int64_t nai_find_i64(const struct nai_table *table, int column, int64_t value) {
  int64_t row = 0;
  while (row < table->rows && nai_get_i64(table, row, column) != value)
    row++;
  return row < table->rows ? row : -1;
}

int64_t nai_find_str(const struct nai_table *table, int column, const char *text) {
  int64_t row = 0;
  while (row < table->rows && strcmp(nai_get_str(table, row, column), text) != 0)
    row++;
  return row < table->rows ? row : -1;
}

struct nai_value nai_cell(const struct nai_table *table, int64_t row, const char *column) {
  int c = table ? nai_schema_column(table->schema, column) : -1;
  if (c < 0 || row < 0 || row >= table->rows)
    return (struct nai_value){.type = NAI_I64, .null = true};
  return nai_table_value(table, row, c);
}

const char *nai_cell_str(const struct nai_table *table, int64_t row, const char *column) {
  struct nai_value v = nai_cell(table, row, column);
  return v.null ? "" : as_str(v);
}

struct order {
  const struct nai_table *table;
  const struct nai_sort_by *by;
  int keys;
};

static int compare_cells(const struct nai_value *a, const struct nai_value *b) {
  if (a->null || b->null)
    return (int)b->null - (int)a->null;
  if (a->type == NAI_STR)
    return a->s == b->s ? 0 : strcmp(a->s, b->s);
  if (a->type == NAI_F64)
    return (a->f > b->f) - (a->f < b->f);
  return (a->i > b->i) - (a->i < b->i);
}

static int compare_rows(const void *pa, const void *pb, void *ctx) {
  const struct order *order = ctx;
  int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
  for (int k = 0; k < order->keys; k++) {
    struct nai_value va = nai_table_value(order->table, a, order->by[k].column);
    struct nai_value vb = nai_table_value(order->table, b, order->by[k].column);
    int c = compare_cells(&va, &vb);
    if (c)
      return order->by[k].descending ? -c : c;
  }
  return (a > b) - (a < b);
}

static bool is_sorted(size_t n, struct order *order) {
  for (int64_t row = 1; row < (int64_t)n; row++)
    if (compare_rows(&(int64_t){row - 1}, &row, order) > 0)
      return false;
  return true;
}

/* Merges two runs of sorted rows, first..middle and middle..end. */
static void merge_runs(int64_t *to, const int64_t *from, size_t first, size_t middle, size_t end, struct order *order) {
  size_t a = first, b = middle;
  for (size_t i = first; i < end; i++)
    to[i] = b == end || (a < middle && compare_rows(&from[a], &from[b], order) < 0) ? from[a++] : from[b++];
}

/* Numbers of the rows in order, in `rows` or in `scratch`: qsort would take memory of its own for all of them. */
static int64_t *sorted_rows(int64_t *rows, int64_t *scratch, size_t n, struct order *order) {
  for (size_t i = 0; i < n; i++)
    rows[i] = (int64_t)i;
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t first = 0; first < n; first += 2 * width) {
      size_t middle = first + width < n ? first + width : n, end = middle + width < n ? middle + width : n;
      if (middle == end || compare_rows(&rows[middle - 1], &rows[middle], order) < 0)
        memcpy(scratch + first, rows + first, (end - first) * sizeof *rows);
      else
        merge_runs(scratch, rows, first, middle, end, order);
    }
    int64_t *sorted = scratch;
    scratch = rows;
    rows = sorted;
  }
  return rows;
}

int nai_table_sort(struct nai_table *table, struct nai_err *err) {
  enum { MAX_KEYS = 16 };
  struct nai_sort_by by[MAX_KEYS];
  int keys = 0;
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    int order = table->schema->columns[c].order, place = order < 0 ? -order : order;
    if (!order)
      continue;
    assert(place <= MAX_KEYS);
    by[place - 1] = (struct nai_sort_by){(int)c, order < 0};
    keys = place > keys ? place : keys;
  }
  return nai_table_sort_by(table, by, keys, err);
}

int nai_table_sort_by(struct nai_table *table, const struct nai_sort_by *by, int keys, struct nai_err *err) {
  struct order order = {table, by, keys};
  size_t n = (size_t)table->rows;
  if (is_sorted(n, &order))
    return NAI_OK;
  int64_t *rows = nai_spill_array_grow(NULL, table->directory, 0, 2 * n * sizeof *rows);
  NAI_TRY(nai_memory_check(rows, err));
  int64_t *other = rows + n;
  const int64_t *sorted = sorted_rows(rows, other, n, &order);
  char *scratch = (char *)(sorted == rows ? other : rows); /* 8 bytes per row */
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    size_t size = nai_type_size(table->schema->columns[c].type);
    char *data = table->columns[c];
    for (size_t i = 0; i < n; i++)
      memcpy(scratch + i * size, data + (size_t)sorted[i] * size, size);
    memcpy(data, scratch, n * size);
  }
  nai_spill_array_free(rows);
  return NAI_OK;
}

void nai_table_truncate(struct nai_table *table, int64_t rows) {
  if (rows < table->rows)
    table->rows = rows;
}

uint64_t nai_table_hash(const struct nai_table *table) {
  uint64_t hash = nai_hash_int(nai_hash_text(0, table->schema->name), table->rows);
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    hash = nai_hash_text(hash, table->schema->columns[c].name);
    hash = nai_hash_bytes(hash, table->columns[c], (size_t)table->rows * nai_type_size(table->schema->columns[c].type));
  }
  return nai_hash_bytes(hash, table->strings.bytes, table->strings.bytes_len);
}
