#pragma once
#include "tables/declare.h"

#define PROGRAM_OUTPUTS_COLUMNS(C, T)                                           \
  C(T, process, PROCESS, "row of table processes, -1 when it is none of those") \
  C(T, stream, ID32, "1 standard output, 2 standard error, 0 another file")     \
  C(T, size_bytes, CELL(I64, BYTES), "size; at most 1 MiB is looked at")
NAI_TABLE(PROGRAM_OUTPUTS, program_outputs, "Program output", "One stream of output that the capture holds")
