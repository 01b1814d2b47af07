#pragma once
#include "tables/declare.h"

#define EVIDENCE_COLUMNS(C, T)                                                                        \
  C(T, finding, ID, "number of the finding it belongs to", .refers = "findings.finding", .key = true) \
  C(T, text, LABEL, "the fact in one line", .key = true)                                              \
  C(T, table_name, LABEL, "table the fact was read from", .key = true)                                \
  C(T, row, ID, "row of that table, from 0", .key = true)                                             \
  C(T, start_ns, START, "where on the timeline it begins")                                            \
  C(T, end_ns, END, "where on the timeline it ends")                                                  \
  C(T, device_id, CELL(I64, ID), "GPU", .role = NAI_ROLE_DEVICE, .refers = "gpus.device_id")          \
  C(T, pid, PID, "process")                                                                           \
  C(T, tid, TID, "thread")                                                                            \
  C(T, name, NAME, "first text of that row: usually the kernel, range, API or cause")
NAI_TABLE(EVIDENCE, evidence, "Evidence", "One row per fact behind a finding", "more than the table it comes from",
          .csv = true)
