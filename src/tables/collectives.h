#pragma once
#include "tables/declare.h"

#define COLLECTIVES_COLUMNS(C, T)                                                              \
  C(T, group, ID, "communicator, as in rank_communicators", .key = true, .order = 1)           \
  C(T, number, ID, "matched collective of it, from 0", .key = true, .order = 2)                \
  C(T, op, NAME, "operation")                                                                  \
  C(T, dtype, LABEL, "type of the elements")                                                   \
  C(T, message_bytes, BYTES, "size of the message; NULL unknown")                              \
  C(T, member_count, COUNT, "ranks that were matched")                                         \
  C(T, step, ID, "first step of the column of the map that it is in")                          \
  C(T, reference_start_ns, CELL(I64, NS), "start in the trace of the first rank of its group") \
  C(T, transfer_ns, NS, "the shortest kernel: with all ranks there")                           \
  C(T, skew_ns, NS, "the longest kernel minus that: what the first rank waited")               \
  C(T, wait_ns, NS, "what all ranks waited together")                                          \
  C(T, duration_ns, NS, "all kernels together")                                                \
  C(T, late_rank, LABEL, "the rank that arrived last; NULL when that is uncertain")            \
  C(T, late_by_ns, NS, "from the last but one to it")                                          \
  C(T, algbw, GB_PER_S, "algorithm bandwidth of the transfer")                                 \
  C(T, busbw, GB_PER_S, "bus bandwidth of the transfer")
NAI_TABLE(COLLECTIVES, collectives, "Collectives",
          "One matched collective in which ranks wait for the last one; those of the largest skew, 10,000 at most")
