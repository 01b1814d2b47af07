#pragma once
#include "tables/declare.h"

#define WORKLOAD_EVIDENCE_COLUMNS(C, T)                                                                                \
  C(T, aspect, LABEL, "engine, stack, framework, role, language, harness, launcher, precision, collective or runtime", \
    .key = true, .order = 1)                                                                                           \
  C(T, value, NAME, "what it is: pytorch, cuda, mpi, ...; unknown", .key = true, .order = 3)                           \
  C(T, confidence, PCT, "how sure that is, from the number and kind of signs", .order = -2)                            \
  C(T, sign_count, COUNT, "kinds of signs seen: kernels, ranges, threads, ...")                                        \
  C(T, evidence, LABEL, "what was seen: kinds, counts and one name of each; (shared): others have such names, too")
NAI_TABLE(WORKLOAD_EVIDENCE, workload_evidence, "Workload evidence",
          "One thing the program is, by what it shows of itself", "whether a library matters because it ran",
          .csv = true)
