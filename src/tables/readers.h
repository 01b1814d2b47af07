#pragma once
#include "tables/declare.h"

#define READERS_COLUMNS(C, T)                                                                    \
  C(T, source_table, NAME, "table of the export", .key = true)                                   \
  C(T, reader, LABEL, "direct or sqlite")                                                        \
  C(T, rows, COUNT, "rows read", .sum = true)                                                    \
  C(T, reason, LABEL, "why the direct reader was not used")                                      \
  C(T, cut_names, COUNT, "ranges of whose name what PyTorch writes behind it is not kept whole") \
  C(T, doubtful_names, COUNT, "rows whose name is another one than the export's own reports take")
NAI_TABLE(READERS, readers, "Readers", "How one source table was read")
