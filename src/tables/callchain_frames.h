#pragma once
#include "tables/declare.h"

#define CALLCHAIN_FRAMES_COLUMNS(C, T)                                                                   \
  C(T, kind, ID32, "0 of sample_events, 1 of api_events, 2 of osrt_events", .filled = true, .values = 3) \
  C(T, callchain_id, ID, "callchain")                                                                    \
  C(T, depth, CELL(I32, COUNT), "0 for the innermost function")                                          \
  C(T, symbol, LABEL, "function")                                                                        \
  C(T, module, LABEL, "library or program")                                                              \
  C(T, kernel_mode, ID32, "1 in the operating system, NULL where not told")                              \
  C(T, unresolved, ID32, "1 when the symbol is an address only")
NAI_TABLE(CALLCHAIN_FRAMES, callchain_frames, "Callchain frames", "One frame of a callchain")
NAI_EVENT_COLUMNS(CALLCHAIN_FRAMES)

/* callchain_frames: ids of one kind mean nothing in another. */
enum { NAI_CALLCHAIN_SAMPLE, NAI_CALLCHAIN_CUDA, NAI_CALLCHAIN_OSRT };
