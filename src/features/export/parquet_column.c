/* Cells of one column until their row group is written. */
#include "features/export/parquet_column.h"

#include "base/array.h"
#include "base/text.h"
#include "features/export/export.h"
#include "features/export/thrift.h"
#include "report/rows.h"

enum { PAGE_ROWS = 1 << 16 }; /* numbers of a page: half a MiB */
enum { PLAIN = 0, RLE = 3, RLE_DICTIONARY = 8 };
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };

/* --- cells ------------------------------------------------------------------------------------------- */

static int64_t bits_of(double real) {
  int64_t bits;
  memcpy(&bits, &real, sizeof bits);
  return bits;
}

static double real_of(int64_t bits) {
  double real;
  memcpy(&real, &bits, sizeof real);
  return real;
}

/* Id of a text, which Parquet wants in valid UTF-8. */
static int64_t add_text(struct nai_parquet_held *column, const char *text, size_t len) {
  NAI_SCOPED(nai_buf) clean = {0};
  if (!nai_text_is_clean(text, len)) {
    nai_text_repair(&clean, text, len);
    text = nai_buf_str(&clean);
    len = clean.len;
  }
  return clean.oom ? NAI_NO_STRING : nai_strings_add(&column->texts, text, len);
}

static int64_t add_number_as_text(struct nai_parquet_held *column, const struct nai_value *value) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_rows_number(&text, NAI_UNIT_COUNT, value);
  return text.oom ? NAI_NO_STRING : add_text(column, nai_buf_str(&text), text.len);
}

/* What is held becomes of another type. */
static bool turn(struct nai_parquet_held *column, enum nai_parquet_type type) {
  for (int64_t i = 0; i < column->count && column->type != type; i++) {
    int64_t *at = &column->values[i];
    bool real = column->type == NAI_PARQUET_DOUBLE;
    const struct nai_value value = {
        .type = real ? NAI_F64 : NAI_I64, .i = real ? 0 : *at, .f = real ? real_of(*at) : 0};
    *at = type == NAI_PARQUET_DOUBLE ? bits_of((double)*at) : add_number_as_text(column, &value);
    if (type == NAI_PARQUET_TEXT && *at == NAI_NO_STRING)
      return false;
  }
  column->type = type;
  return true;
}

static enum nai_parquet_type type_of(const struct nai_value *cell) {
  return cell->type == NAI_STR ? NAI_PARQUET_TEXT : cell->type == NAI_F64 ? NAI_PARQUET_DOUBLE : NAI_PARQUET_INT64;
}

static const char *type_name(enum nai_parquet_type type) {
  return type == NAI_PARQUET_TEXT ? "a text" : type == NAI_PARQUET_DOUBLE ? "a real number" : "an integer";
}

/* Makes the column hold cells of that type, or wider ones. */
static int widen(struct nai_parquet_held *column, enum nai_parquet_type type, int64_t row, struct nai_err *err) {
  if (column->type == NAI_PARQUET_UNKNOWN)
    column->type = type;
  if (type == column->type || column->type == NAI_PARQUET_TEXT ||
      (column->type == NAI_PARQUET_DOUBLE && type == NAI_PARQUET_INT64))
    return NAI_OK;
  if (column->written)
    return nai_err_set(
        err, NAI_EUSAGE,
        "column \"%s\" has %s in row %lld, behind more rows than are held without one; name its type with "
        "cast(... as %s)",
        column->name, type_name(type), (long long)row, type == NAI_PARQUET_TEXT ? "text" : "real");
  return turn(column, type) ? NAI_OK : nai_err_nomem(err);
}

static bool make_room(struct nai_parquet_held *column) {
  return nai_array_room(&column->present, &column->row_capacity, column->rows, sizeof *column->present) &&
         nai_array_room(&column->values, &column->value_capacity, column->count, sizeof *column->values);
}

int nai_parquet_column_add(struct nai_parquet_held *column, const struct nai_value *cell, int64_t row,
                           struct nai_err *err) {
  bool of_time = cell->type != NAI_STR && (column->unit == NAI_US || column->unit == NAI_MS || column->unit == NAI_S);
  struct nai_value value = *cell;
  if (of_time && !cell->null)
    value = (struct nai_value){.type = NAI_F64, .f = nai_value_number(column->unit, cell)};
  NAI_TRY(nai_memory_check(make_room(column), err));
  column->present[column->rows++] = !value.null;
  if (value.null)
    return NAI_OK;
  NAI_TRY(widen(column, type_of(&value), row, err));
  int64_t stored = column->type == NAI_PARQUET_INT64  ? value.i
                 : column->type == NAI_PARQUET_DOUBLE ? bits_of(value.type == NAI_F64 ? value.f : (double)value.i)
                 : value.type == NAI_STR              ? add_text(column, value.s, strlen(value.s))
                                                      : add_number_as_text(column, &value);
  if (column->type == NAI_PARQUET_TEXT && stored == NAI_NO_STRING)
    return nai_err_nomem(err);
  column->values[column->count++] = stored;
  return NAI_OK;
}

