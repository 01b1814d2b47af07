/* The heads of records: the types of their values, which tell what the row holds and where it ends. */
#include "trace/pages/pages.h"

enum { SMALL_TYPES = 128 }; /* serial types of one byte */

/* Bytes of a value by its serial type, for types of one byte: numbers, then texts and blobs. */
#define NUMBER_SIZES 0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0, 0, 0, 1, 1
#define TEXT_SIZES_16(n) \
  n, n, n + 1, n + 1, n + 2, n + 2, n + 3, n + 3, n + 4, n + 4, n + 5, n + 5, n + 6, n + 6, n + 7, n + 7
static const uint8_t small_sizes[SMALL_TYPES] = {NUMBER_SIZES,      TEXT_SIZES_16(2),  TEXT_SIZES_16(10),
                                                 TEXT_SIZES_16(18), TEXT_SIZES_16(26), TEXT_SIZES_16(34),
                                                 TEXT_SIZES_16(42), TEXT_SIZES_16(50)};

/* What a column's declaration rules out: SQLite would not have stored it. */
static bool is_ruled_out(const struct nai_db_column *column, uint64_t type) {
  if (column->rowid_alias) /* NULL stands in its place */
    return type != 0;
  return (type == 0 && column->not_null) || (type >= 1 && type <= 9 && column->text_affinity);
}

/* Whether a row may end before its column number i. */
static bool may_be_absent(const struct nai_db_table *table, int i) {
  const struct nai_db_column *column = &table->columns[i];
  return table->altered && (column->added_with_default || !is_ruled_out(column, 0));
}

struct nai_row_rules nai_row_rules_of(const struct nai_db_table *table, int looked_at) {
  struct nai_row_rules rules = {
      .columns = table->columns, .table_columns = table->column_count, .looked_at = looked_at};
  while (rules.absent_columns < table->column_count &&
         may_be_absent(table, table->column_count - 1 - rules.absent_columns))
    rules.absent_columns++;
  return rules;
}

bool nai_record_ends(const unsigned char *p, const unsigned char *stop, const struct nai_row_rules *rules, int columns,
                     uint64_t at, uint64_t payload_bytes) {
  for (; p < stop; columns--) {
    uint64_t type = *p++;
    if (__builtin_expect(type < SMALL_TYPES, 1)) {
      at += small_sizes[type];
      continue;
    }
    p += nai_varint(&type, p - 1) - 1;
    if (type > UINT32_MAX)
      return false;
    at += nai_serial_bytes(type);
  }
  return p == stop && columns >= 0 && columns <= rules->absent_columns && at == payload_bytes;
}

bool nai_record_fits(const struct nai_payload *payload, const struct nai_db_table *table) {
  uint64_t header_bytes, type;
  const unsigned char *p = payload->data + nai_varint(&header_bytes, payload->data);
  if (header_bytes > payload->local)
    return header_bytes <= payload->bytes;
  const unsigned char *stop = payload->data + header_bytes;
  int i = 0;
  for (; p < stop && i < table->column_count; i++) {
    p += nai_varint(&type, p);
    if (is_ruled_out(&table->columns[i], type))
      return false;
  }
  for (; i < table->column_count; i++) /* a row older than these columns */
    if (!may_be_absent(table, i))
      return false;
  return p == stop;
}

/* Fills types and offsets of the columns from a head whose length takes `prefix` bytes. NULL, or what is wrong. */
static const char *read_head(struct nai_record_head *head, uint64_t *restrict types, uint32_t *restrict offsets,
                             const struct nai_row_rules *rules, uint32_t prefix, uint64_t payload_bytes) {
  static const char too_long[] = "a value is longer than its row";
  const unsigned char *p = head->data + prefix, *stop = head->data + head->bytes;
  uint64_t at = head->bytes;
  bool reserved = false, ruled_out = false;
  for (int i = 0; i < rules->looked_at; i++) {
    if (p >= stop) { /* a row older than this column */
      types[i] = 0;
      offsets[i] = 0;
      continue;
    }
    head->columns++;
    uint64_t type = *p++;
    offsets[i] = (uint32_t)at;
    if (__builtin_expect(type < SMALL_TYPES, 1)) {
      at += small_sizes[type];
      reserved |= (type & ~1ull) == 10;
    } else {
      p += nai_varint(&type, p - 1) - 1;
      if (type > UINT32_MAX)
        return too_long;
      at += nai_serial_bytes(type);
      if (at > payload_bytes)
        return too_long;
    }
    types[i] = type;
    ruled_out |= is_ruled_out(&rules->columns[i], type);
  }
  head->end = at;
  head->looked_at = (uint32_t)(p - head->data);
  if (p > stop || at > payload_bytes)
    return too_long;
  if (!nai_record_ends(p, stop, rules, rules->table_columns - head->columns, at, payload_bytes))
    return "a row does not end with its last value";
  if (ruled_out)
    return "a value is none that its column can hold";
  return reserved ? "a value has a reserved type" : NULL;
}

static int gather(const unsigned char **data, struct nai_buf *memory, const struct nai_pages *pages,
                  const struct nai_payload *payload, uint64_t bytes, struct nai_err *err) {
  struct nai_chain chain = nai_chain_start(pages, payload);
  nai_buf_clear(memory);
  char *to = nai_buf_reserve(memory, (size_t)bytes + NAI_PAGE_SLACK);
  NAI_TRY(nai_memory_check(to, err));
  memset(to + bytes, 0, NAI_PAGE_SLACK);
  *data = (const unsigned char *)to;
  return nai_chain_copy(&chain, to, 0, bytes, err);
}

int nai_record_head(struct nai_record_head *out, uint64_t *types, uint32_t *offsets, const struct nai_row_rules *rules,
                    const struct nai_pages *pages, const struct nai_payload *payload, struct nai_buf *memory,
                    struct nai_err *err) {
  enum { MAX_HEAD = 98307 }; /* SQLite's limit: 32767 columns of 3 bytes and its own length */
  uint64_t bytes;
  uint32_t prefix = nai_varint(&bytes, payload->data);
  if (bytes < prefix || bytes > payload->bytes || bytes > MAX_HEAD)
    return nai_page_damaged(err, payload->page, "a row's header is longer than the row");
  *out = (struct nai_record_head){.data = payload->data, .bytes = (uint32_t)bytes};
  if (bytes > payload->local)
    NAI_TRY(gather(&out->data, memory, pages, payload, bytes, err));
  const char *wrong = read_head(out, types, offsets, rules, prefix, payload->bytes);
  return wrong ? nai_page_damaged(err, payload->page, wrong) : NAI_OK;
}
