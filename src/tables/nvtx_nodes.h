#pragma once
#include "tables/declare.h"

#define NVTX_NODES_COLUMNS(C, T)                                                                               \
  C(T, parent, ID32, "row of this table: the node around it, NULL for outermost ones", .refers = "nvtx_nodes") \
  C(T, thread, CELL(I32, ID), "row of table threads", .role = NAI_ROLE_THREAD, .refers = "threads")            \
  C(T, pid, PID, "process id")                                                                                 \
  C(T, tid, TID, "thread id")                                                                                  \
  C(T, range_name, RANGE_NAME, "canonical range name")                                                         \
  C(T, path, LABEL, "names from the outermost range to this one, joined by \" > \"; cut at 16 KiB")            \
  C(T, depth, COUNT, "nodes around it; 0 for outermost ones")                                                  \
  C(T, count, COUNT, "instances", .sum = true)                                                                 \
  C(T, total_ns, CELL(I64, NS), "summed durations")                                                            \
  C(T, self_ns, CELL(I64, NS), "minus those of its children")                                                  \
  C(T, kernel_ns, CELL(I64, NS), "kernels launched while this was the innermost range")                        \
  C(T, kernel_count, COUNT, "those kernels", .sum = true)                                                      \
  C(T, inclusive_kernel_ns, CELL(I64, NS), "and from ranges inside it")                                        \
  C(T, inclusive_kernel_count, COUNT, "those kernels")
NAI_TABLE(
    NVTX_NODES, nvtx_nodes, "NVTX nodes",
    "All instances of a range name inside the same chain of names on one thread; every node, where nvtx_tree has the 4,000 with most time")
