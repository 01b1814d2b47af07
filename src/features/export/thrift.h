/* Thrift's compact protocol, as much of it as Parquet's headers and footer need. Fields come in ascending order of
 * their numbers. Internal to src/features/export. */
#pragma once

#include "base/buf.h"

enum nai_thrift_type {
  NAI_THRIFT_I16 = 4,
  NAI_THRIFT_I32 = 5,
  NAI_THRIFT_I64 = 6,
  NAI_THRIFT_BINARY = 8,
  NAI_THRIFT_LIST = 9,
  NAI_THRIFT_STRUCT = 12
};
enum { NAI_THRIFT_MAX_DEPTH = 8 };

/* A struct being written, begun with {.out = out}. */
struct nai_thrift {
  struct nai_buf *out;
  int depth;
  int last[NAI_THRIFT_MAX_DEPTH]; /* the field written last, per open struct */
};

void nai_thrift_int(struct nai_thrift *t, int field, enum nai_thrift_type type, int64_t value);
void nai_thrift_bytes(struct nai_thrift *t, int field, const void *bytes, size_t len);
void nai_thrift_text(struct nai_thrift *t, int field, const char *text);
/* A struct as a field, or, with field 0, as an element of a list; nai_thrift_end ends it, and the outermost one. */
void nai_thrift_begin(struct nai_thrift *t, int field);
void nai_thrift_end(struct nai_thrift *t);
/* A list, whose elements follow. */
void nai_thrift_list(struct nai_thrift *t, int field, enum nai_thrift_type type, size_t count);
void nai_thrift_element_int(struct nai_thrift *t, int64_t value);
void nai_thrift_element_text(struct nai_thrift *t, const char *text);
