#pragma once
#include "tables/declare.h"

#define RANK_COMMUNICATORS_COLUMNS(C, T)                                                                         \
  C(T, rank, NAME, "rank")                                                                                       \
  C(T, group, ID, "number of the communicator here; NULL when it was not matched")                               \
  C(T, communicator, LABEL, "its id; NULL where the trace does not tell")                                        \
  C(T, stream_id, ID, "CUDA stream of its kernels")                                                              \
  C(T, rank_count, COUNT, "ranks of the communicator, as its initialization says")                               \
  C(T, given_count, COUNT, "ranks that were matched")                                                            \
  C(T, collective_count, COUNT, "kernels in this trace")                                                         \
  C(T, first_matched, ID, "the first that was matched, counted from 0")                                          \
  C(T, matched_count, COUNT, "of them, matched")                                                                 \
  C(T, method, LABEL,                                                                                            \
    "what tells which is which: sequence, number, initialization, ends or clock; reference for what the others " \
    "are laid over")                                                                                             \
  C(T, clock_offset_ns, NS, "clock against the reference's, of UTC where both traces tell it")                   \
  C(T, clock_doubt_ns, NS, "what is left of it")                                                                 \
  C(T, clock_drift_ppm, MEAN, "parts per million that the clock is faster")                                      \
  C(T, refused, LABEL, "why it was not matched")
NAI_TABLE(RANK_COMMUNICATORS, rank_communicators, "Communicators by rank",
          "One communicator on one rank; where ids are not known, one stream")
