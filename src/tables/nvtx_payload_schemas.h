#pragma once
#include "tables/declare.h"

#define NVTX_PAYLOAD_SCHEMAS_COLUMNS(C, T)                                             \
  C(T, domain_id, ID, "NVTX domain number; which process it belongs to is not told")   \
  C(T, schema_id, ID, "number that blobs name")                                        \
  C(T, name, LABEL, "name")                                                            \
  C(T, type, ID, "1 static, 2 dynamic, 3 and 4 unions")                                \
  C(T, flags, ID, "NVTX flags")                                                        \
  C(T, entry_count, CELL(I64, COUNT), "entries")                                       \
  C(T, payload_bytes, CELL(I64, BYTES), "size of a payload, 0 or NULL when it varies") \
  C(T, align, CELL(I64, BYTES), "alignment")
NAI_TABLE(NVTX_PAYLOAD_SCHEMAS, nvtx_payload_schemas, "NVTX payload schemas", "One layout of NVTX payloads")
