/* Reading Thrift's compact protocol, as much of it as Parquet's headers and footers need. Internal to
 * src/trace/parquet. */
#pragma once

#include "base/std.h"

/* Bytes that are read from the front. Once `bad`, everything yields 0. */
struct nai_thrift_in {
  const unsigned char *at, *end;
  bool bad;
  int depth;
};

/* A field that is wanted. Integers and booleans go to slots[slot]; of a `text` the address and its length into
 * slots[slot] and slots[slot + 1]; of a struct `inside` is read, and slots[slot] becomes 1 where it has no fields to
 * read; `element` is called for each element of a list of structs. All others are skipped. */
struct nai_thrift_field {
  int id, slot;
  bool text;
  const struct nai_thrift_field *inside; /* ends with id 0 */
  void (*element)(void *ctx, struct nai_thrift_in *in);
};

uint64_t nai_thrift_in_varint(struct nai_thrift_in *in);
int64_t nai_thrift_in_zigzag(struct nai_thrift_in *in);
void nai_thrift_in_struct(struct nai_thrift_in *in, const struct nai_thrift_field *fields, int64_t *slots, void *ctx);
