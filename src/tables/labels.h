#pragma once
#include "tables/declare.h"

#define LABELS_COLUMNS(C, T)                                           \
  C(T, enumeration, ID32, "0 copy kinds, 1 memory kinds", .key = true) \
  C(T, id, ID, "number in memop_events", .key = true)                  \
  C(T, label, NAME, "what the export calls it")
NAI_TABLE(LABELS, labels, "Labels", "One label of an enumeration of the export")

enum { NAI_LABEL_COPY, NAI_LABEL_MEMORY };
