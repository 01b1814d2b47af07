/* Stretches of event tables. One pass over the times of each table; rows are copied only where they are kept. */
#include "viewer/slice.h"
#include "tables/api_events.h"
#include "tables/graph_events.h"
#include "tables/kernel_events.h"
#include "tables/memop_events.h"
#include "tables/nvtx_events.h"

/* The tables of events on the page. Columns 0 and 1 of each are start and end. */
static const enum nai_input_table sliced[] = {NAI_IN_KERNELS, NAI_IN_MEMOPS, NAI_IN_GRAPHS, NAI_IN_APIS, NAI_IN_NVTX};
enum { SLICED = sizeof sliced / sizeof *sliced, START = 0, END = 1 };
_Static_assert(KERNEL_EVENTS_start_ns == 0 && MEMOP_EVENTS_start_ns == 0 && GRAPH_EVENTS_start_ns == 0 &&
                   API_EVENTS_start_ns == 0 && NVTX_EVENTS_start_ns == 0,
               "start comes first");
_Static_assert(KERNEL_EVENTS_end_ns == 1 && MEMOP_EVENTS_end_ns == 1 && GRAPH_EVENTS_end_ns == 1 &&
                   API_EVENTS_end_ns == 1 && NVTX_EVENTS_end_ns == 1,
               "then end");

/* --- how much there is around a place --------------------------------------------------------- */

enum { BUCKETS = 1 << 12, FINER = 6, SAMPLE = 1 << 16 };

/* How far an event's start lies from [from, to). Any of them may be forged: nothing has been checked yet. */
static uint64_t distance(int64_t start, int64_t from, int64_t to) {
  return start < from ? (uint64_t)from - (uint64_t)start : start >= to ? (uint64_t)start - (uint64_t)to + 1 : 0;
}

/* Counts of events by their distance, in buckets of 1 << shift ns; the last one has all beyond. Of tables of more than
 * SAMPLE rows some stand for all. */
static uint64_t count_events(uint64_t counts[BUCKETS], struct nai_table *const tables[NAI_IN_COUNT], int64_t from,
                             int64_t to, int shift) {
  uint64_t all = 0;
  memset(counts, 0, BUCKETS * sizeof *counts);
  for (int i = 0; i < SLICED; i++) {
    const struct nai_table *t = tables[sliced[i]];
    if (!t || !t->rows)
      continue;
    struct nai_column start = nai_table_column(t, START);
    int64_t step = t->rows / SAMPLE + 1;
    all += (uint64_t)t->rows;
    for (int64_t row = 0; row < t->rows; row += step) {
      uint64_t bucket = distance(nai_at(&start, (uint64_t)row), from, to) >> shift;
      counts[bucket < BUCKETS ? bucket : BUCKETS - 1] += (uint64_t)step;
    }
  }
  return all;
}

/* The shift with which BUCKETS buckets reach about as far as `most` events of evenly spread ones. */
static int choose_shift(struct nai_table *const tables[NAI_IN_COUNT], int64_t from, int64_t to, uint64_t most) {
  int64_t first = from, last = to;
  uint64_t all = 0;
  for (int i = 0; i < SLICED; i++) {
    const struct nai_table *t = tables[sliced[i]];
    if (!t || !t->rows)
      continue;
    int64_t a = nai_get_i64(t, 0, START), b = nai_get_i64(t, t->rows - 1, START);
    first = a < first ? a : first;
    last = b > last ? b : last;
    all += (uint64_t)t->rows;
  }
  double reach = ((double)last - (double)first) * (double)most / (double)(all + 1) * 4;
  int shift = 0;
  while (shift < 48 && (double)((int64_t)BUCKETS << shift) < reach)
    shift++;
  return shift;
}

int nai_slice_find(int64_t *begin, int64_t *end, struct nai_table *const tables[NAI_IN_COUNT], int64_t from, int64_t to,
                   uint64_t most, struct nai_err *err) {
  NAI_FREED uint64_t *counts = malloc(BUCKETS * sizeof *counts);
  uint64_t sum = 0;
  int shift = choose_shift(tables, from, to, most), bucket = 0;
  NAI_TRY(nai_memory_check(counts, err));
  uint64_t all = count_events(counts, tables, from, to, shift);
  if (counts[0] > most && to > from) /* the place alone is too much: its beginning */
    return nai_slice_find(begin, end, tables, from, from, most, err);
  for (; all > most && counts[0] > most && shift; count_events(counts, tables, from, to, shift))
    shift = shift > FINER ? shift - FINER : 0;
  *begin = INT64_MIN;
  *end = INT64_MAX;
  while (bucket < BUCKETS - 1 && sum + counts[bucket] <= most)
    sum += counts[bucket++];
  if (all > most) {
    int64_t reach = (int64_t)(bucket ? bucket : 1) << shift;
    if (__builtin_sub_overflow(from, reach - 1, begin))
      *begin = INT64_MIN;
    if (__builtin_add_overflow(to, reach - 1, end))
      *end = INT64_MAX;
  }
  return NAI_OK;
}

