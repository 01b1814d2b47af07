#pragma once
#include "tables/declare.h"

#define WORKLOAD_COLUMNS(C, T)                                                                                \
  C(T, aspect, LABEL, "framework, role, language, precision, collective or runtime", .key = true, .order = 1) \
  C(T, value, NAME, "what it is: pytorch, cuda, mpi, ...; unknown", .key = true, .order = 3)                  \
  C(T, confidence, PCT, "how sure that is, from the number and kind of signs", .order = -2)                   \
  C(T, sign_count, COUNT, "kinds of signs seen: kernels, ranges, threads, ...")                               \
  C(T, evidence, LABEL, "what was seen: kinds, counts and one name of each")
NAI_TABLE(WORKLOAD, workload, "Workload", "One thing the program is, by what it shows of itself",
          "whether a library matters because it ran; names that no event refers to")
