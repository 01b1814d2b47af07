/* Two small tables with a column of each kind, for whatever is evaluated over tables. */
#pragma once

#include "table/table.h"

static const struct nai_column_def small_columns[] = {
    {"device_id", NAI_I32, NAI_ID, "", .role = NAI_ROLE_DEVICE},
    {"name", NAI_STR, NAI_TEXT, "", .role = NAI_ROLE_NAME},
    {"total_ns", NAI_I64, NAI_NS, "", .display_units = NAI_AS_MS},
    {"p50_ns", NAI_F64, NAI_NS, "", .display_units = NAI_AS_US},
    {"share_pct", NAI_F64, NAI_PCT, ""},
    {"count", NAI_I64, NAI_COUNT, ""},
    {"start_ns", NAI_I64, NAI_TIMESTAMP_NS, ""},
    {"end_ns", NAI_I64, NAI_TIMESTAMP_NS, ""},
    {"pid", NAI_I64, NAI_ID, "", .role = NAI_ROLE_PROCESS},
    {"bytes", NAI_I64, NAI_BYTES, ""},
};
static const struct nai_schema small_a = NAI_SCHEMA("a", "A", "One row of a", small_columns);
static const struct nai_schema small_b = NAI_SCHEMA("b", "B", "One row of b", small_columns);
static const struct nai_schema *const small_schemas[] = {&small_a, &small_b};

static inline struct nai_table *small_table(const struct nai_schema *schema) {
  struct nai_table *table = NULL;
  if (nai_table_new(&table, schema, NULL))
    return NULL;
  for (int i = 0; i < 5; i++) {
    int64_t row = nai_table_add_row(table);
    if (i == 4)
      break; /* a row of NULLs */
    nai_set_i64(table, row, 0, i % 2);
    nai_set_str(table, row, 1, i % 2 ? "it's `a` {{name}} | <b>" : "host_code");
    nai_set_i64(table, row, 2, 1000000 * (i + 1));
    nai_set_f64(table, row, 3, 1000.0 * i);
    nai_set_f64(table, row, 4, 25.0 * i);
    nai_set_i64(table, row, 5, 10 - i);
    nai_set_i64(table, row, 6, 5 * i);
    nai_set_i64(table, row, 7, ((int64_t)1 << 52) - i);
    nai_set_i64(table, row, 8, 100 + i);
  }
  return table;
}
