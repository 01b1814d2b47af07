#pragma once
#include "tables/declare.h"

#define STREAM_NAMES_COLUMNS(C, T)                    \
  C(T, stream_name, LABEL, "name given through NVTX") \
  C(T, pid, ID, "process that has it")                \
  C(T, context_id, ID32, "CUDA context")              \
  C(T, stream_id, ID32, "CUDA stream in it")
NAI_TABLE(STREAM_NAMES, stream_names, "Names of CUDA streams", "One CUDA stream with a name")
