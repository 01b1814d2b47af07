#pragma once
#include "tables/declare.h"

#define GPU_SWITCH_EVENTS_COLUMNS(C, T)                                                      \
  C(T, time_ns, EVENT_START, "when")                                                         \
  C(T, gpu_id, ID32, "GPU as metrics name it: gpus.gpu_id")                                  \
  C(T, tag, ID32, "7 context saved, 8 context restored, 9 context started, 11 engine reset") \
  C(T, seq, ID, "order of rows of one time")                                                 \
  C(T, context, ID, "GPU context; 0 of other users without root")                            \
  C(T, host_pid, ID, "process outside of containers that has it, 0 or NULL unknown")
NAI_TABLE(GPU_SWITCH_EVENTS, gpu_switch_events, "GPU context switches", "One switch of the contexts of a GPU")
NAI_EVENT_COLUMNS(GPU_SWITCH_EVENTS)
