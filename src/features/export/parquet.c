/* A Parquet file: row groups and the footer. Field numbers: parquet.thrift of apache/parquet-format. */
#include "features/export/parquet.h"

#include "base/arena.h"
#include "base/text.h"
#include "features/export/parquet_column.h"
#include "features/export/thrift.h"
#include "table/json.h"

enum { GROUP_ROWS = 1 << 20, GROUP_BYTES = 64 << 20, LOOK_EVERY = 4096 };
static const char magic[4] = "PAR1";

struct group {
  int64_t rows;
  struct nai_parquet_chunk *chunks; /* per column */
};

struct nai_parquet {
  struct nai_arena arena; /* of names and of what the footer says */
  struct nai_buf *out;
  struct nai_parquet_options options;
  struct nai_parquet_held *columns;
  uint32_t column_count;
  struct group *groups;
  uint32_t group_count, group_capacity;
  int64_t held, rows; /* rows of the group in memory; all of them */
};

/* --- rows -------------------------------------------------------------------------------------------- */

static enum nai_parquet_type declared(const struct nai_parquet_column *column) {
  bool time = column->unit == NAI_US || column->unit == NAI_MS || column->unit == NAI_S;
  return column->type == NAI_STR         ? NAI_PARQUET_TEXT
       : column->type == NAI_F64 || time ? NAI_PARQUET_DOUBLE
                                         : NAI_PARQUET_INT64;
}

/* A text that Parquet takes: valid UTF-8. */
static const char *repaired(struct nai_parquet *p, const char *text) {
  NAI_SCOPED(nai_buf) clean = {0};
  nai_text_repair(&clean, text, strlen(text));
  p->arena.oom |= clean.oom;
  return nai_arena_printf(&p->arena, "%s", nai_buf_str(&clean));
}

static int add_column(struct nai_parquet *p, const struct nai_parquet_column *column, struct nai_err *err) {
  const char *name = repaired(p, column->name), *description = repaired(p, column->description);
  NAI_TRY(nai_arena_check(&p->arena, err));
  for (uint32_t i = 0; i < p->column_count; i++)
    if (strcmp(p->columns[i].name, name) == 0)
      return nai_err_set(err, NAI_EUSAGE, "Parquet cannot have two columns \"%s\"; rename one with AS", name);
  p->columns[p->column_count++] =
      (struct nai_parquet_held){.name = name,
                                .description = description,
                                .unit = column->unit,
                                .type = column->unit == NAI_UNIT_COUNT ? NAI_PARQUET_UNKNOWN : declared(column),
                                .otherwise = declared(column)};
  return NAI_OK;
}

int nai_parquet_open(struct nai_parquet **out, struct nai_buf *into, const struct nai_parquet_column *columns,
                     uint32_t count, const struct nai_parquet_options *options, struct nai_err *err) {
  struct nai_parquet *p = *out = malloc(sizeof *p);
  NAI_TRY(nai_memory_check(p, err));
  *p = (struct nai_parquet){.arena = NAI_ARENA(NULL), .out = into, .options = *options};
  NAI_TRY(NAI_NEW(p->columns, &p->arena, count, err));
  for (uint32_t i = 0; i < count; i++)
    NAI_TRY(add_column(p, &columns[i], err));
  nai_buf_put(into, magic, sizeof magic);
  return NAI_OK;
}

static int write_group(struct nai_parquet *p, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(p->groups, p->group_capacity, p->group_count, &p->arena, err));
  struct group *group = &p->groups[p->group_count++];
  group->rows = p->held;
  p->held = 0;
  NAI_TRY(NAI_NEW(group->chunks, &p->arena, p->column_count, err));
  for (uint32_t i = 0; i < p->column_count; i++)
    NAI_TRY(nai_parquet_column_write(&group->chunks[i], p->out, &p->columns[i], p->options.gzip, err));
  return NAI_OK;
}

static bool is_full(const struct nai_parquet *p) {
  size_t bytes = 0;
  if (p->held >= (p->options.rows_per_group ? p->options.rows_per_group : GROUP_ROWS))
    return true;
  for (uint32_t i = 0; i < p->column_count && p->held % LOOK_EVERY == 0; i++)
    bytes += nai_parquet_column_bytes(&p->columns[i]);
  return bytes > GROUP_BYTES;
}

