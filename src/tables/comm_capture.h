#pragma once
#include "tables/declare.h"

#define COMM_CAPTURE_COLUMNS(C, T)                                                                         \
  C(T, kernel_count, COUNT, "communication kernels")                                                       \
  C(T, attributed_count, COUNT, "of them: launched inside a range of NCCL's, so that the call is known")   \
  C(T, group_count, COUNT, "of them: launched at the end of a group of calls")                             \
  C(T, graph_count, COUNT, "of them: in CUDA graphs, by the call that was captured")                       \
  C(T, sized_count, COUNT, "kernels whose message size is known")                                          \
  C(T, matched_count, COUNT, "kernels matched with those of other GPUs")                                   \
  C(T, set_count, COUNT, "collectives that were matched")                                                  \
  C(T, unlisted_count, COUNT,                                                                              \
    "kernels that comm_instances leaves out: those with the least exposed time beyond 10,000; NULL: none") \
  C(T, payload_count, COUNT, "payloads of NCCL's ranges")                                                  \
  C(T, refused_count, COUNT, "of them: not readable")                                                      \
  C(T, refused_reason, LABEL, "why most of these were not")                                                \
  C(T, form, LABEL,                                                                                        \
    "how the trace tells of it: ranges (NCCL's own, by function), advanced (those of -t nccl), kernels "   \
    "(their names only)")                                                                                  \
  C(T, missing, LABEL, "what the trace does not tell about communication; NULL: nothing")                  \
  C(T, command, LABEL, "what records that")
NAI_TABLE(COMM_CAPTURE, comm_capture, "What is known of communication",
          "The trace; no row without communication kernels", "payloads of calls before the capture")
