#pragma once
#include "tables/declare.h"

#define SQL_COLUMNS_COLUMNS(C, T)                                                                                     \
  C(T, table_name, NAME, "row of nai_tables", .key = true)                                                            \
  C(T, position, COUNT, "from 0", .key = true)                                                                        \
  C(T, name, LABEL, "what SQL calls it")                                                                              \
  C(T, type, LABEL, "INTEGER, REAL or TEXT")                                                                          \
  C(T, unit, LABEL, "unit of its values")                                                                             \
  C(T, description, LABEL, "what it says")                                                                            \
  C(T, refers, LABEL, "TABLE: its values are row numbers (rowid) of that table; TABLE.COLUMN: values of that column") \
  C(T, hidden, ID32, "1: read by name only, no part of select *")
NAI_TABLE_NAMED(SQL_COLUMNS, sql_columns, "nai_columns", "Columns of SQL",
                "One column of a table or view that statements can read")
