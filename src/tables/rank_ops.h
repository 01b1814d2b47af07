#pragma once
#include "tables/declare.h"

#define RANK_OPS_COLUMNS(C, T)                                                              \
  C(T, rank, NAME, "rank", .key = true)                                                     \
  C(T, op, LABEL, "operation", .key = true)                                                 \
  C(T, count, COUNT, "matched collectives")                                                 \
  C(T, duration_ns, NS, "summed durations of its kernels")                                  \
  C(T, wait_ns, NS, "waiting for the last rank; NULL for operations in which not all wait") \
  C(T, transfer_ns, NS, "the rest")
NAI_TABLE(RANK_OPS, rank_ops, "Operations by rank", "One operation on one rank")