size_t nai_parquet_column_bytes(const struct nai_parquet_held *column) {
  return (size_t)column->rows + (size_t)column->count * sizeof *column->values + column->texts.bytes_len +
         column->texts.count * (sizeof(uint64_t) * 3);
}

void nai_parquet_column_free(struct nai_parquet_held *column) {
  free(column->present);
  free(column->values);
  nai_strings_free(&column->texts);
  column->present = NULL;
  column->values = NULL;
  column->texts = (struct nai_strings){0};
  column->rows = column->count = column->row_capacity = column->value_capacity = 0;
}

/* --- statistics -------------------------------------------------------------------------------------- */

static void bound_numbers(struct nai_parquet_chunk *chunk, const struct nai_parquet_held *column) {
  bool real = column->type == NAI_PARQUET_DOUBLE;
  int64_t least = column->values[0], greatest = least;
  for (int64_t i = 1; i < column->count; i++) {
    int64_t v = column->values[i];
    least = (real ? real_of(v) < real_of(least) : v < least) ? v : least;
    greatest = (real ? real_of(v) > real_of(greatest) : v > greatest) ? v : greatest;
  }
  if (real && real_of(least) == 0) /* readers take -0 for less than 0 */
    least = bits_of(-0.0);
  if (real && real_of(greatest) == 0)
    greatest = bits_of(0.0);
  memcpy(chunk->min, &least, sizeof least);
  memcpy(chunk->max, &greatest, sizeof greatest);
  chunk->min_len = chunk->max_len = sizeof least;
  chunk->bounded = true;
}

static int compare_texts(const struct nai_strings *texts, uint32_t a, uint32_t b) {
  size_t m = nai_strings_len(texts, a), n = nai_strings_len(texts, b);
  int order = memcmp(nai_strings_get(texts, a), nai_strings_get(texts, b), m < n ? m : n);
  return order ? order : (m > n) - (m < n);
}

static void bound_texts(struct nai_parquet_chunk *chunk, const struct nai_strings *texts) {
  uint32_t least = 0, greatest = 0;
  for (uint32_t i = 1; i < texts->count; i++) {
    least = compare_texts(texts, i, least) < 0 ? i : least;
    greatest = compare_texts(texts, i, greatest) > 0 ? i : greatest;
  }
  size_t m = nai_strings_len(texts, least), n = nai_strings_len(texts, greatest);
  if (m > NAI_PARQUET_BOUND_MAX || n > NAI_PARQUET_BOUND_MAX)
    return;
  memcpy(chunk->min, nai_strings_get(texts, least), m);
  memcpy(chunk->max, nai_strings_get(texts, greatest), n);
  chunk->min_len = (uint8_t)m;
  chunk->max_len = (uint8_t)n;
  chunk->bounded = true;
}

/* --- numbers ----------------------------------------------------------------------------------------- */

/* Parquet's hybrid of runs and packed bits: Encodings.md of apache/parquet-format, "RLE / bit-packing hybrid". */
enum { GROUP = 8 }; /* packed bits come in groups of eight values; so many alike are worth a run */

/* Values first to last, packed from the lowest bit on; a group that is not full ends in zeros. */
static void put_packed(struct nai_buf *out, const int64_t *ids, int64_t count, int bits) {
  int64_t groups = (count + GROUP - 1) / GROUP;
  uint64_t held = 0;
  int used = 0;
  if (!count)
    return;
  nai_buf_put_varint(out, (uint64_t)groups << 1 | 1);
  for (int64_t i = 0; i < groups * GROUP; i++) {
    held |= (uint64_t)(i < count ? ids[i] : 0) << used;
    for (used += bits; used >= 8; used -= 8, held >>= 8)
      nai_buf_putc(out, (char)held);
  }
}

static void put_run(struct nai_buf *out, int64_t id, int64_t count, int bits) {
  nai_buf_put_varint(out, (uint64_t)count << 1);
  for (int bit = 0; bit < bits; bit += 8)
    nai_buf_putc(out, (char)(id >> bit));
}

void nai_parquet_put_ids(struct nai_buf *out, const int64_t *ids, int64_t count, int bits) {
  int64_t packed = 0; /* from here on waits to be packed */
  for (int64_t i = 0; i < count;) {
    int64_t end = i + 1;
    while (end < count && ids[end] == ids[i])
      end++;
    int64_t fill = (GROUP - (i - packed) % GROUP) % GROUP; /* that complete the last group */
    if (end - i - fill >= GROUP) {
      put_packed(out, ids + packed, i + fill - packed, bits);
      put_run(out, ids[i], end - i - fill, bits);
      packed = end;
    }
    i = end;
  }
  put_packed(out, ids + packed, count - packed, bits);
}

/* --- pages ------------------------------------------------------------------------------------------- */

struct pages {
  struct nai_parquet_chunk *chunk;
  struct nai_buf *out, body, packed, header;
  int64_t *scratch; /* PAGE_ROWS numbers */
  bool gzip;
};

