#pragma once
#include "tables/declare.h"

#define TABLE_LIST_COLUMNS(C, T)                           \
  C(T, table_name, NAME, "name of the table", .key = true) \
  C(T, row_count, COUNT, "rows of the table", .sum = true) \
  C(T, title, LABEL, "what the report calls it")           \
  C(T, csv, LABEL, "its file beside this one, or the command that prints it: SRC is the run or the trace")
NAI_TABLE_NAMED(TABLE_LIST, table_list, "index", "Tables", "One table of the report")
