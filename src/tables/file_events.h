#pragma once
#include "tables/declare.h"

#define FILE_EVENTS_COLUMNS(C, T)                                                      \
  C(T, start_ns, EVENT_START, "start")                                                 \
  C(T, end_ns, EVENT_END, "end, exclusive")                                            \
  C(T, file, ID, "one opening of a file, of file_names", .refers = "file_names.file")  \
  C(T, tid, ID, "thread id within its process")                                        \
  C(T, kind, ID32, "1 open, 2 close, 3 read, 4 write, 5 several of these, 6 metadata") \
  C(T, bytes, CELL(I64, BYTES), "bytes read or written", .sum = true)
NAI_TABLE(FILE_EVENTS, file_events, "File accesses", "One call that opens, reads, writes or asks about a file")

/* file_events: NVIDIA's eventType. */
enum { NAI_FILE_OPEN = 1, NAI_FILE_READ = 3, NAI_FILE_WRITE = 4, NAI_FILE_METADATA = 6 };
