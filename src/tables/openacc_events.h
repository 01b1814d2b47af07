#pragma once
#include "tables/declare.h"

#define OPENACC_EVENTS_COLUMNS(C, T)                                                              \
  C(T, start_ns, EVENT_START, "start")                                                            \
  C(T, end_ns, EVENT_END, "end, exclusive")                                                       \
  C(T, thread, THREAD, "row of table threads, -1 when it is none of those")                       \
  C(T, name, LABEL, "event")                                                                      \
  C(T, kind, ID32, "0 data, 1 launch, 2 other", .filled = true, .values = 3)                      \
  C(T, file, LABEL, "source file of the directive, NULL where it is not known")                   \
  C(T, line, ID32, "its line")                                                                    \
  C(T, function, LABEL, "function that it stands in")                                             \
  C(T, event_kind, ID32, "CUPTI's kind: 4 launch, 5 upload, 6 download, 9 compute construct ...") \
  C(T, variable, LABEL, "of data events; NULL unknown")                                           \
  C(T, bytes, CELL(I64, BYTES), "of data events", .sum = true)                                    \
  C(T, correlation_id, ID, "of CUDA calls inside; NULL in older exports")
NAI_TABLE(OPENACC_EVENTS, openacc_events, "OpenACC events", "One OpenACC event")

/* openacc_events: which table of the export. */
enum { NAI_OPENACC_DATA, NAI_OPENACC_LAUNCH, NAI_OPENACC_OTHER };
