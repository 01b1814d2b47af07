#pragma once
#include "tables/declare.h"

#define COLLECTIVE_MISMATCHES_COLUMNS(C, T)                           \
  C(T, rank, NAME, "rank")                                            \
  C(T, reference, LABEL, "the rank that it was laid over")            \
  C(T, group, ID, "communicator")                                     \
  C(T, number, ID, "kernel of the rank in that communicator, from 0") \
  C(T, reference_number, ID, "that of the reference")                 \
  C(T, here, LABEL, "what the rank ran")                              \
  C(T, there, LABEL, "what the reference ran")                        \
  C(T, reason, LABEL, "what is wrong; nothing behind it is matched, or before it where it says so")
NAI_TABLE(COLLECTIVE_MISMATCHES, collective_mismatches, "Mismatches",
          "One place where the collectives of two ranks part")