/* The group before is written when another row comes: so a result that just fills one is one. */
int nai_parquet_put(struct nai_parquet *p, const struct nai_value *cells, struct nai_err *err) {
  if (p->held && is_full(p))
    NAI_TRY(write_group(p, err));
  p->rows++;
  p->held++;
  for (uint32_t i = 0; i < p->column_count; i++)
    NAI_TRY(nai_parquet_column_add(&p->columns[i], &cells[i], p->rows, err));
  return NAI_OK;
}

/* --- footer ------------------------------------------------------------------------------------------ */

enum { OPTIONAL = 1, UTF8 = 0, CODEC_NONE = 0, CODEC_GZIP = 2, ENCODING_PLAIN = 0, ENCODING_RLE = 3 };
enum { ENCODING_DICTIONARY = 8 };

static enum nai_parquet_type type_of(const struct nai_parquet_held *column) {
  return column->type == NAI_PARQUET_UNKNOWN ? column->otherwise : column->type;
}

static void put_schema(struct nai_thrift *t, const struct nai_parquet *p) {
  nai_thrift_list(t, 2, NAI_THRIFT_STRUCT, (size_t)p->column_count + 1);
  nai_thrift_begin(t, 0);
  nai_thrift_text(t, 4, "schema");
  nai_thrift_int(t, 5, NAI_THRIFT_I32, p->column_count);
  nai_thrift_end(t);
  for (uint32_t i = 0; i < p->column_count; i++) {
    enum nai_parquet_type type = type_of(&p->columns[i]);
    nai_thrift_begin(t, 0);
    nai_thrift_int(t, 1, NAI_THRIFT_I32, type);
    nai_thrift_int(t, 3, NAI_THRIFT_I32, OPTIONAL);
    nai_thrift_text(t, 4, p->columns[i].name);
    if (type == NAI_PARQUET_TEXT) {
      nai_thrift_int(t, 6, NAI_THRIFT_I32, UTF8);
      nai_thrift_begin(t, 10); /* LogicalType */
      nai_thrift_begin(t, 1);  /* of them StringType */
      nai_thrift_end(t);
      nai_thrift_end(t);
    }
    nai_thrift_end(t);
  }
}

static void put_statistics(struct nai_thrift *t, const struct nai_parquet_chunk *chunk) {
  nai_thrift_begin(t, 12);
  nai_thrift_int(t, 3, NAI_THRIFT_I64, chunk->nulls);
  if (chunk->bounded) {
    nai_thrift_bytes(t, 5, chunk->max, chunk->max_len);
    nai_thrift_bytes(t, 6, chunk->min, chunk->min_len);
  }
  nai_thrift_end(t);
}

static void put_chunk(struct nai_thrift *t, const struct nai_parquet *p, uint32_t column,
                      const struct nai_parquet_chunk *chunk) {
  bool dictionary = chunk->dictionary_at;
  uint64_t begin = dictionary ? chunk->dictionary_at : chunk->data_at;
  nai_thrift_begin(t, 0);
  nai_thrift_int(t, 2, NAI_THRIFT_I64, (int64_t)begin);
  nai_thrift_begin(t, 3);
  nai_thrift_int(t, 1, NAI_THRIFT_I32, type_of(&p->columns[column]));
  nai_thrift_list(t, 2, NAI_THRIFT_I32, dictionary ? 3 : 2);
  nai_thrift_element_int(t, ENCODING_PLAIN);
  nai_thrift_element_int(t, ENCODING_RLE);
  if (dictionary)
    nai_thrift_element_int(t, ENCODING_DICTIONARY);
  nai_thrift_list(t, 3, NAI_THRIFT_BINARY, 1);
  nai_thrift_element_text(t, p->columns[column].name);
  nai_thrift_int(t, 4, NAI_THRIFT_I32, p->options.gzip ? CODEC_GZIP : CODEC_NONE);
  nai_thrift_int(t, 5, NAI_THRIFT_I64, chunk->rows);
  nai_thrift_int(t, 6, NAI_THRIFT_I64, (int64_t)chunk->raw_bytes);
  nai_thrift_int(t, 7, NAI_THRIFT_I64, (int64_t)chunk->stored_bytes);
  nai_thrift_int(t, 9, NAI_THRIFT_I64, (int64_t)chunk->data_at);
  if (dictionary)
    nai_thrift_int(t, 11, NAI_THRIFT_I64, (int64_t)chunk->dictionary_at);
  put_statistics(t, chunk);
  nai_thrift_end(t);
  nai_thrift_end(t);
}