static void pages_free(struct pages *p) {
  nai_buf_free(&p->body);
  nai_buf_free(&p->packed);
  nai_buf_free(&p->header);
  free(p->scratch);
}

static int put_page(struct pages *p, int type, int64_t values, int encoding, struct nai_err *err) {
  struct nai_buf *stored = &p->body;
  struct nai_thrift t = {.out = &p->header};
  NAI_TRY(nai_buf_check(&p->body, err));
  if (p->gzip) {
    nai_buf_clear(&p->packed);
    NAI_TRY(nai_gzip_all(stored = &p->packed, nai_buf_str(&p->body), p->body.len, err));
  }
  nai_buf_clear(&p->header);
  nai_thrift_int(&t, 1, NAI_THRIFT_I32, type);
  nai_thrift_int(&t, 2, NAI_THRIFT_I32, (int64_t)p->body.len);
  nai_thrift_int(&t, 3, NAI_THRIFT_I32, (int64_t)stored->len);
  nai_thrift_begin(&t, type == DATA_PAGE ? 5 : 7);
  nai_thrift_int(&t, 1, NAI_THRIFT_I32, values);
  nai_thrift_int(&t, 2, NAI_THRIFT_I32, encoding);
  if (type == DATA_PAGE) {
    nai_thrift_int(&t, 3, NAI_THRIFT_I32, RLE);
    nai_thrift_int(&t, 4, NAI_THRIFT_I32, RLE);
  }
  nai_thrift_end(&t);
  nai_thrift_end(&t);
  nai_buf_put(p->out, nai_buf_str(&p->header), p->header.len);
  nai_buf_put(p->out, nai_buf_str(stored), stored->len);
  p->chunk->raw_bytes += p->header.len + p->body.len;
  p->chunk->stored_bytes += p->header.len + stored->len;
  nai_buf_clear(&p->body);
  return nai_buf_check(&p->header, err);
}

static int put_dictionary(struct pages *p, const struct nai_strings *texts, struct nai_err *err) {
  for (uint32_t i = 0; i < texts->count; i++) {
    uint32_t len = (uint32_t)nai_strings_len(texts, i);
    nai_buf_put(&p->body, &len, sizeof len);
    nai_buf_put(&p->body, nai_strings_get(texts, i), len);
  }
  return put_page(p, DICTIONARY_PAGE, texts->count, PLAIN, err);
}

/* Which rows have a value, as numbers of one bit. */
static void put_levels(struct nai_buf *body, int64_t *scratch, const unsigned char *present, int64_t rows) {
  NAI_SCOPED(nai_buf) levels = {0};
  for (int64_t i = 0; i < rows; i++)
    scratch[i] = present[i];
  nai_parquet_put_ids(&levels, scratch, rows, 1);
  uint32_t len = (uint32_t)levels.len;
  nai_buf_put(body, &len, sizeof len);
  nai_buf_put(body, nai_buf_str(&levels), levels.len);
  body->oom |= levels.oom;
}

static int put_data(struct pages *p, const struct nai_parquet_held *column, struct nai_err *err) {
  bool text = column->type == NAI_PARQUET_TEXT && column->texts.count;
  int bits = 1;
  while (text && (uint64_t)column->texts.count > UINT64_C(1) << bits)
    bits++;
  for (int64_t row = 0, value = 0, rows, count; row < column->rows; row += rows, value += count) {
    rows = column->rows - row < PAGE_ROWS ? column->rows - row : PAGE_ROWS;
    count = 0;
    for (int64_t i = 0; i < rows; i++)
      count += column->present[row + i];
    put_levels(&p->body, p->scratch, column->present + row, rows);
    if (text) {
      nai_buf_putc(&p->body, (char)bits);
      nai_parquet_put_ids(&p->body, column->values + value, count, bits);
    } else {
      nai_buf_put(&p->body, column->values + value, (size_t)count * sizeof *column->values);
    }
    NAI_TRY(put_page(p, DATA_PAGE, rows, text ? RLE_DICTIONARY : PLAIN, err));
  }
  return NAI_OK;
}

int nai_parquet_column_write(struct nai_parquet_chunk *chunk, struct nai_buf *out, struct nai_parquet_held *column,
                             bool gzip, struct nai_err *err) {
  NAI_SCOPED(pages) p = {.chunk = chunk, .out = out, .gzip = gzip, .scratch = malloc(PAGE_ROWS * sizeof *p.scratch)};
  NAI_TRY(nai_memory_check(p.scratch, err));
  *chunk = (struct nai_parquet_chunk){.rows = column->rows, .nulls = column->rows - column->count};
  if (column->texts.count) {
    chunk->dictionary_at = nai_buf_position(out);
    NAI_TRY(put_dictionary(&p, &column->texts, err));
    bound_texts(chunk, &column->texts);
  } else if (column->count) {
    bound_numbers(chunk, column);
  }
  chunk->data_at = nai_buf_position(out);
  NAI_TRY(put_data(&p, column, err));
  column->written |= column->count > 0;
  nai_parquet_column_free(column);
  return nai_buf_check(out, err);
}
