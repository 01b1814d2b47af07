#pragma once
#include "tables/declare.h"

#define DIRECTIVE_DATA_COLUMNS(C, T)                                                                                 \
  C(T, device_id, DEVICE, "GPU; -1 where no copy is recorded", .key = true, .order = 2)                              \
  C(T, variable, NAME, "variable; NULL unknown", .key = true, .order = 3)                                            \
  C(T, file, LABEL, "source file of the directive; NULL unknown", .key = true, .order = 4)                           \
  C(T, line, ID32, "its line", .key = true, .order = 5)                                                              \
  C(T, direction, LABEL, "upload, download, allocation or free", .key = true, .order = 6)                            \
  C(T, event_count, COUNT, "times that it does so", .sum = true)                                                     \
  C(T, bytes, BYTES, "bytes; NULL where none tells", .sum = true)                                                    \
  C(T, same_size_pct, PCT, "of the times, those with the most frequent number of bytes; NULL: unknown")              \
  C(T, repeated, ID32,                                                                                               \
    "1: ten times or more, nine of ten with equal bytes, and half as often as the most frequent launch")             \
  C(T, copy_count, COUNT, "copies launched within", .sum = true)                                                     \
  C(T, copy_ns, LESS(TIME), "their summed durations", .sum = true)                                                   \
  C(T, exposed_ns, LESS(TIME),                                                                                       \
    "part of it beside no kernel; of allocations, active time in them in which no GPU of the process does anything", \
    .sum = true, .order = -1)                                                                                        \
  C(T, longest_start_ns, START, "start of the longest event")                                                        \
  C(T, longest_end_ns, END, "end of the longest event")
NAI_TABLE(
    DIRECTIVE_DATA, directive_data, "Data of OpenACC directives",
    "One variable that a directive moves in one direction, or allocates",
    "whether a clause or the compiler moves it; variables of OpenMP. Built after NVIDIA's description: verified on "
    "generated exports only")
