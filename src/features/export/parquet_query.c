/* Rows of statements and tables as Parquet. */
#include "features/export/command.h"

#include "base/text.h"

#include <unistd.h>

struct writing {
  struct nai_parquet *file;
  struct nai_buf *out;
  const struct nai_parquet_options *options;
};

static void writing_free(struct writing *w) { nai_parquet_free(w->file); }

/* Of a computed column without any value the name tells most. */
static enum nai_type guess_type(const char *name) {
  static const struct {
    const char *end;
    enum nai_type type;
  } ends[] = {{"_ns", NAI_I64}, {"count", NAI_I64}, {"bytes", NAI_I64}, {"_id", NAI_I64},
              {"_ms", NAI_F64}, {"_us", NAI_F64},   {"_pct", NAI_F64},  {"_per_s", NAI_F64}};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (nai_text_ends(name, ends[i].end))
      return ends[i].type;
  return NAI_STR;
}

static int begin(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err) {
  struct writing *w = ctx;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_parquet_column *as;
  NAI_TRY(NAI_NEW(as, &arena, count, err));
  for (uint32_t i = 0; i < count; i++)
    as[i] =
        (struct nai_parquet_column){columns[i].name, columns[i].description, columns[i].unit,
                                    columns[i].unit == NAI_UNIT_COUNT ? guess_type(columns[i].name) : columns[i].type};
  return nai_parquet_open(&w->file, w->out, as, count, w->options, err);
}

static int put_row(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  return nai_parquet_put(((struct writing *)ctx)->file, cells, err);
}

int nai_cmd_query_parquet(bool *truncated, struct nai_buf *out, const struct nai_query *query,
                          const struct nai_parquet_options *options, struct nai_err *err) {
  NAI_SCOPED(writing) w = {.out = out, .options = options};
  const struct nai_query_sink sink = {begin, put_row, &w};
  NAI_TRY(nai_query_run(truncated, query, &sink, err));
  return nai_parquet_finish(w.file, err);
}

int nai_cmd_table_parquet(struct nai_buf *out, const struct nai_table *table, const struct nai_parquet_options *options,
                          struct nai_err *err) {
  const struct nai_schema *schema = table->schema;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_OWNED(nai_parquet) *file = NULL;
  struct nai_parquet_column *columns = NULL;
  struct nai_value *cells;
  uint32_t count = 0, capacity = 0;
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, schema); count++) {
    char name[NAI_COLUMN_NAME_MAX];
    NAI_TRY(NAI_ROOM(columns, capacity, count, &arena, err));
    columns[count] =
        (struct nai_parquet_column){nai_arena_printf(&arena, "%s", nai_display_column_name(name, schema, &p)),
                                    schema->columns[p.column].description, p.unit, schema->columns[p.column].type};
  }
  NAI_TRY(nai_arena_check(&arena, err));
  NAI_TRY(NAI_NEW(cells, &arena, count, err));
  NAI_TRY(nai_parquet_open(&file, out, columns, count, options, err));
  for (int64_t row = 0; row < table->rows; row++) {
    uint32_t i = 0;
    for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, schema); i++)
      cells[i] = nai_table_value(table, row, p.column);
    NAI_TRY(nai_parquet_put(file, cells, err));
  }
  return nai_parquet_finish(file, err);
}

int nai_cmd_check_binary(const char *format, const char *out, struct nai_err *err) {
  return !out && isatty(STDOUT_FILENO)
           ? nai_err_set(err, NAI_EUSAGE, "%s is no text for a terminal; name a file with --out", format)
           : NAI_OK;
}
