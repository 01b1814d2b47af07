#pragma once
#include "tables/declare.h"

#define TRANSFERS_COLUMNS(C, T)                                                                                    \
  C(T, group, ID, "communicator, as in rank_communicators", .key = true, .order = 1)                               \
  C(T, op, NAME, "operation", .order = 2)                                                                          \
  C(T, dtype, LABEL, "type of the elements", .order = 3)                                                           \
  C(T, message_bytes, BYTES, "size of the message; NULL unknown", .order = 4)                                      \
  C(T, rank_count, COUNT, "ranks of the communicator")                                                             \
  C(T, count, COUNT, "matched collectives of this kind", .order = -5)                                              \
  C(T, usual_ns, NS, "a quarter of the transfers take no longer")                                                  \
  C(T, median_ns, NS, "median transfer")                                                                           \
  C(T, max_ns, NS, "longest transfer", .order = -6)                                                                \
  C(T, slow_count, COUNT, "transfers of more than twice usual_ns, while no rank was late by as much as that adds") \
  C(T, slow_excess_ns, NS, "what these took beyond usual_ns")                                                      \
  C(T, busbw, GB_PER_S, "bus bandwidth of the median transfer, as nccl-tests defines it")
NAI_TABLE(TRANSFERS, transfers, "Transfers", "One kind of collective of one communicator")
