#pragma once
#include "tables/declare.h"

#define NVTX_PAYLOAD_ENTRIES_COLUMNS(C, T)                                         \
  C(T, domain_id, ID, "NVTX domain number")                                        \
  C(T, schema_id, ID, "layout it belongs to")                                      \
  C(T, idx, ID, "place in the layout")                                             \
  C(T, flags, ID, "NVTX flags")                                                    \
  C(T, type, ID, "NVTX entry type; from 2^24 on another layout or an enumeration") \
  C(T, name, LABEL, "name")                                                        \
  C(T, detail, ID, "array or union detail")                                        \
  C(T, offset_bytes, CELL(I64, BYTES), "offset in the payload; 0 where the export has none")
NAI_TABLE(NVTX_PAYLOAD_ENTRIES, nvtx_payload_entries, "NVTX payload entries", "One field of a payload layout")
