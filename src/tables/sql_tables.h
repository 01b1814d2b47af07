#pragma once
#include "tables/declare.h"

#define SQL_TABLES_COLUMNS(C, T)                                \
  C(T, name, NAME, "what SQL calls it", .key = true)            \
  C(T, kind, LABEL, "table (of the run), derived, or view")     \
  C(T, rows, COUNT, "rows; NULL where they have not been made") \
  C(T, description, LABEL, "what a row is")                     \
  C(T, cannot_know, LABEL, "what no row of it can tell")
NAI_TABLE_NAMED(SQL_TABLES, sql_tables, "nai_tables", "Tables of SQL", "One table or view that statements can read")
