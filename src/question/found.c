/* The rows of a statement, held. */
#include "question/internal.h"

#include <stdlib.h>
#include <string.h>

static int begin(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err) {
  struct nai_found *f = ctx;
  f->names = calloc((size_t)count + 1, sizeof *f->names);
  f->units = calloc((size_t)count + 1, sizeof *f->units);
  if (!f->names || !f->units)
    return nai_err_nomem(err);
  for (f->columns = 0; f->columns < count; f->columns++) {
    f->units[f->columns] = columns[f->columns].unit;
    if (!(f->names[f->columns] = strdup(columns[f->columns].name)))
      return nai_err_nomem(err);
  }
  return NAI_OK;
}

/* Texts are numbers until all are there: the dictionary may move. */
static int put_row(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  struct nai_found *f = ctx;
  size_t at = (size_t)f->rows * f->columns;
  if (at + f->columns > f->capacity) {
    size_t capacity = (at + f->columns) * 2;
    struct nai_value *more = realloc(f->cells, capacity * sizeof *more);
    if (!more)
      return nai_err_nomem(err);
    f->cells = more;
    f->capacity = capacity;
  }
  for (uint32_t i = 0; i < f->columns; i++) {
    f->cells[at + i] = cells[i];
    if (cells[i].type == NAI_STR && !cells[i].null) {
      uint32_t id = nai_strings_add(&f->texts, cells[i].s, strlen(cells[i].s));
      if (id == NAI_NO_STRING)
        return nai_err_nomem(err);
      f->cells[at + i].i = id;
    }
  }
  f->rows++;
  return NAI_OK;
}

int nai_found_ask(struct nai_found *out, const struct nai_asking *asking, const char *sql, const char *label,
                  struct nai_err *err) {
  enum { MOST_ROWS = 1000 };
  const struct nai_query_parameter parameters[] = {
      {"gpu", {.type = NAI_I64, .i = asking->gpu, .null = asking->gpu == INT64_MIN}},
      {"name", {.type = NAI_STR, .s = asking->name}}};
  const struct nai_query_text text = {.sql = sql, .label = label};
  const struct nai_query query = {
      .run = asking->run, .text = &text, .parameters = parameters, .parameter_count = 2, .limits = {.rows = MOST_ROWS}};
  bool truncated;
  *out = (struct nai_found){0};
  int rc = nai_query_run(&truncated, &query, &(struct nai_query_sink){begin, put_row, out}, err);
  for (size_t i = 0; !rc && i < (size_t)out->rows * out->columns; i++)
    if (out->cells[i].type == NAI_STR && !out->cells[i].null)
      out->cells[i].s = nai_strings_get(&out->texts, (uint32_t)out->cells[i].i);
  return rc;
}

void nai_found_free(struct nai_found *f) {
  for (uint32_t i = 0; f->names && i < f->columns; i++)
    free(f->names[i]);
  free(f->names);
  free(f->units);
  free(f->cells);
  nai_strings_free(&f->texts);
  *f = (struct nai_found){0};
}
