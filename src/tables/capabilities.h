#pragma once
#include "tables/declare.h"

#define CAPABILITIES_COLUMNS(C, T)                                      \
  C(T, capability, NAME, "what can be analyzed", .key = true)           \
  C(T, available, ID32, "1 when the export has it")                     \
  C(T, source, LABEL, "table of the export it comes from", .key = true) \
  C(T, detail, LABEL, "what is used, or what is missing and what that disables")
NAI_TABLE(CAPABILITIES, capabilities, "Capabilities", "One kind of data an export may hold",
          "whether a table is missing because nothing of the kind happened or because it was not traced")
