/* The cells of a column chunk: its pages one after the other. */
#include "base/fs.h"
#include "trace/parquet/parquet.h"
#include "trace/parquet/thrift_in.h"

enum { DATA_PAGE, INDEX_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 };
enum {
  PLAIN = 0,
  PLAIN_DICTIONARY = 2,
  RLE = 3,
  DELTA = 5,
  DELTA_LENGTH = 6,
  DELTA_TEXT = 7,
  DICTIONARY = 8,
  SPLIT = 9
};

static int damaged(const struct nai_pq_cells *c, const char *what, struct nai_err *err) {
  return nai_err_damaged(err, "it is damaged: column \"%s\": %s", c->column->name, what);
}

/* --- pages --------------------------------------------------------------------------------------------------- */

static int add_page(struct nai_pq_cells *c, struct nai_thrift_in *in, struct nai_err *err) {
  enum { KIND, RAW, STORED, VALUES, ENCODING, LEVELS, DEFINITION_BYTES, REPETITION_BYTES, COMPRESSED, SLOTS };
  static const struct nai_thrift_field v1[] = {{.id = 1, .slot = VALUES},
                                               {.id = 2, .slot = ENCODING},
                                               {.id = 3, .slot = LEVELS},
                                               {0}},
                                       dictionary[] = {{.id = 1, .slot = VALUES}, {.id = 2, .slot = ENCODING}, {0}},
                                       v2[] = {{.id = 1, .slot = VALUES},           {.id = 4, .slot = ENCODING},
                                               {.id = 5, .slot = DEFINITION_BYTES}, {.id = 6, .slot = REPETITION_BYTES},
                                               {.id = 7, .slot = COMPRESSED},       {0}},
                                       fields[] = {{.id = 1, .slot = KIND},
                                                   {.id = 2, .slot = RAW},
                                                   {.id = 3, .slot = STORED},
                                                   {.id = 5, .inside = v1},
                                                   {.id = 7, .inside = dictionary},
                                                   {.id = 8, .inside = v2},
                                                   {0}};
  int64_t got[SLOTS] = {[LEVELS] = RLE, [COMPRESSED] = 1};
  nai_thrift_in_struct(in, fields, got, NULL);
  int64_t levels = got[KIND] == DATA_PAGE_V2 ? got[DEFINITION_BYTES] : 0;
  if (in->bad || got[RAW] < 0 || got[STORED] < 0 || got[STORED] > in->end - in->at || got[VALUES] < 0 || levels < 0 ||
      levels > got[STORED] || levels > got[RAW])
    return damaged(c, "the head of a page cannot be read", err);
  if (got[REPETITION_BYTES] || (got[KIND] == DATA_PAGE && c->column->optional && got[LEVELS] != RLE))
    return nai_err_set(err, NAI_EINPUT, "column \"%s\" has levels that are not supported", c->column->name);
  if (got[KIND] != INDEX_PAGE) {
    NAI_TRY(NAI_ROOM(c->pages, c->page_capacity, c->page_count, &c->arena, err));
    c->pages[c->page_count++] = (struct nai_pq_page){.kind = (int)got[KIND],
                                                     .encoding = (int)got[ENCODING],
                                                     .compressed = got[COMPRESSED],
                                                     .at = (uint64_t)(in->at - (const unsigned char *)c->stored.data),
                                                     .stored = (uint64_t)got[STORED],
                                                     .raw = (uint64_t)got[RAW],
                                                     .values = (uint64_t)got[VALUES],
                                                     .level_bytes = (uint64_t)levels};
  }
  in->at += got[STORED];
  return NAI_OK;
}

static int read_chunk(struct nai_pq_cells *c, const struct nai_pq_chunk *chunk, struct nai_err *err) {
  char *to = nai_buf_reserve(&c->stored, chunk->bytes + 1);
  if (!to)
    return nai_err_nomem(err);
  ssize_t n = nai_fs_read_upto(c->file->fd, to, chunk->bytes, chunk->at);
  if (n < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot read it");
  c->stored.len = (size_t)n;
  struct nai_thrift_in in = {.at = (unsigned char *)to, .end = (unsigned char *)to + n};
  while (in.at < in.end)
    NAI_TRY(add_page(c, &in, err));
  return NAI_OK;
}

/* --- values -------------------------------------------------------------------------------------------------- */

static uint64_t little_endian(const unsigned char *at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++)
    value |= (uint64_t)at[i] << 8 * i;
  return value;
}

static struct nai_cell whole(const struct nai_pq_column *column, int64_t value) {
  bool narrow = column->type == NAI_PQ_INT32;
  return (struct nai_cell){.type = NAI_CELL_INT,
                           .i = !narrow             ? value
                              : column->is_unsigned ? (int64_t)(uint32_t)value
                                                    : (int32_t)value};
}

static struct nai_cell bytes(const struct nai_pq_column *column, const unsigned char *at, uint64_t len) {
  return (struct nai_cell){.type = column->is_text ? NAI_CELL_TEXT : NAI_CELL_BLOB,
                           .len = (uint32_t)len, /* whole: who reads the database cuts, as that of an export */
                           .data = (const char *)at};
}

