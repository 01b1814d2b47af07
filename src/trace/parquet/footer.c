/* The footer of a Parquet file: its columns and where their chunks are. */
#include "base/fs.h"
#include "trace/parquet/parquet.h"
#include "trace/parquet/thrift_in.h"

#include <sys/stat.h>

enum { MAX_FOOTER = 256 << 20, MAX_COLUMNS = 2000, MAX_NAME = 1000 };
enum { UTF8 = 0, ENUM = 4, DECIMAL = 5, LAST_TIME = 10, UINT_8 = 11, UINT_64 = 14, JSON = 19, NONE = -1 };

struct footer {
  struct nai_pq_file *file;
  struct nai_err *err;
  int rc;
  bool root_seen;
};

static void add_column(void *ctx, struct nai_thrift_in *in) {
  enum { TYPE, REPETITION, NAME, NAME_LEN, CHILDREN, CONVERTED, IS_STRING, SLOTS };
  static const struct nai_thrift_field none[] = {{0}};
  static const struct nai_thrift_field logical[] = {{.id = 1, .slot = IS_STRING, .inside = none}, {0}};
  static const struct nai_thrift_field fields[] = {{.id = 1, .slot = TYPE},
                                                   {.id = 3, .slot = REPETITION},
                                                   {.id = 4, .slot = NAME, .text = true},
                                                   {.id = 5, .slot = CHILDREN},
                                                   {.id = 6, .slot = CONVERTED},
                                                   {.id = 10, .slot = IS_STRING, .inside = logical},
                                                   {0}};
  struct footer *footer = ctx;
  struct nai_pq_file *file = footer->file;
  int64_t got[SLOTS] = {[TYPE] = NONE, [CONVERTED] = NONE};
  nai_thrift_in_struct(in, fields, got, NULL);
  if (in->bad || footer->rc)
    return;
  if (!footer->root_seen) {
    footer->root_seen = true;
    return;
  }
  footer->rc = file->column_count == MAX_COLUMNS || got[NAME_LEN] > MAX_NAME || got[NAME_LEN] < 1
                 ? nai_err_set(footer->err, NAI_EINPUT, "it has more columns, or longer names, than an export")
                 : NAI_ROOM(file->columns, file->column_capacity, file->column_count, &file->arena, footer->err);
  if (footer->rc)
    return;
  const char *name = nai_arena_printf(&file->arena, "%.*s", (int)got[NAME_LEN], (const char *)(intptr_t)got[NAME]);
  bool time = got[CONVERTED] >= DECIMAL && got[CONVERTED] <= LAST_TIME;
  const char *refused = got[CHILDREN] || got[TYPE] < 0 || got[REPETITION] < 0 || got[REPETITION] > 1 ? "nested values"
                      : got[TYPE] == NAI_PQ_INT96 || got[TYPE] > NAI_PQ_BYTES ? "values of fixed length"
                      : time                                                  ? "decimals, dates or times"
                                                                              : NULL;
  if (refused)
    file->wrong = nai_arena_printf(&file->arena, "column \"%s\" has %s, which are not supported", name, refused);
  file->columns[file->column_count++] = (struct nai_pq_column){
      .name = name,
      .type = (enum nai_pq_type)got[TYPE],
      .optional = got[REPETITION] == 1,
      .is_text = got[IS_STRING] || got[CONVERTED] == UTF8 || got[CONVERTED] == ENUM || got[CONVERTED] == JSON,
      .is_unsigned = got[CONVERTED] >= UINT_8 && got[CONVERTED] <= UINT_64};
}

static void add_chunk(void *ctx, struct nai_thrift_in *in) {
  enum { PATH, PATH_LEN, CODEC, BYTES, DATA, DICTIONARY, ENCRYPTED, SLOTS };
  static const struct nai_thrift_field none[] = {{0}};
  static const struct nai_thrift_field meta[] = {
      {.id = 4, .slot = CODEC}, {.id = 7, .slot = BYTES}, {.id = 9, .slot = DATA}, {.id = 11, .slot = DICTIONARY}, {0}};
  static const struct nai_thrift_field fields[] = {{.id = 1, .slot = PATH, .text = true},
                                                   {.id = 3, .inside = meta},
                                                   {.id = 8, .slot = ENCRYPTED, .inside = none},
                                                   {0}};
  struct footer *footer = ctx;
  struct nai_pq_file *file = footer->file;
  int64_t got[SLOTS] = {0};
  nai_thrift_in_struct(in, fields, got, NULL);
  if (in->bad || footer->rc)
    return;
  if (got[ENCRYPTED] || got[PATH_LEN])
    file->wrong = got[ENCRYPTED] ? "it is encrypted, which is not supported" : "its data lies in another file";
  footer->rc = NAI_ROOM(file->chunks, file->chunk_capacity, file->chunk_count, &file->arena, footer->err);
  if (footer->rc)
    return;
  int64_t at = got[DICTIONARY] > 0 && got[DICTIONARY] < got[DATA] ? got[DICTIONARY] : got[DATA];
  in->bad |= at < 0 || got[BYTES] < 0 || (uint64_t)at > file->size_bytes ||
             (uint64_t)got[BYTES] > file->size_bytes - (uint64_t)at;
  file->chunks[file->chunk_count++] =
      (struct nai_pq_chunk){.at = (uint64_t)at, .bytes = (uint64_t)got[BYTES], .codec = (int)got[CODEC]};
}

