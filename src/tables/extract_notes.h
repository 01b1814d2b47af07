#pragma once
#include "tables/declare.h"

#define EXTRACT_NOTES_COLUMNS(C, T)                             \
  C(T, check, NAME, "what was checked", .key = true)            \
  C(T, severity, LABEL, "info, warning or error")               \
  C(T, source_table, LABEL, "table of the export", .key = true) \
  C(T, count, COUNT, "rows or events concerned")                \
  C(T, detail, LABEL, "what it means", .key = true)
NAI_TABLE(EXTRACT_NOTES, extract_notes, "Notes on the rows", "One thing noticed while reading rows")