static const unsigned char widths[] = {
    [NAI_PQ_INT32] = 4, [NAI_PQ_INT64] = 8, [NAI_PQ_FLOAT] = 4, [NAI_PQ_DOUBLE] = 8, [NAI_PQ_BYTES] = 4};

/* False when there are too few bytes. */
static bool plain(struct nai_cell *cell, const struct nai_pq_column *column, const unsigned char **at,
                  const unsigned char *end) {
  int width = widths[column->type];
  if (end - *at < width)
    return false;
  uint64_t bits = little_endian(*at, width);
  *at += width;
  if (column->type == NAI_PQ_INT32 || column->type == NAI_PQ_INT64)
    *cell = whole(column, (int64_t)bits);
  else if (column->type == NAI_PQ_BYTES) {
    if (bits > (uint64_t)(end - *at))
      return false;
    *cell = bytes(column, *at, bits);
    *at += bits;
  } else {
    float narrow;
    uint32_t half = (uint32_t)bits;
    *cell = (struct nai_cell){.type = NAI_CELL_REAL};
    memcpy(&narrow, &half, sizeof narrow);
    memcpy(&cell->real, &bits, sizeof cell->real);
    cell->real = column->type == NAI_PQ_FLOAT ? (double)narrow : cell->real;
  }
  return true;
}

static int read_dictionary(struct nai_pq_cells *c, const struct nai_pq_page *page, struct nai_err *err) {
  const unsigned char *at = (const unsigned char *)c->raw.data + page->at, *end = at + page->raw;
  if (c->dictionary || page->values > page->raw || c->column->type == NAI_PQ_BOOLEAN)
    return damaged(c, "its dictionary is none", err);
  NAI_TRY(NAI_NEW(c->dictionary, &c->arena, page->values + 1, err));
  for (; c->dictionary_count < page->values; c->dictionary_count++)
    if (!plain(&c->dictionary[c->dictionary_count], c->column, &at, end))
      return damaged(c, "its dictionary ends too early", err);
  return NAI_OK;
}

/* Whole numbers, or the lengths of texts. */
static int enter_deltas(struct nai_pq_cells *c, struct nai_err *err) {
  uint64_t count = 0;
  c->text.len = 0;
  if (c->encoding == DELTA_TEXT)
    NAI_TRY(nai_pq_deltas(&c->prefixes, &count, &c->at, c->end, c->left, &c->page_arena, err));
  NAI_TRY(nai_pq_deltas(&c->deltas, &c->delta_count, &c->at, c->end, c->left, &c->page_arena, err));
  return c->encoding != DELTA_TEXT || count == c->delta_count ? NAI_OK
                                                              : damaged(c, "a page of texts contradicts itself", err);
}

static int enter_values(struct nai_pq_cells *c, struct nai_err *err) {
  enum nai_pq_type type = c->column->type;
  nai_arena_free(&c->page_arena);
  c->next_delta = c->delta_count = 0;
  switch (c->encoding) {
  case PLAIN:
    if (type == NAI_PQ_BOOLEAN) /* one packed run */
      c->numbers = (struct nai_pq_runs){
          .at = c->at, .end = c->end, .width = 1, .left = (uint64_t)(c->end - c->at) * 8, .packed = true};
    return NAI_OK;
  case PLAIN_DICTIONARY:
  case DICTIONARY:
    if (!c->dictionary || (c->at<c->end && * c->at> 32))
      return damaged(c, "a page refers to a dictionary that is not there", err);
    c->numbers =
        (struct nai_pq_runs){.at = c->at + (c->at < c->end), .end = c->end, .width = c->at < c->end ? *c->at : 0};
    return NAI_OK;
  case RLE:
    if (type != NAI_PQ_BOOLEAN || c->end - c->at < 4)
      break;
    c->numbers = (struct nai_pq_runs){.at = c->at + 4, .end = c->end, .width = 1};
    return NAI_OK;
  case DELTA:
  case DELTA_LENGTH:
  case DELTA_TEXT:
    if (c->encoding == DELTA ? type != NAI_PQ_INT32 && type != NAI_PQ_INT64 : type != NAI_PQ_BYTES)
      break;
    return enter_deltas(c, err);
  case SPLIT:
    if (type == NAI_PQ_BOOLEAN || type == NAI_PQ_BYTES)
      break;
    c->delta_count = (uint64_t)(c->end - c->at) / widths[type];
    return NAI_OK;
  default:
    break;
  }
  return nai_err_set(err, NAI_EINPUT, "column \"%s\" is written in encoding %d, which is not supported",
                     c->column->name, c->encoding);
}

