#pragma once
#include "tables/declare.h"

#define PROBE_NOTES_COLUMNS(C, T)                               \
  C(T, check, NAME, "what was checked", .key = true)            \
  C(T, severity, LABEL, "info, warning or error")               \
  C(T, source_table, LABEL, "table of the export", .key = true) \
  C(T, count, COUNT, "rows or events concerned")                \
  C(T, detail, LABEL, "what it means", .key = true)
NAI_TABLE(PROBE_NOTES, probe_notes, "Notes on the export", "One thing the export says or lacks")
