#include "trace/parquet/thrift_in.h"

enum { TRUE = 1, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT };
enum { MAX_DEPTH = 16 };

static unsigned char byte_of(struct nai_thrift_in *in) {
  in->bad |= in->at == in->end;
  return in->bad ? 0 : *in->at++;
}

uint64_t nai_thrift_in_varint(struct nai_thrift_in *in) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    unsigned char byte = byte_of(in);
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
  in->bad = true;
  return 0;
}

int64_t nai_thrift_in_zigzag(struct nai_thrift_in *in) {
  uint64_t value = nai_thrift_in_varint(in);
  return (int64_t)(value >> 1 ^ -(value & 1));
}

static void skip_bytes(struct nai_thrift_in *in, uint64_t count) {
  in->bad |= count > (uint64_t)(in->end - in->at);
  in->at += in->bad ? 0 : count;
}

static uint64_t list_head(struct nai_thrift_in *in, int *type) {
  unsigned char head = byte_of(in);
  *type = head & 15;
  return head >> 4 == 15 ? nai_thrift_in_varint(in) : head >> 4;
}

/* `alone`: as an element, where a boolean has a byte of its own. */
static void skip(struct nai_thrift_in *in, int type, bool alone) { // NOLINT(misc-no-recursion): bounded by MAX_DEPTH
  switch (type) {
  case TRUE:
  case FALSE:
    skip_bytes(in, alone);
    break;
  case BYTE:
    skip_bytes(in, 1);
    break;
  case I16:
  case I32:
  case I64:
    nai_thrift_in_varint(in);
    break;
  case DOUBLE:
    skip_bytes(in, 8);
    break;
  case BINARY:
    skip_bytes(in, nai_thrift_in_varint(in));
    break;
  case LIST:
  case SET:
    if (in->depth++ < MAX_DEPTH)
      for (uint64_t n = list_head(in, &type); n && !in->bad; n--)
        skip(in, type, true);
    else
      in->bad = true;
    in->depth--;
    break;
  case STRUCT:
    nai_thrift_in_struct(in, (const struct nai_thrift_field[]){{0}}, NULL, NULL);
    break;
  default: /* a map: Parquet has none */
    in->bad = true;
  }
}

static void read_list(struct nai_thrift_in *in, const struct nai_thrift_field *field, void *ctx) {
  int type;
  uint64_t count = list_head(in, &type);
  in->bad |= count && type != STRUCT;
  for (; count && !in->bad; count--)
    field->element(ctx, in);
}

static void read_field(struct nai_thrift_in *in, const struct nai_thrift_field *field, // NOLINT(misc-no-recursion)
                       int type, int64_t *slots, void *ctx) {
  if (field->inside && type == STRUCT) {
    if (!field->inside->id)
      slots[field->slot] = 1;
    nai_thrift_in_struct(in, field->inside, slots, ctx);
  } else if (field->element && type == LIST)
    read_list(in, field, ctx);
  else if (field->inside || field->element || field->text != (type == BINARY))
    in->bad = true;
  else if (type == TRUE || type == FALSE)
    slots[field->slot] = type == TRUE;
  else if (type == I16 || type == I32 || type == I64)
    slots[field->slot] = nai_thrift_in_zigzag(in);
  else if (type == BINARY) {
    uint64_t len = nai_thrift_in_varint(in);
    const unsigned char *text = in->at;
    skip_bytes(in, len);
    slots[field->slot] = in->bad ? 0 : (int64_t)(intptr_t)text;
    slots[field->slot + 1] = in->bad ? 0 : (int64_t)len;
  } else
    skip(in, type, false);
}

void nai_thrift_in_struct(struct nai_thrift_in *in, // NOLINT(misc-no-recursion): bounded by MAX_DEPTH
                          const struct nai_thrift_field *fields, int64_t *slots, void *ctx) {
  int64_t id = 0;
  in->bad |= in->depth++ >= MAX_DEPTH;
  while (!in->bad) {
    unsigned char head = byte_of(in);
    if (!head)
      break;
    id = head >> 4 ? id + (head >> 4) : nai_thrift_in_zigzag(in);
    const struct nai_thrift_field *field = fields;
    while (field->id && field->id != id)
      field++;
    if (field->id)
      read_field(in, field, head & 15, slots, ctx);
    else
      skip(in, head & 15, false);
  }
  in->depth--;
}