static void add_group(void *ctx, struct nai_thrift_in *in) {
  enum { ROWS, SLOTS };
  static const struct nai_thrift_field fields[] = {{.id = 1, .element = add_chunk}, {.id = 3, .slot = ROWS}, {0}};
  struct footer *footer = ctx;
  struct nai_pq_file *file = footer->file;
  int64_t got[SLOTS] = {0};
  uint32_t begin = file->chunk_count;
  nai_thrift_in_struct(in, fields, got, footer);
  if (in->bad || footer->rc)
    return;
  in->bad |= file->chunk_count - begin != file->column_count || got[ROWS] < 0 || got[ROWS] > INT32_MAX;
  for (uint32_t i = begin; i < file->chunk_count; i++)
    file->chunks[i].column = i - begin;
  footer->rc = NAI_ROOM(file->group_rows, file->group_capacity, file->group_count, &file->arena, footer->err);
  if (footer->rc)
    return;
  file->group_rows[file->group_count++] = (uint64_t)got[ROWS];
  file->rows += (uint64_t)got[ROWS];
}

static int damaged(struct nai_err *err) { return nai_err_damaged(err, "it is damaged: its footer cannot be read"); }

static int read_footer(struct nai_pq_file *file, struct nai_buf *text, struct nai_err *err) {
  enum { ROWS, SLOTS };
  static const struct nai_thrift_field fields[] = {
      {.id = 2, .element = add_column}, {.id = 3, .slot = ROWS}, {.id = 4, .element = add_group}, {0}};
  const unsigned char *data = (const unsigned char *)text->data;
  struct nai_thrift_in in = {.at = data, .end = data + text->len};
  struct footer footer = {.file = file, .err = err};
  int64_t got[SLOTS] = {0};
  nai_thrift_in_struct(&in, fields, got, &footer);
  NAI_TRY(footer.rc);
  NAI_TRY(nai_arena_check(&file->arena, err));
  if (in.bad || !file->column_count || got[ROWS] < 0 || (uint64_t)got[ROWS] != file->rows)
    return damaged(err);
  return file->wrong ? nai_err_set(err, NAI_EINPUT, "%s", file->wrong) : NAI_OK;
}

int nai_pq_open(struct nai_pq_file *out, int fd, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  unsigned char tail[8];
  struct stat st;
  *out = (struct nai_pq_file){.arena = NAI_ARENA(NULL), .fd = fd};
  if (fstat(fd, &st) != 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot examine it");
  out->size_bytes = (uint64_t)st.st_size;
  if (out->size_bytes < sizeof tail + 4 ||
      nai_fs_read_upto(fd, tail, sizeof tail, out->size_bytes - sizeof tail) != sizeof tail)
    return nai_err_damaged(err, "it is too short for a Parquet file");
  if (memcmp(tail + 4, "PARE", 4) == 0)
    return nai_err_set(err, NAI_EINPUT, "it is encrypted, which is not supported");
  uint32_t len = (uint32_t)tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 | (uint32_t)tail[3] << 24;
  if (memcmp(tail + 4, "PAR1", 4) != 0)
    return nai_err_damaged(err, "it does not end as a Parquet file does");
  if (len > out->size_bytes - sizeof tail || len > MAX_FOOTER)
    return damaged(err);
  char *to = nai_buf_reserve(&text, len);
  if (!to)
    return nai_err_nomem(err);
  text.len = len;
  if (nai_fs_read_upto(fd, to, len, out->size_bytes - sizeof tail - len) != (ssize_t)len)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot read it");
  return read_footer(out, &text, err);
}

void nai_pq_file_free(struct nai_pq_file *file) { nai_arena_free(&file->arena); }
