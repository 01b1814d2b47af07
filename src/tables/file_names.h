#pragma once
#include "tables/declare.h"

#define FILE_NAMES_COLUMNS(C, T)                       \
  C(T, file, ID, "one opening of a file", .key = true) \
  C(T, pid, ID, "process")                             \
  C(T, path, NAME, "masked path; NULL unknown")        \
  C(T, path_key, ID, "equal for openings of one path") \
  C(T, group, LABEL, "code, pseudo (/proc, /sys, /dev) or data")
NAI_TABLE(FILE_NAMES, file_names, "Files", "One opening of a file")
