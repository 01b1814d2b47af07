#pragma once
#include "tables/declare.h"

#define NVTX_PAYLOADS_COLUMNS(C, T)                                                                    \
  C(T, time_ns, EVENT_START, "when")                                                                   \
  C(T, thread, THREAD, "row of table threads, -1 when it is none of those")                            \
  C(T, domain, ID32, "row of table nvtx_domains", .refers = "nvtx_domains")                            \
  C(T, export_row, ID, "rowid in the export's NVTX_EVENTS")                                            \
  C(T, kind, ID32, "0 blob, 1 JSON, 2 integer, 3 real number (not kept)", .filled = true, .values = 4) \
  C(T, blob, LABEL, "hexadecimal digits of the blob; NULL for other kinds and above 4 KiB")            \
  C(T, blob_bytes, CELL(I64, BYTES), "size of the blob")                                               \
  C(T, json, LABEL, "JSON text")                                                                       \
  C(T, integer, ID, "integer")
NAI_TABLE(NVTX_PAYLOADS, nvtx_payloads, "NVTX payloads", "One NVTX event with a payload")

/* nvtx_payloads: nvtx_events row = export_row minus its export_row_offset. */
enum { NAI_PAYLOAD_BLOB, NAI_PAYLOAD_JSON, NAI_PAYLOAD_INTEGER, NAI_PAYLOAD_REAL };
