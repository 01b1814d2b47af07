#pragma once
#include "tables/declare.h"

#define CUDA_STREAMS_COLUMNS(C, T)                                 \
  C(T, pid, ID, "process that has it")                             \
  C(T, context_id, ID32, "CUDA context")                           \
  C(T, stream_id, ID32, "CUDA stream in it")                       \
  C(T, priority, ID, "lower is more urgent; 0 where none was set") \
  C(T, flag, ID32, "1 default, 2 non-blocking, 3 null stream, 0 unknown")
NAI_TABLE(CUDA_STREAMS, cuda_streams, "CUDA streams", "One CUDA stream that the export describes")
