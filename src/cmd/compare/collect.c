#include "cmd/compare/collect.h"

#include <stdlib.h>
#include <string.h>

static int begin(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err) {
  (void)columns, (void)err;
  ((struct nai_cmd_collected *)ctx)->columns = count;
  return NAI_OK;
}

/* Texts are numbers until all are there: the dictionary may move. */
static int put_row(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  struct nai_cmd_collected *c = ctx;
  size_t at = (size_t)c->rows * c->columns;
  if (at + c->columns > c->capacity) {
    size_t capacity = (at + c->columns) * 2;
    struct nai_value *more = realloc(c->cells, capacity * sizeof *more);
    if (!more)
      return nai_err_nomem(err);
    c->cells = more;
    c->capacity = capacity;
  }
  for (uint32_t i = 0; i < c->columns; i++) {
    c->cells[at + i] = cells[i];
    if (cells[i].type == NAI_STR && !cells[i].null) {
      uint32_t id = nai_strings_add(&c->texts, cells[i].s, strlen(cells[i].s));
      if (id == NAI_NO_STRING)
        return nai_err_nomem(err);
      c->cells[at + i].i = id;
    }
  }
  c->rows++;
  return NAI_OK;
}

/* What makes a row the same as another. */
static int put_key(struct nai_cmd_collected *c, const struct nai_value *cells, struct nai_err *err) {
  nai_buf_clear(&c->key);
  for (uint32_t i = 0; i + 1 < c->columns; i++) {
    const struct nai_value *cell = &cells[i];
    nai_buf_putc(&c->key, cell->null ? 'n' : cell->type == NAI_STR ? 't' : 'i');
    if (!cell->null && cell->type == NAI_STR)
      nai_buf_put(&c->key, cell->s, strlen(cell->s) + 1);
    else if (!cell->null)
      nai_buf_put(&c->key, &cell->i, sizeof cell->i);
  }
  return nai_buf_check(&c->key, err);
}

static int add_row(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  struct nai_cmd_collected *c = ctx;
  int rc = put_key(c, cells, err);
  uint32_t row = rc ? 0 : nai_strings_add(&c->keys, nai_buf_str(&c->key), c->key.len);
  if (!rc && row == NAI_NO_STRING)
    rc = nai_err_nomem(err);
  if (!rc && row == c->rows)
    return put_row(ctx, cells, err);
  if (!rc)
    c->cells[((size_t)row + 1) * c->columns - 1].i += cells[c->columns - 1].i;
  return rc;
}

typedef int row_fn(void *ctx, const struct nai_value *cells, struct nai_err *err);

static int collect(struct nai_cmd_collected *out, row_fn *put, struct nai_run *run, const char *sql,
                   const struct nai_query_parameter *parameters, size_t count, struct nai_err *err) {
  const struct nai_query_text text = {.sql = sql, .label = "statement"};
  const struct nai_query query = {
      .run = run, .text = &text, .parameters = parameters, .parameter_count = count, .limits = {.rows = -1}};
  bool truncated;
  *out = (struct nai_cmd_collected){0};
  int rc = nai_query_run(&truncated, &query, &(struct nai_query_sink){begin, put, out}, err);
  for (size_t i = 0; !rc && i < (size_t)out->rows * out->columns; i++)
    if (out->cells[i].type == NAI_STR && !out->cells[i].null)
      out->cells[i].s = nai_strings_get(&out->texts, (uint32_t)out->cells[i].i);
  return rc;
}

int nai_cmd_collect(struct nai_cmd_collected *out, struct nai_run *run, const char *sql,
                    const struct nai_query_parameter *parameters, size_t count, struct nai_err *err) {
  return collect(out, put_row, run, sql, parameters, count, err);
}

int nai_cmd_collect_sums(struct nai_cmd_collected *out, struct nai_run *run, const char *sql,
                         const struct nai_query_parameter *parameters, size_t count, struct nai_err *err) {
  return collect(out, add_row, run, sql, parameters, count, err);
}

void nai_cmd_collected_free(struct nai_cmd_collected *rows) {
  free(rows->cells);
  nai_strings_free(&rows->texts);
  nai_strings_free(&rows->keys);
  nai_buf_free(&rows->key);
  *rows = (struct nai_cmd_collected){0};
}
