/* Changes to cells of tables, which a few bytes say. */
#pragma once

#include "bases.h"
#include "table/table.h"

static inline struct nai_table *changes_copy(const struct nai_table *from) {
  struct nai_table *to;
  struct nai_err err = {0};
  bases_must(nai_table_new(&to, from->schema, &err), &err);
  for (int64_t row = 0; row < from->rows; row++) {
    nai_table_add_row(to);
    for (int c = 0; c < (int)from->schema->column_count; c++) {
      struct nai_value v = nai_table_value(from, row, c);
      if (v.null)
        continue;
      if (v.type == NAI_STR)
        nai_set_str(to, row, c, v.s);
      else if (v.type == NAI_F64)
        nai_set_f64(to, row, c, v.f);
      else
        nai_set_i64(to, row, c, v.i);
    }
  }
  return to;
}

/* One change: which table, column and row, and what becomes of the cell. */
struct change {
  uint8_t table, column, row[2], how, value;
};

static inline int64_t changes_value(const struct nai_table *t, int64_t row, int column, const struct change *change) {
  int64_t old = nai_get_i64(t, row, column);
  const int64_t known[] = {NAI_NULL_I64, INT64_MAX, INT64_MIN + 1, INT32_MAX, -1, 0, 1, t->rows};
  switch (change->how & 7) {
  case 0:
    return known[change->value & 7];
  case 1:
    return change->value;
  case 2:
    return (int64_t)((uint64_t)old + change->value - 128);
  case 3:
    return (int64_t)((uint64_t)old ^ UINT64_C(1) << (change->value & 63));
  case 4:
    return nai_get_i64(t, change->value % t->rows, column);
  case 5:
    return (int64_t)((uint64_t)old * change->value);
  default:
    return (int64_t)((uint64_t)change->value << (change->how >> 3 & 7) * 8);
  }
}

static inline void changes_apply(struct nai_table *t, const struct change *change) {
  int column = change->column % (int)t->schema->column_count;
  if (!t->rows)
    return;
  int64_t first = (change->row[0] << 8 | change->row[1]) % t->rows, end = change->how & 0x80 ? t->rows : first + 1;
  for (int64_t row = first; row < end; row++)
    switch (t->schema->columns[column].type) {
    case NAI_STR: /* numbers out of range are refused on opening */
      nai_column_str(t, column)[row] =
          t->strings.count && change->how & 1 ? change->value % t->strings.count : NAI_NO_STRING;
      break;
    case NAI_F64:
      nai_set_f64(t, row, column, (double)change->value * 1e30);
      break;
    case NAI_I32: {
      int64_t value = changes_value(t, row, column, change);
      nai_column_i32(t, column)[row] = value == NAI_NULL_I64 ? NAI_NULL_I32 : (int32_t)value;
      break;
    }
    case NAI_I64:
      nai_column_i64(t, column)[row] = changes_value(t, row, column, change);
      break;
    }
}