/* --- copying ---------------------------------------------------------------------------------- */

/* `numbers`: of a text of the source in the slice's dictionary + 1, 0: not yet. */
static void copy_cell(struct nai_table *to, int64_t new_row, const struct nai_table *from, int64_t row, int column,
                      uint32_t *numbers) {
  enum nai_type type = from->schema->columns[column].type;
  if (type == NAI_F64) {
    nai_set_f64(to, new_row, column, nai_get_f64(from, row, column));
    return;
  }
  struct nai_column source = nai_table_column(from, column);
  int64_t value = nai_at(&source, (uint64_t)row);
  if (type != NAI_STR) {
    nai_set_i64(to, new_row, column, value == source.null_value ? NAI_NULL_I64 : value);
    return;
  }
  uint32_t text = (uint32_t)value;
  if (text == NAI_NO_STRING)
    return;
  if (!numbers[text]) {
    nai_set_str(to, new_row, column, nai_strings_get(&from->strings, text));
    numbers[text] = nai_column_str(to, column)[new_row] + 1;
  }
  nai_column_str(to, column)[new_row] = numbers[text] - 1;
}

/* The rows of `source` that touch [begin, end), by the columns of their times. */
static int copy_rows(struct nai_table *to, const struct nai_table *source, int start_column, int end_column,
                     int64_t begin, int64_t end, struct nai_err *err) {
  enum { BLOCK = 1024 };
  int64_t starts[BLOCK];
  struct nai_column start = nai_table_column(source, start_column), stop = nai_table_column(source, end_column);
  bool is_nvtx = to->schema == &nai_nvtx_events_schema;
  NAI_FREED uint32_t *numbers = calloc((size_t)source->strings.count + 1, sizeof *numbers);
  NAI_TRY(nai_memory_check(numbers, err));
  for (int64_t row = 0; row < source->rows && !to->oom; row++) {
    if (row % BLOCK == 0)
      nai_unpack(starts, &start, (uint64_t)row, (size_t)(source->rows - row < BLOCK ? source->rows - row : BLOCK));
    int64_t a = starts[row % BLOCK];
    if (a >= end || (a < begin && nai_at(&stop, (uint64_t)row) <= begin))
      continue;
    int64_t new_row = nai_table_add_row(to);
    for (uint32_t c = 0; !to->oom && c < source->schema->column_count; c++)
      copy_cell(to, new_row, source, row, (int)c, numbers);
    /* Row of the export = row number + offset. */
    if (is_nvtx && !to->oom && nai_get_i64(to, new_row, NVTX_EVENTS_export_row_offset) != NAI_NULL_I64)
      nai_set_i64(to, new_row, NVTX_EVENTS_export_row_offset,
                  (int64_t)((uint64_t)nai_get_i64(to, new_row, NVTX_EVENTS_export_row_offset) +
                            (uint64_t)(row - new_row)));
  }
  return nai_table_check(to, err);
}

int nai_slice_rows(struct nai_table **out, const struct nai_table *table, const char *start, const char *end,
                   int64_t from, int64_t to, struct nai_err *err) {
  int start_column = nai_schema_column(table->schema, start), end_column = nai_schema_column(table->schema, end);
  NAI_TRY(nai_table_new(out, table->schema, err));
  return start_column < 0 || end_column < 0 ? NAI_OK : copy_rows(*out, table, start_column, end_column, from, to, err);
}

int nai_slice_new(struct nai_slice *out, struct nai_table *const tables[NAI_IN_COUNT], int64_t begin, int64_t end,
                  struct nai_err *err) {
  *out = (struct nai_slice){.whole = begin == INT64_MIN && end == INT64_MAX};
  memcpy(out->tables, tables, sizeof out->tables);
  if (out->whole)
    return NAI_OK;
  for (int i = 0; i < SLICED; i++)
    out->tables[sliced[i]] = NULL;
  for (int i = 0; i < SLICED; i++) {
    const struct nai_table *from = tables[sliced[i]];
    if (!from)
      continue;
    NAI_TRY(nai_table_new(&out->tables[sliced[i]], nai_event_tables[sliced[i]], err));
    NAI_TRY(copy_rows(out->tables[sliced[i]], from, START, END, begin, end, err));
  }
  return NAI_OK;
}

void nai_slice_free(struct nai_slice *slice) {
  for (int i = 0; !slice->whole && i < SLICED; i++)
    nai_table_free(slice->tables[sliced[i]]);
}
