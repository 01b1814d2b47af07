#pragma once
#include "tables/declare.h"

#define UCX_WORKERS_COLUMNS(C, T)                                            \
  C(T, global_tid, ID, "globalTid of the thread that has it, in the export") \
  C(T, worker, ID, "number of the worker")
NAI_TABLE(UCX_WORKERS, ucx_workers, "UCX workers", "One worker of UCX")
