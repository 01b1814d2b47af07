#pragma once
#include "tables/declare.h"

#define INDEX_FINDINGS_COLUMNS(C, T)                                                   \
  C(T, run_id, LABEL, "the run", .key = true, .order = 1)                              \
  C(T, capture, ID, "capture of the run, from 0", .key = true, .order = 2)             \
  C(T, finding, ID, "number in the capture's report, from 1", .key = true, .order = 3) \
  C(T, rule, NAME, "rule that found it")                                               \
  C(T, severity, LABEL, "high, medium, low or info")                                   \
  C(T, scope, LABEL, "what it is about")                                               \
  C(T, title, LABEL, "the finding in one line")                                        \
  C(T, saving_ns, TIME, "potential saving on the worst GPU", .was = "at_stake_ns")     \
  C(T, pct_of_active, PCT, "that, of the GPU's active time; NULL: not a part of it")   \
  C(T, path, LABEL, "directory of the report, from the index")                         \
  C(T, pct_of_capture, PCT, "saving_ns, of the capture, as in findings")
NAI_TABLE_NAMED(INDEX_FINDINGS, index_findings, "findings", "Findings", "One finding of one capture")