static int enter_page(struct nai_pq_cells *c, struct nai_err *err) {
  const struct nai_pq_page *page = &c->pages[c->next_page++];
  c->at = (const unsigned char *)c->raw.data + page->at;
  c->end = c->at + page->raw;
  if (page->kind == DICTIONARY_PAGE)
    return read_dictionary(c, page, err);
  c->left = page->values;
  c->encoding = page->encoding;
  if (page->kind == DATA_PAGE_V2) {
    c->levels = (struct nai_pq_runs){.at = c->at, .end = c->at + page->level_bytes, .width = 1};
    c->at += page->level_bytes;
  } else if (page->kind != DATA_PAGE)
    return damaged(c, "a page is of no known kind", err);
  else if (c->column->optional) {
    uint64_t len = c->end - c->at < 4 ? 0 : little_endian(c->at, 4);
    if (c->end - c->at < 4 || len > (uint64_t)(c->end - c->at) - 4)
      return damaged(c, "the levels of a page end too early", err);
    c->levels = (struct nai_pq_runs){.at = c->at + 4, .end = c->at + 4 + len, .width = 1};
    c->at += 4 + len;
  }
  return enter_values(c, err);
}

/* The bytes of equal place of all values lie together. */
static bool split(struct nai_cell *cell, struct nai_pq_cells *c, uint64_t index) {
  unsigned char together[8];
  const unsigned char *at = together;
  for (int i = 0; i < widths[c->column->type]; i++)
    together[i] = c->at[(uint64_t)i * c->delta_count + index];
  return plain(cell, c->column, &at, together + sizeof together);
}

static bool delta(struct nai_cell *cell, struct nai_pq_cells *c) {
  if (c->next_delta >= c->delta_count)
    return false;
  uint64_t index = c->next_delta++;
  if (c->encoding == SPLIT)
    return split(cell, c, index);
  int64_t number = c->deltas[index];
  if (c->encoding == DELTA) {
    *cell = whole(c->column, number);
    return true;
  }
  if (number < 0 || number > c->end - c->at)
    return false;
  *cell = bytes(c->column, c->at, (uint64_t)number);
  if (c->encoding == DELTA_TEXT) {
    if (c->prefixes[index] < 0 || (uint64_t)c->prefixes[index] > c->text.len)
      return false;
    c->text.len = (size_t)c->prefixes[index];
    nai_buf_put(&c->text, c->at, (size_t)number);
    *cell = bytes(c->column, (const unsigned char *)nai_buf_str(&c->text), c->text.len);
  }
  c->at += number;
  return true;
}

static bool value(struct nai_cell *cell, struct nai_pq_cells *c) {
  if (c->encoding == DELTA || c->encoding == DELTA_LENGTH || c->encoding == DELTA_TEXT || c->encoding == SPLIT)
    return delta(cell, c);
  if (c->encoding == PLAIN && c->column->type != NAI_PQ_BOOLEAN)
    return plain(cell, c->column, &c->at, c->end);
  uint64_t number = nai_pq_runs_next(&c->numbers);
  if (c->numbers.bad)
    return false;
  if (c->column->type == NAI_PQ_BOOLEAN)
    *cell = (struct nai_cell){.type = NAI_CELL_INT, .i = (int64_t)number};
  else if (number < c->dictionary_count)
    *cell = c->dictionary[number];
  else
    return false;
  return true;
}

int nai_pq_cells_next(struct nai_cell *cell, struct nai_pq_cells *c, struct nai_err *err) {
  while (!c->left) {
    if (c->next_page == c->page_count)
      return damaged(c, "it has fewer values than its table has rows", err);
    NAI_TRY(enter_page(c, err));
  }
  c->left--;
  *cell = (struct nai_cell){.type = NAI_CELL_NULL};
  bool there = !c->column->optional || nai_pq_runs_next(&c->levels);
  if ((c->column->optional && c->levels.bad) || (there && !value(cell, c)))
    return damaged(c, "a page ends too early", err);
  return nai_buf_check(&c->text, err);
}

int nai_pq_cells_open(struct nai_pq_cells *out, const struct nai_pq_file *file, const struct nai_pq_chunk *chunk,
                      const char *spare, struct nai_err *err) {
  *out = (struct nai_pq_cells){.file = file, .column = &file->columns[chunk->column]};
  NAI_TRY(read_chunk(out, chunk, err));
  int rc = nai_pq_decompress(&out->raw, out->pages, out->page_count, &out->stored, chunk->codec, spare, err);
  nai_buf_free(&out->stored);
  out->stored = (struct nai_buf){0};
  return rc && err->code == NAI_EINPUT && !strstr(err->msg, "column")
           ? nai_err_wrap(err, rc, "column \"%s\"", out->column->name)
           : rc;
}

int nai_pq_cells_end(struct nai_pq_cells *c, struct nai_err *err) {
  bool more = c->left;
  for (; c->next_page < c->page_count; c->next_page++)
    more |= c->pages[c->next_page].kind != DICTIONARY_PAGE && c->pages[c->next_page].values;
  return more ? damaged(c, "it has more values than its table has rows", err) : NAI_OK;
}

void nai_pq_cells_free(struct nai_pq_cells *c) {
  nai_buf_free(&c->stored);
  nai_buf_free(&c->raw);
  nai_buf_free(&c->text);
  nai_arena_free(&c->arena);
  nai_arena_free(&c->page_arena);
}
