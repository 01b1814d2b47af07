#pragma once
#include "tables/declare.h"

#define VIEWER_DATA_COLUMNS(C, T)                           \
  C(T, block, LABEL, "data block of the page", .key = true) \
  C(T, text, LABEL, "its text")
NAI_TABLE(VIEWER_DATA, viewer_data, "Viewer data", "One data block of report.html")
