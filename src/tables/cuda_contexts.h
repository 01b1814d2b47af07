#pragma once
#include "tables/declare.h"

#define CUDA_CONTEXTS_COLUMNS(C, T)                                             \
  C(T, pid, ID, "process that has it")                                          \
  C(T, cuda_device, ID32, "CUDA ordinal of its GPU in that process")            \
  C(T, context_id, ID32, "CUDA context")                                        \
  C(T, parent_context_id, ID32, "the context that a green context was made in") \
  C(T, is_green, ID32, "1 for a green context: a part of the GPU's SMs")        \
  C(T, sm_count, CELL(I32, COUNT), "SMs of a green context")                    \
  C(T, tpc_mask, LABEL, "which TPCs a green context has, words of hexadecimal digits: 0xf,0x0")
NAI_TABLE(CUDA_CONTEXTS, cuda_contexts, "CUDA contexts", "One CUDA context")
