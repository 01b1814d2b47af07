#include "query/query_rows.h"

#include "base/array.h"

static int begin(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err) {
  struct nai_query_rows *out = ctx;
  NAI_TRY(NAI_NEW(out->names, &out->arena, count, err));
  NAI_TRY(NAI_NEW(out->units, &out->arena, count, err));
  for (out->columns = 0; out->columns < count; out->columns++) {
    out->units[out->columns] = columns[out->columns].unit;
    out->names[out->columns] = nai_arena_printf(&out->arena, "%s", columns[out->columns].name);
  }
  return nai_arena_check(&out->arena, err);
}

/* Texts are numbers until all are there: the dictionary may move. */
static int put_row(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  struct nai_query_rows *out = ctx;
  uint64_t first = (uint64_t)out->rows * out->columns, end = first + out->columns;
  if (end > UINT32_MAX || !nai_array_room(&out->cells, &out->capacity, (uint32_t)end, sizeof *out->cells))
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < out->columns; i++) {
    struct nai_value *cell = &out->cells[first + i];
    *cell = cells[i];
    if (cell->type == NAI_STR && !cell->null) {
      uint32_t id;
      NAI_TRY(nai_strings_put(&id, &out->texts, cell->s, err));
      cell->i = id;
    }
  }
  out->rows++;
  return NAI_OK;
}

/* What makes a row the same as another. */
static int put_key(struct nai_query_rows *out, const struct nai_value *cells, struct nai_err *err) {
  nai_buf_clear(&out->key);
  for (uint32_t i = 0; i + 1 < out->columns; i++) {
    const struct nai_value *cell = &cells[i];
    nai_buf_putc(&out->key, cell->null ? 'n' : cell->type == NAI_STR ? 't' : 'i');
    if (!cell->null && cell->type == NAI_STR)
      nai_buf_put(&out->key, cell->s, strlen(cell->s) + 1);
    else if (!cell->null)
      nai_buf_put(&out->key, &cell->i, sizeof cell->i);
  }
  return nai_buf_check(&out->key, err);
}

static int add_row(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  struct nai_query_rows *out = ctx;
  NAI_TRY(put_key(out, cells, err));
  uint32_t row = nai_strings_add(&out->keys, nai_buf_str(&out->key), out->key.len);
  NAI_TRY(nai_memory_check(row != NAI_NO_STRING, err));
  if (row == out->rows)
    return put_row(ctx, cells, err);
  struct nai_value *sum = &out->cells[((size_t)row + 1) * out->columns - 1];
  if (__builtin_add_overflow(sum->i, cells[out->columns - 1].i, &sum->i))
    return nai_err_set(err, NAI_EINPUT, "%s: the sum of these rows does not fit into 64 bits",
                       out->names[out->columns - 1]);
  return NAI_OK;
}

typedef int row_fn(void *ctx, const struct nai_value *cells, struct nai_err *err);

static int collect(struct nai_query_rows *out, row_fn *put, const struct nai_query *query, struct nai_err *err) {
  bool truncated;
  *out = (struct nai_query_rows){.arena = NAI_ARENA(NULL)};
  NAI_TRY(nai_query_run(&truncated, query, &(struct nai_query_sink){begin, put, out}, err));
  for (size_t i = 0; i < (size_t)out->rows * out->columns; i++)
    if (out->cells[i].type == NAI_STR && !out->cells[i].null)
      out->cells[i].s = nai_strings_get(&out->texts, (uint32_t)out->cells[i].i);
  return NAI_OK;
}

int nai_query_collect(struct nai_query_rows *out, const struct nai_query *query, struct nai_err *err) {
  return collect(out, put_row, query, err);
}

static int ask(struct nai_query_rows *out, row_fn *put, struct nai_run *run, const char *sql,
               const struct nai_query_parameter *parameters, size_t count, struct nai_err *err) {
  const struct nai_query_text text = {.sql = sql, .label = "statement"};
  const struct nai_query query = {
      .run = run, .text = &text, .parameters = parameters, .parameter_count = count, .limits = {.rows = -1}};
  return collect(out, put, &query, err);
}

int nai_query_ask(struct nai_query_rows *out, struct nai_run *run, const char *sql,
                  const struct nai_query_parameter *parameters, size_t count, struct nai_err *err) {
  return ask(out, put_row, run, sql, parameters, count, err);
}

int nai_query_ask_sums(struct nai_query_rows *out, struct nai_run *run, const char *sql,
                       const struct nai_query_parameter *parameters, size_t count, struct nai_err *err) {
  return ask(out, add_row, run, sql, parameters, count, err);
}

void nai_query_rows_free(struct nai_query_rows *rows) {
  free(rows->cells);
  nai_arena_free(&rows->arena);
  nai_strings_free(&rows->texts);
  nai_strings_free(&rows->keys);
  nai_buf_free(&rows->key);
  *rows = (struct nai_query_rows){0};
}
