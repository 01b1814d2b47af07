#pragma once
#include "tables/declare.h"

#define PROCESSES_COLUMNS(C, T)                                                \
  C(T, process_key, ID, "globalTid with the thread bits cleared", .key = true) \
  C(T, pid, CELL(I64, ID), "process id", .role = NAI_ROLE_PROCESS)             \
  C(T, process_name, NAME, "executable name")
NAI_TABLE(PROCESSES, processes, "Processes", "One process that made API calls, NVTX ranges or GPU work")
