#pragma once
#include "tables/declare.h"

#define GAP_FUNCTIONS_COLUMNS(C, T)                                                                     \
  C(T, subject, ID, "row of table gap_activity", .refers = "gap_activity", .key = true)                 \
  C(T, layer, LABEL,                                                                                    \
    "evidence: cuda_api, overhead, os_runtime, samples, scheduling or launched_from; the rows of one "  \
    "layer add up to total_ns",                                                                         \
    .key = true)                                                                                        \
  C(T, class, LABEL,                                                                                    \
    "of os_runtime: lock, io, poll, sleep, process or other; of scheduling: on_cpu, off_cpu, unknown; " \
    "rest: what the layer says nothing about",                                                          \
    .key = true)                                                                                        \
  C(T, function, NAME, "CUDA call, overhead, OS runtime call, or function of the program", .key = true) \
  C(T, caller, LABEL, "function that made the longest OS runtime call, where callchains tell")          \
  C(T, time_ns, TIME, "time; of samples about", .sum = true)                                            \
  C(T, pct, PCT, "of total_ns")                                                                         \
  C(T, count, COUNT, "calls, records, samples or launches", .sum = true)
NAI_TABLE(GAP_FUNCTIONS, gap_functions, "Functions in idle gaps",
          "One name in one layer of evidence of a row of gap_activity",
          "exact times behind samples; functions of libraries without symbols", .csv = true)
