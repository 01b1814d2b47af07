#pragma once
#include "tables/declare.h"

#define DATA_QUALITY_COLUMNS(C, T)                              \
  C(T, check, NAME, "what was checked", .key = true)            \
  C(T, severity, LABEL, "info, warning or error")               \
  C(T, count, LESS(COUNT), "rows or events concerned")          \
  C(T, duration_ns, LESS(TIME), "time concerned")               \
  C(T, pct_of_window, LESS(PCT), "of the run's GPU window")     \
  C(T, source_table, LABEL, "table of the export", .key = true) \
  C(T, detail, LABEL, "what it means", .key = true)
NAI_TABLE(DATA_QUALITY, data_quality, "Data quality", "One thing that limits what this report can say",
          "losses that nobody recorded; whether a missing table was not traced or had no rows", .csv = true)