static void put_group(struct nai_thrift *t, const struct nai_parquet *p, const struct group *group) {
  int64_t raw = 0;
  nai_thrift_begin(t, 0);
  nai_thrift_list(t, 1, NAI_THRIFT_STRUCT, p->column_count);
  for (uint32_t i = 0; i < p->column_count; i++) {
    put_chunk(t, p, i, &group->chunks[i]);
    raw += (int64_t)group->chunks[i].raw_bytes;
  }
  nai_thrift_int(t, 2, NAI_THRIFT_I64, raw);
  nai_thrift_int(t, 3, NAI_THRIFT_I64, group->rows);
  nai_thrift_end(t);
}

/* Units and descriptions, which Parquet has no place for. */
static void put_metadata(struct nai_thrift *t, const struct nai_parquet *p) {
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_json json;
  nai_json_open(&json, &text, NAI_JSON_INLINE);
  nai_json_put_text(&json, "about", p->options.about);
  nai_json_put_array(&json, "columns", NAI_JSON_INLINE);
  for (uint32_t i = 0; i < p->column_count; i++) {
    const struct nai_parquet_held *column = &p->columns[i];
    nai_json_begin_object(&json, NAI_JSON_INLINE);
    nai_json_put_text(&json, "name", column->name);
    nai_json_put_text(&json, "unit", column->unit < NAI_UNIT_COUNT ? nai_unit_name(column->unit) : NULL);
    nai_json_put_text(&json, "description", column->description);
    nai_json_end(&json);
  }
  nai_json_finish(&json);
  nai_thrift_list(t, 5, NAI_THRIFT_STRUCT, 1);
  nai_thrift_begin(t, 0);
  nai_thrift_text(t, 1, "nsys-ai.schema");
  nai_thrift_text(t, 2, nai_buf_str(&text));
  nai_thrift_end(t);
  t->out->oom |= text.oom;
}

/* Bounds in statistics are in the order of their types. */
static void put_orders(struct nai_thrift *t, const struct nai_parquet *p) {
  nai_thrift_list(t, 7, NAI_THRIFT_STRUCT, p->column_count);
  for (uint32_t i = 0; i < p->column_count; i++) {
    nai_thrift_begin(t, 0);
    nai_thrift_begin(t, 1); /* TypeDefinedOrder */
    nai_thrift_end(t);
    nai_thrift_end(t);
  }
}

int nai_parquet_finish(struct nai_parquet *p, struct nai_err *err) {
  if (p->held)
    NAI_TRY(write_group(p, err));
  size_t begin = nai_buf_position(p->out);
  struct nai_thrift t = {.out = p->out};
  nai_thrift_int(&t, 1, NAI_THRIFT_I32, 1);
  put_schema(&t, p);
  nai_thrift_int(&t, 3, NAI_THRIFT_I64, p->rows);
  nai_thrift_list(&t, 4, NAI_THRIFT_STRUCT, p->group_count);
  for (uint32_t i = 0; i < p->group_count; i++)
    put_group(&t, p, &p->groups[i]);
  put_metadata(&t, p);
  nai_thrift_text(&t, 6, "nsys-ai version " NAI_VERSION);
  put_orders(&t, p);
  nai_thrift_end(&t);
  uint32_t len = (uint32_t)(nai_buf_position(p->out) - begin);
  nai_buf_put(p->out, &len, sizeof len);
  nai_buf_put(p->out, magic, sizeof magic);
  return nai_buf_check(p->out, err);
}

void nai_parquet_free(struct nai_parquet *p) {
  if (!p)
    return;
  for (uint32_t i = 0; i < p->column_count; i++)
    nai_parquet_column_free(&p->columns[i]);
  nai_arena_free(&p->arena);
  free(p);
}
