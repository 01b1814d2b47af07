/* Thrift's compact protocol: github.com/apache/thrift, doc/specs/thrift-compact-protocol.md. */
#include "features/export/thrift.h"

#include <assert.h>

static void put_zigzag(struct nai_buf *out, int64_t value) {
  nai_buf_put_varint(out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_field(struct nai_thrift *t, int field, enum nai_thrift_type type) {
  int *last = &t->last[t->depth], delta = field - *last;
  assert(delta > 0 && delta < 16); /* Parquet has no wider gaps */
  nai_buf_putc(t->out, (char)(delta << 4 | (int)type));
  *last = field;
}

void nai_thrift_int(struct nai_thrift *t, int field, enum nai_thrift_type type, int64_t value) {
  put_field(t, field, type);
  put_zigzag(t->out, value);
}

void nai_thrift_bytes(struct nai_thrift *t, int field, const void *bytes, size_t len) {
  put_field(t, field, NAI_THRIFT_BINARY);
  nai_buf_put_varint(t->out, len);
  nai_buf_put(t->out, bytes, len);
}

void nai_thrift_text(struct nai_thrift *t, int field, const char *text) {
  nai_thrift_bytes(t, field, text, strlen(text));
}

void nai_thrift_begin(struct nai_thrift *t, int field) {
  if (field)
    put_field(t, field, NAI_THRIFT_STRUCT);
  assert(t->depth + 1 < NAI_THRIFT_MAX_DEPTH);
  t->last[++t->depth] = 0;
}

void nai_thrift_end(struct nai_thrift *t) {
  nai_buf_putc(t->out, '\0');
  if (t->depth)
    t->depth--;
}

void nai_thrift_list(struct nai_thrift *t, int field, enum nai_thrift_type type, size_t count) {
  put_field(t, field, NAI_THRIFT_LIST);
  nai_buf_putc(t->out, (char)((count < 15 ? count : 15) << 4 | type));
  if (count >= 15)
    nai_buf_put_varint(t->out, count);
}

void nai_thrift_element_int(struct nai_thrift *t, int64_t value) { put_zigzag(t->out, value); }

void nai_thrift_element_text(struct nai_thrift *t, const char *text) {
  nai_buf_put_varint(t->out, strlen(text));
  nai_buf_puts(t->out, text);
}
