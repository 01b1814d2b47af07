#pragma once
#include "tables/declare.h"

#define PROGRAM_MARKS_COLUMNS(C, T)                                                                                 \
  C(T, source, LABEL,                                                                                               \
    "what was matched: command, flag, output, failure (in output), name (in StringIds, that no row may refer to), " \
    "or thread (without events)",                                                                                   \
    .key = true)                                                                                                    \
  C(T, mark, NAME, "what matched, by its name in rules/program-marks.yaml; the name of the thread", .key = true)    \
  C(T, line, LABEL, "of a failure: the first line that matched, where --show-output asks for it")
NAI_TABLE(PROGRAM_MARKS, program_marks, "Program marks", "What one source of the export says of the program",
          "the texts that matched: command lines and outputs may hold secrets and stay in the export")
